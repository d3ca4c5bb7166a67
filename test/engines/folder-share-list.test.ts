import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let token: string

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  const files: [path: string, bytes: number][] = [
    ['trip/Plan.txt', 5],
    ['trip/alps/Map plan.txt', 30],
    ['trip/alps/hut/old PLAN.txt', 20],
    ['trip/zebra.txt', 10],
    ['trip/planets/a.txt', 1],
    ['plan of alice.txt', 3],
    ['beside/plan.txt', 4],
  ]
  for (const [path, bytes] of files) await alice.upload(path, 'x'.repeat(bytes), 'text/plain')
  token = await shareFolder('trip')
})
afterAll(() => t.stop())

async function shareFolder(path: string): Promise<string> {
  const { response } = await alice.rest('POST', '/api/folders/quick_share', { json: { path } })
  return response.sharing_token
}

const entries = (query: Record<string, string>, of = token) =>
  t.anonymous.rest('GET', `/api/share/entries/${of}?${new URLSearchParams(query)}`)

type Listed = { name: string; path: string }

/** All entries of a list, read in pages of one: names, or paths of a search. */
async function inOrder(query: Record<string, string>): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = null; ; ) {
    const { status, response }: RestAnswer = await entries({
      ...query,
      limit: '1',
      ...(cursor ? { cursor } : {}),
    })
    expect(status).toBe(200)
    seen.push(...[...response.folders, ...response.files].map(({ path }: Listed) => path))
    cursor = response.next_cursor
    if (cursor === null) return seen
  }
}

const FOLDER = `query ($token: String!, $path: String, $query: String, $orderBy: EntryOrder, $first: Int, $after: String) {
  sharedFolder(token: $token, path: $path, query: $query, orderBy: $orderBy, first: $first, after: $after) {
    path endCursor entries { kind name path } } }`

describe('The order of a shared folder', () => {
  it.each([
    [{}, ['alps', 'planets', 'Plan.txt', 'zebra.txt']],
    [{ direction: 'desc' }, ['planets', 'alps', 'zebra.txt', 'Plan.txt']],
    [{ sort: 'size' }, ['planets', 'Plan.txt', 'zebra.txt', 'alps']],
    [{ sort: 'size', direction: 'desc' }, ['alps', 'zebra.txt', 'Plan.txt', 'planets']],
  ])('%j is kept from page to page', async (query, names) => {
    expect(await inOrder(query)).toEqual(names)
  })

  it('by time is kept from page to page, even for equal times', async () => {
    const times: [string, number][] = [
      ['zebra.txt', 4000],
      ['Plan.txt', 2000],
      ['alps', 2000],
      ['planets', 1000],
    ]
    for (const [name, at] of times)
      await t.app.db.run('UPDATE entry SET updated_at = ? WHERE name = ?', [at, name])
    const newest = await inOrder({ sort: 'updated_at', direction: 'desc' })
    expect(newest.at(0)).toBe('zebra.txt')
    expect(newest.slice(1, 3).sort()).toEqual(['Plan.txt', 'alps'])
    expect(await inOrder({ sort: 'updated_at' })).toEqual(newest.toReversed())
  })

  it('is read from an index in every case', async () => {
    for (const sort of ['name', 'size', 'updated_at'])
      for (const direction of ['asc', 'desc']) {
        t.statements()
        await entries({
          sort,
          direction,
          limit: '1',
          cursor: (await entries({ sort, direction, limit: '1' })).response.next_cursor,
        })
        const list = t.statements().filter(sql => /FROM entry WHERE parent_id/.test(sql))
        expect(list.length).toBeGreaterThan(0)
        if (t.app.db.dialect !== 'sqlite') continue
        for (const sql of list) {
          const values = sql
            .split('?')
            .slice(1)
            .map(() => 'x')
          const plan = await t.app.db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
          expect(plan.map(({ detail }) => detail).join()).not.toMatch(/SCAN|TEMP B-TREE/)
        }
      }
  })

  it('rejects unknown orders', async () => {
    for (const query of [
      { sort: 'colour' },
      { direction: 'up' },
      { sort: 'size', cursor: 'WzEsImEiXQ' },
    ])
      expect((await entries(query as Record<string, string>)).response.code).toBe('INVALID_INPUT')
  })
})

