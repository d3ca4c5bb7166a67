import type { Page } from '../db/queries/page.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import { type KeyOf, type KeyType, readCursor, writeCursor } from '../src/services/page.ts'
import { figure } from '../src/values/limits.ts'
import { batch } from './batch.ts'
import type { Context } from './context.ts'

export const MAX_FIRST = 1000
export const DEFAULT_FIRST = 50

/**
 * The maximum number of list entries in a request. Nested pages could otherwise contain the whole
 * tree many times.
 */
export const MAX_NESTED = 20_000

/**
 * The cost of reading all entries of a folder or a drive for one page. Reading 100,000 entries
 * takes as long as this many values.
 */
export const SCAN_COST = 20_000
/**
 * The cost of a field that reads more than it returns.
 * @param args the arguments as written, with the values of variables
 */
export type ScanCost = (args: Record<string, unknown>) => number

export interface ConnectionArgs {
  first?: number | null | undefined
  after?: string | null | undefined
}

/** The order of a list: the types of the parts of its sort key, and the key of an entry. */
export interface Sorting<T, Types extends KeyType[]> {
  types: [...Types]
  keyOf(entry: T): KeyOf<Types>
}

/** Sorted by id, so by time. */
export const byId: Sorting<{ id: string }, ['id']> = { types: ['id'], keyOf: entry => [entry.id] }

/** The size of a page, and the key after which it starts. @throws INVALID_INPUT */
export function readPage<Types extends KeyType[]>(args: ConnectionArgs, types: [...Types]) {
  const first = args.first ?? DEFAULT_FIRST
  if (first < 1 || first > MAX_FIRST)
    throw new InvalidInput('first', `A page has 1 to ${figure(MAX_FIRST)} entries.`)
  return { first, after: readCursor(args.after, types, false, 'after') }
}

/**
 * One page of a Relay connection over a sorted list. Forward pagination only, as the indexes
 * support.
 * @param load returns a page; if the next page does not start after the key of its last node,
 * `last` is the key
 * @throws INVALID_INPUT when `first` is out of range
 */
export async function forwardConnection<T, Types extends KeyType[]>(
  args: ConnectionArgs,
  { types, keyOf }: Sorting<NoInfer<T>, Types>,
  load: (
    limit: number,
    after: KeyOf<Types> | null,
  ) => Promise<{ rows: T[]; more: boolean; last?: string | undefined }>,
) {
  const { first, after } = readPage(args, types)
  const { rows, more, last } = await load(first, after)
  const edges = rows.map(node => new Edge(node, keyOf))
  return { edges, pageInfo: new PageInfo(edges, more, after !== null, last) }
}

// Classes, because V8 makes a hidden class for each object with its own getter, and keeps it until
// the next full garbage collection.

/**
 * A node with its cursor, which is computed on demand, because most clients need only the cursor of
 * the last node.
 */
class Edge<T> {
  readonly node: T
  readonly #keyOf: (node: T) => (string | number)[]

  constructor(node: T, keyOf: (node: T) => (string | number)[]) {
    this.node = node
    this.#keyOf = keyOf
  }

  get cursor(): string {
    return writeCursor(this.#keyOf(this.node))
  }
}

class PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly #edges: readonly { cursor: string }[]
  readonly #last: string | undefined

  constructor(
    edges: readonly { cursor: string }[],
    more: boolean,
    before: boolean,
    last: string | undefined,
  ) {
    this.hasNextPage = more
    this.hasPreviousPage = before
    this.#edges = edges
    this.#last = last
  }

  get startCursor(): string | null {
    return this.#edges[0]?.cursor ?? null
  }

  get endCursor(): string | null {
    return this.#last === undefined
      ? (this.#edges.at(-1)?.cursor ?? null)
      : writeCursor([this.#last])
  }
}

/**
 * Pages of the lists of several parents, loaded in one call.
 * @throws INVALID_INPUT when a request exceeds the limit of entries
 */
export function batchPages<
  T,
  K extends (string | number)[] = [string],
  More extends unknown[] = [],
>(
  load: (
    context: Context,
    parents: string[],
    limit: number,
    after: K | null,
    ...more: More
  ) => Promise<ReadonlyMap<string, Page<T>>>,
): (
  context: Context,
  parent: string,
  limit: number,
  after: K | null,
  ...more: More
) => Promise<Page<T>> {
  const pages = batch((context, parents, limit: number, after: K | null, ...more: More) => {
    if (context.shared.given > MAX_NESTED)
      throw new InvalidInput(
        'first',
        `A request may get ${figure(MAX_NESTED)} entries of lists. Ask for smaller pages, or for fewer pages.`,
      )
    return load(context, parents, limit, after, ...more)
  })
  return async (context, parent, limit, after, ...more) => {
    const { shared } = context
    // Counted before loading, because sibling lists are loaded in parallel. Counted for each place
    // in the response, because the list of one parent appears at each of them.
    shared.given += limit
    let shown = 0
    try {
      const page = (await pages(context, parent, limit, after, ...more)) ?? {
        rows: [],
        more: false,
      }
      shown = page.rows.length
      return page
    } finally {
      shared.given += shown - limit
    }
  }
}
