import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { callerFinder } from '../../src/access/credential.ts'
import { toAppError } from '../../src/runtime/errors.ts'
import { accountService } from '../../src/services/accounts/account.ts'
import { ask, codeOf } from '../support/ask.ts'
import { put, workspaceKey } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aSentence, aTime } from '../support/shapes.ts'

let t: TestApp

beforeAll(async () => {
  t = await startApp({
    TRASH_DAYS: '0',
    RETENTION_DAYS: '12',
    RATE_SHARING: '1000000',
    RATE_API_KEYS: '1000000',
    RATE_INVITES: '1000000',
    RATE_WORKSPACES: '1000000',
  })
  await t.limit({ maxPrivateApiKeys: 100, maxUserWorkspaces: 100 })
})
afterAll(() => t.stop())

const DAY = 86_400_000
const HELLO = '5d41402abc4b2a76b9719d911017c592'

const end = (person: Person, delete_user_data: unknown = true) =>
  person.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data } })
const rowsOf = (table: string, column: string, id: string) =>
  t.app.db.rows<Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${column} = ?`, [id])
const isIn = async (person: Person) => (await person.rest('GET', '/api/user/data')).status === 200

const found = async (person: Person, name: string): Promise<string> => {
  const { response } = await person.rest('POST', '/api/workspaces/create', { json: { name } })
  return response.workspace.workspace_id
}

/** Adds a member. */
async function join(
  owner: Person,
  workspace_id: string,
  person: Person,
  role: string,
): Promise<void> {
  await owner.rest('POST', '/api/workspaces/invites/create', {
    json: { workspace_id, email: person.email, role: role === 'owner' ? 'admin' : role },
  })
  const { response } = await person.rest('GET', '/api/workspaces/invites/mine')
  const { token } = response.find((i: { workspace_id: string }) => i.workspace_id === workspace_id)
  expect(
    (await person.rest('POST', '/api/workspaces/invites/accept', { json: { token } })).status,
  ).toBe(200)
  const change = { json: { workspace_id, user_id: person.userId, role } }
  if (role === 'owner') await owner.rest('PATCH', '/api/workspaces/members/role', change)
}

async function keyOf(person: Person, scopes: string[], path = 'private'): Promise<Person> {
  const { response } = await person.rest('POST', `/api/api_keys/${path}/create`, {
    json: { name: 'key', scopes },
  })
  const headers = { cookie: '', 'x-api-key': response.api_key.key as string }
  return {
    ...person,
    rest: (method, p, options) => person.rest(method, p, { ...options, headers }),
  }
}

const bucketOf = async (person: Person): Promise<string> =>
  (await person.rest('GET', '/api/user/bucket?limit=1')).response.bucket_data.bucket_name

const objectsIn = async (bucketId: string): Promise<{ remembered: number; stored: number }> => {
  const blobs = await t.app.db.rows<{ id: string }>('SELECT id FROM blobs WHERE bucket_id = ?', [
    bucketId,
  ])
  const sizes = await Promise.all(blobs.map(({ id }) => t.app.store.look(id)))
  return { remembered: blobs.length, stored: sizes.filter(Boolean).length }
}

/** All remaining references to a user in the database. */
async function tracesOf(userId: string): Promise<string[]> {
  const columns = [
    ...[
      'identity.user_id',
      'session.user_id',
      'member.user_id',
      'share.user_id',
      'bucket.user_id',
      'user.id',
    ],
    ...['api_key.created_by', 'workspace.owner_id'],
  ]
  const found = await Promise.all(
    columns.map(async column => {
      const [table = '', name = ''] = column.split('.')
      return (await rowsOf(table, name, userId)).map(() => column)
    }),
  )
  return found.flat()
}

/** A person with data of every kind. */
async function settled(name: string, friend: Person) {
  const person = await t.signIn(name)
  await person.upload('docs/a.txt', 'hello', 'text/plain')
  await person.upload('docs/deep/b.txt', 'bee')
  await person.rest('PUT', `/api/files/${HELLO}/note`, { json: { content: 'remember' } })
  const open = await person.rest('POST', '/api/files/quick_share', {
    json: { object: 'docs/a.txt' },
  })
  const direct = await person.rest('POST', '/api/files/share', {
    json: { email: friend.email, objects: ['docs/a.txt'] },
  })
  const own = await person.rest('POST', '/api/user/private/download_token?file=docs/a.txt')
  return {
    person,
    again: await t.signIn(name),
    key: await keyOf(person, ['private_files:read']),
    bucketId: await bucketOf(person),
    open: open.response.sharing_token as string,
    direct: direct.response.sharing_info[0].sharing_token as string,
    own: own.response.private_download_token as string,
  }
}

describe('DELETE /api/user/account/delete', () => {
  let bob: Person
  beforeAll(async () => {
    bob = await t.signIn('bob')
  })

  it.each<[string, object]>([
    ['nothing', {}],
    ['an empty body', { json: {} }],
    ['no answer', { json: { delete_user_data: null } }],
    ['a text', { json: { delete_user_data: 'true' } }],
    ['a number', { json: { delete_user_data: 1 } }],
    ['more than is asked', { json: { delete_user_data: true, user_id: '1' } }],
    ['a list', { json: [true] }],
  ])('400 for %s, and nothing is deleted', async (_what, options) => {
    const { status, msg, response } = await bob.rest(
      'DELETE',
      '/api/user/account/delete?delete_user_data=true',
      options,
    )
    expect([status, response.code]).toEqual([400, expect.stringMatching(/^INVALID_(INPUT|JSON)$/)])
    expect(msg).toEqual(aSentence)
    expect(await isIn(bob)).toBe(true)
  })

  it('400 LAST_OWNER for the last owner of workspaces with other members, with their names', async () => {
    const { person, key, open, bucketId } = await settled('carl', bob)
    const garden = await found(person, 'Garden')
    const kitchen = await found(person, 'The "kitchen"')
    const own = await found(person, 'Alone')
    for (const id of [garden, kitchen]) await join(person, id, bob, 'admin')
    for (const data of [true, false]) {
      const { status, msg, response } = await end(person, data)
      expect([status, response]).toEqual([
        400,
        {
          code: 'LAST_OWNER',
          workspaces: [
            { workspace_id: garden, name: 'Garden' },
            { workspace_id: kitchen, name: 'The "kitchen"' },
          ],
        },
      ])
      for (const name of ['Garden', 'The "kitchen"']) expect(msg).toContain(name)
      expect(msg).not.toContain('Alone')
    }
    expect([await isIn(person), await isIn(key)]).toEqual([true, true])
    expect((await t.anonymous.rest('GET', `/api/share/info/${open}`)).status).toBe(200)
    expect(await objectsIn(bucketId)).toEqual({ remembered: 2, stored: 2 })
    const { response: list } = await person.rest('GET', '/api/workspaces/list')
    expect(list.map((w: { workspace_id: string }) => w.workspace_id)).toEqual([
      garden,
      kitchen,
      own,
    ])
    expect((await rowsOf('bucket', 'id', bucketId))[0]).toMatchObject({
      user_id: person.userId,
      kept_until: null,
    })

    // The account can be deleted as soon as others own the workspaces. They are responsible for the
    // limits then.
    const change = (workspace_id: string) => ({
      json: { workspace_id, user_id: bob.userId, role: 'owner' },
    })
    await person.rest('PATCH', '/api/workspaces/members/role', change(garden))
    expect((await end(person)).response.workspaces).toHaveLength(1)
    await person.rest('PATCH', '/api/workspaces/members/role', change(kitchen))
    expect((await end(person)).status).toBe(200)
    for (const id of [garden, kitchen]) {
      expect(await rowsOf('workspace', 'id', id)).toEqual([
        expect.objectContaining({ owner_id: bob.userId }),
      ])
      expect(await rowsOf('member', 'workspace_id', id)).toEqual([
        expect.objectContaining({ role: 'owner' }),
      ])
      expect((await bob.rest('GET', `/api/workspaces/${id}/quota`)).status).toBe(200)
    }
    expect(await rowsOf('workspace', 'id', own)).toEqual([])
    expect(await tracesOf(person.userId)).toEqual([])
    await expectConsistent(t)
  })

  it('200 with the data: all access is revoked immediately, and the sweep deletes the bytes', async () => {
    const { person, again, key, open, direct, own, bucketId } = await settled('dora', bob)
    const alone = await found(person, 'Dora alone')
    await person.rest('POST', `/api/workspaces/${alone}/files/mkdir`, {
      json: { folder_name: 'x' },
    })
    const keyOfAlone = await keyOf(person, ['workspaces:files:read'], alone)
    const shared = await found(bob, 'Bob and Dora')
    await join(bob, shared, person, 'admin')
    const keyOfShared = await keyOf(person, ['workspaces:files:read'], shared)
    const form = new FormData()
    form.append('file', new Blob(['left behind']), 'left.txt')
    await person.rest('POST', `/api/workspaces/${shared}/files/upload`, { form })
    expect((await keyOfShared.rest('GET', `/api/workspaces/${shared}/files/tree`)).status).toBe(200)

    const { status, msg, response } = await end(person)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      bucket: { name: bucketId, deleted: true },
      account_deleted: { id: person.userId, email: 'dora@example.com', user_name: 'dora' },
    })

    for (const dead of [person, again, key]) expect(await isIn(dead)).toBe(false)
    expect((await end(person)).status).toBe(401)
    expect((await keyOfShared.rest('GET', `/api/workspaces/${shared}/files/tree`)).status).toBe(401)
    expect((await keyOfAlone.rest('GET', `/api/workspaces/${alone}/files/tree`)).status).toBe(401)
    for (const token of [open, direct]) {
      expect((await t.anonymous.rest('GET', `/api/share/info/${token}`)).status).toBe(404)
      expect((await bob.rest('GET', `/api/d/${token}`)).status).toBe(404)
    }
    const { files } = (await bob.rest('GET', '/api/files/received')).response
    expect(files.filter((f: { shared_by: string }) => f.shared_by === 'dora@example.com')).toEqual(
      [],
    )
    expect(await tracesOf(person.userId)).toEqual([])

    await t.settle()
    expect(await objectsIn(bucketId)).toEqual({ remembered: 0, stored: 0 })
    for (const [table, column] of [
      ['bucket', 'id'],
      ['entry', 'bucket_id'],
      ['note', 'bucket_id'],
      ['share', 'bucket_id'],
    ] as const)
      expect(await rowsOf(table, column, bucketId)).toEqual([])
    await expectConsistent(t)

    // Her files in other people's workspaces belong to these workspaces.
    const tree = await bob.rest('GET', `/api/workspaces/${shared}/files/tree`)
    expect(tree.response.files).toEqual([
      expect.objectContaining({ name: 'left.txt', uploaded_by_email: null }),
    ])
    expect((await bob.rest('GET', '/api/workspaces/list')).response).toContainEqual(
      expect.objectContaining({ workspace_id: shared, role: 'owner' }),
    )

    // A person who returns gets a new account.
    const back = await t.signIn('dora')
    expect(back.userId).not.toBe(person.userId)
    expect((await back.rest('GET', '/api/files/tree')).response).toMatchObject({
      folders: [],
      files: [],
    })
    expect((await back.rest('GET', `/api/d/private/${own}`)).status).toBe(403)
    expect((await back.rest('GET', `/api/files/${HELLO}/note`)).status).toBe(400)
  })

  it('200 without the data: access is revoked, and the same verified address gets the data back', async () => {
    const { person, again, key, open, direct, own, bucketId } = await settled('erin', bob)
    const before = Date.now()
    const { status, response } = await end(person, false)
    expect([status, response]).toEqual([
      200,
      {
        bucket: { name: bucketId, deleted: false },
        account_deleted: { id: person.userId, email: 'erin@example.com', user_name: 'erin' },
      },
    ])
    for (const dead of [person, again, key]) expect(await isIn(dead)).toBe(false)
    expect((await bob.rest('GET', `/api/d/${open}`)).status).toBe(404)
    expect((await bob.rest('GET', `/api/d/${direct}`)).status).toBe(404)
    expect(await tracesOf(person.userId)).toEqual([])
    const [kept] = await rowsOf('bucket', 'id', bucketId)
    expect(kept).toMatchObject({ user_id: null, kept_for: 'erin@example.com' })
    expect(Number(kept?.kept_until)).toBeGreaterThanOrEqual(before + 12 * DAY)
    expect(Number(kept?.kept_until)).toBeLessThanOrEqual(Date.now() + 12 * DAY)
    await expectConsistent(t)
    expect(await objectsIn(bucketId)).toEqual({ remembered: 2, stored: 2 })

    const claims = t.signIn('Erin@example.com', { emailVerified: false })
    const stranger = await t.signIn('erin@example.org')
    for (const other of [await claims, stranger]) {
      expect(await bucketOf(other)).not.toBe(bucketId)
      expect((await other.rest('GET', '/api/files/tree')).response.folders).toEqual([])
      expect((await end(other)).status).toBe(200)
    }

    const back = await t.signIn('ERIN@example.com')
    expect([back.userId === person.userId, await bucketOf(back)]).toEqual([false, bucketId])
    const { bucket_data } = (await back.rest('GET', '/api/user/bucket')).response
    expect(bucket_data).toMatchObject({ used_bytes: 8, file_count: 2, folder_count: 2 })
    expect(bucket_data.objects.map((o: { name: string }) => o.name)).toEqual([
      'docs/a.txt',
      'docs/deep/b.txt',
    ])
    expect((await back.rest('GET', `/api/files/${HELLO}/note`)).response).toEqual({
      content: 'remember',
    })
    const token = await back.rest('POST', '/api/user/private/download_token?file=docs/a.txt')
    const { headers } = await back.rest(
      'GET',
      `/api/d/private/${token.response.private_download_token}`,
    )
    expect(await (await fetch(headers.get('location') ?? '')).text()).toBe('hello')
    // The files are back, but not their shares.
    expect((await back.rest('GET', `/api/d/private/${own}`)).status).toBe(403)
    expect((await bob.rest('GET', `/api/d/${open}`)).status).toBe(404)
    expect((await back.rest('GET', '/api/files/shared_by_user')).response.files).toEqual([])
    expect((await rowsOf('bucket', 'id', bucketId))[0]).toMatchObject({
      kept_for: null,
      kept_until: null,
    })
    expect((await back.upload('docs/new.txt', 'new')).status).toBe(200)
    await expectConsistent(t)

    // Once more.
    await end(back, false)
    expect(await bucketOf(await t.signIn('erin'))).toBe(bucketId)
  })

  it('200 without the data: an account verified later gets it back, unless it has data of its own', async () => {
    for (const [name, ownFile] of [
      ['fay', false],
      ['flo', true],
    ] as const) {
      const { person, bucketId } = await settled(name, bob)
      await end(person, false)
      const claim = await t.signIn(name, { emailVerified: false })
      if (ownFile) await claim.upload('own.txt', 'own')
      expect(await bucketOf(claim)).not.toBe(bucketId)
      const proven = await t.signIn(name)
      expect(proven.userId).toBe(claim.userId)
      expect((await bucketOf(proven)) === bucketId).toBe(!ownFile)
      const { folders, files } = (await proven.rest('GET', '/api/files/tree')).response
      expect([folders, files.length]).toEqual(ownFile ? [[], 1] : [['docs'], 0])
      expect((await rowsOf('bucket', 'id', bucketId))[0]).toMatchObject({
        kept_for: ownFile ? `${name}@example.com` : null,
      })
    }
    await expectConsistent(t)
  })

  it('200 with the data of an unverified address, because nobody could claim it later', async () => {
    const gus = await t.signIn('gus', { emailVerified: false })
    await gus.upload('a.txt', 'hello')
    const bucketId = await bucketOf(gus)
    const answer = await gus.rest('DELETE', '/api/user/account/delete', {
      json: { delete_user_data: false },
    })
    expect([answer.status, answer.response.bucket]).toEqual([
      200,
      { name: bucketId, deleted: true },
    ])
    await t.settle()
    await t.settle()
    expect(await objectsIn(bucketId)).toEqual({ remembered: 0, stored: 0 })
  })

  it('unclaimed data is purged after the retention time, and not before', async () => {
    const { person, bucketId } = await settled('hugo', bob)
    await end(person, false)
    await t.app.db.run('UPDATE bucket SET kept_until = ? WHERE id = ?', [
      Date.now() + 60_000,
      bucketId,
    ])
    await t.settle()
    await t.settle()
    expect(await objectsIn(bucketId)).toEqual({ remembered: 2, stored: 2 })
    await t.app.db.run('UPDATE bucket SET kept_until = ? WHERE id = ?', [Date.now() - 1, bucketId])
    // The sweeper enqueues the purge, the worker carries it out, and the sweeper deletes the
    // objects.
    await t.settle()
    await t.settle()
    expect(await objectsIn(bucketId)).toEqual({ remembered: 0, stored: 0 })
    for (const [table, column] of [
      ['bucket', 'id'],
      ['entry', 'bucket_id'],
      ['note', 'bucket_id'],
    ] as const)
      expect(await rowsOf(table, column, bucketId)).toEqual([])
    const back = await t.signIn('hugo')
    expect((await back.rest('GET', '/api/user/bucket')).response.bucket_data).toMatchObject({
      file_count: 0,
      objects: [],
    })
    await expectConsistent(t)
  })

  it('succeeds exactly once when requested several times at once', async () => {
    const { person } = await settled('ida', bob)
    const answers = await Promise.all([true, false, true, false].map(data => end(person, data)))
    expect(answers.map(a => a.status).sort()).toEqual([200, 401, 401, 401])
    expect(await tracesOf(person.userId)).toEqual([])
    await expectConsistent(t)
  })

  it.each([true, false])(
    'leaves nothing behind in the middle of everything else (with the data: %s)',
    async data => {
      const name = `jane-${data}`
      const said: string[] = []
      const isRace = () => said.includes('200') && said.includes('UNAUTHENTICATED')
      // On a busy machine, all requests may finish before the deletion, and then the test proves
      // nothing.
      for (let round = 0; round < 3 || (round < 12 && !isRace()); round++) {
        const { person, key, bucketId } = await settled(name, bob)
        const ws = await found(person, `Round ${round}`)
        const [garden, shed] = [
          await found(bob, `Garden ${round}`),
          await found(bob, `Shed ${round}`),
        ]
        await join(bob, shed, person, 'editor')
        const invite = { workspace_id: garden, email: person.email, role: 'editor' }
        await bob.rest('POST', '/api/workspaces/invites/create', { json: invite })
        const { response: mine } = await person.rest('GET', '/api/workspaces/invites/mine')
        const { token } = mine.find((i: { workspace_id: string }) => i.workspace_id === garden)
        const post = (path: string, json: object) => person.rest('POST', path, { json })
        let kept = 0
        const doing = Array.from({ length: 5 }, (_, i) => [
          () => person.upload(`race/${i}.bin`, new Uint8Array(200_000)),
          () => put(person, ws, `/race/${i}.bin`, new Uint8Array(100_000)),
          async () => {
            const answer = await put(person, shed, `/race/${i}.bin`, new Uint8Array(1000))
            if (answer.status === 200) kept++
            return answer
          },
          () => post('/api/folders', { path: `race/folder ${i}` }),
          () =>
            post('/api/files/move', { source: 'docs/deep/b.txt', destination: `moved/${i}/b.txt` }),
          () => post('/api/folders/move', { source: 'docs/deep', destination: `deep ${i}` }),
          () => person.rest('DELETE', `/api/files/delete?file=race/${i - 1}.bin`),
          () => post('/api/files/quick_share', { object: 'docs/a.txt' }),
          () =>
            post('/api/files/share', {
              email: `r${i}@example.com`,
              objects: ['docs/a.txt'],
              send_email: true,
            }),
          () => key.rest('GET', '/api/files/tree'),
          () =>
            post('/api/api_keys/private/create', {
              name: `key ${i}`,
              scopes: ['private_files:read'],
            }),
          () =>
            post(`/api/api_keys/${ws}/create`, { name: `key ${i}`, scopes: ['workspaces:read'] }),
          () => post('/api/workspaces/create', { name: `New ${i}` }),
          () =>
            post('/api/workspaces/invites/create', {
              workspace_id: ws,
              email: `i${i}@example.com`,
              role: 'viewer',
            }),
          () => post(`/api/workspaces/${ws}/files/mkdir`, { folder_name: `f${i}` }),
          () => person.rest('PUT', `/api/files/${HELLO}/note`, { json: { content: `${i}` } }),
          () => post('/api/workspaces/invites/accept', { token }),
          ...(i === 2 ? [() => end(person, data)] : []),
        ]).flat()
        const answers = await Promise.all(doing.map(act => act()))
        said.push(...answers.map(({ status, response }) => response?.code ?? `${status}`))
        expect(answers.filter(a => a.status >= 500).map(a => a.text)).toEqual([])
        expect(await isIn(person)).toBe(false)
        expect(await tracesOf(person.userId)).toEqual([])
        await expectConsistent(t)
        expect(await rowsOf('bucket', 'id', bucketId)).toHaveLength(data ? 0 : 1)
        expect(await rowsOf('note', 'bucket_id', bucketId)).toHaveLength(data ? 0 : 1)
        for (const table of ['bucket', 'member', 'invite', 'api_key'])
          expect(await rowsOf(table, 'workspace_id', ws)).toEqual([])
        const open =
          'SELECT id FROM bucket WHERE user_id IS NULL AND workspace_id IS NULL AND kept_until IS NULL'
        expect(await t.app.db.rows(open)).toEqual([])
        // Files in other people's workspaces remain.
        expect(await rowsOf('bucket', 'workspace_id', shed)).toMatchObject([
          { used_files: kept, used_bytes: kept * 1000 },
        ])
      }
      // Some requests finished before the deletion, and some after it.
      expect(isRace()).toBe(true)
    },
  )

  it.each([true, false])(
    'refuses requests that began before it and continue after it (with the data: %s)',
    async data => {
      const { person } = await settled('jill', bob)
      const viewer = await callerFinder(t.app.db)({
        headers: { cookie: person.cookie },
      } as IncomingMessage)
      if (!viewer) throw new Error('Jill is not in.')
      await end(person, data)
      const { shares, directShares, apiKeys, workspaces, notes } = t.app.services
      for (const act of [
        () => shares.create(viewer, { tree: viewer.bucket, entries: [{ path: 'docs/a.txt' }] }, {}),
        () =>
          directShares.create(viewer, {
            email: 'bob@example.com',
            objects: ['docs/a.txt'],
            sendEmail: true,
          }),
        () => apiKeys.createPrivate(viewer, { name: 'key', scopes: ['private_files:read'] }),
        () => workspaces.create(viewer, { name: 'Late' }),
        () => notes.write(viewer, HELLO, 'late'),
      ]) {
        const thrown = await act().then(
          () => 'done',
          error => toAppError(error).error.code,
        )
        expect(['UNAUTHENTICATED', 'FORBIDDEN', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND']).toContain(
          thrown,
        )
      }
      expect(await tracesOf(person.userId)).toEqual([])
      const late = await t.app.db.rows("SELECT id FROM outbox WHERE kind = 'mail'")
      expect(late).toEqual([])
      await expectConsistent(t)
    },
  )

  it('gives a concurrent sign-in either the old account or a new one', async () => {
    for (let round = 0; round < 4; round++) {
      const { person } = await settled('kim', bob)
      const [ended, ...signed] = await Promise.allSettled([
        end(person, false),
        ...Array.from({ length: 4 }, () => t.signIn('kim')),
      ])
      expect(ended).toMatchObject({ status: 'fulfilled', value: { status: 200 } })
      for (const s of signed)
        if (s.status === 'fulfilled')
          expect([200, 401]).toContain((await s.value.rest('GET', '/api/user/data')).status)
      const users = await t.app.db.rows(
        "SELECT id FROM user WHERE verified_email = 'kim@example.com'",
      )
      expect(users.length).toBeLessThanOrEqual(1)
      const kim = await t.signIn('kim')
      expect(await isIn(kim)).toBe(true)
      expect((await kim.rest('GET', '/api/files/tree')).response.folders).toEqual(['docs'])
      await end(kim)
      await expectConsistent(t)
    }
  })

  it('is recorded in the logs of its workspaces, with few statements for any number of members', async () => {
    const owner = await t.signIn('owner')
    const eve = await t.signIn('eve')
    const expected = new Map<string, object[]>()
    for (let i = 0; i < 12; i++) {
      const id = await found(owner, `Garden ${i}`)
      await join(owner, id, eve, 'owner')
      await workspaceKey(t, owner, id)
      const key = await workspaceKey(t, eve, id)
      const left = { kind: 'MEMBER_LEFT', subjectId: eve.userId, via: 'SESSION', actor: null }
      expected.set(id, [left, { ...left, kind: 'KEY_DELETED', subjectId: key.id }])
    }
    await workspaceKey(t, eve, await found(eve, 'Own'))
    t.statements()
    expect((await end(eve)).status).toBe(200)
    // The worker, which this wakes, looks for jobs of each kind.
    expect(
      t.statements().filter(sql => !/FROM outbox|UPDATE outbox/.test(sql)).length,
    ).toBeLessThan(26)
    for (const [id, nodes] of expected) {
      const query = `query ($id: ID!) { workspace(id: $id) { apiKeys { nodes { id } }
        drive { events(kinds: [MEMBER_LEFT, KEY_DELETED]) { nodes { kind subjectId via actor { id } } } } } }`
      const { apiKeys, drive } = (await ask(owner, query, { id })).workspace
      expect(drive.events.nodes).toEqual(nodes)
      expect(apiKeys.nodes).toHaveLength(1)
    }
  })

  it('GraphQL: deleteAccount deletes the account', async () => {
    const DELETE = `mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) {
      deletedId email name driveId driveDeleted } }`
    const lea = await t.signIn('lea')
    const ws = await found(lea, 'Lea')
    await join(lea, ws, bob, 'viewer')
    const input = { deleteUserData: true }
    expect(await codeOf(t.anonymous, DELETE, { input })).toBe('UNAUTHENTICATED')
    expect(await codeOf(lea, DELETE, { input: {} })).toBe('INVALID_INPUT')
    const refused = await lea.graphql(DELETE, { input })
    expect(refused.errors?.[0]?.extensions).toEqual({
      code: 'LAST_OWNER',
      workspaces: [{ workspace_id: ws, name: 'Lea' }],
    })
    await lea.rest('DELETE', `/api/workspaces/delete?workspace_id=${ws}`)
    const driveId = await bucketOf(lea)
    expect((await ask(lea, DELETE, { input })).deleteAccount).toEqual({
      deletedId: lea.userId,
      email: 'lea@example.com',
      name: 'lea',
      driveId,
      driveDeleted: true,
    })
    expect(await isIn(lea)).toBe(false)
    const zoe = await t.signIn('zoe')
    const kept = (await ask(zoe, DELETE, { input: { deleteUserData: false } })).deleteAccount
    expect(kept).toMatchObject({ deletedId: zoe.userId, driveDeleted: false })
  })
})

describe('GET /api/user/identities', () => {
  it('200 lists every sign-in identity, oldest first', async () => {
    const mia = await t.signIn('mia')
    const { userId } = await accountService({ db: t.app.db }).signIn(
      {
        provider: 'lab',
        providerUserId: '7',
        email: 'Mia@Lab.example',
        emailVerified: false,
        name: 'Mia M.',
        givenName: '',
        familyName: '',
        picture: 'https://lab.example/mia.png',
        locale: '',
      },
      mia,
    )
    expect(userId).toBe(mia.userId)
    const { status, msg, response } = await mia.rest('GET', '/api/user/identities')
    expect([status, msg]).toEqual([200, 'ok'])
    const common = { id: anId, user_id: mia.userId, created_at: aTime }
    expect(response).toEqual({
      identities: [
        {
          ...common,
          provider: 'test',
          provider_user_id: 'mia@example.com',
          email: 'mia@example.com',
          email_verified: true,
          name: 'mia',
          avatar_url: '',
        },
        {
          ...common,
          provider: 'lab',
          provider_user_id: '7',
          email: 'Mia@Lab.example',
          email_verified: false,
          name: 'Mia M.',
          avatar_url: 'https://lab.example/mia.png',
        },
      ],
      has_password_identity: false,
    })
    const IDENTITIES =
      '{ me { identities { id provider providerUserId email emailVerified name picture createdAt } } }'
    const { identities } = (await ask(mia, IDENTITIES)).me
    expect(identities).toEqual(
      response.identities.map((i: Record<string, unknown>) => ({
        id: i.id,
        provider: i.provider,
        providerUserId: i.provider_user_id,
        email: i.email,
        emailVerified: i.email_verified,
        name: i.name,
        picture: i.avatar_url || null,
        createdAt: i.created_at,
      })),
    )
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Identity { provider } } }'
    expect(await ask(mia, NODE, { id: identities[1].id })).toEqual({ node: { provider: 'lab' } })
    expect(await ask(await t.signIn('mo'), NODE, { id: identities[1].id })).toEqual({ node: null })
  })
})

describe('GET /api/user/stats', () => {
  const stats = async (person: Person) => (await person.rest('GET', '/api/user/stats')).response
  const midnight = () => Math.floor(Date.now() / DAY) * DAY
  const dayAgo = (days: number) => new Date(midnight() - days * DAY).toISOString().slice(0, 10)

  beforeAll(async () => {
    // Waits, so that no day ends in the middle of a test.
    const left = midnight() + DAY - Date.now()
    if (left < 20_000) await new Promise(resolve => setTimeout(resolve, left + 10))
  })

  it('200 shows zeros for a new account, on every day of a week', async () => {
    const { status, msg, response } = await (await t.signIn('olaf')).rest('GET', '/api/user/stats')
    expect([status, msg]).toEqual([200, 'ok'])
    const days = [6, 5, 4, 3, 2, 1, 0].map(dayAgo)
    expect(response).toEqual({
      total_files: 0,
      total_bytes: 0,
      files_today: 0,
      files_last_7d: 0,
      files_last_30d: 0,
      total_shares_sent: 0,
      shares_today: 0,
      targeted_shares: 0,
      public_shares: 0,
      active_shares: 0,
      total_received: 0,
      owned_workspaces: 0,
      workspace_api_keys: 0,
      daily_uploads: days.map(day => ({ day, uploads: 0 })),
      daily_shares: days.map(day => ({ day, shares: 0 })),
    })
  })

  it('200 counts files by upload day, in UTC', async () => {
    const pia = await t.signIn('pia')
    const times: Record<string, number> = {
      'a/now': Date.now(),
      'first-of-today': midnight(),
      yesterday: midnight() - 1,
      'first-of-seven': midnight() - 6 * DAY,
      'a/b/eighth': midnight() - 6 * DAY - 1,
      'first-of-thirty': midnight() - 29 * DAY,
      older: midnight() - 29 * DAY - 1,
      oldest: 1,
    }
    for (const [name, time] of Object.entries(times)) {
      const { response } = await pia.upload(name, name)
      await t.app.db.run('UPDATE entry SET id = ?, created_at = ? WHERE id = ?', [
        newId({ msecs: time }),
        time,
        response.file.id,
      ])
    }
    await pia.upload('gone', 'gone')
    await pia.rest('DELETE', '/api/files/delete?file=gone')
    await pia.rest('POST', '/api/files/move', {
      json: { source: 'older', destination: 'x/y/older' },
    })
    expect(await stats(pia)).toMatchObject({
      total_files: 8,
      total_bytes: Object.keys(times).join('').length,
      files_today: 2,
      files_last_7d: 4,
      files_last_30d: 6,
      daily_uploads: [1, 0, 0, 0, 0, 1, 2].map((uploads, i) => ({ day: dayAgo(6 - i), uploads })),
    })
  })

  it('200 counts shares by kind, day and status, and the entries of the caller', async () => {
    const [quentin, rita] = [await t.signIn('quentin'), await t.signIn('rita')]
    for (const name of ['a', 'b', 'c', 'd']) await quentin.upload(name, name)
    const direct = await quentin.rest('POST', '/api/files/share', {
      json: { email: rita.email, objects: ['a', 'b', 'c'] },
    })
    await quentin.rest('POST', '/api/files/share', { json: { email: rita.email, objects: ['a'] } })
    for (const max_downloads of [1, 2, 3])
      await quentin.rest('POST', '/api/files/quick_share', { json: { object: 'a', max_downloads } })
    await rita.upload('mine', 'x')
    await rita.rest('POST', '/api/files/share', {
      json: { email: quentin.email, objects: ['mine'] },
    })
    const ids = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM share WHERE user_id = ? ORDER BY id',
      [quentin.userId],
    )
    const [old, older, , used, expired] = ids.map(row => row.id)
    for (const [id, time] of [
      [old, midnight() - 1],
      [older, midnight() - 6 * DAY - 1],
    ] as const)
      await t.app.db.run('UPDATE share SET id = ?, created_at = ? WHERE id = ?', [
        newId({ msecs: time }),
        time,
        id ?? '',
      ])
    await t.app.db.run('UPDATE share SET downloads = max_downloads WHERE id = ?', [used ?? ''])
    await t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [
      Date.now() - 1,
      expired ?? '',
    ])
    const ws = await found(quentin, 'Q')
    await found(quentin, 'Q2')
    await keyOf(quentin, ['workspaces:read'], ws)
    await keyOf(quentin, ['private_files:read'])
    const theirs = await found(rita, 'R')
    await join(rita, theirs, quentin, 'admin')
    await keyOf(quentin, ['workspaces:read'], theirs)
    expect(await stats(quentin)).toMatchObject({
      total_shares_sent: 6,
      shares_today: 4,
      targeted_shares: 3,
      public_shares: 3,
      active_shares: 4,
      total_received: 1,
      owned_workspaces: 2,
      workspace_api_keys: 2,
      daily_shares: [0, 0, 0, 0, 0, 1, 4].map((shares, i) => ({ day: dayAgo(6 - i), shares })),
    })
    expect(await stats(rita)).toMatchObject({
      total_shares_sent: 1,
      total_received: 3,
      owned_workspaces: 1,
    })
    await quentin.rest('POST', `/api/share/revoke/${direct.response.sharing_info[2].sharing_token}`)
    expect(await stats(quentin)).toMatchObject({
      total_shares_sent: 5,
      targeted_shares: 2,
      active_shares: 3,
    })
    await quentin.rest('DELETE', '/api/files/delete?file=a')
    expect(await stats(quentin)).toMatchObject({
      total_shares_sent: 1,
      public_shares: 0,
      total_files: 3,
    })
  })

  it('GraphQL: me.statistics returns the same', async () => {
    const STATS = `{ me { statistics { totalFiles totalBytes filesToday filesLast7d filesLast30d totalSharesSent sharesToday
      targetedShares publicShares activeShares totalReceived ownedWorkspaces workspaceApiKeys
      dailyUploads { day count } dailyShares { day count } } } }`
    const tom = await t.signIn('tom')
    await tom.upload('a', 'hello')
    const { daily_uploads, daily_shares, ...counts } = await stats(tom)
    const camel = (name: string) => name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase())
    expect((await ask(tom, STATS)).me.statistics).toEqual({
      ...Object.fromEntries(Object.entries(counts).map(([name, value]) => [camel(name), value])),
      dailyUploads: daily_uploads.map(({ day, uploads }: Record<string, unknown>) => ({
        day,
        count: uploads,
      })),
      dailyShares: daily_shares.map(({ day, shares }: Record<string, unknown>) => ({
        day,
        count: shares,
      })),
    })
    expect(await codeOf(t.anonymous, STATS)).toBe('UNAUTHENTICATED')
  })
})
