import type { Connection as MysqlConnection, ResultSetHeader } from 'mysql2'
import pLimit from 'p-limit'
import pRetry from 'p-retry'
import { Sequelize, Transaction } from 'sequelize'
import sqlite3 from 'sqlite3'
import type { Database } from '../src/config.ts'
import { causesOf } from '../src/errors.ts'
import { defineModels, type Models } from './associations.ts'

export type Dialect = Database['dialect']
export type Tx = Transaction
export type Value = string | number | boolean | null | Buffer

/** The database, as the services see it: models for plain work, prepared statements for the rest. */
export interface Db extends Models {
  dialect: Dialect
  sequelize: Sequelize
  /** Rows of a statement that reads, prepared on its connection. Inside a transaction, pass it on. */
  rows<T>(sql: string, values?: Value[], tx?: Tx | null): Promise<T[]>
  /** Carries out one statement that writes; answers how many rows it changed. */
  run(sql: string, values?: Value[], tx?: Tx | null): Promise<number>
  /** Runs `work` in one transaction, again from the start when the engine asks for that (deadlock, busy). Keep it free of side effects. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs `work` while no other instance runs something of that name. The transaction is null where DDL cannot take part in one. */
  exclusively<T>(name: string, work: (tx: Tx | null) => Promise<T>): Promise<T>
  /** What a SELECT ends with that locks its rows until the transaction ends; SQLite locks as a whole. */
  forUpdate: string
  ping(): Promise<void>
  close(): Promise<void>
}

export interface DatabaseOptions {
  pool: number
  /** Told every statement, for tests that count and for debug logs. */
  onStatement?: (sql: string) => void
}

const SECOND = 1000
const CONNECT_TIMEOUT = 3 * SECOND
const ACQUIRE_TIMEOUT = 8 * SECOND
const STATEMENT_TIMEOUT = 15 * SECOND

/** Opens the database; connects at the first statement. */
export function openDatabase(database: Database, { pool, onStatement = () => {} }: DatabaseOptions): Db {
  return database.dialect === 'mysql'
    ? openMysql(database.url, pool, onStatement)
    : openSqlite(database.file, onStatement)
}

/** The connection of a transaction, which Sequelize does not put in its types. */
function connectionOf(tx: Tx): object {
  if ('connection' in tx && typeof tx.connection === 'object' && tx.connection) return tx.connection
  throw new Error('The transaction has ended.')
}

