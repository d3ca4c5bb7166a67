import type { Db } from '../../../db/index.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import type { SearchDrive } from '../../../db/queries/search-drive.ts'
import {
  classWord,
  countWords,
  entriesWithWord,
  type IndexedWord,
  newestEntries,
  noteWord,
  placedEntries,
  wholeName,
} from '../../../db/queries/search-word.ts'
import { entryIdsWithTag } from '../../../db/queries/tag.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { fold } from '../../values/search-words.ts'
import { tagKey } from '../../values/tag-key.ts'
import { RANK, type Rank } from './search-match.ts'
import { byText } from './text-candidate.ts'
import type { TextMatches } from './text-match.ts'

/** A file or folder that may match, according to the index. */
export interface Candidate {
  row: PlacedRow
  rank: Rank
  /** The id that sorts candidates of equal rank, newest first. */
  order: string
}

/** The position of the last candidate, after which a search continues. */
export type CandidateKey = [rank: number, order: string, id: string]

const FIRST = 50
const AT_ONCE = 400
const COUNTED = 2000
const MOST_TAGGED = 10_000
/**
 * Words of a query that are looked for one by one where no file has all of them in the same place.
 */
const ALONE = 3

/**
 * Selects one word for each term: the longest word, which is usually the rarest. The last word of a
 * phrase may be a prefix.
 */
function keyWord({ words, isPrefix }: Term): IndexedWord {
  const last = words.length - 1
  const nth = words.reduce(
    (best, word, i) => (word.length > (words[best]?.length ?? 0) ? i : best),
    0,
  )
  return { word: words[nth] ?? '', isPrefix: isPrefix && nth === last }
}

/**
 * The candidates of a query in batches, best first. A key skips the candidates up to its position.
 */
