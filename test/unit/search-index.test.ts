import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type Identity, OtherIndex, SearchFile } from '../../db/search/file.ts'
import { damageOf, SearchInspection } from '../../db/search/inspect.ts'
import { find, hold } from '../../db/search/querying.ts'
import type { Doc } from '../../db/search/words.ts'
import {
  add,
  begin,
  drives,
  forget,
  type IndexedDrive,
  itemsAfter,
  lackingText,
  removeItems,
} from '../../db/search/writing.ts'

const dir = mkdtempSync(join(tmpdir(), 'satchel-search-'))
const path = join(dir, 'search.sqlite')
const identity: Identity = { epoch: 'one', hasTexts: true }
let file: SearchFile

const use = <T>(work: (opened: SearchFile) => T, as = identity): T => file.use(as, work)
const open = (as = identity) => file.use(as, () => {}, true)

beforeEach(() => {
  file = new SearchFile(path)
  open()
})
afterEach(() => {
  file.close()
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const start = { seq: 0, stamp: null }

function now(bucketId: string): IndexedDrive {
  const [found] = use(opened => drives(opened, [bucketId]))
  if (!found) throw new Error('No drive.')
  return found
}

function drive(bucketId: string): IndexedDrive {
  use(opened => begin(opened, bucketId, start))
  return now(bucketId)
}

const docOf = (id: string, name = 'a plover.txt'): Doc => ({
  id,
  name,
  fileClass: 'text',
  note: null,
  text: null,
})

const addAll = ({ bucketId }: IndexedDrive, docs: Doc[], gone: string[] = []) =>
  use(opened => add(opened, now(bucketId), { docs, gone }, null))

function pagesOf(numbers: number[], word: string, limit: number, isPrefix = false): string[] {
  const ids: string[] = []
  for (let before: string | null = null; ; ) {
    const condition = { in: ['word'] as const, words: [word], isPrefix }
    const until = Date.now() + 60_000
    const page = use(opened =>
      find(opened, { table: 'name', condition, drives: numbers, before, limit, until }),
    )
    expect(page.isCut).toBe(false)
    ids.push(...page.hits.map(({ id }) => id))
    if (!page.hasMore) return ids
    before = ids.at(-1) ?? null
  }
}

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map(value => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(one => one.value)

describe('The index', () => {
  it.each([
    [1, 7],
    [5, 10],
    [40, 3],
    [40, 50],
  ])('finds all entries of %d drives, newest first, in pages of %d', (count, limit) => {
    const all: string[] = []
    const numbers = Array.from({ length: count }, (_, i) => {
      const one = drive(`bucket ${i}`)
      const ids = Array.from({ length: 40 }, () => newId())
      // Entries arrive in any order.
      for (const id of shuffled(ids)) expect(addAll(one, [docOf(id)])).toBe('added')
      all.push(...ids)
      return one.number
    })
    const other = drive('of somebody else')
    addAll(other, [docOf(newId()), docOf(newId())])
    const newest = all.sort().reverse()
    expect(pagesOf(numbers, 'plover', limit)).toEqual(newest)
    expect(pagesOf(numbers, 'plo', limit, true)).toEqual(newest)
    expect(pagesOf(numbers, 'plo', limit)).toEqual([])
  })

  it('finds frequent words of many drives', () => {
    const all: string[] = []
    const numbers = Array.from({ length: 20 }, (_, i) => {
      const one = drive(`bucket ${i}`)
      const ids = Array.from({ length: 200 }, () => newId())
      addAll(
        one,
        ids.map(id => docOf(id)),
      )
      all.push(...ids)
      return one.number
    })
    expect(pagesOf(numbers, 'plover', 30)).toEqual(all.sort().reverse())
  })

  it('indexes a drive again when there is no room between two entries', () => {
    const one = drive('crowded')
    // Each has to be between the last two.
    const ids = Array.from({ length: 64 }, () => newId()).sort()
    addAll(one, [docOf(ids[0] ?? ''), docOf(ids.at(-1) ?? '')])
    let added = 'added'
    for (let i = ids.length - 2; i > 0 && added === 'added'; i--)
      added = addAll(one, [docOf(ids[i] ?? '')])
    expect(added).toBe('crowded')
    use(opened => forget(opened, one))
    const again = drive('crowded')
    expect(again.number).not.toBe(one.number)
    // Another process has found the former drive crowded, too.
    use(opened => forget(opened, one))
    expect(now('crowded')).toEqual(again)
    expect(
      addAll(
        again,
        ids.map(id => docOf(id)),
      ),
    ).toBe('added')
    expect(pagesOf([again.number], 'plover', 10)).toEqual(ids.toReversed())
    // The rows of the former number belong to no drive.
    const left = use(opened => itemsAfter(opened, 0n, 1000)).filter(item => item.drive === null)
    expect(left.length).toBeGreaterThan(2)
    use(opened => removeItems(opened, left))
    expect(pagesOf([one.number], 'plover', 10)).toEqual([])
    expect(pagesOf([again.number], 'plover', 10)).toHaveLength(64)
  })

  it('replaces and removes entries', () => {
    const one = drive('changes')
    const [a, b] = [newId(), newId()]
    addAll(one, [docOf(a), docOf(b)])
    addAll(one, [docOf(a, 'a curlew.txt')])
    expect(pagesOf([one.number], 'plover', 10)).toEqual([b])
    expect(pagesOf([one.number], 'curlew', 10)).toEqual([a])
    addAll(one, [], [b])
    expect(pagesOf([one.number], 'plover', 10)).toEqual([])
  })

  it('keeps entries that have come back since they were listed', () => {
    const one = drive('back')
    const [a, b] = [newId(), newId()].sort() as [string, string]
    addAll(one, [docOf(a)])
    const listed = use(opened => itemsAfter(opened, 0n, 10))
    addAll(one, [], [a])
    addAll(one, [docOf(a)])
    use(opened => removeItems(opened, listed))
    expect(pagesOf([one.number], 'plover', 10)).toEqual([a])
    // Another entry has the row.
    const again = use(opened => itemsAfter(opened, 0n, 10))
    addAll(one, [], [a])
    addAll(one, [docOf(b)])
    expect(use(opened => itemsAfter(opened, 0n, 10))).toMatchObject([{ row: again[0]?.row, id: b }])
    use(opened => removeItems(opened, again))
    expect(pagesOf([one.number], 'plover', 10)).toEqual([b])
    // Another drive has the number of one that was forgotten.
    use(opened => forget(opened, now('back')))
    const left = use(opened => itemsAfter(opened, 0n, 10))
    use(opened => removeItems(opened, left))
    expect(pagesOf([one.number], 'plover', 10)).toEqual([])
    const other = drive('other')
    expect(other.number).toBe(one.number)
    addAll(other, [docOf(b)])
    use(opened => removeItems(opened, left))
    expect(pagesOf([other.number], 'plover', 10)).toEqual([b])
  })

  it('adds nothing for a process that has read a drive before another addition', () => {
    const one = drive('moved')
    const id = newId()
    const to = { place: null, seq: 3, stamp: 1, added: 1 }
    expect(use(opened => add(opened, one, { docs: [docOf(id)] }, to))).toBe('added')
    const late = docOf(newId(), 'late plover')
    expect(use(opened => add(opened, one, { docs: [late] }, null))).toBe('moved')
    expect(use(opened => add(opened, one, { docs: [], gone: [id] }, to))).toBe('moved')
    expect(pagesOf([one.number], 'plover', 10)).toEqual([id])
  })

  it('knows which texts it has', () => {
    const one = drive('texts')
    const id = newId()
    addAll(one, [docOf(id)])
    const row = { bucketId: 'texts', id, key: 'ab'.repeat(32) }
    expect(use(opened => lackingText(opened, [row]))).toEqual([row])
    expect(use(opened => lackingText(opened, [{ ...row, id: newId() }]))).toEqual([])
    const condition = { in: ['text'] as const, words: ['x'] }
    expect(use(opened => hold(opened, [{ drive: one.number, id }], [condition]))).toEqual([
      { mark: null, holds: [false] },
    ])
  })
})

describe('An index of another database or version', () => {
  it('cannot be read, and is emptied only when the caller allows it', () => {
    const one = drive('old')
    addAll(one, [docOf(newId())])
    const other = { epoch: 'two', hasTexts: true }
    expect(() => use(opened => drives(opened, ['old']), other)).toThrow(OtherIndex)
    expect(use(opened => drives(opened, ['old']))).toHaveLength(1)
    open(other)
    expect(use(opened => drives(opened, ['old']), other)).toEqual([])
    expect(SearchInspection.open(path, 'one')).toBeNull()
    SearchInspection.open(path, 'two')?.close()
  })
})

describe('A file that', () => {
  const fill = () => {
    const one = drive('damaged')
    for (let i = 0; i < 20; i++)
      addAll(
        one,
        Array.from({ length: 50 }, (_, n) => docOf(newId(), `plover ${i} ${n} word${i * n}.txt`)),
      )
    // The log is written back.
    use(opened => opened.rows('PRAGMA wal_checkpoint(TRUNCATE)'))
    return one
  }
  const isUsable = () => {
    open()
    const one = drive('again')
    addAll(one, [docOf(newId())])
    expect(pagesOf([one.number], 'plover', 10)).toHaveLength(1)
    expect(damageOf(path)).toBeNull()
  }

  it('is deleted is made again', () => {
    fill()
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    expect(() => use(opened => drives(opened, ['damaged']))).toThrow(OtherIndex)
    isUsable()
  })

  it.each([
    ['truncated', () => truncateSync(path, 8192)],
    ['emptied', () => truncateSync(path, 0)],
    ['overwritten', () => writeFileSync(path, Buffer.alloc(65_536, 'x'))],
  ])('is %s is made again', (_what, damage) => {
    const one = fill()
    file.close()
    damage()
    let found: string[] = []
    try {
      found = pagesOf([one.number], 'plover', 10)
    } catch {
      // The next call starts with a new file.
    }
    expect(found).toEqual([])
    isUsable()
  })

  it('has changed bits never gives a wrong result or stops the process', () => {
    const one = fill()
    file.close()
    const whole = readFileSync(path)
    const ids = new Set(pagesOf([one.number], 'plover', 100))
    let noticed = 0
    for (let round = 0; round < 60; round++) {
      file.close()
      for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      const bytes = Buffer.from(whole)
      for (let i = 0; i < 30; i++) {
        const at = Math.floor(Math.random() * bytes.length)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
      }
      writeFileSync(path, bytes)
      const damage = damageOf(path)
      let isOk = damage === null
      try {
        const condition = { in: ['word'] as const, words: ['plover'] }
        const search = { condition, drives: [one.number], before: null, limit: 5000 }
        const until = Date.now() + 10_000
        use(opened => find(opened, { table: 'name', ...search, until }))
      } catch {
        isOk = false
      }
      if (!isOk) noticed += 1
      open()
    }
    expect(noticed).toBeGreaterThan(40)
    expect(ids.size).toBe(1000)
    file.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    isUsable()
  })

  it('cannot be written is still searched', () => {
    const one = fill()
    const { size } = statSync(path)
    use(opened => opened.rows(`PRAGMA max_page_count = ${Math.ceil(size / 4096)}`))
    const many = Array.from({ length: 2000 }, (_, i) => docOf(newId(), `new ${i} text${i}.txt`))
    expect(() => addAll(one, many)).toThrow(/full/)
    expect(pagesOf([one.number], 'plover', 100)).toHaveLength(1000)
    expect(pagesOf([one.number], 'new', 100)).toEqual([])
  })
})
