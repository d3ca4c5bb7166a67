import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../db/index.ts'
import { type TextBlock, WORDS_AT_ONCE } from '../../../db/queries/text-block.ts'
import {
  addParts,
  blocksToClear,
  blocksToMerge,
  deleteMerged,
  deleteSegment,
  endEpoch,
  freshWordsAfter,
  numbersOf,
  PARTS_AT_ONCE,
  partsAfter,
  setClear,
  setMerged,
} from '../../../db/queries/text-segment.ts'
import { type Posting, readDocs, readPart, type SegmentPart, writeSegment } from './segment.ts'

/** What is fresh or gone is merged after this time, however little it is. */
const MERGE_MS = 3_600_000
/**
 * What was merged is deleted after this time: no search takes as long. Less than the time between
 * two sweeps, after each of which there may be more.
 */
const CLEAR_MS = 30_000
const BLOCKS = 20

export interface MergeOptions {
  /** The time, in milliseconds since 1970; later ones merge and delete at once. */
  now?: number
  isStopped?: () => boolean
  /** Runs a step of the work, and has others have their turn. */
  step?: <T>(work: () => Promise<T>) => Promise<T>
}

async function* segmentOf(db: Db, { drive, block, merged }: TextBlock): AsyncGenerator<Posting> {
  for (let after = ''; ; ) {
    const parts = await partsAfter(db, { drive, block, epoch: merged }, after)
    for (const { body } of parts)
      for (const { word, docs } of await readPart(body)) yield { word, docs: docs() }
    if (parts.length < PARTS_AT_ONCE) return
    after = parts.at(-1)?.first ?? ''
  }
}

async function* freshOf(
  db: Db,
  { drive, block }: TextBlock,
  epoch: number,
): AsyncGenerator<Posting> {
  for (let after = ''; ; ) {
    const rows = await freshWordsAfter(db, { drive, block, epoch }, after, WORDS_AT_ONCE)
    for (const { word, docs } of rows) yield { word: Buffer.from(word), docs: readDocs(docs) }
    if (rows.length < WORDS_AT_ONCE) return
    after = rows.at(-1)?.word ?? ''
  }
}

/** Several lists in the order of their words as one, without the contents that are gone. */
async function* merged(
  lists: AsyncIterator<Posting>[],
  isThere: (doc: number) => boolean,
): AsyncGenerator<Posting> {
  const heads = await Promise.all(lists.map(async list => ({ list, next: await list.next() })))
  for (;;) {
    let word: Buffer | undefined
    for (const { next } of heads)
      if (!next.done && (!word || next.value.word.compare(word) < 0)) word = next.value.word
    if (!word) return
    const docs: number[][] = []
    for (const head of heads)
      if (!head.next.done && head.next.value.word.equals(word)) {
        docs.push(head.next.value.docs)
        head.next = await head.list.next()
      }
    const all =
      docs.length === 1 ? (docs[0] ?? []) : [...new Set(docs.flat())].sort((a, b) => a - b)
    const left = all.filter(isThere)
    if (left.length > 0) yield { word, docs: left }
  }
}

/**
 * Merges the words of blocks into segments, which are small and quick to read, and never change: a
 * new one takes the place of the one before at once, when it is whole. Any number of processes may
 * do so: of two that merge the same block, the work of one counts. Killed, another one begins anew.
 */
export function segmentMerge(db: Db) {
  /** @returns whether it is merged */
  async function mergeBlock(
    block: TextBlock,
    { isStopped = () => false, step = work => work() }: MergeOptions,
  ) {
    if (!(await endEpoch(db, block))) return false
    const numbers = await numbersOf(db, block)
    if (!numbers) return false
    const isThere = (doc: number) => numbers.docs.has(doc) || doc > numbers.last
    const lists = [segmentOf(db, block)]
    for (let epoch = block.merged + 1; epoch <= block.epoch; epoch++)
      lists.push(freshOf(db, block, epoch))
    const parts = writeSegment(merged(lists, isThere))
    for (let isEnd = false; !isEnd; ) {
      if (isStopped()) return false
      isEnd = await step(async () => {
        const some: SegmentPart[] = []
        while (some.length < PARTS_AT_ONCE) {
          const { value, done } = await parts.next()
          if (done) break
          some.push(value)
        }
        if (some.length > 0) await addParts(db, block, some)
        return some.length < PARTS_AT_ONCE
      })
      await nextTurn()
    }
    if (await setMerged(db, block)) return true
    await deleteSegment(db, block)
    return false
  }

  return {
    /**
     * Merges what is to be merged now, a number of blocks at most. @returns whether there may be
     * more
     */
    async run(options: MergeOptions = {}): Promise<boolean> {
      const { now = Date.now(), isStopped = () => false, step = work => work() } = options
      for (const block of await blocksToClear(db, now - CLEAR_MS, BLOCKS)) {
        while (!isStopped() && (await step(() => deleteMerged(db, block, WORDS_AT_ONCE))));
        if (isStopped()) return false
        await setClear(db, block)
      }
      const blocks = await blocksToMerge(db, now - MERGE_MS, BLOCKS)
      let merged = 0
      for (const block of blocks) {
        if (isStopped()) return false
        if (await mergeBlock(block, options)) merged += 1
      }
      return merged === BLOCKS
    },
  }
}
