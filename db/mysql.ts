import { createHash } from 'node:crypto'
import type { Connection, QueryError, ResultSetHeader } from 'mysql2'
import { Sequelize } from 'sequelize'
import type { DatabaseTls } from '../src/config/database-tls.ts'
import type { DatabaseOptions, Engine, Rows, Tx, Value } from './engine.ts'
import { connectionOf, framed, routeModels } from './frame.ts'
import { joinCluster, underLock } from './galera.ts'
import { defineModels } from './models.ts'
import { fallBackToText } from './mysql-errors.ts'
import { createNodes, nodesOf, type Wire } from './mysql-nodes.ts'
import { productOf } from './product.ts'
import { isLost, repeatable, retried } from './retry.ts'

const SECOND = 1000
// A request waits for at most one connection and one dead statement, together less than ten
// seconds.
const CONNECT_LIMIT = 3 * SECOND
const ACQUIRE_LIMIT = 4.5 * SECOND
const STATEMENT_LIMIT = 5 * SECOND
/** Seconds; less than the limit of a statement, so that the engine reports a lock timeout first. */
const LOCK_WAIT = 4
/** Rows that a snapshot reads before it yields. */
const READ_AT_ONCE = 500
/** How long to wait for the migration of another instance. */
const EXCLUSIVE_LIMIT = 120 * SECOND

/**
 * No column has a time zone, and Sequelize would set one with a statement without a timeout.
 * Missing in its types.
 */
const unasked = { keepDefaultTimezone: true }

/** The pool of sequelize-pool, which the types of Sequelize lack. */
interface Pooled {
  pool: Record<'using' | 'available' | 'waiting', number>
}

/** The name of a lock of one database: locks belong to the whole server, and have 64 characters. */
const lockName = (database: string, name: string) =>
  createHash('sha256').update(`${database}/${name}`).digest('hex')

const heldTooLong = (name: string) =>
  new Error(
    `Another instance has held the lock "${name}" for too long. Start again when it has finished.`,
  )

