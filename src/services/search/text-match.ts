import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { textBodies, textSizes } from '../../../db/queries/content-text.ts'
import type { PlacedRow } from '../../../db/queries/entry-list.ts'
import { textsOfBlobs } from '../../../db/queries/search-text.ts'
import type { IndexedWord } from '../../../db/queries/search-word.ts'
import { BLOCK, freshDocs, partsWithWord, textBlocks } from '../../../db/queries/text-block.ts'
import { UNSPACED } from '../../derive/words.ts'
import type { SearchQuery, Term } from '../../values/search-query.ts'
import { fold } from '../../values/search-words.ts'
import { textOfBody } from './content-text.ts'
import { DocSet } from './doc-set.ts'
import { listsInPart, readDocs } from './segment.ts'
import { formsOf } from './word-form.ts'

/** A drive whose texts are searched. */
export interface TextDrive {
  bucketId: string
  number: number
  firstDoc: number
  docs: number
}

/**
 * Whether other forms of words are enough: also, or only where the words themselves are not there.
 */
export type WithForms = 'none' | 'also' | 'only'

type ByDrive = ReadonlyMap<number, DocSet>

/** What the texts of some files have of a query. */
export interface TextsOfFiles {
  /** Whether the text of a file has a term. */
  has(row: Pick<PlacedRow, 'bucketId' | 'blobId'>, term: Term): boolean
  /** Whether it has a form of the one word of a term, if forms are looked for. */
  hasForm(row: Pick<PlacedRow, 'bucketId' | 'blobId'>, term: Term): boolean
  digestOf(row: Pick<PlacedRow, 'bucketId' | 'blobId'>): string | undefined
}

/**
 * Texts of one search that are read to look for phrases, characters of them, and how many of both
 * are in memory at a time.
 */
const MOST_READ = 300
const MOST_CHARACTERS = 8 * 1024 * 1024
const TOGETHER = 25
const MOST_TOGETHER = 256 * 1024
/** Characters of a text that takes long. */
const LONG = 64 * 1024
/**
 * Milliseconds after which no more are read: results that come at once are worth more than a few
 * others.
 */
const READ_MS = 150

/** Forms of a word that snippets show. */
const FORMS = 20
/** Parts of the index that are read in one turn of the event loop. */
const PARTS_OF_TURN = 50

const NONE: TextsOfFiles = { has: () => false, hasForm: () => false, digestOf: () => undefined }

/**
 * Which contents of some drives have the terms of a query. The lists of the words are read once for
 * a search; whether a file has a word is then known without its text.
 * @param end when no more texts are read, as performance.now() has it
 */
