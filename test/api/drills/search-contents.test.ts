import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { textKeyOf } from '../../../db/queries/content-text.ts'
import { SEARCH_FILE } from '../../../db/search/index.ts'
import { examine } from '../../../src/doctor/run.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { changeRunner } from '../../../src/services/history/event.ts'
import { contentsService } from '../../../src/services/search/search-text.ts'
import { DAY_MS } from '../../../src/values/duration.ts'
import {
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../../support/builders.ts'
import { runBuilt } from '../../support/built-service.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../../support/harness.ts'
import { pdfOf } from '../../support/pdf-of.ts'
import { idsWithWord, loseEntries } from '../../support/search-words.ts'

let database: { url: string; drop(): Promise<void> }
let dir: string
let t: TestApp
let alice: Person
let bob: Person

interface Data {
  search: {
    nodes: { path: string; share: { id: string } | null }[]
    edges: {
      matchedIn: string[]
      snippet: { text: string; ranges: { start: number; end: number }[] } | null
    }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
    isComplete: boolean
  }
}

const SEARCH = `query ($query: String!, $first: Int, $after: String, $orderBy: SearchOrder, $drives: [ID!]) {
  search(query: $query, first: $first, after: $after, orderBy: $orderBy, drives: $drives) {
    nodes { path share { id } } edges { matchedIn snippet { text ranges { start end } } }
    pageInfo { hasNextPage endCursor } isComplete
  }
}`

async function search(who: Person, query: string, more: object = {}): Promise<Data['search']> {
  const { data, errors } = await who.graphql<Data>(SEARCH, { query, ...more })
  if (!data) throw new Error(JSON.stringify(errors))
  return data.search
}

const paths = async (who: Person, query: string, more: object = {}): Promise<string[]> =>
  (await search(who, query, more)).nodes.map(({ path }) => path)

/** Indexes everything, and runs all waiting extractions and deletions. */
async function settle(): Promise<void> {
  await t.app.searchIndexer.idle()
  await t.settle()
}

async function upload(
  who: Person,
  path: string,
  bytes: string | Uint8Array,
  type = 'text/plain',
): Promise<void> {
  const answer = await who.upload(path, bytes, type)
  if (answer.status !== 200) throw new Error(answer.text)
}

beforeAll(async () => {
  database = await newDatabase()
  dir = mkdtempSync(joinPath(tmpdir(), 'satchel-contents-'))
  t = await startApp({
    ...UNHURRIED,
    DATA_DIR: dir,
    DATABASE_URL: database.url,
    SEARCH_CONTENTS: 'on',
    DERIVE_PROCESSES: '1',
    TRASH_DAYS: '0',
    VERSIONS_KEPT: '0',
  })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(async () => {
  await t.stop()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

describe('The contents of a file', () => {
  it('are found by words, by prefixes and without accents, with an excerpt of the match', async () => {
    await upload(
      alice,
      'letters/one.txt',
      'Dear Ms Müller,\n\nthe quokka of the Straße has <b>arrived</b> in Zürich.',
    )
    await settle()
    const { nodes, edges } = await search(alice, 'quokka zurich')
    expect(nodes.map(({ path }) => path)).toEqual(['letters/one.txt'])
    expect(edges[0]?.matchedIn).toEqual(['CONTENT'])
    const { text, ranges } = edges[0]?.snippet ?? { text: '', ranges: [] }
    expect(text).toBe('Dear Ms Müller,  the quokka of the Straße has <b>arrived</b> in Zürich.')
    expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual(['quokka', 'Zürich'])
    expect(await paths(alice, 'quok')).toEqual(['letters/one.txt'])
    expect(await paths(alice, 'strass')).toEqual(['letters/one.txt'])
    expect(await paths(alice, 'quokk arrived')).toEqual([])
    expect(await paths(bob, 'quokka')).toEqual([])
  })

  it('are found in other formats and by phrases, and not when the query excludes a word', async () => {
    await upload(
      alice,
      'formats/report.pdf',
      pdfOf(['The numbat report', 'was written in March']),
      'application/pdf',
    )
    await upload(alice, 'formats/code.ts', 'export const numbatCount = 1 // numbat report, March')
    await settle()
    // The file whose text was extracted last comes first.
    expect((await paths(alice, 'numbat report')).sort()).toEqual([
      'formats/code.ts',
      'formats/report.pdf',
    ])
    expect(await paths(alice, '"report was written"')).toEqual(['formats/report.pdf'])
    expect(await paths(alice, '"written was report"')).toEqual([])
    expect(await paths(alice, 'numbat -written')).toEqual(['formats/code.ts'])
    expect(await paths(alice, 'numbat type:pdf')).toEqual(['formats/report.pdf'])
    // A word of the name combined with a word of the text.
    expect(await paths(alice, 'code march')).toEqual(['formats/code.ts'])
    expect((await search(alice, 'code march')).edges[0]?.matchedIn).toEqual(['NAME', 'CONTENT'])
    // Matches in names come first.
    await upload(alice, 'formats/numbat.txt', 'nothing')
    expect((await paths(alice, 'numbat'))[0]).toBe('formats/numbat.txt')
  })

  it('are found page by page, in every order', async () => {
    for (let i = 0; i < 7; i++) await upload(alice, `pages/${i}.txt`, `bilby number ${i % 4}`)
    await settle()
    for (const orderBy of ['RELEVANCE', 'NAME', 'NEWEST']) {
      const all = await paths(alice, 'bilby', { orderBy })
      expect([...all].sort()).toEqual(Array.from({ length: 7 }, (_, i) => `pages/${i}.txt`))
      const read: string[] = []
      for (let after: string | null = null; ; ) {
        const page: Data['search'] = await search(alice, 'bilby', { orderBy, first: 2, after })
        read.push(...page.nodes.map(({ path }) => path))
        expect(page.edges.every(({ snippet }) => snippet?.text.startsWith('bilby number'))).toBe(
          true,
        )
        if (!page.pageInfo.hasNextPage) break
        after = page.pageInfo.endCursor
      }
      expect([orderBy, read]).toEqual([orderBy, all])
    }
  })

  it('are found by their current text, and not by the text before a change', async () => {
    await upload(alice, 'now/a.txt', 'the wombat of before')
    await settle()
    expect(await paths(alice, 'wombat')).toEqual(['now/a.txt'])
    const form = new FormData()
    form.append('on_conflict', 'replace')
    form.append('folder', 'now')
    form.append('file', new Blob(['the echidna of now'], { type: 'text/plain' }), 'a.txt')
    expect((await alice.rest('POST', '/api/files/upload', { form })).status).toBe(200)
    expect(await paths(alice, 'wombat')).toEqual([])
    await settle()
    expect([await paths(alice, 'wombat'), await paths(alice, 'echidna')]).toEqual([
      [],
      ['now/a.txt'],
    ])
  })

  it('are found by other word forms in English and German, ranked after exact matches', async () => {
    await upload(alice, 'forms/old.txt', 'two numbats saw the Verträge')
    await upload(alice, 'forms/der Vertrag.txt', 'nothing')
    await settle()
    const { nodes, edges } = await search(alice, 'vertrag ')
    expect(nodes.map(({ path }) => path)).toEqual(['forms/der Vertrag.txt', 'forms/old.txt'])
    expect(edges[1]?.matchedIn).toEqual(['CONTENT'])
    const { text, ranges } = edges[1]?.snippet ?? { text: '', ranges: [] }
    expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual(['Verträge'])
    const all = await paths(alice, 'numbat ')
    expect([all.length, all.at(-1)]).toEqual([4, 'forms/old.txt'])
    // It appears once over all pages. Quoted words only match exactly.
    const { pageInfo } = await search(alice, 'numbat ', { first: 3 })
    expect(await paths(alice, 'numbat ', { first: 3, after: pageInfo.endCursor })).toEqual([
      'forms/old.txt',
    ])
    expect(await paths(alice, '"numbat"')).not.toContain('forms/old.txt')
    // A word form in the text, combined with a word of the name.
    expect(await paths(alice, 'old vertrag ')).toEqual(['forms/old.txt'])
    expect(await paths(bob, 'vertrag ')).toEqual([])
  })

  it('are also found by GET /api/search', async () => {
    const { status, response } = await alice.rest('GET', '/api/search?query=echidna')
    expect([status, response.results]).toMatchObject([
      200,
      [
        {
          path: 'now/a.txt',
          matched_in: ['content'],
          snippet: { text: 'the echidna of now', ranges: [{ start: 4, end: 11 }] },
        },
      ],
    ])
  })
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
/** The key of an extracted plain text. */
const keyOf = (text: string): string => textKeyOf(sha256(text), 'text')

const remove = async (who: Person, path: string): Promise<void> => {
  const { status } = await who.rest('DELETE', `/api/files/delete?file=${encodeURIComponent(path)}`)
  expect(status).toBe(200)
}

/** The stored text of a content, and the index entries that contain one of its words. */
async function kept(text: string, word: string) {
  const { db, index } = t.app
  const sql = 'SELECT COUNT(*) AS n FROM content_text WHERE digest = ?'
  const row = await db.row<{ n: number }>(sql, [keyOf(text)])
  return { texts: Number(row?.n), entries: (await idsWithWord(index, word)).length }
}

describe('Identical contents of several owners', () => {
  it('are indexed once, and each owner finds only their own file', async () => {
    const text = 'a shared quoll'
    await upload(alice, 'quolls/mine.txt', text)
    await settle()
    await upload(bob, 'theirs.txt', text)
    await settle()
    expect(await paths(alice, 'quoll shared')).toEqual(['quolls/mine.txt'])
    expect(await paths(bob, 'quoll shared')).toEqual(['theirs.txt'])
    expect(await kept(text, 'quoll')).toEqual({ texts: 1, entries: 2 })
    const copied = await alice.rest('POST', '/api/copies', {
      json: { entries: ['quolls'], name: 'quolls2' },
    })
    expect(copied.status).toBe(200)
    await settle()
    expect(await paths(alice, 'quoll shared')).toEqual(['quolls2/mine.txt', 'quolls/mine.txt'])
    await remove(alice, 'quolls/mine.txt')
    await settle()
    expect(await paths(alice, 'quoll shared')).toEqual(['quolls2/mine.txt'])
    await remove(alice, 'quolls2/mine.txt')
    expect(await paths(alice, 'quoll shared')).toEqual([])
    await settle()
    // Once the drive that has lost it has been processed, nothing of it is left in the index.
    await t.app.searchIndexer.poll()
    expect(await kept(text, 'quoll')).toEqual({ texts: 1, entries: 1 })
    expect(await paths(bob, 'quoll shared')).toEqual(['theirs.txt'])
    await remove(bob, 'theirs.txt')
    await settle()
    await settle()
    expect(await kept(text, 'quoll')).toEqual({ texts: 0, entries: 0 })
  })
})

describe('Texts that were made in the same moment', () => {
  it('are followed to the last one, by searches with little time each', async () => {
    await upload(alice, 'moment/a.txt', 'jabiru')
    await settle()
    const { db } = t.app
    const drive = await driveOf(alice)
    const notedAt = Date.now()
    const body = Buffer.from('')
    const digests = Array.from({ length: 1200 }, () =>
      createHash('sha256').update(newId()).digest('hex'),
    )
    try {
      for (const digest of digests)
        await db.run(
          `INSERT INTO content_text (digest, state, reason, characters, body, created_at, noted_at)
           VALUES (?, 'made', NULL, 0, ?, ?, ?)`,
          [digest, body, notedAt, notedAt],
        )
      let searches = 1
      while (!(await t.app.services.searchIndex.fresh([drive], 0)).isComplete && searches < 10)
        searches += 1
      expect(searches).toBe(3)
    } finally {
      await db.run('DELETE FROM content_text WHERE noted_at = ?', [notedAt])
    }
  })
})

describe('A content with more copies than one batch reads', () => {
  it('hides no other result', async () => {
    await upload(alice, 'copies/short.txt', 'kultarr')
    await settle()
    await upload(alice, 'copies/long.md', `kultarr ${'and more '.repeat(20)}`)
    await settle()
    const { db } = t.app
    const entry = await db.Entry.findOne({ where: { name: 'short.txt' } })
    if (!entry) throw new Error('No entry.')
    const copies = Array.from({ length: 1100 }, (_, i) => ({
      ...entry.get(),
      id: newId(),
      name: `short-${i}.txt`,
    }))
    await db.Entry.bulkCreate(copies)
    const copied = {
      kind: 'folder.copied',
      subject: entry.parentId,
      details: { path: 'copies' },
    } as const
    const caller = { userId: alice.userId, via: 'session', viaId: null } as const
    await changeRunner({ db })(caller, async ({ record }) => record(entry.bucketId, copied))
    await settle()
    try {
      expect(await paths(alice, 'kultarr size:>50b')).toEqual(['copies/long.md'])
      const { nodes, isComplete, pageInfo } = await search(alice, 'kultarr', { first: 1000 })
      expect([nodes.length, isComplete]).toEqual([1000, true])
      expect(
        await paths(alice, 'kultarr', { first: 1000, after: pageInfo.endCursor }),
      ).toHaveLength(102)
    } finally {
      for (const { id } of copies) await db.Entry.destroy({ where: { id } })
    }
  })
})

describe('The format that an owner declares for some bytes', () => {
  it('does not affect other owners of the same bytes', async () => {
    const text = 'Subject: x\n\n<style> the hidden dibbler </style>'
    for (const name of ['first.eml', 'first.html', 'first.csv']) await upload(bob, name, text)
    await settle()
    await upload(alice, 'dibbler.txt', text)
    await settle()
    expect(await paths(alice, 'hidden dibbler')).toEqual(['dibbler.txt'])
    // Bytes that are not a mail.
    const broken = '\0\0 no mail, a wambenger'
    await upload(bob, 'broken.eml', broken)
    await settle()
    await upload(alice, 'wambenger.html', `<p>${text} wambenger</p>`)
    await settle()
    expect(await paths(alice, 'wambenger')).toEqual(['wambenger.html'])
  })
})

describe('A text whose extraction failed', () => {
  it('is extracted again after a week', async () => {
    const text = 'the delayed ningaui'
    const { db, services } = t.app
    await upload(alice, 'ningaui.txt', text)
    await settle()
    const failed = async (createdAt: number) => {
      await db.run(
        "UPDATE content_text SET state = 'failed', body = NULL, created_at = ? WHERE digest = ?",
        [createdAt, keyOf(text)],
      )
    }
    await failed(Date.now() - 6 * DAY_MS)
    await services.contents.retryFailed()
    await settle()
    expect(await paths(alice, 'delayed ningaui')).toEqual([])
    await failed(Date.now() - 8 * DAY_MS)
    await services.contents.retryFailed()
    await settle()
    expect(await paths(alice, 'delayed ningaui')).toEqual(['ningaui.txt'])
  })
})

describe('A stored text that has become unreadable', () => {
  it('does not break searches, and is deleted with its file', async () => {
    const text = 'the broken mulgara of the shore'
    await upload(alice, 'broken.txt', text)
    await settle()
    const digest = keyOf(text)
    expect(await paths(alice, '"broken mulgara"')).toEqual(['broken.txt'])
    await t.app.db.run("UPDATE content_text SET body = 'broken' WHERE digest = ?", [digest])
    const { edges } = await search(alice, 'mulgara shore')
    expect(edges).toEqual([{ matchedIn: ['CONTENT'], snippet: null }])
    await remove(alice, 'broken.txt')
    await settle()
    await settle()
    expect(await kept(text, 'mulgara')).toEqual({ texts: 0, entries: 0 })
    expect(await t.app.db.rows('SELECT id FROM blobs WHERE text_key = ?', [digest])).toEqual([])
  })
})

describe('A phrase', () => {
  it('is found among many long texts that have its words in another order', async () => {
    await upload(alice, 'phrases/shared/a.txt', 'a tiny ningaui')
    // The same words in reverse order, and 1 MiB of text.
    for (let i = 0; i < 10; i++)
      await upload(alice, `phrases/beside/${i}.txt`, `${i} ningaui tiny ${'so '.repeat(349_000)}`)
    await settle()
    const { errors } = await alice.graphql(
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      { input: { entries: [{ at: { path: 'phrases/shared' } }], email: bob.email } },
    )
    expect(errors).toBeUndefined()
    for (const [who, path] of [
      [alice, 'phrases/shared/a.txt'],
      [bob, 'a.txt'],
    ] as const) {
      const { nodes, isComplete } = await search(who, '"tiny ningaui"')
      expect([nodes.map(node => node.path), isComplete]).toEqual([[path], true])
    }
  })
})

describe('The next search no longer finds a text', () => {
  /** No match, so neither a snippet nor a count. */
  const nothing = async (who: Person, query: string) =>
    expect((await search(who, query)).nodes).toEqual([])

  it('for a recipient whose share has ended', async () => {
    await upload(alice, 'given/plan.txt', 'the secret pademelon')
    await settle()
    const { data, errors } = await alice.graphql<{
      createDirectShare: { shares: { id: string }[] }
    }>(
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
      { input: { entries: [{ at: { path: 'given' } }], email: bob.email } },
    )
    expect(errors).toBeUndefined()
    const id = data?.createDirectShare.shares[0]?.id ?? ''
    const { nodes, edges } = await search(bob, 'pademelon')
    expect(nodes).toEqual([{ path: 'plan.txt', share: { id } }])
    expect(edges[0]?.snippet?.text).toBe('the secret pademelon')
    await nothing(bob, 'quokka')
    // Loading through a link with a download limit counts as a download, but a snippet would not.
    await t.app.db.run('UPDATE share SET max_downloads = 3 WHERE id = ?', [id])
    await nothing(bob, 'pademelon')
    await t.app.db.run('UPDATE share SET max_downloads = NULL WHERE id = ?', [id])
    expect(await paths(bob, 'pademelon')).toEqual(['plan.txt'])
    const ended = await alice.graphql(
      'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { revokedId } }',
      {
        input: { share: { id } },
      },
    )
    expect(ended.errors).toBeUndefined()
    await nothing(bob, 'pademelon')
  })

  it('for a removed member or a key without the scope', async () => {
    const garden = await found(alice)
    await put(alice, garden, 'plans.txt', 'the potoroo garden')
    await settle()
    await join(t, garden, bob, 'viewer')
    expect(await paths(bob, 'potoroo')).toEqual(['/plans.txt'])
    const drive = await driveOf(alice, garden)
    await expel(t, garden, bob)
    await nothing(bob, 'potoroo')
    expect((await bob.graphql(SEARCH, { query: 'potoroo', drives: [drive] })).code).toBe(
      'FORBIDDEN',
    )
    expect(await paths((await workspaceKey(t, alice, garden)).caller, 'potoroo')).toEqual([
      '/plans.txt',
    ])
    const own = await privateKey(t, alice)
    await nothing(own.caller, 'potoroo')
    expect(await paths(own.caller, 'pademelon')).toEqual(['given/plan.txt'])
    const writes = await privateKey(t, alice, ['private_files:write'])
    expect((await writes.caller.graphql(SEARCH, { query: 'pademelon' })).code).toBe(
      'INSUFFICIENT_SCOPE',
    )
  })

  it('of a file in the trash or a deleted file, until it is restored', async () => {
    await upload(alice, 'rubbish/a.txt', 'a lonely dunnart')
    await settle()
    expect(await paths(alice, 'dunnart')).toEqual(['rubbish/a.txt'])
    await alice.rest('DELETE', '/api/folders?path=rubbish&recursive=true')
    await nothing(alice, 'dunnart')
  })
})

describe('A killed process', () => {
  it('leaves work that the restarted job completes', async () => {
    const text = 'the half potaroo'
    await upload(alice, 'killed.txt', text)
    await t.app.searchIndexer.idle()
    // The text is made, and the process is killed before the job is done. A fast job may have ended
    // before the indexer, which has then indexed the text.
    await t.settle()
    expect(await kept(text, 'potaroo')).toMatchObject({ texts: 1 })
    const sql = 'SELECT id FROM blobs WHERE text_key = ?'
    const blob = await t.app.db.row<{ id: string }>(sql, [keyOf(text)])
    const job = { blobId: blob?.id ?? '', fileType: 'text/plain', format: 'text' } as const
    await t.app.services.contents.make(job, { attempts: 2, requireRunning() {} })
    expect(await paths(alice, 'potaroo')).toEqual(['killed.txt'])
    expect(await kept(text, 'potaroo')).toEqual({ texts: 1, entries: 1 })
  })

  it('leaves no text of a deleted content', async () => {
    const text = 'the vanishing boodie'
    await upload(alice, 'vanishing.txt', text)
    await t.app.searchIndexer.idle()
    const { db } = t.app
    const [job] = await db.rows<{ payload: string }>(
      "SELECT payload FROM outbox WHERE kind = 'contents'",
    )
    await remove(alice, 'vanishing.txt')
    await settle()
    await settle()
    if (job)
      await t.app.services.contents.make(JSON.parse(job.payload), {
        attempts: 1,
        requireRunning() {},
      })
    expect(await kept(text, 'boodie')).toEqual({ texts: 0, entries: 0 })
  })
})

describe('The doctor', () => {
  const examined = async (repair = false): Promise<string[]> => {
    const kinds: string[] = []
    const onFinding = ({ kind, repaired }: { kind: string; repaired: boolean }) =>
      void kinds.push(repaired ? `${kind} repaired` : kind)
    const { db, store } = t.app
    const searchFile = joinPath(dir, SEARCH_FILE)
    await examine(
      { db, store, graceMs: 0, searchContents: true, searchFile },
      { repair, onFinding },
    )
    return kinds.filter(kind => /^(text|search)-/.test(kind))
  }

  it('finds and repairs missing and orphaned texts', async () => {
    await settle()
    expect(await examined()).toEqual([])
    const text = 'the woylie that was lost'
    await upload(alice, 'woylie.txt', text)
    // It is waiting to be extracted.
    await t.app.searchIndexer.idle()
    expect(await examined()).toEqual([])
    await settle()
    const { db } = t.app
    await db.run('DELETE FROM content_text WHERE digest = ?', [keyOf(text)])
    await db.run(
      "INSERT INTO content_text (digest, state, characters, created_at, noted_at) VALUES (?, 'made', 3, 1, 1)",
      [sha256('of nothing')],
    )
    expect(await paths(alice, 'woylie lost')).toEqual([])
    // An entry that the index has lost.
    const drive = await driveOf(alice)
    await loseEntries(t.app.index, drive, await idsWithWord(t.app.index, 'woylie'))
    expect(await examined()).toEqual(['text-unused', 'text-missing', 'search-missing'])
    expect(await examined(true)).toEqual([
      'text-unused repaired',
      'text-missing repaired',
      'search-missing repaired',
    ])
    await t.app.searchIndexer.idle()
    await t.settle()
    expect(await examined()).toEqual([])
    expect(await paths(alice, 'woylie lost')).toEqual(['woylie.txt'])
  })
})

describe('A file that is renamed while its text is added to the index', () => {
  it.each(['before', 'after'])('keeps its new name: %s the drive is read', async when => {
    await settle()
    const drive = await driveOf(alice)
    const old = `renaming/dibbler ${when}.txt`
    const { index } = t.app
    const { ask } = index
    let isLacking = false
    let renamed = 0
    const rename = async () => {
      if (!isLacking || renamed > 0) return
      renamed += 1
      const to = `renaming/mulgara ${when}.txt`
      const answer = await alice.rest('POST', '/api/files/move', {
        json: { source: old, destination: to },
      })
      expect(answer.status).toBe(200)
      expect(await paths(alice, `mulgara ${when}`)).toEqual([to])
    }
    const renamingAsk = async (...asked: Parameters<typeof ask>) => {
      const [name, first] = asked
      const isOfDrive = name === 'drives' && String(first) === drive
      if (isOfDrive && when === 'before') await rename()
      const result = await ask.apply(index, asked)
      if (name === 'lackingText') isLacking ||= (result as unknown[]).length > 0
      if (isOfDrive && when === 'after') await rename()
      return result
    }
    index.ask = renamingAsk as typeof ask
    try {
      await upload(alice, old, `a dunnart ${when}`)
      await settle()
      await settle()
      expect(await paths(alice, `dunnart ${when}`)).toEqual([`renaming/mulgara ${when}.txt`])
    } finally {
      index.ask = ask
    }
    expect(renamed).toBe(1)
    expect(await paths(alice, `name:mulgara name:${when}`)).toEqual([
      `renaming/mulgara ${when}.txt`,
    ])
  })
})

describe('npm run admin -- reindex', () => {
  const run = (...args: string[]) =>
    runBuilt('admin.ts', ['reindex', ...args], { DATA_DIR: dir, DATABASE_URL: database.url })

  it.each([['--no-wait'], ['--again']])(
    'rebuilds the index of names and contents: %s',
    async how => {
      const name = how.slice(2)
      await upload(alice, `rebuilt/${name}.txt`, 'the bettong is rebuilt')
      await settle()
      expect(await paths(alice, 'bettong')).toContain(`rebuilt/${name}.txt`)
      const id = (await idsWithWord(t.app.index, 'bettong')).at(-1) ?? ''
      await loseEntries(t.app.index, await driveOf(alice), [id])
      expect(await paths(alice, 'bettong')).not.toContain(`rebuilt/${name}.txt`)
      let ended = false
      const [{ code, out }] = await Promise.all([
        run(how).finally(() => {
          ended = true
        }),
        // The service does the same periodically.
        (async () => {
          while (!ended) {
            await settle()
            await sleep(200)
          }
        })(),
      ])
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/\d+ of \d+ drives, \d+ files and folders, \d+ texts/),
      ])
      if (how === '--again') expect(out).toMatch(/^The index is rebuilt: (\d+) of \1 drives/)
      await settle()
      expect(await paths(alice, 'bettong rebuilt')).toContain(`rebuilt/${name}.txt`)
      expect(await paths(alice, `name:${name} bettong`)).toEqual([`rebuilt/${name}.txt`])
    },
  )
})

describe('SEARCH_CONTENTS=off', () => {
  it('finds no contents, deletes their texts, and extracts them again when switched on', async () => {
    const dir = { SEARCH_CONTENTS: 'on', DERIVE_PROCESSES: '1' }
    const on = await startApp({ ...UNHURRIED, ...dir })
    try {
      const carol = await on.signIn('carol')
      await upload(carol, 'c.txt', 'the rare numbat')
      await on.app.searchIndexer.idle()
      await on.settle()
      const find = async () => (await search(carol, 'numbat')).nodes.length
      expect(await find()).toBe(1)
      const off = contentsOf(on, false)
      while (await off.settle());
      expect(await on.app.db.rows('SELECT digest FROM content_text')).toEqual([])
      await off.order([{ blobId: 'x', name: 'a.txt', fileType: 'text/plain', size: 3 }])
      expect(await on.app.db.Job.count({ where: { kind: 'contents' } })).toBe(0)
      expect(await find()).toBe(0)
      await on.app.searchIndexer.poll()
      await on.settle()
      expect(await find()).toBe(1)
    } finally {
      await on.stop()
    }
  })
})

const contentsOf = ({ app }: TestApp, searchContents: boolean) =>
  contentsService({
    db: app.db,
    store: app.store,
    derive: app.derive,
    searchContents,
    log: createLog({ logLevel: 'silent' }),
    wake: () => app.worker.wake(),
  })
