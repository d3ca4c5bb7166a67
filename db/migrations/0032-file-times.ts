import { createHash } from 'node:crypto'
import type { Migration } from '../migration.ts'
import { FILE } from '../models/entry.ts'

/**
 * What rclone and Windows set, which were properties without a meaning until now. Folders keep what
 * Windows sets.
 */
const TIMES = ['DAV:\nlastmodified', 'urn:schemas-microsoft-com:\nWin32LastModifiedTime']

/** Keeps when contents were last modified, as the computers say that they came from. */
export const fileTimes: Migration = {
  name: '0032-file-times',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const table of ['entry', 'version', 'upload_session']) {
      const columns = await db.sequelize.getQueryInterface().describeTable(table, options)
      if (!('modified_at' in columns))
        await db.run(`ALTER TABLE ${table} ADD COLUMN modified_at BIGINT NULL`, [], transaction)
    }
    await db.run(
      `DELETE FROM dav_property WHERE name_hash = ? OR (name_hash = ? AND entry_id IN (SELECT id FROM entry WHERE kind = ${FILE}))`,
      TIMES.map(name => createHash('sha256').update(name).digest('hex')),
      transaction,
    )
  },
}
