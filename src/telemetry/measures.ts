import { within } from '../runtime/within.ts'
import { counters, histograms, ownHistograms } from './catalog.ts'
import { createCounter, createHistogram } from './cells.ts'
import type { Measures, Readings } from './telemetry.ts'

/**
 * Who asks waits so long for figures that take a statement: Prometheus gives up after ten seconds.
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
  /** While it reads: a database that has not answered the last question is not asked again. */
  reading: Promise<void> | undefined
  latest: Readings
}

/** Measures with what they have counted. */
export interface KeptMeasures extends Measures {
  counters: Record<keyof typeof counters, ReturnType<typeof createCounter>>
  histograms: Record<keyof typeof histograms, ReturnType<typeof createHistogram>>
  /** Not exported. */
  own: Record<keyof typeof ownHistograms, ReturnType<typeof createHistogram>>
  /** All readings now. One that fails, or takes too long, is left out. */
  readings(): Promise<Readings>
}

/** Counts in the memory of this process. */
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
