import { AggregatorRegistry } from 'prom-client'
import { within } from '../runtime/within.ts'
import { counters, gauges } from '../telemetry/catalog.ts'
import type { Figures } from '../telemetry/metrics.ts'

/** A worker that has not responded by then hangs or is busy. Its latest counts are used instead. */
const PATIENCE_MS = 3000

/** A worker as a source of figures. */
interface Source {
  ask(id: number): void
  /** The latest figures of the worker. */
  latest: Figures
  answered: (id: number, figures: Figures) => void
}

/** The figures that only increase. */
const countsOf = (figures: Figures): Figures =>
  figures.filter(({ type }) => type === 'counter' || type === 'histogram')

const sumOf = (figures: Figures[]) => AggregatorRegistry.aggregate(figures)

/**
 * Gathers the figures of all workers. The counts of stopped workers stay in the sums, because
 * Prometheus would interpret a lower sum as a restart, and count everything again.
 * @param wanted the configured number of workers
 */
export function createGathering(wanted: number) {
  const sources = new Set<Source>()
  /** The counts of stopped workers. */
  const ended: Figures[] = []
  let restarts = 0
  let lastId = 0

  /** @returns all figures of a worker, or its latest counts if it does not respond */
  async function figuresOf(source: Source): Promise<Figures> {
    const id = ++lastId
    let answer: Figures | undefined
    const answered = new Promise<void>(resolve => {
      source.answered = (of, figures) => {
        source.latest = figures
        if (of !== id) return
        answer = figures
        resolve()
      }
    })
    source.ask(id)
    await within(answered, PATIENCE_MS)
    return answer ?? countsOf(source.latest)
  }

  const own = (): Figures => [
    ...[
      { ...gauges.workers, value: sources.size },
      { ...gauges.workersWanted, value: wanted },
    ].map(({ name, help, over, value }) => ({
      name,
      help,
      aggregator: over,
      type: 'gauge',
      values: [{ value, labels: {} }],
    })),
    {
      name: counters.workerRestarts.name,
      help: counters.workerRestarts.help,
      aggregator: 'sum',
      type: 'counter',
      values: [{ value: restarts, labels: {} }],
    },
  ]

  return {
    /**
     * Adds a serving worker.
     * @param ask requests the worker's figures
     * @returns a function that receives its figures, and one to call when it has ended
     */
    join(ask: (id: number) => void) {
      const source: Source = { ask, latest: [], answered: () => {} }
      sources.add(source)
      return {
        heard: (id: number, figures: Figures) => source.answered(id, figures),
        left(): void {
          if (sources.delete(source)) ended.push(countsOf(source.latest))
        },
      }
    },

    /** Counts a replaced worker. */
    restarted: () => void restarts++,

    /** The figures of all workers in the text format of Prometheus. Calls must not overlap. */
    async text(): Promise<string> {
      const asked = await Promise.all(
        [...sources].map(async source => ({ source, figures: await figuresOf(source) })),
      )
      // Workers that have ended meanwhile are counted in `ended`.
      const running = asked
        .filter(({ source }) => sources.has(source))
        .map(({ figures }) => figures)
      const text = sumOf([...running, ...ended, own()]).metrics()
      const { length } = ended
      if (length > 1) {
        const sum = (await sumOf(ended.slice()).getMetricsAsJSON()) as unknown as Figures
        // Counts of other workers may have been added meanwhile.
        ended.splice(0, length, sum)
      }
      return text
    },
  }
}

export type Gathering = ReturnType<typeof createGathering>
