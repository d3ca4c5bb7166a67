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
    'By what results are sorted. Other orders than RELEVANCE sort the first 1,000 results.',
  values: {
    RELEVANCE: { value: 'relevance', description: 'How well they fit, then the newest first.' },
    NAME: { value: 'name' },
    NEWEST: { value: 'newest', description: 'By their last change.' },
    OLDEST: { value: 'oldest' },
    LARGEST: { value: 'largest' },
    SMALLEST: { value: 'smallest' },
  } as const satisfies Record<string, { value: Order; description?: string }>,
})

const SearchResult = builder.objectRef<Found>('SearchResult').implement({
  description:
    'A file or folder that was found, in a drive of the caller or in what others share with them.',
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
      description: 'When it was created, moved, renamed or replaced.',
      resolve: ({ row }) => row.updatedAt,
    }),
    entry: t.field({
      type: Entry,
      nullable: true,
      description: 'The file or folder in the drive of the caller; null for what others share.',
      resolve: ({ row, names, drive }) => (drive ? inDrive({ ...row, names }, drive) : null),
    }),
    share: t.field({
      type: DirectShare,
      nullable: true,
      description: 'The share by which the caller sees it; null in a drive of theirs.',
      resolve: ({ share }) => share,
    }),
  }),
})

const SnippetRange = builder.objectRef<Snippet['ranges'][number]>('SnippetRange').implement({
  description:
    'A word of a snippet that was looked for: UTF-16 code units from the start of the text.',
  fields: t => ({
    start: t.exposeInt('start', { description: 'Where it begins.' }),
    end: t.exposeInt('end', { description: 'Where it ends, exclusive.' }),
  }),
})

const SearchSnippet = builder.objectRef<Snippet>('SearchSnippet').implement({
  description: 'A part of a text with what was looked for. Plain text of one line; never HTML.',
  fields: t => ({
    text: t.exposeString('text', { description: 'The part of the text.' }),
    ranges: t.field({
      type: [SnippetRange],
      listSize: 10,
      description: 'The words in it that were looked for.',
      resolve: ({ ranges }) => ranges,
    }),
  }),
})

const SearchHint = builder.objectRef<Hint>('SearchHint').implement({
  description: 'A part of a search that was read otherwise than it seems to be meant.',
  fields: t => ({
    term: t.exposeString('term', { description: 'As it was written.' }),
    message: t.exposeString('message', {
      description: 'What became of it, and what to write instead.',
    }),
  }),
})

type About = Pick<SearchPage, 'hints' | 'isComplete'>

const SearchResultConnection = builder.connectionObject(
  {
    type: SearchResult,
    name: 'SearchResultConnection',
    description: 'One page of what was found.',
    fields: t => ({
      hints: t.field({
        type: [SearchHint],
        listSize: 5,
        description: 'What to write otherwise.',
        resolve: connection => (connection as unknown as About).hints,
      }),
      isComplete: t.boolean({
        description:
          'Whether everything was looked at that may fit. Otherwise more may be found by other words, or later: the index is not ready, or so much fits that the search had to end.',
        resolve: connection => (connection as unknown as About).isComplete,
      }),
    }),
  },
  {
    name: 'SearchResultEdge',
    description: 'What was found, and why.',
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
        description: 'The part of its note, or of its text, that has the words.',
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
        description: `Only in these drives, up to ${MAX_SEARCHED_DRIVES}. By default in all that the caller may look into, and in what others share with them.`,
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
