import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { INDEX_VERSION, makeTables } from './tables.ts'

/** The database that an index belongs to, and whether it has the texts of files. */
export interface Identity {
  epoch: string
  hasTexts: boolean
}

const ERROR = 1
/** The result code of SQLite for a damaged file. */
export const CORRUPT = 11
const NOT_A_DATABASE = 26
/** Milliseconds that SQLite waits for a writer of another process. */
const BUSY_MS = 5000
const CACHED = 100

export type Values = SQLInputValue[]

/** The index belongs to another version, or to another database or another state of it. */
export class OtherIndex extends Error {
  override readonly name = 'OtherIndex'
}

/** Nobody waits for the result of an operation any more. */
class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Whether an error means that the file has to be made again. */
export function isDamage(error: unknown): boolean {
  const { errcode, message = '' } = error as { errcode?: number; message?: string }
  if (typeof errcode !== 'number') return false
  const code = errcode & 0xff
  if (code === CORRUPT || code === NOT_A_DATABASE) return true
  // All statements are right, so the tables are not: parse errors, missing tables and columns.
  return code === ERROR && !message.startsWith('fts5:')
}

/**
 * The file of the search index. Several processes and threads may open it. It is replaced by an
 * empty one when it is damaged, and opened again when another process has replaced it.
 */
export class SearchFile {
  readonly #path: string
  readonly #isReadOnly: boolean
  #db: DatabaseSync | undefined
  #inode: bigint | undefined
  readonly #statements = new Map<string, StatementSync>()
  /** Whether the current operation is cancelled. */
  isCancelled: () => boolean = () => false

  constructor(path: string, { isReadOnly = false } = {}) {
    this.#path = path
    this.#isReadOnly = isReadOnly
  }

  #inodeNow(): bigint | undefined {
    return statSync(this.#path, { bigint: true, throwIfNoEntry: false })?.ino
  }

  #open(): DatabaseSync {
    if (this.#db && this.#inode === this.#inodeNow()) return this.#db
    this.close()
    // Only the user of the service may read the words of all files.
    if (!this.#isReadOnly) closeSync(openSync(this.#path, 'a', 0o600))
    this.#inode = this.#inodeNow()
    const db = new DatabaseSync(this.#path, { readOnly: this.#isReadOnly, timeout: BUSY_MS })
    this.#db = db
    try {
      if (!this.#isReadOnly) db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      db.exec('PRAGMA cache_size = -8000')
    } catch (error) {
      this.close()
      throw error
    }
    return db
  }

  close(): void {
    this.#statements.clear()
    const db = this.#db
    this.#db = undefined
    try {
      db?.close()
    } catch {
      // A damaged file may refuse to be closed in order.
    }
  }

  /** Deletes a damaged file, unless another process has replaced it already. */
  #discard(): void {
    const inode = this.#inode
    this.close()
    if (this.#isReadOnly || inode === undefined || inode !== this.#inodeNow()) return
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true })
  }

  /**
   * Makes sure that the index belongs to this version and to a database.
   * @param mayEmpty empties another one
   * @throws OtherIndex
   */
  #belong(db: DatabaseSync, { epoch, hasTexts }: Identity, mayEmpty: boolean): void {
    const identity = `${INDEX_VERSION} ${epoch} ${hasTexts ? 'texts' : 'names'}`
    if (this.#identityOf(db) === identity) return
    if (!mayEmpty) throw new OtherIndex()
    this.#statements.clear()
    db.exec('BEGIN IMMEDIATE')
    // Another process may have done it.
    if (this.#identityOf(db) !== identity) {
      this.#statements.clear()
      makeTables(db)
      // Drives are filled with the texts that are there by now.
      db.prepare("INSERT INTO meta (name, value) VALUES ('identity', ?), ('texts', ?)").run(
        identity,
        String(Date.now()),
      )
    }
    db.exec('COMMIT')
  }

  #identityOf(db: DatabaseSync): string | undefined {
    try {
      const row = this.#prepared(db, "SELECT value FROM meta WHERE name = 'identity'").get()
      return row?.value as string | undefined
    } catch (error) {
      if (/no such table/.test(String(error))) return undefined
      throw error
    }
  }

  #prepared(db: DatabaseSync, sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      if (this.#statements.size >= CACHED) this.#statements.clear()
      statement = db.prepare(sql)
      statement.setReadBigInts(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /**
   * Runs work on the file.
   * @param mayEmpty whether an index of another version or database becomes an empty one
   * @throws OtherIndex, or the error of SQLite. After damage, the next call starts with a new file.
   */
  use<T>(identity: Identity | null, work: (file: SearchFile) => T, mayEmpty = false): T {
    try {
      const db = this.#open()
      if (identity) this.#belong(db, identity, mayEmpty)
      return work(this)
    } catch (error) {
      if (error instanceof OtherIndex) throw error
      if (this.#db?.isTransaction)
        try {
          this.#db.exec('ROLLBACK')
        } catch {
          this.close()
        }
      if (isDamage(error)) this.#discard()
      throw error
    }
  }

  /** The database that the index belongs to. Undefined for an index of another version. */
  epoch(): string | undefined {
    return this.use(null, () => {
      const [version, epoch] = (this.#db && this.#identityOf(this.#db))?.split(' ') ?? []
      return version === String(INDEX_VERSION) ? epoch : undefined
    })
  }

  /** Ends a cancelled operation between two of its steps. @throws Cancelled */
  step(): void {
    if (this.isCancelled()) throw new Cancelled()
  }

  statement(sql: string): StatementSync {
    if (!this.#db) throw new Error('The search index is not open.')
    return this.#prepared(this.#db, sql)
  }

  rows<T>(sql: string, values: Values = []): T[] {
    return this.statement(sql).all(...values) as T[]
  }

  row<T>(sql: string, values: Values = []): T | undefined {
    return this.statement(sql).get(...values) as T | undefined
  }

  /** @returns the number of changed rows */
  run(sql: string, values: Values = []): number {
    return Number(this.statement(sql).run(...values).changes)
  }

  /** Runs work in a transaction. No other process writes meanwhile. */
  transaction<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE')
    const result = work()
    this.run('COMMIT')
    return result
  }
}
