import { setImmediate as nextTurn } from 'node:timers/promises'
import { v7 as newId } from 'uuid'
import type { Db } from '../../../db/index.ts'
import {
  addTextWords,
  blockSize,
  deleteSearchedText,
  lockTextWords,
  numberedAmong,
  numberText,
  replaceTextWords,
  type SearchedText,
  setTextReady,
  unsetTextReady,
  type WordBlock,
} from '../../../db/queries/search-text.ts'
import { inParts } from '../../../db/queries/sql.ts'

/** Words of one statement: requests wait for no longer than that takes. */
const WORDS = 300
/** Contents whose words are added together: most of these are the same. */
const TOGETHER = 64

interface Waiting {
  drive: number
  doc: number
  words: readonly string[]
  resolve(): void
  reject(error: unknown): void
}

/** The words of contents, by drive: what is added, and what is taken away. */
export function textIndex(db: Db) {
  const size = blockSize(db)
  const waiting: Waiting[] = []
  let isWriting = false

  /** Adds the words of some contents of one drive. In no transaction: nothing counts on a content until it is ready. */
  async function write(drive: number, contents: readonly Pick<Waiting, 'doc' | 'words'>[]): Promise<void> {
    const blocks = Map.groupBy(contents, ({ doc }) => Math.floor(doc / size))
    for (const [block, some] of blocks) {
      const docsOf = new Map<string, number[]>()
      for (const { doc, words } of some)
        for (const word of words) {
          const docs = docsOf.get(word)
          if (docs) docs.push(doc % size)
          else docsOf.set(word, [doc % size])
        }
      // In the order of the index, in which other processes lock its rows, too.
      const rows = [...docsOf].sort(byWord).map(([word, docs]): WordBlock => ({ word, docs: packed(docs) }))
      for (const part of inParts(rows, WORDS)) {
        await addTextWords(db, drive, block, part)
        await nextTurn()
      }
    }
    const docs = contents.map(({ doc }) => doc)
    if ((await setTextReady(db, drive, docs)) === docs.length) return
    // They were taken away meanwhile.
    const left = new Set(docs)
    for (const doc of await numberedAmong(db, drive, docs)) left.delete(doc)
    for (const { doc, words } of contents) if (left.has(doc)) await takeAway(drive, doc, words)
  }

  async function takeAway(drive: number, doc: number, words: readonly string[]): Promise<void> {
    const block = Math.floor(doc / size)
    for (const part of inParts([...words].sort(), WORDS)) {
      await db.transaction(async tx => {
        const rows = await lockTextWords(db, { drive, block, words: part }, tx)
        const changed = rows.map(({ word, docs }) => ({ word, docs: without(docs, doc % size) }))
        await replaceTextWords(db, { drive, block, words: changed }, tx)
      })
      await nextTurn()
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
    async add(drive: number, digest: string, words: readonly string[]): Promise<void> {
      const doc = await db.transaction(tx => numberText(db, { drive, digest, newId }, tx))
      if (doc === null) return
      await new Promise<void>((resolve, reject) => {
        waiting.push({ drive, doc, words, resolve, reject })
        void writeAll()
      })
    },

    /** Takes a content from a drive: first its words, so that it is known what is left to do if that ends halfway. It is not indexed from the first one on. */
    async remove({ drive, doc }: Pick<SearchedText, 'drive' | 'doc'>, words: readonly string[]): Promise<void> {
      await unsetTextReady(db, drive, doc)
      await takeAway(drive, doc, words)
      await db.transaction(tx => deleteSearchedText(db, drive, doc, tx))
    },
  }
}

const byWord = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function packed(docs: readonly number[]): Buffer {
  const bytes = Buffer.alloc(docs.length * 2)
  for (const [i, doc] of docs.entries()) bytes.writeUInt16LE(doc, i * 2)
  return bytes
}

function without(docs: Buffer, doc: number): Buffer {
  const left: number[] = []
  for (let i = 0; i + 1 < docs.length; i += 2) {
    const there = docs.readUInt16LE(i)
    if (there !== doc) left.push(there)
  }
  return packed(left)
}
