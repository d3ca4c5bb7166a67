import { validate as isUuid } from 'uuid'
import type { Page } from '../../db/queries/page.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { parseJson } from '../values/json.ts'
import { figure, MAX_PAGE } from '../values/limits.ts'

/**
 * The arguments of a listing. Lenient ones (routes without a 400) use the nearest valid value
 * instead of refusing (docs/contract.md, section 1).
 */
export interface PageArgs {
  limit?: number | null | undefined
  cursor?: string | null | undefined
}

/** The number of entries of a page; by default the maximum. */
export function readLimit(limit: number | null | undefined, lenient = false): number {
  if (limit === null || limit === undefined) return MAX_PAGE
  if (limit >= 1 && limit <= MAX_PAGE) return limit
  if (lenient) return limit < 1 ? 1 : MAX_PAGE
  throw new InvalidInput('limit', `A page has 1 to ${figure(MAX_PAGE)} entries.`)
}

/**
 * The types of sort keys. An id is validated more strictly than other texts: MySQL fails to compare
 * ids with non-ASCII texts.
 */
export type KeyType = 'string' | 'number' | 'id'
/** A sort key whose parts have these types. */
export type KeyOf<Types extends KeyType[]> = {
  [I in keyof Types]: Types[I] extends 'number' ? number : string
}

/**
 * A cursor encodes the sort key after which the next page starts. It is not secret, and opaque only
 * so that clients do not depend on its content.
 */
export function writeCursor(key: (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

function isPart(part: unknown, type: KeyType | undefined): boolean {
  if (type === 'number') return Number.isSafeInteger(part)
  return typeof part === 'string' && (type !== 'id' || isUuid(part))
}

/**
 * Reads a cursor with parts of these types. Null without one, or for an invalid one in a lenient
 * listing.
 */
export function readCursor<Types extends KeyType[]>(
  cursor: string | null | undefined,
  types: [...Types],
  lenient = false,
  field = 'cursor',
): KeyOf<Types> | null {
  if (!cursor) return null
  const key = parseJson(Buffer.from(cursor, 'base64url').toString())
  const fits =
    Array.isArray(key) &&
    key.length === types.length &&
    key.every((part, i) => isPart(part, types[i]))
  if (fits) return key as KeyOf<Types>
  if (lenient) return null
  throw new InvalidInput(
    field,
    'This cursor does not belong to this list. Use the cursor of the previous page.',
  )
}

/** A page of a list that is sorted by id, with the cursor of the next one. */
export async function pageById<T extends { id: string }>(
  { limit, cursor }: PageArgs,
  load: (limit: number, after: string | null) => Promise<Page<T>>,
  lenient = false,
): Promise<{ rows: T[]; nextCursor: string | null }> {
  const after = readCursor(cursor, ['id'], lenient)?.[0] ?? null
  const { rows, more, last = rows.at(-1)?.id } = await load(readLimit(limit, lenient), after)
  return { rows, nextCursor: more && last ? writeCursor([last]) : null }
}
