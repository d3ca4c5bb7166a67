import { formatMoment, timeOfDay } from './format.ts'
import { locale } from './language.ts'

const toTheSecond = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })

/** Date and time with seconds. */
export const formatToTheSecond = (iso: string): string => toTheSecond.format(new Date(iso))

/** Timestamps, as short as possible while they still differ. */
export function formatMoments(isos: readonly string[]): string[] {
  const brief = isos.map(formatMoment)
  const isTwice = (at: number) =>
    brief.indexOf(brief[at] ?? '') !== brief.lastIndexOf(brief[at] ?? '')
  const exact = isos.map((iso, at) =>
    isTwice(at) ? toTheSecond.format(new Date(iso)) : (brief[at] ?? ''),
  )
  return exact.map((text, at) => {
    const before = exact.slice(0, at).filter(other => other === text).length
    return before ? `${text} (${before + 1})` : text
  })
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** A relative time: `in 3 days`. */
export function formatRelative(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, length] = steps.find(([, least]) => Math.abs(seconds) >= least) ?? ['minute', 60]
  return relative.format(Math.round(seconds / length), unit)
}

const day = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })
const dayOfOtherYear = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })

/** The day in everyday words: `today`, `Monday, 3 May`. */
export function formatDay(iso: string): string {
  const at = new Date(iso)
  const now = new Date()
  const daysAgo = Math.round(
    (new Date(now).setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000,
  )
  if (daysAgo < 2) return relative.format(-daysAgo, 'day')
  return (at.getFullYear() === now.getFullYear() ? day : dayOfOtherYear).format(at)
}

export const formatTime = (iso: string): string => timeOfDay.format(new Date(iso))

const durations = new Map<string, Intl.NumberFormat>()

function durationFormat(unit: 'second' | 'minute' | 'hour' | 'day'): Intl.NumberFormat {
  const format =
    durations.get(unit) ??
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'narrow' })
  durations.set(unit, format)
  return format
}

/** A rough duration: `45s`, `12m`, `3h`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return durationFormat('second').format(Math.ceil(seconds))
  if (seconds < 5400) return durationFormat('minute').format(Math.ceil(seconds / 60))
  if (seconds < 129_600) return durationFormat('hour').format(Math.ceil(seconds / 3600))
  return durationFormat('day').format(Math.ceil(seconds / 86_400))
}
