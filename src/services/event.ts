import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { v4 as newId } from 'uuid'
import { z } from 'zod'
import { type Log, outageLog } from '../log.ts'

/** What somebody may wait for: shares and invites for an address, changes of what a storage area holds. */
const kinds = ['shareReceived', 'inviteReceived', 'bucketChanged'] as const
export type EventKind = (typeof kinds)[number]

/** All instances talk on one channel: what is said is short, and an instance has always somebody who listens. */
const CHANNEL = 'satchel:events'

/** Milliseconds between two looks whether Redis is still there. */
const PULSE = 5000
/** Milliseconds that it has for an answer. */
const PATIENCE = 2000

const message = z.object({ from: z.string(), kind: z.enum(kinds), to: z.string(), ids: z.array(z.string()) })

/**
 * Tells those who wait that something has happened, here and (with Redis) at the other instances. Only ids are told: whoever is told
 * looks up what they may see. Nothing is kept for those who do not listen, and nobody depends on being told.
 */
export function eventService({ redis, log }: { redis: Redis | undefined; log: Log }) {
  const listeners = new EventEmitter().setMaxListeners(0)
  const tell = (kind: EventKind, to: string, ids: string[]) => listeners.emit(`${kind}:${to}`, ids)
  const self = newId()
  let pulse: NodeJS.Timeout | undefined
  let closed = false
  const others = redis && hearOthers(redis)

  function hearOthers(connection: Redis): Redis {
    // A connection that listens can do nothing else.
    const ear = connection.duplicate({ commandTimeout: PATIENCE, autoResubscribe: false })
    const outage = outageLog(log, {
      down: 'Redis does not answer; events of other instances are missed',
      up: 'subscribed to Redis again; events of other instances are received',
    })
    const again = (error: unknown) => {
      if (closed) return
      outage.begins(error)
      ear.disconnect(true)
    }
    ear.on('error', outage.begins)
    ear.on('ready', () => ear.subscribe(CHANNEL).then(outage.ends, again))
    ear.on('message', (_channel, text) => {
      const { data } = message.safeParse(parseJson(text))
      if (data && data.from !== self) tell(data.kind, data.to, data.ids)
    })
    // Silence is what a dead connection sounds like, too.
    pulse = setInterval(() => ear.status === 'ready' && ear.ping().catch(again), PULSE)
    pulse.unref()
    return ear
  }

  return {
    /**
     * Says that something has happened. Call it when the change is committed.
     * @param to an address in lower case, or the id of a storage area
     */
    publish(kind: EventKind, to: string, ids: string[] = []): void {
      tell(kind, to, ids)
      // The outage has been logged, and a change that is done must not fail by it.
      redis?.publish(CHANNEL, JSON.stringify({ from: self, kind, to, ids })).catch(() => {})
    },

    /** Listens until what it returns is called. `heard` must not throw. */
    listen(kind: EventKind, to: string, heard: (ids: string[]) => void): () => void {
      listeners.on(`${kind}:${to}`, heard)
      return () => listeners.off(`${kind}:${to}`, heard)
    },

    close(): void {
      closed = true
      clearInterval(pulse)
      others?.disconnect()
    },
  }
}

export type EventService = ReturnType<typeof eventService>

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