export async function textMatches(
  db: Db,
  drives: readonly TextDrive[],
  query: SearchQuery,
  end: number,
) {
  const searched = drives.filter(({ docs }) => docs > 0)
  const numberOf = new Map(searched.map(({ bucketId, number }) => [bucketId, number]))
  const lasts = new Map(searched.map(({ number, docs }) => [number, docs]))
  const firsts = new Map(
    searched.map(({ number, firstDoc }) => [number, Math.floor(firstDoc / BLOCK)]),
  )
  const isAnyWord = query.terms.length + query.without.length > 0
  // Once for all words: what one of them is read from stays for as long as a search takes.
  const blocks = (isAnyWord ? await textBlocks(db, [...firsts.keys()]) : []).filter(
    ({ drive, block }) => block >= (firsts.get(drive) ?? 0),
  )
  const lists = new Map<Term, ByDrive>()
  let forms: Map<Term, ByDrive> | null = null
  const formWords: string[] = []
  /**
   * Whether texts have a phrase, by their digests: files with the same text, and later rounds, read
   * none again.
   */
  const phrases = new Map<Term, Map<string, boolean>>()
  let [read, characters, isCut] = [0, 0, false]
  let readUntil: number | undefined

  async function listOf(
    wanted: IndexedWord,
    fits = (_word: string) => true,
  ): Promise<Map<number, DocSet>> {
    const list = new Map<number, DocSet>()
    const docsOf = (drive: number): DocSet => {
      const docs = list.get(drive) ?? new DocSet(lasts.get(drive) ?? 0)
      list.set(drive, docs)
      return docs
    }
    const add = (drive: number, block: number, numbers: readonly number[]): void => {
      const docs = docsOf(drive)
      for (const nth of numbers) docs.add(block * BLOCK + nth)
    }
    for (const { drive, block, word, docs } of await freshDocs(db, blocks, wanted))
      if (fits(word)) add(drive, block, readDocs(docs))
    const parts = await partsWithWord(db, blocks, wanted)
    for (const [i, { drive, block, body }] of parts.entries()) {
      for (const docs of await listsInPart(body, wanted, fits)) add(drive, block, docs)
      if (i % PARTS_OF_TURN === PARTS_OF_TURN - 1) await nextTurn()
    }
    return list
  }

  async function readTerm({ words, isPrefix }: Term): Promise<ByDrive> {
    const [first, ...rest] = words.map((word, i) => ({
      word,
      isPrefix: isPrefix && i === words.length - 1,
    }))
    if (!first) return new Map()
    const list = await listOf(first)
    for (const word of rest) {
      if (list.size === 0) break
      const others = await listOf(word)
      for (const [drive, docs] of list) {
        const there = others.get(drive)
        if (there) docs.keep(there)
        else list.delete(drive)
      }
    }
    return list
  }

  /**
   * Those that have another form of a word, too. What the forms are is known from the index:
   * nothing is kept for it.
   */
  async function readForms(term: Term, exact: ByDrive): Promise<ByDrive> {
    const [word = '', ...rest] = term.words
    const forms = rest.length > 0 || term.isPhrase ? null : formsOf(word)
    if (!forms) return exact
    const known = new Map<string, boolean>()
    const list = await listOf({ word: forms.beginning, isPrefix: true }, other => {
      const isForm = known.get(other) ?? forms.isForm(other)
      known.set(other, isForm)
      return isForm
    })
    const found = [...known].flatMap(([other, isForm]) => (isForm && other !== word ? [other] : []))
    formWords.push(...found.slice(0, FORMS))
    for (const [drive, docs] of exact) {
      const others = list.get(drive)
      if (others) others.join(docs)
      else list.set(drive, docs)
    }
    return list
  }

  if (searched.length > 0) {
    const { terms, without } = query
    for (const term of [...terms, ...without]) lists.set(term, await readTerm(term))
  }
  let isAny = [...lists.values()].some(({ size }) => size > 0)

  return {
    /** Looks for other forms of the words from now on. @returns whether there are any */
    async withForms(): Promise<boolean> {
      if (searched.length === 0 || forms) return formWords.length > 0
      forms = new Map()
      for (const term of query.terms)
        forms.set(term, await readForms(term, lists.get(term) ?? new Map()))
      isAny ||= [...forms.values()].some(({ size }) => size > 0)
      return formWords.length > 0
    },

    /** The other forms of words that were found. */
    formWords: (): readonly string[] => formWords,

    /** Whether more texts had to be read than a search reads, or than there was time for. */
    isCut: () => isCut,

    /**
     * The contents of a drive that have all words of some terms; with forms of them also, or only
     * those that have not the words themselves.
     */
    inDrive(number: number, terms: readonly Term[], which: WithForms = 'none'): DocSet | null {
      const allOf = (of: ReadonlyMap<Term, ByDrive>): DocSet | null => {
        const [first, ...rest] = terms.map(term => of.get(term)?.get(number))
        if (!first || rest.some(docs => !docs)) return null
        const all = new DocSet(lasts.get(number) ?? 0)
        all.join(first)
        for (const docs of rest) if (docs) all.keep(docs)
        return all
      }
      const exact = allOf(lists)
      if (which === 'none' || !forms) return exact
      const all = allOf(forms)
      if (all && exact && which === 'only') all.drop(exact)
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
      const isIn = (
        all: ReadonlyMap<Term, ByDrive> | null,
        row: Pick<PlacedRow, 'bucketId' | 'blobId'>,
        term: Term,
      ) => {
        const text = textOf(row)
        const docs = all?.get(term)?.get(numberOf.get(row.bucketId) ?? 0)
        return text !== undefined && Boolean(docs?.has(text.doc))
      }
      const hasWords = (row: Pick<PlacedRow, 'bucketId' | 'blobId'>, term: Term) =>
        isIn(lists, row, term)
      await readPhrases(rows, hasWords, row => textOf(row)?.digest)
      return {
        digestOf: row => textOf(row)?.digest,
        has: (row, term) =>
          hasWords(row, term) &&
          (term.words.length === 1 || Boolean(phrases.get(term)?.get(textOf(row)?.digest ?? ''))),
        hasForm: (row, term) => term.words.length === 1 && isIn(forms, row, term),
      }
    },
  }

  /**
   * Looks for phrases in the texts that have their words: the index does not know the order of
   * words.
   */
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
    if (wanted.size === 0) return
    readUntil ??= Math.min(end, performance.now() + READ_MS)
    const sizes = await textSizes(db, [...wanted.keys()])
    for (const some of batches(
      [...wanted.keys()].filter(digest => sizes.has(digest)),
      sizes,
    )) {
      isCut ||= read + some.length > MOST_READ || characters > MOST_CHARACTERS
      isCut ||= read > 0 && performance.now() > readUntil
      if (isCut) return
      read += some.length
      const texts = Array.from(
        await textBodies(db, some),
        async ([digest, body]) => [digest, await textOfBody(body)] as const,
      )
      for (const [digest, text] of await Promise.all(texts)) {
        const folded = fold(text ?? '')
        characters += folded.length
        for (const term of wanted.get(digest) ?? []) {
          // Others have their turn: a long text takes a tenth of a second.
          if (folded.length > LONG) await nextTurn()
          const found = phrases.get(term) ?? new Map<string, boolean>()
          phrases.set(term, found.set(digest, hasPhrase(folded, term)))
        }
      }
      await nextTurn()
    }
  }
}

/** Texts that are read together, in their order. */
function* batches(
  digests: readonly string[],
  sizes: ReadonlyMap<string, number>,
): Generator<string[]> {
  let [some, characters]: [string[], number] = [[], 0]
  for (const digest of digests) {
    const size = sizes.get(digest) ?? 0
    if (some.length === TOGETHER || (some.length > 0 && characters + size > MOST_TOGETHER)) {
      yield some
      some = []
      characters = 0
    }
    some.push(digest)
    characters += size
  }
  if (some.length > 0) yield some
}

export type TextMatches = Awaited<ReturnType<typeof textMatches>>

/**
 * Whether a folded text has words one after the other, with anything but letters and digits between
 * them.
 */
export function hasPhrase(folded: string, { text: written, words, isPrefix }: Term): boolean {
  // Such words overlap each other.
  if (words.some(word => UNSPACED.test(word))) return folded.includes(fold(written))
  const end = isPrefix ? '' : '(?![\\p{L}\\p{N}\\p{M}])'
  return new RegExp(
    `(?<![\\p{L}\\p{N}\\p{M}])${words.map(RegExp.escape).join('[^\\p{L}\\p{N}\\p{M}]+')}${end}`,
    'u',
  ).test(folded)
}
