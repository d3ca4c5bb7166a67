import type { DriveFill, JobState } from '../../db/queries/health.ts'
import { redact } from '../runtime/log.ts'
import { size } from '../runtime/table.ts'
import type { Alarm } from '../telemetry/alarms.ts'
import {
  LATE_PREVIEW_SECONDS,
  type Severity,
  severities,
  thresholds,
} from '../telemetry/thresholds.ts'
import type { FindingKind } from '../values/finding-kind.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** The maximum interval between two heartbeats of an instance. */
export const SEEN_EVERY_MS = 5 * MINUTE_MS
/** An instance without a heartbeat for this long has crashed, or cannot reach the database. */
export const SILENT_MS = 2 * SEEN_EVERY_MS + MINUTE_MS
/** The maximum number of days from which a forecast is calculated. */
export const KNOWN_DAYS = 30
/** The part of its limit from which a drive counts as nearly full. */
export const NEARLY_FULL = 0.95
const SOON_DAYS = 30
const OLD_BACKUP_DAYS = 7

/** A finding for operators. */
export interface Finding {
  kind: FindingKind
  severity: Severity
  /** The amount, in the unit of the kind. */
  value: number
  /** The number of affected things. */
  count: number
  /** The subject: a kind of jobs, the fullest drive, or an instance. */
  subject: string
  /** The last error. */
  detail: string
  /** In plain language. */
  message: string
}

type Told = Omit<Finding, 'message'>

