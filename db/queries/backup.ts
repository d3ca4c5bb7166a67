import type { Model, ModelStatic } from 'sequelize'
import type { Db, Reader, Tx, Value } from '../index.ts'
import { RESTORING } from '../migrate.ts'
import { inParts, placeholders } from './sql.ts'

/** The definition of a table in the SQL of its engine. */
export interface Definition {
  create: string
  /** Created after the rows are loaded, which is faster. */
  indexes: string[]
}

/**
 * The tables of running backups, of running instances and of a maintenance, under which the
 * restored service would refuse all changes. Backups do not save their rows, and restores skip
 * them.
 */
export const TRANSIENT: ReadonlySet<string> = new Set([
  'deletion_hold',
  'instance_state',
  'login_link',
  'maintenance',
  'sign_in_key',
  'sign_in_state',
])
const MIGRATION = 'migration'

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** The tables of the service, each after the tables that it refers to. */
export function tablesOf(db: Db): string[] {
  const models = db.sequelize.modelManager.getModelsTopoSortedByForeignKey()
  if (!models) throw new Error('Tables refer to each other in a circle.')
  return models.map(model => String((model as ModelStatic<Model>).getTableName())).reverse()
}

/** The definitions of the tables, including indexes. */
export async function definitionsOf(db: Db, names: string[]): Promise<Map<string, Definition>> {
  const definitions = new Map<string, Definition>()
  for (const name of names) {
    if (db.dialect === 'mysql') {
      const row = await db.row<Record<string, string>>(`SHOW CREATE TABLE ${quoted(name)}`)
      definitions.set(name, { create: row?.['Create Table'] ?? '', indexes: [] })
    } else {
      const rows = await db.rows<{ type: string; sql: string }>(
        'SELECT type, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL',
        [name],
      )
      const create = rows.find(({ type }) => type === 'table')?.sql ?? ''
      definitions.set(name, {
        create,
        indexes: rows.filter(({ type }) => type === 'index').map(({ sql }) => sql),
      })
    }
  }
  return definitions
}

/** The rows of a table. The rows of the ledger are sorted by id. */
export const readTable = (read: Reader, name: string) =>
  read(
    `SELECT *
     FROM ${quoted(name)}${TRANSIENT.has(name) ? ' WHERE 1 = 0' : ''}${name === 'blobs' ? ' ORDER BY id' : ''}`,
  )

/**
 * The migrations that created the tables, and a restore in progress. Empty for an empty database.
 */
export async function migrationsOf(db: Db): Promise<{ name: string; at: number }[]> {
  return (await allTables(db)).includes(MIGRATION)
    ? db.rows('SELECT name, at FROM migration ORDER BY name')
    : []
}

/** The backup whose restore has started but not finished. */
export async function restoreUnderWay(db: Db): Promise<string | undefined> {
  const names = (await migrationsOf(db)).map(({ name }) => name)
  return names.find(name => name.startsWith(RESTORING))?.slice(RESTORING.length)
}

/**
 * Tables with rows in a database that a service has started but nobody has used: plans, the
 * installation id, records about instances, and migrations.
 */
const OF_NEW = [
  ...[
    'plan',
    'installation',
    'storage_day',
    'instance_state',
    'login_link',
    'sign_in_key',
    'sign_in_state',
    'named_lock',
  ],
  ...['content_text', 'search_epoch'],
  MIGRATION,
]

/** A table with data that could be lost. Undefined for an empty or new database. */
export async function tableInUse(db: Db): Promise<string | undefined> {
  for (const name of await allTables(db))
    if (!OF_NEW.includes(name) && (await db.exists(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)))
      return name
  return undefined
}

/**
 * The id of the installation that owns the database. Undefined if no service has started with it.
 */
export async function installationIfAny(db: Db): Promise<string | undefined> {
  if (!(await allTables(db)).includes('installation')) return undefined
  return (await db.row<{ id: string }>('SELECT id FROM installation'))?.id
}

