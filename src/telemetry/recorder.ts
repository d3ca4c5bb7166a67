import { type Alarm, alarmsOf } from './alarms.ts'
import {
  addTo,
  type Failure,
  type Level,
  levels,
  quantile,
  type Sample,
  type Table,
  type Timed,
  type Timing,
  tables,
} from './figures.ts'
import { addStep, createRing, emptyStep, type Series, STEP_MS, type Step } from './ring.ts'

/** The time range of a chart. */
export type Range = 'hour' | 'quarter' | 'day'

/** The slowest routes are computed over the last hour, in slots that expire one by one. */
const SLOT_MS = 300_000
const SLOTS = 12
/** Limits the number of names. They are the names of routes, fields and tables. */
const MOST_NAMES = 400
const MOST_FAILURES = 50
/** How many rows of each table are kept: the slowest ones, and those with the most total time. */
const LISTED = 10
/** How long the times of each step are kept for the thresholds. */
const TIMED_MINUTES = 5
/** A process without samples for this long has ended or hangs. */
const SILENT_MS = 2.5 * STEP_MS

interface Slot {
  at: number
  tables: Record<Table, Map<string, Timed>>
  codes: Map<string, number>
}

/** The times of requests, or similar work, with one name in the last hour. */
export interface Row {
  name: string
  count: number
  failed: number
  p95: number
  /** The fraction of the total time in its table. */
  share: number
}

export interface WorkerState {
  pid: number
  memoryBytes: number
  eventLoopSeconds: number
  /** The used fraction of a processor. */
  processor: number
}

/** The recorded figures of an instance. */
export interface Recorded {
  /** The time of the first sample; null without samples. */
  since: number | null
  stepSeconds: number
  /** The start time of the first step of the series. */
  from: number
  series: Record<string, Series>
  now: Partial<Record<Level, number>>
  alarms: Alarm[]
  tables: Record<Table, Row[]>
  codes: { code: string; count: number }[]
  failures: Failure[]
  workers: WorkerState[]
}

/** Receives the samples of an instance, and returns its recorded figures. */
export interface History {
  add(sample: Sample): void
  read(range: Range): Promise<Recorded>
}

export interface Recorder extends History {
  read(range: Range, at?: number): Promise<Recorded>
  /** Counts a replaced worker. */
  restarted(): void
  /** The memory for the numbers of all steps. */
  bytes: number
}

const timed = (): Timed => ({ count: 0, failed: 0, seconds: 0, within: [] })

const eachTable = <V>(make: (table: Table) => V) =>
  Object.fromEntries(tables.map(table => [table, make(table)])) as Record<Table, V>

function combine(samples: Sample[]): Partial<Record<Level, number>> {
  const all: Partial<Record<Level, number>> = {}
  for (const sample of samples)
    for (const [name, value] of Object.entries(sample.levels) as [Level, number][]) {
      const known = all[name]
      if (known === undefined) all[name] = value
      else all[name] = levels[name] === 'sum' ? known + value : Math[levels[name]](known, value)
    }
  return all
}

/**
 * Records the samples of an instance's processes for a day, in constant memory.
 * @param wanted the configured number of workers
 */
