import type { Identity } from './file.ts'
import type { Arguments, OperationName, Result } from './operations.ts'
import { SearchThread, SearchUnavailable } from './thread.ts'

export type { Doc } from './words.ts'
export { textMark } from './words.ts'
export type { IndexedDrive, Item, Move, Position, TextRow } from './writing.ts'

export { SearchUnavailable }

/** Milliseconds after which a thread counts as stuck. */
const READING_MS = 8000
const WRITING_MS = 120_000
const CHECKING_MS = 1_800_000

/** The name of the file in DATA_DIR. */
export const SEARCH_FILE = 'search.sqlite'

const READS: readonly OperationName[] = ['drives', 'find', 'hold', 'holdAnywhere', 'textsAt']

/** The search index in its file, with one thread that reads and one that writes. */
export class SearchIndex {
  readonly #path: string
  readonly #reading: SearchThread
  readonly #writing: SearchThread
  #identify: (() => Promise<Identity>) | undefined
  #identity: Identity | undefined

  constructor(path: string) {
    this.#path = path
    this.#reading = new SearchThread(path, READING_MS)
    this.#writing = new SearchThread(path, WRITING_MS)
  }

  /** @param identify tells the database that the index belongs to */
  belong(identify: () => Promise<Identity>): void {
    this.#identify = identify
    this.#identity = undefined
  }

  /** The state of the database that the index belongs to, as far as it is known. */
  get epoch(): string | undefined {
    return this.#identity?.epoch
  }

  async #ask<Name extends OperationName>(
    name: Name,
    args: Arguments<Name>,
    signal?: AbortSignal,
  ): Promise<Result<Name>> {
    this.#identity ??= await this.#identify?.()
    if (!this.#identity) throw new SearchUnavailable('The index belongs to no database.')
    const thread = READS.includes(name) ? this.#reading : this.#writing
    return thread.ask(this.#identity, name, args, signal)
  }

  /**
   * Asks the index. The index of another database, or of an earlier state of it, is emptied first.
   * @throws SearchUnavailable
   */
  ask<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<Result<Name>> {
    return this.askUntil(undefined, name, ...args)
  }

  /**
   * Asks the index for a request. Its signal cancels the operation.
   * @throws SearchUnavailable, or the reason of the signal
   */
  async askUntil<Name extends OperationName>(
    signal: AbortSignal | undefined,
    name: Name,
    ...args: Arguments<Name>
  ): Promise<Result<Name>> {
    try {
      return await this.#ask(name, args, signal)
    } catch (error) {
      if (!(error instanceof SearchUnavailable && error.isOther)) throw error
      await this.renew()
      return this.#ask(name, args, signal)
    }
  }

  /** The same for all questions of a request. */
  until(signal: AbortSignal | undefined): Pick<SearchIndex, 'ask'> {
    return { ask: (...asked) => this.askUntil(signal, ...asked) }
  }

  /**
   * Empties the index if it belongs to another database. What this process knows may be out of
   * date: another one may have made the index again.
   * @throws SearchUnavailable
   */
  async renew(): Promise<void> {
    this.#identity = undefined
    await this.#ask('open', [])
  }

  /**
   * Reads the whole file in a thread of its own. A damaged file is deleted.
   * @throws SearchUnavailable if it is damaged
   */
  async check(): Promise<void> {
    if (!this.#identity) return
    const checking = new SearchThread(this.#path, CHECKING_MS)
    try {
      await checking.ask(this.#identity, 'check', [])
    } finally {
      await checking.close()
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#reading.close(), this.#writing.close()])
  }
}
