import cluster from 'node:cluster'
import type { Figures } from '../telemetry/metrics.ts'
import { type Instance, linkedInstance } from './link.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** This process as a worker of a supervisor. */
export interface Supervised {
  instance: Instance
  /** Whether this is the first worker of the start, which prints how to reach the service. */
  isFirst: boolean
  /**
   * Reports to the supervisor that this worker serves.
   * @param lead called when this worker should run the jobs
   * @param figures the metrics of this process, if they are on
   */
  ready(lead: () => void, figures: (() => Promise<Figures>) | undefined): void
  /** @param stop called to stop the worker, and again to make it hurry */
  onStop(stop: () => void): void
}

/**
 * Connects to the supervisor that started this process. node:cluster stops a worker that loses its
 * supervisor.
 */
export function joinSupervisor(workers: number): Supervised {
  const send = (message: FromWorker) => void process.send?.(message, undefined, undefined, () => {})
  const hear = (heard: (message: ToWorker) => void) => void process.on('message', heard)
  let stop: () => void = () => process.exit(0)
  let lead = () => {}
  let figures: (() => Promise<Figures>) | undefined
  // Terminals and service managers signal all processes, but only the supervisor stops its workers.
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
