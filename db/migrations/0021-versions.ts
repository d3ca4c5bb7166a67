import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** Replaced contents of files, and what tells one state of an entry from the next. */
export const versions: Migration = {
  name: '0021-versions',

  async up({ create, column, index, dialect }) {
    const [id, ascii] =
      dialect === 'mysql'
        ? ['CHAR(36) CHARACTER SET ascii COLLATE ascii_bin', 'VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin']
        : [DataTypes.STRING(36), DataTypes.STRING(9)]
    const some = { type: id, allowNull: false }
    const number = { type: DataTypes.BIGINT, allowNull: false }
    await create('version', {
      id: { ...some, primaryKey: true },
      bucket_id: some,
      entry_id: some,
      blob_id: some,
      file_type: { type: DataTypes.STRING(127), allowNull: false },
      md5: { type: DataTypes.STRING(32), allowNull: false },
      bytes: number,
      created_by: { type: id, allowNull: true },
      created_at: number,
      replaced_at: number,
    })
    await index('version', ['entry_id', 'id'])
    await index('version', ['bucket_id', 'id'])
    await index('version', ['blob_id'], { unique: true })
    await index('version', ['replaced_at'])
    await column('entry', 'content_by', { type: id, allowNull: true })
    await column('entry', 'content_at', { type: DataTypes.BIGINT, allowNull: true })
    await column('entry', 'revision', { ...number, defaultValue: 1 })
    await column('upload_session', 'on_conflict', { type: ascii, allowNull: false, defaultValue: 'fail' })
  },

  async down({ drop, dropColumn }) {
    await dropColumn('upload_session', 'on_conflict')
    await dropColumn('entry', 'revision')
    await dropColumn('entry', 'content_at')
    await dropColumn('entry', 'content_by')
    await drop('version')
  },
}
