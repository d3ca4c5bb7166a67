import {
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite'

export type Row = Record<string, SQLOutputValue>

/** Parameters that Sequelize binds: positional, or named with a leading `$`. */
export type Parameters = unknown[] | Record<string, unknown>
export type Done = (this: Statement, error: Error | null, rows?: Row[]) => void

/**
 * Milliseconds that SQLite itself waits for another process. This blocks the event loop: longer
 * waits use `retried`.
 */
const BUSY_LIMIT = 10
const CACHED_STATEMENTS = 200

/**
 * The primary result codes of SQLite (https://sqlite.org/rescode.html) under the names that
 * retry.ts and errors.ts look for.
 */
const codes: Record<number, string> = {
  1: 'SQLITE_ERROR',
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  9: 'SQLITE_INTERRUPT',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  17: 'SQLITE_SCHEMA',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
}

export class SqliteError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.name = 'SqliteError'
    this.code = code
  }

  /** An error of another thread, whose message begins with its code. */
  static named(code: string, message: string): SqliteError {
    return new SqliteError(code, message.replace(`${code}: `, ''))
  }
}

/** Checks the shape, not the class: errors of Node's core belong to another realm in a sandbox. */
function named(thrown: unknown): Error {
  const { errcode, message } = thrown as { errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') {
    const code = codes[errcode & 0xff] ?? `SQLITE_${errcode & 0xff}`
    return new SqliteError(code, String(message))
  }
  return thrown instanceof Error ? thrown : new Error(String(message ?? thrown), { cause: thrown })
}

function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  // node:sqlite binds every number as REAL, so 5 would become '5.0' in a text column, and 5 / 2
  // would be 2.5.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  return value === undefined ? null : (value as SQLInputValue)
}

function bindings(
  values: Parameters,
): [Record<string, SQLInputValue>, ...SQLInputValue[]] | SQLInputValue[] {
  if (Array.isArray(values)) return values.map(bindable)
  return [
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, bindable(value)])),
  ]
}

/** Whether SQLite counts the changes of a statement. Other statements leave the previous count. */
function changesOf(sql: string): 'counted' | 'none' | 'unknown' {
  if (/^\s*(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i.test(sql)) return 'counted'
  return /^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i.test(sql) ? 'none' : 'unknown'
}

/**
 * Rows are read as arrays: converting them to plain objects here costs half as much as
 * node:sqlite's objects without a prototype.
 */
class Prepared {
  readonly #statement: StatementSync
  readonly #changes: 'counted' | 'none' | 'unknown'
  #names: string[] = []

  constructor(db: DatabaseSync, sql: string) {
    const statement = db.prepare(sql)
    this.#statement = statement
    this.#changes = changesOf(sql)
    statement.setReturnArrays(true)
  }

  all(values: Parameters): Row[] {
    return this.#named(
      this.#statement.all(
        ...(bindings(values) as SQLInputValue[]),
      ) as unknown as SQLOutputValue[][],
    )
  }

  /** @param count rows at a time */
  *each(count: number): Generator<Row[]> {
    let some: SQLOutputValue[][] = []
    for (const values of this.#statement.iterate()) {
      some.push(values as unknown as SQLOutputValue[])
      if (some.length < count) continue
      yield this.#named(some)
      some = []
    }
    if (some.length > 0) yield this.#named(some)
  }

  #named(found: SQLOutputValue[][]): Row[] {
    const width = found[0]?.length ?? 0
    if (width !== this.#names.length)
      this.#names = this.#statement.columns().map(column => column.name)
    const names = this.#names
    return found.map(values => {
      const row: Row = {}
      for (let i = 0; i < width; i++) row[names[i] as string] = values[i] as SQLOutputValue
      return row
    })
  }

  run(values: Parameters): Statement {
    const { changes, lastInsertRowid } = this.#statement.run(
      ...(bindings(values) as SQLInputValue[]),
    )
    return new Statement(
      this.#changes === 'counted' ? Number(changes) : 0,
      Number(lastInsertRowid),
      this.#changes === 'unknown' || (this.#changes === 'counted' && Number(changes) > 0),
    )
  }
}

/** The result of a statement. Sequelize recognizes it by the name of its class. */
export class Statement {
  readonly changes: number
  readonly lastID: number
  /** Whether it may have written to the file. */
  readonly wrote: boolean

  constructor(changes = 0, lastID = 0, wrote = false) {
    this.changes = changes
    this.lastID = lastID
    this.wrote = wrote
  }
}

/**
 * One connection to a SQLite file. It has the interface of `Database` of the package sqlite3 for
 * Sequelize; our own statements are prepared once and run synchronously.
 */
