import { Link } from '@tanstack/react-router'
import { formatBytes, formatExact, formatNumber, formatPercent } from '../../../i18n/format.ts'
import { Figures } from '../../../parts/figures.tsx'
import { personName } from '../../../parts/person-name.ts'
import { Section } from '../../../parts/screen.tsx'
import type { Health } from './documents.ts'
import { time } from './formats.ts'
import { text } from './text.ts'

/** Errors of responses, and unexpected errors. */
export const Errors = ({ health: { errorCounts, unexpectedErrors } }: { health: Health }) => (
  <Section title={text('errorsTitle')} hint={text('errorsHint')}>
    {errorCounts.length === 0 && <p className="soft">{text('noErrors')}</p>}
    {errorCounts.length > 0 && (
      <Figures of={errorCounts.map(({ code, count }) => [code, formatNumber(count)] as const)} />
    )}
    {unexpectedErrors.length > 0 && (
      <table className="status-table">
        <caption>{text('unexpected')}</caption>
        <thead>
          <tr>
            <th scope="col">{text('requestId')}</th>
            <th scope="col">{text('when')}</th>
            <th scope="col">{text('route')}</th>
            <th scope="col">{text('cause')}</th>
          </tr>
        </thead>
        <tbody>
          {unexpectedErrors.map(({ happenedAt, requestId, route, code, cause }) => (
            <tr key={`${requestId} ${happenedAt}`}>
              <th scope="row">
                <code dir="ltr">{requestId}</code>
              </th>
              <td>{formatExact(happenedAt)}</td>
              <td dir="ltr">{route}</td>
              <td dir="ltr">
                {code} {cause}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Section>
)

/** The processes of the instance. */
export const Processes = ({ health: { workers } }: { health: Health }) =>
  workers.length > 0 && (
    <table className="status-table">
      <caption>{text('processes')}</caption>
      <thead>
        <tr>
          <th scope="col">{text('process')}</th>
          <th scope="col">{text('processor')}</th>
          <th scope="col">{text('memory')}</th>
          <th scope="col">{text('eventLoop')}</th>
        </tr>
      </thead>
      <tbody>
        {workers.map(({ pid, processor, memoryBytes, eventLoopSeconds }, at) => (
          <tr key={`${pid} ${String(at)}`}>
            <th scope="row">{pid}</th>
            <td>{formatPercent(processor)}</td>
            <td>{formatBytes(memoryBytes)}</td>
            <td>{time(eventLoopSeconds)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )

/** Job queues by kind. */
export const Jobs = ({ health: { jobQueues } }: { health: Health }) =>
  jobQueues.length > 0 && (
    <table className="status-table">
      <caption>{text('jobs')}</caption>
      <thead>
        <tr>
          <th scope="col">{text('kind')}</th>
          <th scope="col">{text('waiting')}</th>
          <th scope="col">{text('retrying')}</th>
          <th scope="col">{text('givenUp')}</th>
          <th scope="col">{text('oldest')}</th>
        </tr>
      </thead>
      <tbody>
        {jobQueues.map(({ kind, waiting, retrying, givenUp, oldestAt }) => (
          <tr key={kind}>
            <th scope="row">{kind}</th>
            <td>{formatNumber(waiting)}</td>
            <td>{formatNumber(retrying)}</td>
            <td>{formatNumber(givenUp)}</td>
            <td>{oldestAt ? formatExact(oldestAt) : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )

/** Free space, and when it will run out. */
export function Storage({ health }: { health: Health }) {
  const { fullestDrives, forecast, lastBackupAt, lastSweepAt, freeBytes, volumeBytes } = health
  const free = freeBytes !== null && volumeBytes !== null
  const days =
    forecast && text('forecast', { count: forecast.days, bytes: formatBytes(forecast.bytesPerDay) })
  return (
    <>
      <Figures
        of={[
          ...(free
            ? [
                [
                  text('free'),
                  text('freeOf', { free: formatBytes(freeBytes), all: formatBytes(volumeBytes) }),
                ] as const,
              ]
            : []),
          ...(days ? [[text('fullIn'), days] as const] : []),
          [text('lastBackup'), lastBackupAt ? formatExact(lastBackupAt) : text('never')],
          ...(lastSweepAt ? [[text('lastSweep'), formatExact(lastSweepAt)] as const] : []),
        ]}
      />
      {fullestDrives.length > 0 && (
        <table className="status-table">
          <caption>{text('fullest')}</caption>
          <thead>
            <tr>
              <th scope="col">{text('drive')}</th>
              <th scope="col">{text('used')}</th>
              <th scope="col">{text('limit')}</th>
              <th scope="col">{text('share')}</th>
            </tr>
          </thead>
          <tbody>
            {fullestDrives.map(({ account, workspaceName, usedBytes, maxBytes }) => (
              <tr key={`${account.id} ${workspaceName}`}>
                <th scope="row">
                  {workspaceName !== null && <bdi>{workspaceName} · </bdi>}
                  <Link to="/admin/accounts/$id" params={{ id: account.id }}>
                    <bdi>{personName(account)}</bdi>
                  </Link>
                </th>
                <td>{formatBytes(usedBytes)}</td>
                <td>{formatBytes(maxBytes)}</td>
                <td>{formatPercent(maxBytes > 0 ? usedBytes / maxBytes : 1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
