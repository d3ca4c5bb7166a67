import type { Coordination } from '../coordination/coordination.ts'
import type { Figures } from '../telemetry/metrics.ts'

/** What a worker asks of its supervisor, which answers by the id. */
export type Question = { id: number } & (
  | { ask: 'hit'; args: Parameters<Coordination['hit']> }
  | { ask: 'add'; args: Parameters<Coordination['add']> }
  | { ask: 'hold'; args: Parameters<Coordination['hold']> }
)

/** From a worker to its supervisor. `release` has the id of the question by which it was acquired. */
export type FromWorker =
  | Question
  | { release: number }
  | { publish: [channel: string, text: string] }
  | { figures: Figures; of: number }
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
