import { formatDay } from '../i18n/format.ts'
import { text } from './text.ts'

interface Day {
  startsAt: string
  openCount: number
  downloadCount: number
}

/** A bar chart of views and downloads per day. Renders nothing if there were none. */
export function UseChart({ days }: { days: readonly Day[] }) {
  const most = Math.max(...days.map(({ openCount, downloadCount }) => openCount + downloadCount))
  const [first, last] = [days[0], days.at(-1)]
  if (!first || !last || most === 0) return null
  const sums = (day: Day) =>
    text('useSums', { opened: day.openCount, downloaded: day.downloadCount })
  const height = (count: number) => ({ blockSize: `${(count / most) * 100}%` })
  const used = days.filter(({ openCount, downloadCount }) => openCount + downloadCount > 0)
  return (
    <figure className="use-chart">
      <div
        role="img"
        aria-label={`${text('lastDays', { count: days.length })} ${used.map(day => `${formatDay(day.startsAt)}: ${sums(day)}`).join(' ')}`}
      >
        {days.map(day => (
          <div key={day.startsAt} title={`${formatDay(day.startsAt)}: ${sums(day)}`}>
            <div className="downloaded" style={height(day.downloadCount)} />
            <div className="opened" style={height(day.openCount)} />
          </div>
        ))}
      </div>
      <figcaption className="soft">
        <span>{formatDay(first.startsAt)}</span>
        <span className="opened">{text('opened')}</span>
        <span className="downloaded">{text('downloaded')}</span>
        <span>{formatDay(last.startsAt)}</span>
      </figcaption>
    </figure>
  )
}
