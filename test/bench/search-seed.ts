/** The files and texts that `bench:search` searches, inserted directly into the database. */
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants } from 'node:zlib'
import { v7 as newId } from 'uuid'
import type { Db, Value } from '../../db/index.ts'
import { Blob as BlobTable } from '../../db/models/blob.ts'
import { Entry, FILE, FOLDER } from '../../db/models/entry.ts'
import { textKeyOf } from '../../db/queries/content-text.ts'
import { insertion } from '../../db/queries/sql.ts'
import type { Bench } from './service.ts'

let seed = 1
/** The same random numbers each time. */
export function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const SYLLABLES =
  'ba be bi bo bu da de di do du fa fe ga ge ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si so sta ta te ti to tra va ve'.split(
    ' ',
  )
const VOCABULARY = 60_000
/** The word of a rank. Frequent words are short. */
function wordAt(rank: number): string {
  let word = ''
  for (let left = rank + 1; left > 0; left = Math.floor(left / SYLLABLES.length))
    word += SYLLABLES[left % SYLLABLES.length]
  return word.length < 3 ? `${word}n` : word
}
export const vocabulary = Array.from({ length: VOCABULARY }, (_, rank) => wordAt(rank))
/** Zipf's law: the frequency of a word is one divided by its rank. */
export const anyWord = (): string =>
  vocabulary[Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random()) - 1)] ?? 'ba'
/** Words of all ranks in their frequency, because computing them takes long. */
const drawn = Array.from({ length: 1 << 20 }, anyWord)
const wordsOf = (count: number): string =>
  Array.from({ length: count }, () => drawn[Math.floor(drawn.length * random())]).join(' ')
export const textNumber = (i: number): string =>
  `Number ${i}x${(i * 7919) % 100_003}. ${wordsOf(250 + Math.floor(700 * random()))}`

/** Files of a folder, and rows of a statement. */
const FILES = 10_000
const ROWS = 1000
const TEXTS = 100
/** As the service compresses texts. */
const compression = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20 },
}

export interface Seeded {
  characters: number
  compressed: number
}

interface Text {
  digest: string
  characters: number
  body: Buffer
}

/**
 * Inserts files into the drive of the person, in folders of 10,000. One in `files / texts` has a
 * text. The service must not run.
 */
export async function seedFiles(
  { db, bucketId, rootId, userId }: Bench,
  files: number,
  texts: number,
): Promise<Seeded> {
  const at = Date.now()
  const common = {
    bucketId,
    totalFolders: 0,
    levelsBelow: 0,
    bytesBelow: 0,
    createdBy: userId,
    createdAt: at,
    updatedAt: at,
  }
  const seeded = { characters: 0, compressed: 0 }
  const all: Text[] = []
  const hasText = (i: number) =>
    Math.floor(((i + 1) * texts) / files) > Math.floor((i * texts) / files)
  for (let from = 0; from < files; from += FILES) {
    const folder = newId()
    const some = Array.from({ length: Math.min(FILES, files - from) }, (_, n) => {
      const i = from + n
      const text = hasText(i) ? textNumber(i) : ''
      const digest = text && textKeyOf(createHash('sha256').update(text).digest('hex'), 'text')
      if (digest)
        all.push({ digest, characters: text.length, body: brotliCompressSync(text, compression) })
      const name = `${wordsOf(3)} ${i}.${digest ? 'txt' : 'bin'}`
      return { id: newId(), blobId: newId(), name, size: text.length, digest: digest || null }
    })
    const shape = { parentId: rootId, blobId: null, fileType: '', md5: '' }
    const top = { ...common, ...shape, id: folder, name: `folder ${from}`, kind: FOLDER as 0 }
    const rows = some.map(({ id, blobId, name, size, digest }) => ({
      ...common,
      id,
      blobId,
      name,
      parentId: folder,
      kind: FILE as 1,
      md5: id.replaceAll('-', ''),
      totalFiles: 1,
      fileType: digest ? 'text/plain' : 'application/octet-stream',
      totalBytes: size,
    }))
    const blobs = some.map(({ blobId, size, digest }) => ({
      id: blobId,
      bucketId,
      state: 'live' as const,
      size,
      textKey: digest,
      reservedBytes: 0,
      leaseUntil: 0,
      createdAt: at,
    }))
    await db.transaction(async tx => {
      await db.run(...insertion(Entry, [{ ...top, totalBytes: 0, totalFiles: 0 }]), tx)
      for (let n = 0; n < rows.length; n += ROWS) {
        await db.run(...insertion(Entry, rows.slice(n, n + ROWS)), tx)
        await db.run(...insertion(BlobTable, blobs.slice(n, n + ROWS)), tx)
      }
    })
    if (from % 50_000 === 0) process.stderr.write(`${from} files\r`)
  }
  for (const { characters, body } of all) {
    seeded.characters += characters
    seeded.compressed += body.length
  }
  await insertTexts(db, all, at)
  return seeded
}

/** Inserts texts in the order of their keys, so that few pages are written twice. */
async function insertTexts(db: Db, texts: Text[], at: number): Promise<void> {
  const sorted = texts.sort((a, b) => (a.digest < b.digest ? -1 : 1))
  for (let from = 0; from < sorted.length; from += 100 * TEXTS)
    await db.transaction(async tx => {
      for (let n = from; n < Math.min(sorted.length, from + 100 * TEXTS); n += TEXTS) {
        const some = sorted.slice(n, n + TEXTS)
        const values = some.flatMap(({ digest, characters, body }): Value[] => [
          digest,
          'made',
          characters,
          body,
          at,
          at,
        ])
        await db.run(
          `INSERT INTO content_text (digest, state, characters, body, created_at, noted_at) VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
          values,
          tx,
        )
      }
    })
}
