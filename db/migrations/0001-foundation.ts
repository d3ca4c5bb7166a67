import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

const GiB = 1024 ** 3
const TiB = 1024 ** 4

/** See docs/contract.md, section 7. Null means unlimited. */
const plans = [
  {
    id: 'free',
    name: 'Free',
    file: 2 * GiB,
    storage: 5 * GiB,
    files: 10_000,
    workspaces: 3,
    workspaceStorage: 5 * GiB,
    members: 10,
    folders: 1_000,
    keys: 5,
  },
  {
    id: 'developer',
    name: 'Developer',
    file: 10 * GiB,
    storage: 50 * GiB,
    files: 500_000,
    workspaces: 20,
    workspaceStorage: 100 * GiB,
    members: 50,
    folders: 20_000,
    keys: 50,
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    file: 100 * GiB,
    storage: TiB,
    files: null,
    workspaces: 200,
    workspaceStorage: TiB,
    members: 1_000,
    folders: null,
    keys: 500,
  },
]

const tables = ['outbox', 'share', 'note', 'blobs', 'entry', 'bucket', 'session', 'identity', 'user', 'plan']

export const foundation: Migration = {
  name: '0001-foundation',

  async up({ create, index, insert, dialect }) {
    const mysql = dialect === 'mysql'
    const id = mysql ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    const digest = mysql ? 'CHAR(64) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(64)
    const md5 = mysql ? 'CHAR(32) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(32)
    const text = (length: number) => ({ type: DataTypes.STRING(length), allowNull: false, defaultValue: '' })
    const number = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
    const time = { type: DataTypes.BIGINT, allowNull: false }
    const limit = { type: DataTypes.BIGINT, allowNull: false }
    const openLimit = { type: DataTypes.BIGINT, allowNull: true }
    const key = { type: id, primaryKey: true, allowNull: false }
    const some = { type: id, allowNull: false }
    const maybe = { type: id, allowNull: true }
    const ownedBy = (table: string) => ({ ...some, references: { model: table, key: 'id' }, onDelete: 'CASCADE' })

    await create('plan', {
      id: { type: DataTypes.STRING(32), primaryKey: true, allowNull: false },
      name: text(64),
      max_file_size_bytes: limit,
      max_total_storage_bytes: limit,
      max_files: openLimit,
      max_user_workspaces: limit,
      max_files_workspace: openLimit,
      max_total_storage_bytes_workspace: limit,
      max_users_workspace: limit,
      max_workspace_folders: openLimit,
      max_private_api_keys: limit,
      max_workspace_api_keys: limit,
    })
    await insert(
      'plan',
      plans.map(p => ({
        id: p.id,
        name: p.name,
        max_file_size_bytes: p.file,
        max_total_storage_bytes: p.storage,
        max_files: p.files,
        max_user_workspaces: p.workspaces,
        max_files_workspace: p.files,
        max_total_storage_bytes_workspace: p.workspaceStorage,
        max_users_workspace: p.members,
        max_workspace_folders: p.folders,
        max_private_api_keys: p.keys,
        max_workspace_api_keys: p.keys,
      })),
    )

    await create('user', {
      id: key,
      email: text(320),
      verified_email: { type: DataTypes.STRING(320), allowNull: true },
      name: text(255),
      given_name: text(255),
      family_name: text(255),
      picture: text(2048),
      locale: text(35),
      plan_id: { type: DataTypes.STRING(32), allowNull: false, references: { model: 'plan', key: 'id' } },
      status: text(16),
      created_at: time,
    })
    await index('user', ['verified_email'], { unique: true })

    await create('identity', {
      id: key,
      user_id: ownedBy('user'),
      provider: text(64),
      provider_user_id: text(255),
      email: text(320),
      email_verified: { type: DataTypes.BOOLEAN, allowNull: false },
      name: text(255),
      avatar_url: text(2048),
      created_at: time,
    })
    await index('identity', ['provider', 'provider_user_id'], { unique: true })

    await create('session', {
      hash: { type: digest, primaryKey: true, allowNull: false },
      user_id: ownedBy('user'),
      created_at: time,
      expires_at: time,
    })
    await index('session', ['expires_at'])

    await create('bucket', {
      id: key,
      user_id: maybe,
      workspace_id: maybe,
      root_id: some,
      used_bytes: number,
      used_files: number,
      used_folders: number,
      reserved_bytes: number,
      reserved_files: number,
      purging: number,
      created_at: time,
    })
    await index('bucket', ['user_id'], { unique: true })
    await index('bucket', ['workspace_id'], { unique: true })

    await create('entry', {
      id: key,
      bucket_id: some,
      parent_id: maybe,
      kind: { type: DataTypes.TINYINT, allowNull: false },
      name: text(255),
      blob_id: maybe,
      file_type: text(127),
      md5: { type: md5, allowNull: false, defaultValue: '' },
      total_bytes: number,
      total_files: number,
      total_folders: number,
      levels_below: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      bytes_below: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      created_by: maybe,
      created_at: time,
      updated_at: time,
    })
    await index('entry', ['parent_id', 'name'], { unique: true })
    await index('entry', ['parent_id', 'kind', 'name'])
    await index('entry', ['bucket_id', 'kind', 'id'])
    await index('entry', ['bucket_id', 'md5'])
    // A blob belongs to one file: with two, deleting one would delete the bytes of the other.
    await index('entry', ['blob_id'], { unique: true })

    // Plural, unlike the others, because BLOB is an SQL keyword.
    await create('blobs', {
      id: key,
      bucket_id: some,
      state: text(8),
      reserved_bytes: number,
      size: number,
      lease_until: time,
      created_at: time,
    })
    await index('blobs', ['state', 'lease_until'])

    await create('note', {
      bucket_id: key,
      checksum: { type: md5, primaryKey: true, allowNull: false },
      content: { type: DataTypes.TEXT, allowNull: false },
      updated_at: time,
    })

    await create('share', {
      id: key,
      entry_id: some,
      bucket_id: some,
      user_id: some,
      recipient: { type: DataTypes.STRING(320), allowNull: true },
      password_hash: { type: DataTypes.STRING(255), allowNull: true },
      max_downloads: { type: DataTypes.BIGINT, allowNull: true },
      downloads: number,
      seen_at: { type: DataTypes.BIGINT, allowNull: true },
      created_at: time,
      expires_at: time,
    })
    await index('share', ['entry_id', 'recipient'])
    await index('share', ['user_id', 'id'])
    await index('share', ['recipient', 'id'])
    await index('share', ['expires_at'])

    await create('outbox', {
      id: key,
      kind: text(32),
      // MEDIUMTEXT, because the mail of a share may list a hundred files.
      payload: { type: mysql ? DataTypes.TEXT('medium') : DataTypes.TEXT, allowNull: false },
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      due_at: time,
      last_error: text(500),
      created_at: time,
    })
    await index('outbox', ['kind', 'due_at'])
  },

  async down({ drop }) {
    for (const table of tables) await drop(table)
  },
}