export async function* candidatesOf(
  db: Db,
  query: SearchQuery,
  drives: readonly SearchDrive[],
  {
    own,
    after,
    texts,
  }: { own: readonly SearchDrive[]; after: CandidateKey | null; texts: TextMatches },
): AsyncGenerator<Candidate[]> {
  const numbers = drives.map(({ number }) => number)
  const bucketIds = drives.map(({ bucketId }) => bucketId)
  const { terms, names, types, tags } = query
  const from = after?.[0] ?? RANK.exact
  const afterId = (rank: Rank) => (after && after[0] === rank ? after[1] : null)

  async function rowsOf(ids: readonly { id: string }[], rank: Rank): Promise<Candidate[]> {
    const rows = new Map(
      (
        await placedEntries(
          db,
          ids.map(({ id }) => id),
        )
      ).map(row => [row.id, row]),
    )
    return ids.flatMap(({ id }) => {
      const row = rows.get(id)
      return row ? [{ row, rank, order: id }] : []
    })
  }

  /**
   * All entries with a word, newest first. The first batch is small, because it is enough for most
   * pages. Later batches are larger.
   */
  async function* withWord(on: readonly number[], word: IndexedWord, also: string[], rank: Rank) {
    // A prefix search reads all matching words each time.
    let size = word.isPrefix ? AT_ONCE : FIRST
    for (let before = afterId(rank); ; size = Math.min(AT_ONCE, 2 * size)) {
      const hits = await entriesWithWord(db, on, word, also, size, before)
      for (const some of [hits.slice(0, FIRST), hits.slice(FIRST)])
        if (some.length > 0) yield await rowsOf(some, rank)
      if (hits.length < size) return
      before = hits.at(-1)?.id ?? null
    }
  }

  /**
   * All that have each of some words: those with the rarest one are read, and compared with the
   * others by whoever takes them.
   */
  async function* withAll(words: IndexedWord[], rank: Rank) {
    const counts = words.length > 1 ? await countWords(db, numbers, words, COUNTED) : [0]
    const order = words.map((_, i) => i).sort((a, b) => (counts[a] ?? 0) - (counts[b] ?? 0))
    const driver = words[order[0] ?? 0]
    if (!driver || (words.length > 1 && counts[order[0] ?? 0] === 0)) return
    const also = order
      .slice(1)
      .flatMap(i => (words[i] && !words[i].isPrefix ? [words[i].word] : []))
    yield* withWord(numbers, driver, [...also, ...(onlyType ? [classWord(onlyType)] : [])], rank)
  }

  const [onlyType] = types.length === 1 ? types : []

  /** Several lists by id as one, each of which goes on where all of them have come to. */
  async function* merged(lists: ((before: string | null) => Promise<PlacedRow[]>)[], rank: Rank) {
    for (let before = afterId(rank); ; ) {
      const rows: PlacedRow[] = []
      for (const list of lists) rows.push(...(await list(before)))
      const different = [...new Map(rows.map(row => [row.id, row])).values()].sort((a, b) =>
        a.id < b.id ? 1 : -1,
      )
      const some = different.slice(0, AT_ONCE)
      if (some.length > 0) yield some.map((row): Candidate => ({ row, rank, order: row.id }))
      if (some.length < AT_ONCE) return
      before = some.at(-1)?.id ?? null
    }
  }

  const listed = (on: readonly number[], word: IndexedWord) => async (before: string | null) =>
    (await rowsOf(await entriesWithWord(db, on, word, [], AT_ONCE, before), RANK.exact)).map(
      ({ row }) => row,
    )

  /**
   * Entries with a tag of this name. Few entries of a drive have one tag, so their ids are read
   * once for all batches.
   */
  function tagged(name: string) {
    const key = tagKey(name)
    let ids: string[] | undefined
    return async (before: string | null) => {
      if (!ids) {
        ids = []
        for (const { bucketId } of drives)
          ids.push(...(await entryIdsWithTag(db, bucketId, key, MOST_TAGGED)))
        ids.sort()
      }
      return placedEntries(db, ids.filter(id => before === null || id < before).slice(-AT_ONCE))
    }
  }

  const newest = () =>
    tags[0] !== undefined
      ? [tagged(tags[0])]
      : types.length > 0
        ? types.map(type => listed(numbers, { word: classWord(type), isPrefix: false }))
        : [(before: string | null) => newestEntries(db, bucketIds, AT_ONCE, before)]

  /** Entries that have at least one of the words, in any place. */
  async function mixed(some: Term[]): Promise<Candidate[]> {
    const rows = new Map<string, Candidate>()
    for (const term of some) {
      const { value: found } = await byText(db, drives, texts, [term], null, 'also').next()
      for (const row of [...(await listed(numbers, keyWord(term))(null)), ...(found ?? [])])
        rows.set(row.id, { row, rank: RANK.mixed, order: row.id })
    }
    const before = afterId(RANK.mixed)
    return [...rows.values()]
      .filter(({ row }) => before === null || row.id < before)
      .sort((a, b) => (a.row.id < b.row.id ? 1 : -1))
  }

  const required = [...terms, ...names]
  if (required.length === 0) {
    yield* merged(newest(), RANK.exact)
    return
  }
  const whole = wholeName(fold(required.map(({ text }) => text).join(' ')))
  if (from <= RANK.exact) yield* withWord(numbers, { word: whole, isPrefix: false }, [], RANK.exact)
  if (from <= RANK.beginning)
    yield* withWord(numbers, { word: whole, isPrefix: true }, [], RANK.beginning)
  if (from <= RANK.name) yield* withAll(required.map(keyWord), RANK.name)
  if (terms.length === 0) return
  const alone = terms.slice(0, ALONE)
  if (from <= RANK.note) {
    const ownNumbers = own.map(({ number }) => number)
    const noted = alone
      .map(keyWord)
      .map(({ word, isPrefix }) => listed(ownNumbers, { word: noteWord(word), isPrefix }))
    yield* merged([...noted, ...alone.map(({ text }) => tagged(text))], RANK.note)
  }
  if (from <= RANK.content) {
    const place = after && after[0] === RANK.content ? after : null
    for await (const rows of byText(db, drives, texts, terms, place))
      yield rows.map(
        ({ textId, ...row }): Candidate => ({ row, rank: RANK.content, order: textId }),
      )
  }
  const hasForms = await texts.withForms()
  if (hasForms && from <= RANK.form) {
    const place = after && after[0] === RANK.form ? after : null
    for await (const rows of byText(db, drives, texts, terms, place, 'only'))
      yield rows.map(({ textId, ...row }): Candidate => ({ row, rank: RANK.form, order: textId }))
  }
  if (required.length > 1) yield await mixed(alone)
}
