import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Tells for how long the event loop was held up. */
export interface DelayMeter {
  start(): void
  /** The longest delay since the start, in milliseconds. */
  stop(): number
}

const RESOLUTION_MS = 1
/** A request may wait so long for background work, or for others. */
const TOLERABLE_MS = 5
/** Rows of a batch. Larger ones cost a fifth less and hold up the database: docs/performance.md. */
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
 * Runs background work in batches that requests hardly notice: smaller ones, with pauses, while the
 * event loop is held up, by the batch itself or by requests; full size without a pause while it is
 * not. Sizes are halves of the largest, so that statements have few texts.
 */
export function createPace(
  meter = eventLoopMeter(),
  pause: (ms: number) => Promise<unknown> = sleep,
) {
  let size = MOST

  return {
    /** @param work handles up to so many rows */
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
