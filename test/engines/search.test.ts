import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { changeRunner } from '../../src/services/history/event.ts'
import {
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { idsWithWord } from '../support/search-words.ts'

let t: TestApp
let alice: Person
let bob: Person
let garden: string

interface Data {
  search: {
    nodes: { path: string; entry: { id: string } | null; share: { id: string } | null }[]
    edges: {
      cursor: string
      matchedIn: string[]
      snippet: { text: string; ranges: object[] } | null
    }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
    hints: { term: string; message: string }[]
    isComplete: boolean
  }
}

const SEARCH = `query ($query: String!, $first: Int, $after: String, $orderBy: SearchOrder, $drives: [ID!]) {
  search(query: $query, first: $first, after: $after, orderBy: $orderBy, drives: $drives) {
    nodes { kind name path size contentType updatedAt entry { id } share { id } }
    edges { cursor matchedIn snippet { text ranges { start end } } }
    pageInfo { hasNextPage endCursor } hints { term message } isComplete
  }
}`

async function search(who: Person, query: string, more: object = {}): Promise<Data['search']> {
  const { data, errors } = await who.graphql<Data>(SEARCH, { query, ...more })
  if (!data) throw new Error(JSON.stringify(errors))
  return data.search
}

const paths = async (who: Person, query: string, more: object = {}): Promise<string[]> =>
  (await search(who, query, more)).nodes.map(({ path }) => path)

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  garden = await found(alice)
  await alice.upload('taxes/2026/Invoice March.pdf', 'x1', 'application/pdf')
  await alice.upload('taxes/Invoice.txt', 'x2')
  await alice.upload('old/my invoices.txt', 'x3')
  await alice.upload('Größenvergleich.png', 'x4', 'image/png')
  await put(alice, garden, 'plans/invoice seeds.txt', 'x5')
})
afterAll(() => t.stop())

const SHARE =
  'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }'

const share = async (path: string, email: string): Promise<string> => {
  const { data, errors } = await alice.graphql<{ createDirectShare: { shares: { id: string }[] } }>(
    SHARE,
    {
      input: { entries: [{ at: { path } }], email },
    },
  )
  if (!data?.createDirectShare) throw new Error(JSON.stringify(errors))
  return data.createDirectShare.shares[0]?.id ?? ''
}

