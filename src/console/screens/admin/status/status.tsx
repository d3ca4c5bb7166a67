import './status.css'
import { useEffect, useState } from 'react'
import { useKeptQuery } from '../../../graphql/kept.ts'
import { useSeen } from '../../../graphql/seen.ts'
import { formatExact } from '../../../i18n/format.ts'
import { Choices } from '../../../parts/choices.tsx'
import { Section } from '../../../parts/screen.tsx'
import { Skeleton } from '../../../parts/states.tsx'
import { AdminScreen } from '../admin-screen.tsx'
import { Chart } from './chart.tsx'
import { Errors, Jobs, Processes, Storage } from './details.tsx'
import { HEALTH, type Health, type Name } from './documents.ts'
import { Findings } from './findings.tsx'
import { byteRate, bytes, type Format, number, rate, time } from './formats.ts'
import { text } from './text.ts'
import { WorkTable } from './work-table.tsx'

const POLL_MS = 15_000

interface Picture {
  title: string
  format: Format
  lines: { name: Name; label: string }[]
}

const line = (name: Name, label: string) => ({ name, label })

/** The charts of each section. */
const pictures = {
  requests: [
    {
      title: text('requests'),
      format: rate,
      lines: [
        ...[line('ANSWERED', text('answered')), line('REFUSED', text('refusedRequests'))],
        ...[line('FAILED', text('failed')), line('CUT', text('cut'))],
      ],
    },
    ...(['P50', 'P95', 'P99'] as const).map(part => ({
      title: text(part),
      format: time,
      lines: [
        ...[line(`REST_${part}`, text('rest')), line(`GRAPH_${part}`, text('graph'))],
        ...[line(`PAGES_${part}`, text('pages')), line(`CONTENT_${part}`, text('content'))],
      ],
    })),
    {
      title: text('traffic'),
      format: byteRate,
      lines: [line('SENT_BYTES', text('sent')), line('RECEIVED_BYTES', text('received'))],
    },
    {
      title: text('underWay'),
      format: number,
      lines: [
        line('RUNNING_REQUESTS', text('runningRequests')),
        line('RUNNING_UPLOADS', text('runningUploads')),
      ],
    },
  ],
  database: [
    {
      title: text('statementRate'),
      format: rate,
      lines: [line('STATEMENTS', text('statements')), line('FAILED_STATEMENTS', text('failed'))],
    },
    {
      title: text('statementTime'),
      format: time,
      lines: [
        line('STATEMENTS_P50', text('P50')),
        line('STATEMENTS_P95', text('P95')),
        line('STATEMENTS_P99', text('P99')),
      ],
    },
    {
      title: text('connections'),
      format: number,
      lines: [
        ...[
          line('BUSY_CONNECTIONS', text('busy')),
          line('WAITING_STATEMENTS', text('waitingStatements')),
        ],
        line('CONNECTION_LIMIT', text('limit')),
      ],
    },
    { title: text('databaseUp'), format: number, lines: [line('DATABASE_UP', text('answers'))] },
  ],
  store: [
    {
      title: text('storeRate'),
      format: rate,
      lines: [line('STORE_CALLS', text('calls')), line('FAILED_STORE_CALLS', text('failed'))],
    },
    {
      title: text('storeTime'),
      format: time,
      lines: [
        line('STORE_P50', text('P50')),
        line('STORE_P95', text('P95')),
        line('STORE_P99', text('P99')),
      ],
    },
    { title: text('storeUp'), format: number, lines: [line('STORE_UP', text('answers'))] },
  ],
  processes: [
    {
      title: text('processor'),
      format: number,
      lines: [line('PROCESSOR_SECONDS', text('processorsUsed'))],
    },
    { title: text('memory'), format: bytes, lines: [line('MEMORY_BYTES', text('memory'))] },
    { title: text('eventLoop'), format: time, lines: [line('EVENT_LOOP_SECONDS', text('late'))] },
  ],
  waiting: [
    {
      title: text('dueJobs'),
      format: number,
      lines: [line('DUE_JOBS', text('dueJobs')), line('GIVEN_UP_JOBS', text('givenUp'))],
    },
    {
      title: text('mails'),
      format: rate,
      lines: [line('SENT_MAILS', text('sent')), line('FAILED_MAILS', text('failed'))],
    },
    {
      title: text('deliveries'),
      format: rate,
      lines: [line('DELIVERIES', text('delivered')), line('FAILED_DELIVERIES', text('failed'))],
    },
  ],
  signIns: [
    {
      title: text('signIns'),
      format: rate,
      lines: [
        ...[line('SIGN_INS', text('signedIn')), line('WRONG_PASSWORDS', text('wrongPasswords'))],
        ...[
          line('REFUSED_SIGN_INS', text('refusedSignIns')),
          line('REFUSED_PASSWORDS', text('refusedPasswords')),
        ],
      ],
    },
  ],
  storage: [
    {
      title: text('stored'),
      format: bytes,
      lines: [line('USED_BYTES', text('files')), line('KEPT_BYTES', text('kept'))],
    },
    { title: text('free'), format: bytes, lines: [line('FREE_BYTES', text('free'))] },
  ],
} satisfies Record<string, Picture[]>

