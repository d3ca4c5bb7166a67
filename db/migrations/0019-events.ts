import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** The logs of drives and persons, and the uses of shares. */
export const events: Migration = {
  name: '0019-events',

  async up({ create, index, dialect }) {
    const ascii = (length: number) =>
      dialect === 'mysql' ? `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin` : DataTypes.STRING(length)
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const number = { type: DataTypes.BIGINT, allowNull: false }
    await create('event', {
      log_id: { type: id, primaryKey: true, allowNull: false },
      seq: { ...number, primaryKey: true },
      at: number,
      actor_id: { type: id, allowNull: true },
      via: { type: ascii(8), allowNull: false },
      via_id: { type: id, allowNull: true },
      kind: { type: ascii(32), allowNull: false },
      subject_id: { type: id, allowNull: true },
      details: { type: DataTypes.TEXT, allowNull: false },
    })
    await index('event', ['at'])
    await create('event_log', {
      log_id: { type: id, primaryKey: true, allowNull: false },
      purged_seq: number,
    })
    await create('share_event', {
      id: { type: id, primaryKey: true, allowNull: false },
      share_id: { type: id, allowNull: false },
      at: number,
      kind: { type: ascii(16), allowNull: false },
      person_id: { type: id, allowNull: true },
      network: { type: ascii(64), allowNull: false },
      client: { type: DataTypes.STRING(200), allowNull: false },
    })
    await index('share_event', ['share_id', 'id'])
  },

  async down({ drop }) {
    await drop('share_event')
    await drop('event_log')
    await drop('event')
  },
}
