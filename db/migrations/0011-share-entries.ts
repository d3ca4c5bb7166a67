import type { Migration } from '../migration.ts'
import { Share } from '../models/share.ts'

/** Puts several entries behind one share. Shares that are there stay shares of one entry. */
export const shareEntries: Migration = {
  name: '0011-share-entries',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('share', options)
    if (!('entry_count' in there))
      await tables.addColumn('share', 'entry_count', Share.columns.entryCount.attribute(db.dialect), options)
    await db.ShareEntry.sync(options)
  },
}
