import { validate as isUuid } from 'uuid'
import { InvalidInput } from '../errors.ts'

export const MAX_PAGE = 10_000

/** What a listing may be asked for. Lenient ones (routes without a 400) take the nearest possible instead of refusing: contract, section 1. */
export interface PageArgs {
  limit?: number | null | undefined
  cursor?: string | null | undefined
}

/** How many entries a page has; without a wish as many as are allowed. */
export function readLimit(limit: number | null | undefined, lenient = false): number {
  if (limit === null || limit === undefined) return MAX_PAGE
  if (limit >= 1 && limit <= MAX_PAGE) return limit
  if (lenient) return limit < 1 ? 1 : MAX_PAGE
  throw new InvalidInput('limit', `A page has 1 to ${MAX_PAGE} entries.`)
}

/** What a list can be sorted by. An id is looked at closer than other texts: MySQL does not compare ids with what is not ASCII. */
export type KeyType = 'string' | 'number' | 'id'
/** A sort key whose parts have these types. */
export type KeyOf<Types extends KeyType[]> = { [I in keyof Types]: Types[I] extends 'number' ? number : string }

/** A cursor says after which sort key to go on. It is not a secret, and opaque only so that nobody depends on what is inside. */
export function writeCursor(key: (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

function isPart(part: unknown, type: KeyType | undefined): boolean {
  if (type === 'number') return Number.isSafeInteger(part)
  return typeof part === 'string' && (type !== 'id' || isUuid(part))
}

/** Reads a cursor of as many parts, of these types. Null without one, or where a lenient listing is given a wrong one. */
export function readCursor<Types extends KeyType[]>(
  cursor: string | null | undefined,
  types: [...Types],
  lenient = false,
  field = 'cursor',
): KeyOf<Types> | null {
  if (!cursor) return null
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const fits = Array.isArray(key) && key.length === types.length && key.every((part, i) => isPart(part, types[i]))
    if (fits) return key as KeyOf<Types>
  } catch {
    // Falls through to the one answer for a cursor that is not ours.
  }
  if (lenient) return null
  throw new InvalidInput(field, 'This cursor is not one that this list has given. Take the one of the page before.')
}
