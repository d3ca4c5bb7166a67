import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { newSearchEpoch } from '../../../db/queries/search.ts'
import { SearchFile } from '../../../db/search/file.ts'
import { SEARCH_FILE } from '../../../db/search/index.ts'
import { driveOf, found, put, ROOMY, UNHURRIED } from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let dir: string
let t: TestApp
let alice: Person

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-search-file-'))
  t = await startApp({
    ...UNHURRIED,
    DATA_DIR: dir,
    RATE_SEARCHES: '1000000',
    SEARCH_CONTENTS: 'on',
    DERIVE_PROCESSES: '1',
  })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  const answer = await alice.upload('notes/a.txt', 'the quokka of the shore', 'text/plain')
  expect(answer.status).toBe(200)
  await t.app.searchIndexer.idle()
  await t.settle()
})
afterAll(async () => {
  await t.stop()
  rmSync(dir, { recursive: true, force: true })
})

const file = () => join(dir, SEARCH_FILE)
const remove = () => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file()}${end}`, { force: true })
}

function replace(): void {
  remove()
  writeFileSync(file(), 'no database')
}

async function search(query: string): Promise<{ paths: string[]; isComplete: boolean }> {
  const url = `/api/search?limit=1000&query=${encodeURIComponent(query)}`
  const { status, response } = await alice.rest('GET', url)
  expect(status).toBe(200)
  return {
    paths: response.results.map(({ path }: { path: string }) => path),
    isComplete: response.is_complete,
  }
}

/** What a search finds when the index is complete. Until then, it finds nothing that is wrong. */
async function complete(query: string, expected: string[]): Promise<void> {
  const found = await until(async () => {
    const { paths, isComplete } = await search(query)
    // On a busy machine, the index is filled in the background.
    await t.app.searchIndexer.idle()
    await t.settle()
    expect(paths.filter(path => !expected.includes(path))).toEqual([])
    // Texts are indexed some time after names.
    return isComplete && paths.length === expected.length && paths
  })
  expect(found).toEqual(expected)
}

describe('A running service whose index', () => {
  it.each([
    ['is deleted', remove],
    ['is truncated', () => truncateSync(file(), 5000)],
    ['is emptied', () => truncateSync(file(), 0)],
    ['is overwritten', () => writeFileSync(file(), Buffer.alloc(100_000, 7))],
    ['is replaced by a text', replace],
    ['belongs to another state of the database', () => newSearchEpoch(t.app.db, newId())],
  ])('%s finds everything again', async (_what, damage) => {
    await complete('quokka', ['notes/a.txt'])
    await damage()
    await complete('quokka', ['notes/a.txt'])
    await complete('"quokka of the shore"', ['notes/a.txt'])
    await complete('a.txt', ['notes/a.txt'])
  })

  it('has changed bytes is deleted by the daily check, and finds everything again', async () => {
    await complete('quokka', ['notes/a.txt'])
    // Otherwise the pages are read from the log.
    const other = new SearchFile(file())
    other.use(null, opened => opened.rows('PRAGMA wal_checkpoint(TRUNCATE)'))
    other.close()
    const bytes = readFileSync(file())
    for (let at = 8192; at < bytes.length; at += 61) bytes[at] = (bytes[at] ?? 0) ^ 0x10
    writeFileSync(file(), bytes)
    await expect(t.app.index.check()).rejects.toThrow()
    await complete('quokka', ['notes/a.txt'])
    await t.app.index.check()
  })

  it('cannot be opened keeps running, and says that searches are incomplete', async () => {
    await complete('quokka', ['notes/a.txt'])
    remove()
    // A folder in its place cannot be opened, whoever runs the test.
    mkdirSync(file())
    expect(await search('quokka')).toEqual({ paths: [], isComplete: false })
    expect((await alice.upload('notes/b.txt', 'a wombat', 'text/plain')).status).toBe(200)
    rmSync(file(), { recursive: true })
    await t.app.searchIndexer.idle()
    await t.settle()
    await complete('quokka', ['notes/a.txt'])
    await complete('wombat', ['notes/b.txt'])
  })
})

describe('A database that is older than the index', () => {
  it('makes the drive be indexed again', async () => {
    await alice.upload('later/heron.txt', 'x')
    await complete('heron', ['later/heron.txt'])
    const drive = await driveOf(alice)
    const { db, index } = t.app
    const [before] = await index.ask('drives', [drive])
    // The log has another event with the number that was indexed last.
    await db.run('UPDATE event SET at = at - 1 WHERE log_id = ? AND seq = ?', [
      drive,
      before?.seq ?? 0,
    ])
    await complete('heron', ['later/heron.txt'])
    const [after] = await index.ask('drives', [drive])
    expect(after?.beganAt).toBeGreaterThan(before?.beganAt ?? 0)
  })
})

describe('A search in many drives', () => {
  it('finds the files of all of them, with statements that do not grow with the drives', async () => {
    const count = async (query: string) => {
      await t.app.searchIndexer.idle()
      await until(async () => (await search(query)).isComplete)
      t.statements()
      const { paths, isComplete } = await search(query)
      return { found: paths.length, isComplete, statements: t.statements().length }
    }
    const workspaces = [await found(alice), await found(alice)]
    for (const id of workspaces) await put(alice, id, 'bittern report.txt', id)
    const few = await count('bittern report')
    expect(few).toMatchObject({ found: 2, isComplete: true })
    for (let i = 0; i < 28; i++) {
      const id = await found(alice)
      await put(alice, id, 'bittern report.txt', id)
    }
    const many = await count('bittern report')
    expect(many).toMatchObject({ found: 30, isComplete: true })
    // Texts that have just been made cost some statements more, however many drives there are.
    expect(many.statements).toBeLessThan(few.statements + 15)
    expect((await search('bitt')).paths).toHaveLength(30)
    expect((await search('port')).paths).toHaveLength(30)
  })
})

describe('A search whose client hangs up', () => {
  it.each([
    ['/api/search?query=quokka', undefined],
    ['/graphql', '{ search(query: "quokka") { nodes { path } } }'],
  ])('asks the index no more: %s', async (path, query) => {
    await complete('quokka', ['notes/a.txt'])
    const { index } = t.app
    const { askUntil } = index
    const client = new AbortController()
    const asked: string[] = []
    let ended = false
    const watched = async (...args: Parameters<typeof askUntil>) => {
      const [signal, name] = args
      if (name === 'find') {
        asked.push(name)
        client.abort()
        await until(() => signal?.aborted)
        setTimeout(() => {
          ended = true
        }, 200)
      }
      return askUntil.apply(index, args)
    }
    index.askUntil = watched as typeof askUntil
    try {
      const answer = fetch(`${t.url}${path}`, {
        signal: client.signal,
        headers: { cookie: alice.cookie, 'content-type': 'application/json' },
        ...(query ? { method: 'POST', body: JSON.stringify({ query }) } : {}),
      })
      await expect(answer).rejects.toThrow(/abort/)
      await until(() => asked.length > 0 && ended)
      expect(asked).toEqual(['find'])
    } finally {
      index.askUntil = askUntil
    }
  })
})
