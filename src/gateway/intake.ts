import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { Busy, InvalidInput } from '../errors.ts'
import { type BodyKind, watchBody } from '../rest/body.ts'
import { createCollector } from './collect.ts'
import { type Bound, Held } from './held.ts'

/** The bounds that an operator sets: src/settings.ts says what they mean. */
export type IntakeSettings = Pick<
  Config,
  'bodyMemoryBytes' | 'bodiesPerAddress' | 'bodiesPerCaller' | 'bodySeconds' | 'uploadMinRate' | 'uploadRateSeconds'
>

/** A body on its way, and who sends it. */
interface Arrival {
  req: IncomingMessage
  /** The network of its client; undefined where it is not known, behind a proxy. */
  client: string | undefined
  /** Id of the caller; null without a credential. */
  caller: string | null
  /** Ends the work on the request, with a reason that is a refusal. */
  abort: AbortController
}

const KiB = 1024
const MiB = 1024 * KiB
/** What arrived whole and is so small is not counted: it is gone before anything else is looked at. */
const SMALL = 16 * KiB
/** A body that is read as a whole has no more bytes; without a credential, as many as are small. */
const LARGEST_WHOLE = MiB
/** What is kept of an upload before the store takes it: two blocks, of which one is filled while the other is on its way. */
const UPLOAD = 8 * MiB
/** What the sockets, the parsers and the rows of an upload take beside its bytes. */
const UPLOAD_OVERHEAD = 128 * KiB
/** How often the pace of bodies is looked at. */
const LOOK_MS = 1000
/** How long a body that is too slow keeps its connection, so that its sender gets to read why. */
const GRACE_MS = 5000

/** Bounds what bodies take of this instance while they arrive: their time, their number and their memory. */
export function createIntake(settings: IntakeSettings) {
  const { bodyMemoryBytes, bodiesPerAddress, bodiesPerCaller } = settings
  const held = new Held()
  const open = new Set<Body>()
  let looking: NodeJS.Timeout | undefined
  const garbage = createCollector()

  const look = () => {
    for (const body of open) body.look(settings)
    if (open.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  /** Counts a body that has not arrived as a whole, until it has. @throws Busy */
  function count({ req, client, caller, abort }: Arrival, kind: BodyKind): void {
    const bounds: Bound[] = client === undefined ? [] : [[`bodies of ${client}`, bodiesPerAddress]]
    if (caller !== null) bounds.push([`bodies of ${caller}`, bodiesPerCaller])
    else if (client !== undefined) bounds.push([`anonymous bodies of ${client}`, Math.ceil(bodiesPerAddress / 4)])
    const giveBack = held.take(1, bounds)
    if (!giveBack)
      throw new Busy('Too many unfinished requests come from you at once. Let some of them end, then try again.')
    const body = new Body(req, kind, abort)
    open.add(body)
    looking ??= setInterval(look, LOOK_MS).unref()
    watchBody(req, { signal: abort.signal, becomes: is => body.becomes(is) })
    const { socket } = req
    const over = () => {
      open.delete(body)
      giveBack()
      garbage.soon()
      req.off('end', over)
      socket.off('close', over)
    }
    // A request that has been answered is not told when its connection breaks.
    req.once('end', over)
    socket.once('close', over)
  }

  return {
    /**
     * Lets a body in, once it is known who sends it. Answers how to give back what it holds, when the request is done.
     * @throws Busy
     */
    async admit(arrival: Arrival): Promise<() => void> {
      const { req, caller } = arrival
      const declared = declaredBytes(req)
      if (declared === 0) return nothing
      // What came in one piece with its headers is complete a turn later.
      if (!req.complete) await nextTurn()
      if (req.complete && declared <= SMALL) return nothing
      garbage.soon()
      const kind = kindOf(req)
      const giveBack = held.take(memoryOf(kind, declared, caller), [
        // The last of it is kept for bodies that take little.
        ['memory', kind === 'whole' ? bodyMemoryBytes : (bodyMemoryBytes / 8) * 7],
        caller === null ? ['memory, anonymous', bodyMemoryBytes / 4] : [`memory of ${caller}`, bodyMemoryBytes / 2],
      ])
      if (!giveBack)
        throw new Busy('The service has no memory for this body at the moment. Try again in a few seconds.')
      try {
        if (!req.complete && !req.destroyed) count(arrival, kind)
      } catch (error) {
        giveBack()
        throw error
      }
      return giveBack
    },

    /** Bodies that are arriving. */
    get open(): number {
      return open.size
    },

    /** Bytes that are counted for bodies. */
    get memory(): number {
      return held.of('memory')
    },
  }
}

const nothing = () => {}

/** How many bytes the body has, if its sender says so; 0 where there is none. */
function declaredBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : Number.POSITIVE_INFINITY
}

function kindOf({ headers }: IncomingMessage): BodyKind {
  const type = headers['content-type'] ?? ''
  if (/^multipart\/form-data\b/i.test(type)) return 'upload'
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type) ? 'whole' : 'part'
}

/** How much memory a body takes at most while it is read. */
function memoryOf(kind: BodyKind, declared: number, caller: string | null): number {
  if (caller === null) return Math.min(declared, SMALL)
  return kind === 'whole' ? Math.min(declared, LARGEST_WHOLE) : Math.min(declared, UPLOAD) + UPLOAD_OVERHEAD
}

/** A body that is arriving. Only the time counts in which its sender was waited for. */
class Body {
  readonly #req: IncomingMessage
  readonly #abort: AbortController
  #kind: BodyKind
  #waited = 0
  #seen: number

  constructor(req: IncomingMessage, kind: BodyKind, abort: AbortController) {
    this.#req = req
    this.#abort = abort
    this.#kind = kind === 'part' ? 'whole' : kind
    this.#seen = req.socket.bytesRead
  }

  /** Who reads it knows what it is; its headers may say anything. */
  becomes(kind: BodyKind): void {
    if (kind !== this.#kind) this.#waited = 0
    this.#kind = kind
  }

  look({ bodySeconds, uploadMinRate, uploadRateSeconds }: IntakeSettings): void {
    const { socket, readableLength } = this.#req
    // Bytes that lie there unread wait for the service.
    if (readableLength > 0 || this.#abort.signal.aborted) return
    this.#waited += LOOK_MS / 1000
    if (this.#kind === 'whole') {
      if (this.#waited >= bodySeconds)
        this.#refuse(`The body did not arrive within ${bodySeconds} seconds. Send it again.`)
      return
    }
    if (this.#waited < uploadRateSeconds) return
    const fast = socket.bytesRead - this.#seen >= uploadMinRate * uploadRateSeconds
    this.#waited = 0
    this.#seen = socket.bytesRead
    if (!fast) this.#refuse(`The upload brought less than ${uploadMinRate} bytes a second. Send it again, or in parts.`)
  }

  #refuse(message: string): void {
    const { socket } = this.#req
    this.#abort.abort(new InvalidInput('body', message))
    setTimeout(() => {
      if (!this.#req.complete) socket.destroy()
    }, GRACE_MS).unref()
  }
}
