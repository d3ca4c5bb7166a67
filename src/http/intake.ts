import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Bound } from '../coordination/held.ts'
import { Busy, InvalidInput } from '../runtime/errors.ts'
import { blockSize } from '../storage/blocks.ts'
import type { UploadMemory } from '../storage/store.ts'
import { type BodyKind, watchBody } from './body.ts'
import { createCollector } from './collect.ts'

/** The limits that an operator sets, as explained in src/config/settings.ts. */
export type IntakeSettings = Pick<
  Config,
  | 'bodyMemoryBytes'
  | 'bodiesPerAddress'
  | 'bodiesPerCaller'
  | 'bodySeconds'
  | 'uploadMinRate'
  | 'uploadRateSeconds'
>

/** A request body that is arriving, and its caller. */
interface Arrival {
  req: IncomingMessage
  /** The network of the client; undefined if unknown, for example behind a proxy. */
  client: string | undefined
  /** The caller's user id; null without a credential. */
  caller: string | null
  /** How the handler reads the body. By default the headers decide. */
  body?: BodyKind | undefined
  /** Aborts the request with an AppError as the reason. */
  abort: AbortController
}

const KiB = 1024
const MiB = 1024 * KiB
/**
 * A fully received body up to this size is not counted: it is parsed and released within the same
 * turn.
 */
const SMALL = 16 * KiB
/**
 * The maximum size of a body that is read as a whole. Without a credential the maximum is SMALL.
 */
const LARGEST_WHOLE = MiB
/** Memory per upload for sockets, parsers and rows, besides its bytes. */
const UPLOAD_OVERHEAD = 128 * KiB
/** How often the rate of arriving bodies is checked. */
const CHECK_MS = 1000
/** How long the connection of a slow body stays open, so that the client can read the error. */
const GRACE_MS = 5000

/** Limits the time, number and memory of the request bodies that are arriving. */
export function createIntake(
  settings: IntakeSettings,
  uploadMemory: UploadMemory,
  { holdOften }: Coordination,
) {
  const { bodyMemoryBytes, bodiesPerAddress, bodiesPerCaller } = settings
  const open = new Set<Body>()
  let memory = 0
  let looking: NodeJS.Timeout | undefined
  const garbage = createCollector()

  const look = () => {
    for (const body of open) body.look(settings)
    if (open.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  /**
   * Counts a body until it has arrived completely.
   * @throws Busy
   */
  async function count({ req, client, caller, abort }: Arrival, kind: BodyKind): Promise<void> {
    const bounds: Bound[] = client === undefined ? [] : [[`bodies of ${client}`, bodiesPerAddress]]
    if (caller !== null) bounds.push([`bodies of ${caller}`, bodiesPerCaller])
    else if (client !== undefined)
      bounds.push([`anonymous bodies of ${client}`, Math.ceil(bodiesPerAddress / 4)])
    const release = await holdOften(1, bounds)
    if (!release)
      throw new Busy(
        'Too many of your requests are unfinished. Wait until some of them end, then try again.',
      )
    const { socket } = req
    // The body may have completed while the limits were checked.
    if (req.readableEnded || socket.destroyed) return release()
    const body = new Body(req, kind, abort)
    open.add(body)
    looking ??= setInterval(look, CHECK_MS).unref()
    watchBody(req, { signal: abort.signal, becomes: is => body.becomes(is) })
    const over = () => {
      open.delete(body)
      release()
      garbage.soon()
      req.off('end', over)
      socket.off('close', over)
    }
    // A request whose response was sent emits no event when its connection breaks.
    req.once('end', over)
    socket.once('close', over)
  }

  return {
    /**
     * Admits a body once its caller is known.
     * @returns a function that releases the body's memory when the request is done
     * @throws Busy
     */
    async admit(arrival: Arrival): Promise<() => void> {
      const { req, caller } = arrival
      const declared = declaredBytes(req)
      if (declared === 0) return nothing
      // A body in the same packet as its headers is complete one turn later.
      if (!req.complete) await nextTurn()
      if (req.complete && declared <= SMALL) return nothing
      garbage.soon()
      const kind = arrival.body ?? kindOf(req)
      const bytes = memoryOf(kind, declared, caller, uploadMemory)
      const release = await holdOften(bytes, [
        // The last eighth is reserved for small bodies.
        ['memory', kind === 'whole' ? bodyMemoryBytes : (bodyMemoryBytes / 8) * 7],
        caller === null
          ? ['memory, anonymous', bodyMemoryBytes / 4]
          : [`memory of ${caller}`, bodyMemoryBytes / 2],
      ])
      if (!release)
        throw new Busy(
          'The service has no memory for this body at the moment. Try again in a few seconds.',
        )
      try {
        if (!req.complete && !req.destroyed) await count(arrival, kind)
      } catch (error) {
        release()
        throw error
      }
      memory += bytes
      return () => {
        memory -= bytes
        release()
      }
    },

    /** Schedules a garbage collection, for example after a large response. */
    tidySoon: garbage.soon,

    /** The number of bodies in transit. */
    get open(): number {
      return open.size
    },

    /** The memory that is reserved for bodies in this process, in bytes. */
    get memory(): number {
      return memory
    },
  }
}

const nothing = () => {}

/** The declared size of the body in bytes: 0 without a body, Infinity for a chunked one. */
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

/** The maximum memory of a body while it is read, in bytes. */
function memoryOf(
  kind: BodyKind,
  declared: number,
  caller: string | null,
  uploadMemory: UploadMemory,
): number {
  if (caller === null) return Math.min(declared, SMALL)
  if (kind === 'whole') return Math.min(declared, LARGEST_WHOLE)
  // One part is filled while another is being sent to the store.
  const most = kind === 'stream' ? 2 * blockSize + uploadMemory.part : uploadMemory[kind]
  return Math.min(declared, most) + UPLOAD_OVERHEAD
}

/** A body in transit. Only the time spent waiting for its sender counts. */
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

  /** Sets the kind as known by the handler. It may differ from the headers. */
  becomes(kind: BodyKind): void {
    if (kind !== this.#kind) this.#waited = 0
    this.#kind = kind
  }

  look({ bodySeconds, uploadMinRate, uploadRateSeconds }: IntakeSettings): void {
    const { socket, readableLength } = this.#req
    // Unread bytes wait for the service, not for the sender.
    if (readableLength > 0 || this.#abort.signal.aborted) return
    this.#waited += CHECK_MS / 1000
    if (this.#kind === 'whole') {
      if (this.#waited >= bodySeconds)
        this.#refuse(`The body did not arrive within ${bodySeconds} seconds. Send it again.`)
      return
    }
    if (this.#waited < uploadRateSeconds) return
    const fast = socket.bytesRead - this.#seen >= uploadMinRate * uploadRateSeconds
    this.#waited = 0
    this.#seen = socket.bytesRead
    if (!fast)
      this.#refuse(
        `The upload was slower than ${uploadMinRate} bytes per second. Send it again, or in parts.`,
      )
  }

  #refuse(message: string): void {
    const { socket } = this.#req
    this.#abort.abort(new InvalidInput('body', message))
    setTimeout(() => {
      if (!this.#req.complete) socket.destroy()
    }, GRACE_MS).unref()
  }
}
