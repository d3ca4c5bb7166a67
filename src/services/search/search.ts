import { rootsOfBuckets } from '../../../db/queries/bucket.ts'
import { type SearchIndex, SearchUnavailable } from '../../../db/search/index.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import { figure, MAX_SEARCH, MAX_SEARCH_RESULTS, SEARCH_RESULTS } from '../../values/limits.ts'
import { type SearchOrder, searchOrders } from '../../values/search-order.ts'
import {
  isEmptySearch,
  parseSearch,
  type SearchHint,
  type SearchQuery,
} from '../../values/search-query.ts'
import type { Core } from '../core.ts'
import { readCursor, writeCursor } from '../page.ts'
import type { ShareService } from '../sharing/share.ts'
import { type Candidate, type CandidateKey, candidatesOf } from './search-candidate.ts'
import { type SearchResult, searchFilter } from './search-filter.ts'
import type { SearchIndexService } from './search-index.ts'
import { type SearchedShare, type SearchScope, withinDrive } from './search-scope.ts'
import type { ContentsService } from './search-text.ts'
import { textMatches } from './text-match.ts'
import { withSnippets } from './text-snippet.ts'

/**
 * How long the index is brought up to date for before a search, in milliseconds: enough for what
 * has just been changed.
 */
const UPDATE_MS = 500
/** The newest of the shares that the caller has received are searched. */
const MOST_SHARES = 100
/** Bounds of one search: candidates that are looked at, and milliseconds. */
const MOST_CANDIDATES = 8000
const MOST_MS = 1000
/** The results that are sorted otherwise than by relevance. */
export const MAX_SORTED = 1000

export type { SearchResult }

export interface SearchPage {
  results: SearchResult[]
  more: boolean
  hints: SearchHint[]
  /**
   * Whether everything was looked at that may fit: false where the index is not ready, or the
   * search had to end.
   */
  isComplete: boolean
}

export interface SearchRequest {
  text: string
  scope: SearchScope
  callerId: string
  limit: number
  after: CandidateKey | null
  order: SearchOrder
  /** Ends the search, with its reason, when the client hangs up. */
  signal?: AbortSignal | undefined
}

/** The same in words. */
interface SearchArgs extends Pick<SearchRequest, 'text' | 'scope' | 'callerId' | 'signal'> {
  limit?: number | null | undefined
  cursor?: string | null | undefined
  order?: string | null | undefined
}

interface Deps extends Core<'db' | 'log'> {
  shares: ShareService
  index: SearchIndex
  searchIndex: SearchIndexService
  contents: Pick<ContentsService, 'isOn'>
}

/**
 * Searches names, paths, notes, tags and contents. Nothing here authorizes: the scope says what the
 * caller may find.
 */
