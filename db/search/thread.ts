import { Worker } from 'node:worker_threads'
import { Cancellations } from './cancellation.ts'
import type { Identity } from './file.ts'
import type { Arguments, OperationName, Result } from './operations.ts'

/** The data that a thread gets when it starts. */
export interface ThreadData {
  path: string
  /** See `Cancellations`. */
  cancelled: SharedArrayBuffer
}

export interface Question {
  number: number
  name: OperationName
  identity: Identity
  args: unknown[]
}

export interface Answer {
  number: number
  result?: unknown
  failure?: string
  /** Whether the file has the index of another database. */
  isOther?: boolean
}

/** The index cannot be used: its disk is full or unreadable, or it is being rebuilt. */
export class SearchUnavailable extends Error {
  override readonly name = 'SearchUnavailable'
  /** Whether the file has the index of another database. */
  readonly isOther: boolean

  constructor(message: string, isOther = false) {
    super(message)
    this.isOther = isOther
  }
}

interface Asked {
  resolve(result: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout
  /** Stops listening to the signal. */
  unlisten(): void
}

const resourceLimits = { maxYoungGenerationSizeMb: 8 }
/** Milliseconds that closing waits for the thread. */
const CLOSING_MS = 2000

const isSource = import.meta.url.split('?')[0]?.endsWith('.ts')
const program = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url)
program.search = ''

/** A thread with a connection to the search index. It starts with the first question. */
export class SearchThread {
  readonly #path: string
  readonly #patience: number
  #worker: Worker | undefined
  #next = 0
  #isClosed = false
  readonly #asked = new Map<number, Asked>()
  readonly #cancellations = new Cancellations()

  /** @param patience the timeout of an operation in milliseconds */
  constructor(path: string, patience: number) {
    this.#path = path
    this.#patience = patience
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(program, {
      workerData: { path: this.#path, cancelled: this.#cancellations.shared } satisfies ThreadData,
      resourceLimits,
    })
    this.#worker = worker
    worker.on('message', ({ number, result, failure, isOther }: Answer) => {
      const asked = this.#asked.get(number)
      if (!asked) return
      this.#settle(number, asked)
      if (failure === undefined) asked.resolve(result)
      else asked.reject(new SearchUnavailable(failure, isOther))
    })
    worker.on('error', error => this.#end(worker, error.message))
    worker.on('exit', () => this.#end(worker, 'its thread has ended'))
    worker.unref()
    return worker
  }

  #settle(number: number, { timer, unlisten }: Asked): void {
    clearTimeout(timer)
    unlisten()
    this.#asked.delete(number)
    if (this.#asked.size === 0) this.#worker?.unref()
  }

  #end(worker: Worker, message: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const [number, asked] of this.#asked) {
      this.#settle(number, asked)
      asked.reject(new SearchUnavailable(message))
    }
  }

  /**
   * @param signal cancels the operation, before it begins or between its steps
   * @throws SearchUnavailable, or the reason of the signal
   */
  ask<Name extends OperationName>(
    identity: Identity,
    name: Name,
    args: Arguments<Name>,
    signal?: AbortSignal,
  ): Promise<Result<Name>> {
    return new Promise<Result<Name>>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (this.#isClosed) return reject(new SearchUnavailable('it is closed'))
      const worker = this.#open()
      const number = this.#next++
      const timer = setTimeout(() => {
        // An operation cannot be interrupted, so the next one gets another thread.
        this.#end(worker, 'it takes too long')
        void worker.terminate()
      }, this.#patience)
      if (this.#asked.size === 0) worker.ref()
      const cancel = () => {
        this.#cancellations.cancel(number)
        this.#settle(number, asked)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel, { once: true })
      const asked: Asked = {
        resolve: result => resolve(result as Result<Name>),
        reject,
        timer,
        unlisten: () => signal?.removeEventListener('abort', cancel),
      }
      this.#asked.set(number, asked)
      worker.postMessage({ number, name, identity, args } satisfies Question)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (!worker) return
    worker.ref()
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => resolve())
    })
    worker.postMessage('close')
    const late = new Promise<void>(resolve => {
      setTimeout(resolve, CLOSING_MS).unref()
    })
    await Promise.race([ended, late])
    this.#end(worker, 'it is closed')
    await Promise.race([worker.terminate(), late])
  }
}
