import type { Database } from '../src/config/config.ts'
import type { DatabaseOptions, Db, Tx, Value } from './engine.ts'
import { openMysql } from './mysql.ts'
import { observed } from './observed.ts'
import { isRefusedByIndex } from './retry.ts'
import { openSqlite } from './sqlite.ts'

export type { DatabaseOptions, Db, Reader, Tx, Value } from './engine.ts'

/**
 * Opens the database; connects at the first statement. Every call ends within ten seconds, even
 * when the database is unreachable.
 */
export function openDatabase(database: Database, options: DatabaseOptions): Db {
  const { telemetry } = options
  const opened =
    database.dialect === 'mysql'
      ? openMysql([database.url, ...(database.others ?? [])], options, database.tls)
      : openSqlite(database.file, options)
  const engine = telemetry?.isOn ? observed(opened, telemetry) : opened
  return Object.assign(engine, {
    row: async <T>(sql: string, values?: Value[], tx?: Tx | null) =>
      (await engine.rows<T>(sql, values, tx))[0],
    exists: async (sql: string, values?: Value[], tx?: Tx | null) =>
      (await engine.rows(sql, values, tx)).length > 0,
    changed: async (sql: string, values?: Value[], tx?: Tx | null) =>
      (await engine.run(sql, values, tx)) === 1,
  })
}

/**
 * Whether a unique index refused a row: parallel requests are decided by the index, not by an
 * earlier read.
 */
export const isDuplicate = isRefusedByIndex
