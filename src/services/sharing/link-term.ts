import { InvalidInput } from '../../runtime/errors.ts'
import { parseDuration } from '../../values/duration.ts'
import { figure } from '../../values/limits.ts'

/** In the place of a duration: a link without an end. */
const FOREVER = 'never'

/**
 * When a link ends that is made or renewed now; null when it never does. @throws INVALID_DURATION
 */
export const parseExpiry = (duration: string, now: number): number | null =>
  duration === FOREVER ? null : now + parseDuration(duration, 'duration')

/**
 * A number that bounds a link: null for none; undefined where nothing is said of it.
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

/** What of some terms is given: what is undefined stays as it is, or gets its default. */
export const givenOf = <T extends object>(
  terms: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(
    Object.entries(terms).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof givenOf<T>>
