import { blockSize } from './blocks.ts'

export const seconds = 1000
export const requestLimit = 8 * seconds
/**
 * The limit of a request that carries bytes: a minute per block, because many may share a slow
 * connection.
 */
export const sendLimit = (bytes: number) => requestLimit + (52 * seconds * bytes) / blockSize
export const pageLimit = 30 * seconds
export const pingLimit = 2 * seconds
/** The store needs a while for a long list of blocks. */
export const commitLimit = 60 * seconds
/** Copies within an account usually take moments, but no store guarantees that. */
export const copyLimit = 3600 * seconds

/** The state of a request whose body is still arriving. */
export interface Pace {
  /** Stops the clock until `resume`, because the request waits for bytes. */
  pause(): void
  resume(): void
}

/**
 * Runs a request until the time limit or the signal aborts it, and translates its error.
 * @param limit milliseconds, not counting the time in which the request waits for bytes to send
 * @param grace milliseconds for which the request may continue after the signal, to avoid leaving
 * half of its work in the store
 */
export type Within = <T>(
  limit: number,
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal, pace: Pace) => Promise<T>,
  grace?: number,
) => Promise<T>

/**
 * @param explain translates an error of the client of a store; `late` is set if the time limit was
 * the cause
 */
export const limited =
  (explain: (error: unknown, late: boolean) => unknown): Within =>
  async (limit, signal, request, grace = 0) => {
    signal?.throwIfAborted()
    const control = new AbortController()
    let late = false
    const stop = () => control.abort()
    const expire = () => {
      late = true
      stop()
    }
    let rest = limit
    let since = performance.now()
    let timer = setTimeout(expire, rest)
    let over = false
    const pause = () => {
      clearTimeout(timer)
      rest -= performance.now() - since
    }
    const resume = () => {
      since = performance.now()
      if (!over) timer = setTimeout(expire, rest)
    }
    let ending: NodeJS.Timeout | undefined
    const end = () => {
      if (grace === 0) stop()
      else ending = setTimeout(stop, grace)
    }
    signal?.addEventListener('abort', end)
    try {
      return await request(control.signal, { pause, resume })
    } catch (error) {
      signal?.throwIfAborted()
      throw explain(error, late)
    } finally {
      over = true
      clearTimeout(timer)
      clearTimeout(ending)
      signal?.removeEventListener('abort', end)
    }
  }