describe('search', () => {
  it('finds names in all drives of the caller, best match first', async () => {
    expect(await paths(alice, 'invoice')).toEqual([
      '/plans/invoice seeds.txt',
      'taxes/Invoice.txt',
      'taxes/2026/Invoice March.pdf',
      'old/my invoices.txt',
    ])
    expect(await paths(alice, 'INVOICE.txt')).toEqual(['taxes/Invoice.txt'])
    expect(await paths(alice, 'grossenverg')).toEqual(['Größenvergleich.png'])
    expect(await paths(alice, 'march invo')).toEqual(['taxes/2026/Invoice March.pdf'])
    expect(await paths(bob, 'invoice')).toEqual([])
  })

  it('matches words of folder names together with words of file names', async () => {
    expect(await paths(alice, 'taxes march')).toEqual(['taxes/2026/Invoice March.pdf'])
    const { edges } = await search(alice, 'taxes march')
    expect(edges[0]?.matchedIn).toEqual(['NAME', 'PATH'])
  })

  it('supports phrases, exclusions and filters', async () => {
    expect(await paths(alice, '"invoice march"')).toEqual(['taxes/2026/Invoice March.pdf'])
    expect(await paths(alice, '"march invoice"')).toEqual([])
    expect(await paths(alice, 'invoice -seeds -my -march ')).toEqual(['taxes/Invoice.txt'])
    expect(await paths(alice, 'type:pdf')).toEqual(['taxes/2026/Invoice March.pdf'])
    expect(await paths(alice, 'type:image,pdf')).toHaveLength(2)
    expect(await paths(alice, 'invoice type:folder')).toEqual([])
    expect(await paths(alice, 'in:taxes/2026 invoice')).toEqual(['taxes/2026/Invoice March.pdf'])
    expect(await paths(alice, 'invoice size:>1kb')).toEqual([])
    expect(await paths(alice, 'invoice after:2026 before:2100')).toHaveLength(3)
    expect(await paths(alice, 'invoice before:2001')).toEqual([])
    expect(await paths(alice, 'in:taxes/2026')).toEqual(['taxes/2026/Invoice March.pdf'])
    expect(await paths(alice, 'drive:garden invoice')).toEqual(['/plans/invoice seeds.txt'])
    expect(await paths(alice, 'drive:ME invoice')).toHaveLength(3)
    expect(await paths(alice, 'invoice drive:elsewhere')).toEqual([])
    expect(await paths(alice, 'name:seeds')).toEqual(['/plans/invoice seeds.txt'])
    expect(await paths(alice, 'by:me invoice')).toHaveLength(4)
    expect(await paths(alice, 'invoice by:bob')).toEqual([])
    expect(await paths(alice, 'invoice is:shared')).toEqual([])
  })

  it('reports how it read a corrected query', async () => {
    const { hints, nodes } = await search(alice, 'color:red')
    expect(hints).toEqual([
      { term: 'color:red', message: 'There is no filter "color:". It is read as words.' },
    ])
    expect(nodes).toEqual([])
  })

  it('pages without gaps or repetitions, in every order', async () => {
    for (const orderBy of ['RELEVANCE', 'NAME', 'NEWEST', 'OLDEST', 'LARGEST', 'SMALLEST']) {
      const all = await paths(alice, 'invoice', { orderBy })
      const read: string[] = []
      let after: string | null = null
      do {
        const page: Data['search'] = await search(alice, 'invoice', { orderBy, first: 1, after })
        read.push(...page.nodes.map(({ path }) => path))
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
      } while (after !== null)
      expect([orderBy, read]).toEqual([orderBy, all])
      expect(all).toHaveLength(4)
    }
  })

  it('finds new, renamed, copied and annotated entries, and not their former names', async () => {
    await alice.upload('fresh/nightingale.txt', 'song')
    expect(await paths(alice, 'nightingale')).toEqual(['fresh/nightingale.txt'])
    const moved = await alice.rest('POST', '/api/files/move', {
      json: { source: 'fresh/nightingale.txt', destination: 'fresh/starling.txt' },
    })
    expect(moved.status).toBe(200)
    expect(await paths(alice, 'nightingale')).toEqual([])
    expect(await paths(alice, 'starling')).toEqual(['fresh/starling.txt'])
    const copied = await alice.rest('POST', '/api/copies', {
      json: { entries: ['fresh'], name: 'fresh2' },
    })
    expect(copied.status).toBe(200)
    expect(await paths(alice, 'starling')).toEqual(['fresh2/starling.txt', 'fresh/starling.txt'])
    const md5 = createHash('md5').update('song').digest('hex')
    const written = await alice.rest('PUT', `/api/files/${md5}/note`, {
      json: { content: 'Heard it at <b>dusk</b> by the river' },
    })
    expect(written.status).toBe(200)
    const { nodes, edges } = await search(alice, 'dusk river')
    expect(nodes.map(({ path }) => path)).toEqual(['fresh2/starling.txt', 'fresh/starling.txt'])
    expect(edges[0]?.matchedIn).toEqual(['NOTE'])
    expect(edges[0]?.snippet).toEqual({
      text: 'Heard it at <b>dusk</b> by the river',
      ranges: [
        { start: 15, end: 19 },
        { start: 31, end: 36 },
      ],
    })
  })

  it('no longer finds deleted entries', async () => {
    await alice.upload('gone/kingfisher.txt', 'x')
    expect(await paths(alice, 'kingfisher')).toEqual(['gone/kingfisher.txt'])
    await alice.rest('DELETE', '/api/folders?path=gone&recursive=true')
    expect(await paths(alice, 'kingfisher')).toEqual([])
  })

  it('finds nothing of a workspace after the membership ends', async () => {
    await join(t, garden, bob, 'viewer')
    expect(await paths(bob, 'seeds')).toEqual(['/plans/invoice seeds.txt'])
    await expel(t, garden, bob)
    expect(await paths(bob, 'seeds')).toEqual([])
    const { code } = await bob.graphql(SEARCH, {
      query: 'seeds',
      drives: [await driveOf(alice, garden)],
    })
    expect(code).toBe('FORBIDDEN')
  })

  it('limits a key to its scopes', async () => {
    const own = await privateKey(t, alice)
    expect(await paths(own.caller, 'invoice')).toHaveLength(3)
    const ofGarden = await workspaceKey(t, alice, garden)
    expect(await paths(ofGarden.caller, 'invoice')).toEqual(['/plans/invoice seeds.txt'])
    const writes = await privateKey(t, alice, ['private_files:write'])
    expect((await writes.caller.graphql(SEARCH, { query: 'invoice' })).code).toBe(
      'INSUFFICIENT_SCOPE',
    )
  })

  it('treats hostile queries as plain words', async () => {
    const hostile = [
      '" OR 1=1 --',
      '*'.repeat(400),
      'NEAR(a b)',
      '+-><()~*@',
      'a*'.repeat(200),
      "'; DROP TABLE entry; --",
      '%_%',
      '-',
      '"',
      '(((',
    ]
    for (const query of hostile) expect((await search(alice, query)).nodes).toEqual([])
    expect((await alice.graphql(SEARCH, { query: 'x'.repeat(501) })).code).toBe('INVALID_INPUT')
    expect((await alice.graphql(SEARCH, { query: 'x', after: 'nonsense' })).code).toBe(
      'INVALID_INPUT',
    )
  })
})

