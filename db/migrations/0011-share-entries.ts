import type { Migration } from '../migration.ts'
import { Share } from '../models/share.ts'

/**
 * Puts several entries behind one share, and finds those of a drive by an index. Shares that are
 * there stay shares of one entry.
 */
export const shareEntries: Migration = {
  name: '0011-share-entries',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('share', options)
    if (!('entry_count' in there))
      await tables.addColumn(
        'share',
        'entry_count',
        Share.columns.entryCount.attribute(db.dialect),
        options,
      )
    const indexes = (await tables.showIndex('share', options)) as { name: string }[]
    if (!indexes.some(({ name }) => name === 'share_bucket_id'))
      await tables.addIndex('share', ['bucket_id'], { name: 'share_bucket_id', ...options })
    await db.ShareEntry.sync(options)
  },
}
