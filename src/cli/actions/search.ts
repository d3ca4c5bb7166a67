import { SearchDocument, type SearchOrder, type SearchQuery } from '../generated.ts'
import { inDrive } from '../place.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, table, when } from '../table.ts'
import { type Colors, plain } from '../text.ts'
import { wordOf } from '../words.ts'

export interface SearchOptions {
  limit: number
  order: string
}

type Found = SearchQuery['search']
type Edge = Found['edges'][number]

/** Page size: the most that the service returns. */
const AT_ONCE = 100

/**
 * The query text. The shell has removed the quotation marks from `in:"My files"`, so with several
 * arguments, an argument with spaces is quoted again. A single argument is used as it is.
 */
export function queryOf(given: readonly string[]): string {
  if (given.length === 1) return given[0] ?? ''
  const quoted = (text: string) => {
    if (!/\s/.test(text) || text.includes('"')) return text
    const [, front = '', value = text] = /^(-?(?:\p{L}+:)?)(.*)$/su.exec(text) ?? []
    return `${front}"${value}"`
  }
  return given.map(quoted).join(' ')
}

/** A path in the form that other commands accept. A shared file has only its link. */
function pathOf({ path, entry, share }: Edge['node']): string {
  if (share) return path === '' || share.entryKind === 'FILE' ? share.url : `${share.url}/${path}`
  const owner = entry?.drive.owner
  return owner && 'slug' in owner ? `${owner.slug}:/${inDrive(path)}` : `/${path}`
}

export async function search(
  context: Context,
  given: string[],
  { limit, order }: SearchOptions,
): Promise<Answer> {
  const { personal } = await open(context)
  const query = queryOf(given)
  const orderBy = order.toUpperCase() as SearchOrder
  const edges: Edge[] = []
  let about: Pick<Found, 'hints' | 'isComplete'> = { hints: [], isComplete: true }
  let after: string | null = null
  do {
    const first = Math.min(AT_ONCE, limit - edges.length)
    const { search: page }: SearchQuery = await personal.request(SearchDocument, {
      query,
      orderBy,
      first,
      after,
    })
    edges.push(...page.edges)
    about = { hints: page.hints, isComplete: page.isComplete && about.isComplete }
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null && edges.length < limit)

  for (const { term, message } of about.hints) context.notice(`${term}: ${message}`)
  if (!about.isComplete)
    context.notice('Not everything was searched: more may be found later, or with more words.')
  const results = edges.map(({ node, matchedIn, snippet }) => ({
    id: node.entry?.id ?? null,
    name: node.name,
    path: pathOf(node),
    kind: wordOf(node.kind),
    size: node.size,
    fileType: node.contentType,
    updatedAt: node.updatedAt,
    sharedBy: node.share?.sharedBy.email ?? null,
    matchedIn: matchedIn.map(wordOf),
    snippet,
  }))
  const lines = table(
    [],
    results.map(({ size, updatedAt, kind, path }) => [
      bytes(size),
      when(updatedAt),
      kind === 'folder' ? `${path}/` : path,
    ]),
  ).split('\n')
  const words = results.flatMap(({ snippet }, i) => [
    lines[i] ?? '',
    ...(snippet ? [`    ${marked(snippet, context.colors)}`] : []),
  ])
  return { fact: { query, results, hasMore: after !== null, ...about }, words: words.join('\n') }
}

/** A snippet with matches in bold. */
function marked({ text, ranges }: NonNullable<Edge['snippet']>, { bold, dim }: Colors): string {
  let at = 0
  let line = ''
  for (const { start, end } of ranges) {
    line += dim(plain(text.slice(at, start))) + bold(plain(text.slice(start, end)))
    at = end
  }
  return line + dim(plain(text.slice(at)))
}
