import { ReadableStream } from 'node:stream/web'
import { linkSignal, untilAborted } from '../upload-engine/signal.ts'
import { Failure } from './failure.ts'

const CALL_MS = 60_000

/** Connection errors that a retry may overcome. */
const passing = new Set([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
  ],
  ...[
    'EAI_AGAIN',
    'UND_ERR_SOCKET',
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
  ],
])

/** Errors before the service has received any part of the request. */
const unsent = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Converts connection errors to a Failure. An abort reason of `signal` takes precedence. */
export function toUnreachable(error: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof Failure || !(error instanceof Error)) return error
  // The body threw this error, for example because a file became shorter.
  if (error.cause instanceof Failure) return error.cause
  const cause = (error.cause ?? error) as NodeJS.ErrnoException
  const host = new URL(url).host
  if (cause.message === 'unexpected redirect')
    return new Failure(
      'BAD_ANSWER',
      `${host} redirects to another service. Sign in there: satchel login.`,
    )
  const { code } = cause
  const isPassing = passing.has(code ?? '') || error.message === 'terminated'
  const isSent = isPassing && !unsent.has(code ?? '')
  const why = code ?? cause.message
  const what = isSent ? `The connection to ${host} broke` : `${host} cannot be reached`
  return new Failure('UNREACHABLE', `${what} (${why}).`, {
    host,
    sent: isSent,
    // An unknown host or an invalid certificate is permanent. A body that ends early has no code.
    ...(isPassing ? {} : { permanent: true }),
  })
}

export interface Call {
  method?: string
  headers: Record<string, string>
  body?: string | AsyncIterable<Uint8Array>
  signal: AbortSignal
  /** Timeout for the response headers; undefined if a watchdog replaces it. */
  limitMs?: number | undefined
}

/**
 * Sends one request. Redirects are not followed, because they would forward the credential.
 *
 * @throws UNREACHABLE
 */
export async function send(url: string, { signal, ...rest }: Call): Promise<Response> {
  const { limitMs, ...call } = { limitMs: CALL_MS, ...rest }
  const { host } = new URL(url)
  const own = linkSignal(signal)
  const late = () =>
    own.end(new Failure('UNREACHABLE', `${host} did not respond in time.`, { host, sent: true }))
  const timer = limitMs === undefined ? undefined : setTimeout(late, limitMs)
  // Without `redirect` and `window`, fetch buffers all sent bytes for a redirect or retry. It would
  // also copy each chunk of an iterable.
  const once =
    typeof call.body === 'object'
      ? { body: ReadableStream.from(call.body), redirect: 'error', window: null, duplex: 'half' }
      : { redirect: 'manual' }
  // The types know neither `window` nor that stream.
  const init = { ...call, ...once, signal: own.signal } as RequestInit
  try {
    return await untilAborted(fetch(url, init), own.signal)
  } catch (error) {
    throw toUnreachable(error, url, own.signal)
  } finally {
    clearTimeout(timer)
    own.release()
  }
}

/**
 * Reads a JSON response.
 *
 * @throws UNAVAILABLE, or BAD_ANSWER if the response is not from Satchel, such as a proxy's error
 * page
 */
export async function readJson(
  response: Response,
  url: string,
  signal: AbortSignal,
): Promise<object> {
  const { status, headers } = response
  const text = await untilAborted(response.text(), signal).catch(error => {
    throw toUnreachable(error, url, signal)
  })
  const host = new URL(url).host
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location)
    throw new Failure(
      'BAD_ANSWER',
      `${host} redirects to ${new URL(location, url).origin}. Sign in there: satchel login.`,
    )
  const value = parseObject(text)
  if (value) return value
  if (status === 429 || status >= 500)
    throw new Failure('UNAVAILABLE', `${host} answered ${status}. Try again later.`, {
      ...retryAfterOf(headers),
    })
  throw new Failure(
    'BAD_ANSWER',
    `${host} answered ${status} without JSON. Is this the URL of a Satchel service?`,
  )
}

/**
 * The body of a response, until the signal aborts. The signal of the request only covers the
 * headers.
 */
export async function* piecesOf(
  response: Response,
  url: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { value, done } = await untilAborted(reader.read(), signal).catch(error => {
        throw toUnreachable(error, url, signal)
      })
      if (done) return
      yield value
    }
  } finally {
    // The consumer may have stopped early.
    reader.cancel().catch(() => {})
  }
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Parses seconds or a date. */
export function retryAfterOf(headers: Headers): { retry_after?: number } {
  const text = headers.get('retry-after')
  if (text === null) return {}
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isFinite(seconds) ? { retry_after: Math.max(0, seconds) } : {}
}
