import { Link } from '@tanstack/react-router'
import { formatPercent } from '../../../i18n/format.ts'
import { CircleAlert, CircleCheck, Info, TriangleAlert } from '../../../parts/icons.ts'
import type { Finding } from './documents.ts'
import { span, time } from './formats.ts'
import { text } from './text.ts'

const severities = {
  CRITICAL: { icon: CircleAlert, name: 'critical' },
  WARNING: { icon: TriangleAlert, name: 'warning' },
  INFO: { icon: Info, name: 'info' },
} as const

const last = (detail: string) => (detail ? ` ${text('lastError', { detail })}` : '')

/** The text of each kind of finding. */
const said: Record<Finding['kind'], (finding: Finding) => string> = {
  DATABASE_DOWN: () => text('databaseDown'),
  STORE_DOWN: () => text('storeDown'),
  ERRORS: ({ value }) => text('errors', { part: formatPercent(value) }),
  SLOW: ({ value }) => text('slow', { time: time(value) }),
  CONNECTIONS_EXHAUSTED: () => text('connectionsExhausted'),
  EVENT_LOOP_BLOCKED: ({ value }) => text('eventLoopBlocked', { time: time(value) }),
  BODY_MEMORY_FULL: ({ value }) => text('bodyMemoryFull', { part: formatPercent(value) }),
  JOBS_LATE: ({ subject, value, count, detail }) =>
    (subject === 'mail'
      ? text('mailLate', { time: span(value), count })
      : text('jobsLate', { kind: subject, time: span(value), count })) + last(detail),
  MAILS_FAILING: ({ value }) => text('mailsFailing', { count: Math.round(value) }),
  WEBHOOKS_LATE: ({ value }) => text('webhooksLate', { time: span(value) }),
  DELIVERIES_FAILING: ({ value }) => text('deliveriesFailing', { part: formatPercent(value) }),
  SWEEPER_STOPPED: ({ value }) => text('sweeperStopped', { time: span(value) }),
  VOLUME_FULL: ({ value }) => text('volumeFull', { part: formatPercent(value) }),
  GUESSING: ({ value }) => text('guessing', { count: Math.round(value) }),
  SIGN_INS_REFUSED: ({ value }) => text('signInsRefused', { count: Math.round(value) }),
  WORKERS_DIE: ({ value }) => text('workersDie', { count: Math.round(value) }),
  WORKERS_MISSING: ({ value }) => text('workersMissing', { count: value }),
  JOBS_GIVEN_UP: ({ subject, count, detail }) =>
    text('jobsGivenUp', { kind: subject, count }) + last(detail),
  DRIVE_FULL: ({ subject, value, count }) =>
    text('driveFull', { drive: subject, part: formatPercent(value), count }),
  VOLUME_FULL_SOON: ({ value, detail }) => text('volumeFullSoon', { count: value, bytes: detail }),
  BACKUP_OLD: ({ value }) => text('backupOld', { time: span(value) }),
  NO_BACKUP: () => text('noBackup'),
  INSTANCE_SILENT: ({ subject, value }) =>
    text('instanceSilent', { instance: subject, time: span(value) }),
  NO_INSTANCE: () => text('noInstance'),
}

/** The screen that deals with the finding, if there is one. */
const places: Partial<
  Record<Finding['kind'], { to: '/admin' | '/admin/service' | '/admin/storage'; label: string }>
> = {
  JOBS_LATE: { to: '/admin/service', label: text('toMails') },
  JOBS_GIVEN_UP: { to: '/admin/service', label: text('toMails') },
  MAILS_FAILING: { to: '/admin/service', label: text('toMails') },
  DRIVE_FULL: { to: '/admin/storage', label: text('toStorage') },
  VOLUME_FULL: { to: '/admin/storage', label: text('toStorage') },
  VOLUME_FULL_SOON: { to: '/admin/storage', label: text('toStorage') },
}

/** The section of this page with its figures. */
const parts: Partial<Record<Finding['kind'], string>> = {
  ERRORS: 'errors',
  SLOW: 'requests',
  CONNECTIONS_EXHAUSTED: 'database',
  DATABASE_DOWN: 'database',
  STORE_DOWN: 'store',
  EVENT_LOOP_BLOCKED: 'processes',
  BODY_MEMORY_FULL: 'processes',
  WORKERS_DIE: 'processes',
  WORKERS_MISSING: 'processes',
  WEBHOOKS_LATE: 'waiting',
  DELIVERIES_FAILING: 'waiting',
  SWEEPER_STOPPED: 'storage',
  GUESSING: 'sign-ins',
  SIGN_INS_REFUSED: 'sign-ins',
}

/** Whether another instance raised the alarm. Its subject names that instance. */
const isElsewhere = ({ kind, subject }: Finding) =>
  subject !== '' && !['JOBS_LATE', 'JOBS_GIVEN_UP', 'DRIVE_FULL', 'INSTANCE_SILENT'].includes(kind)

function Place({ kind, subject }: Finding) {
  const place = places[kind]
  const part = parts[kind]
  // Other job queues have no screen of their own.
  if (place && (!kind.startsWith('JOBS') || subject === 'mail'))
    return <Link to={place.to}>{place.label}</Link>
  return part ? <a href={`#${part}`}>{text('toFigures')}</a> : null
}

/** Problems that an operator should know about, most severe first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0)
    return (
      <p className="status-well">
        <CircleCheck aria-hidden /> {text('allWell')}
      </p>
    )
  return (
    <ul className="rows status-findings" aria-label={text('findings')}>
      {findings.map(finding => {
        const { icon: Icon, name } = severities[finding.severity]
        return (
          <li key={`${finding.kind} ${finding.subject}`} className={name}>
            <Icon aria-hidden />
            <div className="grow">
              <p>
                <strong>{text(name)}</strong> <span dir="auto">{said[finding.kind](finding)}</span>
                {isElsewhere(finding) && <bdi> ({finding.subject})</bdi>}
              </p>
              <p className="sub">
                <Place {...finding} />
              </p>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
