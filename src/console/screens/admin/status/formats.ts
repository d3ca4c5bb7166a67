import { formatBytes } from '../../../i18n/format.ts'
import { locale } from '../../../i18n/language.ts'
import { text } from './text.ts'

const brief = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
const milliseconds = new Intl.NumberFormat(locale, {
  style: 'unit',
  unit: 'millisecond',
  unitDisplay: 'narrow',
  maximumSignificantDigits: 3,
})
const seconds = new Intl.NumberFormat(locale, {
  style: 'unit',
  unit: 'second',
  unitDisplay: 'narrow',
  maximumSignificantDigits: 3,
})
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const spans = (['day', 'hour', 'minute', 'second'] as const).map(unit => ({
  length: { day: 86_400, hour: 3600, minute: 60, second: 1 }[unit],
  format: new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  }),
}))

export type Format = (value: number) => string

export const number: Format = value => brief.format(value)
export const rate: Format = value => text('perSecond', { value: brief.format(value) })
export const bytes: Format = formatBytes
export const byteRate: Format = value =>
  text('perSecond', { value: formatBytes(Math.round(value)) })
/** The duration of a request. */
export const time: Format = value =>
  value < 1 ? milliseconds.format(value * 1000) : seconds.format(value)
export const clockTime = (at: number): string => clock.format(at)

/** A waiting time: `2 hours`. */
export function span(value: number): string {
  const found = spans.find(({ length }) => value >= 2 * length) ?? spans[3]
  return found ? found.format.format(Math.round(value / found.length)) : ''
}
