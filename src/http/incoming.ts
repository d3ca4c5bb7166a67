import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Origin } from '../access/caller.ts'
import { toAppError } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'

type Given = Pick<Incoming, 'req' | 'res' | 'path' | 'address' | 'signal'> & {
  /** The query of the URL, without its question mark. */
  search: string
  requestId: string
  /** The id of the trace that the request is part of. */
  traceId?: string | undefined
  gatewayLog: Log
  originOf(req: IncomingMessage, address: string): Origin
  /** Counts an error response. */
  noteError(thrown: unknown, request: { requestId: string; route: string }): void
}

/**
 * A request as the gateway passes it to a door. This is a class because V8 creates a hidden class
 * for each object literal with accessors. The hidden class would keep the whole request in memory
 * until the next full collection.
 */
export class Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly path: string
  /** Client address, as determined by the trusted proxies. */
  readonly address: string
  /** The path pattern of the request, or "none" until its door has found it. */
  route = 'none'
  /** The values of the parameters in the path. */
  params: Record<string, string | undefined> = {}
  /** Aborts when the client disconnects; its reason is an AppError. */
  readonly signal: AbortSignal
  /** Whether this is a health check. */
  isProbe = false
  /** The code of the error that is sent. */
  errorCode: string | undefined = undefined
  readonly #given: Given
  #query: URLSearchParams | undefined
  #log: Log | undefined
  #from: Origin | undefined

  constructor(given: Given) {
    this.req = given.req
    this.res = given.res
    this.path = given.path
    this.address = given.address
    this.signal = given.signal
    this.#given = given
  }

  // Created on demand: static files and blobs do not need these.

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#given.search)
    return this.#query
  }

  /** The origin of the request for the audit trail. */
  get from(): Origin {
    this.#from ??= this.#given.originOf(this.req, this.address)
    return this.#from
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
