import { type CSSProperties, useState } from 'react'
import { clockTime, type Format } from './formats.ts'
import { text } from './text.ts'

export interface Line {
  label: string
  values: readonly (number | null)[]
}

/** Lines differ in colour and pattern, so that nobody has to rely on colour. */
const looks = [
  { tone: '--accent', dash: undefined },
  { tone: '--audio', dash: '7 3' },
  { tone: '--wrong', dash: '2 3' },
  { tone: '--image', dash: '9 3 2 3' },
] as const

const WIDTH = 600
const HEIGHT = 120

interface ChartProps {
  title: string
  lines: readonly Line[]
  format: Format
  /** Start of the first interval, in milliseconds since 1970. */
  from: number
  stepSeconds: number
}

/** The top of the scale: 1, 2 or 5 times a power of ten. */
function topOf(most: number): number {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return power * ([1, 2, 5, 10].find(step => most <= step * power) ?? 10)
}

/** A line with gaps for missing values. An isolated value becomes a short line. */
function pathOf(values: Line['values'], top: number): string {
  const x = (at: number) => ((at / Math.max(values.length - 1, 1)) * WIDTH).toFixed(1)
  const y = (value: number) => (HEIGHT - (value / top) * HEIGHT).toFixed(1)
  return values
    .map((value, at) => {
      if (value === null) return ''
      const before = values[at - 1]
      const isFirst = before === null || before === undefined
      return `${isFirst ? `M${x(at)} ${y(value)}h0.01` : ''}L${x(at)} ${y(value)}`
    })
    .join('')
}

const known = (values: Line['values']) => values.filter(value => value !== null)

/** The area under a single line, closed at each gap. */
function areaOf(values: Line['values'], top: number): string {
  const step = WIDTH / Math.max(values.length - 1, 1)
  let path = ''
  for (let at = 0; at < values.length; at++) {
    if (values[at] === null) continue
    const first = at
    while (at + 1 < values.length && values[at + 1] !== null) at++
    const points = values.slice(first, at + 1).map((value, i) => {
      const y = HEIGHT - ((value ?? 0) / top) * HEIGHT
      return `L${((first + i) * step).toFixed(1)} ${y.toFixed(1)}`
    })
    path += `M${(first * step).toFixed(1)} ${HEIGHT}${points.join('')}L${(at * step).toFixed(1)} ${HEIGHT}Z`
  }
  return path
}

/**
 * A time series chart. A slider exposes the values to keyboard, touch and screen readers. The
 * caption shows the current and the highest value.
 */
export function Chart({ title, lines, format, from, stepSeconds }: ChartProps) {
  const length = Math.max(...lines.map(({ values }) => values.length), 1)
  const [chosen, setChosen] = useState<number | null>(null)
  const all = lines.flatMap(({ values }) => known(values))
  const top = topOf(Math.max(0, ...all))
  const at = Math.min(chosen ?? length - 1, length - 1)
  const timeOf = (step: number) => clockTime(from + (step + 0.5) * stepSeconds * 1000)
  const shownAt = ({ values }: Line, step: number) => {
    const value = values[step]
    return value === null || value === undefined ? text('unknown') : format(value)
  }
  const lastOf = ({ values }: Line) => {
    const value = known(values).at(-1)
    return value === undefined ? text('unknown') : format(value)
  }
  const spoken = `${timeOf(at)}. ${lines.map(line => `${line.label}: ${shownAt(line, at)}`).join('. ')}`
  return (
    <figure className="status-chart">
      <figcaption>
        <h3>{title}</h3>
        {all.length > 0 && (
          <span className="soft">{text('most', { value: format(Math.max(...all)) })}</span>
        )}
      </figcaption>
      {all.length === 0 ? (
        <p className="soft">{text('nothingYet')}</p>
      ) : (
        <>
          <div className="plot">
            <span className="scale soft" aria-hidden>
              {format(top)}
            </span>
            <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
              {[0.25, 0.5, 0.75].map(part => (
                <line
                  key={part}
                  className="grid"
                  x1="0"
                  x2={WIDTH}
                  y1={HEIGHT * part}
                  y2={HEIGHT * part}
                />
              ))}
              {lines.length === 1 && (
                <path className="area" d={areaOf(lines[0]?.values ?? [], top)} />
              )}
              {lines.map(({ label, values }, i) => {
                const { tone, dash } = looks[i] ?? looks[0]
                return (
                  <path
                    key={label}
                    className="line"
                    d={pathOf(values, top)}
                    strokeDasharray={dash}
                    style={{ stroke: `var(${tone})` }}
                  />
                )
              })}
              {chosen !== null && (
                <line
                  className="cursor"
                  x1={(at / Math.max(length - 1, 1)) * WIDTH}
                  x2={(at / Math.max(length - 1, 1)) * WIDTH}
                  y1="0"
                  y2={HEIGHT}
                />
              )}
            </svg>
            <input
              type="range"
              min={0}
              max={length - 1}
              value={at}
              aria-label={title}
              aria-valuetext={spoken}
              onChange={event => setChosen(event.currentTarget.valueAsNumber)}
              onBlur={() => setChosen(null)}
            />
          </div>
          <div className="times soft" aria-hidden>
            <span>{clockTime(from)}</span>
            <span>{chosen === null ? '' : timeOf(at)}</span>
            <span>{clockTime(from + length * stepSeconds * 1000)}</span>
          </div>
          <ul className="legend">
            {lines.map((line, i) => {
              const { tone, dash } = looks[i] ?? looks[0]
              return (
                <li key={line.label}>
                  <svg
                    viewBox="0 0 24 4"
                    aria-hidden="true"
                    style={{ '--tone': `var(${tone})` } as CSSProperties}
                  >
                    <line x1="0" x2="24" y1="2" y2="2" strokeDasharray={dash} />
                  </svg>
                  {line.label} <strong>{chosen === null ? lastOf(line) : shownAt(line, at)}</strong>
                </li>
              )
            })}
          </ul>
        </>
      )}
    </figure>
  )
}
