import { locale } from './language.ts'

const inBytes = new Intl.NumberFormat(locale, { style: 'unit', unit: 'byte', unitDisplay: 'long' })
const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/**
 * A size in binary units, like the limits, the other pages and the command line: `1.46 MiB`. Intl
 * has no binary units.
 */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return inBytes.format(bytes)
  let value = bytes / 1024
  let step = 0
  // Values from 999.5 would round to four digits.
  while (value >= 999.5 && step < units.length - 1) {
    value /= 1024
    step++
  }
  return `${threeDigits.format(value)}\u00a0${units[step]}`
}

const count = new Intl.NumberFormat(locale)
export const formatNumber = (value: number): string => count.format(value)

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
/** @param share between 0 and 1 */
export const formatPercent = (share: number): string => percent.format(share)

const sameYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
/** The usual notation of the locale: `09:05`, `9:05 AM`. `hour: 'numeric'` would give `9:05`. */
export const timeOfDay = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

/** A short timestamp: the time for today, the day for this year, else the date. */
export function formatMoment(iso: string): string {
  const at = new Date(iso)
  const now = new Date()
  if (at.toDateString() === now.toDateString()) return timeOfDay.format(at)
  return (at.getFullYear() === now.getFullYear() ? sameYear : otherYear).format(at)
}

/** Day and month. */
export const formatDay = (iso: string): string => sameYear.format(new Date(iso))

/** Date and time. */
export const formatExact = (iso: string): string => exact.format(new Date(iso))
