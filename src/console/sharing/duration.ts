/** Lifetimes of a share as ISO 8601 durations, with their message keys. */
export const durations = [
  ['1h', 'hour'],
  ['1d', 'day'],
  ['7d', 'week'],
  ['30d', 'month'],
  ['1y', 'year'],
  ['never', 'never'],
] as const

const DAY = 86_400_000

/** Today plus some days, in the format of a date field. */
export function dayAfter(days: number): string {
  const day = new Date(Date.now() + days * DAY)
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map(part => String(part).padStart(2, '0'))
    .join('-')
}

/**
 * The duration until the end of a day in local time.
 *
 * @param day in the form 2026-01-31
 */
export function untilEndOf(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const end = new Date(year, month - 1, date + 1)
  return `${Math.max(1, Math.floor((end.getTime() - Date.now()) / 60_000))}m`
}
