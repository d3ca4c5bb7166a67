import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** The bytes that each signed URL of a link with limited downloads may still deliver. */
export const shareUses: Migration = {
  name: '0012-share-uses',

  async up({ create, index, run, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    await create('share_use', {
      id: { type: id, primaryKey: true, allowNull: false },
      left_bytes: { type: DataTypes.BIGINT, allowNull: false },
      expires_at: { type: DataTypes.BIGINT, allowNull: false },
    })
    await index('share_use', ['expires_at'])
    // Shares that were created while their file was being deleted.
    await run('DELETE FROM share WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.id = share.entry_id)')
  },

  async down({ drop }) {
    await drop('share_use')
  },
}
