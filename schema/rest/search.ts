import { FILE } from '../../db/models/entry.ts'
import type { Caller } from '../../src/access/caller.ts'
import type { Drive } from '../../src/access/drive.ts'
import { searchScope } from '../../src/access/search-scope.ts'
import type { SearchResult as Result, SearchPage } from '../../src/services/search/search.ts'
import type { Snippet } from '../../src/services/search/snippet.ts'
import { figure, MAX_SEARCH, MAX_SEARCH_RESULTS, SEARCH_RESULTS } from '../../src/values/limits.ts'
import { joinPath } from '../../src/values/paths.ts'
import { searchFields, searchOrders } from '../../src/values/search-order.ts'
import type { SearchHint as Hint } from '../../src/values/search-query.ts'
import type { Context } from '../context.ts'
import { cursor } from './arguments.ts'
import { type Argument, type Given, objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, MEDIA_TYPE, SHARE_TOKEN } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('search', 'Search for files and folders.')

const SnippetRange = objectOf<Snippet['ranges'][number]>('SnippetRange', t => ({
  end: t.exposeInt('end', { description: 'Exclusive.', example: 18 }),
  start: t.exposeInt('start', {
    description: 'UTF-16 code units from the start of the text.',
    example: 10,
  }),
}))

const SearchSnippet = objectOf<Snippet>('SearchSnippet', 'A part of a text, as plain text.', t => ({
  ranges: t.expose('ranges', {
    type: [SnippetRange],
    description: 'The positions of the words of the search in it.',
  }),
  text: t.exposeString('text', { example: '… of the invoice from March …' }),
}))

interface Found extends Result {
  drive: Drive | undefined
}

const SearchResult = objectOf<Found>('SearchResult', 'A file or folder that was found.', t => ({
  file_type: t.string({
    description: 'inode/directory for a folder',
    example: MEDIA_TYPE,
    resolve: ({ row }) => (row.kind === FILE ? row.contentType : 'inode/directory'),
  }),
  id: t.id({ resolve: ({ row }) => row.id }),
  matched_in: t.stringList({
    description: `Where its words were found: ${searchFields.join(', ')}. Empty if only filters were given.`,
    example: ['note'],
    resolve: ({ matchedIn }) => matchedIn,
  }),
  name: t.string({ example: 'report.pdf', resolve: ({ row }) => row.name }),
  path: t.string({
    description:
      'Its path in its drive, with a leading slash in a workspace; or from the shared folder down, empty for the shared folder itself.',
    example: FILE_PATH,
    resolve: ({ drive, names }) => drive?.pathOf(names) ?? joinPath(names),
  }),
  sharing_token: t.string({
    nullable: true,
    description:
      "The token of the share through which the caller sees it; null for an entry in the caller's own drives.",
    example: SHARE_TOKEN,
    resolve: ({ share }) => share?.token ?? null,
  }),
  size: t.field({ type: 'Long', example: BYTES, resolve: ({ row }) => row.size }),
  snippet: t.expose('snippet', {
    type: SearchSnippet,
    nullable: true,
    description: 'The part of its note or text with the words.',
  }),
  updated_at: t.field({ type: 'DateTime', resolve: ({ row }) => row.updatedAt }),
  workspace_id: t.id({
    nullable: true,
    description: 'Its workspace; null for personal files.',
    resolve: ({ drive }) => drive?.workspace?.id ?? null,
  }),
}))

const SearchHint = objectOf<Hint>(
  'SearchHint',
  'A part of a search that was probably meant differently than it was read.',
  t => ({
    message: t.exposeString('message', {
      example: 'There is no filter "color:". It is read as words.',
    }),
    term: t.exposeString('term', { example: 'color:red' }),
  }),
)

const SearchResults = objectOf<
  Omit<SearchPage, 'results' | 'more'> & { found: Found[]; nextCursor: string | null }
>('SearchResults', t => ({
  hints: t.expose('hints', {
    type: [SearchHint],
    description: 'Suggested corrections of the query.',
  }),
  is_complete: t.exposeBoolean('isComplete', {
    description:
      'Whether the search covered every possible match. If not, other words or a later search may find more.',
  }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  results: t.expose('found', { type: [SearchResult], description: 'The best first.' }),
}))

const asked = (arg: Argument) => ({
  cursor: arg.string(cursor),
  limit: arg.int({
    description: `Results of a page, up to ${figure(MAX_SEARCH_RESULTS)} of them; ${SEARCH_RESULTS} by default.`,
    example: 20,
    bounds: { minimum: 1, maximum: MAX_SEARCH_RESULTS },
  }),
  order: arg.string({
    description: 'The order of the results; relevance by default.',
    example: 'newest',
    bounds: { enum: searchOrders },
  }),
  query: arg.string({
    required: true,
    description: `What to look for: up to ${MAX_SEARCH} characters. All words must match; the last one may be the beginning of a word. "a phrase", -without, type:pdf, size:>10mb, before:2026, after:2026-03, by:anna, in:"Folder/Sub", drive:me, is:shared, tag:x and name:x narrow it down.`,
    example: 'invoice type:pdf',
  }),
})

async function search(
  { query, ...page }: Given<typeof asked>,
  { services, caller, signal }: Context & { caller: Caller },
  driveIds: string[] | null,
) {
  const { scope, driveOf } = await searchScope(services, caller, driveIds)
  const { results, ...about } = await services.searches.list({
    ...page,
    text: query,
    scope,
    callerId: caller.userId,
    signal,
  })
  return {
    ...about,
    found: results.map(one => ({
      ...one,
      drive: one.share ? undefined : driveOf(one.row.bucketId),
    })),
  }
}

operation('GET /api/search', 'search', {
  description:
    'Searches names, paths, notes, tags and contents of all files and folders that the caller may see: in their drive and workspaces, and in what others share with them. A private key searches the drive.',
  auth: { privateFiles: 'read' },
  statuses: [400, 401, 429],
  rateLimit: 'searches',
  args: asked,
  type: SearchResults,
  resolve: (args, context) => search(args, context, null),
})

operation('GET /api/workspaces/{workspace_id}/search', 'workspaceSearch', {
  description: 'Searches the files and folders of a workspace in the same way.',
  auth: { drive: 'read' },
  statuses: [400, 401, 403, 429],
  rateLimit: 'searches',
  args: asked,
  type: SearchResults,
  resolve: (args, context) => search(args, context, [context.drive.id]),
})
