import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import aws4 from 'aws4'
import { NoSpace, Unavailable } from '../runtime/errors.ts'
import { keepAliveAgent } from './agent.ts'
import { credentialOf, type S3Credential, type S3Identity } from './aws-identity.ts'
import { StoreRefusal } from './store.ts'
import { limited } from './time-limit.ts'
import { textOf } from './xml.ts'

/** A bucket and its credentials. */
export interface S3Bucket extends S3Identity {
  bucket: string
  /** The URL of the store, without the bucket. */
  endpoint: string
  /** Whether URLs name the bucket in the path instead of the host. */
  pathStyle: boolean
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The name of an object; if missing, the request concerns the bucket itself. */
  object?: string
  query?: Record<string, string | number>
  headers?: Record<string, string | number>
  /** A function returns the body again for each attempt. */
  body?: Uint8Array | string | (() => Readable)
}

/** An unsuccessful response of the store, or a connection error. */
export class S3Error extends Error {
  readonly status: number | undefined
  readonly code: string

  constructor(status: number | undefined, code: string, message: string) {
    super(message)
    this.name = 'S3Error'
    this.status = status
    this.code = code
  }
}

/**
 * Delays between attempts, in milliseconds: long enough for a restart of the store, and short for a
 * dead one.
 */
const pauses = [100, 500, 1200]

export const isMissing = (error: unknown) =>
  error instanceof S3Error && error.status === 404 && error.code !== 'NoSuchBucket'
/** Whether the store rejected the bytes because of their checksum. */
export const isDamaged = (error: unknown) => error instanceof S3Error && error.code === 'BadDigest'
/** Error codes for a full bucket, a full disk or a user's quota. */
const fullCodes = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientCapacity'])
const isFull = ({ status, code }: S3Error) => status === 507 || fullCodes.has(code)
const isTransient = (error: unknown) =>
  error instanceof S3Error &&
  !isFull(error) &&
  (error.status === undefined || error.status >= 500 || [408, 429].includes(error.status))

/**
 * Whether the store may have refused the credential rather than the request. The response to a HEAD
 * has no code: Amazon sends 400 or 403.
 */
const isCredentialRefused = (error: unknown) =>
  error instanceof S3Error &&
  [400, 401, 403].includes(error.status ?? 0) &&
  /^(|AccessDenied|ExpiredToken|ExpiredTokenException|InvalidAccessKeyId|InvalidToken|InvalidTokenId|TokenRefreshRequired)$/.test(
    error.code,
  )

/** Waits for the work, unless the signal aborts first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Keeps only the gist of an error, because the full response may contain signatures. */
function explain(error: unknown, late: boolean): unknown {
  if (late)
    return new Unavailable('blob store', new Error('The blob store did not respond in time.'))
  if (!(error instanceof S3Error)) return error
  const { status, code, message } = error
  const gist = [status, code, message.split('\n', 1)[0]].filter(Boolean).join(' ')
  if (isFull(error)) return new NoSpace('blob store', new Error(gist))
  // Bytes that were damaged in transit can be sent again.
  return status === undefined || isTransient(error) || isDamaged(error)
    ? new Unavailable('blob store', new Error(gist))
    : new StoreRefusal(status, gist)
}

/** Runs a request to an S3 store. */
export const within = limited(explain)

const fromConnection = (error: unknown) =>
  error instanceof Error
    ? new S3Error(undefined, String((error as NodeJS.ErrnoException).code ?? ''), error.message)
    : error

async function refusalOf(answer: IncomingMessage): Promise<S3Error> {
  const body = await text(answer).catch(() => '')
  return new S3Error(answer.statusCode, textOf(body, 'Code'), textOf(body, 'Message'))
}

/**
 * A client of one bucket. It signs requests (Signature Version 4), keeps connections alive and
 * retries failures. Bodies are not signed, because they are unknown when a request begins. Their
 * MD5 is signed if known.
 */
