import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './envelope.ts'

/** Sends an answer, whether or not the body of its request has been read. */
export function write(
  res: ServerResponse,
  req: IncomingMessage,
  { status, headers, body }: Answer,
): void {
  // Who has hung up reads nothing, and their request may have lost its socket.
  if (res.headersSent || res.destroyed) return void res.destroy()
  // A 304 has no length: that would be the length of the answer that the caller has.
  res.writeHead(status, {
    ...headers,
    ...(status === 304 ? {} : { 'content-length': Buffer.byteLength(body) }),
  })
  const text = req.method === 'HEAD' ? '' : body
  if (req.complete) return void res.end(text)
  // Ending now would close the connection of a client that asked for that, who may be sending still
  // and would lose the answer.
  res.write(text)
  takeRest(req, req.socket, () => res.end())
}

/**
 * How long the rest of a body that was refused is still taken, so that the client gets to read why.
 */
const REST_LIMIT_MS = 3000
/**
 * So much of it is taken at full speed between pauses: 20 MiB a second, which is an honest upload
 * within the limit.
 */
const REST_AT_ONCE = 1024 * 1024
const REST_PAUSE_MS = 50

/**
 * Drains the rest of an unread body, so that the connection can be reused; cuts the connection when
 * that is too slow.
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
  // Who has read until now may be waiting for the next bytes still, and would leave the request
  // standing when it gets them.
  req.on('data', (chunk: Buffer) => {
    taken += chunk.length
    if (taken < REST_AT_ONCE) return
    taken = 0
    // At full speed, many who are refused and send on would leave no time for others.
    req.pause()
    setTimeout(() => req.resume(), REST_PAUSE_MS).unref()
  })
  req.resume()
}
