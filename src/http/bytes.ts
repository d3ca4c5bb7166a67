import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import fresh from 'fresh'
import parseRange from 'range-parser'
import type { Delivery, Download } from '../services/sharing/download.ts'
import { allowOnly } from './method.ts'

/**
 * A request, its client's IP address and its response. The signal aborts when the client
 * disconnects.
 */
interface Exchange {
  req: IncomingMessage
  res: ServerResponse
  address: string
  signal: AbortSignal
}

/**
 * Files up to this size are read first and sent in one piece, because a pipeline of streams would
 * take longer.
 */
const AT_ONCE = 64 * 1024

/** Serves a download: a 302 to its signed URL, or the bytes if clients cannot reach the store. */
export async function sendDelivery(
  exchange: Exchange,
  download: Download,
  { proxied }: { proxied: boolean },
): Promise<void> {
  if (proxied) return sendFile(exchange, download.delivery)
  const { res } = exchange
  res.writeHead(302, {
    ...(download.url ? { location: download.url } : {}),
    'cache-control': 'no-store',
    'content-length': 0,
  })
  res.end()
}

/**
 * Serves the file of a signed link that a client was sent to. Clients show it in frames, and the
 * strict policy disables everything else.
 */
export function sendFile(exchange: Exchange, delivery: Delivery): Promise<void> {
  exchange.res.removeHeader('x-frame-options')
  return sendBytes(exchange, delivery)
}

/**
 * Streams a file with HEAD, ranges (RFC 9110, section 14) and conditional requests (section 13), in
 * constant memory.
 */
export async function sendBytes(
  { req, res, address, signal }: Exchange,
  delivery: Delivery,
): Promise<void> {
  allowOnly(req, 'GET', 'HEAD')
  const etag = `"${delivery.etag}"`
  const headers = {
    etag,
    ...(delivery.cacheControl
      ? { 'cache-control': delivery.cacheControl, vary: 'Cookie, Authorization' }
      : { 'cache-control': 'private, no-cache', 'accept-ranges': 'bytes' }),
    'content-type': delivery.contentType,
    'content-disposition': delivery.disposition,
    // Disables scripts and other active content of files on our origin.
    'content-security-policy':
      "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
    'cross-origin-resource-policy': 'same-site',
  }
  // Ignore the request's Cache-Control: the value that browsers and fetch add to conditional
  // requests would void the condition.
  if (fresh({ 'if-none-match': req.headers['if-none-match'] }, { etag })) {
    res.writeHead(304, headers).end()
    return
  }
  const range = delivery.cacheControl ? undefined : rangeOf(req, delivery.size, etag)
  if (range === 'unsatisfiable') {
    res
      .writeHead(416, {
        ...headers,
        'content-range': `bytes */${delivery.size}`,
        'content-length': 0,
      })
      .end()
    return
  }
  const count = range ? range.end - range.start + 1 : delivery.size
  const send = () =>
    res.writeHead(range ? 206 : 200, {
      ...headers,
      'content-length': count,
      ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${delivery.size}` } : {}),
    })
  if (req.method === 'HEAD' || count === 0) {
    send().end()
    return
  }
  const whole = exactly(count)
  const release = await delivery.hold?.(address)
  try {
    // Charge and open before sending the status, so that a used-up link gives a 403 and a failing
    // store a 503, not a broken 200.
    const charged = await delivery.meter?.begin(count)
    try {
      const source = await delivery.read(range ? { offset: range.start, count } : undefined, signal)
      if (count <= AT_ONCE && !charged && !delivery.reusesMemory) {
        const bytes = await collected(whole(source), signal)
        send().end(bytes)
        return
      }
      send()
      // No error can be sent after the headers. A failing store, a disconnected client or a used-up
      // link closes the connection.
      const sink = delivery.reusesMemory ? flushed(res) : res
      const sent = charged
        ? pipeline(source, whole, charged.through, sink)
        : pipeline(source, whole, sink)
      await sent.catch(() => res.destroy())
    } finally {
      await charged?.settle()
    }
  } finally {
    release?.()
  }
}

/**
 * @throws the reason of an aborted signal, so that a disconnected client does not count as a
 * failure of the store
 */
async function collected(source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of source) chunks.push(chunk)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
  return Buffer.concat(chunks)
}

/**
 * Accepts a chunk when the previous one has been flushed, because its memory may be reused then.
 */
function flushed(res: ServerResponse): Writable {
  const sink = new Writable({
    highWaterMark: 1,
    write: (chunk: Uint8Array, _encoding, done) => void res.write(chunk, done),
    final: done => void res.end(done),
    destroy(error, done) {
      if (error) res.destroy()
      done(error)
    },
  })
  res.once('close', () =>
    sink.destroy(res.writableFinished ? undefined : new Error('The client has disconnected.')),
  )
  return sink
}

/**
 * Passes on exactly the announced number of bytes, and fails otherwise. With fewer bytes, the
 * client would read the next response as the rest. With more, it would read the excess as the next
 * response.
 */
const exactly = (count: number) =>
  async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let left = count
    for await (const chunk of source) {
      left -= chunk.length
      if (left < 0) break
      yield chunk
    }
    if (left !== 0) throw new Error('The size of the blob differs from its recorded size.')
  }

/**
 * The single range that a GET requests. Requests for several ranges get the whole file, as RFC 9110
 * allows.
 */
function rangeOf(
  req: IncomingMessage,
  size: number,
  etag: string,
): { start: number; end: number } | undefined | 'unsatisfiable' {
  const { range, 'if-range': ifRange } = req.headers
  if (req.method === 'HEAD' || !range || (ifRange !== undefined && ifRange !== etag))
    return undefined
  // The last 1,000 bytes of a 10-byte file are all 10. The parser considers this range
  // unsatisfiable.
  const within = range.replace(
    /^bytes=-(\d+)$/,
    (_, count) => `bytes=-${Math.min(Number(count), size)}`,
  )
  const ranges = parseRange(size, within, { combine: true })
  if (ranges === -1) return 'unsatisfiable'
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return ranges[0]
}
