import { createRequire } from 'node:module'
import { collectDefaultMetrics, Gauge, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { within } from '../runtime/within.ts'
import { type CounterName, counters, type GaugeName, gauges, histograms } from './catalog.ts'
import { createCounter, createHistogram } from './cells.ts'
import type { Measures, Readings } from './telemetry.ts'

const { version }: { version: string } = createRequire(import.meta.url)('#package.json')

/** A scrape waits so long for figures that take a statement: Prometheus gives up after ten seconds. */
const PATIENCE_MS = 2000

/** The figures of one process, as workers send them to their supervisor. */
export type Figures = (Pick<MetricObjectWithValues<MetricValue<string>>, 'name' | 'help' | 'aggregator' | 'values'> & {
  type: string
})[]

export interface Metrics extends Measures {
  /** All figures now. A reading that fails, or takes too long, is left out. */
  figures(): Promise<Figures>
  /** The same as Prometheus reads it. */
  text(): Promise<string>
}

const of = <Name extends string, M>(all: Record<Name, unknown>, make: (name: Name) => M) =>
  Object.fromEntries(Object.keys(all).map(name => [name, make(name as Name)])) as Record<Name, M>

const isGauge = (name: string): name is GaugeName => name in gauges

interface Reader {
  read(): Readings | Promise<Readings>
  freshMs: number
  readAt: number
  /** While it reads: a scrape does not ask a database again that has not answered the last one. */
  reading: Promise<void> | undefined
  latest: Readings
}

/** Metrics by prom-client, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const made = {
    counters: of(counters, name => createCounter(counters[name])),
    histograms: of(histograms, name => createHistogram(histograms[name])),
    gauges: of(gauges, name => {
      const { name: full, help, labels, over } = gauges[name]
      return new Gauge<string>({ name: full, help, labelNames: labels, aggregator: over, registers: [registry] })
    }),
  }
  // The registry asks nothing else of a metric than what these have; its types ask for its own classes.
  for (const cells of [...Object.values(made.counters), ...Object.values(made.histograms)])
    registry.registerMetric(cells as never)
  /** Without labels, a gauge that is reset would be 0, which looks like a figure. */
  function clear(name: GaugeName): void {
    made.gauges[name].reset()
    if (gauges[name].labels.length === 0) made.gauges[name].remove()
  }
  for (const name of Object.keys(gauges)) clear(name as GaugeName)
  collectDefaultMetrics({ register: registry })
  const readers: Reader[] = [
    { read: () => ({ info: [[{ version }, 1]] }), freshMs: 0, readAt: 0, reading: undefined, latest: {} },
  ]

  function write({ latest }: Reader): void {
    for (const [name, reading] of Object.entries(latest)) {
      const values = typeof reading === 'number' ? [[{}, reading] as const] : reading
      for (const [labels, value] of values)
        if (isGauge(name)) made.gauges[name].set(labels, value)
        else made.counters[name as CounterName].set(labels, value)
    }
  }

  /** What cannot be read now must not look like a figure of now. */
  function forget(reader: Reader): void {
    for (const name of Object.keys(reader.latest)) if (isGauge(name)) clear(name)
    reader.latest = {}
  }

  async function refresh(reader: Reader): Promise<void> {
    if (reader.reading === undefined && performance.now() - reader.readAt < reader.freshMs) return
    let isThere = false
    reader.reading ??= (async () => reader.read())()
      .then(latest => {
        forget(reader)
        reader.latest = latest
        reader.readAt = performance.now()
        write(reader)
      })
      .catch(() => forget(reader))
      .finally(() => {
        reader.reading = undefined
      })
    await within(
      reader.reading.then(() => {
        isThere = true
      }),
      PATIENCE_MS,
    )
    if (!isThere) forget(reader)
  }

  const refreshAll = () => Promise.all(readers.map(refresh))

  return {
    counter: (counter, labels) => made.counters[counter].adder(labels),
    timer: (histogram, labels) => made.histograms[histogram].timer(labels),
    read: (read, freshMs = 0) =>
      void readers.push({ read, freshMs, readAt: Number.NEGATIVE_INFINITY, reading: undefined, latest: {} }),
    async figures() {
      await refreshAll()
      return registry.getMetricsAsJSON() as unknown as Promise<Figures>
    },
    async text() {
      await refreshAll()
      return registry.metrics()
    },
  }
}
