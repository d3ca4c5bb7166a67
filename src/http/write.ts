import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './envelope.ts'

/** Sends a response, whether or not the request body has been read. */
export function write(
  res: ServerResponse,
  req: IncomingMessage,
  { status, headers, body }: Answer,
): void {
  // The client has hung up. The request may have lost its socket.
  if (res.headersSent || res.destroyed) return void res.destroy()
  // A 304 has no length, because that would be the length of the cached response.
  res.writeHead(status, {
    ...headers,
    ...(status === 304 ? {} : { 'content-length': Buffer.byteLength(body) }),
  })
  const text = req.method === 'HEAD' ? '' : body
  if (req.complete) return void res.end(text)
  // `end` would close the connection if the client asked for that. The client may still be sending,
  // and would lose the response.
  res.write(text)
  takeRest(req, req.socket, () => res.end())
}

/** How long to drain a refused body, so that the client can read the error. */
const REST_LIMIT_MS = 3000
/**
 * The drain pauses after this many bytes. That gives 20 MiB a second, enough to drain any
 * legitimate upload within the limit.
 */
const REST_AT_ONCE = 1024 * 1024
const REST_PAUSE_MS = 50

/**
 * Drains the rest of an unread body, so that the connection can be reused. Cuts the connection if
 * that takes too long.
 */
export function takeRest(req: IncomingMessage, socket: Socket, done: () => void = () => {}): void {
  if (socket.destroyed) return void done()
  const timer = setTimeout(() => socket.destroy(), REST_LIMIT_MS)
  timer.unref()
  const over = () => {
    clearTimeout(timer)
    socket.off('close', over)
    req.off('end', over)
    done()
  }
  socket.once('close', over)
  req.once('end', over)
  req.unpipe()
  let taken = 0
  // A previous reader may still wait for bytes, and would pause the request when it gets them.
  req.on('data', (chunk: Buffer) => {
    taken += chunk.length
    if (taken < REST_AT_ONCE) return
    taken = 0
    // At full speed, many clients that keep sending after a refusal would starve the others.
    req.pause()
    setTimeout(() => req.resume(), REST_PAUSE_MS).unref()
  })
  req.resume()
}