export function createRecorder(wanted = 1): Recorder {
  const rings = {
    hour: createRing(STEP_MS, 240),
    quarter: createRing(60_000, 360),
    day: createRing(300_000, 288),
  }
  const workers = new Map<string, { sample: Sample; processor: number }>()
  let since: number | null = null
  let slots: Slot[] = []
  let failures: Failure[] = []
  let timings: { at: number; within: Record<Timing, number[]> }[] = []

  const running = (at: number) =>
    [...workers.values()].filter(({ sample }) => at - sample.at < SILENT_MS)
  const now = (at: number) => combine(running(at).map(({ sample }) => sample))

  /** A sample covers the interval before it. */
  const middleOf = (at: number) => at - STEP_MS / 2

  function slotOf(at: number): Slot {
    const begin = at - (at % SLOT_MS)
    let slot = slots.at(-1)
    if (slot?.at !== begin) {
      slot = { at: begin, tables: eachTable(() => new Map()), codes: new Map() }
      slots.push(slot)
    }
    slots = slots.filter(({ at: old }) => old > at - SLOTS * SLOT_MS)
    return slot
  }

  function addTables(sample: Sample): void {
    const slot = slotOf(sample.at)
    for (const table of tables)
      for (const [name, some] of Object.entries(sample.tables[table])) {
        const rows = slot.tables[table]
        const key = rows.has(name) || rows.size < MOST_NAMES ? name : 'other'
        const all = rows.get(key) ?? timed()
        rows.set(key, all)
        addTimed(all, some)
      }
    for (const [code, count] of Object.entries(sample.codes))
      slot.codes.set(code, (slot.codes.get(code) ?? 0) + count)
    failures = [...failures, ...sample.failures].slice(-MOST_FAILURES)
  }

  function addTimed(all: Timed, some: Timed): void {
    all.count += some.count
    all.failed += some.failed
    all.seconds += some.seconds
    addTo(all.within, some.within)
  }

  function rowsOf(table: Table): Row[] {
    const all = new Map<string, Timed>()
    for (const slot of slots)
      for (const [name, some] of slot.tables[table]) {
        const row = all.get(name) ?? timed()
        all.set(name, row)
        addTimed(row, some)
      }
    const whole = [...all.values()].reduce((sum, { seconds }) => sum + seconds, 0)
    const rows = [...all].map(([name, { count, failed, seconds, within }]) => ({
      name,
      count,
      failed,
      share: seconds / (whole || 1),
      p95: quantile(within, 0.95) ?? 0,
    }))
    const first = (by: 'share' | 'p95') => rows.toSorted((a, b) => b[by] - a[by]).slice(0, LISTED)
    return [...new Set([...first('p95'), ...first('share')])].sort((a, b) => b.p95 - a.p95)
  }

  function codes(): Recorded['codes'] {
    const all = new Map<string, number>()
    for (const slot of slots)
      for (const [code, count] of slot.codes) all.set(code, (all.get(code) ?? 0) + count)
    return [...all].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count)
  }

  function addToRings(at: number, step: Step): void {
    for (const ring of Object.values(rings)) ring.add(middleOf(at), step)
  }

  function within(timing: Timing, from: number): number[] {
    const all: number[] = []
    for (const step of timings) if (step.at > from) addTo(all, step.within[timing])
    return all
  }

  return {
    bytes: Object.values(rings).reduce((sum, { bytes }) => sum + bytes, 0),

    add(sample) {
      since ??= sample.at
      const before = workers.get(sample.worker)?.sample
      const seconds = (sample.at - (before?.at ?? sample.at - STEP_MS)) / 1000
      workers.set(sample.worker, {
        sample,
        processor: (sample.sums.processorSeconds ?? 0) / Math.max(seconds, 1),
      })
      for (const [worker, state] of workers)
        if (sample.at - state.sample.at > SILENT_MS) workers.delete(worker)
      const step = emptyStep()
      addStep(step, {
        sums: { ...step.sums, ...sample.sums },
        levels: now(sample.at),
        timings: { ...step.timings, ...sample.timings },
      })
      addToRings(sample.at, step)
      timings = timings.filter(({ at }) => at > sample.at - TIMED_MINUTES * 60_000)
      timings.push({ at: sample.at, within: step.timings })
      addTables(sample)
    },

    restarted() {
      const at = Date.now()
      const step = emptyStep()
      step.sums.workerRestarts = 1
      addToRings(at, step)
    },

    async read(range, at = Date.now()) {
      slotOf(at)
      const ring = rings[range]
      return {
        since,
        stepSeconds: ring.stepMs / 1000,
        ...ring.read(middleOf(at)),
        now: now(at),
        alarms: alarmsOf({
          at,
          wanted,
          now: now(at),
          latest: minutes => rings.hour.latest(middleOf(at), minutes),
          within: (timing, minutes) => within(timing, at - minutes * 60_000),
        }),
        tables: eachTable(rowsOf),
        codes: codes(),
        failures: failures.toReversed(),
        workers: running(at).map(({ sample: { pid, levels: of }, processor }) => ({
          pid,
          processor,
          memoryBytes: of.memoryBytes ?? 0,
          eventLoopSeconds: of.eventLoopSeconds ?? 0,
        })),
      }
    },
  }
}
