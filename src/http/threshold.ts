import { isFromElsewhere, refuseForeignWrites } from '../access/origin.ts'
import { AppError, Forbidden, ProtocolError, toAppError } from '../runtime/errors.ts'
import type { MaintenanceService } from '../services/maintenance.ts'
import type { BodyKind } from './body.ts'
import { nobody } from './callers.ts'
import { type Answer, failure } from './envelope.ts'
import type { Incoming } from './incoming.ts'
import { allowOnly } from './method.ts'
import { write } from './write.ts'

/** The caller of a passage. The body counts against the limits of this user. */
export interface Entrant {
  userId: string
}

/** The response to an error; undefined if it was already sent. */
export type Refusal = Answer | undefined | Promise<Answer | undefined>

/** What a door does at one address. The threshold checks a request before `handle` sees it. */
export interface Passage<C extends Entrant | null = Entrant | null> {
  /** The path pattern, for metrics. Never a path from a client. */
  route: string
  /** The allowed methods. Undefined if `find` has chosen the passage by the method. */
  methods?: readonly string[]
  /**
   * What pages of other origins must not use: the session cookie for a write, or forms at all.
   * `nothing` is for credentials that a browser does not send by itself.
   */
  guards: 'session' | 'forms' | 'nothing'
  /**
   * Finds the caller. src/http/callers.ts has the usual ones.
   * @throws UNAUTHENTICATED if the passage requires a caller
   */
  caller(incoming: Incoming): Promise<C>
  /** How the body is read. By default the headers decide. */
  body?: BodyKind
  /** Whether it changes something, and is refused during maintenance. */
  writes: boolean
  handle(incoming: Incoming, caller: C): unknown
  /** Formats an error. By default the door does. */
  refuse?(thrown: unknown, incoming: Incoming): Refusal
}

/** A passage whose caller has the type that its `caller` finds. */
export const passage = <C extends Entrant | null>(made: Passage<C>): Passage<C> => made

/** A passage that everyone may read, such as a static file. */
export const openPassage = (
  route: string,
  handle: (incoming: Incoming) => unknown,
): Passage<null> => ({
  route,
  methods: ['GET', 'HEAD'],
  guards: 'nothing',
  caller: nobody,
  writes: false,
  handle,
})

/** The description of an interface below one prefix. `createThreshold` makes it a door. */
export interface DoorPlan {
  /** The path that this door handles, with all paths below it unless `exact`. */
  prefix: string
  exact?: true
  /** Also handles requests before the service is ready. */
  always?: true
  /** Handles OPTIONS itself, except for CORS preflights. */
  options?: true
  /**
   * The passage that a request asks for. May set `incoming.params`.
   * @throws ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED
   */
  find(incoming: Incoming): Passage
  /** Formats an error. The default is the JSON envelope. */
  refuse?(thrown: unknown, incoming: Incoming): Refusal
}

/** A door with one passage at exactly one path. */
export const doorOf = (only: Passage): DoorPlan => ({
  prefix: only.route,
  exact: true,
  find: () => only,
})

const guarded = Symbol('guarded')

/** A door that the gateway can mount. Only `createThreshold` makes doors. */
export interface Door extends Omit<DoorPlan, 'find'> {
  readonly [guarded]: true
  /** Handles a request. Never throws. */
  enter(incoming: Incoming, admit: Admit): Promise<void>
}

/**
 * Admits the body of a request.
 * @param caller the user id; null without a credential
 * @throws UNAVAILABLE if a limit would be exceeded
 */
export type Admit = (caller: string | null, body?: BodyKind) => Promise<void>

interface Options {
  maintenance: Pick<MaintenanceService, 'requireWritable'>
  /** Origins whose pages may act for their visitors. */
  ownOrigins: () => string[]
}

/**
 * The threshold of every door (docs/decisions/threshold.md). It checks each request in this order:
 * address and method, the page that sent it, its caller, its body, and maintenance. Then the door
 * handles the request. Every error is counted, logged if unexpected, and sent in the format of the
 * door.
 */
export function createThreshold({ maintenance, ownOrigins }: Options): (plan: DoorPlan) => Door {
  function guard(guards: Passage['guards'], { req }: Incoming): void {
    if (guards === 'session') refuseForeignWrites(req, ownOrigins())
    else if (guards === 'forms' && req.method === 'POST' && isFromElsewhere(req, ownOrigins()))
      throw new Forbidden(
        'The form comes from a page of another origin. Open the page of this service instead.',
      )
  }

  async function pass(found: Passage, incoming: Incoming, admit: Admit): Promise<void> {
    if (found.methods) allowOnly(incoming.req, ...found.methods)
    guard(found.guards, incoming)
    const caller = await found.caller(incoming)
    await admit(caller?.userId ?? null, found.body)
    if (found.writes) maintenance.requireWritable()
    await found.handle(incoming, caller)
  }

  return plan => ({
    ...plan,
    [guarded]: true,
    async enter(incoming, admit) {
      let found: Passage | undefined
      try {
        found = plan.find(incoming)
        incoming.route = found.route
        await pass(found, incoming, admit)
      } catch (error) {
        await sendRefusal(error, incoming, found?.refuse ? found : plan)
      }
    },
  })
}

/** Counts and logs an error, and sends it in the format of its door. */
export async function sendRefusal(
  thrown: unknown,
  incoming: Incoming,
  by: Pick<DoorPlan, 'refuse'> | undefined,
): Promise<void> {
  noteRefusal(thrown, incoming)
  const refusal = by?.refuse ? await by.refuse(thrown, incoming) : failure(thrown)
  if (refusal) write(incoming.res, incoming.req, refusal)
}

function noteRefusal(thrown: unknown, incoming: Incoming): void {
  if (thrown instanceof ProtocolError) return
  incoming.noteError(thrown)
  const { error, unexpected } = toAppError(thrown)
  if (!unexpected) return
  // After a disconnect, the error may be only a consequence of it.
  const level = incoming.signal.aborted ? 'warn' : 'error'
  incoming.log[level]({ err: error.originalError ?? error }, error.message)
}

/** The error for a URL at which a door has nothing. */
export const nothingHere = () => new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
