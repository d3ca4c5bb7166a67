import type { Migration } from '../migration.ts'
import { mysqlTables } from './0001-tables/mysql.ts'
import { sqliteTables } from './0001-tables/sqlite.ts'

const GiB = 1024 ** 3
const TiB = 1024 ** 4

/** See docs/contract.md, section 7. Null means unlimited. */
const plans = [
  {
    id: 'free',
    name: 'Free',
    max_file_size_bytes: 2 * GiB,
    max_total_storage_bytes: 5 * GiB,
    max_files: 10_000,
    max_user_workspaces: 3,
    max_files_workspace: 10_000,
    max_total_storage_bytes_workspace: 5 * GiB,
    max_users_workspace: 10,
    max_workspace_folders: 1_000,
    max_private_api_keys: 5,
    max_workspace_api_keys: 5,
    max_folders: 10_000,
    max_public_links: 1_000,
    max_pending_invites: 100,
    max_notes: 10_000,
  },
  {
    id: 'developer',
    name: 'Developer',
    max_file_size_bytes: 10 * GiB,
    max_total_storage_bytes: 50 * GiB,
    max_files: 500_000,
    max_user_workspaces: 20,
    max_files_workspace: 500_000,
    max_total_storage_bytes_workspace: 100 * GiB,
    max_users_workspace: 50,
    max_workspace_folders: 20_000,
    max_private_api_keys: 50,
    max_workspace_api_keys: 50,
    max_folders: 100_000,
    max_public_links: 10_000,
    max_pending_invites: 500,
    max_notes: 100_000,
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    max_file_size_bytes: 100 * GiB,
    max_total_storage_bytes: TiB,
    max_files: null,
    max_user_workspaces: 200,
    max_files_workspace: null,
    max_total_storage_bytes_workspace: TiB,
    max_users_workspace: 1_000,
    max_workspace_folders: null,
    max_private_api_keys: 500,
    max_workspace_api_keys: 500,
    max_folders: null,
    max_public_links: null,
    max_pending_invites: 5_000,
    max_notes: null,
  },
]

/** Creates the tables of version 0.1.0 and the plans. */
export const firstTables: Migration = {
  name: '0001-tables',

  async up({ db, transaction }) {
    const statements = db.dialect === 'mysql' ? mysqlTables : sqliteTables
    for (const sql of statements) await db.run(sql, [], transaction)
    for (const plan of plans) {
      const columns = { ...plan, is_default: plan.id === 'free' ? 1 : 0 }
      const values = Object.values(columns)
      await db.run(
        `INSERT INTO plan (${Object.keys(columns).join(', ')})
          SELECT ${values.map(() => '?').join(', ')}
          FROM (SELECT 1 AS one) AS source
          WHERE NOT EXISTS (SELECT 1 FROM plan WHERE id = ?)`,
        [...values, plan.id],
        transaction,
      )
    }
  },
}
