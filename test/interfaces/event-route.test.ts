import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { purgeEvents } from '../../db/queries/event.ts'
import {
  driveOf,
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Anything, seqOf } from '../support/event-model.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  ;[alice, bob] = [await t.signIn('alice'), await t.signIn('bob')]
})
afterAll(() => t.stop())

const poll = async (who: Person, path: string, query: Record<string, string> = {}) => {
  const { status, response } = await who.rest('GET', `${path}?${new URLSearchParams(query)}`)
  return status === 200 ? response : { status, code: response.code }
}
const kindsIn = ({ events }: Anything) => events.map(({ kind }: Anything) => kind)
const pathsIn = ({ events }: Anything) => events.map(({ details }: Anything) => details.path)

describe('The events of a drive, by REST', () => {
  it('are polled from a cursor, in pages, each event once', async () => {
    const start = await poll(alice, '/api/events', { after: 'now' })
    expect(start).toMatchObject({ events: [], has_more: false })
    for (const path of ['a', 'b', 'c']) await alice.upload(path, path)
    const first = await poll(alice, '/api/events', { after: start.cursor, limit: '2' })
    expect(first).toMatchObject({ has_more: true })
    expect(pathsIn(first)).toEqual(['a', 'b'])
    const rest = await poll(alice, '/api/events', { after: first.cursor })
    expect(rest).toMatchObject({ has_more: false })
    expect(pathsIn(rest)).toEqual(['c'])
    t.statements()
    const none = await poll(alice, '/api/events', { after: rest.cursor })
    expect(none).toEqual({ events: [], has_more: false, cursor: rest.cursor })
    // Only the end of the log is read.
    expect(t.statements().filter(sql => sql.includes('FROM event '))).toHaveLength(1)
    expect(pathsIn(await poll(alice, '/api/events'))).toEqual(['a', 'b', 'c'])
  })

  it('equal the events in GraphQL', async () => {
    const { caller, id: keyId } = await privateKey(t, alice)
    const { cursor } = await poll(alice, '/api/events', { after: 'now' })
    await caller.upload('by-key.txt', '12345')
    const { events } = await poll(alice, '/api/events', { after: cursor })
    const { data } = await alice.graphql<Anything>(
      `query ($after: String) { me { drive { events(after: $after) { nodes { id happenedAt subjectId cursor details { md5 } } } } } }`,
      { after: cursor },
    )
    const [event] = data.me.drive.events.nodes
    const { path, size, md5, ...others } = events[0].details
    expect(events).toEqual([
      {
        id: event.id,
        happened_at: event.happenedAt,
        subject_id: event.subjectId,
        cursor: event.cursor,
        kind: 'file.created',
        actor_id: alice.userId,
        via: 'key',
        api_key_id: keyId,
        details: expect.anything(),
      },
    ])
    expect({ path, size, md5 }).toEqual({ path: 'by-key.txt', size: 5, md5: event.details.md5 })
    expect(new Set(Object.values(others))).toEqual(new Set([null]))
  })
})

describe('A cursor of events, by REST', () => {
  it.each(['a drive', 'a person', 'a workspace'])(
    'of %s is refused if it is of another list or invalid, or if its events are gone',
    async what => {
      const erin = await t.signIn(`erin of ${what}`.replaceAll(' ', '-'))
      const workspace = await found(erin)
      const [own, path] = {
        'a drive': [await driveOf(erin), '/api/events'],
        'a person': [erin.userId, '/api/user/events'],
        'a workspace': [await driveOf(erin, workspace), `/api/workspaces/${workspace}/events`],
      }[what] as [string, string]
      for (const name of ['a', 'b']) {
        await erin.upload(name, name)
        await put(erin, workspace, `/${name}`)
      }
      const cursor = (log: string, seq: number) =>
        Buffer.from(JSON.stringify([log, seq])).toString('base64url')
      const invalid = { status: 400, code: 'INVALID_INPUT' }
      for (const after of [cursor(await driveOf(bob), 0), cursor(own, -1), 'nonsense'])
        expect(await poll(erin, path, { after })).toEqual(invalid)
      expect(await poll(erin, path, { limit: '0' })).toEqual(invalid)
      const expired = { status: 410, code: 'CURSOR_EXPIRED' }
      expect(await poll(erin, path, { after: cursor(own, 1000) })).toEqual(expired)
      await purgeEvents(t.app.db, own, 2)
      expect(await poll(erin, path, { after: cursor(own, 1) })).toEqual(expired)
      expect(await poll(erin, path, { after: cursor(own, 2) })).toHaveProperty('events')
    },
  )
})

describe('The events of a person, by REST', () => {
  it('are shown to a session, and to no key', async () => {
    const { caller } = await privateKey(t, bob)
    expect(kindsIn(await poll(bob, '/api/user/events'))).toEqual([
      'identity.added',
      'session.started',
      'key.created',
    ])
    expect(await poll(caller, '/api/user/events')).toEqual({
      status: 401,
      code: 'KEY_OUT_OF_BOUNDS',
    })
    expect(await poll(caller, '/api/events')).toMatchObject({ events: [] })
  })
})

describe('The events of a workspace, by REST', () => {
  it('are limited by role and credential, and the cursor skips hidden events', async () => {
    const id = await found(alice)
    const path = `/api/workspaces/${id}/events`
    await join(t, id, bob, 'viewer')
    await put(alice, id, '/plan.txt')
    const { caller } = await workspaceKey(t, alice, id)
    const mail = { workspace_id: id, email: 'carol@example.com', role: 'viewer' }
    await alice.rest('POST', '/api/workspaces/invites/create', { json: mail })

    const seen = ['workspace.created', 'file.created']
    const own = await poll(alice, path)
    expect(kindsIn(own)).toEqual(expect.arrayContaining([...seen, 'key.created', 'invite.created']))
    const bobs = await poll(bob, path)
    expect(kindsIn(bobs)).toEqual(seen)
    expect(bobs.cursor).toBe(own.cursor)
    const keys = kindsIn(await poll(caller, path))
    expect(keys).toEqual(expect.arrayContaining([...seen, 'invite.created']))
    expect(keys).not.toContain('key.created')

    // Events that bob may not see are purged: his cursor is as valid as the owner's.
    await purgeEvents(t.app.db, await driveOf(alice, id), seqOf(bobs))
    await put(alice, id, '/later.txt')
    expect(pathsIn(await poll(bob, path, { after: bobs.cursor }))).toEqual(['/later.txt'])
    const stranger = await t.signIn('stranger')
    expect(await poll(stranger, path)).toEqual({ status: 403, code: 'FORBIDDEN' })
  })
})
