import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

export const trash: Migration = {
  name: '0020-trash',

  async up({ create, column, index, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const some = { type: id, allowNull: false }
    const number = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
    await create('trash_item', {
      id: { ...some, primaryKey: true },
      bucket_id: some,
      entry_id: some,
      parent_id: some,
      path: { type: DataTypes.TEXT, allowNull: false },
      bytes: number,
      files: number,
      folders: number,
      deleted_by: { type: id, allowNull: true },
      deleted_at: { type: DataTypes.BIGINT, allowNull: false },
    })
    await index('trash_item', ['bucket_id', 'id'])
    await index('trash_item', ['entry_id'], { unique: true })
    await index('trash_item', ['deleted_at'])
    await column('bucket', 'trash_count', number)
    await column('bucket', 'kept_bytes', number)
    await index('bucket', ['kept_bytes'])
  },

  async down({ drop, dropColumn }) {
    await dropColumn('bucket', 'kept_bytes')
    await dropColumn('bucket', 'trash_count')
    await drop('trash_item')
  },
}