describe('A search in a shared folder', () => {
  it('finds entries at any depth, ignoring case, with their paths', async () => {
    expect(await inOrder({ query: 'pLaN' })).toEqual(
      ['alps/Map plan.txt', 'Plan.txt', 'alps/hut/old PLAN.txt', 'planets'].sort(byLastName),
    )
    expect(await inOrder({ query: 'plan', sort: 'size', direction: 'desc' })).toEqual([
      'alps/Map plan.txt',
      'alps/hut/old PLAN.txt',
      'Plan.txt',
      'planets',
    ])
    expect(await inOrder({ query: 'plan', path: 'alps' })).toEqual([
      'alps/Map plan.txt',
      'alps/hut/old PLAN.txt',
    ])
    expect(await inOrder({ query: '%' })).toEqual([])
  })

  it('finds nothing above or beside the folder, and gives no access there', async () => {
    for (const query of ['plan of alice', 'beside', 'trip'])
      expect(await inOrder({ query })).toEqual([])
    // Entries outside the folder neither shorten a page nor cause an empty page.
    const { response } = await entries({ query: 'plan', limit: '4' })
    expect([response.folders.length + response.files.length, response.next_cursor]).toEqual([
      4,
      null,
    ])
    const inner = await shareFolder('trip/alps/hut')
    expect(
      (await entries({ query: 'plan' }, inner)).response.files.map(({ path }: Listed) => path),
    ).toEqual(['old PLAN.txt'])
    // A cursor gives no access outside the folder.
    const cursor = Buffer.from(
      JSON.stringify(['', '00000000-0000-7000-8000-000000000000']),
    ).toString('base64url')
    expect((await entries({ query: 'plan', cursor }, inner)).response.files).toHaveLength(1)
  })

  it('finds no moved-out or deleted entries', async () => {
    await alice.upload('trip/away/gone plan.txt', 'x')
    await alice.rest('POST', '/api/folders/move', {
      json: { source: 'trip/away', destination: 'away' },
    })
    expect(await inOrder({ query: 'gone' })).toEqual([])
    await alice.rest('POST', '/api/folders/move', {
      json: { source: 'away', destination: 'trip/away' },
    })
    expect(await inOrder({ query: 'gone' })).toEqual(['away/gone plan.txt'])
    await alice.rest('DELETE', '/api/folders?path=trip/away&recursive=true')
    expect(await inOrder({ query: 'gone' })).toEqual([])
  })

  it('costs the same number of statements for any result', async () => {
    const statements = async (query: Record<string, string>) => {
      t.statements()
      await entries(query)
      return t.statements().length
    }
    expect(await statements({ query: 'plan' })).toBe(await statements({ query: 'zebra' }))
  })

  it('400 for a query longer than a name', async () => {
    const { status, response } = await entries({ query: 'x'.repeat(256) })
    expect([status, response.code, response.field]).toEqual([400, 'INVALID_INPUT', 'query'])
  })
})

describe('GraphQL', () => {
  it('sorts and searches like REST, at a cost that grows with the entries read', async () => {
    const orderBy = { field: 'SIZE', direction: 'DESC' }
    const { sharedFolder } = await ask(t.anonymous, FOLDER, { token, orderBy, first: 2 })
    expect(sharedFolder.entries.map(({ name }: Listed) => name)).toEqual(['alps', 'zebra.txt'])
    const next = await ask(t.anonymous, FOLDER, {
      token,
      orderBy,
      first: 2,
      after: sharedFolder.endCursor,
    })
    expect(next.sharedFolder.entries.map(({ name }: Listed) => name)).toEqual([
      'Plan.txt',
      'planets',
    ])
    const found = await t.anonymous.graphql<{ sharedFolder: { entries: Listed[] } }>(FOLDER, {
      token,
      query: 'map',
    })
    expect(found.data?.sharedFolder.entries).toEqual([
      { kind: 'FILE', name: 'Map plan.txt', path: 'alps/Map plan.txt' },
    ])
    const costs = [found, await t.anonymous.graphql(FOLDER, { token })].map(({ extensions }) =>
      JSON.stringify(extensions?.cost),
    )
    expect(costs[0]).not.toBe(costs[1])
    expect(await codeOf(t.anonymous, FOLDER, { token, query: '' })).toBe('INVALID_INPUT')
    expect(
      await codeOf(t.anonymous, FOLDER, { token, query: 'a', after: sharedFolder.endCursor }),
    ).toBe('INVALID_INPUT')
  })
})

/** The service's order of names: by code point, without their folders. */
function byLastName(a: string, b: string): number {
  const [x = '', y = ''] = [a, b].map(path => path.split('/').at(-1))
  return x < y ? -1 : 1
}
