import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import proxyAddr from 'proxy-addr'
import { loggedCaller } from '../access/audit-log.ts'
import type { Origin } from '../access/caller.ts'
import { callerOf } from '../access/credential.ts'
import type { Config } from '../config/config.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { Busy, InvalidInput } from '../runtime/errors.ts'
import { type Log, loggablePath } from '../runtime/log.ts'
import type { UploadMemory } from '../storage/store.ts'
import type { Failure } from '../telemetry/figures.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { addressForLog, networkOf } from '../values/network.ts'
import { boundConnections } from './connections.ts'
import { crossOrigin } from './cors.ts'
import { failure } from './envelope.ts'
import { watchForwarded } from './forwarded.ts'
import { Incoming } from './incoming.ts'
import { createIntake, type IntakeSettings } from './intake.ts'
import { observeErrors, observeRequests } from './observed.ts'
import { oneAtATime } from './pipeline.ts'
import { type Admit, type Door, nothingHere, sendRefusal } from './threshold.ts'
import { takeRest, write } from './write.ts'

/** A request that the gateway is about to pass to its door. */
interface Arrival {
  /** The network of the client; undefined behind a proxy that does not forward addresses. */
  client: string | undefined
  /** Functions that release what the request holds. */
  releases: (() => void)[]
  admit: Admit
}

/** GET /readyz reports ready only while `serving`. */
export type Phase = 'starting' | 'serving' | 'stopping'

interface GatewayOptions {
  config: Pick<Config, 'corsOrigins' | 'trustProxy' | 'connectionsPerAddress' | 'logAddresses'> &
    IntakeSettings
  /** Memory that the store needs per upload. */
  uploadMemory: UploadMemory
  coordination: Coordination
  publicUrl: () => string
  log: Log
  telemetry: Telemetry
  /** Receives unexpected errors. */
  noteFailure?: (failure: Failure) => void
  /** The origin of a request for the audit trail. */
  originOf: (req: IncomingMessage, address: string) => Origin
  doors: Door[]
}

const securityHeaders = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'interest-cohort=()',
})

/** A burst of larger responses leaves enough garbage to collect. */
const LARGE_ANSWER = 64 * 1024
const SECOND = 1000
/** How long a stop waits for requests whose connections were cut. */
export const CLEANUP_LIMIT = 5 * SECOND
/** The timeout of idle connections. An upload as a whole has no time limit. */
const IDLE_LIMIT = 120 * SECOND

/**
 * The gateway: one node:http server that routes each request to the door with the longest matching
 * prefix.
 */
