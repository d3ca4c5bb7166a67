import type { IncomingMessage, ServerResponse } from 'node:http'
import { toAppError } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { BodyKind } from './body.ts'

type Given = Pick<Incoming, 'req' | 'res' | 'path' | 'address' | 'signal' | 'admit'> & {
  /** The query of the URL, without its question mark. */
  search: string
  requestId: string
  /** The id of the trace that the request is part of. */
  traceId?: string | undefined
  gatewayLog: Log
  /** Counts an error response. */
  noteError(thrown: unknown, request: { requestId: string; route: string }): void
}

/**
 * A request as the gateway passes it to a mount. This is a class because V8 creates a hidden class
 * for each object literal with accessors. The hidden class would keep the whole request in memory
 * until the next full collection.
 */
export class Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly path: string
  /** Client address, as determined by the trusted proxies. */
  readonly address: string
  /**
   * The path pattern of the request, or "none" until a mount with several routes has found it.
   * Never a path from a client.
   */
  route = 'none'
  /** Aborts when the client disconnects; its reason is an AppError. */
  readonly signal: AbortSignal
  /**
   * Admits the body once its caller is known. Call it before reading the body.
   * @param caller the user id; null without a credential
   * @param body how the handler reads the body; by default the headers decide
   * @throws UNAVAILABLE if a limit would be exceeded
   */
  readonly admit: (caller: string | null, body?: BodyKind) => Promise<void>
  /** Whether this is a health check. */
  isProbe = false
  /** The code of the error that is sent. */
  errorCode: string | undefined = undefined
  readonly #given: Given
  #query: URLSearchParams | undefined
  #log: Log | undefined

  constructor(given: Given) {
    this.req = given.req
    this.res = given.res
    this.path = given.path
    this.address = given.address
    this.signal = given.signal
    this.admit = given.admit
    this.#given = given
  }

  // Created on demand: static files and blobs do not need these.

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#given.search)
    return this.#query
  }

  get requestId(): string {
    return this.#given.requestId
  }

  /** Counts an error response under the code that is sent. Ignores disconnected clients. */
  noteError(thrown: unknown): void {
    if (this.signal.aborted) return
    this.errorCode = toAppError(thrown).error.code
    this.#given.noteError(thrown, this)
  }

  get log(): Log {
    const { gatewayLog, requestId, traceId } = this.#given
    this.#log ??= gatewayLog.child({
      request_id: requestId,
      ...(traceId ? { trace_id: traceId } : {}),
    })
    return this.#log
  }
}
