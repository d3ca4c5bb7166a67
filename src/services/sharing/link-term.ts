import { InvalidInput } from '../../runtime/errors.ts'
import { parseDuration } from '../../values/duration.ts'
import { figure } from '../../values/limits.ts'

/** Replaces a duration: the link never expires. */
const FOREVER = 'never'

/**
 * The expiry of a link that is created or renewed now. Null if it never expires.
 * @throws INVALID_DURATION
 */
export const parseExpiry = (duration: string, now: number): number | null =>
  duration === FOREVER ? null : now + parseDuration(duration, 'duration')

/**
 * Parses a limit of a link. Null removes the limit; undefined leaves it unchanged.
 * @throws INVALID_INPUT
 */
export function parseBound<T extends number | null | undefined>(
  value: T,
  field: string,
  max: number,
): T {
  if (typeof value === 'number' && (value < 1 || value > max))
    throw new InvalidInput(field, `"${field}" must be a number from 1 to ${figure(max)}.`)
  return value
}

/** The given terms. Undefined terms stay unchanged or get their default. */
export const givenOf = <T extends object>(
  terms: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(
    Object.entries(terms).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof givenOf<T>>
