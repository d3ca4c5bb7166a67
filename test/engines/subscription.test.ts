import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { callerFinder } from '../../src/access/credential.ts'
import { createLog } from '../../src/runtime/log.ts'
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
import type { EventStream } from '../support/event-stream.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { meetAll } from '../support/right-ends.ts'
import { anId, aTime } from '../support/shapes.ts'
import { until } from '../support/until.ts'

const SHARES =
  'subscription { shareReceived { id fileName sharedBy { email } recipient token seen expiresAt } }'
const INVITES = 'subscription { inviteReceived { id workspaceName role token } }'
const DRIVE = '{ usage { usedBytes fileCount folderCount maxBytes maxFiles } }'
const USAGE = `subscription { driveChanged ${DRIVE} }`
/** The limits of the plan, for persons and workspaces alike. */
const FREE = { maxBytes: 5 * 1024 ** 3, maxFiles: 10_000 }
const QUICK = { ...UNHURRIED, SUBSCRIPTION_CHECK_SECONDS: '1', SUBSCRIPTIONS_PER_USER: '5' }

let t: TestApp
let alice: Person
let bob: Person
let carol: Person

beforeAll(async () => {
  t = await startApp(QUICK)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  carol = await t.signIn('carol')
  for (const name of ['a', 'b', 'c']) await alice.upload(`docs/${name}.txt`, name)
})
afterAll(() => t.stop())

const share = (by: Person, email: string, objects: string[]) =>
  by.rest('POST', '/api/files/share', { json: { email, objects } })
const invite = (by: Person, workspace_id: string, email: string) =>
  by.rest('POST', '/api/workspaces/invites/create', {
    json: { workspace_id, email, role: 'editor' },
  })
const refusalOf = async (stream: EventStream) => (await stream.next()).errors?.[0]?.extensions

/**
 * Runs with a subscription and closes it afterwards, so that it does not count in the next test.
 */
async function following(
  person: Person,
  query: string,
  work: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const stream = await person.subscribe(query)
  try {
    await work(stream)
  } finally {
    stream.close()
    await stream.ended
  }
}

describe('subscription shareReceived', () => {
  it('delivers each share to its recipient only', () =>
    following(bob, SHARES, stream =>
      following(carol, SHARES, async other => {
        await share(alice, carol.email, ['docs/c.txt'])
        const { response } = await share(alice, 'BOB@example.com', ['docs/a.txt', 'docs/b.txt'])
        const got = [await stream.next(), await stream.next()]
        expect(got).toEqual(
          ['a.txt', 'b.txt'].map((fileName, i) => ({
            data: {
              shareReceived: {
                id: anId,
                fileName,
                sharedBy: { email: alice.email },
                recipient: bob.email,
                token: response.sharing_info[i].sharing_token,
                seen: false,
                expiresAt: aTime,
              },
            },
          })),
        )
        expect(await other.next()).toMatchObject({ data: { shareReceived: { fileName: 'c.txt' } } })
        // A renewal is an event, but a refused share is not.
        await bob.rest('POST', '/api/files/received/mark_seen', {
          json: { sharing_token: got[0]?.data.shareReceived.token },
        })
        expect((await share(alice, bob.email, ['docs/a.txt', 'docs/none.txt'])).status).toBe(400)
        await share(alice, bob.email, ['docs/a.txt'])
        const { id, token } = got[0]?.data.shareReceived ?? {}
        expect(await stream.next()).toMatchObject({
          data: { shareReceived: { id, token, seen: false } },
        })
        await Promise.all([stream.quiet(), other.quiet()])
        expect([stream.messages.length, other.messages.length]).toEqual([3, 1])
      }),
    ))

  it('reaches all subscriptions of a person, by session and by key, and none without a verified address', async () => {
    const dora = await t.signIn('dora', { emailVerified: false })
    const { caller } = await privateKey(t, bob, ['private_files:read'])
    await following(bob, SHARES, one =>
      following(caller, SHARES, two =>
        following(dora, SHARES, async none => {
          await share(alice, bob.email, ['docs/b.txt'])
          await share(alice, dora.email, ['docs/b.txt'])
          for (const stream of [one, two])
            expect(await stream.next()).toMatchObject({
              data: { shareReceived: { fileName: 'b.txt' } },
            })
          await none.quiet()
          expect(none.messages).toEqual([])
        }),
      ),
    )
  })

  it('delivers the state at the time of delivery', () =>
    following(bob, SHARES, async stream => {
      const nextName = async () => (await stream.next()).data?.shareReceived.fileName
      // The first event is delivered immediately, and the others after a pause. A slow machine may
      // need several tries to be that quick.
      for (let left = 10; left > 0; left--) {
        await alice.upload('brief.txt', 'x')
        await share(alice, bob.email, ['docs/a.txt'])
        expect(await nextName()).toBe('a.txt')
        await share(alice, bob.email, ['brief.txt'])
        await alice.rest('DELETE', '/api/files/delete?file=brief.txt')
        await share(alice, bob.email, ['docs/c.txt'])
        const name = await nextName()
        if (name === 'c.txt') return
        expect([name, await nextName()]).toEqual(['brief.txt', 'c.txt'])
        await sleep(400)
      }
      throw new Error('A share is shown although its file was deleted before.')
    }))
})

