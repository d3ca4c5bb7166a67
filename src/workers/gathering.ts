import { AggregatorRegistry } from 'prom-client'
import { within } from '../runtime/within.ts'
import { counters, gauges } from '../telemetry/catalog.ts'
import type { Figures } from '../telemetry/metrics.ts'

/**
 * A worker that has not answered by then hangs, or does not get to it: its latest counts stand for
 * it.
 */
const PATIENCE_MS = 3000

/** A worker, as those who gather its figures know it. */
interface Source {
  ask(id: number): void
  /** Its latest figures. */
  latest: Figures
  answered: (id: number, figures: Figures) => void
}

/** What only grows. */
const countsOf = (figures: Figures): Figures =>
  figures.filter(({ type }) => type === 'counter' || type === 'histogram')

const sumOf = (figures: Figures[]) => AggregatorRegistry.aggregate(figures)

/**
 * Gathers the figures of all workers. The counts of a worker that has ended stay in the sums:
 * Prometheus would take a smaller sum for a restart of the whole, and count everything of the
 * others once more.
 * @param wanted how many workers there should be
 */
export function createGathering(wanted: number) {
  const sources = new Set<Source>()
  /** The counts of workers that have ended. */
  const ended: Figures[] = []
  let restarts = 0
  let lastId = 0

  /** @returns all figures of a worker; only its latest counts where it does not answer */
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
     * Takes a worker that serves. @param ask asks it for its figures @returns what hears them, and
     * what to call when it has ended
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

    /** Counts a worker that takes the place of another. */
    restarted: () => void restarts++,

    /** The figures of all of them, as Prometheus reads them. One call at a time. */
    async text(): Promise<string> {
      const asked = await Promise.all(
        [...sources].map(async source => ({ source, figures: await figuresOf(source) })),
      )
      // The counts of those who have ended meanwhile are among `ended`.
      const running = asked
        .filter(({ source }) => sources.has(source))
        .map(({ figures }) => figures)
      const text = sumOf([...running, ...ended, own()]).metrics()
      const { length } = ended
      if (length > 1) {
        const sum = (await sumOf(ended.slice()).getMetricsAsJSON()) as unknown as Figures
        // Others may have been added meanwhile.
        ended.splice(0, length, sum)
      }
      return text
    },
  }
}

export type Gathering = ReturnType<typeof createGathering>
