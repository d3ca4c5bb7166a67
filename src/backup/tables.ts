import type { Db, Reader, Value } from '../../db/index.ts'
import {
  define,
  definitionsOf,
  emptyTable,
  insertValues,
  readTable,
  TRANSIENT,
  tablesOf,
} from '../../db/queries/backup.ts'
import type { BackupFolder } from './folder.ts'
import { tableFile } from './folder.ts'
import { readLines, writeLines } from './lines.ts'
import type { Manifest } from './manifest.ts'
import { BackupError } from './problem.ts'
import type { Progress } from './progress.ts'

type SavedTable = Manifest['tables'][number]

/**
 * A table is a file of JSON lines: its column names, then the values of each row. Values have the
 * same types on both engines.
 */

/** Writes all tables from one snapshot. */
export async function saveTables(
  db: Db,
  read: Reader,
  pathOf: (file: string) => string,
  progress: Progress,
): Promise<SavedTable[]> {
  const names = tablesOf(db)
  const definitions = await definitionsOf(db, names)
  const saved: SavedTable[] = []
  for (const name of names) {
    let rows = 0
    const lines = async function* () {
      for await (const some of readTable(read, name)) {
        if (rows === 0) yield `${JSON.stringify(Object.keys(some[0] ?? {}))}\n`
        rows += some.length
        progress.add(some.length, 0)
        yield some.map(row => `${JSON.stringify(Object.values(row))}\n`).join('')
      }
    }
    const sha256 = await writeLines(pathOf(tableFile(name)), lines())
    saved.push({ name, rows, sha256, ...(definitions.get(name) ?? { create: '', indexes: [] }) })
  }
  return saved
}

/** The rows of a saved table by column name. */
export async function* savedRows(path: string): AsyncGenerator<Record<string, Value>> {
  let columns: string[] | undefined
  for await (const line of readLines<Value[]>(path)) {
    if (columns) yield Object.fromEntries(columns.map((name, i) => [name, line[i] ?? null]))
    else columns = line as string[]
  }
}

/** Rows per transaction. */
const ROWS = 5000
const CHARACTERS = 4 * 1024 * 1024

/**
 * Fills one table.
 * @throws BackupError if the number of rows differs from the manifest
 */
async function fill(
  db: Db,
  { name, rows }: SavedTable,
  path: string,
  progress: Progress,
): Promise<void> {
  let columns: string[] | undefined
  let some: Value[][] = []
  let length = 0
  let sum = 0
  const write = async () => {
    const [into, values] = [columns ?? [], some]
    if (values.length > 0) await db.transaction(tx => insertValues(db, name, into, values, tx))
    progress.add(values.length, 0)
    sum += values.length
    some = []
    length = 0
  }
  for await (const line of readLines<Value[]>(path)) {
    if (!columns) {
      columns = line as string[]
      continue
    }
    some.push(line)
    for (const value of line) length += typeof value === 'string' ? value.length : 8
    if (some.length >= ROWS || length >= CHARACTERS) await write()
  }
  await write()
  if (sum !== rows)
    throw new BackupError(
      `${path} has ${sum} rows, but its manifest says ${rows}. Use another backup.`,
    )
}

/**
 * Others may have written the manifest, so its statements may only create its tables and their
 * indexes.
 * @throws BackupError
 */
export function requireDefinitions(tables: SavedTable[]): void {
  for (const { name, create, indexes } of tables) {
    const own = `[\`"]?${name}[\`"]?\\s*\\(`
    const [table, index] = [
      new RegExp(`^CREATE TABLE ${own}`),
      new RegExp(`^CREATE (UNIQUE )?INDEX \\S+\\s+ON ${own}`),
    ]
    const bad = [create]
      .filter(sql => !table.test(sql))
      .concat(indexes.filter(sql => !index.test(sql)))
    const [sql] = [...bad, ...[create, ...indexes].filter(sql => /\bSELECT\b/i.test(sql))]
    if (sql !== undefined)
      throw new BackupError(
        `The manifest has a statement that does not make the table ${name} or an index of it: "${sql.slice(0, 60)}". Use another backup.`,
      )
  }
}

/**
 * Creates and fills the tables of a backup in a database without them.
 * @param asDefined whether to create them with the backup's statements; otherwise they already
 * exist as in this version
 */
export async function loadTables(
  db: Db,
  folder: BackupFolder,
  backup: string,
  { tables, asDefined, progress }: { tables: SavedTable[]; asDefined: boolean; progress: Progress },
): Promise<void> {
  for (const table of tables) {
    if (asDefined) await define(db, table.create)
    else await emptyTable(db, table.name)
    if (!TRANSIENT.has(table.name))
      await fill(db, table, folder.path(backup, tableFile(table.name)), progress)
    if (asDefined) for (const index of table.indexes) await define(db, index)
  }
}