describe('subscription inviteReceived', () => {
  it('delivers each invite to its recipient, ready to be accepted', async () => {
    const [garden, orchard] = [await found(alice, 'Garden'), await found(alice, 'Orchard')]
    await following(bob, INVITES, async stream => {
      await invite(alice, garden, carol.email)
      await invite(alice, garden, bob.email)
      const { data } = await stream.next()
      expect(data).toEqual({
        inviteReceived: {
          id: anId,
          workspaceName: 'Garden',
          role: 'EDITOR',
          token: expect.any(String),
        },
      })
      const accept = { json: { token: data.inviteReceived.token } }
      expect((await bob.rest('POST', '/api/workspaces/invites/accept', accept)).status).toBe(200)
      expect((await invite(alice, garden, bob.email)).status).toBe(400)
      await invite(alice, orchard, bob.email)
      expect(await stream.next()).toMatchObject({
        data: { inviteReceived: { workspaceName: 'Orchard' } },
      })
      expect(stream.messages).toHaveLength(2)
    })
  })
})

describe('subscription driveChanged', () => {
  it('delivers the storage usage after every kind of change, and nothing of other drives', async () => {
    const erin = await t.signIn('erin')
    const changes: [string, () => Promise<unknown>, number[]][] = [
      ['an upload', () => erin.upload('x/a.txt', '12345'), [5, 1, 1]],
      ['a folder', () => erin.rest('POST', '/api/folders', { json: { path: 'y/z' } }), [5, 1, 3]],
      [
        'a move',
        () =>
          erin.rest('POST', '/api/files/move', {
            json: { source: 'x/a.txt', destination: 'new/a.txt' },
          }),
        [5, 1, 4],
      ],
      [
        'a move of a folder',
        () =>
          erin.rest('POST', '/api/folders/move', { json: { source: 'y', destination: 'deep/y' } }),
        [5, 1, 5],
      ],
      ['another upload', () => erin.upload('deep/y/b.txt', '123'), [8, 2, 5]],
      ['a deletion', () => erin.rest('DELETE', '/api/files/delete?file=new/a.txt'), [3, 1, 5]],
      [
        'a deletion of many',
        () => erin.rest('DELETE', '/api/files/delete/batch', { json: { files: ['deep/y/b.txt'] } }),
        [0, 0, 5],
      ],
      [
        'a deletion of a folder',
        () => erin.rest('DELETE', '/api/folders?path=deep&recursive=true'),
        [0, 0, 2],
      ],
    ]
    await following(erin, USAGE, async stream => {
      for (const [what, change, [usedBytes, fileCount, folderCount]] of changes) {
        await change()
        const { data } = await stream.next()
        expect([what, data.driveChanged.usage]).toEqual([
          what,
          { ...FREE, usedBytes, fileCount, folderCount },
        ])
      }
      await bob.upload('mine.txt', 'x')
      expect((await erin.rest('DELETE', '/api/files/delete?file=none')).status).toBe(404)
      await stream.quiet()
      expect(stream.messages).toHaveLength(changes.length)
    })
  })

  it('of a workspace delivers its usage to members of any role, and to nobody else', async () => {
    const [garden, orchard] = [await found(alice, 'Garden'), await found(alice, 'Orchard')]
    await join(t, garden, bob, 'editor')
    const { caller } = await workspaceKey(t, alice, garden, ['workspaces:files:read'])
    const query = `subscription { driveChanged(drive: "${await driveOf(alice, garden)}") ${DRIVE} }`
    await following(bob, query, one =>
      following(caller, query, async two => {
        const both = async () =>
          [await one.next(), await two.next()].map(({ data }) => data.driveChanged.usage)
        await put(alice, garden, '/beds/a.txt', '123')
        const usage = { ...FREE, usedBytes: 3, fileCount: 1, folderCount: 1 }
        expect(await both()).toEqual([usage, usage])
        await put(alice, orchard, '/b.txt', '12')
        await bob.upload('own.txt', '1')
        await join(t, garden, bob, 'viewer')
        await put(alice, garden, '/c.txt', '12')
        expect(await both()).toEqual(Array(2).fill({ ...usage, usedBytes: 5, fileCount: 2 }))
        expect([one.messages.length, two.messages.length]).toEqual([2, 2])
      }),
    )
  })

  it('is throttled to a few messages per second, and ends with the final state', async () => {
    const frank = await t.signIn('frank')
    await following(frank, USAGE, async stream => {
      const began = Date.now()
      for (let i = 0; i < 40; i++) await frank.upload(`${i}.txt`, '12')
      const seconds = (Date.now() - began) / 1000
      let last: number | undefined
      while (last !== 40) last = (await stream.next()).data.driveChanged.usage.fileCount
      expect(stream.messages.at(-1)?.data.driveChanged.usage).toMatchObject({
        usedBytes: 80,
        fileCount: 40,
      })
      expect(stream.messages.length).toBeLessThanOrEqual(2 + seconds / 0.3)
    })
  })
})

