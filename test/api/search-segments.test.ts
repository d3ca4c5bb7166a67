import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type Db, openDatabase } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import {
  beginSearchDrive,
  numbersWithoutDrive,
  searchDrives,
} from '../../db/queries/search-drive.ts'
import { deleteSearchedText, textBlock } from '../../db/queries/text-block.ts'
import { makeSearchTables } from '../../db/search-tables.ts'
import { readConfig } from '../../src/config/config.ts'
import {
  listsInPart,
  readPart,
  type SegmentPart,
  writeSegment,
} from '../../src/services/search/segment.ts'
import { segmentMerge } from '../../src/services/search/segment-merge.ts'
import { deleteDriveIndex } from '../../src/services/search/stale-word.ts'
import { textIndex } from '../../src/services/search/text-index.ts'
import { textMatches } from '../../src/services/search/text-match.ts'
import { parseSearch } from '../../src/values/search-query.ts'
import { newDatabase } from '../support/harness.ts'
import { mergeAll, rowsOfWord } from '../support/text-words.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let db: Db

beforeAll(async () => {
  database = await newDatabase()
  db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 4 })
  await migrate(db)
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const hour = 3_600_000
const digestOf = (i: number) => `${i}`.padStart(64, '0')

async function newDrive() {
  const bucketId = newId()
  await beginSearchDrive(db, bucketId, { seq: 0, hasTexts: true })
  const [drive] = await searchDrives(db, [bucketId])
  if (!drive) throw new Error('No drive.')
  return { bucketId, number: drive.number }
}

/** The numbers of the contents that a search for a word finds. */
async function docsWith(bucketId: string, text: string, withForms = false): Promise<number[]> {
  const drives = await searchDrives(db, [bucketId])
  const query = parseSearch(`${text} `)
  const texts = await textMatches(db, drives, query, Infinity)
  if (withForms) await texts.withForms()
  return [
    ...(texts
      .inDrive(drives[0]?.number ?? 0, query.terms, withForms ? 'also' : 'none')
      ?.downFrom(1e6) ?? []),
  ].reverse()
}

describe('A segment', () => {
  it('returns the written data when it is read in small parts', async () => {
    const words = ['a', 'ab', 'abc', 'überall', '東京', '\u{20000}\u{20001}', 'z'.repeat(40)]
    const many = Array.from({ length: 3000 }, (_, i) => `word${i}`)
    const all = [...words, ...many].map(word => Buffer.from(word)).sort(Buffer.compare)
    const docsOf = (i: number) =>
      i % 50 === 0 ? Array.from({ length: 16_384 }, (_, n) => n) : [i % 7, 127 + i, 16_383]
    const parts: SegmentPart[] = []
    const postings = async function* () {
      for (const [i, word] of all.entries()) yield { word, docs: docsOf(i) }
    }
    for await (const part of writeSegment(postings())) parts.push(part)
    const read = []
    for (const { body } of parts) {
      // InnoDB stores longer rows outside of its pages.
      expect(body.length).toBeLessThan(8000)
      for (const { word, docs } of await readPart(body)) read.push([word.toString(), docs()])
    }
    expect(read).toEqual(all.map((word, i) => [word.toString(), docsOf(i)]))
    expect(parts.map(({ first }) => first)).toContain(all[0]?.toString())
    const body = parts.findLast(({ first }) => first <= 'word1234')?.body ?? Buffer.alloc(0)
    const nth = all.findIndex(word => word.toString() === 'word1234')
    expect(await listsInPart(body, { word: 'word1234', isPrefix: false })).toEqual([docsOf(nth)])
    expect(await listsInPart(body, { word: 'word12345', isPrefix: false })).toEqual([])
    expect(await listsInPart(Buffer.from('broken'), { word: 'word1234', isPrefix: false })).toEqual(
      [],
    )
  })
})