export function createGateway({
  config,
  uploadMemory,
  coordination,
  publicUrl,
  log,
  telemetry,
  noteFailure = () => {},
  originOf,
  doors,
}: GatewayOptions) {
  const shownAddress = addressForLog(config.logAddresses)
  const trust = proxyAddr.compile(config.trustProxy)
  const checkForwarded = watchForwarded(trust, log)
  // Their fields are created below, and none holds a secret. Redaction would add a fifth to the
  // garbage of a small request.
  const requests = log.child({}, { redact: [] })
  const share = crossOrigin(config.corsOrigins)
  let sorted = [...doors].sort(byLength)
  const doorOf = (path: string) =>
    sorted.find(
      m =>
        path === m.prefix ||
        (!m.exact && path.startsWith(m.prefix.endsWith('/') ? m.prefix : `${m.prefix}/`)),
    )
  const serving = new Set<Promise<void>>()
  /**
   * The current request and response of each connection. Finished ones are removed, because an idle
   * connection would keep them, with all headers, in memory.
   */
  const exchanges = new WeakMap<Socket, { req: IncomingMessage; res: ServerResponse }>()
  let phase: Phase = 'starting'

  const server = createServer(
    { requestTimeout: 0, headersTimeout: 30 * SECOND, keepAliveTimeout: 65 * SECOND },
    oneAtATime(listener, refusePipelined),
  )
  server.setTimeout(IDLE_LIMIT)
  const connections = boundConnections(server, {
    max: config.connectionsPerAddress,
    isProxy: address => trust(address, 0),
    coordination,
  })
  const intake = createIntake(config, uploadMemory, coordination)
  const note = observeRequests(server, telemetry, () => ({
    httpRunning: serving.size,
    bodies: intake.open,
    bodyMemory: intake.memory,
    bodyMemoryLimit: config.bodyMemoryBytes,
  }))
  const noteError = observeErrors(telemetry, noteFailure)
  // Once the request is complete and the response has not begun, the service is slow, not the
  // client.
  server.on('timeout', socket => {
    const exchange = exchanges.get(socket)
    if (exchange?.req.complete && !exchange.res.headersSent) socket.setTimeout(IDLE_LIMIT)
    else socket.destroy()
  })

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const started = performance.now()
    const { socket } = req
    exchanges.set(socket, { req, res })
    const requestId = randomUUID()
    const span = telemetry.request(req.headers)
    const url = req.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const gone = new AbortController()
    for (const [name, value] of securityHeaders) res.setHeader(name, value)
    res.setHeader('x-request-id', requestId)
    if (publicUrl().startsWith('https:'))
      res.setHeader('strict-transport-security', 'max-age=31536000')
    if (phase === 'stopping') res.setHeader('connection', 'close')
    res.on('close', () => {
      // The next request of the connection may have begun already.
      if (exchanges.get(socket)?.res === res) exchanges.delete(socket)
      if (!res.writableFinished) gone.abort(hungUp())
      if (!req.complete) takeRest(req, socket)
      if (Number(res.getHeader('content-length')) > LARGE_ANSWER) intake.tidySoon()
      // Otherwise a stopping server would keep the connection open for another request.
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
      note({ req, res, route: incoming.route, errorCode: incoming.errorCode, started, span })
      // Probes arrive every few seconds, and successful ones are not worth a log line.
      const isQuiet = incoming.isProbe && res.writableFinished && res.statusCode < 400
      requests[isQuiet ? 'debug' : 'info'](
        {
          request_id: requestId,
          ...(span ? { trace_id: span.traceId } : {}),
          method: req.method,
          path: loggablePath(url),
          status: res.statusCode,
          ...loggedCaller(callerOf(req)),
          ...shownAddress(incoming.address),
          ms: Math.round(performance.now() - started),
          ...(res.writableFinished ? {} : { cut: true }),
        },
        'request',
      )
    })
    checkForwarded(req)
    // A closed socket has no address.
    const address = (proxyAddr(req, trust) as string | undefined) ?? ''
    // A proxy that forwards no client address carries many clients, which must not share one limit.
    const client = trust(address, 0) ? undefined : networkOf(address)
    const releases: (() => void)[] = []
    const incoming = new Incoming({
      req,
      res,
      path,
      search: mark < 0 ? '' : url.slice(mark + 1),
      address,
      signal: gone.signal,
      originOf,
      requestId,
      traceId: span?.traceId,
      gatewayLog: log,
      noteError,
    })
    const admit: Admit = async (caller, body) =>
      void releases.push(await intake.admit({ req, client, caller, body, abort: gone }))
    const door = doorOf(path)
    const answering = () => serve(door, incoming, { client, releases, admit })
    const served: Promise<void> = (span ? span.run(answering) : telemetry.detached(answering))
      .catch(error => sendRefusal(error, incoming, door))
      .finally(() => {
        serving.delete(served)
        for (const release of releases) release()
      })
    serving.add(served)
  }

  /** Refuses a request when too many wait on its connection. */
  function refusePipelined(req: IncomingMessage, res: ServerResponse): void {
    res.setHeader('connection', 'close')
    const refused = new Busy('Too many requests were sent at once on this connection.', 1)
    void write(res, req, failure(refused))
  }

  async function serve(
    door: Door | undefined,
    incoming: Incoming,
    { client, releases, admit }: Arrival,
  ): Promise<void> {
    const { req, res } = incoming
    if (await connections.isRefused(req.socket)) {
      res.setHeader('connection', 'close')
      throw tooMany()
    }
    if (client !== undefined && incoming.address !== req.socket.remoteAddress) {
      const release = await coordination.holdOften(1, [
        [`requests of ${client}`, config.connectionsPerAddress],
      ])
      if (!release) throw tooMany()
      releases.push(release)
    }
    await share?.(req, res, door?.options === true)
    if (res.writableEnded) return
    if (phase === 'starting' && !door?.always)
      throw new Busy('This instance is starting. Try again in a few seconds.', 2)
    if (!door) throw nothingHere()
    incoming.isProbe = door.always === true
    await door.enter(incoming, admit)
  }

  return {
    server,

    /** Adds a door that could not be created before the URL was known. */
    mount(door: Door): void {
      sorted = [...sorted, door].sort(byLength)
    },

    get phase(): Phase {
      return phase
    },

    /** Starts serving requests. Until then all requests but health checks get a 503. */
    open(): void {
      phase = 'serving'
    },

    /** Listens. @returns the port */
    listen: (host: string, port: number): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          const address = server.address()
          resolve(typeof address === 'object' && address ? address.port : port)
        })
      }),

    /**
     * Keeps serving for `ms` milliseconds while reporting not ready, and closes each connection
     * with its response. Proxies with persistent connections notice this and send their next
     * request elsewhere. Closing an idle connection could lose a request in transit.
     */
    async drain(ms: number, hurry?: AbortSignal): Promise<void> {
      phase = 'stopping'
      if (ms > 0) await sleep(ms, undefined, hurry ? { signal: hurry } : {}).catch(() => {})
    },

    /**
     * Stops accepting connections, lets running requests finish for `limit` milliseconds, then cuts
     * the rest.
     */
    async stop(limit: number): Promise<void> {
      phase = 'stopping'
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), limit)
      await closed
      clearTimeout(timer)
      // A request whose connection was cut must still release its resources.
      await Promise.race([
        Promise.allSettled(serving),
        sleep(CLEANUP_LIMIT, undefined, { ref: false }),
      ])
    },

    intake,

    /** The number of requests in progress. */
    get running(): number {
      return serving.size
    },
  }
}

const byLength = (a: Door, b: Door) => b.prefix.length - a.prefix.length

const tooMany = () =>
  new Busy('Too many connections are open from your IP address. Close some, then try again.')

/**
 * The abort reason after a client disconnects. It is not a failure of the service, so it is not
 * logged as one.
 */
const hungUp = () => new InvalidInput('body', 'The connection broke before there was an answer.')
