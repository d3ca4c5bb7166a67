import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'
import { Sequelize, Transaction } from 'sequelize'
import { isDatabaseDown } from '../src/runtime/errors.ts'
import type { DatabaseOptions, Engine, Rows, Tx, Value } from './engine.ts'
import { connectionOf, framed, routeModels } from './frame.ts'
import { defineModels } from './models.ts'
import { isTransient, retried } from './retry.ts'
import { isOpenElsewhere, type SqliteConnection, sqliteModule } from './sqlite-driver.ts'
import { openLog } from './sqlite-log.ts'
import { SqliteThread } from './sqlite-thread.ts'

/**
 * Milliseconds that reads may take in one turn of the event loop. Then the next read waits for
 * another turn.
 */
const READING = 5

/**
 * Milliseconds without an answer of the disk, after which reads leave the event loop: a disk that
 * does not answer would stop it.
 */
const SUSPECT = 200
/** Rows that a snapshot reads in one turn of the event loop. */
const READ_AT_ONCE = 500

// A write probe costs a sync of the disk: as long as no write has failed, acquiring the lock is
// enough.
const WRITE_NOTHING = "DELETE FROM migration WHERE name = ''"
// Nothing else uses user_version; rewriting an unchanged row would not reach the disk.
const writeSomething = () => `PRAGMA user_version = ${Date.now() % 1e9}`

/**
 * Reads run synchronously, so a loop of them would block all other requests. A turn of the event
 * loop for each would double what small reads cost.
 * @param slice milliseconds
 * @returns resolves when the next statement may run
 */
function turns(slice: number): () => Promise<void> {
  let began: number | undefined
  return async function turn() {
    while (began !== undefined && performance.now() - began >= slice) await nextTurn()
    if (began !== undefined) return
    began = performance.now()
    setImmediate(() => {
      began = undefined
    })
  }
}

