import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { v4 as newId } from 'uuid'
import { z } from 'zod'
import { type Log, outageLog } from '../../runtime/log.ts'
import { parseJson } from '../../values/json.ts'

/** Topics: shares and invites of an e-mail address, changes of the usage of a storage area, events of a log. */
const topics = ['shareReceived', 'inviteReceived', 'bucketChanged', 'logged'] as const
export type Topic = (typeof topics)[number]

/** The name under which all events are emitted; those of a topic have its name and a colon. */
const EVERYTHING = 'everything'

/** One channel for all instances: messages are short, and an instance nearly always has subscribers. */
const CHANNEL = 'satchel:events'

/** Milliseconds between two pings of Redis. */
const PULSE = 5000
/** Milliseconds within which Redis must answer a ping. */
const PATIENCE = 2000

const message = z.object({ from: z.string(), topic: z.enum(topics), to: z.string(), ids: z.array(z.string()) })

/**
 * Publishes events to the subscribers of this instance and (with Redis) of the others. Only ids are published: a subscriber
 * loads what it may see. Events are not stored, and delivery is best effort.
 */
export function createPubSub({ redis, log }: { redis: Redis | undefined; log: Log }) {
  const listeners = new EventEmitter().setMaxListeners(0)
  const tell = (topic: Topic, to: string, ids: string[]) => {
    listeners.emit(`${topic}:${to}`, ids)
    listeners.emit(EVERYTHING, topic, to)
  }
  const self = newId()
  let pulse: NodeJS.Timeout | undefined
  let closed = false
  const others = redis && subscribeToOthers(redis)

  function subscribeToOthers(connection: Redis): Redis {
    // A Redis connection in subscriber mode cannot publish.
    const subscriber = connection.duplicate({ commandTimeout: PATIENCE, autoResubscribe: false })
    const outage = outageLog(log, {
      down: 'Redis does not answer; events of other instances are missed',
      up: 'subscribed to Redis again; events of other instances are received',
    })
    const again = (error: unknown) => {
      if (closed) return
      outage.begins(error)
      subscriber.disconnect(true)
    }
    subscriber.on('error', outage.begins)
    subscriber.on('ready', () => subscriber.subscribe(CHANNEL).then(outage.ends, again))
    subscriber.on('message', (_channel, text) => {
      const { data } = message.safeParse(parseJson(text))
      if (data && data.from !== self) tell(data.topic, data.to, data.ids)
    })
    // A dead connection is indistinguishable from a silent one, hence the pings.
    pulse = setInterval(() => subscriber.status === 'ready' && subscriber.ping().catch(again), PULSE)
    pulse.unref()
    return subscriber
  }

  return {
    /**
     * Publishes an event. Call it after the change is committed.
     * @param to an e-mail address in lower case, or the id of a storage area or log
     */
    publish(topic: Topic, to: string, ids: string[] = []): void {
      tell(topic, to, ids)
      // The outage is logged already, and must not fail a committed change.
      redis?.publish(CHANNEL, JSON.stringify({ from: self, topic, to, ids })).catch(() => {})
    },

    /** Subscribes until the returned function is called. `heard` must not throw. */
    listen(topic: Topic, to: string, heard: (ids: string[]) => void): () => void {
      listeners.on(`${topic}:${to}`, heard)
      return () => listeners.off(`${topic}:${to}`, heard)
    },

    /** Subscribes to all events, likewise. */
    hear(heard: (topic: Topic, to: string) => void): () => void {
      listeners.on(EVERYTHING, heard)
      return () => listeners.off(EVERYTHING, heard)
    },

    close(): void {
      closed = true
      clearInterval(pulse)
      others?.disconnect()
    },
  }
}

export type PubSub = ReturnType<typeof createPubSub>
