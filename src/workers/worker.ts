import cluster from 'node:cluster'
import type { Figures } from '../telemetry/metrics.ts'
import { type Instance, linkedInstance } from './link.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** This process as a worker of a supervisor. */
export interface Supervised {
  instance: Instance
  /** Whether it is the first one of the start, which tells how the service can be reached. */
  isFirst: boolean
  /**
   * Tells the supervisor that it serves.
   * @param lead is called when it is to run the jobs
   * @param figures of this process, while metrics are on
   */
  ready(lead: () => void, figures: (() => Promise<Figures>) | undefined): void
  /** @param stop is called when it is to end, and again when it is to hurry */
  onStop(stop: () => void): void
}

/**
 * Joins the supervisor that has started this process. Ends with it: node:cluster ends a worker that
 * loses its supervisor.
 */
export function joinSupervisor(workers: number): Supervised {
  const send = (message: FromWorker) => void process.send?.(message, undefined, undefined, () => {})
  const hear = (heard: (message: ToWorker) => void) => void process.on('message', heard)
  let stop: () => void = () => process.exit(0)
  let lead = () => {}
  let figures: (() => Promise<Figures>) | undefined
  // A terminal, and what manages services, signal all processes; the supervisor stops its workers.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})
  hear(message => {
    if ('ping' in message) send({ alive: true })
    else if ('tell' in message) figures?.().then(read => send({ figures: read, of: message.tell }))
    else if ('lead' in message) lead()
    else if ('stop' in message) stop()
  })
  return {
    instance: linkedInstance({ send, hear }, workers),
    isFirst: cluster.worker?.id === 1,
    ready(begin, read) {
      lead = begin
      figures = read
      send({ ready: true })
    },
    onStop(end) {
      stop = end
    },
  }
}
