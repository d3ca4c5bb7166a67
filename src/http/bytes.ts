import type { IncomingMessage, ServerResponse } from 'node:http'
import fresh from 'fresh'
import parseRange from 'range-parser'
import { interruptibleSteps, leave } from '../runtime/interruptible.ts'
import type { Delivery, Download } from '../services/sharing/download.ts'
import type { Chunks } from '../storage/chunks.ts'
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

/** Files up to this size are read first and sent in one piece, so that a failure has a status. */
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
  const release = await delivery.hold?.(address)
  try {
    // Charge and open before sending the status, so that a used-up link gives a 403 and a failing
    // store a 503, not a broken 200.
    const charged = await delivery.meter?.begin(count)
    let sent = 0
    try {
      const chunks = await delivery.read(range ? { offset: range.start, count } : undefined, signal)
      if (count <= AT_ONCE && !charged) {
        const bytes = await collected(chunks, count, signal)
        send().end(bytes)
        return
      }
      send()
      await eachChunk(chunks, count, signal, async (chunk, before) => {
        await charged?.cover(before + chunk.length)
        await written(res, chunk)
        sent = before + chunk.length
      })
      res.end()
    } catch (error) {
      // No error can be sent after the headers. A failing store, a disconnected client or a used-up
      // link closes the connection.
      if (!res.headersSent) throw error
      res.destroy()
    } finally {
      await charged?.settle(sent)
    }
  } finally {
    release?.()
  }
}

/**
 * Handles chunks one after the other, and fails unless they have exactly the announced number of
 * bytes. With fewer bytes, the client would read the next response as the rest. With more, it would
 * read the excess as the next response.
 * @param handle receives a chunk and the number of bytes before it
 */
async function eachChunk(
  chunks: Chunks,
  count: number,
  signal: AbortSignal,
  handle: (chunk: Uint8Array, before: number) => unknown,
): Promise<void> {
  const steps = chunks[Symbol.asyncIterator]()
  const next = interruptibleSteps(steps, signal)
  let before = 0
  try {
    for (let step = await next(); !step.done; step = await next()) {
      if (before + step.value.length > count) throw sizeDiffers()
      await handle(step.value, before)
      before += step.value.length
    }
    if (before !== count) throw sizeDiffers()
  } finally {
    leave(steps)
  }
}

const sizeDiffers = () => new Error('The size of the blob differs from its recorded size.')

/**
 * Copies all chunks into one buffer.
 * @throws the reason of an aborted signal, so that a disconnected client does not count as a
 * failure of the store
 */
async function collected(chunks: Chunks, count: number, signal: AbortSignal): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(count)
  try {
    await eachChunk(chunks, count, signal, (chunk, before) => bytes.set(chunk, before))
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
  return bytes
}

/**
 * Sends a chunk. Resolves when the connection does not need its memory anymore: the system has
 * copied the bytes, or the connection has been closed.
 */
const written = (res: ServerResponse, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    // Node would drop the chunk and never call back.
    if (res.req.socket.destroyed) return reject(new Error('The client has disconnected.'))
    res.write(chunk, error => (error ? reject(error) : resolve()))
  })

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
