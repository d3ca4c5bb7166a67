import type { Db } from '../../../db/index.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { upFrom } from '../../../db/queries/entry-path.ts'
import { notesOf } from '../../../db/queries/note.ts'
import { peopleByIds } from '../../../db/queries/person.ts'
import { countSharesOf } from '../../../db/queries/share-entry.ts'
import { tagsOfEntries } from '../../../db/queries/tag.ts'
import type { IndexedDrive } from '../../../db/search/index.ts'
import { type SearchField, searchFields } from '../../values/search-order.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { tagKey } from '../../values/tag-key.ts'
import type { ShareView } from '../sharing/share-list.ts'
import { type Tops, topsOf } from '../sharing/share-top.ts'
import type { Candidate, CandidateKey } from './search-candidate.ts'
import {
  type Fit,
  fitOf,
  hasTerm,
  isExcluded,
  isIn,
  passes,
  RANK,
  searched as searchedText,
} from './search-match.ts'
import { placeIn, type SearchScope, type SeenPlace } from './search-scope.ts'
import { type Snippet, snippetOf } from './snippet.ts'
import { NO_TEXTS, type TextMatches } from './text-match.ts'

/** A file or folder that was found. */
export interface SearchResult {
  row: PlacedRow
  /** The share through which the caller sees the entry. Null in the caller's own drives. */
  share: ShareView | null
  /** The names from the root down, or from the shared folder down without the folder itself. */
  names: string[]
  matchedIn: SearchField[]
  /** Of its note; that of its text is cut for the page that has it. */
  snippet: Snippet | null
  /** The key of the text that matched. */
  textKey: string | undefined
  key: CandidateKey
}

interface Deps {
  db: Db
  query: SearchQuery
  scope: SearchScope
  /** The caller's own drives, with their notes. */
  own: readonly IndexedDrive[]
  texts: TextMatches
  callerId: string
}

/** A candidate with its loaded data. */
interface Looked {
  candidate: Candidate
  place: SeenPlace
  fit: Fit
  note: string | undefined
  /** The key of the text that has a part of the query. */
  textKey: string | undefined
}

/**
 * Decides which candidates match, from their current state. The index may be out of date, and does
 * not know who may see an entry.
 */
