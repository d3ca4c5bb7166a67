import { formatNumber, formatPercent } from '../../../i18n/format.ts'
import type { Health } from './documents.ts'
import { time } from './formats.ts'
import { text } from './text.ts'

interface WorkTableProps {
  title: string
  rows: Health['routes']
  /** Whether failures are counted. */
  fails?: boolean
}

/** Durations in the last hour, slowest first. */
export const WorkTable = ({ title, rows, fails = true }: WorkTableProps) =>
  rows.length > 0 && (
    <table className="status-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{text('name')}</th>
          <th scope="col">{text('count')}</th>
          {fails && <th scope="col">{text('failed')}</th>}
          <th scope="col">{text('p95')}</th>
          <th scope="col">{text('share')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, count, failed, p95, share }) => (
          <tr key={name}>
            <th scope="row">
              <code dir="ltr">{name}</code>
            </th>
            <td>{formatNumber(count)}</td>
            {fails && <td>{formatNumber(failed)}</td>}
            <td>{time(p95)}</td>
            <td>{formatPercent(share)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
