import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

export const diskStore: Migration = {
  name: '0016-disk-store',

  async up({ create, column, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    await create('installation', {
      slot: { type: DataTypes.INTEGER, primaryKey: true },
      id: { type: id, allowNull: false },
    })
    await column('upload_session', 'writable_until', { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 })
  },

  async down({ drop, dropColumn }) {
    await dropColumn('upload_session', 'writable_until')
    await drop('installation')
  },
}
