import type { Sequelize, Transaction } from 'sequelize'
import type { Database } from '../src/config.ts'
import type { Models } from './associations.ts'
import { openMysql } from './mysql.ts'
import { isRefusedByIndex } from './retry.ts'
import { openSqlite } from './sqlite.ts'

export type Dialect = Database['dialect']
export type Tx = Transaction
export type Value = string | number | boolean | null | Buffer

/** The database, as the services see it: models for plain work, prepared statements for the rest. */
export interface Db extends Models {
  dialect: Dialect
  sequelize: Sequelize
  /** Rows of a statement that reads, prepared on its connection. Inside a transaction, pass it on. */
  rows<T>(sql: string, values?: Value[], tx?: Tx | null): Promise<T[]>
  /** Carries out one statement that writes; answers how many rows it found, whether or not it changed them. */
  run(sql: string, values?: Value[], tx?: Tx | null): Promise<number>
  /** Runs `work` in one transaction, again from the start when the engine asks for that (deadlock, busy). Keep it free of side effects. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs `work` while no other instance runs something of that name. The transaction is null where DDL cannot take part in one. */
  exclusively<T>(name: string, work: (tx: Tx | null) => Promise<T>): Promise<T>
  /** What a SELECT ends with that locks its rows until the transaction ends; SQLite locks as a whole. */
  forUpdate: string
  /**
   * What follows the name of a table of which a row is found by its primary key and by something else. Left to itself, MySQL may take an
   * index that others move the row about in, and not find it.
   */
  byKey: string
  ping(): Promise<void>
  /** Whether it takes writes, which a database may refuse that answers. @throws what a write would */
  probe(): Promise<void>
  close(): Promise<void>
}

export interface DatabaseOptions {
  pool: number
  /** Told every statement, for tests that count and for debug logs. */
  onStatement?: (sql: string) => void
  /** Milliseconds that a statement may take, where nobody waits for it; by default what a request can wait. */
  patience?: number
}

/** Opens the database; connects at the first statement. Whatever happens to it, every call ends within ten seconds. */
export function openDatabase(database: Database, options: DatabaseOptions): Db {
  return database.dialect === 'mysql' ? openMysql(database.url, options) : openSqlite(database.file, options)
}

/** Whether a unique index refused a row: the index decides races, not a read before it. */
export const isDuplicate = isRefusedByIndex
