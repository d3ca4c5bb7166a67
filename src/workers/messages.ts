import type { Coordination } from '../coordination/coordination.ts'
import type { Sample } from '../telemetry/figures.ts'
import type { Figures } from '../telemetry/metrics.ts'
import type { History } from '../telemetry/recorder.ts'

/** What a worker asks of its supervisor, which answers by the id. */
export type Question = { id: number } & (
  | { ask: 'hit'; args: Parameters<Coordination['hit']> }
  | { ask: 'add'; args: Parameters<Coordination['add']> }
  | { ask: 'hold'; args: Parameters<Coordination['hold']> }
  | { ask: 'history'; args: Parameters<History['read']> }
)

/**
 * From a worker to its supervisor. `release` has the id of the question by which it was acquired.
 */
export type FromWorker =
  | Question
  | { release: number }
  | { publish: [channel: string, text: string] }
  | { figures: Figures; of: number }
  | { sample: Sample }
  | { ready: true }
  | { alive: true }

/** From the supervisor to a worker. The answer to `hold` is whether it was acquired. */
export type ToWorker =
  | { answer: number; value: unknown }
  | { published: [channel: string, text: string] }
  /** Say that you are alive. */
  | { ping: true }
  /** Send your figures, with this id. */
  | { tell: number }
  /** Begin with jobs, sweeps and schedules. */
  | { lead: true }
  /** End: running requests may finish. Once more: do not wait for proxies. */
  | { stop: true }
