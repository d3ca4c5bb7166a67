import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

export const sessionsAndOperators: Migration = {
  name: '0014-sessions-and-operators',

  async up({ create, index, column, run, dialect }) {
    const mysql = dialect === 'mysql'
    const id = mysql ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const text = (length: number) => ({ type: DataTypes.STRING(length), allowNull: false, defaultValue: '' })
    const time = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }

    // The public id of a session; the hash of its cookie is never exposed.
    await column('session', 'id', { type: id, allowNull: false, defaultValue: '' })
    await column('session', 'device', text(200))
    await column('session', 'address', text(64))
    await column('session', 'last_used_at', time)
    await run(`UPDATE session SET id = ${mysql ? 'UUID()' : sqliteUuid}, last_used_at = created_at WHERE id = ''`)
    await index('session', ['id'], { unique: true })
    await index('session', ['user_id', 'last_used_at'])

    await column('user', 'sign_in_notices', { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false })

    await create('operator', {
      user_id: {
        type: id,
        primaryKey: true,
        allowNull: false,
        references: { model: 'user', key: 'id' },
        onDelete: 'CASCADE',
      },
      appointed_by: { type: id, allowNull: false },
      appointed_at: { type: DataTypes.BIGINT, allowNull: false },
    })
  },

  async down({ drop, dropColumn }) {
    await drop('operator')
    await dropColumn('user', 'sign_in_notices')
    for (const name of ['last_used_at', 'address', 'device', 'id']) await dropColumn('session', name)
  },
}

const sqliteUuid =
  "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