describe('Tags', () => {
  it('are found by name, and narrow a search', async () => {
    const { data, errors } = await alice.graphql<{ createTag: { tag: { id: string } } }>(
      'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }',
      { input: { name: 'Fällig' } },
    )
    expect(errors).toBeUndefined()
    const tagged = await alice.graphql(
      'mutation ($input: TagEntriesInput!) { tagEntries(input: $input) { entries { id } } }',
      {
        input: { entries: [{ at: { path: 'taxes/Invoice.txt' } }], add: [data?.createTag.tag.id] },
      },
    )
    expect(tagged.errors).toBeUndefined()
    expect(await paths(alice, 'tag:fallig')).toEqual(['taxes/Invoice.txt'])
    expect(await paths(alice, 'tag:fällig march ')).toEqual([])
    expect(await paths(alice, 'fällig')).toEqual(['taxes/Invoice.txt'])
    expect((await search(alice, 'fällig')).edges[0]?.matchedIn).toEqual(['TAG'])
  })
})

describe('GET /api/search', () => {
  const get = (who: Person, query: string) => who.rest('GET', `/api/search?${query}`)

  it('200 returns the same results, page by page', async () => {
    const first = await get(alice, 'query=invoice&limit=3')
    expect(first.status).toBe(200)
    expect(first.response.results.map((one: { path: string }) => one.path)).toEqual(
      (await paths(alice, 'invoice')).slice(0, 3),
    )
    const rest = await get(alice, `query=invoice&limit=3&cursor=${first.response.next_cursor}`)
    expect(rest.response).toMatchObject({
      results: [{ path: 'old/my invoices.txt' }],
      next_cursor: null,
      is_complete: true,
    })
  })

  it('200 in one workspace', async () => {
    const inGarden = (who: Person) =>
      who.rest('GET', `/api/workspaces/${garden}/search?query=invoice`)
    const { status, response } = await inGarden((await workspaceKey(t, alice, garden)).caller)
    expect([status, response.results.map((one: { path: string }) => one.path)]).toEqual([
      200,
      ['/plans/invoice seeds.txt'],
    ])
    expect((await inGarden(bob)).status).toBe(403)
  })

  it('400 and 401', async () => {
    expect((await get(alice, 'query=invoice&order=color')).response.code).toBe('INVALID_INPUT')
    expect((await get(alice, 'query=invoice&limit=0')).status).toBe(400)
    expect((await get(alice, `query=${'x'.repeat(501)}`)).status).toBe(400)
    expect((await get(t.anonymous, 'query=invoice')).status).toBe(401)
    const writes = await privateKey(t, alice, ['private_files:write'])
    expect((await get(writes.caller, 'query=invoice')).status).toBe(401)
  })
})

describe('Entries that others share', () => {
  it('are found while shared, with paths relative to the share', async () => {
    const id = await share('taxes', bob.email)
    const { nodes } = await search(bob, 'invoice')
    expect(await paths(bob, 'invoice drive:me')).toEqual([])
    expect(nodes.map(({ path, entry, share: by }) => [path, entry, by?.id])).toEqual([
      ['Invoice.txt', null, id],
      ['2026/Invoice March.pdf', null, id],
    ])
    // Shared entries have no path of their own, so a folder in the share may have the same name.
    expect(await paths(bob, 'taxes type:folder')).toEqual([''])
    const carol = await t.signIn('carol')
    await t.app.db.run("UPDATE entry SET created_by = ? WHERE name = 'Invoice.txt'", [carol.userId])
    expect(await paths(alice, 'invoice by:carol')).toEqual(['taxes/Invoice.txt'])
    // Recipients see only the sharer, and no other authors of the files.
    expect(await paths(bob, 'invoice by:carol')).toEqual([])
    expect(await paths(bob, 'invoice by:alice')).toEqual(['2026/Invoice March.pdf'])
    await t.app.db.run('DELETE FROM share WHERE id = ?', [id])
    expect(await paths(bob, 'invoice')).toEqual([])
  })
})

