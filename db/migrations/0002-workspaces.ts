import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

const tables = ['api_key', 'invite', 'member', 'workspace']

export const workspaces: Migration = {
  name: '0002-workspaces',

  async up({ create, index, column, dialect }) {
    const mysql = dialect === 'mysql'
    const id = mysql ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const digest = mysql ? 'CHAR(64) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(64)
    const text = (length: number) => ({ type: DataTypes.STRING(length), allowNull: false, defaultValue: '' })
    const time = { type: DataTypes.BIGINT, allowNull: false }
    const maybeTime = { type: DataTypes.BIGINT, allowNull: true }
    const key = { type: id, primaryKey: true, allowNull: false }
    const some = { type: id, allowNull: false }
    const ownedBy = (table: string) => ({ ...some, references: { model: table, key: 'id' }, onDelete: 'CASCADE' })

    await create('workspace', { id: key, name: text(64), slug: text(48), owner_id: some, created_at: time })
    await index('workspace', ['slug'], { unique: true })
    await index('workspace', ['owner_id'])

    await create('member', {
      workspace_id: { ...ownedBy('workspace'), primaryKey: true },
      user_id: { ...ownedBy('user'), primaryKey: true },
      role: text(8),
      joined_at: time,
    })
    await index('member', ['user_id'])

    await create('invite', {
      id: key,
      workspace_id: ownedBy('workspace'),
      email: text(320),
      role: text(8),
      invited_by: some,
      created_at: time,
      expires_at: time,
    })
    await index('invite', ['workspace_id', 'email'], { unique: true })
    await index('invite', ['email'])

    await create('api_key', {
      id: key,
      hash: { type: digest, allowNull: false },
      hint: text(8),
      name: text(100),
      description: text(1000),
      scopes: text(1000),
      workspace_id: { ...ownedBy('workspace'), allowNull: true },
      created_by: ownedBy('user'),
      created_at: time,
      last_used_at: maybeTime,
      expires_at: maybeTime,
    })
    await index('api_key', ['hash'], { unique: true })
    await index('api_key', ['workspace_id', 'created_at'])
    await index('api_key', ['created_by', 'created_at'])

    // The kept data of a deleted account: the e-mail address of its owner, and until when it is kept.
    await column('bucket', 'kept_for', { type: DataTypes.STRING(320), allowNull: true })
    await column('bucket', 'kept_until', maybeTime)
    await index('bucket', ['kept_for'])
    await index('bucket', ['kept_until'])
  },

  async down({ drop, dropColumn }) {
    await dropColumn('bucket', 'kept_for')
    await dropColumn('bucket', 'kept_until')
    for (const table of tables) await drop(table)
  },
}
