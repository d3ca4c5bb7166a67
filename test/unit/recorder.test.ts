import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { FINE, histograms } from '../../src/telemetry/catalog.ts'
import { countsSince } from '../../src/telemetry/condense.ts'
import { type Level, quantile, type Sample, tables } from '../../src/telemetry/figures.ts'
import { createMeasures } from '../../src/telemetry/measures.ts'
import { createRecorder, type Recorder } from '../../src/telemetry/recorder.ts'
import { LATE_PREVIEW_SECONDS, thresholds } from '../../src/telemetry/thresholds.ts'

const STEP = 15_000
const START = Date.UTC(2026, 0, 1)

const noTables = () => Object.fromEntries(tables.map(table => [table, {}])) as Sample['tables']

const sampleOf = (at: number, more: Partial<Sample> = {}): Sample => ({
  worker: 'one',
  pid: 1,
  at,
  sums: {},
  timings: {},
  tables: noTables(),
  codes: {},
  failures: [],
  levels: { workers: 1 },
  ...more,
})

/** Times as a histogram: the number within each bound. */
function within(...seconds: number[]): number[] {
  const all = new Array(FINE.length + 1).fill(0)
  for (const each of seconds) {
    const i = FINE.findIndex(bound => each <= bound)
    all[i < 0 ? FINE.length : i]++
  }
  return all
}

/**
 * Feeds a recorder the same sample for some minutes.
 * @returns the time of the last sample
 */
function feed(recorder: Recorder, minutes: number, more: Partial<Sample>, from = START): number {
  let at = from
  for (let i = 0; i < minutes * 4; i++) {
    at += STEP
    recorder.add(sampleOf(at, more))
  }
  return at
}

const alarmsOf = async (minutes: number, more: Partial<Sample>, wanted = 1) => {
  const recorder = createRecorder(wanted)
  return (await recorder.read('hour', feed(recorder, minutes, more))).alarms.map(({ name }) => name)
}

const levels = (of: Partial<Record<Level, number>>): Partial<Sample> => ({
  levels: { workers: 1, ...of },
})

