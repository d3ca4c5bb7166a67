import prettyBytes from 'pretty-bytes'
import widthOf from 'string-width'
import { plain } from './text.ts'

/** Aligns columns. Supports characters that are two columns wide. */
export function table(head: string[], rows: string[][]): string {
  const lines = [...(head.length > 0 ? [head] : []), ...rows].map(row => row.map(plain))
  const widths: number[] = []
  const cells = lines.map(line =>
    line.map((text, i) => {
      const width = widthOf(text)
      widths[i] = Math.max(widths[i] ?? 0, width)
      return { text, width }
    }),
  )
  const pad = ({ text, width }: { text: string; width: number }, i: number) =>
    text + ' '.repeat((widths[i] ?? width) - width)
  return cells.map(line => line.map(pad).join('  ').trimEnd()).join('\n')
}

/**
 * A table whose last column is a link. If the terminal is too narrow, each link goes on its own
 * line, because a wrapped link cannot be copied.
 */
export function linkTable(
  head: string[],
  rows: string[][],
  columns = process.stdout.columns,
): string {
  const whole = table(head, rows)
  if (!columns || whole.split('\n').every(line => widthOf(line) <= columns)) return whole
  const [first = '', ...lines] = table(
    head.slice(0, -1),
    rows.map(row => row.slice(0, -1)),
  ).split('\n')
  return [first, ...lines.flatMap((line, i) => [line, `  ${plain(rows[i]?.at(-1) ?? '')}`])].join(
    '\n',
  )
}

/** 1536 becomes 1.5 KiB. */
export const bytes = (count: number): string => prettyBytes(count, { binary: true })

/** A local time, to the minute. */
export function when(time: string): string {
  const at = new Date(time)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** When a link expires, or `never`. */
export const until = (time: string | null): string => (time === null ? 'never' : when(time))

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
