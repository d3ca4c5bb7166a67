import { randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { bytesOf, countsSince, levelsOf } from './condense.ts'
import type { Failure, Sample } from './figures.ts'
import type { KeptMeasures } from './measures.ts'
import { STEP_MS } from './ring.ts'

/** The resolution of the event loop delay. Each measurement wakes the process. */
const RESOLUTION_MS = 50

const sumOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1e6

/**
 * Samples the measures of this process four times a minute.
 * @param taken receives each sample
 */
export function createSampler(measures: KeptMeasures, taken: (sample: Sample) => void) {
  const worker = randomUUID()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = { bytes: { received: 0, sent: 0 }, processor: sumOf(process.cpuUsage()) }
  let timer: NodeJS.Timeout | undefined
  let failures: Failure[] = []

  /** @param at the time of the sample; times of one process never decrease */
  async function sample(at = Date.now()): Promise<void> {
    const readings = await measures.readings()
    const now = { bytes: bytesOf(readings), processor: sumOf(process.cpuUsage()) }
    const { sums, ...counts } = countsSince(measures)
    // The histogram records whole intervals, and is empty before the first one.
    const late = delay.count === 0 ? 0 : delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000
    delay.reset()
    taken({
      worker,
      pid: process.pid,
      at,
      ...counts,
      failures,
      sums: {
        ...sums,
        receivedBytes: now.bytes.received - before.bytes.received,
        sentBytes: now.bytes.sent - before.bytes.sent,
        processorSeconds: now.processor - before.processor,
      },
      levels: {
        ...levelsOf(readings),
        workers: 1,
        memoryBytes: process.memoryUsage.rss(),
        eventLoopSeconds: Math.max(0, late),
      },
    })
    before = now
    failures = []
  }

  /**
   * Samples right after each step of the clock, so that the samples of all workers cover about the
   * same time.
   */
  function plan(): void {
    timer = setTimeout(() => void sample().finally(plan), STEP_MS - (Date.now() % STEP_MS) + 5)
    timer.unref()
  }

  return {
    sample,
    /** Takes the first sample at once, so that the operators' page can show the state. */
    start: () => void sample().finally(plan),
    stop(): void {
      clearTimeout(timer)
      delay.disable()
    },
    /** Keeps an unexpected error for the next sample. */
    note(failure: Failure): void {
      if (failures.length < 50) failures.push(failure)
    },
  }
}

export type Sampler = ReturnType<typeof createSampler>