describe('The contents index', () => {
  it('finds fresh and merged contents, and nothing of removed ones', async () => {
    const { bucketId, number } = await newDrive()
    const index = textIndex(db)
    const add = async (from: number, to: number) => {
      const some = Array.from({ length: to - from }, (_, i) => from + i)
      await Promise.all(
        some.map(i => index.add(number, digestOf(i), ['every', `only${i}`, `third${i % 3}`])),
      )
    }
    await add(0, 30)
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => from + i)
    expect(await docsWith(bucketId, 'every')).toEqual(numbers(1, 31))
    // All rows are fresh, and there are enough for a merge.
    await segmentMerge(db).run()
    expect(
      await db.row('SELECT fresh, gone FROM search_text_block WHERE drive = ?', [number]),
    ).toEqual({
      fresh: 0,
      gone: 0,
    })
    expect(await docsWith(bucketId, 'every')).toEqual(numbers(1, 31))
    expect(await docsWith(bucketId, 'third0')).toHaveLength(10)
    await add(30, 33)
    expect(await docsWith(bucketId, 'every')).toEqual(numbers(1, 34))
    expect((await docsWith(bucketId, 'only31')).length).toBe(1)
    // There are too few rows for a merge until an hour has passed.
    await segmentMerge(db).run()
    expect((await textBlock(db, number, 0))?.fresh).toBe(3)
    await deleteSearchedText(db, number, 5)
    const before = await textBlock(db, number, 0)
    await mergeAll(db)
    expect(await textBlock(db, number, 0)).toMatchObject({
      fresh: 0,
      gone: 0,
      merged: before?.epoch,
    })
    expect(await docsWith(bucketId, 'every')).toEqual(numbers(1, 34).filter(doc => doc !== 5))
    // One row for each word, because merged rows are deleted.
    expect((await rowsOfWord(db, 'every')).filter(({ drive }) => drive === number)).toHaveLength(1)
    expect((await rowsOfWord(db, 'only')).filter(({ drive }) => drive === number)).toHaveLength(32)
    expect(await db.rows('SELECT word FROM search_text_word WHERE drive = ?', [number])).toEqual([])
  })

  it('loses no word when processes merge during writes and one of them is killed', async () => {
    const { bucketId, number } = await newDrive()
    const [one, two] = [textIndex(db), textIndex(db)]
    let ended = false
    const merge = async (isStopped = () => false) => {
      await segmentMerge(db).run({ now: Date.now() + 2 * hour, isStopped })
      await sleep(1)
    }
    const merging = [1, 2].map(async () => {
      while (!ended) await merge()
    })
    let steps = 0
    const killed = (async () => {
      while (!ended) await merge(() => steps++ % 2 === 1)
    })()
    for (let i = 0; i < 60; i += 6)
      await Promise.all(
        [0, 1, 2, 3, 4, 5].map(n =>
          (n % 2 ? one : two).add(number, digestOf(i + n), ['all', `some${(i + n) % 5}`]),
        ),
      )
    ended = true
    await Promise.all([...merging, killed])
    const all = Array.from({ length: 60 }, (_, i) => i + 1)
    expect(await docsWith(bucketId, 'all')).toEqual(all)
    await mergeAll(db)
    expect(await docsWith(bucketId, 'all')).toEqual(all)
    expect((await rowsOfWord(db, 'some')).filter(({ drive }) => drive === number)).toHaveLength(5)
  })

  it('finds other word forms in English and German when asked to', async () => {
    const { bucketId, number } = await newDrive()
    const texts = [
      ['house'],
      ['houses', 'parties'],
      ['housing', 'party'],
      ['horse'],
      ['rechnungen'],
      ['rechnung', 'hauser'],
    ]
    const add = async (words: string[], i: number) => textIndex(db).add(number, digestOf(i), words)
    for (const [i, words] of texts.entries()) await add(words, i)
    for (const when of ['fresh', 'merged']) {
      if (when === 'merged') await mergeAll(db)
      expect([
        when,
        await docsWith(bucketId, 'house'),
        await docsWith(bucketId, 'house', true),
      ]).toEqual([when, [1], [1, 2, 3]])
      expect(await docsWith(bucketId, 'rechnung', true)).toEqual([5, 6])
      expect(await docsWith(bucketId, 'party houses', true)).toEqual([2, 3])
      expect(await docsWith(bucketId, 'haus', true)).toEqual([6])
      expect(await docsWith(bucketId, '"house"', true)).toEqual([1])
    }
  })
})

describe('The words of a deleted drive', () => {
  it('do not mix with those of the next drive, and a late writer cannot add any', async () => {
    const { bucketId, number } = await newDrive()
    await textIndex(db).add(number, digestOf(1), ['leftover'])
    await db.run('DELETE FROM search_drive WHERE bucket_id = ?', [bucketId])
    await textIndex(db).add(number, digestOf(2), ['late'])
    expect(await rowsOfWord(db, 'late')).toEqual([])
    const next = await newDrive()
    expect(next.number).toBe(number + 1)
    expect(await docsWith(next.bucketId, 'leftover')).toEqual([])
    expect(await numbersWithoutDrive(db)).toEqual([number])
    expect(await deleteDriveIndex(db, number)).toBe(true)
    expect(await numbersWithoutDrive(db)).toEqual([])
    expect(await rowsOfWord(db, 'leftover')).toEqual([])
  })
})

describe('An index of an earlier version', () => {
  it('is rebuilt from the texts', async () => {
    const { bucketId, number } = await newDrive()
    await textIndex(db).add(number, digestOf(1), ['former'])
    await db.run('UPDATE search_drive SET place = NULL WHERE bucket_id = ?', [bucketId])
    await db.run('DROP TABLE search_text_word')
    await db.run(
      'CREATE TABLE search_text_word (drive INTEGER NOT NULL, block INTEGER NOT NULL, word VARCHAR(80) NOT NULL)',
    )
    await makeSearchTables({ db, transaction: null })
    expect(
      await db.rows('SELECT is_ready AS ready FROM search_text WHERE drive = ?', [number]),
    ).toEqual([{ ready: 0 }])
    expect((await searchDrives(db, [bucketId]))[0]?.place).toBe('')
    await textIndex(db).add(number, digestOf(1), ['former'])
    expect(await docsWith(bucketId, 'former')).toEqual([1])
    // Only once.
    await makeSearchTables({ db, transaction: null })
    expect(
      await db.rows('SELECT is_ready AS ready FROM search_text WHERE drive = ?', [number]),
    ).toEqual([{ ready: 1 }])
  })
})
