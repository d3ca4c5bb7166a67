import { Failure } from './failure.ts'

/** One page of a list. */
export interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/**
 * Loads the page after a cursor. Resolves to null for a list that the caller's role may not see.
 */
type LoadPage<Node> = (after: string | null) => Promise<Page<Node> | null>

/**
 * Iterates over the nodes of all pages.
 *
 * @throws FORBIDDEN
 */
export async function* eachOf<Node>(load: LoadPage<Node>): AsyncGenerator<Node> {
  let after: string | null = null
  do {
    const found: Page<Node> | null = await load(after)
    if (!found)
      throw new Failure(
        'FORBIDDEN',
        'Your role in this workspace does not allow this. Ask one of its owners.',
      )
    yield* found.nodes
    after = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : null
  } while (after !== null)
}

/**
 * The nodes of all pages of a list.
 *
 * @throws FORBIDDEN
 */
export const allPages = <Node>(load: LoadPage<Node>): Promise<Node[]> => allOf(eachOf(load))

export async function allOf<Node>(nodes: AsyncIterable<Node>): Promise<Node[]> {
  const all: Node[] = []
  for await (const node of nodes) all.push(node)
  return all
}