it('have the names of the share when it contains several entries', async () => {
  await alice.upload('one/plover.txt', '1')
  await alice.upload('two/plover.txt', '2')
  const { errors } = await alice.graphql(SHARE, {
    input: {
      entries: [{ at: { path: 'one/plover.txt' } }, { at: { path: 'two/plover.txt' } }],
      email: bob.email,
      together: true,
    },
  })
  expect(errors).toBeUndefined()
  expect((await paths(bob, 'plover')).sort()).toEqual(['plover (2).txt', 'plover.txt'])
})

it('returns an empty, incomplete page when the end of the previous page is gone', async () => {
  const { edges, pageInfo } = await search(alice, 'invoice', { orderBy: 'NAME', first: 1 })
  expect(pageInfo.hasNextPage).toBe(true)
  const { nodes, isComplete } = await search(alice, 'seeds', {
    orderBy: 'NAME',
    after: edges[0]?.cursor,
  })
  expect([nodes, isComplete]).toEqual([[], false])
})

it('treats name: as a word, and repeated types as one', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `name:n${i}`).join(' ')
  expect((await search(alice, names)).hints).toHaveLength(28)
  expect(
    await paths(alice, `type:${Array.from({ length: 90 }, () => 'pdf').join(',')}`),
  ).toHaveLength(1)
})

describe('The search index of a drive', () => {
  /** Searches until the index is complete. */
  async function complete(query: string): Promise<Data['search']> {
    for (let tries = 0; tries < 20; tries++) {
      const found = await search(alice, query, { first: 100 })
      if (found.isComplete) return found
    }
    throw new Error('The index was not complete after 20 searches.')
  }

  it('contains the first words of a long note for each copy of the file', async () => {
    for (const name of ['a', 'b', 'c']) await alice.upload(`copies/${name}.txt`, 'the same')
    const md5 = createHash('md5').update('the same').digest('hex')
    const content = Array.from({ length: 900 }, (_, i) => `lark${i}.`).join(' ')
    expect((await alice.rest('PUT', `/api/files/${md5}/note`, { json: { content } })).status).toBe(
      200,
    )
    expect((await complete('lark499 ')).nodes).toHaveLength(3)
    expect((await complete('lark500 ')).nodes).toEqual([])
  })

  it('no longer has the words of former names and notes', async () => {
    await alice.upload('names/plover.txt', 'plover bytes')
    const md5 = createHash('md5').update('plover bytes').digest('hex')
    const note = (content: string) =>
      alice.rest('PUT', `/api/files/${md5}/note`, { json: { content } })
    expect((await note('lapwing dotterel')).status).toBe(200)
    expect((await complete('plover lapwing')).nodes).toHaveLength(1)
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'names/plover.txt', destination: 'names/dunlin.png' },
    })
    expect((await note('dotterel curlew')).status).toBe(200)
    expect((await complete('dunlin curlew')).nodes).toHaveLength(1)
    const [id] = await idsWithWord(t.app.index, 'dunlin')
    expect(await idsWithWord(t.app.index, 'curlew')).toEqual([id])
    expect(await idsWithWord(t.app.index, 'plover')).not.toContain(id)
    expect(await idsWithWord(t.app.index, 'lapwing')).toEqual([])
  })

  it('is filled again for a copied folder that needs several batches', async () => {
    await alice.upload('crowd/one.txt', 'x')
    const { db } = t.app
    const one = await db.Entry.findOne({
      where: { name: 'one.txt' },
      raw: true,
      rejectOnEmpty: true,
    })
    const others = Array.from({ length: 2100 }, (_, i) => ({
      ...one,
      id: newId(),
      name: `heron ${i}.txt`,
    }))
    await db.Entry.bulkCreate(others)
    const seqOf = async () =>
      (
        await db.rows<{ seq: number }>('SELECT MAX(seq) AS seq FROM event WHERE log_id = ?', [
          one.bucketId,
        ])
      )[0]?.seq
    const copied = {
      kind: 'folder.copied',
      subject: one.parentId,
      details: { path: 'crowd' },
    } as const
    const caller = { userId: alice.userId, via: 'session', viaId: null } as const
    await changeRunner({ db })(caller, async ({ record }) => record(one.bucketId, copied))
    expect((await complete('"heron 2050"')).nodes.map(({ path }) => path)).toEqual([
      'crowd/heron 2050.txt',
    ])
    const [drive] = await t.app.index.ask('drives', [one.bucketId])
    expect(drive).toMatchObject({ place: null, seq: await seqOf() })
  })
})
