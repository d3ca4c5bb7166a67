import { within } from '../runtime/within.ts'
import { counters, histograms, ownHistograms } from './catalog.ts'
import { createCounter, createHistogram } from './cells.ts'
import type { Measures, Readings } from './telemetry.ts'

/**
 * How long callers wait for figures that take a statement. Prometheus times out after ten seconds.
 */
const PATIENCE_MS = 2000

export const eachOf = <Name extends string, M>(
  all: Record<Name, unknown>,
  make: (name: Name) => M,
) => Object.fromEntries(Object.keys(all).map(name => [name, make(name as Name)])) as Record<Name, M>

interface Reader {
  read(): Readings | Promise<Readings>
  freshMs: number
  readAt: number
  /** Set while a read is running, so that a hanging database is not queried again. */
  reading: Promise<void> | undefined
  latest: Readings
}

/** Measures and the figures they have collected. */
export interface KeptMeasures extends Measures {
  counters: Record<keyof typeof counters, ReturnType<typeof createCounter>>
  histograms: Record<keyof typeof histograms, ReturnType<typeof createHistogram>>
  /** Not exported as metrics. */
  own: Record<keyof typeof ownHistograms, ReturnType<typeof createHistogram>>
  /** All current readings. Excludes those that fail or take too long. */
  readings(): Promise<Readings>
}

/** Creates measures that keep their figures in the memory of this process. */
export function createMeasures(): KeptMeasures {
  const made = eachOf(counters, name => createCounter(counters[name]))
  const times = eachOf(histograms, name => createHistogram(histograms[name]))
  const own = eachOf(ownHistograms, name => createHistogram(ownHistograms[name]))
  const timers = { ...times, ...own }
  const readers: Reader[] = []

  async function refresh(reader: Reader): Promise<Readings> {
    if (reader.reading === undefined && performance.now() - reader.readAt < reader.freshMs)
      return reader.latest
    let isThere = false
    reader.reading ??= (async () => reader.read())()
      .then(latest => {
        reader.latest = latest
        reader.readAt = performance.now()
      })
      .catch(() => {
        reader.latest = {}
      })
      .finally(() => {
        reader.reading = undefined
      })
    await within(
      reader.reading.then(() => {
        isThere = true
      }),
      PATIENCE_MS,
    )
    return isThere ? reader.latest : {}
  }

  return {
    counters: made,
    histograms: times,
    own,
    counter: (counter, labels) => made[counter].adder(labels),
    timer: (histogram, labels) => timers[histogram].timer(labels),
    read: (read, freshMs = 0) =>
      void readers.push({
        read,
        freshMs,
        readAt: Number.NEGATIVE_INFINITY,
        reading: undefined,
        latest: {},
      }),
    readings: async () => Object.assign({}, ...(await Promise.all(readers.map(refresh)))),
  }
}
