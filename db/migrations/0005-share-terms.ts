import type { Migration } from '../migration.ts'
import { Share } from '../models/share.ts'
import { columnOf } from '../queries/sql.ts'

const added = ['label', 'allowDownload', 'notifies', 'notifiedAt', 'mailWaits'] as const

/** Gives shares a label, the choice between seeing and downloading, and mails about their use. */
export const shareTerms: Migration = {
  name: '0005-share-terms',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('share', options)
    for (const name of added)
      if (!(columnOf(name) in there))
        await tables.addColumn(
          'share',
          columnOf(name),
          Share.columns[name].attribute(db.dialect),
          options,
        )
  },
}
