import { FILE } from '../db/models/entry.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import { searchScope } from '../src/access/search-scope.ts'
import type { SearchResult as Result, SearchPage } from '../src/services/search/search.ts'
import type { Snippet } from '../src/services/search/snippet.ts'
import { MAX_SEARCH, MAX_SEARCHED_DRIVES } from '../src/values/limits.ts'
import { joinPath } from '../src/values/paths.ts'
import type { SearchField as Field, SearchOrder as Order } from '../src/values/search-order.ts'
import type { SearchHint as Hint } from '../src/values/search-query.ts'
import { builder } from './builder.ts'
import { pageArgs } from './connection.ts'
import { inDrive } from './entry.ts'
import { EntryKind, enumOf } from './enums.ts'
import { forwardConnection, type Sorting } from './paging.ts'
import { Entry } from './refs.ts'
import { DirectShare } from './share.ts'

/** A found entry in a drive of the caller. */
interface Found extends Result {
  drive: DriveValue | undefined
}

const SearchField = enumOf<Field>('SearchField', 'Where words of a search were found.', [
  'name',
  'path',
  'note',
  'tag',
  'content',
])

const SearchOrder = builder.enumType('SearchOrder', {
  description:
    'The order of results. Orders other than RELEVANCE sort only the first 1,000 results.',
  values: {
    RELEVANCE: { value: 'relevance', description: 'Best match first, then newest first.' },
    NAME: { value: 'name' },
    NEWEST: { value: 'newest', description: 'By their last change, newest first.' },
    OLDEST: { value: 'oldest' },
    LARGEST: { value: 'largest' },
    SMALLEST: { value: 'smallest' },
  } as const satisfies Record<string, { value: Order; description?: string }>,
})

const SearchResult = builder.objectRef<Found>('SearchResult').implement({
  description:
    'A found file or folder, in a drive of the caller or in what others share with them.',
  fields: t => ({
    kind: t.field({ type: EntryKind, description: 'Its kind.', resolve: ({ row }) => row.kind }),
    name: t.string({ description: 'Its name.', resolve: ({ row }) => row.name }),
    path: t.string({
      description:
        'Its path in its drive, or from the shared folder down; empty for the shared folder itself.',
      resolve: ({ drive, names }) => drive?.pathOf(names) ?? joinPath(names),
    }),
    size: t.field({
      type: 'Bytes',
      description: 'Its size in bytes; for a folder, that of all files below it.',
      resolve: ({ row }) => row.size,
    }),
    contentType: t.string({
      nullable: true,
      description: 'The media type of a file.',
      resolve: ({ row }) => (row.kind === FILE ? row.contentType : null),
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When it was last changed: created, moved, renamed or replaced.',
      resolve: ({ row }) => row.updatedAt,
    }),
    entry: t.field({
      type: Entry,
      nullable: true,
      description:
        'The file or folder in a drive of the caller; null for shared entries of others.',
      resolve: ({ row, names, drive }) => (drive ? inDrive({ ...row, names }, drive) : null),
    }),
    share: t.field({
      type: DirectShare,
      nullable: true,
      description:
        "The share through which the caller sees it; null for an entry in the caller's own drives.",
      resolve: ({ share }) => share,
    }),
  }),
})

const SnippetRange = builder.objectRef<Snippet['ranges'][number]>('SnippetRange').implement({
  description:
    'The position of a word in a snippet, in UTF-16 code units from the start of the text.',
  fields: t => ({
    start: t.exposeInt('start', { description: 'The start.' }),
    end: t.exposeInt('end', { description: 'The end, exclusive.' }),
  }),
})

const SearchSnippet = builder.objectRef<Snippet>('SearchSnippet').implement({
  description: 'A part of a text with the words of the search. One line of plain text, never HTML.',
  fields: t => ({
    text: t.exposeString('text', { description: 'The part of the text.' }),
    ranges: t.field({
      type: [SnippetRange],
      listSize: 10,
      description: 'The positions of the words of the search in it.',
      resolve: ({ ranges }) => ranges,
    }),
  }),
})

const SearchHint = builder.objectRef<Hint>('SearchHint').implement({
  description: 'A part of a search that was probably meant differently than it was read.',
  fields: t => ({
    term: t.exposeString('term', { description: 'The part as written.' }),
    message: t.exposeString('message', {
      description: 'How it was read, and what to write instead.',
    }),
  }),
})

type About = Pick<SearchPage, 'hints' | 'isComplete'>

const SearchResultConnection = builder.connectionObject(
  {
    type: SearchResult,
    name: 'SearchResultConnection',
    description: 'One page of search results.',
    fields: t => ({
      hints: t.field({
        type: [SearchHint],
        listSize: 5,
        description: 'Suggested corrections of the query.',
        resolve: connection => (connection as unknown as About).hints,
      }),
      isComplete: t.boolean({
        description:
          'Whether the search covered every possible match. If not, other words or a later search may find more: the index is not ready, or too many entries match.',
        resolve: connection => (connection as unknown as About).isComplete,
      }),
    }),
  },
  {
    name: 'SearchResultEdge',
    description: 'A search result, and why it matches.',
    fields: t => ({
      matchedIn: t.field({
        type: [SearchField],
        listSize: 5,
        description: 'Where its words were found; empty if only filters were given.',
        resolve: ({ node }) => (node as Found).matchedIn,
      }),
      snippet: t.field({
        type: SearchSnippet,
        nullable: true,
        description: 'The part of its note or text with the words.',
        resolve: ({ node }) => (node as Found).snippet,
      }),
    }),
  },
)

const byKey: Sorting<Found, ['number', 'id', 'id']> = {
  types: ['number', 'id', 'id'],
  keyOf: ({ key }) => key,
}

/** The cost of a search in addition to its results, because it reads thousands of entries. */
const SEARCH_COST = 2000

builder.queryField('search', t =>
  t.withAuth({ signedIn: true }).field({
    type: SearchResultConnection,
    description:
      'Searches names, paths, notes, tags and contents of all files and folders that the caller may see: in their drives, and in what others share with them. All words must match; the last one may be the beginning of a word. "a phrase", -without, type:pdf, size:>10mb, before:2026, after:2026-03, by:anna, in:"Folder/Sub", drive:me, is:shared, tag:x and name:x narrow it down.',
    rateLimit: 'searches',
    cost: SEARCH_COST,
    args: {
      query: t.arg.string({
        required: true,
        description: `What to look for: up to ${MAX_SEARCH} characters.`,
      }),
      drives: t.arg.idList({
        maxItems: MAX_SEARCHED_DRIVES,
        description: `Only in these drives, up to ${MAX_SEARCHED_DRIVES}. By default in all drives that the caller may read, and in what others share with them.`,
      }),
      orderBy: t.arg({ type: SearchOrder, defaultValue: 'relevance', description: 'The order.' }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { query, drives, orderBy, ...page }, context) => {
      const { services, caller } = context
      const { scope, driveOf } = await searchScope(services, caller, drives ?? null)
      let about: About = { hints: [], isComplete: true }
      const connection = await forwardConnection(page, byKey, async (limit, after) => {
        const found = await services.searches.page({
          text: query,
          scope,
          callerId: caller.userId,
          limit,
          after,
          order: orderBy ?? 'relevance',
          signal: context.signal,
        })
        about = found
        return {
          more: found.more,
          rows: found.results.map(one => ({
            ...one,
            drive: one.share ? undefined : driveOf(one.row.bucketId),
          })),
        }
      })
      return { ...connection, hints: about.hints, isComplete: about.isComplete }
    },
  }),
)
