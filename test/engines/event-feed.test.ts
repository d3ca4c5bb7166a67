import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { oldEvents, purgeEvents } from '../../db/queries/event.ts'
import { driveOf, ROOMY, UNHURRIED } from '../support/builders.ts'
import {
  type Anything,
  apply,
  drive,
  type Model,
  seqOf,
  type TrashModel,
} from '../support/event-model.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

declare const engine: 'sqlite' | 'mysql'

describe('The feed of a drive', () => {
  // SQLite allows only one process. Other tests cover several writers in it.
  const onServers = engine === 'mysql' ? it : it.skip

  onServers(
    'matches its tree, with a killed instance and a subscriber that reconnects',
    async () => {
      const { fed, followed, tree, changes, reconnects } = await drive({
        writers: 6,
        kills: 1,
        killEvery: 2500,
      })
      expect(changes).toBeGreaterThan(20)
      expect(reconnects).toBeGreaterThan(2)
      expect(fed.map(seqOf)).toEqual(fed.map((_, i) => i + 1))
      const model: Model = new Map()
      const trash: TrashModel = new Map()
      for (const event of fed) apply(model, trash, event)
      expect(new Map([...model].sort())).toEqual(new Map([...tree].sort()))
      expect(followed).toEqual(fed)
    },
    120_000,
  )
})

describe('A cursor', () => {
  let t: TestApp
  let alice: Person

  beforeAll(async () => {
    t = await startApp(UNHURRIED)
    await t.limit(ROOMY)
    alice = await t.signIn('alice')
  })
  afterAll(() => t.stop())

  const PAGE = `query ($first: Int, $after: String, $newestFirst: Boolean, $kinds: [EventKind!]) { me { drive { eventCursor
    events(first: $first, after: $after, newestFirst: $newestFirst, kinds: $kinds) { nodes { kind details { path } } pageInfo { hasNextPage endCursor } } } } }`
  const read = async (variables: object) => {
    const { data, errors } = await alice.graphql<Anything>(PAGE, variables)
    if (errors) return { code: errors[0]?.extensions.code }
    const { events, eventCursor } = data.me.drive
    return {
      paths: events.nodes.map((node: Anything) => node.details.path),
      end: events.pageInfo.endCursor,
      more: events.pageInfo.hasNextPage,
      head: eventCursor,
    }
  }

  it('continues from its position in either direction, and filters by kind', async () => {
    const start = (await read({})).head
    for (const path of ['a', 'b', 'c']) await alice.upload(path, path)
    await alice.rest('POST', '/api/folders', { json: { path: 'd' } })
    const first = await read({ first: 2, after: start })
    expect(first).toMatchObject({ paths: ['a', 'b'], more: true })
    expect(await read({ after: first.end })).toMatchObject({ paths: ['c', 'd'], more: false })
    const newest = await read({ first: 3, newestFirst: true })
    expect(newest).toMatchObject({ paths: ['d', 'c', 'b'], more: true })
    expect(await read({ first: 3, newestFirst: true, after: newest.end })).toMatchObject({
      paths: ['a'],
      more: false,
    })
    expect(await read({ kinds: ['FOLDER_CREATED'] })).toMatchObject({ paths: ['d'] })
    expect(await read({ after: newest.head })).toMatchObject({ paths: [], more: false })
  })

  it('is refused for another list, and when the following events are gone', async () => {
    const bob = await t.signIn('bob')
    const cursor = (log: string, seq: number) =>
      Buffer.from(JSON.stringify([log, seq])).toString('base64url')
    const [own, other] = [await driveOf(alice), await driveOf(bob)]
    expect(await read({ after: cursor(other, 0) })).toEqual({ code: 'INVALID_INPUT' })
    expect(await read({ after: 'nonsense' })).toEqual({ code: 'INVALID_INPUT' })
    // As after a restore from a backup.
    expect(await read({ after: cursor(own, 1000) })).toEqual({ code: 'CURSOR_EXPIRED' })
    await purgeEvents(t.app.db, own, 2)
    expect(await read({ after: cursor(own, 1) })).toEqual({ code: 'CURSOR_EXPIRED' })
    expect(await read({ after: cursor(own, 2) })).toMatchObject({ paths: ['c', 'd'] })
    expect(await read({})).toMatchObject({ paths: ['c', 'd'] })
    const stream = await alice.subscribe(
      'subscription ($after: String) { driveEvents(after: $after) { kind } }',
      {
        after: cursor(own, 1),
      },
    )
    expect((await stream.next()).errors?.[0]?.extensions.code).toBe('CURSOR_EXPIRED')
    await stream.ended
  })

  it('remains valid after the sweeper purges old events', async () => {
    const { head } = await read({})
    await t.app.db.Event.update({ at: Date.now() - 91 * 86_400_000 }, { where: {} })
    await t.app.sweeper.run()
    expect(await oldEvents(t.app.db, Date.now(), 10)).toEqual([])
    await alice.upload('e', 'e')
    expect(await read({ after: head })).toMatchObject({ paths: ['e'] })
  })
})

describe('Events', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp(UNHURRIED)
    await t.limit(ROOMY)
  })
  afterAll(() => t.stop())

  it('contain no address, password, token or file content', async () => {
    const [alice, bob] = [await t.signIn('alice'), await t.signIn('bob')]
    await alice.upload('plan.txt', 'the content of the plan')
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'plan.txt', password: 'open sesame please' },
    })
    await alice.rest('POST', '/api/files/share', {
      json: { email: bob.email, objects: ['plan.txt'] },
    })
    await alice.rest('POST', '/api/workspaces/create', { json: { name: 'Garden' } })
    const key = await alice.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'backup', scopes: ['private_files:read'] },
    })
    const rows = await t.app.db.Event.findAll({ raw: true })
    const kinds = new Set(rows.map(row => row.kind))
    for (const kind of [
      'file.created',
      'share.created',
      'share.received',
      'workspace.created',
      'key.created',
    ] as const)
      expect(kinds).toContain(kind)
    const text = JSON.stringify(rows)
    const secrets = [
      'the content',
      'open sesame',
      bob.email,
      response.sharing_token,
      key.response.api_key.key,
    ]
    expect(secrets.filter(secret => text.includes(secret))).toEqual([])
    expect(text).toContain('b…@example.com')
  })
})
