import type { Context } from '../src/context.ts'
import { InvalidInput } from '../src/errors.ts'
import { type KeyOf, type KeyType, readCursor, writeCursor } from '../src/services/page.ts'
import type { Page } from '../src/services/range.ts'
import { batch } from './batch.ts'

export const MAX_FIRST = 1000
export const DEFAULT_FIRST = 50

/** The limit of entries in nested lists of a request: a page of pages of pages could be the whole tree. */
export const MAX_NESTED = 20_000

export interface ConnectionArgs {
  first?: number | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
  after?: string | null | undefined
}

/** The order of a list: the types of the parts of its sort key, and the key of an entry. */
export interface Sorting<T, Types extends KeyType[]> {
  types: [...Types]
  keyOf(entry: T): KeyOf<Types>
}

/** Sorted by name, as trees are. */
export const byName: Sorting<{ names: string[] }, ['string']> = {
  types: ['string'],
  keyOf: entry => [entry.names.at(-1) ?? ''],
}

/** Sorted by id, so by time. */
export const byId: Sorting<{ id: string }, ['id']> = { types: ['id'], keyOf: entry => [entry.id] }

/**
 * One page of a Relay connection over a sorted list. Forward pagination only, as the indexes support.
 * @param load returns a page, and in `last` the key after which the next page starts where that is not the key of its last node
 * @throws INVALID_INPUT when `first` is out of range, or `last` or `before` is given
 */
export async function forwardConnection<T, Types extends KeyType[]>(
  args: ConnectionArgs,
  { types, keyOf }: Sorting<NoInfer<T>, Types>,
  load: (limit: number, after: KeyOf<Types> | null) => Promise<{ rows: T[]; more: boolean; last?: string | undefined }>,
) {
  for (const name of ['last', 'before'] as const)
    if ((args[name] ?? null) !== null) throw new InvalidInput(name, 'This list is read forwards: use first and after.')
  const first = args.first ?? DEFAULT_FIRST
  if (first < 1 || first > MAX_FIRST) throw new InvalidInput('first', `A page has 1 to ${MAX_FIRST} entries.`)
  const after = readCursor(args.after, types, false, 'after')
  const { rows, more, last } = await load(first, after)
  const edges = rows.map(node => ({ node, cursor: writeCursor(keyOf(node)) }))
  return {
    edges,
    pageInfo: {
      hasNextPage: more,
      hasPreviousPage: after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: last === undefined ? (edges.at(-1)?.cursor ?? null) : writeCursor([last]),
    },
  }
}

const given = new WeakMap<Context, number>()

/**
 * Pages of the lists of several parents, loaded in one call.
 * @throws INVALID_INPUT when a request exceeds the limit of entries
 */
export function batchPages<T, K extends (string | number)[] = [string]>(
  load: (context: Context, parents: string[], limit: number, after: K | null) => Promise<Map<string, Page<T>>>,
): (context: Context, parent: string, limit: number, after: K | null) => Promise<Page<T>> {
  const pages = batch(async (context, parents, limit: number, after: K | null) => {
    // Counted before loading: sibling lists are loaded in parallel, and would not see each other's entries.
    const most = parents.length * limit
    const before = given.get(context) ?? 0
    if (parents.length > 1 && before + most > MAX_NESTED)
      throw new InvalidInput(
        'first',
        `This asks for ${parents.length} lists of up to ${limit} entries. Ask for smaller pages, or for fewer of them.`,
      )
    given.set(context, before + most)
    const found = await load(context, parents, limit, after)
    const rows = [...found.values()].reduce((sum, page) => sum + page.rows.length, 0)
    given.set(context, (given.get(context) ?? 0) - most + rows)
    return found
  })
  return async (context, parent, limit, after) =>
    (await pages(context, parent, limit, after)) ?? { rows: [], more: false }
}
