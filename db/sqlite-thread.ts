import { Worker } from 'node:worker_threads'
import { type Done, type Parameters, type Row, SqliteError, Statement } from './sqlite-driver.ts'

export interface Question {
  id: number
  /** `run` and `all` are those of Sequelize. */
  kind: 'rows' | 'write' | 'run' | 'all' | 'close'
  sql: string
  values: Parameters
}

export interface Answer {
  id: number
  rows?: Row[]
  changes?: number
  lastID?: number
  wrote?: boolean
  /** Of an error. */
  code?: string
  message?: string
}

interface Asked {
  since: number
  resolve: (answer: Answer) => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

/** A request must end within ten seconds. */
const PATIENCE = 8000
/**
 * Rows are garbage as soon as they are sent. With the default of Node.js, each thread keeps up to
 * 48 MiB of it.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 6 }
/** Milliseconds that closing waits for a thread whose disk does not answer. */
const CLOSING = 2000

const isSource = import.meta.url.split('?')[0]?.endsWith('.ts')
const program = new URL(isSource ? './sqlite-worker.ts' : './sqlite-worker.js', import.meta.url)
program.search = ''

/**
 * A connection to a SQLite file in a thread of its own: node:sqlite is synchronous, and a disk that
 * does not answer must not stop the event loop. Like SqliteConnection, it has the interface of
 * `Database` of the package sqlite3 for Sequelize.
 */
export class SqliteThread {
  readonly filename: string
  /** Statements so far that may have written to the file. */
  writes = 0
  readonly #patience: number
  #worker: Worker | undefined
  #next = 0
  /** In the order in which they were sent and are answered. */
  readonly #asked = new Map<number, Asked>()
  /** Statements that timed out and that the thread has not answered. */
  readonly #lost = new Map<number, number>()

  /** @param patience the timeout of a statement in milliseconds */
  constructor(filename: string, patience = PATIENCE) {
    this.filename = filename
    this.#patience = patience
  }

  /** Milliseconds since the oldest statement that the thread has not answered was sent. */
  get waiting(): number {
    const [lost] = this.#lost.values()
    const [asked] = this.#asked.values()
    const since = lost ?? asked?.since
    return since === undefined ? 0 : performance.now() - since
  }

  /** Whether the thread is still running a statement that timed out. */
  get isStuck(): boolean {
    return this.#lost.size > 0
  }

  get isOpen(): boolean {
    return this.#worker !== undefined
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(program, { workerData: this.filename, resourceLimits })
    this.#worker = worker
    worker.on('message', (answer: Answer) => this.#hear(answer))
    worker.on('error', error => this.#end(worker, error))
    worker.on('exit', () => this.#end(worker, new Error('The thread of the database has ended.')))
    worker.unref()
    return worker
  }

  #hear(answer: Answer): void {
    const { id, code, message } = answer
    if (answer.wrote) this.writes += 1
    this.#lost.delete(id)
    const asked = this.#asked.get(id)
    if (!asked) return
    this.#settle(id, asked)
    if (message === undefined) asked.resolve(answer)
    else asked.reject(code === undefined ? new Error(message) : SqliteError.named(code, message))
  }

  /** The process may exit while no statement is pending. */
  #settle(id: number, { timer }: Asked): void {
    clearTimeout(timer)
    this.#asked.delete(id)
    if (this.#asked.size === 0) this.#worker?.unref()
  }

  #end(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#lost.clear()
    for (const [id, asked] of this.#asked) {
      this.#settle(id, asked)
      asked.reject(new SqliteError('SQLITE_IOERR', cause.message))
    }
  }

  #ask(kind: Question['kind'], sql: string, values: Parameters): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.isStuck) return reject(notAnswering())
      const worker = this.#open()
      const id = this.#next++
      const asked: Asked = {
        since: performance.now(),
        resolve,
        reject,
        timer: setTimeout(() => {
          this.#settle(id, asked)
          this.#lost.set(id, asked.since)
          // Otherwise this transaction would stay open, and the next one could not begin.
          if (sql.startsWith('BEGIN')) void this.rollBack()
          reject(notAnswering())
        }, this.#patience),
      }
      if (this.#asked.size === 0) worker.ref()
      this.#asked.set(id, asked)
      worker.postMessage({ id, kind, sql, values } satisfies Question)
    })
  }

  /** @throws SqliteError */
  async rows(sql: string, values: Parameters = []): Promise<Row[]> {
    return (await this.#ask('rows', sql, values)).rows ?? []
  }

  /** @throws SqliteError */
  async write(sql: string, values: Parameters = []): Promise<number> {
    return (await this.#ask('write', sql, values)).changes ?? 0
  }

  /** Sends ROLLBACK, even after a statement that timed out. Never rejects. */
  async rollBack(): Promise<void> {
    if (this.isStuck) {
      const question: Question = { id: this.#next++, kind: 'write', sql: 'ROLLBACK', values: [] }
      this.#lost.set(question.id, performance.now())
      this.#worker?.postMessage(question)
      return
    }
    // SQLite rolls back automatically after some errors.
    await this.write('ROLLBACK').catch(() => {})
  }

  serialize(work?: () => void): void {
    work?.()
  }

  run(sql: string, values: Parameters = [], done: Done = () => {}): void {
    this.#answer('run', sql, values, done)
  }

  all(sql: string, values: Parameters | Done, done: Done = () => {}): void {
    if (typeof values === 'function') this.#answer('all', sql, [], values)
    else this.#answer('all', sql, values, done)
  }

  #answer(kind: 'run' | 'all', sql: string, values: Parameters, done: Done): void {
    this.#ask(kind, sql, values).then(
      ({ changes, lastID, rows }) => done.call(new Statement(changes, lastID), null, rows),
      error => done.call(new Statement(), error),
    )
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const late = new Promise<void>(resolve => {
      setTimeout(resolve, CLOSING).unref()
    })
    await Promise.race([this.#ask('close', '', []).catch(() => {}), late])
    this.#worker = undefined
    // A thread that is blocked by the disk ends with the process.
    await Promise.race([worker.terminate(), late])
  }
}

const notAnswering = () =>
  new SqliteError('SQLITE_IOERR', 'the disk of the database does not answer')
