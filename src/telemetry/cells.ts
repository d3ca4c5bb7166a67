/** Figures of one metric by their labels. Adding to one is a call of a function that the caller keeps: prom-client would look at the labels each time. */
interface Value {
  labels: Record<string, string>
  value: number
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
function cellsOf<Cell>(labelNames: readonly string[], make: (labels: Record<string, string>) => Cell) {
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
  const { cells, at } = cellsOf(labels, (of): Value => ({ labels: of, value: 0 }))
  if (labels.length === 0) at({})
  return {
    ...{ name, help, type: 'counter' },
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
    get: async (): Promise<Exported> => ({
      ...{ name, help, type: 'counter', aggregator: 'sum' },
      values: [...cells.values()].map(({ value, labels: of }) => ({ value, labels: of })),
    }),
  }
}

interface Times {
  labels: Record<string, string>
  /** How many were within each bound, and not within the one before; the last are beyond all of them. */
  within: number[]
  sum: number
}

/** A histogram of seconds. */
export function createHistogram({ name, help, labels, buckets }: Described & { buckets: readonly number[] }) {
  const { cells, at } = cellsOf(
    labels,
    (of): Times => ({ labels: of, within: new Array(buckets.length + 1).fill(0), sum: 0 }),
  )

  function samplesOf({ labels: of, within, sum }: Times): Exported['values'] {
    let count = 0
    const bounds = within.map((some, i) => {
      count += some
      return { metricName: `${name}_bucket`, labels: { le: buckets[i] ?? '+Inf', ...of }, value: count }
    })
    return [
      ...bounds,
      { metricName: `${name}_sum`, labels: of, value: sum },
      { metricName: `${name}_count`, labels: of, value: count },
    ]
  }

  return {
    ...{ name, help, type: 'histogram' },
    /** Makes what notes how long something took, in seconds. */
    timer(of: Readonly<Record<string, string>>): (seconds: number) => void {
      const cell = at(of)
      return seconds => {
        let i = 0
        while (i < buckets.length && seconds > (buckets[i] ?? 0)) i++
        cell.within[i] = (cell.within[i] ?? 0) + 1
        cell.sum += seconds
      }
    },
    get: async (): Promise<Exported> => ({
      ...{ name, help, type: 'histogram', aggregator: 'sum' },
      values: [...cells.values()].flatMap(samplesOf),
    }),
  }
}