function openMysql(url: string, pool: number, onStatement: (sql: string) => void): Db {
  const sequelize = new Sequelize(url, {
    dialect: 'mysql',
    pool: { max: pool, min: 0, acquire: ACQUIRE_TIMEOUT, idle: 30 * SECOND },
    logging: sql => onStatement(sql),
    benchmark: false,
    define: { timestamps: false, underscored: true, freezeTableName: true },
    // Without Sequelize's own typeCast: no column needs it, and with a function there mysql2 compiles a parser for every execution.
    dialectOptions: { connectTimeout: CONNECT_TIMEOUT, charset: 'utf8mb4', maxPreparedStatements: 200, typeCast: true },
    hooks: {
      // Read committed: the bucket lock orders writers, so gap locks would only make deadlocks.
      afterConnect: async (connection: unknown) => {
        const on = connection as MysqlConnection
        await execute(on, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', [])
        await execute(on, "SET SESSION innodb_lock_wait_timeout = 20, SESSION sql_mode = 'STRICT_ALL_TABLES'", [])
      },
    },
  })
  const manager = sequelize.connectionManager

  function execute(connection: MysqlConnection, sql: string, values: Value[]) {
    return new Promise<unknown>((resolve, reject) => {
      connection.execute({ sql, values, timeout: STATEMENT_TIMEOUT }, (error, result) =>
        error ? reject(error) : resolve(result),
      )
    })
  }

  async function statement(sql: string, values: Value[], tx: Tx | null | undefined) {
    onStatement(sql)
    if (tx) return execute(connectionOf(tx) as MysqlConnection, sql, values)
    const connection = await manager.getConnection({ type: 'write' })
    try {
      const result = await execute(connection as MysqlConnection, sql, values)
      manager.releaseConnection(connection)
      return result
    } catch (error) {
      // A connection with an unanswered statement must not serve the next one.
      if (error instanceof Error && 'fatal' in error && error.fatal)
        await manager.destroyConnection(connection).catch(() => {})
      else manager.releaseConnection(connection)
      throw error
    }
  }

  const db: Db = {
    dialect: 'mysql',
    sequelize,
    ...defineModels(sequelize),
    forUpdate: ' FOR UPDATE',
    rows: async <T>(sql: string, values: Value[] = [], tx?: Tx | null) => (await statement(sql, values, tx)) as T[],
    run: async (sql, values = [], tx) => ((await statement(sql, values, tx)) as ResultSetHeader).affectedRows,
    transaction: work => retried(() => sequelize.transaction(work)),
    async exclusively(name, work) {
      const connection = (await manager.getConnection({ type: 'write' })) as MysqlConnection
      try {
        await execute(connection, "SELECT GET_LOCK(MD5(CONCAT(DATABASE(), '/', ?)), 120)", [name])
        return await work(null)
      } finally {
        await execute(connection, "SELECT RELEASE_LOCK(MD5(CONCAT(DATABASE(), '/', ?)))", [name]).catch(() => {})
        manager.releaseConnection(connection)
      }
    },
    ping: async () => {
      await db.rows('SELECT 1')
    },
    close: () => sequelize.close(),
  }
  return db
}

/** Every connection that Sequelize opens waits for other processes, and leaves the log of changes where readers do not meet it. */
class WaitingDatabase extends sqlite3.Database {
  constructor(file: string, mode: number, done: (error: Error | null) => void) {
    super(file, mode, done)
    this.configure('busyTimeout', 10 * SECOND)
    this.run('PRAGMA journal_mode=WAL')
    this.run('PRAGMA synchronous=FULL')
  }
}

function openSqlite(file: string, onStatement: (sql: string) => void): Db {
  const sequelize = new Sequelize({
    dialect: 'sqlite',
    storage: file,
    dialectModule: { ...sqlite3, Database: WaitingDatabase },
    logging: sql => onStatement(sql),
    define: { timestamps: false, underscored: true, freezeTableName: true },
  })
  const manager = sequelize.connectionManager
  // SQLite has one writer. Waiting for it here costs nothing; waiting inside SQLite blocks a thread each, and with all threads
  // blocked the writer itself cannot go on.
  const writer = pLimit(1)

  const connection = async (tx: Tx | null | undefined) =>
    (tx ? connectionOf(tx) : await manager.getConnection({ type: 'write' })) as sqlite3.Database

  const write = (sql: string, values: Value[], on: sqlite3.Database) =>
    new Promise<number>((resolve, reject) => {
      on.run(sql, values, function (this: sqlite3.RunResult, error: Error | null) {
        if (error) reject(error)
        else resolve(this.changes)
      })
    })

  const transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    writer(() => retried(() => sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, work)))

  const db: Db = {
    dialect: 'sqlite',
    sequelize,
    ...defineModels(sequelize),
    forUpdate: '',
    async rows<T>(sql: string, values: Value[] = [], tx?: Tx | null) {
      onStatement(sql)
      const on = await connection(tx)
      return new Promise<T[]>((resolve, reject) => {
        on.all(sql, values, (error: Error | null, rows: T[]) => (error ? reject(error) : resolve(rows)))
      })
    },
    async run(sql, values = [], tx) {
      onStatement(sql)
      const on = await connection(tx)
      return tx ? write(sql, values, on) : writer(() => retried(() => write(sql, values, on)))
    },
    transaction,
    exclusively: (_name, work) => transaction(work),
    ping: async () => {
      await db.rows('SELECT 1')
    },
    close: () => sequelize.close(),
  }
  return db
}

/** What the engine asks to be tried again: a deadlock, a lock that took too long, a busy SQLite. */
const transient = /ER_LOCK_DEADLOCK|ER_LOCK_WAIT_TIMEOUT|ER_CHECKREAD|SQLITE_BUSY|SQLITE_LOCKED/

function retried<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, {
    retries: 8,
    minTimeout: 10,
    maxTimeout: 500,
    randomize: true,
    shouldRetry: error => codesOf(error).some(code => transient.test(code)),
  })
}

/** The engine's codes of an error and of what it wraps. */
const codesOf = (error: unknown): string[] =>
  [...causesOf(error)].flatMap(({ code, message }) => [String(code), String(message)])

/** Whether a unique index refused a row: the index decides races, not a read before it. */
export function isDuplicate(error: unknown): boolean {
  return codesOf(error).some(code => code === 'ER_DUP_ENTRY' || code.includes('UNIQUE constraint failed'))
}
