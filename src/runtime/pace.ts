import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Measures delays of the event loop. */
export interface DelayMeter {
  start(): void
  /** The longest delay since the start, in milliseconds. */
  stop(): number
}

const RESOLUTION_MS = 1
/** The delay that background work may cause for requests. */
const TOLERABLE_MS = 5
/**
 * Rows per batch. Larger batches cost a fifth less per row, but block the database:
 * docs/performance.md.
 */
const MOST = 64
const LEAST = 16

function eventLoopMeter(): DelayMeter {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  return {
    start() {
      histogram.reset()
      histogram.enable()
    },
    stop() {
      histogram.disable()
      return histogram.max / 1e6 - RESOLUTION_MS
    },
  }
}

/**
 * Runs background work in batches that hardly affect requests. While the event loop is delayed, by
 * the batch itself or by requests, batches are smaller and have pauses. Otherwise they have full
 * size and no pauses. Sizes are the maximum divided by powers of two, which keeps the number of SQL
 * texts low.
 */
export function createPace(
  meter = eventLoopMeter(),
  pause: (ms: number) => Promise<unknown> = sleep,
) {
  let size = MOST

  return {
    /** @param work handles up to this many rows */
    async batch<T>(work: (size: number) => Promise<T>): Promise<T> {
      meter.start()
      const start = performance.now()
      try {
        return await work(size)
      } finally {
        const delay = meter.stop()
        if (delay > TOLERABLE_MS) {
          size = Math.max(LEAST, size / 2)
          await pause(performance.now() - start)
        } else size = Math.min(MOST, size * 2)
      }
    },
  }
}