/** All tables in the database, including those of other versions and programs. */
async function allTables(db: Db): Promise<string[]> {
  const sql =
    db.dialect === 'mysql'
      ? `SELECT table_name AS name
        FROM information_schema.tables
        WHERE table_schema = DATABASE()
          AND table_type = 'BASE TABLE'`
      : `SELECT name
        FROM sqlite_master
        WHERE type = 'table'
          AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`
  return (await db.rows<{ name: string }>(sql)).map(({ name }) => name)
}

/**
 * Marks the database as being restored, so that no service starts with it. Then drops all tables.
 */
export async function beginRestore(db: Db, backup: string): Promise<void> {
  await db.run(
    `CREATE TABLE IF NOT EXISTS ${MIGRATION} (name VARCHAR(128) NOT NULL PRIMARY KEY, at BIGINT NOT NULL)`,
    [],
  )
  await db.transaction(async tx => {
    await db.run(`DELETE FROM ${MIGRATION}`, [], tx)
    await db.run(
      `INSERT INTO ${MIGRATION} (name, at) VALUES (?, ?)`,
      [RESTORING + backup, Date.now()],
      tx,
    )
  })
  const names = (await allTables(db)).filter(name => name !== MIGRATION)
  const drop = async (tx: Tx) => {
    for (const name of names) await db.run(`DROP TABLE IF EXISTS ${quoted(name)}`, [], tx)
  }
  // Without foreign key checks, because this version does not know the references of a later
  // version's tables.
  if (db.dialect === 'mysql')
    await db.transaction(async tx => {
      await db.run('SET foreign_key_checks = 0', [], tx)
      await drop(tx).finally(() => db.run('SET foreign_key_checks = 1', [], tx))
    })
  else {
    // Has no effect in a transaction. All writes use the same connection.
    await db.run('PRAGMA foreign_keys = OFF')
    await db.transaction(drop).finally(() => db.run('PRAGMA foreign_keys = ON'))
  }
}

/** Executes a statement of a definition. */
export const define = (db: Db, sql: string): Promise<number> => db.run(sql)

/** Deletes the rows that every new database has. */
export const emptyTable = (db: Db, table: string): Promise<number> =>
  db.run(`DELETE FROM ${quoted(table)}`)

/** The number of parameters in one statement. SQLite allows 32,766. */
const PARAMETERS = 4000

/** Inserts rows with values for these columns. */
export async function insertValues(
  db: Db,
  table: string,
  columns: string[],
  rows: Value[][],
  tx: Tx,
): Promise<void> {
  const into = `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES `
  for (const some of inParts(rows, Math.max(1, Math.floor(PARAMETERS / columns.length)))) {
    const list = some.map(row => `(${placeholders(row)})`).join(', ')
    await db.run(into + list, some.flat(), tx)
  }
}

/** Stores the migrations of a backup. */
export async function noteMigrations(
  db: Db,
  migrations: { name: string; at: number }[],
): Promise<void> {
  await db.transaction(async tx => {
    await db.run(`DELETE FROM ${MIGRATION} WHERE name NOT LIKE ?`, [`${RESTORING}%`], tx)
    for (const { name, at } of migrations)
      await db.run(`INSERT INTO ${MIGRATION} (name, at) VALUES (?, ?)`, [name, at], tx)
  })
}

/** Allows services to start with the database again. */
export const endRestore = (db: Db): Promise<number> =>
  db.run(`DELETE FROM ${MIGRATION} WHERE name LIKE ?`, [`${RESTORING}%`])

/** Some uploads that were in progress. */
export const stagedBlobs = (db: Db, limit: number): Promise<{ id: string; bucketId: string }[]> =>
  db.rows(
    `SELECT id, bucket_id AS bucketId FROM blobs WHERE state = 'staged' ORDER BY id LIMIT ${limit}`,
  )

/** Forgets the objects that were marked for deletion. */
export const forgetDeleting = (db: Db): Promise<number> =>
  db.run("DELETE FROM blobs WHERE state IN ('deleting', 'copied')")

/** The definitions of one engine's tables work only on that engine. */
export const engineOf = (db: Db) => db.dialect