describe('Recorded values', () => {
  it('are aggregated to coarser steps, and deleted after their time', async () => {
    const recorder = createRecorder()
    const at = feed(recorder, 90, { sums: { answered: 30 } })
    const [hour, quarter, day] = await Promise.all([
      recorder.read('hour', at),
      recorder.read('quarter', at),
      recorder.read('day', at),
    ])
    // All 240 steps of the hour, at two a second. The other series show the same for ninety
    // minutes.
    expect(hour.series.answered).toEqual(new Array(240).fill(2))
    const known = (series: (number | null)[] | undefined) =>
      (series ?? []).filter(value => value !== null)
    expect(known(quarter.series.answered)).toEqual(new Array(90).fill(2))
    expect(known(day.series.answered)).toEqual(new Array(18).fill(2))
    expect(quarter.series.answered?.at(-1)).toBe(2)
    expect(hour.since).toBe(START + STEP)
  })

  it('have gaps where the service was stopped', async () => {
    const recorder = createRecorder()
    const stopped = feed(recorder, 5, { sums: { answered: 15 } })
    const at = feed(recorder, 5, { sums: { answered: 15 } }, stopped + 600_000)
    const { series } = await recorder.read('hour', at)
    const [before, gap, after] = [20, 40, 20].map((length, i) =>
      new Array(length).fill(i === 1 ? null : 1),
    )
    expect(series.answered?.slice(-80)).toEqual([
      ...(before ?? []),
      ...(gap ?? []),
      ...(after ?? []),
    ])
  })

  it('of two workers are summed for counters, and combined for levels', async () => {
    const recorder = createRecorder(2)
    for (const worker of ['one', 'two'])
      recorder.add(
        sampleOf(START + STEP, {
          worker,
          sums: { answered: 15 },
          timings: { rest: within(worker === 'one' ? 0.004 : 0.4) },
          levels: {
            workers: 1,
            memoryBytes: 100,
            eventLoopSeconds: worker === 'one' ? 0.1 : 0.3,
            storeUp: 1,
          },
        }),
      )
    const { now, series, workers } = await recorder.read('hour', START + STEP)
    expect(now).toMatchObject({ workers: 2, memoryBytes: 200, eventLoopSeconds: 0.3, storeUp: 1 })
    expect(series.answered?.at(-1)).toBe(2)
    expect(series.restP99?.at(-1)).toBeGreaterThan(0.35)
    expect(workers).toHaveLength(2)
  })

  it('stay bounded, whatever clients send', async () => {
    const recorder = createRecorder()
    expect(recorder.bytes).toBeLessThan(300 * 1024)
    const names = (i: number) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`GET /${i}/${n}`, timed()]))
    const timed = () => ({ count: 1, failed: 0, seconds: 1, within: within(1) })
    const failure = { at: 0, requestId: 'r', route: '/', code: 'INTERNAL', cause: 'Error' }
    for (let i = 0; i < 20; i++)
      recorder.add(
        sampleOf(START + i * STEP, {
          tables: { ...noTables(), routes: names(i) },
          failures: new Array(40).fill(failure),
        }),
      )
    const { tables: all, failures } = await recorder.read('hour', START + 20 * STEP)
    expect(all.routes.length).toBeLessThanOrEqual(20)
    // Excess names are combined into one.
    expect(all.routes[0]?.name).toBeDefined()
    expect(failures).toHaveLength(50)
  })

  it('drop routes after an hour', async () => {
    const recorder = createRecorder()
    const routes = { 'GET /a': { count: 5, failed: 1, seconds: 1, within: within(0.2) } }
    recorder.add(sampleOf(START, { tables: { ...noTables(), routes }, codes: { INTERNAL: 1 } }))
    const rows = async (at: number) => (await recorder.read('hour', at)).tables.routes
    expect(await rows(START + 3_000_000)).toEqual([
      { name: 'GET /a', count: 5, failed: 1, share: 1, p95: expect.closeTo(0.245, 2) },
    ])
    expect(await rows(START + 3_700_000)).toEqual([])
  })
})

describe('A counted response', () => {
  it('is refused during a maintenance, or counted by its status', () => {
    const measures = createMeasures()
    const labels = { method: 'POST', route: '/api/files/move' }
    for (const status of ['200', '404', '503', '500', 'maintenance', 'cut'])
      measures.counter('httpRequests', { ...labels, status })()
    const { sums, tables } = countsSince(measures)
    expect(sums).toMatchObject({ answered: 1, refused: 2, failed: 2, cut: 1 })
    expect(tables.routes['POST /api/files/move']?.failed).toBe(2)
  })
})

describe('Quantiles', () => {
  it('are close to the exact quantiles', () => {
    const times = Array.from({ length: 1000 }, (_, i) => 0.001 * 1.005 ** i)
    for (const part of [0.5, 0.95, 0.99]) {
      const exact = times[Math.floor(part * 1000)] ?? 0
      expect(Math.abs((quantile(within(...times), part) ?? 0) / exact - 1)).toBeLessThan(0.15)
    }
    expect(quantile(within(), 0.5)).toBeNull()
  })

  it('are stored in buckets that include all exported ones', () => {
    for (const { buckets, bounds } of Object.values(histograms))
      expect(buckets.filter(bound => !bounds.includes(bound))).toEqual([])
    expect([...FINE].sort((a, b) => a - b)).toEqual(FINE)
  })
})