export function searchFilter({ db, query, scope, own, texts, callerId }: Deps) {
  const required = [...query.terms, ...query.names]
  const areExcluded = query.without.length > 0
  const wholeIds = new Set(scope.drives.map(({ bucketId }) => bucketId))
  const notes = new Map<string, string>()
  const creators = new Map<string, boolean>()
  let inside = 0

  async function readNotes(rows: readonly PlacedRow[]): Promise<void> {
    for (const { bucketId } of own) {
      const md5s = rows
        .filter(row => row.bucketId === bucketId && row.md5 !== '')
        .map(({ md5 }) => md5)
      if (md5s.length === 0) continue
      for (const [md5, note] of await notesOf(db, bucketId, [...new Set(md5s)]))
        notes.set(`${bucketId}${md5}`, note)
    }
  }

  /** Finds out whether the creators of the rows are users that the query names. */
  async function readCreators(rows: readonly PlacedRow[], by: string): Promise<void> {
    const ids = [...new Set(rows.flatMap(({ createdBy }) => createdBy ?? []))].filter(
      id => !creators.has(id),
    )
    if (ids.length === 0) return
    const wanted = searchedText(by)
    for (const { id, name } of await peopleByIds(db, ids)) {
      const words = [...wanted.sequence]
      const term = { text: by, words, others: [], isPrefix: true, isPhrase: false }
      creators.set(id, (by === 'me' && id === callerId) || hasTerm(searchedText(name), term))
    }
  }

  async function look(candidates: readonly Candidate[]): Promise<Looked[]> {
    let some = candidates.filter(({ row }) => row.parentId !== null && passes(query, row))
    some = some.filter(({ row }) => {
      const name = searchedText(row.name, true)
      return query.names.every(term => hasTerm(name, term))
    })
    if (query.by !== null) {
      await readCreators(
        some.map(({ row }) => row),
        query.by,
      )
      some = some.filter(({ row }) => row.createdBy !== null && creators.get(row.createdBy))
    }
    if (some.length === 0) return []
    const rows = some.map(({ row }) => row)
    const above = await upFrom(
      db,
      rows.map(({ id }) => id),
    )
    if (required.length > 0) await readNotes(rows)
    const tagsOf = await tagsOfEntries(
      db,
      rows.filter(({ bucketId }) => wholeIds.has(bucketId)).map(({ id }) => id),
    )
    const wantedTags = query.tags.map(tagKey)
    const placed = some.flatMap(candidate => {
      const { row } = candidate
      const place = placeIn(scope, row.bucketId, row.id, above)
      if (!place) return []
      if (!wholeIds.has(row.bucketId)) inside += 1
      // A link with a download limit shows nothing of its files before the download.
      const isShown = place.share === null || place.share.maxDownloads === null
      return [{ candidate, place, isShown }]
    })
    // Texts beside what is shared are not read: whether that took too long would tell of them.
    const inTexts = placed.some(({ candidate: { rank } }) => rank >= RANK.content || areExcluded)
      ? await texts.ofFiles(
          placed.filter(({ isShown }) => isShown).map(({ candidate }) => candidate),
          placed.every(({ candidate: { rank } }) => rank === RANK.content),
        )
      : NO_TEXTS
    return placed.flatMap(({ candidate, place, isShown }) => {
      const { row } = candidate
      // Recipients of a share learn only its sharer. A search by the names of other users would
      // reveal who created what.
      const isKnown =
        !place.share || row.createdBy === callerId || row.createdBy === place.share.sharer.id
      if (query.by !== null && !isKnown) return []
      const folders = place.names.slice(0, -1)
      if (query.in !== null && !isIn(query.in, folders)) return []
      const note = place.share ? undefined : notes.get(`${row.bucketId}${row.md5}`)
      // Tags belong to the drive, so users of a share do not see them.
      const tags = place.share ? [] : (tagsOf.get(row.id) ?? [])
      if (!wantedTags.every(key => tags.some(({ nameKey }) => nameKey === key))) return []
      const inText = (term: Term) => isShown && inTexts.has(row, term)
      const inForm = (term: Term) => isShown && inTexts.hasForm(row, term)
      const surroundings = { folders, note, tags: tags.map(({ name }) => name), inText, inForm }
      if (isExcluded(query, row, surroundings)) return []
      const fit = fitOf(query, row, surroundings)
      const textKey = fit.fields.has('content') ? inTexts.keyOf(row) : undefined
      return [{ candidate, place, fit, note, textKey }]
    })
  }

  /**
   * Whether one is where its rank says, and nowhere better: so a page needs to know nothing of
   * those before it.
   */
  const isInRank = ({ candidate, fit }: Looked): boolean =>
    required.length === 0 || (fit.rank === candidate.rank && fit.missing.length === 0)

  async function onlyShared<T extends Looked>(looked: T[]): Promise<T[]> {
    if (!query.isShared || looked.length === 0) return looked
    const counts = await countSharesOf(db, callerId, [
      ...new Set(looked.flatMap(({ place }) => place.chain)),
    ])
    return looked.filter(
      ({ place }) => place.share !== null || place.chain.some(id => (counts.get(id) ?? 0) > 0),
    )
  }

  const tops = new Map<string, Tops | null>()

  /**
   * The names by which a share has what was found: of several entries with the same name, the later
   * ones have others there.
   */
  async function namesIn({ share, names, chain }: SeenPlace): Promise<string[]> {
    if (!share || share.entryCount === null) return names
    const known = tops.has(share.id) ? tops.get(share.id) : await topsOf(db, share)
    tops.set(share.id, known ?? null)
    const top = known?.all.find(({ id }) => id === chain[names.length - 1])
    return top ? [top.name, ...names.slice(1)] : names
  }

  return {
    /** How many candidates from partly searched drives were inside shares. */
    inside: () => inside,

    /** The matching candidates, in their order. */
    async fitting(candidates: readonly Candidate[]): Promise<SearchResult[]> {
      const found = await onlyShared((await look(candidates)).filter(isInRank))
      const order = new Map(candidates.map(({ row }, i) => [row.id, i]))
      const place = ({ candidate }: Looked) => order.get(candidate.row.id) ?? 0
      const results: SearchResult[] = []
      for (const { candidate, place: seen, fit, note, textKey } of found.sort(
        (a, b) => place(a) - place(b),
      )) {
        const fields = new Set<SearchField>(fit.fields)
        const { row, rank, order } = candidate
        results.push({
          row,
          share: seen.share,
          names: await namesIn(seen),
          key: [rank, order, row.id],
          textKey,
          matchedIn: searchFields.filter(field => fields.has(field)),
          snippet: fields.has('note') && note !== undefined ? snippetOf(note, query.terms) : null,
        })
      }
      return results
    },
  }
}
