import { EventEmitter } from 'node:events'
import type { Acquired, Coordination } from '../coordination/coordination.ts'
import { type Bound, Held } from '../coordination/held.ts'
import type { History, Recorded } from '../telemetry/recorder.ts'
import type { FromWorker, Question, ToWorker } from './messages.ts'

/**
 * The workers together reserve a sixteenth of each limit. Each grants its share of that without
 * asking.
 */
const KEPT = 16

/** A worker's message channel to its supervisor. */
export interface Line {
  send(message: FromWorker): void
  hear(heard: (message: ToWorker) => void): void
}

type Asked = Question extends infer Q ? (Q extends Question ? Omit<Q, 'id'> : never) : never

/** The shared state of the processes of an instance. */
export interface Instance {
  coordination: Coordination
  history: History
}

/**
 * Shares counts, limits and messages with the other workers of the instance, through their
 * supervisor.
 */
export function linkedInstance({ send, hear }: Line, workers: number): Instance {
  const waiting = new Map<number, (value: unknown) => void>()
  const own = new Held()
  const channels = new EventEmitter().setMaxListeners(0)
  let lastId = 0

  hear(message => {
    if ('answer' in message) {
      waiting.get(message.answer)?.(message.value)
      waiting.delete(message.answer)
    } else if ('published' in message) channels.emit(...message.published)
  })

  /** Needs no timeout: a worker stops when its supervisor does. */
  function ask<T>(question: Asked): { id: number; answer: Promise<T> } {
    const id = ++lastId
    const answer = new Promise<unknown>(resolve => waiting.set(id, resolve)) as Promise<T>
    send({ ...question, id } as Question)
    return { id, answer }
  }

  async function hold(amount: number, bounds: readonly Bound[]) {
    const { id, answer } = ask<boolean>({ ask: 'hold', args: [amount, bounds] })
    if (!(await answer)) return undefined
    let released = false
    return () => {
      if (released) return
      released = true
      send({ release: id })
    }
  }

  const coordination: Coordination = {
    hit: (...args) => ask<Awaited<ReturnType<Coordination['hit']>>>({ ask: 'hit', args }).answer,
    add: (...args) => ask<number>({ ask: 'add', args }).answer,
    hold,
    holdOften(amount, bounds): Acquired {
      const shareOf = (max: number) => Math.floor(max / KEPT / workers)
      const release = own.acquire(
        amount,
        bounds.map(([key, max]) => [key, shareOf(max)]),
      )
      if (release) return release
      return hold(
        amount,
        bounds.map(([key, max]) => [key, max - workers * shareOf(max)]),
      )
    },
    publish: (channel, text) => send({ publish: [channel, text] }),
    subscribe: (channel, heard) => void channels.on(channel, heard),
    close: () => void channels.removeAllListeners(),
  }
  return {
    coordination,
    history: {
      add: sample => send({ sample }),
      read: (...args) => ask<Recorded>({ ask: 'history', args }).answer,
    },
  }
}
