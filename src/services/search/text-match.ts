import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { textBodies } from '../../../db/queries/content-text.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { blockSize, blocksOfWord, textsOfBlobs } from '../../../db/queries/search-text.ts'
import { inParts } from '../../../db/queries/sql.ts'
import { UNSPACED } from '../../derive/words.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { fold } from '../../values/search-words.ts'
import { textOfBody } from './content-text.ts'

/** Contents of a drive, as a bit for each number. */
class Docs {
  readonly #bits: Uint32Array

  constructor(last: number) {
    this.#bits = new Uint32Array((last >>> 5) + 1)
  }

  add(doc: number): void {
    const at = doc >>> 5
    if (at < this.#bits.length) this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (doc & 31))
  }

  has(doc: number): boolean {
    return ((this.#bits[doc >>> 5] ?? 0) & (1 << (doc & 31))) !== 0
  }

  keep(others: Docs): void {
    for (let i = 0; i < this.#bits.length; i++) this.#bits[i] = (this.#bits[i] ?? 0) & (others.#bits[i] ?? 0)
  }

  /** The numbers from one down, that one left out. */
  *downFrom(before: number): Generator<number> {
    for (let at = Math.min(this.#bits.length - 1, before >>> 5); at >= 0; at--) {
      if (this.#bits[at] === 0) continue
      for (let doc = at * 32 + 31; doc >= at * 32; doc--) if (doc < before && this.has(doc)) yield doc
    }
  }
}

/** A drive whose texts are searched. */
export interface TextDrive {
  bucketId: string
  number: number
  firstDoc: number
  docs: number
}

type ByDrive = ReadonlyMap<number, Docs>

/** What the texts of some files have of a query. */
export interface TextsOfFiles {
  /** Whether the text of a file has a term. */
  has(row: Pick<PlacedRow, 'bucketId' | 'blobId'>, term: Term): boolean
  digestOf(row: Pick<PlacedRow, 'bucketId' | 'blobId'>): string | undefined
}

/** Texts of one search that are read to look for phrases, characters of them, and how many are in memory at a time. */
const MOST_READ = 300
const MOST_CHARACTERS = 8 * 1024 * 1024
const TOGETHER = 4

const NONE: TextsOfFiles = { has: () => false, digestOf: () => undefined }

/**
 * Which contents of some drives have the terms of a query. The lists of the words are read once for a search; whether a file has a word is
 * then known without its text.
 * @param end when no more texts are read, as performance.now() has it
 */
export async function textMatches(db: Db, drives: readonly TextDrive[], query: SearchQuery, end: number) {
  const searched = drives.filter(({ docs }) => docs > 0)
  const numberOf = new Map(searched.map(({ bucketId, number }) => [bucketId, number]))
  const lists = new Map<Term, ByDrive>()
  /** Whether texts have a phrase, by their digests: files with the same text, and later rounds, read none again. */
  const phrases = new Map<Term, Map<string, boolean>>()
  let [read, characters, isCut] = [0, 0, false]

  async function listOf(word: string, isPrefix: boolean): Promise<Map<number, Docs>> {
    const list = new Map<number, Docs>()
    const lasts = new Map(searched.map(({ number, docs }) => [number, docs]))
    for (const { drive, block, docs } of await blocksOfWord(db, searched, { word, isPrefix })) {
      const found = list.get(drive) ?? new Docs(lasts.get(drive) ?? 0)
      list.set(drive, found)
      const first = block * blockSize(db)
      for (let i = 0; i + 1 < docs.length; i += 2) found.add(first + ((docs[i] ?? 0) | ((docs[i + 1] ?? 0) << 8)))
    }
    return list
  }

  async function readTerm({ words, isPrefix }: Term): Promise<ByDrive> {
    const [first, ...rest] = words.map((word, i) => ({ word, isPrefix: isPrefix && i === words.length - 1 }))
    if (!first) return new Map()
    const list = await listOf(first.word, first.isPrefix)
    for (const { word, isPrefix } of rest) {
      if (list.size === 0) break
      const others = await listOf(word, isPrefix)
      for (const [drive, docs] of list) {
        const there = others.get(drive)
        if (there) docs.keep(there)
        else list.delete(drive)
      }
    }
    return list
  }

  if (searched.length > 0) {
    const { terms, without } = query
    for (const term of [...terms, ...without]) lists.set(term, await readTerm(term))
  }
  const isAny = [...lists.values()].some(({ size }) => size > 0)

  return {
    /** Whether more texts had to be read than a search reads, or than there was time for. */
    isCut: () => isCut,

    /** The contents of a drive that have all words of some terms. */
    inDrive(number: number, terms: readonly Term[]): Docs | null {
      const [first, ...rest] = terms.map(term => lists.get(term)?.get(number))
      if (!first || rest.some(docs => !docs)) return null
      if (rest.length === 0) return first
      const last = searched.find(drive => drive.number === number)?.docs ?? 0
      const all = new Docs(last)
      for (const doc of first.downFrom(last + 1)) if (rest.every(docs => docs?.has(doc))) all.add(doc)
      return all
    },

    /** What the texts of some files have. */
    async ofFiles(rows: readonly PlacedRow[]): Promise<TextsOfFiles> {
      const ids = isAny
        ? rows.flatMap(({ blobId, bucketId }) => (blobId && numberOf.has(bucketId) ? [blobId] : []))
        : []
      if (ids.length === 0) return NONE
      const docs = new Map<string, { doc: number; digest: string }>()
      for (const { drive, blobId, ...text } of await textsOfBlobs(db, [...numberOf.values()], ids))
        docs.set(`${drive} ${blobId}`, text)
      const textOf = ({ bucketId, blobId }: Pick<PlacedRow, 'bucketId' | 'blobId'>) =>
        docs.get(`${numberOf.get(bucketId)} ${blobId}`)
      const hasWords = (row: Pick<PlacedRow, 'bucketId' | 'blobId'>, term: Term): boolean => {
        const text = textOf(row)
        return (
          text !== undefined &&
          Boolean(
            lists
              .get(term)
              ?.get(numberOf.get(row.bucketId) ?? 0)
              ?.has(text.doc),
          )
        )
      }
      await readPhrases(rows, hasWords, row => textOf(row)?.digest)
      return {
        digestOf: row => textOf(row)?.digest,
        has: (row, term) =>
          hasWords(row, term) &&
          (term.words.length === 1 || Boolean(phrases.get(term)?.get(textOf(row)?.digest ?? ''))),
      }
    },
  }

  /** Looks for phrases in the texts that have their words: the index does not know the order of words. */
  async function readPhrases(
    rows: readonly PlacedRow[],
    hasWords: (row: PlacedRow, term: Term) => boolean,
    digestOf: (row: PlacedRow) => string | undefined,
  ): Promise<void> {
    const wanted = new Map<string, Set<Term>>()
    for (const term of lists.keys()) {
      if (term.words.length === 1) continue
      for (const row of rows) {
        const digest = hasWords(row, term) ? digestOf(row) : undefined
        if (digest === undefined || phrases.get(term)?.has(digest)) continue
        wanted.set(digest, (wanted.get(digest) ?? new Set()).add(term))
      }
    }
    for (const some of inParts([...wanted.keys()], TOGETHER)) {
      isCut ||= read + some.length > MOST_READ
      if (isCut) return
      read += some.length
      for (const [digest, body] of await textBodies(db, some)) {
        isCut ||= characters > MOST_CHARACTERS || (characters > 0 && performance.now() > end)
        if (isCut) return
        const text = (await textOfBody(body)) ?? ''
        characters += text.length
        const folded = fold(text)
        for (const term of wanted.get(digest) ?? []) {
          // Others have their turn: a long text takes a tenth of a second.
          await nextTurn()
          const found = phrases.get(term) ?? new Map<string, boolean>()
          phrases.set(term, found.set(digest, hasPhrase(folded, term)))
        }
      }
    }
  }
}

export type TextMatches = Awaited<ReturnType<typeof textMatches>>

/** Whether a folded text has words one after the other, with anything but letters and digits between them. */
export function hasPhrase(folded: string, { text: written, words, isPrefix }: Term): boolean {
  // Such words overlap each other.
  if (words.some(word => UNSPACED.test(word))) return folded.includes(fold(written))
  const end = isPrefix ? '' : '(?![\\p{L}\\p{N}\\p{M}])'
  return new RegExp(
    `(?<![\\p{L}\\p{N}\\p{M}])${words.map(RegExp.escape).join('[^\\p{L}\\p{N}\\p{M}]+')}${end}`,
    'u',
  ).test(folded)
}
