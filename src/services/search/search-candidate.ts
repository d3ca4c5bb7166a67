import type { Db } from '../../../db/index.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { entriesWithTags, newestEntries, placedEntries } from '../../../db/queries/search.ts'
import { tagsOfBuckets } from '../../../db/queries/tag.ts'
import type { Wanted } from '../../../db/search/expression.ts'
import type { IndexedDrive, SearchIndex } from '../../../db/search/index.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { tagKey } from '../../values/tag-key.ts'
import {
  foldersWith,
  formed,
  formOf,
  named,
  noted,
  ofClasses,
  own as ownTerms,
  partly,
  textual,
  whole,
} from './search-condition.ts'
import { hasTerm, RANK, type Rank, searched } from './search-match.ts'

/** A file or folder that may match, according to the index. */
export interface Candidate {
  row: PlacedRow
  rank: Rank
  /** The id that sorts candidates of equal rank, newest first. */
  order: string
  /** Its row in the index, if the index has found it. */
  item?: bigint | undefined
}

/** The position of the last candidate, after which a search continues. */
export type CandidateKey = [rank: number, order: string, id: string]

/** Entries that are read first, unless a page has more. */
const FIRST = 50
const AT_ONCE = 400

/** Reads entries newest first, before an id. */
type List = (before: string | null, limit: number) => Promise<{ rows: Row[]; hasMore: boolean }>
/** An entry. Null if the index knows one that is gone. */
type Row = { id: string; row: PlacedRow | null; item?: bigint }

interface Options {
  drives: readonly IndexedDrive[]
  /** The caller's own drives, with their notes. */
  own: readonly IndexedDrive[]
  after: CandidateKey | null
  hasTexts: boolean
  /** When the search ends, as Date.now() has it. */
  until: number
  /** Results that are wanted. */
  limit: number
}

/**
 * The candidates of a query, best first. A key skips the candidates up to its position.
 */
