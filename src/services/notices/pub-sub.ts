import { EventEmitter } from 'node:events'
import { v4 as newId } from 'uuid'
import { z } from 'zod'
import type { Coordination } from '../../coordination/coordination.ts'
import { parseJson } from '../../values/json.ts'

/**
 * The topics: shares and invites of an e-mail address, changed usage of a storage area, new events
 * of a log.
 */
const topics = ['shareReceived', 'inviteReceived', 'driveChanged', 'logged'] as const
export type Topic = (typeof topics)[number]

/** The name under which all events are emitted. The events of a topic have its name and a colon. */
const EVERYTHING = 'everything'

/**
 * One channel for all topics, because messages are short and nearly every process has subscribers.
 */
const CHANNEL = 'satchel:events'

const message = z.object({
  from: z.string(),
  topic: z.enum(topics),
  to: z.string(),
  ids: z.array(z.string()),
})

/**
 * Publishes events to subscribers of this process and of the processes that it is coordinated with.
 * Only ids are published: a subscriber loads what it may see. Events are not stored, and delivery
 * is best effort.
 */
export function createPubSub(coordination: Coordination) {
  const listeners = new EventEmitter().setMaxListeners(0)
  const tell = (topic: Topic, to: string, ids: string[]) => {
    listeners.emit(`${topic}:${to}`, ids)
    listeners.emit(EVERYTHING, topic, to)
  }
  const self = newId()
  coordination.subscribe(CHANNEL, text => {
    const { data } = message.safeParse(parseJson(text))
    if (data && data.from !== self) tell(data.topic, data.to, data.ids)
  })

  return {
    /**
     * Publishes an event. Call it after the change is committed.
     * @param to an e-mail address in lower case, or the id of a storage area or log
     */
    publish(topic: Topic, to: string, ids: string[] = []): void {
      tell(topic, to, ids)
      coordination.publish(CHANNEL, JSON.stringify({ from: self, topic, to, ids }))
    },

    /** Subscribes until the returned function is called. `heard` must not throw. */
    listen(topic: Topic, to: string, heard: (ids: string[]) => void): () => void {
      listeners.on(`${topic}:${to}`, heard)
      return () => listeners.off(`${topic}:${to}`, heard)
    },

    /** Subscribes to all events until the returned function is called. `heard` must not throw. */
    hear(heard: (topic: Topic, to: string) => void): () => void {
      listeners.on(EVERYTHING, heard)
      return () => listeners.off(EVERYTHING, heard)
    },
  }
}

export type PubSub = ReturnType<typeof createPubSub>
