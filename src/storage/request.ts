import { RestError } from '@azure/storage-blob'
import { Unavailable } from '../runtime/errors.ts'
import { blockSize } from './blocks.ts'
import { StoreRefusal } from './store.ts'

export const seconds = 1000
export const requestLimit = 8 * seconds
/** The limit of a request that carries bytes: a minute per block, because many may share a slow connection. */
export const sendLimit = (bytes: number) => requestLimit + (52 * seconds * bytes) / blockSize
export const pageLimit = 30 * seconds
export const pingLimit = 2 * seconds
/** The store needs a while for a long list of blocks. */
export const commitLimit = 60 * seconds
/** Within an account a copy normally needs moments, but Azure does not guarantee it. */
export const copyLimit = 3600 * seconds

export const isMissing = (error: unknown) => error instanceof RestError && error.statusCode === 404
/** Whether the store rejected the bytes because of their checksum. */
export const isDamaged = (error: unknown) =>
  error instanceof RestError &&
  // Azurite has no error code for it.
  (error.code === 'Md5Mismatch' ||
    (error.code === 'InvalidOperation' && error.message.includes("contentMD5 doesn't match")))
export const isLeased = (error: unknown) => error instanceof RestError && error.code === 'LeaseIdMissing'

/** Translates an error of the SDK. Only its gist is kept: the whole contains headers and signed URLs. */
function explain(error: unknown, late: boolean): unknown {
  if (late) return new Unavailable('blob store', new Error('The blob store did not answer in time.'))
  if (!(error instanceof RestError)) return error
  const { statusCode, code, message } = error
  const gist = [statusCode, code, message.split('\n', 1)[0]].filter(Boolean).join(' ')
  const refused = statusCode !== undefined && statusCode < 500 && ![408, 429].includes(statusCode)
  // Bytes that were damaged in transit can be sent again.
  return refused && !isDamaged(error)
    ? new StoreRefusal(statusCode, gist)
    : new Unavailable('blob store', new Error(gist))
}

/** The state of a request whose body is still arriving. */
export interface Pace {
  /** It waits for bytes: the time until `resume` does not count. */
  pause(): void
  resume(): void
}

/**
 * Runs a request until the time limit or the signal ends it, and translates its error.
 * @param limit milliseconds, but for those in which the request waits for bytes to send
 * @param grace milliseconds that it may continue after the signal, for one of which the store should not keep half
 */
export async function within<T>(
  limit: number,
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal, pace: Pace) => Promise<T>,
  grace = 0,
): Promise<T> {
  signal?.throwIfAborted()
  const control = new AbortController()
  let late = false
  const stop = () => control.abort()
  const expire = () => {
    late = true
    stop()
  }
  let rest = limit
  let since = Date.now()
  let timer = setTimeout(expire, rest)
  let over = false
  const pause = () => {
    clearTimeout(timer)
    rest -= Date.now() - since
  }
  const resume = () => {
    since = Date.now()
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
