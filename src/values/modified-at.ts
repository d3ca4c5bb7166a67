import { InvalidInput } from '../runtime/errors.ts'
import { modifiedAtOf } from '../upload-engine/modified-at.ts'

/**
 * Validates a file time from a client.
 * @throws INVALID_INPUT for an invalid file time
 */
export function requireModifiedAt(ms: number | null | undefined): number | null {
  if (ms === null || ms === undefined) return null
  const time = modifiedAtOf(ms)
  if (time !== undefined) return time
  throw new InvalidInput(
    'modified_at',
    'The time of a file is an RFC 3339 time of the years 1900 to 2199.',
  )
}

/** Converts an RFC 3339 time into milliseconds since 1970; NaN if it is invalid. */
export const fromRfc3339 = (value: unknown): number =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN

const SECONDS = /^(-?)(\d{1,11})(?:\.(\d+))?$/

/**
 * Parses seconds since 1970, possibly with a fraction. Parses the digits as text, because 0.123 s
 * times 1000 need not be 123 ms.
 */
export function fromSeconds(text: string): number | undefined {
  const [, sign, seconds, fraction = ''] = SECONDS.exec(text.trim()) ?? []
  if (seconds === undefined) return undefined
  const ms = Number(seconds) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  return modifiedAtOf(sign ? -ms : ms)
}

/** The date format of HTTP (RFC 9110, section 5.6.7), and that of RFC 3339. */
const DATE =
  /^(?:\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d GMT|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/

/** Parses a date, or seconds since 1970. */
export function fromDate(text: string): number | undefined {
  const trimmed = text.trim()
  return DATE.test(trimmed) ? modifiedAtOf(Date.parse(trimmed)) : fromSeconds(trimmed)
}