describe('Thresholds', () => {
  const bad: [string, number, Partial<Sample>][] = [
    ['databaseDown', 1, levels({ databaseUp: 0 })],
    ['storeDown', 1, levels({ storeUp: 0 })],
    ['errors', 6, { sums: { answered: 90, failed: 10 } }],
    ['slow', 6, { timings: { rest: within(0.01, 2) } }],
    ['connectionsExhausted', 6, levels({ waitingStatements: 3 })],
    ['eventLoopBlocked', 11, levels({ eventLoopSeconds: 0.5 })],
    ['bodyMemoryFull', 6, levels({ bodyMemory: 90, bodyMemoryLimit: 100 })],
    ['jobsLate', 1, levels({ oldestJobSeconds: 900 })],
    ['mailsFailing', 15, { sums: { failedMails: 1 } }],
    ['webhooksLate', 1, levels({ oldestWebhookSeconds: 900 })],
    ['deliveriesFailing', 30, { sums: { deliveries: 1, failedDeliveries: 2 } }],
    ['sweeperStopped', 1, levels({ lastSweep: START / 1000 - 2000 })],
    ['volumeFull', 1, levels({ freeBytes: 5, volumeBytes: 100 })],
    ['guessing', 15, { sums: { refusedPasswords: 1 } }],
    ['signInsRefused', 15, { sums: { refusedSignIns: 1 } }],
    ['workersDie', 15, { sums: { workerRestarts: 1 } }],
  ]
  const good: Partial<Sample> = {
    sums: { answered: 98, failed: 2, deliveries: 5, signIns: 5, refusedSignIns: 1 },
    timings: { rest: within(0.01, 0.02) },
    levels: {
      workers: 2,
      databaseUp: 1,
      storeUp: 1,
      waitingStatements: 0,
      eventLoopSeconds: 0.01,
      bodyMemory: 1,
      bodyMemoryLimit: 100,
      oldestJobSeconds: 5,
      oldestWebhookSeconds: 5,
      freeBytes: 50,
      volumeBytes: 100,
      lastSweep: START / 1000,
    },
  }

  it.each(bad)('%s fires when it should', async (name, minutes, sample) => {
    expect(await alarmsOf(minutes, sample)).toContain(name)
  })

  it('workersMissing fires when it should', async () => {
    expect(await alarmsOf(6, levels({ workers: 1 }), 2)).toEqual(['workersMissing'])
  })

  it('are silent in normal operation and without data', async () => {
    expect(await alarmsOf(25, good, 2)).toEqual([])
    expect(
      await createRecorder()
        .read('hour', START)
        .then(({ alarms }) => alarms),
    ).toEqual([])
    // A new service is not judged by its first seconds.
    expect(await alarmsOf(1, levels({ waitingStatements: 3, eventLoopSeconds: 0.5 }))).toEqual([])
  })

  it('match docker/alerts.yml', () => {
    const text = readFileSync(new URL('../../docker/alerts.yml', import.meta.url), 'utf8')
    const rules = new Map(
      text
        .split(/- alert: /)
        .slice(1)
        .map(rule => [rule.split('\n', 1)[0] ?? '', rule.split('annotations')[0] ?? '']),
    )
    const records = text.split('- name: satchel-alerts')[0] ?? ''
    for (const { alert, severity, limit, minutes } of Object.values(thresholds)) {
      const rule = rules.get(alert) ?? ''
      expect([alert, /severity: (\w+)/.exec(rule)?.[1]]).toEqual([alert, severity])
      const numbers = [...rule.matchAll(/(?:>|<|==)\s*([\d.]+)/g)].map(([, number]) =>
        Number(number),
      )
      if (alert !== 'SatchelWorkersMissing')
        expect([alert, numbers.includes(limit)]).toEqual([alert, true])
      const spans = [
        ...(rule + (rule.includes('satchel:') ? records : '')).matchAll(/\[(\d+)m\]|for: (\d+)m/g),
      ]
      const said = spans.map(([, range, wait]) => Number(range ?? wait))
      if (minutes > 0) expect([alert, said.includes(minutes)]).toEqual([alert, true])
    }
    expect(rules.get('SatchelPreviewsLate')).toContain(`> ${LATE_PREVIEW_SECONDS} `)
    // An unreachable service cannot report itself. Abandoned jobs come from the database, and so
    // does maintenance, which the console shows everywhere.
    const known = new Set(Object.values(thresholds).map(({ alert }): string => alert))
    expect([...rules.keys()].filter(alert => !known.has(alert))).toEqual([
      'SatchelDown',
      // The finding about late jobs covers it, by their kind.
      'SatchelPreviewsLate',
      'SatchelJobsGivenUp',
      'SatchelMaintenanceLong',
    ])
  })
})
