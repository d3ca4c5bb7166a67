import type { Caller, Origin } from '../src/access/caller.ts'
import type { Callers } from '../src/http/callers.ts'
import type { Incoming } from '../src/http/incoming.ts'
import type { Log } from '../src/runtime/log.ts'
import type { Services } from '../src/services/index.ts'

/** The context that every resolver receives. */
export interface Context {
  services: Services
  caller: Caller | null
  /** The client address, as determined from trusted proxies. */
  address: string
  /** The address as the audit trail stores it, with the User-Agent of the client. */
  from: Origin
  /** Looks the credential up again, for long-running work. */
  callerNow(): Promise<Caller | null>
  log: Log
  /** Counts an error that is sent to the client. */
  noteError(thrown: unknown): void
  /** The User-Agent of the client. */
  client: string | undefined
  /**
   * The id of the last server-sent event that a client received before it reconnected to a
   * subscription.
   */
  lastEventId: string | null
  signal: AbortSignal
  /** State that the fields of a request share. */
  shared: Shared
  /** Whether this is a HEAD request, for which nothing is counted. */
  looksOnly: boolean
}

/**
 * Work that continues after its request: its reported state, and the path that returns its result.
 */
export interface Accepted {
  location: string
  value: object
  /** Whether it continues because the request asked for it (RFC 7240). */
  isPreferred: boolean
}

/**
 * Part of the context instead of a WeakMap from contexts. V8 frees entries of a WeakMap late if
 * they refer back to their keys, and copies them until then.
 */
export class Shared {
  /** The loaders of each batch, by their arguments; see schema/batch.ts. */
  readonly loaders = new Map<object, Map<string, unknown>>()
  /** The number of list entries in the response so far; see schema/paging.ts. */
  given = 0
  /** The revision of the file in a REST operation on one file, sent as its ETag. */
  revision: number | undefined
  /** Whether a caller who already has this revision gets 304. */
  revalidates = false
  /** Work of a REST operation that continues after its request. The response is then 202. */
  accepted: Accepted | undefined
  /**
   * The id of the subscription event that is being sent, if it has one; see schema/event.ts.
   */
  eventId: string | undefined
}

/** Makes the context of an admitted request. */
export const contextMaker =
  (services: Services, { anyone }: Callers) =>
  (incoming: Incoming, caller: Caller | null): Context => {
    const { req, from, address, log, signal } = incoming
    return {
      services,
      caller,
      from,
      callerNow: () => anyone(incoming),
      address,
      log,
      noteError: thrown => incoming.noteError(thrown),
      client: req.headers['user-agent'],
      lastEventId: req.headers['last-event-id']?.toString() || null,
      signal,
      shared: new Shared(),
      looksOnly: req.method === 'HEAD',
    }
  }

export type MakeContext = ReturnType<typeof contextMaker>
