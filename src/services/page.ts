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

/** A cursor says after which sort key to go on. It is not a secret, and opaque only so that nobody depends on what is inside. */
export function writeCursor(key: (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** Reads a cursor of as many parts, of these types. Null without one, or where a lenient listing is given a wrong one. */
export function readCursor<K extends ('string' | 'number')[]>(
  cursor: string | null | undefined,
  types: [...K],
  lenient = false,
  field = 'cursor',
): { [I in keyof K]: K[I] extends 'number' ? number : string } | null {
  if (!cursor) return null
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const fits = Array.isArray(key) && key.length === types.length && key.every((part, i) => typeof part === types[i])
    if (fits) return key as unknown as { [I in keyof K]: K[I] extends 'number' ? number : string }
  } catch {
    // Falls through to the one answer for a cursor that is not ours.
  }
  if (lenient) return null
  throw new InvalidInput(field, 'This cursor is not one that this list has given. Take the one of the page before.')
}
