import { Failure } from './failure.ts'
import { leashTo, whileOpen } from './signal.ts'

const CALL_MS = 60_000

/** Errors of connections that a later attempt may not meet. */
const passing = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'],
  ...['EAI_AGAIN', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
])

/** Errors after which the service has seen nothing of the request. */
const unsent = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** Anything that a connection throws, in words. What `signal` was ended with goes first. */
export function toUnreachable(error: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof Failure || !(error instanceof Error)) return error
  const cause = (error.cause ?? error) as NodeJS.ErrnoException
  const host = new URL(url).host
  if (cause.message === 'unexpected redirect')
    return new Failure('BAD_ANSWER', `${host} leads somewhere else. Sign in there: satchel login.`)
  const { code } = cause
  const isPassing = passing.has(code ?? '') || error.message === 'terminated'
  const isSent = isPassing && !unsent.has(code ?? '')
  const why = code ?? cause.message
  const what = isSent ? `The connection to ${host} broke` : `${host} cannot be reached`
  return new Failure('UNREACHABLE', `${what} (${why}).`, {
    host,
    sent: isSent,
    // A name that nobody has, or a certificate that is wrong, is so the next time, too; a body that ends early has no code.
    ...(isPassing ? {} : { permanent: true }),
  })
}

export interface Call {
  method?: string
  headers: Record<string, string>
  body?: string | AsyncIterable<Uint8Array>
  signal: AbortSignal
  /** How long sending and the head of the answer may take; undefined where somebody else watches. */
  limitMs?: number | undefined
}

/** One request. Redirects are not followed: they would take the credential along. @throws UNREACHABLE */
export async function send(url: string, { signal, ...rest }: Call): Promise<Response> {
  const { limitMs, ...call } = { limitMs: CALL_MS, ...rest }
  const { host } = new URL(url)
  const own = leashTo(signal)
  const late = () => own.end(new Failure('UNREACHABLE', `${host} has not answered in time.`, { host, sent: true }))
  const timer = limitMs === undefined ? undefined : setTimeout(late, limitMs)
  // Of a body that might have to be sent again, to another address or in another window, fetch keeps all that has gone.
  const streams = typeof call.body === 'object'
  const once = streams ? { redirect: 'error', window: null, duplex: 'half' } : { redirect: 'manual' }
  // The types do not know of bodies that are iterated.
  const init = { ...call, ...once, signal: own.signal } as RequestInit
  try {
    return await whileOpen(fetch(url, init), own.signal)
  } catch (error) {
    throw toUnreachable(error, url, own.signal)
  } finally {
    clearTimeout(timer)
    own.release()
  }
}

/** The JSON of an answer. @throws UNAVAILABLE, BAD_ANSWER for what is not from Satchel, such as the page of a proxy */
export async function readJson(response: Response, url: string, signal: AbortSignal): Promise<object> {
  const { status, headers } = response
  const text = await whileOpen(response.text(), signal).catch(error => {
    throw toUnreachable(error, url, signal)
  })
  const host = new URL(url).host
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location)
    throw new Failure('BAD_ANSWER', `${host} leads to ${new URL(location, url).origin}. Sign in there: satchel login.`)
  const value = parseObject(text)
  if (value) return value
  if (status === 429 || status >= 500)
    throw new Failure('UNAVAILABLE', `${host} answers ${status}. Try again later.`, { ...retryAfterOf(headers) })
  throw new Failure('BAD_ANSWER', `${host} answers ${status} and no JSON. Is it the address of a Satchel?`)
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Seconds, or a date. */
export function retryAfterOf(headers: Headers): { retry_after?: number } {
  const text = headers.get('retry-after')
  if (text === null) return {}
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isFinite(seconds) ? { retry_after: Math.max(0, seconds) } : {}
}
