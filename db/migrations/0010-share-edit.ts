import type { Migration } from '../migration.ts'
import { Share } from '../models/share.ts'
import { UploadSession } from '../models/upload-session.ts'
import { columnOf } from '../queries/sql.ts'

const added = [
  { table: 'share', name: 'mayEdit', column: Share.columns.mayEdit },
  { table: 'upload_session', name: 'shareId', column: UploadSession.columns.shareId },
] as const

/**
 * Lets the recipients of shares change what is shared, and remembers by which share an upload was
 * begun.
 */
export const shareEdit: Migration = {
  name: '0010-share-edit',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const { table, name, column } of added) {
      const there = await tables.describeTable(table, options)
      if (!(columnOf(name) in there))
        await tables.addColumn(table, columnOf(name), column.attribute(db.dialect), options)
    }
  },
}