/** "2 hours" */
export function spell(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const
  const [length, unit] = units.find(([length]) => seconds >= 2 * length) ?? [1, 'second']
  const count = Math.round(seconds / length)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const percent = (part: number) => `${Math.round(part * 100)} %`
const many = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
const last = (detail: string) => (detail ? ` Last error: ${detail}` : '')

const words: Record<FindingKind, (finding: Told) => string> = {
  databaseDown: () => 'The database does not answer. Start it, or correct DATABASE_URL.',
  storeDown: () =>
    'The blob store does not answer. Look at its volume, at the account of Azure, or at the S3 store.',
  errors: ({ value }) => `${percent(value)} of the requests fail. The log has their errors.`,
  slow: ({ value }) => `One request in twenty takes longer than ${value.toFixed(1)} seconds.`,
  connectionsExhausted: () =>
    'Statements wait for a connection all the time. Raise DATABASE_POOL, or find what is slow.',
  eventLoopBlocked: ({ value }) =>
    `The event loop is late by ${Math.round(value * 1000)} ms. It needs more processor time, or more workers.`,
  bodyMemoryFull: ({ value }) =>
    `Request bodies take ${percent(value)} of BODY_MEMORY_BYTES. Beyond it, uploads get 503.`,
  jobsLate: ({ subject, value, count, detail }) =>
    subject === 'mail'
      ? `Mail has waited for ${spell(value)}: ${many(count, 'message')}.${last(detail)}`
      : `Jobs (${subject}) have waited for ${spell(value)}: ${count}.${last(detail)}`,
  mailsFailing: ({ value }) =>
    `The mail server did not take ${Math.round(value)} mails in 15 minutes. They are tried again; look at SMTP_URL.`,
  webhooksLate: ({ value }) => `Events for webhooks have been due for ${spell(value)}.`,
  deliveriesFailing: ({ value }) =>
    `${percent(value)} of the deliveries to webhooks fail: this may be the network of the service.`,
  sweeperStopped: ({ value }) =>
    `The sweeper has not finished for ${spell(value)}. What is deleted keeps its space until it does.`,
  volumeFull: ({ value }) => `${percent(value)} of the volume of the blobs is free. Enlarge it.`,
  guessing: ({ value }) =>
    `${Math.round(value)} passwords were refused without a check in 15 minutes: someone guesses the password of a share.`,
  signInsRefused: ({ value }) =>
    `Most sign-ins are refused: ${Math.round(value)} in 15 minutes. Look at the sign-in provider and its settings.`,
  workersDie: ({ value }) => `${Math.round(value)} workers died in 15 minutes. The log says how.`,
  workersMissing: ({ value }) =>
    `Only ${many(value, 'worker')} serve, which is fewer than wanted. The log says why.`,
  jobsGivenUp: ({ subject, count, detail }) =>
    `${subject === 'mail' ? many(count, 'mail') : `${many(count, 'job')} (${subject})`} ${count === 1 ? 'was' : 'were'} given up.${last(detail)}`,
  driveFull: ({ count, subject, value }) =>
    count === 1
      ? `A drive is nearly full: ${subject} (${percent(value)}).`
      : `${count} drives are nearly full. The fullest: ${subject} (${percent(value)}).`,
  volumeFullSoon: ({ value, detail }) =>
    `The volume of the blobs is full in about ${many(value, 'day')}: ${detail} more each day.`,
  backupOld: ({ value }) => `The last backup was made ${spell(value)} ago.`,
  noBackup: () => 'No backup was made with `npm run admin -- backup`.',
  instanceSilent: ({ subject, value }) =>
    `The instance ${subject} has said nothing for ${spell(value)}: it has ended without a word, or cannot reach the database.`,
  noInstance: () => 'No instance of the service says that it runs.',
}

const finding = (kind: FindingKind, severity: Severity, told: Partial<Told> = {}): Finding => {
  const whole: Told = { kind, severity, value: 0, count: 0, subject: '', detail: '', ...told }
  const where =
    kind in thresholds && kind !== 'jobsLate' && whole.subject ? ` (${whole.subject})` : ''
  return { ...whole, message: `${words[kind](whole)}${where}` }
}

/** An alarm, and the instance that reported it if it is another one. */
export type KnownAlarm = Alarm & { instance?: string }

/** The facts from which findings are derived. */
export interface Known {
  at: number
  alarms: KnownAlarm[]
  jobs: JobState[]
  fullest: DriveFill[]
  forecast: { days: number; bytesPerDay: number } | null
  /** The time of the last backup, or null. */
  backupAt: number | null
  instances: { name: string; seenAt: number }[]
}

export const nameOf = ({ workspace, email }: DriveFill): string => workspace ?? email
export const fillOf = ({ usedBytes, maxBytes }: DriveFill): number =>
  maxBytes > 0 ? usedBytes / maxBytes : 1

function ofJobs({ at, jobs }: Known): Finding[] {
  return jobs.flatMap(({ kind, waiting, givenUp, oldestAt, lastError }) => {
    const told = { subject: kind, detail: redact(lastError) }
    const late = oldestAt === null ? 0 : (at - oldestAt) / 1000
    const { limit: ofOthers, severity } = thresholds.jobsLate
    const limit = kind === 'preview' ? LATE_PREVIEW_SECONDS : ofOthers
    return [
      ...(late > limit
        ? [finding('jobsLate', severity, { ...told, value: late, count: waiting })]
        : []),
      ...(givenUp > 0 ? [finding('jobsGivenUp', 'warning', { ...told, count: givenUp })] : []),
    ]
  })
}

function ofStorage({ fullest, forecast }: Known): Finding[] {
  const [first, ...more] = fullest.filter(drive => fillOf(drive) >= NEARLY_FULL)
  const soon = forecast && forecast.days < SOON_DAYS
  return [
    ...(first
      ? [
          finding('driveFull', 'info', {
            subject: nameOf(first),
            value: fillOf(first),
            count: more.length + 1,
          }),
        ]
      : []),
    ...(soon
      ? [
          finding('volumeFullSoon', 'warning', {
            value: forecast.days,
            detail: size(forecast.bytesPerDay),
          }),
        ]
      : []),
  ]
}

function ofBackups({ at, backupAt }: Known): Finding[] {
  if (backupAt === null) return [finding('noBackup', 'info')]
  const age = at - backupAt
  return age > OLD_BACKUP_DAYS * DAY_MS
    ? [finding('backupOld', 'warning', { value: age / 1000 })]
    : []
}

const ofInstances = ({ at, instances }: Known): Finding[] =>
  instances
    .filter(({ seenAt }) => at - seenAt > SILENT_MS)
    .map(({ name, seenAt }) =>
      finding('instanceSilent', 'warning', { subject: name, value: (at - seenAt) / 1000 }),
    )

/** All findings for an operator, worst first. */
export function findingsOf(known: Known, more: FindingKind[] = []): Finding[] {
  // Jobs have findings of their own. An instance of a newer version may report alarms that this
  // version does not know.
  const alarms = known.alarms.filter(
    ({ name }, i, all) =>
      name in thresholds && name !== 'jobsLate' && all.findIndex(a => a.name === name) === i,
  )
  const all = [
    ...more.map(kind => finding(kind, 'critical')),
    ...alarms.map(({ name, value, instance = '' }) =>
      finding(name, thresholds[name].severity, { value, subject: instance }),
    ),
    ...ofJobs(known),
    ...ofStorage(known),
    ...ofBackups(known),
    ...ofInstances(known),
  ]
  return all.sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
}
