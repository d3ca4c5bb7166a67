import type { Db } from '../../../db/index.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { textKeysByBlob } from '../../../db/queries/search.ts'
import type { Condition } from '../../../db/search/expression.ts'
import { type IndexedDrive, type SearchIndex, textMark } from '../../../db/search/index.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import type { Candidate } from './search-candidate.ts'
import { formOf, inText } from './search-condition.ts'

/** What the texts of some files have of a query. */
export interface TextsOfFiles {
  /** Whether the text of a file has a term. */
  has(row: Pick<PlacedRow, 'id'>, term: Term): boolean
  /** Whether it has a form of the one word of a term. */
  hasForm(row: Pick<PlacedRow, 'id'>, term: Term): boolean
  /** The key of the text. */
  keyOf(row: Pick<PlacedRow, 'id'>): string | undefined
}

export const NO_TEXTS: TextsOfFiles = {
  has: () => false,
  hasForm: () => false,
  keyOf: () => undefined,
}

/** Compares the texts of files with the terms of a query, by the index. */
export function textMatches(
  db: Db,
  index: Pick<SearchIndex, 'ask'>,
  drives: readonly IndexedDrive[],
  query: SearchQuery,
) {
  const numbers = new Map(drives.map(({ bucketId, number }) => [bucketId, number]))
  const conditions: { term: Term; isForm: boolean; isExcluded: boolean; condition: Condition }[] =
    []
  for (const term of [...query.terms, ...query.without]) {
    const isExcluded = query.without.includes(term)
    conditions.push({ term, isForm: false, isExcluded, condition: inText(term) })
  }
  for (const term of query.terms) {
    const condition = formOf(term)
    if (condition) conditions.push({ term, isForm: true, isExcluded: false, condition })
  }

  return {
    /**
     * What the texts of some files have. A text that is not the current one has nothing.
     * @param isKnown whether the index has found these files by all terms in their texts
     */
    async ofFiles(candidates: readonly Candidate[], isKnown: boolean): Promise<TextsOfFiles> {
      const compared = isKnown ? conditions.filter(one => one.isExcluded) : conditions
      const files = candidates.flatMap(({ row: { id, blobId, bucketId }, item }) => {
        const drive = numbers.get(bucketId)
        return blobId && drive !== undefined ? [{ id, blobId, drive, row: item }] : []
      })
      if (files.length === 0 || conditions.length === 0) return NO_TEXTS
      const keys = await textKeysByBlob(
        db,
        files.map(({ blobId }) => blobId),
      )
      const readable = files.filter(({ blobId }) => keys.has(blobId))
      if (readable.length === 0) return NO_TEXTS
      const held = await index.ask(
        'hold',
        readable.map(({ id, drive, row }) => ({ id, drive, row })),
        compared.map(({ condition }) => condition),
      )
      const found = new Map<string, { key: string; holds: boolean[] }>()
      for (const [i, { id, blobId }] of readable.entries()) {
        const [key, one] = [keys.get(blobId), held[i]]
        if (key && one?.mark && Buffer.compare(textMark(key), one.mark) === 0)
          found.set(id, { key, holds: one.holds })
      }
      const holds = (id: string, term: Term, isForm: boolean): boolean => {
        if (isKnown && !query.without.includes(term)) return found.has(id)
        const nth = compared.findIndex(one => one.term === term && one.isForm === isForm)
        return nth >= 0 && Boolean(found.get(id)?.holds[nth])
      }
      return {
        has: ({ id }, term) => holds(id, term, false),
        hasForm: ({ id }, term) => holds(id, term, true),
        keyOf: ({ id }) => found.get(id)?.key,
      }
    },
  }
}

export type TextMatches = ReturnType<typeof textMatches>
