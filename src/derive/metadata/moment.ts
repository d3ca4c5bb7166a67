/** A time on the clock of a camera. */
export interface Moment {
  /** The clock's time in milliseconds since 1970, as if it were UTC. */
  clock: number
  /** The offset of the clock from UTC in minutes, if it is recorded. */
  zoneMinutes: number | undefined
}

/** The year of the first photograph. */
const FIRST_YEAR = 1826
/** A camera in the easternmost zone is ahead of UTC, and clocks are not exact. */
const AHEAD_MS = 24 * 3_600_000

/**
 * The spellings of cameras and editors: colons, dashes, slashes or dots, a space or `T`, a
 * fraction of a second, a zone.
 */
const SPELLING =
  /^(\d{4})([:\-/.])(\d{1,2})\2(\d{1,2})(?:(?:[ \t]+|[T_:])(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?[ \t]*(Z|[+-]\d{2}:?\d{2})?)?$/

/** Parses an offset from UTC, such as +02:00, into minutes. */
export function zoneOf(given: unknown): number | undefined {
  if (typeof given !== 'string') return undefined
  const text = given.trim()
  if (text === 'Z') return 0
  const [, sign, hours = '', minutes = ''] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? []
  const value = Number(hours) * 60 + Number(minutes)
  if (!sign || Number(minutes) > 59 || value > 14 * 60) return undefined
  return sign === '-' && value > 0 ? -value : value
}

/**
 * Parses a date strictly: no month 13, no 30 February, no year before photography, and none in the
 * future.
 * @param fraction the digits of the fraction of the second, if they are apart
 * @param zone the zone, if it is apart
 */
export function momentOf(
  given: unknown,
  { fraction, zone, now = Date.now() }: { fraction?: unknown; zone?: unknown; now?: number } = {},
): Moment | undefined {
  if (typeof given !== 'string') return undefined
  const text = given.replace(/[\s\p{Cc}]+$/u, '').trimStart()
  const found = SPELLING.exec(text)
  if (!found) return undefined
  const [, years, , months, days, hours, minutes, seconds, parts, zoned] = found
  const [year, month, day] = [Number(years), Number(months), Number(days)]
  const [hour, minute, second] = [hours, minutes, seconds].map(part => Number(part ?? 0))
  if (hour === undefined || minute === undefined || second === undefined) return undefined
  const digits = parts ?? (typeof fraction === 'string' ? fraction.trim() : '')
  const ms = /^\d{1,9}$/.test(digits) ? Number(digits.padEnd(3, '0').slice(0, 3)) : 0
  const clock = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  const date = new Date(clock)
  // Date.UTC accepts overflowing parts and moves them on.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  if (year < FIRST_YEAR || hour > 23 || minute > 59 || second > 59) return undefined
  const zoneMinutes = zoneOf(zoned) ?? zoneOf(zone)
  if (clock - (zoneMinutes ?? 0) * 60_000 > now + AHEAD_MS) return undefined
  return { clock, zoneMinutes }
}