/** @param file created if it is missing */
export function openSqlite(file: string, { onStatement = () => {} }: DatabaseOptions): Engine {
  const sequelize = new Sequelize({
    dialect: 'sqlite',
    storage: file,
    dialectModule: sqliteModule,
    logging: sql => onStatement(sql),
    define: { timestamps: false, underscored: true, freezeTableName: true },
  })
  const connection = async (uuid: 'default' | 'snapshot') => {
    const which = { type: 'write' as const, uuid }
    return (await sequelize.connectionManager.getConnection(which)) as SqliteConnection
  }

  const log = openLog(file)
  let logged: boolean | undefined
  // The writer has its own connection: on a shared one readers would see uncommitted changes.
  const writing = new SqliteThread(file)
  /** For reads while the disk is suspect. */
  const rescue = new SqliteThread(file)
  const isSuspect = () =>
    writing.waiting > SUSPECT || log.waiting > SUSPECT || rescue.waiting > SUSPECT

  async function writerConnection(): Promise<SqliteThread> {
    if (logged === undefined) {
      logged = (await writing.rows('PRAGMA journal_mode'))[0]?.journal_mode === 'wal'
      // Commits are synced and the log is checkpointed in other threads; only a log that outgrows
      // that is checkpointed by the writer.
      if (logged)
        for (const pragma of ['synchronous=NORMAL', 'wal_autocheckpoint=16000'])
          await writing.rows(`PRAGMA ${pragma}`)
    }
    if (logged) {
      // SQLite makes the log with the first transaction of a connection, even one that reads.
      if (!log.isOpen) await writing.rows('SELECT 1 FROM sqlite_master LIMIT 1')
      await log.open()
    }
    // A disk that does not answer would not let it open the file.
    if (!rescue.isOpen) rescue.rows('SELECT 1 FROM sqlite_master LIMIT 1').catch(() => {})
    return writing
  }

  /** Runs a write, and resolves when it is on the disk. */
  async function durably<T>(work: (on: SqliteThread) => Promise<T>): Promise<T> {
    let changed = false
    const result = await inLine(async () => {
      const on = await writerConnection()
      const before = on.writes
      const result = await work(on)
      changed = on.writes !== before
      return result
    })
    if (changed && logged) await log.durable()
    return result
  }

  // SQLite has one writer. Waiting for it here is cheap; waiting inside SQLite holds its thread.
  const writer = pLimit(1)
  const toRead = turns(READING)
  let gaveUpAt = 0
  let unwritable = false

  async function inLine<T>(work: () => Promise<T>): Promise<T> {
    const since = performance.now()
    return writer(async () => {
      log.requireIntact()
      // A later request has timed out already; the queued ones would time out one after the other.
      if (since <= gaveUpAt)
        throw Object.assign(new Error('Another process has locked the database.'), {
          code: 'SQLITE_BUSY',
        })
      try {
        return await retried(work)
      } catch (error) {
        if (isTransient(error)) gaveUpAt = performance.now()
        else if (isDatabaseDown(error)) unwritable = true
        throw error
      }
    })
  }

  const transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    durably(async on => {
      const frame = {
        sequelize,
        connection: on,
        begin: async () => on.write('BEGIN IMMEDIATE'),
        commit: async () => on.write('COMMIT'),
        rollBack: () => on.rollBack(),
      }
      return framed(frame, work)
    })

  // They would run on the connection of the readers, and be acknowledged before they are on the
  // disk.
  routeModels(sequelize, {
    write: transaction,
    read: run =>
      isSuspect()
        ? run(Object.assign(new Transaction(sequelize, {}), { connection: rescue }))
        : run(),
  })

  const db: Engine = {
    dialect: 'sqlite',
    sequelize,
    ...defineModels(sequelize),
    forUpdate: '',
    forUpdateSkipLocked: '',
    forShare: '',
    touch: async () => {},
    byKey: '',
    async rows<T>(sql: string, values: Value[] = [], tx?: Tx | null) {
      onStatement(sql)
      if (tx)
        return (await (connectionOf(tx) as SqliteConnection | SqliteThread).rows(
          sql,
          values,
        )) as T[]
      await toRead()
      if (isSuspect()) return (await rescue.rows(sql, values)) as T[]
      return (await connection('default')).rows(sql, values) as T[]
    },
    async run(sql, values = [], tx) {
      onStatement(sql)
      if (tx) return (connectionOf(tx) as SqliteConnection | SqliteThread).write(sql, values)
      return durably(async on => on.write(sql, values))
    },
    transaction,
    // A transaction of Sequelize, because DDL goes through Sequelize.
    exclusively: (_name, work) =>
      inLine(() => sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, tx => work(tx))),
    async snapshot(work) {
      const on = await connection('snapshot')
      on.rows('BEGIN')
      try {
        // The state is that of the first read.
        on.rows('SELECT 1 FROM sqlite_master LIMIT 1')
        return await work(async function* (sql) {
          for (const rows of on.each(sql, READ_AT_ONCE)) {
            yield rows as Rows
            await nextTurn()
          }
        })
      } finally {
        on.rows('ROLLBACK')
      }
    },
    isThere: async () => existsSync(file),
    isOpenElsewhere: async () => existsSync(file) && isOpenElsewhere(file),
    async product() {
      const [row] = await db.rows<{ version: string }>('SELECT sqlite_version() AS version')
      return `SQLite ${row?.version}`
    },
    // A file that another process has locked can be read, but not written.
    ping: () => transaction(async () => {}),
    async probe() {
      const failed = unwritable
      await transaction(tx => db.run(failed ? writeSomething() : WRITE_NOTHING, [], tx))
      if (failed) unwritable = false
    },
    load: () => ({
      limit: 1,
      busy: writer.activeCount,
      idle: 1 - writer.activeCount,
      waiting: writer.pendingCount,
    }),
    async close() {
      await log.stopCheckpoints()
      await Promise.all([writing.close(), rescue.close()])
      await sequelize.close()
      await log.close()
    },
  }
  return db
}
