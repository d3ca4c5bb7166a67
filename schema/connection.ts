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
 * @throws INVALID_INPUT when `first` is out of range, or `last` or `before` is given
 */
export async function forwardConnection<T>(
  args: ConnectionArgs,
  keyOf: (node: T) => string,
  load: (limit: number, after: string | null) => Promise<{ rows: T[]; more: boolean }>,
) {
  if (args.last || args.before)
    throw new InvalidInput(args.last ? 'last' : 'before', 'This list is read forwards: use first and after.')
  const first = args.first ?? DEFAULT_FIRST
  if (first < 1 || first > MAX_FIRST) throw new InvalidInput('first', `A page has 1 to ${MAX_FIRST} entries.`)
  const after = readCursor(args.after, ['string'])
  const { rows, more } = await load(first, after?.[0] ?? null)
  const edges = rows.map(node => ({ node, cursor: writeCursor([keyOf(node)]) }))
  return {
    edges,
    pageInfo: {
      hasNextPage: more,
      hasPreviousPage: after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}
