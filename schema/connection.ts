import { InvalidInput } from '../src/errors.ts'
import { readCursor, writeCursor } from '../src/services/page.ts'

export const MAX_FIRST = 1000
const DEFAULT_FIRST = 50

interface ConnectionArgs {
  first?: number | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
  after?: string | null | undefined
}

/**
 * One page of a Relay connection over a list that is sorted by a text key. Forwards only: that is what an index gives.
 * @param load answers a page, and with `last` the key after which the next one begins where that is not its last node's
 * @throws INVALID_INPUT when `first` is out of range, or `last` or `before` is given
 */
export async function forwardConnection<T>(
  args: ConnectionArgs,
  keyOf: (node: T) => string,
  load: (limit: number, after: string | null) => Promise<{ rows: T[]; more: boolean; last?: string | undefined }>,
) {
  for (const name of ['last', 'before'] as const)
    if ((args[name] ?? null) !== null)
      throw new InvalidInput(name, 'This list is read forwards: use first and after.')
  const first = args.first ?? DEFAULT_FIRST
  if (first < 1 || first > MAX_FIRST) throw new InvalidInput('first', `A page has 1 to ${MAX_FIRST} entries.`)
  const after = readCursor(args.after, ['string'], false, 'after')
  const { rows, more, last } = await load(first, after?.[0] ?? null)
  const edges = rows.map(node => ({ node, cursor: writeCursor([keyOf(node)]) }))
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