describe('A subscription', () => {
  it('is refused to callers who may not read the list', async () => {
    const garden = await found(carol)
    const cases: [string, Person, string, string][] = [
      ['nobody', t.anonymous, SHARES, 'UNAUTHENTICATED'],
      ['nobody', t.anonymous, INVITES, 'UNAUTHENTICATED'],
      ['nobody', t.anonymous, USAGE, 'UNAUTHENTICATED'],
      ['a wrong key', t.withKey('satchel_wrong', carol), USAGE, 'UNAUTHENTICATED'],
      ...[SHARES, USAGE].map((query): [string, Person, string, string] => [
        'a lesser key',
        t.anonymous,
        query,
        'INSUFFICIENT_SCOPE',
      ]),
      ...[SHARES, INVITES, USAGE].map((query): [string, Person, string, string] => [
        'a workspace key',
        t.anonymous,
        query,
        'KEY_OUT_OF_BOUNDS',
      ]),
      ['a private key', t.anonymous, INVITES, 'KEY_OUT_OF_BOUNDS'],
    ]
    const keys: Record<string, Person> = {
      'a lesser key': (await privateKey(t, carol, ['private_files:write'])).caller,
      'a workspace key': (await workspaceKey(t, carol, garden)).caller,
      'a private key': (await privateKey(t, carol)).caller,
    }
    for (const [who, person, query, code] of cases) {
      const stream = await (keys[who] ?? person).subscribe(query)
      expect([who, query, await refusalOf(stream), await stream.ended, stream.status]).toEqual([
        who,
        query,
        expect.objectContaining({ code }),
        'complete',
        200,
      ])
      expect(stream.messages[0]?.data ?? null).toBeNull()
    }
  })

  it('ends when its access is revoked: immediately with an event, which is withheld, or soon without one', async () => {
    const { said, wanted } = await meetAll(t, t)
    expect(said).toEqual(wanted)
  })

  it('withholds buffered events from a slow reader whose access is revoked', async () => {
    const erna = await t.signIn('erna')
    const callerNow = () =>
      callerFinder(t.app.db)({ headers: { cookie: erna.cookie } } as IncomingMessage)
    const caller = await callerNow()
    if (!caller) throw new Error('Erna is not in.')
    const { signal } = new AbortController()
    const log = createLog({ logLevel: 'silent' }, { write: () => {} })
    const reader = t.app.services.subscriptions.sharesReceived({ caller, callerNow, signal, log })
    const first = reader.next()
    await share(alice, erna.email, ['docs/a.txt', 'docs/b.txt', 'docs/c.txt'])
    expect((await first).value).toMatchObject({ names: ['docs', 'a.txt'] })
    await erna.rest('POST', '/auth/logout')
    await sleep(400)
    await expect(reader.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })

  it('stays open when another session of the caller ends', async () => {
    const second = await t.signIn('bob')
    await following(bob, SHARES, async stream => {
      await second.rest('POST', '/auth/logout')
      await sleep(1200)
      await share(alice, bob.email, ['docs/a.txt'])
      expect(await stream.next()).toMatchObject({ data: { shareReceived: { fileName: 'a.txt' } } })
    })
  })

  it('counts towards the limit of its user until the client disconnects', async () => {
    const grace = await t.signIn('grace')
    const open = await Promise.all(
      Array.from({ length: 5 }, (_, i) => grace.subscribe([SHARES, INVITES, USAGE][i % 3] ?? '')),
    )
    const { caller } = await privateKey(t, grace)
    for (const person of [grace, await t.signIn('grace'), caller]) {
      const refused = await person.subscribe(USAGE)
      expect(await refusalOf(refused)).toEqual({
        code: 'QUOTA_EXCEEDED',
        limit: 'max_subscriptions',
        max: 5,
        used: 5,
      })
      expect(await refused.ended).toBe('complete')
    }
    await following(carol, USAGE, async stream => expect(stream.messages).toEqual([]))
    open[0]?.close()
    await open[0]?.ended
    const again = await until(async () => {
      const stream = await grace.subscribe(USAGE)
      return stream.messages.length === 0 && stream
    })
    await grace.upload('a.txt', 'x')
    expect(await again.next()).toMatchObject({
      data: { driveChanged: { usage: { fileCount: 1 } } },
    })
    for (const stream of [...open, again]) stream.close()
  })

  it('sends keep-alives, and headers that prevent buffering and caching', () =>
    following(bob, USAGE, async stream => {
      expect(stream.headers.get('content-type')).toBe('text/event-stream')
      expect(stream.headers.get('cache-control')).toBe('no-store')
      expect(stream.headers.get('x-accel-buffering')).toBe('no')
      expect(stream.headers.has('content-encoding')).toBe(false)
      expect(stream.headers.get('x-request-id')).toEqual(anId)
      const before = stream.pings()
      await until(() => stream.pings() > before)
    }))

  it('can be opened by GET, as browsers do', async () => {
    const gone = new AbortController()
    const response = await fetch(`${t.url}/graphql?query=${encodeURIComponent(USAGE)}`, {
      headers: { accept: 'text/event-stream', cookie: bob.cookie },
      signal: gone.signal,
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream',
    ])
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe(':\n\n')
    await bob.upload('by-get.txt', 'x')
    for (let text: string | undefined = ''; !text?.includes('"driveChanged":{'); )
      text = (await reader?.read())?.value
    gone.abort()
  })

  it('rejects a client that accepts only other types', async () => {
    const { status, errors } = await bob.graphql(USAGE)
    expect([status, errors?.[0]?.extensions]).toEqual([
      200,
      { code: 'INVALID_INPUT', field: 'accept' },
    ])
    expect(errors?.[0]?.message).toBe(
      'A subscription is answered as server-sent events. Send Accept: text/event-stream.',
    )
  })

  it('hides internal errors from the client, and logs them in full', async () => {
    await t.app.db.run('ALTER TABLE share RENAME TO mislaid')
    const stream = await bob.subscribe(SHARES)
    try {
      t.app.pubSub.publish('shareReceived', bob.email, [bob.userId])
      expect(await stream.next()).toEqual({
        errors: [expect.objectContaining({ extensions: { code: 'INTERNAL' } })],
      })
      expect(await stream.ended).toBe('complete')
      expect(JSON.stringify(stream.messages)).not.toMatch(/mislaid|no such table|SELECT|share'/)
      const id = stream.headers.get('x-request-id') ?? ''
      const line = t
        .logs()
        .split('\n')
        .find(l => l.includes(id) && l.includes('"err"'))
      expect(JSON.parse(line ?? '{}')).toMatchObject({
        level: 50,
        err: { message: expect.any(String) },
      })
    } finally {
      await t.app.db.run('ALTER TABLE mislaid RENAME TO share')
    }
  })
})

describe('A subscription with a long check interval', () => {
  it('ends exactly when its credential expires, and at the first event after it loses access', async () => {
    const other = await startApp({ ...UNHURRIED, SUBSCRIPTION_CHECK_SECONDS: '300' })
    try {
      const leaver = await other.signIn('leaver')
      const left = await leaver.subscribe(USAGE)
      await leaver.upload('a.txt', 'x')
      await left.next()
      await other.app.db.run('DELETE FROM session WHERE user_id = ?', [leaver.userId])
      await (await other.signIn('leaver')).upload('b.txt', 'x')
      expect(await refusalOf(left)).toEqual({ code: 'UNAUTHENTICATED' })
      expect([await left.ended, left.messages.length]).toEqual(['complete', 2])
      const person = await other.signIn('alice')
      const { id, caller } = await privateKey(other, person)
      const soon = Date.now() + 1500
      await other.app.db.run('UPDATE api_key SET expires_at = ? WHERE id = ?', [soon, id])
      await other.app.db.run('UPDATE session SET expires_at = ? WHERE user_id = ?', [
        soon,
        person.userId,
      ])
      for (const stream of await Promise.all([
        caller.subscribe(USAGE),
        person.subscribe(INVITES),
      ])) {
        expect(await refusalOf(stream)).toEqual({ code: 'UNAUTHENTICATED' })
        expect(await stream.ended).toBe('complete')
      }
      expect(Date.now()).toBeGreaterThanOrEqual(soon)
    } finally {
      await other.stop()
    }
  })
})

describe('A stopping instance', () => {
  it('closes subscriptions first, and without delay', async () => {
    const other = await startApp({ ...QUICK, SHUTDOWN_SECONDS: '20' })
    const person = await other.signIn('alice')
    const streams = [await person.subscribe(SHARES), await person.subscribe(USAGE)]
    const began = Date.now()
    await other.stop()
    expect(Date.now() - began).toBeLessThan(15_000)
    expect(await Promise.all(streams.map(stream => stream.ended))).toEqual(['complete', 'complete'])
    expect(streams.flatMap(stream => stream.messages)).toEqual([])
  })
})
