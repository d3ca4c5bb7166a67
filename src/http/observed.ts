import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { causesOf, toAppError } from '../runtime/errors.ts'
import type { Failure } from '../telemetry/figures.ts'
import { byWord, type Readings, type RequestSpan, type Telemetry } from '../telemetry/telemetry.ts'

/** A finished request. */
interface Ended {
  req: IncomingMessage
  res: ServerResponse
  route: string
  /** The code of the error that was sent. */
  errorCode: string | undefined
  /** Start time by performance.now(). */
  started: number
  span: RequestSpan | undefined
}

const known = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  ...['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'MOVE', 'LOCK', 'UNLOCK'],
])
/** The methods that the service supports. The parser of Node.js accepts many more. */
const methodOf = ({ method = '' }: IncomingMessage) => (known.has(method) ? method : 'other')

/**
 * Refusals during maintenance have a separate label, because they are not failures of the service:
 * docs/decisions/maintenance.md.
 */
function statusLabel(status: number | undefined, errorCode: string | undefined): string {
  if (status === undefined) return 'cut'
  return status === 503 && errorCode === 'MAINTENANCE' ? 'maintenance' : String(status)
}

/**
 * Measures the requests, connections and bytes of a server.
 * @returns a function that records a finished request
 */
export function observeRequests(
  server: Server,
  telemetry: Telemetry,
  read: () => Readings,
): (ended: Ended) => void {
  if (!telemetry.isOn) return () => {}
  const traffic = watchTraffic(server)
  telemetry.read(() => ({ ...traffic(), ...read() }))
  const kinds = byWord(route =>
    byWord(method => ({
      count: byWord(status => telemetry.counter('httpRequests', { method, route, status })),
      time: telemetry.timer('httpRequest', { method, route }),
    })),
  )
  return ({ req, res, route, errorCode, started, span }) => {
    const method = methodOf(req)
    // Before a response is sent, `statusCode` is the default of Node.js, 200.
    const status = res.headersSent ? res.statusCode : undefined
    const { count, time } = kinds(route)(method)
    count(statusLabel(status, errorCode))()
    time((performance.now() - started) / 1000)
    span?.end({ method, route, status })
  }
}

/**
 * Counts error responses by code.
 * @param noteFailure receives unexpected errors
 */
export function observeErrors(
  telemetry: Telemetry,
  noteFailure: (failure: Failure) => void,
): (thrown: unknown, request: { requestId: string; route: string }) => void {
  if (!telemetry.isOn) return () => {}
  const count = byWord(code => telemetry.counter('errors', { code }))
  return (thrown, { requestId, route }) => {
    const { error, unexpected } = toAppError(thrown)
    count(error.code)()
    if (unexpected)
      noteFailure({ at: Date.now(), requestId, route, code: error.code, cause: causeOf(error) })
  }
}

/** The name and code of the innermost cause. Messages may quote user input. */
function causeOf(thrown: unknown): string {
  const { name, code } = [...causesOf(thrown)].at(-1) ?? {}
  return [name, code].filter(part => typeof part === 'string' && /^\w{1,60}$/.test(part)).join(' ')
}

/**
 * Counts connections and their bytes. Sockets keep their own counts, so requests have no overhead.
 */
function watchTraffic(server: Server): () => Readings {
  const open = new Set<Socket>()
  const ended = { received: 0, sent: 0 }
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      ended.received += socket.bytesRead
      ended.sent += socket.bytesWritten
    })
  })
  return () => {
    let { received, sent } = ended
    for (const socket of open) {
      received += socket.bytesRead
      sent += socket.bytesWritten
    }
    return {
      httpConnections: open.size,
      httpBytes: [
        [{ direction: 'received' }, received],
        [{ direction: 'sent' }, sent],
      ],
    }
  }
}