export function candidatesOf(
  db: Db,
  index: Pick<SearchIndex, 'ask'>,
  query: SearchQuery,
  { drives, own, after, hasTexts, until, limit }: Options,
) {
  const bucketIds = drives.map(({ bucketId }) => bucketId)
  const { terms, names, types, tags } = query
  const required = [...terms, ...names]
  const from = after?.[0] ?? RANK.exact
  const first = Math.min(AT_ONCE, Math.max(FIRST, limit + 1))
  let isCut = false

  /** The entries that the index finds in some drives. */
  const indexed =
    (wanted: Wanted, on: readonly IndexedDrive[] = drives): List =>
    async (before, limit) => {
      const numbers = on.map(({ number }) => number)
      if (numbers.length === 0) return { rows: [], hasMore: false }
      const found = await index.ask('find', { ...wanted, drives: numbers, before, limit, until })
      isCut ||= found.isCut
      const ids = found.hits.map(({ id }) => id)
      const rows = new Map((await placedEntries(db, ids)).map(row => [row.id, row]))
      return {
        rows: found.hits.map(({ id, row }) => ({ id, row: rows.get(id) ?? null, item: row })),
        hasMore: found.hasMore && !found.isCut,
      }
    }

  const stored =
    (read: (limit: number, before: string | null) => Promise<PlacedRow[]>): List =>
    async (before, limit) => {
      const rows = await read(limit, before)
      return { rows: rows.map(row => ({ id: row.id, row })), hasMore: rows.length === limit }
    }

  const tagged = (tagIds: readonly string[]): List =>
    tagIds.length === 0
      ? async () => ({ rows: [], hasMore: false })
      : stored((limit, before) => entriesWithTags(db, tagIds, limit, before))

  /**
   * Several lists by id as one. The first batch is small, because it is enough for most pages.
   * Later batches are larger.
   */
  async function* merged(lists: readonly List[], rank: Rank): AsyncGenerator<Candidate[]> {
    // The last entry itself comes again: with the same order, its id decides.
    let before = after && after[0] === rank ? after[1] : null
    for (let size = first; lists.length > 0; size = Math.min(AT_ONCE, 2 * size)) {
      const rows = new Map<string, Row>()
      let bound = ''
      for (const list of lists) {
        const { rows: some, hasMore } = await list(before, size)
        for (const row of some) rows.set(row.id, row)
        // Behind its last one, the list may have others that are newer than those of other lists.
        const last = some.at(-1)?.id ?? ''
        if (hasMore && last > bound) bound = last
      }
      const ids = [...rows.keys()].filter(id => id >= bound).sort((a, b) => (a < b ? 1 : -1))
      const found = ids.flatMap((id): Candidate[] => {
        const { row = null, item } = rows.get(id) ?? {}
        return row ? [{ row, rank, order: id, item }] : []
      })
      for (const some of [found.slice(0, first), found.slice(first)])
        if (some.length > 0) yield some
      if (bound === '') return
      before = bound
    }
  }

  /** The tags of the drives, which are read once. */
  let allTags: Promise<{ id: string; name: string; nameKey: string }[]> | undefined
  const tagsInDrives = () => {
    allTags ??= tagsOfBuckets(db, bucketIds).then(found => [...found.values()].flat())
    return allTags
  }
  const tagsWith = async (some: readonly Term[]): Promise<string[]> =>
    (await tagsInDrives())
      .filter(({ name }) => some.some(term => hasTerm(searched(name, true), term)))
      .map(({ id }) => id)

  async function* all(): AsyncGenerator<Candidate[]> {
    const key = tags[0] === undefined ? undefined : tagKey(tags[0])
    if (key !== undefined) {
      const ids = (await tagsInDrives()).filter(tag => tag.nameKey === key).map(({ id }) => id)
      yield* merged([tagged(ids)], RANK.exact)
    } else if (types.length > 0) yield* merged([indexed(ofClasses(types))], RANK.exact)
    else
      yield* merged(
        [stored((limit, before) => newestEntries(db, bucketIds, limit, before))],
        RANK.exact,
      )
  }

  /**
   * Entries that have some terms themselves, and others in the names of folders above or in tags.
   */
  async function* mixed(): AsyncGenerator<Candidate[]> {
    const numbers = drives.map(({ number }) => number)
    const inFolders =
      numbers.length > 0
        ? await index.ask('holdAnywhere', terms.map(foldersWith), numbers, until)
        : []
    const tagIds = new Map<Term, string[]>()
    for (const term of terms) tagIds.set(term, await tagsWith([term]))
    const isElsewhere = (term: Term, i: number) =>
      inFolders[i] === true || (tagIds.get(term)?.length ?? 0) > 0
    const needed = [...terms.filter((term, i) => !isElsewhere(term, i)), ...names]
    if (needed.length > 0) {
      yield* merged(
        ownTerms(needed, false).map(one => indexed(one)),
        RANK.mixed,
      )
      return
    }
    const lists = ownTerms(required, true).map(one => indexed(one))
    yield* merged([...lists, tagged([...new Set([...tagIds.values()].flat())])], RANK.mixed)
  }

  async function* ranked(): AsyncGenerator<Candidate[]> {
    if (required.length === 0) {
      yield* all()
      return
    }
    if (from <= RANK.exact) yield* merged([indexed(whole(query, true))], RANK.exact)
    if (from <= RANK.beginning) yield* merged([indexed(whole(query, false))], RANK.beginning)
    if (from <= RANK.name) yield* merged([indexed(named(query))], RANK.name)
    if (from <= RANK.note && terms.length > 0)
      yield* merged([indexed(noted(query), own), tagged(await tagsWith(terms))], RANK.note)
    if (from <= RANK.part) {
      const parts = partly(query)
      if (parts) yield* merged([indexed(parts)], RANK.part)
    }
    if (terms.length === 0) return
    if (hasTexts && from <= RANK.content) yield* merged([indexed(textual(query))], RANK.content)
    if (hasTexts && from <= RANK.form && terms.some(term => formOf(term) !== null))
      yield* merged([indexed(formed(query))], RANK.form)
    if (required.length > 1) yield* mixed()
  }

  return {
    batches: ranked(),
    /** Whether the time was not enough to find all. */
    isCut: () => isCut,
  }
}
