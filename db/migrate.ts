import { type ModelAttributeColumnOptions, type ModelAttributes, type QueryInterface, QueryTypes } from 'sequelize'
import type { UmzugStorage } from 'umzug'
import type { Db, Dialect, Value } from './index.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { workspaces } from './migrations/0002-workspaces.ts'
import { uploadSessions } from './migrations/0003-upload-sessions.ts'
import { shareUses } from './migrations/0012-share-uses.ts'
import { keptProviders } from './migrations/0013-kept-providers.ts'
import { sessionsAndOperators } from './migrations/0014-sessions-and-operators.ts'
import { mailAndBounds } from './migrations/0015-mail-and-bounds.ts'
import { diskStore } from './migrations/0016-disk-store.ts'
import { deletingBlobs } from './migrations/0018-deleting-blobs.ts'
import { events } from './migrations/0019-events.ts'
import { trash } from './migrations/0020-trash.ts'
import { versions } from './migrations/0021-versions.ts'
import { webhooks } from './migrations/0022-webhooks.ts'
import { entryEvents } from './migrations/0023-entry-events.ts'
import { webhookSecrets } from './migrations/0024-webhook-secrets.ts'
import { blobSizes } from './migrations/0025-blob-sizes.ts'

/** The operations of a migration; part of its transaction where the engine supports transactional DDL. */
export interface MigrationTools {
  dialect: Dialect
  create(table: string, columns: ModelAttributes): Promise<void>
  index(table: string, columns: string[], options?: { unique: true }): Promise<void>
  dropIndex(table: string, columns: string[]): Promise<void>
  insert(table: string, rows: object[]): Promise<void>
  /** Runs an idempotent statement. */
  run(sql: string, values?: Value[]): Promise<void>
  rows<Row extends object>(sql: string): Promise<Row[]>
  drop(table: string): Promise<void>
  column(table: string, name: string, column: ModelAttributeColumnOptions): Promise<void>
  /** Drops a column and the indexes that begin with it. */
  dropColumn(table: string, name: string): Promise<void>
}

export interface Migration {
  name: string
  up(tools: MigrationTools): Promise<void>
  down(tools: MigrationTools): Promise<void>
}

const migrations: Migration[] = [
  foundation,
  workspaces,
  uploadSessions,
  shareUses,
  keptProviders,
  sessionsAndOperators,
  mailAndBounds,
  diskStore,
  deletingBlobs,
  events,
  trash,
  versions,
  webhooks,
  entryEvents,
  webhookSecrets,
  blobSizes,
]

/**
 * Migrates the tables up (or down). Instances may call it in parallel: one migrates, the others wait.
 * SQLite migrates in one transaction; MySQL commits every DDL statement, so there a named lock keeps others out.
 */
export async function migrate(db: Db, direction: 'up' | 'down' = 'up'): Promise<void> {
  await db.exclusively('satchel-migrate', async transaction => {
    const query = db.sequelize.getQueryInterface()
    const done = storage(db, transaction)
    if (direction === 'up' && (await isComplete(done))) return
    const { Umzug } = await import('umzug')
    const umzug = new Umzug<MigrationTools>({
      migrations: migrations.map(m => ({
        name: m.name,
        up: ({ context }: { context: MigrationTools }) => m.up(context),
        down: ({ context }: { context: MigrationTools }) => m.down(context),
      })),
      context: tools(db.dialect, query, transaction),
      storage: done,
      logger: undefined,
    })
    if (direction === 'up') await umzug.up()
    else await umzug.down({ to: 0 })
  })
}

/** Most starts have nothing to migrate: they do not load the library, which brings a command line of its own. */
async function isComplete({ executed }: ReturnType<typeof storage>): Promise<boolean> {
  const names = new Set(await executed())
  return migrations.every(({ name }) => names.has(name))
}

type Tx = Parameters<Parameters<Db['exclusively']>[1]>[0]

function tools(dialect: Dialect, query: QueryInterface, tx: Tx): MigrationTools {
  const within = tx ? { transaction: tx } : {}
  const indexesOf = async (table: string): Promise<{ name: string; columns: string[] }[]> => {
    const there = (await query.showIndex(table, within)) as { name: string; fields: { attribute: string }[] }[]
    return there.map(({ name, fields }) => ({ name, columns: fields.map(field => field.attribute) }))
  }
  /** Drops the indexes of a table that are such. */
  const dropIndexes = async (table: string, isOne: (columns: string[]) => boolean) => {
    for (const { name, columns } of await indexesOf(table))
      if (isOne(columns)) await query.removeIndex(table, name, within)
  }
  return {
    dialect,
    // The binary collation makes names compare exactly, and sort by code point as SQLite does.
    create: (table, columns) =>
      query.createTable(table, columns, { charset: 'utf8mb4', collate: 'utf8mb4_bin', ...within }),
    // MySQL commits each step separately: a migration that was killed starts again and skips existing tables and columns.
    async index(table, columns, options) {
      const same = (await indexesOf(table)).some(there => there.columns.join() === columns.join())
      if (!same) await query.addIndex(table, columns, { ...options, ...within })
    },
    dropIndex: (table, columns) => dropIndexes(table, there => there.join() === columns.join()),
    insert: async (table, rows) => {
      await query.bulkInsert(table, rows, { ...within, ignoreDuplicates: true } as object)
    },
    run: async (sql, values = []) => {
      await query.sequelize.query(sql, { replacements: values, ...within })
    },
    rows: sql => query.sequelize.query(sql, { type: QueryTypes.SELECT, ...within }),
    drop: table => query.dropTable(table, within),
    async column(table, name, column) {
      if (!(name in (await query.describeTable(table, within as object))))
        await query.addColumn(table, name, column, within)
    },
    async dropColumn(table, name) {
      await dropIndexes(table, ([first]) => first === name)
      // Not removeColumn: on SQLite, Sequelize copies the table and loses what refers to it.
      await query.sequelize.query(`ALTER TABLE ${table} DROP COLUMN ${name}`, within)
    },
  }
}

function storage(
  db: Db,
  tx: Tx,
): Pick<UmzugStorage, 'logMigration' | 'unlogMigration'> & { executed(): Promise<string[]> } {
  return {
    async logMigration({ name }) {
      await db.run('INSERT INTO migration (name, at) VALUES (?, ?)', [name, Date.now()], tx)
    },
    async unlogMigration({ name }) {
      await db.run('DELETE FROM migration WHERE name = ?', [name], tx)
    },
    async executed() {
      await db.run(
        'CREATE TABLE IF NOT EXISTS migration (name VARCHAR(128) NOT NULL PRIMARY KEY, at BIGINT NOT NULL)',
        [],
        tx,
      )
      const rows = await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name', [], tx)
      return rows.map(r => r.name)
    },
  }
}
