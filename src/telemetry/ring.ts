import {
  addTo,
  type Level,
  levelNames,
  levels,
  quantile,
  type Sum,
  sums,
  type Timing,
  timings,
} from './figures.ts'

/** The finest resolution in milliseconds. */
export const STEP_MS = 15_000

/** The figures of one or several steps. */
export interface Step {
  sums: Record<Sum, number>
  /** The worst value of each level. */
  levels: Partial<Record<Level, number>>
  timings: Record<Timing, number[]>
}

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map(name => [name, 0])) as Record<Name, number>

export const emptyStep = (): Step => ({
  sums: zeros(sums),
  levels: {},
  timings: Object.fromEntries(
    timings.map(name => [name, [] as number[]]),
  ) as unknown as Step['timings'],
})

/** The worse of two values. For levels that should be high, that is the lower one. */
export const worse = (name: Level, a: number | undefined, b: number): number =>
  a === undefined ? b : levels[name] === 'min' ? Math.min(a, b) : Math.max(a, b)

export function addStep(all: Step, some: Step): void {
  for (const name of sums) all.sums[name] += some.sums[name]
  for (const [name, value] of Object.entries(some.levels) as [Level, number][])
    all.levels[name] = worse(name, all.levels[name], value)
  for (const name of timings) addTo(all.timings[name], some.timings[name])
}

const quantiles = [0.5, 0.95, 0.99] as const
const COLUMNS = sums.length + levelNames.length + timings.length * quantiles.length

/** One figure over time: a number per step, null if there is none. */
export type Series = (number | null)[]

/** The precision of a chart. More digits would only cost bandwidth. */
const rounded = (value: number) => Number(value.toPrecision(4))

/** A ring buffer for the numbers of the latest steps, in constant memory. */
export function createRing(stepMs: number, length: number) {
  const values = new Float32Array(length * COLUMNS).fill(Number.NaN)
  /** The step number in each row. */
  const holds = new Float64Array(length).fill(-1)
  let open = emptyStep()
  let openAt = -1

  function close(): void {
    if (openAt < 0) return
    const row = openAt % length
    const line = [
      ...sums.map(name => open.sums[name]),
      ...levelNames.map(name => open.levels[name] ?? Number.NaN),
      ...timings.flatMap(name =>
        quantiles.map(part => quantile(open.timings[name], part) ?? Number.NaN),
      ),
    ]
    values.set(line, row * COLUMNS)
    holds[row] = openAt
  }

  return {
    stepMs,
    length,
    bytes: values.byteLength + holds.byteLength,

    /** Adds the figures of a point in time. Times must not decrease. */
    add(at: number, step: Step): void {
      const now = Math.max(openAt, Math.floor(at / stepMs))
      if (now !== openAt) {
        close()
        open = emptyStep()
        openAt = now
      }
      addStep(open, step)
      // Includes the current, incomplete step.
      close()
    },

    /** The existing steps of the last minutes: the sums of all of them, and the levels of each. */
    latest(
      at: number,
      minutes: number,
    ): { sums: Record<Sum, number>; levels: Record<Level, number>[] } {
      const last = Math.floor(at / stepMs)
      const count = Math.min(length, Math.max(1, (minutes * 60_000) / stepMs))
      const total = zeros(sums)
      const found: Record<Level, number>[] = []
      for (let step = last - count + 1; step <= last; step++) {
        const row = step % length
        if (holds[row] !== step) continue
        const value = (index: number) => values[row * COLUMNS + index] ?? Number.NaN
        for (const [i, name] of sums.entries()) total[name] += value(i)
        found.push(
          Object.fromEntries(levelNames.map((name, i) => [name, value(sums.length + i)])) as Record<
            Level,
            number
          >,
        )
      }
      return { sums: total, levels: found }
    },

    /** Reads everything up to a time. Sums are given as rates per second. */
    read(at: number): { from: number; series: Record<string, Series> } {
      const last = Math.floor(at / stepMs)
      const first = last - length + 1
      const column = (index: number, by = 1): Series =>
        Array.from({ length }, (_, i) => {
          const row = (first + i) % length
          const value = holds[row] === first + i ? values[row * COLUMNS + index] : undefined
          return value === undefined || Number.isNaN(value) ? null : rounded(value / by)
        })
      const series: Record<string, Series> = {}
      let index = 0
      for (const name of sums) series[name] = column(index++, stepMs / 1000)
      for (const name of levelNames) series[name] = column(index++)
      for (const name of timings)
        for (const part of quantiles) series[`${name}P${part * 100}`] = column(index++)
      return { from: first * stepMs, series }
    },
  }
}

/** The names of all series. */
export const seriesNames = [
  ...sums,
  ...levelNames,
  ...timings.flatMap(name => quantiles.map(part => `${name}P${part * 100}` as const)),
]