const names = [
  ...new Set(
    Object.values(pictures).flatMap(part =>
      part.flatMap(({ lines }) => lines.map(({ name }) => name)),
    ),
  ),
]

const ranges = { HOUR: text('hour'), QUARTER: text('quarter'), DAY: text('day') }

/** The status of the service: what is slow, full, failing or waiting. */
export function Status() {
  const [range, setRange] = useState<keyof typeof ranges>('HOUR')
  const [{ data, error }, reload] = useKeptQuery({
    query: HEALTH,
    variables: { range, names },
    requestPolicy: 'cache-and-network',
  })
  const refresh = () => reload({ requestPolicy: 'network-only' })
  const isSeen = useSeen(refresh)
  useEffect(() => {
    if (!isSeen) return
    const timer = setInterval(() => reload({ requestPolicy: 'network-only' }), POLL_MS)
    return () => clearInterval(timer)
  }, [isSeen, reload])
  const health = data?.operator.serviceHealth
  return (
    <AdminScreen error={health ? undefined : error} retry={refresh}>
      {!health ? (
        <Skeleton />
      ) : (
        <>
          <Section title={text('findings')} hint={whose(health)}>
            <Findings findings={health.findings} />
            <Choices label={text('range')} value={range} options={ranges} onChoose={setRange} />
          </Section>
          <Parts health={health} />
        </>
      )}
    </AdminScreen>
  )
}

/** Names the instances that the figures cover, and their start. */
function whose({ instance, instances, firstRecordedAt }: Health): string {
  const since = firstRecordedAt
    ? text('since', { when: formatExact(firstRecordedAt) })
    : text('noFigures')
  const others = instances.filter(({ name }) => name !== instance).length
  return others > 0 ? `${text('oneOf', { instance, count: others + 1 })} ${since}` : since
}

function Parts({ health }: { health: Health }) {
  const charts = (part: keyof typeof pictures) => (
    <div className="status-charts">
      {pictures[part].map(({ title, format, lines }: Picture) => (
        <Chart
          key={title}
          title={title}
          format={format}
          from={Date.parse(health.startsAt)}
          stepSeconds={health.stepSeconds}
          lines={lines.map(({ name, label }) => ({
            label,
            values: health.series.find(series => series.name === name)?.values ?? [],
          }))}
        />
      ))}
    </div>
  )
  return (
    <>
      <div id="requests">
        <Section title={text('requests')}>
          {charts('requests')}
          <WorkTable title={text('slowRoutes')} rows={health.routes} />
          <WorkTable title={text('slowFields')} rows={health.fields} />
        </Section>
      </div>
      <div id="errors">
        <Errors health={health} />
      </div>
      <div id="database">
        <Section title={text('database')}>
          {charts('database')}
          <WorkTable title={text('slowStatements')} rows={health.statements} fails={false} />
        </Section>
      </div>
      <div id="store">
        <Section title={text('store')}>
          {charts('store')}
          <WorkTable title={text('slowCalls')} rows={health.storeCalls} />
        </Section>
      </div>
      <div id="processes">
        <Section title={text('processes')}>
          {charts('processes')}
          <Processes health={health} />
        </Section>
      </div>
      <div id="waiting">
        <Section title={text('waiting')}>
          {charts('waiting')}
          <Jobs health={health} />
        </Section>
      </div>
      <div id="sign-ins">
        <Section title={text('signIns')}>{charts('signIns')}</Section>
      </div>
      <div id="storage">
        <Section title={text('storage')}>
          {charts('storage')}
          <Storage health={health} />
        </Section>
      </div>
    </>
  )
}
