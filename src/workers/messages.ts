import type { Coordination } from '../coordination/coordination.ts'
import type { Sample } from '../telemetry/figures.ts'
import type { Figures } from '../telemetry/metrics.ts'
import type { History } from '../telemetry/recorder.ts'

/** A worker's request to its supervisor, which responds with the same id. */
export type Question = { id: number } & (
  | { ask: 'hit'; args: Parameters<Coordination['hit']> }
  | { ask: 'add'; args: Parameters<Coordination['add']> }
  | { ask: 'hold'; args: Parameters<Coordination['hold']> }
  | { ask: 'history'; args: Parameters<History['read']> }
)

/** Messages from a worker to its supervisor. `release` has the id of the request that acquired. */
export type FromWorker =
  | Question
  | { release: number }
  | { publish: [channel: string, text: string] }
  | { figures: Figures; of: number }
  | { sample: Sample }
  | { ready: true }
  | { alive: true }

/** Messages from the supervisor to a worker. The response to `hold` is whether it was acquired. */
export type ToWorker =
  | { answer: number; value: unknown }
  | { published: [channel: string, text: string] }
  /** Health check. */
  | { ping: true }
  /** Requests the figures, under this id. */
  | { tell: number }
  /** Starts jobs, sweeps and schedules. */
  | { lead: true }
  /**
   * Stops the worker after its running requests. If sent again, the worker does not wait for
   * proxies.
   */
  | { stop: true }
