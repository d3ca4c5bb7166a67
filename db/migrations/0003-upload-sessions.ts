import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

export const uploadSessions: Migration = {
  name: '0003-upload-sessions',

  async up({ create, index, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const number = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
    const some = { type: id, allowNull: false }

    await create('upload_session', {
      id: { ...some, primaryKey: true, references: { model: 'blobs', key: 'id' }, onDelete: 'CASCADE' },
      bucket_id: some,
      // No foreign key to the user: the row must outlive its creator, because it stores until when the parts of a direct upload are writable.
      user_id: some,
      path: { type: DataTypes.STRING(1024), allowNull: false },
      file_type: { type: DataTypes.STRING(127), allowNull: false },
      size: number,
      part_size: number,
      direct: { type: DataTypes.BOOLEAN, allowNull: false },
      claim: { type: id, allowNull: true },
      claim_until: number,
      created_at: { type: DataTypes.BIGINT, allowNull: false },
    })
    await index('upload_session', ['bucket_id'])
  },

  async down({ drop }) {
    await drop('upload_session')
  },
}
