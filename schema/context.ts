import type { Caller, Origin } from '../src/access/caller.ts'
import type { Callers } from '../src/http/callers.ts'
import type { Incoming } from '../src/http/incoming.ts'
import type { Log } from '../src/runtime/log.ts'
import type { Services } from '../src/services/index.ts'

/** What every resolver is given besides its arguments. */
export interface Context {
  services: Services
  caller: Caller | null
  /** Client address, as believed after the trusted proxies. */
  address: string
  /** The same as the audit trail keeps it, with what the client calls itself. */
  from: Origin
  /** Looks the credential up again, for what outlives the moment. */
  callerNow(): Promise<Caller | null>
  log: Log
  /** Counts an error that is answered. */
  noteError(thrown: unknown): void
  /** What the client calls itself: its User-Agent. */
  client: string | undefined
  /**
   * Of a client that comes back to a subscription: the id of the last server-sent event that it
   * got.
   */
  lastEventId: string | null
  signal: AbortSignal
  /** What the fields of a request share. */
  shared: Shared
  /** HEAD looks without taking: nothing is counted then. */
  looksOnly: boolean
}

/**
 * Work that continues after its request: what is reported about it, and the path that returns its
 * result.
 */
export interface Accepted {
  location: string
  value: object
  /** Whether it continues because the request says so: RFC 7240. */
  isPreferred: boolean
}

/**
 * Part of the context, and not a WeakMap from contexts: V8 frees the entries of one that lead back
 * to their keys late, and copies them until then.
 */
export class Shared {
  /** The loaders of each batch, by their arguments: schema/batch.ts. */
  readonly loaders = new Map<object, Map<string, unknown>>()
  /** How many entries of lists the answer has so far: schema/paging.ts. */
  given = 0
  /** The revision of the one file that a REST operation is about, which is its ETag. */
  revision: number | undefined
  /** Whether a caller who already has that revision gets 304. */
  revalidates = false
  /** What a REST operation has begun that continues after its request: the answer is 202. */
  accepted: Accepted | undefined
  /**
   * The id of the event of a subscription that is being answered, where it has one:
   * schema/event.ts.
   */
  eventId: string | undefined
}

/** Makes the context of a request that has passed the threshold. */
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
