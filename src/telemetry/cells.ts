/**
 * The figures of one metric by label. The caller keeps a function that adds to one figure, because
 * prom-client would look the labels up each time.
 */
interface Value {
  labels: Record<string, string>
  value: number
  /** The value at the last call of `changes`. */
  told: number
}

/** Increments since the last read. */
export interface Added {
  labels: Record<string, string>
  count: number
}

export interface AddedTimes extends Added {
  /** The counts between each bound and the previous one. The last count is beyond all bounds. */
  within: number[]
  seconds: number
}

/** What a prom-client registry needs from a metric. */
interface Exported {
  name: string
  help: string
  type: string
  aggregator: 'sum'
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[]
}

interface Described {
  name: string
  help: string
  labels: readonly string[]
}

/** The cells of a metric, created on demand for each combination of labels. */
function cellsOf<Cell>(
  labelNames: readonly string[],
  make: (labels: Record<string, string>) => Cell,
) {
  const cells = new Map<string, Cell>()
  return {
    cells,
    at(labels: Readonly<Record<string, string>>): Cell {
      const key = labelNames.map(name => labels[name]).join('\n')
      let cell = cells.get(key)
      if (!cell) {
        cell = make(Object.fromEntries(labelNames.map(name => [name, labels[name] ?? ''])))
        cells.set(key, cell)
      }
      return cell
    },
  }
}

/** A counter. One without labels is exported from the start. */
export function createCounter({ name, help, labels }: Described) {
  const { cells, at } = cellsOf(labels, (of): Value => ({ labels: of, value: 0, told: 0 }))
  if (labels.length === 0) at({})
  return {
    name,
    help,
    type: 'counter',
    /** Returns a function that adds to the counter, by default 1. */
    adder(of: Readonly<Record<string, string>>): (by?: number) => void {
      const cell = at(of)
      return (by = 1) => {
        cell.value += by
      }
    },
    set(of: Readonly<Record<string, string>>, value: number): void {
      at(of).value = value
    },
    /** The increments since the last call, without zeros. */
    changes(): Added[] {
      return [...cells.values()].flatMap(cell => {
        const count = cell.value - cell.told
        cell.told = cell.value
        return count > 0 ? [{ labels: cell.labels, count }] : []
      })
    },
    get: async (): Promise<Exported> => ({
      name,
      help,
      type: 'counter',
      aggregator: 'sum',
      values: [...cells.values()].map(({ value, labels: of }) => ({ value, labels: of })),
    }),
  }
}

interface Times {
  labels: Record<string, string>
  /** The counts between each bound and the previous one. The last count is beyond all bounds. */
  within: number[]
  sum: number
  /** The values at the last call of `changes`; undefined before the first one. */
  told: { within: number[]; sum: number } | undefined
}

/**
 * A histogram of seconds.
 * @param buckets the exported buckets
 * @param bounds the bounds for keeping times, which include all buckets
 */
export function createHistogram({
  name,
  help,
  labels,
  buckets,
  bounds = buckets,
}: Described & { buckets: readonly number[]; bounds?: readonly number[] }) {
  const { cells, at } = cellsOf(
    labels,
    (of): Times => ({
      labels: of,
      within: new Array(bounds.length + 1).fill(0),
      sum: 0,
      told: undefined,
    }),
  )
  const isExported = new Set<number | undefined>([...buckets, undefined])

  function samplesOf({ labels: of, within, sum }: Times): Exported['values'] {
    let count = 0
    const upTo = within.flatMap((some, i) => {
      count += some
      if (!isExported.has(bounds[i])) return []
      return [
        { metricName: `${name}_bucket`, labels: { le: bounds[i] ?? '+Inf', ...of }, value: count },
      ]
    })
    return [
      ...upTo,
      { metricName: `${name}_sum`, labels: of, value: sum },
      { metricName: `${name}_count`, labels: of, value: count },
    ]
  }

  return {
    name,
    help,
    type: 'histogram',
    /** Returns a function that records a duration in seconds. */
    timer(of: Readonly<Record<string, string>>): (seconds: number) => void {
      const cell = at(of)
      return seconds => {
        let i = 0
        while (i < bounds.length && seconds > (bounds[i] ?? 0)) i++
        cell.within[i] = (cell.within[i] ?? 0) + 1
        cell.sum += seconds
      }
    },
    /** The increments since the last call, without zeros. */
    changes(): AddedTimes[] {
      return [...cells.values()].flatMap(cell => {
        const { within, sum, told } = cell
        const added = within.map((some, i) => some - (told?.within[i] ?? 0))
        const count = added.reduce((all, some) => all + some, 0)
        if (count === 0) return []
        cell.told = { within: [...within], sum }
        return [{ labels: cell.labels, count, within: added, seconds: sum - (told?.sum ?? 0) }]
      })
    },
    get: async (): Promise<Exported> => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...cells.values()].flatMap(samplesOf),
    }),
  }
}
