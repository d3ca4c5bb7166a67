import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { IndexedWord } from '../../../db/queries/search-word.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/**
 * Bytes of a part before it is compressed: with more, each word costs more to read; with fewer,
 * they are compressed less.
 */
const PART = 6 * 1024
/**
 * Bytes of the longest part: of a word that all contents of a block have, which is alone in one,
 * and takes 16 KiB.
 */
const MOST = 64 * 1024

/** A word with the numbers of the contents within a block that have it, in ascending order. */
export interface Posting {
  /** UTF-8: a segment is in the order of these bytes, as the rows of the database are. */
  word: Buffer
  docs: number[]
}

/** A part of a segment: the words from its first one up to that of the next part, compressed. */
export interface SegmentPart {
  first: string
  body: Buffer
}

function varint(bytes: number[], value: number): void {
  let left = value
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80)
  bytes.push(left)
}

function sharedBytes(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let same = 0
  while (same < most && a[same] === b[same]) same += 1
  return same
}

/**
 * Writes postings in the order of their words as parts. A word is how many bytes it has in common
 * with the one before, how many others it has, and these; then how many contents, and the distance
 * of each from the one before.
 */
export async function* writeSegment(postings: AsyncIterable<Posting>): AsyncGenerator<SegmentPart> {
  let [bytes, first, before]: [number[], Buffer | null, Buffer] = [[], null, Buffer.alloc(0)]
  const part = async (word: Buffer): Promise<SegmentPart> => ({
    first: word.toString(),
    body: await deflate(Buffer.from(bytes), { level: 6 }),
  })
  for await (const { word, docs } of postings) {
    const list: number[] = []
    varint(list, docs.length)
    let last = 0
    for (const doc of docs) {
      varint(list, doc - last)
      last = doc
    }
    if (first && bytes.length + word.length + list.length > PART) {
      yield await part(first)
      bytes = []
      first = null
    }
    const shared = first ? sharedBytes(before, word) : 0
    bytes.push(shared, word.length - shared)
    for (let i = shared; i < word.length; i++) bytes.push(word[i] ?? 0)
    for (const byte of list) bytes.push(byte)
    first ??= word
    before = word
  }
  if (first) yield await part(first)
}

interface PartWord {
  word: Buffer
  /** Reads its list, which takes longer than the word. */
  docs(): number[]
}

/**
 * The words of a part in their order; none of one that cannot be read: neither searches nor merges
 * fail by it.
 */
export async function readPart(body: Uint8Array): Promise<Iterable<PartWord>> {
  try {
    return wordsOfPart(await inflate(body, { maxOutputLength: MOST }))
  } catch {
    return []
  }
}

function* wordsOfPart(bytes: Buffer): Generator<PartWord> {
  let at = 0
  let before = Buffer.alloc(0)
  const next = (): number => {
    let [value, shift] = [0, 0]
    for (;;) {
      const byte = bytes[at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
      shift += 7
    }
  }
  while (at < bytes.length) {
    const [shared, more] = [bytes[at] ?? 0, bytes[at + 1] ?? 0]
    const word = Buffer.concat([before.subarray(0, shared), bytes.subarray(at + 2, at + 2 + more)])
    at += 2 + more
    const count = next()
    const start = at
    // The last byte of a number is the one below 0x80.
    for (let left = count; left > 0 && at < bytes.length; at++)
      if ((bytes[at] ?? 0) < 0x80) left -= 1
    const end = at
    yield {
      word,
      docs() {
        at = start
        const docs = new Array<number>(count)
        for (let i = 0, doc = 0; i < count; i++) {
          doc += next()
          docs[i] = doc
        }
        at = end
        return docs
      },
    }
    before = word
  }
}

/** Numbers of two bytes, each once, in ascending order. */
export function readDocs(docs: Uint8Array): number[] {
  const numbers = new Set<number>()
  for (let i = 0; i + 1 < docs.length; i += 2)
    numbers.add((docs[i] ?? 0) | ((docs[i + 1] ?? 0) << 8))
  return [...numbers].sort((a, b) => a - b)
}

/**
 * Words of a part with their lists: the one that is looked for, or those that begin with it. @param
 * fits which of these are wanted
 */
export async function listsInPart(
  body: Uint8Array,
  { word, isPrefix }: IndexedWord,
  fits: (word: string) => boolean = () => true,
): Promise<number[][]> {
  const wanted = Buffer.from(word)
  const lists: number[][] = []
  for (const found of await readPart(body)) {
    const order = found.word.compare(wanted)
    if (order < 0) continue
    if (order > 0 && !(isPrefix && found.word.subarray(0, wanted.length).equals(wanted))) break
    if (fits(found.word.toString())) lists.push(found.docs())
    if (!isPrefix) break
  }
  return lists
}
