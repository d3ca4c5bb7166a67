import type { Db } from '../../db/index.ts'
import type { StorageDay } from '../../db/models/storage-day.ts'
import {
  type DriveFill,
  fullestDrives,
  instanceStates,
  type JobState,
  jobStates,
  lastBackup,
  storageDays,
} from '../../db/queries/health.ts'
import type { Alarm } from '../telemetry/alarms.ts'
import type { History, Range, Recorded } from '../telemetry/recorder.ts'
import type { FindingKind } from '../values/finding-kind.ts'
import type { Core } from './core.ts'
import {
  DAY_MS,
  type Finding,
  findingsOf,
  KNOWN_DAYS,
  type KnownAlarm,
  SILENT_MS,
} from './finding.ts'

/** The number of fullest drives that operators see. */
const FULLEST = 10
/**
 * The time for which the fullest drives are cached, because finding them reads the rows of all
 * drives.
 */
const FRESH_MS = 60_000

export interface Forecast {
  /** The number of days until the volume is full, if it grows at the same rate. */
  days: number
  bytesPerDay: number
  /** The number of days of data behind the forecast. */
  knownDays: number
}

export interface InstanceView {
  name: string
  startedAt: number
  seenAt: number
}

/** The health of the service. */
export interface Health {
  at: number
  /** The name of the instance whose figures these are. */
  instance: string
  recorded: Recorded
  findings: Finding[]
  jobs: JobState[]
  fullest: DriveFill[]
  forecast: Forecast | null
  backupAt: number | null
  instances: InstanceView[]
}

/**
 * The number of days until the volume is full, from its growth over some days. Null if it does not
 * grow, or if there is no volume.
 */
export function forecastOf(days: StorageDay[], freeBytes: number | undefined): Forecast | null {
  const [first, last] = [days.at(0), days.at(-1)]
  if (!first || !last || freeBytes === undefined) return null
  const knownDays = (last.at - first.at) / DAY_MS
  // One evening does not predict the next.
  if (knownDays < 2) return null
  const bytesPerDay =
    (last.usedBytes + last.keptBytes - first.usedBytes - first.keptBytes) / knownDays
  if (bytesPerDay <= 0) return null
  return {
    days: Math.floor(freeBytes / bytesPerDay),
    bytesPerDay: Math.round(bytesPerDay),
    knownDays: Math.round(knownDays),
  }
}

type FromDatabase = Pick<Health, 'jobs' | 'fullest' | 'backupAt'> & {
  days: StorageDay[]
  states: (InstanceView & { alarms: Alarm[] })[]
}

/** The alarms of the running instances. */
const alarmsOf = (states: FromDatabase['states'], now: number): KnownAlarm[] =>
  states
    .filter(({ seenAt }) => now - seenAt <= SILENT_MS)
    .flatMap(({ name: instance, alarms }) => alarms.map(alarm => ({ ...alarm, instance })))

async function read(db: Db, now: number, fullest: Promise<DriveFill[]>): Promise<FromDatabase> {
  const [jobs, full, days, backup, states] = await Promise.all([
    jobStates(db, now),
    fullest,
    storageDays(db, Math.floor(now / DAY_MS) - KNOWN_DAYS),
    lastBackup(db),
    instanceStates(db),
  ])
  return {
    jobs,
    fullest: full,
    days,
    backupAt: backup?.finishedAt ?? null,
    states: states.map(state => ({ ...state, alarms: JSON.parse(state.alarms) as Alarm[] })),
  }
}

interface Outside {
  /** The free bytes of the blob volume, if there is one. */
  freeBytes: number | undefined
  /** Whether instances send heartbeats. */
  expectsInstances: boolean
  /** Findings from outside the database. */
  more: FindingKind[]
}

/**
 * The findings that need no running instance: from the database and from what instances wrote
 * there.
 */
export async function findingsWithout(
  db: Db,
  { freeBytes, expectsInstances, more }: Outside,
): Promise<Finding[]> {
  const at = Date.now()
  const { jobs, fullest, days, backupAt, states } = await read(db, at, fullestDrives(db, FULLEST))
  const isRunning = states.some(({ seenAt }) => at - seenAt <= SILENT_MS)
  const alarms = alarmsOf(states, at)
  return findingsOf(
    {
      at,
      alarms,
      jobs,
      fullest,
      forecast: forecastOf(days, freeBytes),
      backupAt,
      instances: states,
    },
    [...more, ...(isRunning || !expectsInstances ? [] : (['noInstance'] as const))],
  )
}

/** The health of the service for operators: slow, full, failing or waiting parts. */
export function healthService({
  db,
  history,
  instanceName,
}: Core<'db'> & { history: History; instanceName: string }) {
  let drives: { at: number; found: Promise<DriveFill[]> } | undefined

  function fullest(now: number): Promise<DriveFill[]> {
    if (drives && now - drives.at < FRESH_MS) return drives.found
    const found = fullestDrives(db, FULLEST)
    drives = { at: now, found }
    found.catch(() => {
      drives = undefined
    })
    return found
  }

  return {
    /** @param range the time span of the series */
    async state(range: Range): Promise<Health> {
      const at = Date.now()
      const [recorded, { states, days, ...found }] = await Promise.all([
        history.read(range),
        read(db, at, fullest(at)),
      ])
      const forecast = forecastOf(days, recorded.now.freeBytes)
      const elsewhere = states.filter(({ name }) => name !== instanceName)
      const alarms = [...recorded.alarms, ...alarmsOf(elsewhere, at)]
      return {
        at,
        instance: instanceName,
        instances: states,
        recorded,
        forecast,
        ...found,
        findings: findingsOf({ at, alarms, forecast, instances: elsewhere, ...found }),
      }
    },
  }
}
