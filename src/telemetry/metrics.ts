import { createRequire } from 'node:module'
import {
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { type CounterName, type GaugeName, gauges } from './catalog.ts'
import { eachOf, type KeptMeasures } from './measures.ts'

const { version }: { version: string } = createRequire(import.meta.url)('#package.json')

/** The figures of one process, as workers send them to their supervisor. */
export type Figures = (Pick<
  MetricObjectWithValues<MetricValue<string>>,
  'name' | 'help' | 'aggregator' | 'values'
> & {
  type: string
})[]

export interface Metrics {
  /** All current figures. Excludes readings that fail or take too long. */
  figures(): Promise<Figures>
  /** The current figures in the text format of Prometheus. */
  text(): Promise<string>
}

const isGauge = (name: string): name is GaugeName => name in gauges

/** Exports the measures with prom-client, in a separate registry. */
export function createMetrics({ counters, histograms, readings, read }: KeptMeasures): Metrics {
  const registry = new Registry()
  const made = eachOf(gauges, name => {
    const { name: full, help, labels, over } = gauges[name]
    return new Gauge<string>({
      name: full,
      help,
      labelNames: labels,
      aggregator: over,
      registers: [registry],
    })
  })
  // These objects have everything that the registry uses. Its types require its own classes.
  for (const cells of [...Object.values(counters), ...Object.values(histograms)])
    registry.registerMetric(cells as never)
  collectDefaultMetrics({ register: registry })
  read(() => ({ info: [[{ version }, 1]] }))

  /**
   * A failed reading must not look like a current value. A reset gauge without labels would be 0,
   * which looks like one.
   */
  function clear(): void {
    for (const [name, gauge] of Object.entries(made)) {
      gauge.reset()
      if (gauges[name as GaugeName].labels.length === 0) gauge.remove()
    }
  }

  async function refresh(): Promise<void> {
    const latest = await readings()
    clear()
    for (const [name, reading] of Object.entries(latest))
      for (const [labels, value] of typeof reading === 'number'
        ? [[{}, reading] as const]
        : reading)
        if (isGauge(name)) made[name].set(labels, value)
        else counters[name as CounterName].set(labels, value)
  }

  return {
    async figures() {
      await refresh()
      return registry.getMetricsAsJSON() as unknown as Promise<Figures>
    },
    async text() {
      await refresh()
      return registry.metrics()
    },
  }
}
