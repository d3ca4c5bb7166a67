import { addTo, type Level, quantile, type Sum, type Timing } from './figures.ts'
import { LEAST_REQUESTS, type ThresholdName, thresholds } from './thresholds.ts'

/** A figure that exceeds its threshold. */
export interface Alarm {
  name: ThresholdName
  value: number
}

/** The figures that are compared with the thresholds. */
export interface Seen {
  at: number
  /** The current levels. */
  now: Partial<Record<Level, number>>
  /** The configured number of workers. */
  wanted: number
  /** The sums of the last minutes, and the levels of each step. */
  latest(minutes: number): { sums: Record<Sum, number>; levels: Record<Level, number>[] }
  /** The distribution of times in the last minutes. */
  within(timing: Timing, minutes: number): number[]
}

/** The value if it is known and exceeds the limit. */
const above = (value: number | null | undefined, limit: number) =>
  value !== null && value !== undefined && value > limit ? value : undefined

/**
 * A level raises an alarm only if it exceeded the limit all the time, so this is its lowest value.
 */
function lowest(
  { latest }: Seen,
  minutes: number,
  of: (levels: Record<Level, number>) => number,
): number | undefined {
  const values = latest(minutes)
    .levels.map(of)
    .filter(value => !Number.isNaN(value))
  // Do not judge a service by its first seconds.
  return values.length * 15 >= minutes * 60 * 0.9 ? Math.min(...values) : undefined
}

const isDown = (up: number | undefined) => (up === 0 ? 0 : undefined)

/** The value that exceeds each threshold; undefined if all is well, or nothing is known. */
const values: {
  [Name in ThresholdName]: (seen: Seen, limit: number, minutes: number) => number | undefined
} = {
  databaseDown: ({ now }) => isDown(now.databaseUp),
  storeDown: ({ now }) => isDown(now.storeUp),
  errors({ latest }, limit, minutes) {
    const { answered, refused, failed, cut } = latest(minutes).sums
    const all = answered + refused + failed + cut
    return all / (minutes * 60) > LEAST_REQUESTS ? above(failed / all, limit) : undefined
  },
  slow({ within }, limit, minutes) {
    const requests = within('pages', minutes)
    addTo(requests, within('rest', minutes))
    // One slow request among few is not significant, although it would be the first alarm of a
    // quiet service.
    const p95Of = (times: number[]) =>
      times.reduce((sum, count) => sum + count, 0) / (minutes * 60) > LEAST_REQUESTS
        ? (quantile(times, 0.95) ?? 0)
        : 0
    return above(Math.max(p95Of(requests), p95Of(within('graph', minutes))), limit)
  },
  connectionsExhausted: (seen, limit, minutes) =>
    above(
      lowest(seen, minutes, l => l.waitingStatements),
      limit,
    ),
  eventLoopBlocked: (seen, limit, minutes) =>
    above(
      lowest(seen, minutes, l => l.eventLoopSeconds),
      limit,
    ),
  bodyMemoryFull: (seen, limit, minutes) =>
    above(
      lowest(seen, minutes, l => l.bodyMemory / l.bodyMemoryLimit),
      limit,
    ),
  jobsLate: ({ now }, limit) => above(now.oldestJobSeconds, limit),
  mailsFailing: ({ latest }, limit, minutes) => above(latest(minutes).sums.failedMails, limit),
  webhooksLate: ({ now }, limit) => above(now.oldestWebhookSeconds, limit),
  deliveriesFailing({ latest }, limit, minutes) {
    const { deliveries, failedDeliveries } = latest(minutes).sums
    return above(failedDeliveries / (deliveries + failedDeliveries || 1), limit)
  },
  sweeperStopped: ({ at, now }, limit) =>
    now.lastSweep === undefined ? undefined : above(at / 1000 - now.lastSweep, limit),
  volumeFull({ now: { freeBytes, volumeBytes } }, limit) {
    if (freeBytes === undefined || !volumeBytes) return undefined
    return freeBytes / volumeBytes < limit ? freeBytes / volumeBytes : undefined
  },
  guessing: ({ latest }, limit, minutes) => above(latest(minutes).sums.refusedPasswords, limit),
  signInsRefused({ latest }, limit, minutes) {
    const { signIns, refusedSignIns } = latest(minutes).sums
    return refusedSignIns > signIns ? above(refusedSignIns, limit) : undefined
  },
  workersDie: ({ latest }, limit, minutes) => above(latest(minutes).sums.workerRestarts, limit),
  workersMissing(seen, _limit, minutes) {
    const steps = seen.latest(minutes).levels.map(({ workers }) => workers)
    const isLong = steps.length * 15 >= minutes * 60 * 0.9
    return isLong && Math.max(...steps) < seen.wanted ? Math.max(...steps) : undefined
  },
}

/** The current alarms. */
export function alarmsOf(seen: Seen): Alarm[] {
  return (Object.keys(thresholds) as ThresholdName[]).flatMap(name => {
    const { limit, minutes } = thresholds[name]
    const value = values[name](seen, limit, minutes)
    return value === undefined ? [] : [{ name, value }]
  })
}
