import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrate } from '../db/migrate.ts'
import { entryEvents } from '../db/migrations/0023-entry-events.ts'
import { driveOf, found, join, privateKey, ROOMY, UNHURRIED, workspaceKey } from './builders.ts'
import { freshDatabase } from './fresh-database.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

const EVENTS = `query ($id: ID!, $first: Int, $after: String, $newestFirst: Boolean, $kinds: [EventKind!]) { node(id: $id) { ... on Entry { name
  events(first: $first, after: $after, newestFirst: $newestFirst, kinds: $kinds) {
    nodes { kind entry { id } details { path from } } pageInfo { hasNextPage endCursor } } } } }`

interface Page {
  nodes: { kind: string; entry: { id: string } | null; details: { path: string | null; from: string | null } }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

async function eventsOf(who: Person, id: string, variables: object = {}) {
  const { data, errors } = await who.graphql<{ node: { events: Page | null } | null }>(EVENTS, { id, ...variables })
  const code = errors?.[0]?.extensions.code
  const page = data?.node?.events
  return { code, kinds: page?.nodes.map(({ kind }) => kind), page, isThere: Boolean(data?.node) }
}

const change = async (who: Person, mutation: string, variables: object = {}) => {
  const { data, errors } = await who.graphql<Record<string, never>>(mutation, variables)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

const idAt = async (who: Person, path: string, drive?: string): Promise<string> => {
  const id = drive ?? (await driveOf(who))
  const { data } = await who.graphql<{ node: { entry: { id: string } } }>(
    'query ($id: ID!, $path: String!) { node(id: $id) { ... on Drive { entry(path: $path) { id } } } }',
    { id, path },
  )
  return data?.node.entry.id ?? ''
}

describe('What happened to a file or a folder', () => {
  it('is found among all that happened in its drive, and goes with it', async () => {
    const alice = await t.signIn('alice')
    await alice.upload('plan.txt', 'one')
    await alice.upload('other.txt', 'two')
    const id = await idAt(alice, 'plan.txt')
    await change(alice, 'mutation { createFolder(input: { at: { path: "old" } }) { folder { id } } }')
    const move = 'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }'
    await change(alice, move, { input: { entries: [{ id }], to: { at: { path: 'old' } } } })
    await change(alice, move, { input: { entries: [{ id }], name: 'Plan A.txt' } })
    await alice.rest('POST', '/api/files/quick_share', { json: { object: 'old/Plan A.txt', duration: '7d' } })
    const { kinds, page } = await eventsOf(alice, id)
    expect(kinds).toEqual(['FILE_CREATED', 'FILE_MOVED', 'FILE_RENAMED', 'SHARE_CREATED'])
    expect(page?.nodes.map(({ entry }) => entry?.id)).toEqual([id, id, id, id])
    expect(page?.nodes[2]?.details).toEqual({ path: 'old/Plan A.txt', from: 'old/plan.txt' })
    expect((await eventsOf(alice, await idAt(alice, 'old'))).kinds).toEqual(['FOLDER_CREATED'])
    expect((await eventsOf(alice, await idAt(alice, 'other.txt'))).kinds).toEqual(['FILE_CREATED'])
  })

  it('is read page by page in either direction, by kind, with cursors of its own drive', async () => {
    const [bob, eve] = [await t.signIn('bob'), await t.signIn('eve')]
    await bob.upload('a', 'a')
    const id = await idAt(bob, 'a')
    for (const name of ['b', 'c', 'd'])
      await change(
        bob,
        'mutation ($id: ID!, $name: String!) { moveEntries(input: { entries: [{ id: $id }], name: $name }) { to { id } } }',
        {
          id,
          name,
        },
      )
    const first = await eventsOf(bob, id, { first: 2, newestFirst: true })
    expect(first.page?.nodes.map(({ details }) => details.path)).toEqual(['d', 'c'])
    expect(first.page?.pageInfo.hasNextPage).toBe(true)
    const after = first.page?.pageInfo.endCursor
    const rest = await eventsOf(bob, id, { first: 2, newestFirst: true, after })
    expect(rest.page?.nodes.map(({ details }) => details.path)).toEqual(['b', 'a'])
    expect(rest.page?.pageInfo.hasNextPage).toBe(false)
    expect((await eventsOf(bob, id, { kinds: ['FILE_CREATED'] })).kinds).toEqual(['FILE_CREATED'])
    expect((await eventsOf(bob, id, { kinds: ['SESSION_STARTED'] })).kinds).toEqual([])
    await eve.upload('e', 'e')
    expect((await eventsOf(eve, await idAt(eve, 'e'), { after })).code).toBe('INVALID_INPUT')
    expect((await eventsOf(bob, id, { after: 'nonsense' })).code).toBe('INVALID_INPUT')
    expect((await eventsOf(bob, id, { first: 0 })).code).toBe('INVALID_INPUT')
  })

  it('is told to whom may read the drive, by session and by key, and to nobody else', async () => {
    const [owner, viewer, stranger] = [await t.signIn('owner'), await t.signIn('viewer'), await t.signIn('stranger')]
    const workspaceId = await found(owner)
    await join(t, workspaceId, viewer, 'viewer')
    const drive = await driveOf(owner, workspaceId)
    await change(
      owner,
      'mutation ($drive: ID) { createFolder(input: { at: { drive: $drive, path: "beds" } }) { folder { id } } }',
      { drive },
    )
    const id = await idAt(owner, 'beds', drive)
    expect((await eventsOf(viewer, id)).kinds).toEqual(['FOLDER_CREATED'])
    expect(await eventsOf(stranger, id)).toMatchObject({ isThere: false })
    const reader = await workspaceKey(t, owner, workspaceId, ['workspaces:files:read'])
    expect((await eventsOf(reader.caller, id)).kinds).toEqual(['FOLDER_CREATED'])
    await owner.upload('mine.txt', 'mine')
    const mine = await idAt(owner, 'mine.txt')
    expect((await eventsOf((await privateKey(t, owner, ['private_files:read'])).caller, mine)).kinds).toEqual([
      'FILE_CREATED',
    ])
    const writer = await privateKey(t, owner, ['private_files:write'])
    expect((await eventsOf(writer.caller, mine)).page).toBeUndefined()
  })
})

describe('The migration', () => {
  it('locks few events at a time', async () => {
    const { db, drop } = await freshDatabase()
    try {
      const row = (log: string, seq: number) => [
        log,
        seq,
        0,
        null,
        'system',
        null,
        'file.created',
        'file',
        '{"path":"a"}',
      ]
      for (const values of [row('one', 1), row('one', 12_000), row('two', 3)])
        await db.run(
          'INSERT INTO event (log_id, seq, at, actor_id, via, via_id, kind, subject_id, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
          values,
        )
      await db.run('DELETE FROM migration WHERE name = ?', [entryEvents.name])
      const updates: string[] = []
      const log = (sql: string) => sql.includes('UPDATE event') && updates.push(sql)
      Object.assign(Reflect.get(db.sequelize, 'options'), { logging: log })
      await migrate(db)
      const ranges = updates.map(sql =>
        /log_id = '(\w+)' AND seq BETWEEN (\d+) AND (\d+)/.exec(sql)?.slice(1).join(' '),
      )
      expect(ranges.sort()).toEqual(['one 1 5000', 'one 10001 12000', 'one 5001 10000', 'two 3 3'])
      const left = await db.rows('SELECT seq FROM event WHERE entry_id IS NULL', [])
      expect(left).toEqual([])
    } finally {
      await drop()
    }
  })

  it('finds out what the events of an older version are about', async () => {
    const { db, drop } = await freshDatabase()
    try {
      const row = (seq: number, subject: string | null, details: object) =>
        db.run(
          `INSERT INTO event (log_id, seq, at, actor_id, via, via_id, kind, subject_id, details) VALUES (?, ?, 0, NULL, 'system', NULL, 'file.created', ?, ?)`,
          ['log', seq, subject, JSON.stringify(details)],
        )
      await row(1, 'file', { path: 'a' })
      await row(2, 'share', { path: 'a', entryId: 'file' })
      await row(3, 'member', { role: 'viewer' })
      await row(4, null, { md5: 'x' })
      await db.run('DELETE FROM migration WHERE name = ?', [entryEvents.name])
      await migrate(db)
      const rows = await db.rows<{ entryId: string | null }>('SELECT entry_id AS entryId FROM event ORDER BY seq', [])
      expect(rows.map(({ entryId }) => entryId)).toEqual(['file', 'file', null, null])
    } finally {
      await drop()
    }
  })
})
