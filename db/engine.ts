import type { Sequelize, Transaction } from 'sequelize'
import type { Database } from '../src/config/config.ts'
import type { Telemetry } from '../src/telemetry/telemetry.ts'
import type { Models } from './models.ts'

export type Dialect = Database['dialect']
export type Tx = Transaction
export type Value = string | number | boolean | null | Buffer

/** Tables whose rows are locked by transactions that may not change the rows. */
export type LockedTable =
  | 'api_key'
  | 'bucket'
  | 'session'
  | 'share'
  | 'store_move'
  | 'user'
  | 'workspace'

export type Rows = Record<string, Value>[]

/** Reads the rows of a query in batches, in constant memory. */
export type Reader = (sql: string) => AsyncIterable<Rows>

/** The interface of a database engine. */
export interface Engine extends Models {
  dialect: Dialect
  sequelize: Sequelize
  /**
   * Runs a query as a prepared statement.
   * @param tx required inside a transaction
   * @returns the rows
   */
  rows<T>(sql: string, values?: Value[], tx?: Tx | null): Promise<T[]>
  /**
   * Runs one writing statement.
   * @returns how many rows matched, whether or not their values changed
   */
  run(sql: string, values?: Value[], tx?: Tx | null): Promise<number>
  /**
   * Runs `work` in one transaction, and retries it from the start on a deadlock or busy error.
   * `work` must be free of other side effects.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs `work` under a named lock across all instances. The transaction is null if DDL is not
   * transactional.
   */
  exclusively<T>(name: string, work: (tx: Tx | null) => Promise<T>): Promise<T>
  /**
   * Runs `work` on a consistent snapshot of all tables, while others write. The snapshot reads one
   * query at a time.
   */
  snapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>
  /** Whether the database exists. Opening a missing SQLite file would create it. */
  isThere(): Promise<boolean>
  /**
   * Whether other connections are open, such as those of a running service. Ask before any other
   * statement.
   */
  isOpenElsewhere(): Promise<boolean>
  /**
   * The suffix of a SELECT that locks its rows until the transaction ends. Empty for SQLite, which
   * locks the database.
   */
  forUpdate: string
  /** Like `forUpdate`, but leaves out rows that another transaction has locked. */
  forUpdateSkipLocked: string
  /** Like `forUpdate`, but others may read the rows under the same lock. */
  forShare: string
  /**
   * The index hint after the name of a table whose row is found by its primary key and another
   * condition. Without it, MySQL may use an index in which a parallel transaction moves the row,
   * and miss it.
   */
  byKey: string
  /**
   * Writes rows that a transaction has locked, because locks of a Galera cluster do not reach other
   * nodes. A node learns of other transactions only when they commit, and only of their writes. If
   * two transactions lock the same row, one of them then fails and is retried. Does nothing with
   * one server.
   */
  touch(table: LockedTable, ids: readonly (string | number)[], tx: Tx): Promise<void>
  ping(): Promise<void>
  /** The product and its version, such as "MySQL 9.7.4". */
  product(): Promise<string>
  /**
   * Checks that the database accepts writes, not only connections.
   * @throws what a write would throw
   */
  probe(): Promise<void>
  close(): Promise<void>
  /**
   * The current connections, and the requests that wait for one. For SQLite, the connection that
   * writes.
   */
  load(): { limit: number; busy: number; idle: number; waiting: number }
}

/**
 * The database interface of the services: models for simple queries, prepared statements for the
 * rest.
 */
export interface Db extends Engine {
  /** Runs a query as a prepared statement. @returns its first row */
  row<T>(sql: string, values?: Value[], tx?: Tx | null): Promise<T | undefined>
  /** Runs a query as a prepared statement. @returns whether it finds anything */
  exists(sql: string, values?: Value[], tx?: Tx | null): Promise<boolean>
  /** Runs a statement that writes one row. @returns whether that matched */
  changed(sql: string, values?: Value[], tx?: Tx | null): Promise<boolean>
}

export interface DatabaseOptions {
  pool: number
  /** Called with every statement, for tests that count them and for debug logs. */
  onStatement?: (sql: string) => void
  /**
   * Timeout of a statement in milliseconds, for background work; by default the time that a request
   * can wait.
   */
  patience?: number
  telemetry?: Telemetry
}
