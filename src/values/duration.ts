import { AppError } from '../runtime/errors.ts'

const second = 1000
const minute = 60 * second
export const HOUR_MS = 60 * minute
export const DAY_MS = 24 * HOUR_MS

const units = new Map([
  ['s', second],
  ['m', minute],
  ['h', HOUR_MS],
  ['d', DAY_MS],
  ['w', 7 * DAY_MS],
  ['mo', 30 * DAY_MS],
  ['y', 365 * DAY_MS],
])
const pattern = new RegExp(`^([0-9]{1,9})(${[...units.keys()].join('|')})$`)

/**
 * Parses a duration: a whole number and a unit (`s m h d w mo y`, with `mo` 30 days and `y` 365
 * days), such as `7d`.
 * @param field the input that the error names
 * @returns milliseconds, from 1 minute to 5 years
 * @throws AppError INVALID_DURATION
 */
export function parseDuration(text: string, field = 'duration'): number {
  const [, amount = '', unit = ''] = pattern.exec(text) ?? []
  const milliseconds = Number(amount) * (units.get(unit) ?? Number.NaN)
  if (milliseconds >= minute && milliseconds <= 5 * 365 * DAY_MS) return milliseconds
  throw invalidDuration(field)
}

export const invalidDuration = (field: string) =>
  new AppError(
    'INVALID_DURATION',
    'Give a duration as a whole number and a unit (s, m, h, d, w, mo or y) without a space, from 1m to 5y, such as 7d.',
    { field },
  )
