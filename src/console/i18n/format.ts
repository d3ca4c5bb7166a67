import { locale } from './language.ts'

const inBytes = new Intl.NumberFormat(locale, { style: 'unit', unit: 'byte', unitDisplay: 'long' })
const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/**
 * A size in steps of 1024, as limits are set and other pages and the command show them: `1.46 MiB`.
 * Intl has no such units.
 */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return inBytes.format(bytes)
  let value = bytes / 1024
  let step = 0
  // Four digits would be rounded.
  while (value >= 999.5 && step < units.length - 1) {
    value /= 1024
    step++
  }
  return `${threeDigits.format(value)}\u00a0${units[step]}`
}

const count = new Intl.NumberFormat(locale)
export const formatNumber = (value: number): string => count.format(value)

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
/** @param share from 0 to 1 */
export const formatPercent = (share: number): string => percent.format(share)

const sameYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
export const timeOfDay = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' })
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

/**
 * A moment as briefly as it is clear: the time of today, the day of this year, the date of others.
 */
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
