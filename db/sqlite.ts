import pLimit from 'p-limit'
import { Sequelize, Transaction } from 'sequelize'
import sqlite3 from 'sqlite3'
import { defineModels } from './associations.ts'
import { connectionOf, framed } from './frame.ts'
import type { DatabaseOptions, Db, Tx, Value } from './index.ts'
import { isTransient, retried } from './retry.ts'

/** Milliseconds that a statement waits for other processes, in one of few threads: longer waits are waited for outside. */
const BUSY_LIMIT = 1000

/** Every connection waits for other processes, and leaves the log of changes where readers do not meet it. */
class WaitingDatabase extends sqlite3.Database {
  constructor(file: string, mode: number, done: (error: Error | null) => void) {
    super(file, mode, done)
    this.configure('busyTimeout', BUSY_LIMIT)
    // Nobody waits for these, and an error without a listener would end the process. The next statement meets it again.
    this.run('PRAGMA journal_mode=WAL', () => {})
    this.run('PRAGMA synchronous=FULL', () => {})
  }
}

/** @param file made if it is missing */
export function openSqlite(file: string, { onStatement = () => {} }: DatabaseOptions): Db {
  const sequelize = new Sequelize({
    dialect: 'sqlite',
    storage: file,
    dialectModule: { ...sqlite3, Database: WaitingDatabase },
    logging: sql => onStatement(sql),
    define: { timestamps: false, underscored: true, freezeTableName: true },
  })
  const connection = async (uuid: 'default' | 'writer') => {
    const which = { type: 'write' as const, uuid }
    return (await sequelize.connectionManager.getConnection(which)) as sqlite3.Database
  }

  // SQLite has one writer. Waiting for it here costs nothing; waiting inside SQLite blocks a thread each, and with all threads
  // blocked the writer itself cannot go on. Its connection is its own: on a common one readers would wait along.
  const writer = pLimit(1)
  let gaveUpAt = 0

  async function inLine<T>(work: () => Promise<T>): Promise<T> {
    const since = performance.now()
    return writer(async () => {
      // Somebody who came later than this one has waited in vain already; all who stand behind would do so one after the other.
      if (since <= gaveUpAt)
        throw Object.assign(new Error('Another process holds the database.'), { code: 'SQLITE_BUSY' })
      try {
        return await retried(work)
      } catch (error) {
        if (isTransient(error)) gaveUpAt = performance.now()
        throw error
      }
    })
  }

  const write = (on: sqlite3.Database, sql: string, values: Value[] = []) =>
    new Promise<number>((resolve, reject) => {
      on.run(sql, values, function (this: sqlite3.RunResult, error: Error | null) {
        if (error) reject(error)
        else resolve(this.changes)
      })
    })

  const transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    inLine(async () => {
      const on = await connection('writer')
      on.serialize()
      const frame = {
        sequelize,
        connection: on,
        begin: () => write(on, 'BEGIN IMMEDIATE'),
        commit: () => write(on, 'COMMIT'),
        // SQLite has rolled back by itself after some errors.
        rollBack: () => write(on, 'ROLLBACK').catch(() => {}),
      }
      return framed(frame, work)
    })

  return {
    dialect: 'sqlite',
    sequelize,
    ...defineModels(sequelize),
    forUpdate: '',
    byKey: '',
    async rows<T>(sql: string, values: Value[] = [], tx?: Tx | null) {
      onStatement(sql)
      const on = tx ? (connectionOf(tx) as sqlite3.Database) : await connection('default')
      return new Promise<T[]>((resolve, reject) => {
        on.all(sql, values, (error: Error | null, rows: T[]) => (error ? reject(error) : resolve(rows)))
      })
    },
    async run(sql, values = [], tx) {
      onStatement(sql)
      if (tx) return write(connectionOf(tx) as sqlite3.Database, sql, values)
      return inLine(async () => write(await connection('writer'), sql, values))
    },
    transaction,
    // Sequelize's own, because DDL goes through Sequelize.
    exclusively: (_name, work) =>
      inLine(() => sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, tx => work(tx))),
    // A file that another process has locked can be read, but serves nobody.
    ping: () => transaction(async () => {}),
    close: () => sequelize.close(),
  }
}