/** @param urls mysql://user:password@host:port/name for each server of the database */
export function openMysql(
  urls: [first: string, ...others: string[]],
  { pool, onStatement = () => {}, patience }: DatabaseOptions,
  tls?: DatabaseTls,
): Engine {
  const watches = new WeakMap<object, () => void>()
  const nodes = createNodes(nodesOf(urls), tls)
  let migrating = false
  let isCluster = false
  const sequelize = new Sequelize(urls[0], {
    dialect: 'mysql',
    dialectModule: { createConnection: nodes.connect },
    pool: { max: pool, min: 0, acquire: ACQUIRE_LIMIT, idle: 30 * SECOND },
    logging: sql => onStatement(sql),
    benchmark: false,
    define: { timestamps: false, underscored: true, freezeTableName: true },
    ...unasked,
    // Without Sequelize's typeCast: no column needs it, and with a function there mysql2 compiles a
    // parser for every execution.
    dialectOptions: {
      connectTimeout: CONNECT_LIMIT,
      charset: 'utf8mb4',
      maxPreparedStatements: 200,
      typeCast: true,
      // Sequelize disables FOUND_ROWS; then unchanged rows would not count as matched, unlike in
      // SQLite.
      flags: ['FOUND_ROWS'],
    },
    hooks: {
      afterConnect: async (made: unknown) => {
        const on = made as Wire
        fallBackToText(on)
        // Sequelize ends a failed connection gracefully and ignores the outcome; a closed one it
        // just drops.
        on.prependListener('error', () => on.destroy())
        on.stream.once('close', () => on.destroy())
        try {
          // Read committed: the bucket lock orders writers, so gap locks would only make deadlocks.
          await execute(on, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', [])
          await execute(
            on,
            `SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT},
               SESSION sql_mode = 'STRICT_ALL_TABLES'`,
            [],
          )
          isCluster = await joinCluster(sql => execute(on, sql, []))
        } catch (error) {
          nodes.leave(on.node)
          on.destroy()
          throw error
        }
      },
      // Statements of models are sent by Sequelize, and get the same timeout.
      beforeQuery: (_options, query) => {
        if (!migrating)
          watches.set(query, watch((query as unknown as { connection: Wire }).connection))
      },
      afterQuery: (_options, query) => watches.get(query)?.(),
    },
  })
  const manager = sequelize.connectionManager
  const pooled = manager.getConnection.bind(manager)
  /**
   * Returns a connection to the preferred working node. Drops connections to less preferred nodes.
   */
  async function connected(options: Parameters<typeof pooled>[0]): Promise<Connection> {
    for (let failures = 0; ; ) {
      try {
        const on = (await pooled(options)) as Wire
        if (!nodes.isLessPreferred(on)) return on
        discard(on)
      } catch (error) {
        if (!isLost(error) || ++failures >= urls.length) throw error
      }
    }
  }
  if (nodes.several) Object.assign(manager, { getConnection: connected })
  const acquire = async () => (await manager.getConnection({ type: 'write' })) as Wire

  /**
   * Destroys a connection that does not answer in time, which rejects all its statements. Call the
   * returned function when the answer has arrived.
   */
  function watch(on: Wire, limit = patience ?? STATEMENT_LIMIT): () => void {
    const timer = setTimeout(() => {
      nodes.leave(on.node)
      on.stream.destroy(
        Object.assign(new Error('The database did not answer in time.'), { code: 'ETIMEDOUT' }),
      )
      on.destroy()
    }, limit)
    return () => clearTimeout(timer)
  }

  function answerOf(
    on: Wire,
    send: (done: (error: QueryError | null, result: unknown) => void) => void,
    limit?: number,
  ) {
    return new Promise<unknown>((resolve, reject) => {
      const answered = watch(on, limit)
      send((error, result) => {
        answered()
        if (error) reject(error)
        else resolve(result)
      })
    })
  }

  const execute = (on: Wire, sql: string, values: Value[], limit?: number) =>
    answerOf(on, done => on.execute({ sql, values }, done), limit)
  const say = (on: Wire, sql: string) => answerOf(on, done => on.query(sql, done))

  /** A connection in an unknown state must not be reused. */
  function discard(on: Wire): void {
    on.destroy()
    manager.destroyConnection(on).catch(() => {})
  }

  function release(on: Wire): void {
    if (on.stream.destroyed) discard(on)
    else manager.releaseConnection(on)
  }

  async function statement(sql: string, values: Value[], tx: Tx | null | undefined) {
    onStatement(sql)
    if (tx) return execute(connectionOf(tx) as Wire, sql, values)
    const connection = await acquire()
    try {
      return await execute(connection, sql, values)
    } finally {
      release(connection)
    }
  }

  /**
   * With several nodes, statements that certainly changed nothing before the connection was lost
   * are repeated on another node.
   */
  const read = <T>(work: () => Promise<T>) =>
    nodes.several ? retried(() => work().catch(error => repeatable(error, isLost(error)))) : work()

  async function transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const connection = await acquire()
    let committing = false
    try {
      return await framed(
        {
          sequelize,
          connection,
          begin: () => say(connection, 'START TRANSACTION'),
          commit() {
            committing = true
            return say(connection, 'COMMIT')
          },
          rollBack: () => say(connection, 'ROLLBACK').catch(() => discard(connection)),
        },
        work,
      )
    } catch (error) {
      // Without an answer to COMMIT, it is unknown whether the transaction was committed.
      return repeatable(
        error,
        nodes.several && !committing && isLost(error) && connection.stream.destroyed,
      )
    } finally {
      release(connection)
    }
  }

  /**
   * Streams the rows of a query. If the caller stops early, the connection cannot be used again.
   */
  async function* each(on: Wire, sql: string): AsyncGenerator<Rows> {
    onStatement(sql)
    const rows = on.query(sql).stream({ highWaterMark: READ_AT_ONCE })
    let ended = false
    let answered = watch(on)
    try {
      let some: Rows = []
      for await (const row of rows) {
        answered()
        some.push(row)
        if (some.length === READ_AT_ONCE) {
          yield some
          some = []
        }
        answered = watch(on)
      }
      ended = true
      answered()
      if (some.length > 0) yield some
    } finally {
      answered()
      if (!ended) on.destroy()
    }
  }

  routeModels(sequelize, { write: write => retried(() => write()), read })

  const db: Engine = {
    dialect: 'mysql',
    sequelize,
    ...defineModels(sequelize),
    forUpdate: ' FOR UPDATE',
    forUpdateSkipLocked: ' FOR UPDATE SKIP LOCKED',
    // MariaDB does not know FOR SHARE.
    forShare: ' LOCK IN SHARE MODE',
    byKey: ' FORCE INDEX (PRIMARY)',
    rows: async <T>(sql: string, values: Value[] = [], tx?: Tx | null) =>
      (await (tx ? statement(sql, values, tx) : read(() => statement(sql, values, tx)))) as T[],
    async run(sql, values = [], tx) {
      // A transaction is retried as a whole.
      const result = await (tx
        ? statement(sql, values, tx)
        : retried(() => statement(sql, values, tx)))
      return (result as ResultSetHeader).affectedRows
    },
    transaction: work => retried(() => transaction(work)),
    async snapshot(work) {
      const connection = await acquire()
      try {
        await say(connection, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
        await say(connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
        try {
          return await work(sql => each(connection, sql))
        } finally {
          await say(connection, 'ROLLBACK').catch(() => discard(connection))
        }
      } finally {
        release(connection)
      }
    },
    async touch(table, ids, tx) {
      if (isCluster && ids.length > 0)
        await db.run(
          `UPDATE ${table}
           SET touched = 1 - touched
           WHERE ${table === 'store_move' ? 'number' : 'id'} IN (${ids.map(() => '?').join(', ')})`,
          [...ids],
          tx,
        )
    },
    // A service checks for jobs every few seconds, so it always has an open connection.
    isThere: async () => true,
    async isOpenElsewhere() {
      const open = `SELECT id
        FROM information_schema.processlist
        WHERE db = DATABASE()
          AND id <> CONNECTION_ID()
        LIMIT 1`
      const connection = await acquire()
      try {
        const answers = [
          await execute(connection, open, []),
          ...(await nodes.others(connection, open)),
        ] as unknown[][]
        return answers.some(rows => rows.length > 0)
      } finally {
        release(connection)
      }
    },
    async exclusively(name, work) {
      const connection = await acquire()
      let lock = ''
      try {
        const [current] = (await execute(connection, 'SELECT DATABASE() AS name', [])) as {
          name: string
        }[]
        lock = lockName(current?.name ?? '', name)
        const sql = `SELECT GET_LOCK(?, ${EXCLUSIVE_LIMIT / SECOND}) AS held`
        const [answer] = (await execute(connection, sql, [lock], 2 * EXCLUSIVE_LIMIT)) as {
          held: number | null
        }[]
        if (Number(answer?.held) !== 1) throw heldTooLong(name)
        // No timeout: altering large tables may take long.
        migrating = true
        if (!isCluster) return await work(null)
        const send = (sql: string, values: string[] = []) =>
          retried(() => statement(sql, values, null))
        const done = await underLock(send, { name, patience: EXCLUSIVE_LIMIT }, () => work(null))
        if (!done) throw heldTooLong(name)
        return done.result
      } finally {
        migrating = false
        await execute(connection, 'SELECT RELEASE_LOCK(?)', [lock]).catch(() => {})
        release(connection)
      }
    },
    async product() {
      const row = await db.rows<{ version: string }>('SELECT VERSION() AS version')
      return productOf(row[0]?.version ?? '')
    },
    ping: async () => {
      // A node without its cluster refuses only statements that read tables.
      await db.rows(isCluster ? 'SELECT 1 FROM migration LIMIT 1' : 'SELECT 1')
    },
    // Matches no row, and fails on a read-only server.
    probe: async () => {
      await db.run("DELETE FROM migration WHERE name = ''")
    },
    close() {
      nodes.close()
      return sequelize.close()
    },
    load() {
      const { using, available, waiting } = (manager as unknown as Pooled).pool
      return { limit: pool, busy: using, idle: available, waiting }
    },
  }
  return db
}
