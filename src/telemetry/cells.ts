/**
 * Figures of one metric by their labels. Adding to one is a call of a function that the caller
 * keeps: prom-client would look at the labels each time.
 */
interface Value {
  labels: Record<string, string>
  value: number
  /** What of it the last call of `changes` knew. */
  told: number
}

/** What was added to figures since they were last asked for. */
export interface Added {
  labels: Record<string, string>
  count: number
}

export interface AddedTimes extends Added {
  /**
   * How many were within each bound, and not within the one before; the last are beyond all of
   * them.
   */
  within: number[]
  seconds: number
}

/** What a registry of prom-client asks of a metric. */
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

/** The cells of a metric, one for each combination of labels, made when it is first asked for. */
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
    /** Makes what adds to it, by default 1. */
    adder(of: Readonly<Record<string, string>>): (by?: number) => void {
      const cell = at(of)
      return (by = 1) => {
        cell.value += by
      }
    },
    set(of: Readonly<Record<string, string>>, value: number): void {
      at(of).value = value
    },
    /** What was added since the last call, where there is any. */
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
  /**
   * How many were within each bound, and not within the one before; the last are beyond all of
   * them.
   */
  within: number[]
  sum: number
  /** What of it the last call of `changes` knew; undefined before the first one. */
  told: { within: number[]; sum: number } | undefined
}

/**
 * A histogram of seconds.
 * @param buckets that are exported
 * @param bounds by which times are kept, with all of the buckets among them
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
    /** Makes what notes how long something took, in seconds. */
    timer(of: Readonly<Record<string, string>>): (seconds: number) => void {
      const cell = at(of)
      return seconds => {
        let i = 0
        while (i < bounds.length && seconds > (bounds[i] ?? 0)) i++
        cell.within[i] = (cell.within[i] ?? 0) + 1
        cell.sum += seconds
      }
    },
    /** What was added since the last call, where there is any. */
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
