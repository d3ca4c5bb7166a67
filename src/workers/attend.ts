import type { Coordination, Release } from '../coordination/coordination.ts'
import type { History } from '../telemetry/recorder.ts'
import type { FromWorker, Question, ToWorker } from './messages.ts'

/**
 * Serves one worker.
 * @param coordination counts for all workers
 * @param history records their samples
 * @param toOthers publishes to the other workers
 */
export function attend(
  coordination: Coordination,
  history: History,
  send: (message: ToWorker) => void,
  toOthers: (message: ToWorker) => void,
) {
  const held = new Map<number, Release>()
  let ended = false

  async function answer(question: Question): Promise<unknown> {
    if (question.ask === 'hit') return coordination.hit(...question.args)
    if (question.ask === 'add') return coordination.add(...question.args)
    if (question.ask === 'history') return history.read(...question.args)
    const release = await coordination.hold(...question.args)
    if (!release) return false
    if (ended) release()
    else held.set(question.id, release)
    return true
  }

  return {
    async hear(message: FromWorker): Promise<void> {
      if ('sample' in message) history.add(message.sample)
      else if ('publish' in message) toOthers({ published: message.publish })
      else if ('release' in message) {
        held.get(message.release)?.()
        held.delete(message.release)
      } else if ('ask' in message) send({ answer: message.id, value: await answer(message) })
    },

    /** Releases everything that a stopped worker held. */
    end(): void {
      ended = true
      for (const release of held.values()) release()
      held.clear()
    },
  }
}