export function searchService({ db, log, index, shares, searchIndex, contents }: Deps) {
  async function find(
    query: SearchQuery,
    request: SearchRequest,
    limit: number,
    after: CandidateKey | null,
  ) {
    const { callerId, signal } = request
    const asking = index.until(signal)
    const scope = withinDrive(request.scope, query.drive)
    const bucketIds = [
      ...new Set(
        [...scope.drives, ...scope.shares.map(({ share }) => share)].map(one => one.bucketId),
      ),
    ]
    const { drives, ...fresh } = await searchIndex.fresh(bucketIds, UPDATE_MS, signal)
    signal?.throwIfAborted()
    const ownIds = new Set(
      scope.drives.filter(({ isOwn }) => isOwn).map(({ bucketId }) => bucketId),
    )
    const own = drives.filter(({ bucketId }) => ownIds.has(bucketId))
    const until = Date.now() + MOST_MS
    const hasTexts = contents.isOn()
    const texts = textMatches(db, asking, hasTexts ? drives : [], query)
    const filter = searchFilter({ db, query, scope, own, texts, callerId })
    const results: SearchResult[] = []
    const ownedIds = new Set(scope.drives.map(({ bucketId }) => bucketId))
    let looked = 0
    let { isComplete } = fresh
    const options = { drives, own, after, hasTexts, until, limit }
    const candidates = candidatesOf(db, asking, query, options)
    try {
      for await (const some of candidates.batches) {
        // Of the drive of a sharer, what is beside the share is not what the recipient looks at.
        for (const { row } of some) if (ownedIds.has(row.bucketId)) looked += 1
        results.push(...(await filter.fitting(some.filter(one => isAfter(one, after)))))
        signal?.throwIfAborted()
        if (results.length > limit) break
        if (looked + filter.inside() > MOST_CANDIDATES || Date.now() > until) {
          isComplete = false
          break
        }
      }
    } catch (error) {
      if (!(error instanceof SearchUnavailable)) throw error
      log.warn({ err: error }, 'a search ended early: the index cannot be read')
      isComplete = false
    }
    return { isComplete: isComplete && !candidates.isCut(), results }
  }

  const service = {
    /**
     * What others share with a caller now. What asks for a password is found only where that is
     * given: not here.
     */
    async receivedBy(caller: Caller): Promise<SearchedShare[]> {
      // No key reaches what others share.
      if (caller.via !== 'session' || caller.verifiedEmail === null) return []
      const { rows } = await shares.receivedBy(caller, MOST_SHARES, null, { newestFirst: true })
      const open = rows.filter(({ passwordProtected }) => !passwordProtected)
      if (open.length === 0) return []
      const several = open.filter(({ entryCount }) => entryCount !== null).map(({ id }) => id)
      const tops =
        several.length > 0 ? await shares.entryIdsOf(several) : new Map<string, string[]>()
      const roots = await rootsOfBuckets(db, [...new Set(open.map(({ bucketId }) => bucketId))])
      return open.map(share => ({
        share,
        rootId: roots.get(share.bucketId) ?? '',
        topIds: tops.get(share.id) ?? [share.entryId],
      }))
    },

    /** A page of what a query finds. @throws INVALID_INPUT */
    async page(request: SearchRequest): Promise<SearchPage> {
      const { text, limit, after, order, signal } = request
      if (text.length > MAX_SEARCH || /\p{Surrogate}/u.test(text))
        throw new InvalidInput('query', `A search has up to ${figure(MAX_SEARCH)} characters.`)
      const query = parseSearch(text)
      const { hints } = query
      if (isEmptySearch(query)) return { results: [], more: false, hints, isComplete: true }
      if (order === 'relevance') {
        const { results, isComplete } = await find(query, request, limit, after)
        const page = await withSnippets(db, query, results.slice(0, limit), signal)
        return { results: page, more: results.length > limit, hints, isComplete }
      }
      const { results, isComplete } = await find(query, request, MAX_SORTED, null)
      const sorted = results.slice(0, MAX_SORTED).sort(comparison[order])
      const from = after ? sorted.findIndex(({ row }) => row.id === after[2]) + 1 : 0
      // What the page before ended with is gone: where to go on is not known, and the first page
      // again would go round for ever.
      if (after && from === 0) return { results: [], more: false, hints, isComplete: false }
      const page = await withSnippets(db, query, sorted.slice(from, from + limit), signal)
      return {
        results: page,
        more: sorted.length > from + limit,
        hints,
        isComplete: isComplete && results.length <= MAX_SORTED,
      }
    },

    /** The same as routes ask for it. @throws INVALID_INPUT */
    async list({ text, limit, cursor, order: named, ...where }: SearchArgs) {
      const order = searchOrders.find(one => one === (named ?? 'relevance'))
      if (!order) throw new InvalidInput('order', `The order is one of ${searchOrders.join(', ')}.`)
      const most = limit ?? SEARCH_RESULTS
      if (most < 1 || most > MAX_SEARCH_RESULTS)
        throw new InvalidInput('limit', `A page has 1 to ${figure(MAX_SEARCH_RESULTS)} results.`)
      const after = readCursor(cursor, ['number', 'id', 'id'])
      const { results, more, ...about } = await service.page({
        ...where,
        text,
        limit: most,
        after,
        order,
      })
      const last = results.at(-1)
      return { ...about, results, nextCursor: more && last ? writeCursor(last.key) : null }
    },
  }
  return service
}

/** Whether a candidate comes after the last one of a page. */
function isAfter({ rank, order, row }: Candidate, after: CandidateKey | null): boolean {
  if (!after || rank !== after[0]) return !after || rank > after[0]
  return order < after[1] || (order === after[1] && row.id < after[2])
}

type Compare = (a: SearchResult, b: SearchResult) => number

const byAge: Compare = ({ row: a }, { row: b }) => (a.id < b.id ? 1 : -1)
const comparison: Record<Exclude<SearchOrder, 'relevance'>, Compare> = {
  name: (a, b) =>
    a.row.name.localeCompare(b.row.name, 'en', { numeric: true, sensitivity: 'base' }) ||
    byAge(a, b),
  newest: (a, b) => b.row.updatedAt - a.row.updatedAt || byAge(a, b),
  oldest: (a, b) => a.row.updatedAt - b.row.updatedAt || byAge(a, b),
  largest: (a, b) => b.row.size - a.row.size || byAge(a, b),
  smallest: (a, b) => a.row.size - b.row.size || byAge(a, b),
}