export class SqliteConnection {
  readonly filename: string
  /** Statements so far that may have written to the file. */
  writes = 0
  #db: DatabaseSync | null = null
  readonly #prepared = new Map<string, Prepared>()

  constructor(filename: string, _mode: number, done: (error: Error | null) => void) {
    this.filename = filename
    let failure: Error | null = null
    try {
      this.#open()
    } catch (error) {
      failure = named(error)
    }
    // Sequelize keeps the connection under its name first.
    queueMicrotask(() => done(failure))
  }

  /**
   * The file may have been missing or unreachable when it was first opened: the next statement
   * tries again.
   */
  #open(): DatabaseSync {
    if (this.#db) return this.#db
    const db = new DatabaseSync(this.filename, {
      timeout: BUSY_LIMIT,
      allowUnknownNamedParameters: true,
    })
    this.#db = db
    // The write-ahead log does not block readers. If this fails now, the next statement reports the
    // error.
    for (const pragma of ['journal_mode=WAL', 'synchronous=FULL', 'foreign_keys=ON'])
      try {
        db.exec(`PRAGMA ${pragma}`)
      } catch {}
    // SQLite's own knows ASCII only.
    db.function('lower', { deterministic: true }, text =>
      typeof text === 'string' ? text.toLowerCase() : text,
    )
    return db
  }

  /** @throws SqliteError */
  rows(sql: string, values: Parameters = []): Row[] {
    try {
      return this.#cached(sql).all(values)
    } catch (error) {
      throw named(error)
    }
  }

  /** @throws SqliteError */
  write(sql: string, values: Parameters = []): number {
    try {
      const { changes, wrote } = this.#cached(sql).run(values)
      if (wrote) this.writes += 1
      return changes
    } catch (error) {
      throw named(error)
    }
  }

  /** All rows of a query, in batches. @throws SqliteError */
  *each(sql: string, count: number): Generator<Row[]> {
    try {
      yield* new Prepared(this.#open(), sql).each(count)
    } catch (error) {
      throw named(error)
    }
  }

  #cached(sql: string): Prepared {
    let prepared = this.#prepared.get(sql)
    if (prepared) {
      // The least recently used one is first.
      this.#prepared.delete(sql)
    } else {
      prepared = new Prepared(this.#open(), sql)
      for (const [oldest] of this.#prepared) {
        if (this.#prepared.size < CACHED_STATEMENTS) break
        this.#prepared.delete(oldest)
      }
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }

  // Statements of Sequelize contain their values and rarely repeat, so they are not cached.

  serialize(work?: () => void): void {
    work?.()
  }

  run(sql: string, values: Parameters = [], done: Done = () => {}): void {
    this.#answer(done, () => {
      const did = new Prepared(this.#open(), sql).run(values)
      if (did.wrote) this.writes += 1
      return { did }
    })
  }

  all(sql: string, values: Parameters | Done, done: Done = () => {}): void {
    if (typeof values === 'function') this.all(sql, [], values)
    else
      this.#answer(done, () => {
        const rows = new Prepared(this.#open(), sql).all(values)
        // Sequelize sends the deletion of a single row as a query for rows.
        if (changesOf(sql) === 'counted') this.writes += 1
        return { rows }
      })
  }

  #answer(done: Done, work: () => { did?: Statement; rows?: Row[] }): void {
    let answer: ReturnType<typeof work>
    try {
      answer = work()
    } catch (error) {
      done.call(new Statement(), named(error))
      return
    }
    done.call(answer.did ?? new Statement(), null, answer.rows)
  }

  close(done: (error: Error | null) => void = () => {}): void {
    this.#prepared.clear()
    try {
      this.#db?.close()
    } catch {}
    this.#db = null
    queueMicrotask(() => done(null))
  }
}

/** Replaces the package sqlite3 in Sequelize's option `dialectModule`. */
export const sqliteModule = { Database: SqliteConnection, OPEN_READWRITE: 2, OPEN_CREATE: 4 }

/**
 * Whether this or another process has a database open: leaving write-ahead mode needs exclusive
 * access to the file. The next opening enters it again.
 */
export function isOpenElsewhere(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: BUSY_LIMIT })
  try {
    db.exec('PRAGMA journal_mode=DELETE')
    return false
  } catch (thrown) {
    const error = named(thrown)
    if (error instanceof SqliteError && ['SQLITE_BUSY', 'SQLITE_LOCKED'].includes(error.code))
      return true
    throw error
  } finally {
    db.close()
  }
}
