import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** Where events are sent to, how far, and what became of the last attempts. */
export const webhooks: Migration = {
  name: '0022-webhooks',

  async up({ create, index, dialect }) {
    const ascii = (length: number) =>
      dialect === 'mysql' ? `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin` : DataTypes.STRING(length)
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const number = { type: DataTypes.BIGINT, allowNull: false }
    const ownedBy = (table: string) => ({ references: { model: table, key: 'id' }, onDelete: 'CASCADE' })
    await create('webhook', {
      id: { type: id, primaryKey: true, allowNull: false },
      log_id: { type: id, allowNull: false },
      user_id: { type: id, allowNull: false, ...ownedBy('user') },
      workspace_id: { type: id, allowNull: true, ...ownedBy('workspace') },
      url: { type: DataTypes.TEXT, allowNull: false },
      kinds: { type: DataTypes.TEXT, allowNull: false },
      state: { type: ascii(8), allowNull: false },
      seq: number,
      attempts: { type: DataTypes.INTEGER, allowNull: false },
      failing_since: { type: DataTypes.BIGINT, allowNull: true },
      due_at: number,
      lease_until: number,
      created_at: number,
    })
    await index('webhook', ['user_id'])
    await index('webhook', ['workspace_id'])
    await index('webhook', ['state', 'due_at'])
    await create('webhook_delivery', {
      id: { type: id, primaryKey: true, allowNull: false },
      webhook_id: { type: id, allowNull: false, ...ownedBy('webhook') },
      event_id: { type: ascii(80), allowNull: false },
      kind: { type: ascii(32), allowNull: false },
      at: number,
      attempt: { type: DataTypes.INTEGER, allowNull: false },
      status: { type: DataTypes.INTEGER, allowNull: true },
      failure: { type: ascii(64), allowNull: true },
      milliseconds: { type: DataTypes.INTEGER, allowNull: false },
    })
    await index('webhook_delivery', ['webhook_id', 'id'])
  },

  async down({ drop }) {
    await drop('webhook_delivery')
    await drop('webhook')
  },
}
