import { addColumn, type Migration } from '../migration.ts'

/**
 * Adds the names that a file request expects, where the name of a sender becomes part of the place
 * of a file, and an index to find the sender of a file.
 */
export const requestSenders: Migration = {
  name: '0049-request-senders',

  async up(context) {
    const { db, transaction } = context
    await addColumn(context, 'file_request', 'expected', 'TEXT')
    await addColumn(context, 'file_request', 'sender_place', {
      sqlite: "VARCHAR(8) NOT NULL DEFAULT 'none'",
      mysql: "VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'none'",
    })
    await db.run(
      `CREATE INDEX IF NOT EXISTS file_request_upload_entry_id ON file_request_upload (entry_id)`,
      [],
      transaction,
    )
  },
}
