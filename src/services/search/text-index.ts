import { setImmediate as nextTurn } from 'node:timers/promises'
import { v7 as newId } from 'uuid'
import type { Db } from '../../../db/index.ts'
import { numberTexts } from '../../../db/queries/search-text.ts'
import { inParts } from '../../../db/queries/sql.ts'
import {
  addTextWords,
  BLOCK,
  epochOf,
  type FreshWord,
  setTextsReady,
  WORDS_AT_ONCE,
} from '../../../db/queries/text-block.ts'

/** Contents whose words are added together: most of these are the same. */
const TOGETHER = 64
/** How often words are added again because their block is merged meanwhile. */
const TRIES = 10

interface Waiting {
  drive: number
  digest: string
  words: readonly string[]
  resolve(): void
  reject(error: unknown): void
}

/** Adds the words of contents to the drives that have them. */
export function textIndex(db: Db) {
  const waiting: Waiting[] = []
  let isWriting = false

  /**
   * Adds the words of some contents of one drive. In no transaction: nothing counts on a content
   * until it is ready.
   */
  async function write(drive: number, texts: readonly Waiting[]): Promise<void> {
    const wordsOf = new Map(texts.map(({ digest, words }) => [digest, words]))
    const numbers = await db.transaction(tx =>
      numberTexts(db, { drive, digests: [...wordsOf.keys()], newId }, tx),
    )
    const contents = Array.from(numbers ?? [], ([digest, doc]) => ({
      doc,
      words: wordsOf.get(digest) ?? [],
    }))
    for (const [block, some] of Map.groupBy(contents, ({ doc }) => Math.floor(doc / BLOCK))) {
      const docsOf = new Map<string, number[]>()
      for (const { doc, words } of some)
        for (const word of words) {
          const docs = docsOf.get(word)
          if (docs) docs.push(doc % BLOCK)
          else docsOf.set(word, [doc % BLOCK])
        }
      // In the order of the index, in which other processes lock its rows, too.
      const rows = [...docsOf]
        .sort(byWord)
        .map(([word, docs]): FreshWord => ({ word, docs: packed(docs) }))
      const docs = some.map(({ doc }) => doc)
      for (let tries = 1; ; tries++) {
        const epoch = await epochOf(db, drive, block)
        if (epoch === null) break
        for (const part of inParts(rows, WORDS_AT_ONCE)) {
          await addTextWords(db, { drive, block, epoch }, part)
          await nextTurn()
        }
        if (await setTextsReady(db, { drive, block, epoch, docs })) break
        if (tries === TRIES)
          throw new Error('The index of a drive was merged again and again while words were added.')
      }
    }
  }

  /** What waits together is written together. */
  async function writeAll(): Promise<void> {
    if (isWriting) return
    isWriting = true
    try {
      while (waiting.length > 0) {
        const drive = waiting[0]?.drive ?? 0
        const some = waiting.filter(one => one.drive === drive).slice(0, TOGETHER)
        for (const one of some) waiting.splice(waiting.indexOf(one), 1)
        try {
          await write(drive, some)
          for (const { resolve } of some) resolve()
        } catch (error) {
          for (const { reject } of some) reject(error)
        }
      }
    } finally {
      isWriting = false
    }
  }

  return {
    /** Indexes the words of a content in a drive. */
    add(drive: number, digest: string, words: readonly string[]): Promise<void> {
      return new Promise<void>((resolve, reject) => {
        waiting.push({ drive, digest, words, resolve, reject })
        void writeAll()
      })
    },
  }
}

const byWord = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function packed(docs: readonly number[]): Buffer {
  const bytes = Buffer.alloc(docs.length * 2)
  for (const [i, doc] of docs.entries()) bytes.writeUInt16LE(doc, i * 2)
  return bytes
}
