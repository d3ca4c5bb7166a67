/** How long a share may live, as the service reads it, and the message that names it. */
export const durations = [
  ['1h', 'hour'],
  ['1d', 'day'],
  ['7d', 'week'],
  ['30d', 'month'],
  ['1y', 'year'],
  ['never', 'never'],
] as const

const DAY = 86_400_000

/** Today, or a day after it, as a date field wants it. */
export function dayAfter(days: number): string {
  const day = new Date(Date.now() + days * DAY)
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map(part => String(part).padStart(2, '0'))
    .join('-')
}

/** The time until a day has ended here, as the service reads it. @param day such as 2026-01-31 */
export function untilEndOf(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const end = new Date(year, month - 1, date + 1)
  return `${Math.max(1, Math.floor((end.getTime() - Date.now()) / 60_000))}m`
}