export function connect(where: S3Bucket, traceHeaders: () => Record<string, string> = () => ({})) {
  const { bucket, region, pathStyle } = where
  const identity = credentialOf(where)

  /** The target of requests, for a URL of the store. */
  const placeAt = (endpoint: URL) => ({
    host: pathStyle ? endpoint.host : `${bucket}.${endpoint.host}`,
    root: `${endpoint.pathname.replace(/\/+$/, '')}${pathStyle ? `/${bucket}` : ''}`,
  })
  const endpoint = new URL(where.endpoint)
  const { host, root } = placeAt(endpoint)
  const isSecure = endpoint.protocol === 'https:'
  const request = isSecure ? requestHttps : requestHttp
  const agent = keepAliveAgent(endpoint.protocol)
  const { hostname, port } = new URL(`${endpoint.protocol}//${host}`)

  const pathOf = (
    rootPath: string,
    { object, query = {} }: Pick<S3Request, 'object' | 'query'>,
  ) => {
    const path =
      object === undefined
        ? rootPath || '/'
        : `${rootPath}/${object.split('/').map(encodeURIComponent).join('/')}`
    const fields = Object.entries(query).map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
    )
    return fields.length > 0 ? `${path}?${fields.join('&')}` : path
  }

  /** Makes one attempt. Resolves with the head of a successful response. */
  async function attempt(asked: S3Request, signal: AbortSignal): Promise<IncomingMessage> {
    const credential = await unlessAborted(identity.get(), signal)
    try {
      return await attemptWith(credential, asked, signal)
    } catch (error) {
      if (!isCredentialRefused(error) || signal.aborted) throw error
      const other = await unlessAborted(identity.replace(credential), signal)
      if (!other) throw error
      return attemptWith(other, asked, signal)
    }
  }

  async function attemptWith(
    credential: S3Credential,
    asked: S3Request,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { method, headers, body } = asked
    const length =
      typeof body === 'function' || body === undefined
        ? {}
        : { 'Content-Length': Buffer.byteLength(body) }
    const { path, headers: signed } = aws4.sign(
      {
        service: 's3',
        region,
        method,
        path: pathOf(root, asked),
        headers: { ...headers, ...length, Host: host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
      },
      credential,
    )
    const stream = typeof body === 'function' ? body() : undefined
    const sent = request({
      agent,
      method,
      path,
      signal,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      headers: { ...signed, ...traceHeaders() },
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve)
      // Errors may also follow the response, if the store hangs up while the body is still being
      // sent.
      sent.on('error', error => reject(fromConnection(error)))
    })
    if (stream) pipeline(stream, sent, () => {})
    else sent.end(typeof body === 'function' ? undefined : body)
    try {
      const answer = await answered
      const { statusCode = 500 } = answer
      if (statusCode < 300) return answer
      throw await refusalOf(answer)
    } finally {
      // A store that responds early leaves a connection that waits for the rest.
      if (stream && !sent.writableFinished) sent.destroy()
    }
  }

  async function repeated<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (const pause of pauses) {
      try {
        return await work()
      } catch (error) {
        if (!isTransient(error) || signal.aborted) throw error
        await sleep(pause, undefined, { signal })
      }
    }
    return work()
  }

  return {
    /**
     * Resolves with the head of the response. The caller must read its body.
     * @throws S3Error
     */
    open: (asked: S3Request, signal: AbortSignal): Promise<IncomingMessage> =>
      repeated(() => attempt(asked, signal), signal),

    /**
     * Resolves with the headers and the whole body of the response.
     * @throws S3Error
     */
    ask: (asked: S3Request, signal: AbortSignal) =>
      repeated(async () => {
        const answer = await attempt(asked, signal)
        const body = await text(answer).catch(error => {
          throw fromConnection(error)
        })
        // Copies and compositions take so long that the status is sent before their outcome is
        // known.
        if (/^\s*(<\?xml[^>]*\?>)?\s*<Error>/.test(body))
          throw new S3Error(500, textOf(body, 'Code'), textOf(body, 'Message'))
        return { headers: answer.headers, body }
      }, signal),

    /**
     * The origin of signed URLs.
     * @param at the URL of the store for clients
     */
    originAt: (at: URL): string => `${at.protocol}//${placeAt(at).host}`,

    /**
     * Creates URLs that allow one request each. They live `life` seconds, but not longer than their
     * credential.
     * @param at the URL of the store for clients
     */
    async signer(life: number, at: URL) {
      const credential = await identity.get(life * 1000)
      const now = Date.now()
      const left = ((credential.expiresAt ?? Number.POSITIVE_INFINITY) - now) / 1000
      const seconds = Math.max(1, Math.floor(Math.min(life, left)))
      const place = placeAt(at)
      return {
        expiresAt: now + seconds * 1000,
        sign(asked: S3Request): string {
          const { path } = aws4.sign(
            {
              service: 's3',
              region,
              method: asked.method,
              signQuery: true,
              path: pathOf(place.root, {
                ...asked,
                query: { ...asked.query, 'X-Amz-Expires': seconds },
              }),
              headers: { Host: place.host },
            },
            credential,
          )
          return `${at.protocol}//${place.host}${path}`
        },
      }
    },
  }
}

export type S3Client = ReturnType<typeof connect>
