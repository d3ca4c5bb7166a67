import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, privateKey } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t.stop())

const GiB = 1024 ** 3

describe('X-Account', () => {
  it('rejects requests of a page whose account differs from the signed-in account', async () => {
    const as = (account: string) => ({ headers: { 'x-account': account } })
    expect((await alice.rest('GET', '/api/user/data', as(alice.userId))).status).toBe(200)
    const refused = await alice.rest('GET', '/api/user/data', as(bob.userId))
    expect([refused.status, refused.response.code]).toEqual([401, 'UNAUTHENTICATED'])
    const { caller } = await privateKey(t, alice)
    expect((await caller.rest('GET', '/api/user/data', as(bob.userId))).status).toBe(200)
  })
})

describe('GET /api/user/data', () => {
  it('200 returns the profile and the plan limits of the caller', async () => {
    const { status, msg, response } = await alice.rest('GET', '/api/user/data')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      user_data: {
        user_id: alice.userId,
        email: 'alice@example.com',
        name: 'alice',
        given_name: 'alice',
        family_name: '',
        picture: '',
        locale: 'en',
        provider: 'test',
        provider_user_id: 'alice@example.com',
        created_at: aTime,
        plan_id: 'free',
        plan_name: expect.stringMatching(/^free$/i),
        max_file_size_bytes: 2 * GiB,
        max_total_storage_bytes: 5 * GiB,
        max_files: 10_000,
        max_user_workspaces: 3,
        max_files_workspace: 10_000,
        max_total_storage_bytes_workspace: 5 * GiB,
        max_users_workspace: 10,
        max_workspace_folders: 1000,
        max_private_api_keys: 5,
        max_workspace_api_keys: 5,
        max_folders: 10_000,
        max_public_links: 1_000,
        max_pending_invites: 100,
        max_notes: 10_000,
      },
    })
    expect((await bob.rest('GET', '/api/user/data')).response.user_data).toMatchObject({
      user_id: bob.userId,
      email: 'bob@example.com',
    })
  })

  it.each([
    ['developer', [10, 50, 500_000, 20, 500_000, 100, 50, 20_000, 50, 50]],
    ['enterprise', [100, 1024, null, 200, null, 1024, 1000, null, 500, 500]],
  ])('200 with the limits of the plan %s, null for no limit', async (plan, limits) => {
    const carol = await t.signIn('carol')
    await t.app.db.run('UPDATE user SET plan_id = ? WHERE id = ?', [plan, carol.userId])
    const { user_data } = (await carol.rest('GET', '/api/user/data')).response
    expect([
      user_data.max_file_size_bytes / GiB,
      user_data.max_total_storage_bytes / GiB,
      user_data.max_files,
      user_data.max_user_workspaces,
      user_data.max_files_workspace,
      user_data.max_total_storage_bytes_workspace / GiB,
      user_data.max_users_workspace,
      user_data.max_workspace_folders,
      user_data.max_private_api_keys,
      user_data.max_workspace_api_keys,
    ]).toEqual(limits)
  })

  it('200 whatever other query parameters and session cookies are sent', async () => {
    const odd = await alice.rest('GET', '/api/user/data?limit=x&user_id=1', {
      headers: { cookie: `a=1; ${alice.cookie}; b="2"` },
    })
    expect(odd.status).toBe(200)
  })

  it.each<[string, Record<string, string>]>([
    ['none', { cookie: '' }],
    ['a session of nobody', { cookie: `session_id=${'x'.repeat(43)}` }],
    ['an empty session', { cookie: 'session_id=' }],
    ['a session that is far too long', { cookie: `session_id=${'x'.repeat(5000)}` }],
  ])('401 with an invalid credential: %s', async (_what, headers) => {
    const { status, response } = await alice.rest('GET', '/api/user/data', { headers })
    expect([status, response]).toEqual([401, { code: 'UNAUTHENTICATED' }])
  })

  it('401 with a wrong API key next to a valid session: the key takes precedence', async () => {
    const { status, response } = await alice.rest('GET', '/api/user/data', {
      headers: { 'x-api-key': 'wrong' },
    })
    expect([status, response.code]).toEqual([401, 'UNAUTHENTICATED'])
  })

  it('401 with an expired session or a closed account', async () => {
    const dora = await t.signIn('dora')
    await t.app.db.run('UPDATE session SET expires_at = ? WHERE user_id = ?', [
      Date.now() - 1,
      dora.userId,
    ])
    expect((await dora.rest('GET', '/api/user/data')).status).toBe(401)
    const again = await t.signIn('dora')
    expect((await again.rest('GET', '/api/user/data')).status).toBe(200)
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [dora.userId])
    expect((await again.rest('GET', '/api/user/data')).status).toBe(401)
  })

  it('401 with the session in the query', async () => {
    expect((await t.anonymous.rest('GET', `/api/user/data?${alice.cookie}`)).status).toBe(401)
  })

  it('GraphQL: me returns the same', async () => {
    const ME = `{ me { id person { id name email picture } email emailVerified name givenName familyName picture locale createdAt
      plan { id name maxFileSize maxBytes maxFiles maxFolders maxNotes maxLinks maxApiKeys maxWorkspaces maxWorkspaceBytes
        maxWorkspaceFiles maxWorkspaceFolders maxWorkspaceMembers maxWorkspaceApiKeys maxWorkspaceInvites } } }`
    const { user_data } = (await alice.rest('GET', '/api/user/data')).response
    const { me } = await ask(alice, ME)
    expect(me).toEqual({
      id: `viewer:${alice.userId}`,
      person: { id: alice.userId, name: 'alice', email: 'alice@example.com', picture: null },
      email: 'alice@example.com',
      emailVerified: true,
      name: 'alice',
      givenName: 'alice',
      familyName: '',
      picture: null,
      locale: 'en',
      createdAt: user_data.created_at,
      plan: {
        id: user_data.plan_id,
        name: user_data.plan_name,
        maxFileSize: user_data.max_file_size_bytes,
        maxBytes: user_data.max_total_storage_bytes,
        maxFiles: user_data.max_files,
        maxFolders: user_data.max_folders,
        maxNotes: user_data.max_notes,
        maxLinks: user_data.max_public_links,
        maxApiKeys: user_data.max_private_api_keys,
        maxWorkspaces: user_data.max_user_workspaces,
        maxWorkspaceBytes: user_data.max_total_storage_bytes_workspace,
        maxWorkspaceFiles: user_data.max_files_workspace,
        maxWorkspaceFolders: user_data.max_workspace_folders,
        maxWorkspaceMembers: user_data.max_users_workspace,
        maxWorkspaceApiKeys: user_data.max_workspace_api_keys,
        maxWorkspaceInvites: user_data.max_pending_invites,
      },
    })
    expect(await codeOf(t.anonymous, ME)).toBe('UNAUTHENTICATED')
    const carol = await t.signIn('carol')
    await t.app.db.run("UPDATE user SET plan_id = 'enterprise' WHERE id = ?", [carol.userId])
    expect((await ask(carol, ME)).me.plan).toMatchObject({
      id: 'enterprise',
      maxFiles: null,
      maxWorkspaceFiles: null,
    })
  })

  it('GraphQL: the account is a full node for its owner, and a person for others', async () => {
    const NODE = `query ($id: ID!) { node(id: $id) { __typename ... on Viewer { plan { id } } ... on Person { name email } } }`
    const viewer = { id: `viewer:${alice.userId}` }
    expect(await ask(alice, NODE, viewer)).toEqual({
      node: { __typename: 'Viewer', plan: { id: 'free' } },
    })
    expect(await ask(bob, NODE, viewer)).toEqual({ node: null })
    const person = { __typename: 'Person', name: 'alice', email: 'alice@example.com' }
    expect(await ask(alice, NODE, { id: alice.userId })).toEqual({ node: person })
    expect(await ask(bob, NODE, { id: alice.userId })).toEqual({ node: null })
    await join(t, await found(alice), bob, 'viewer')
    expect(await ask(bob, NODE, { id: alice.userId })).toEqual({ node: person })
    expect(await ask(bob, NODE, viewer)).toEqual({ node: null })
  })
})

describe('GET /api/user/bucket', () => {
  const bucket = (person: Person, query = '') => person.rest('GET', `/api/user/bucket?${query}`)
  const objectNames = ({ response }: RestAnswer): string[] =>
    response.bucket_data.objects.map((o: { name: string }) => o.name)

  async function walk(person: Person, limit: number) {
    const [names, sizes]: [string[], number[]] = [[], []]
    let cursor: string | null = ''
    do {
      const answer: RestAnswer = await bucket(person, `limit=${limit}&cursor=${cursor}`)
      names.push(...objectNames(answer))
      sizes.push(objectNames(answer).length)
      cursor = answer.response.bucket_data.next_cursor
    } while (cursor !== null)
    return { names, sizes }
  }

  it('200 is empty for a new account', async () => {
    const { status, msg, response } = await bucket(bob)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      bucket_data: {
        bucket_name: anId,
        storage_class: expect.stringMatching(/^[A-Z]+$/),
        time_created: aTime,
        labels: {},
        used_bytes: 0,
        file_count: 0,
        folder_count: 0,
        max_total_storage_bytes: 5 * GiB,
        objects: [],
        next_cursor: null,
      },
    })
  })

  it('200 shows the usage and the files of all folders, oldest first', async () => {
    const { response: z } = await alice.upload('z/deep/er.txt', 'hello', 'text/plain')
    await alice.upload('a.bin', '12')
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'a.bin', destination: 'moved/b.bin' },
    })
    const answer = await bucket(alice)
    const { bucket_data } = answer.response
    expect(bucket_data).toMatchObject({
      used_bytes: 7,
      file_count: 2,
      folder_count: 3,
      next_cursor: null,
    })
    expect(objectNames(answer)).toEqual(['z/deep/er.txt', 'moved/b.bin'])
    expect(bucket_data.objects[0]).toEqual({
      name: 'z/deep/er.txt',
      content_type: 'text/plain',
      size: 5,
      md5: '5d41402abc4b2a76b9719d911017c592',
      date_created: z.file.created_at,
      date_updated: z.file.updated_at,
      bucket: bucket_data.bucket_name,
    })
    expect((await bucket(bob)).response.bucket_data).toMatchObject({ file_count: 0, objects: [] })
    expect((await bucket(bob)).response.bucket_data.bucket_name).not.toBe(bucket_data.bucket_name)
  })

  it('200 pages through 25 files by 7, each once and in order', async () => {
    const erin = await t.signIn('erin')
    const names = Array.from({ length: 25 }, (_, i) => `f${i % 3}/${25 - i}`)
    for (const name of names) await erin.upload(name, '')
    expect(await walk(erin, 7)).toEqual({ names, sizes: [7, 7, 7, 4] })
    expect((await walk(erin, 5)).sizes).toEqual([5, 5, 5, 5, 5])
    for (const query of [
      '',
      'limit=10000',
      'limit=10001',
      'limit=99999999999',
      'limit=many',
      'limit=',
      'cursor=x',
    ])
      expect(objectNames(await bucket(erin, query))).toEqual(names)
    for (const query of ['limit=1', 'limit=0', 'limit=-5', 'limit=1&limit=2'])
      expect(objectNames(await bucket(erin, query))).toEqual(names.slice(0, 1))
  })

  it('200 omits deleted files, and reaches all others', async () => {
    const frank = await t.signIn('frank')
    for (const name of ['bin/1', 'bin/2', 'bin/deep/3', 'keep/4', 'bin/5', 'keep/6', 'bin/7'])
      await frank.upload(name, 'x')
    await frank.rest('DELETE', '/api/folders?path=bin&recursive=true')
    for (const limit of [1, 2, 100])
      expect((await walk(frank, limit)).names).toEqual(['keep/4', 'keep/6'])
    await t.settle()
    expect((await walk(frank, 1)).names).toEqual(['keep/4', 'keep/6'])
    expect((await bucket(frank)).response.bucket_data).toMatchObject({
      used_bytes: 2,
      file_count: 2,
      folder_count: 1,
    })
  })

  it('GraphQL: me.drive shows its contents', async () => {
    const DRIVE = `{ me { drive { id owner { ... on Person { id } } permissions root { size fileCount path }
      usage { usedBytes fileCount folderCount maxBytes maxFiles maxFolders maxFileSize } } } }`
    const { bucket_data } = (await bucket(alice, 'limit=1')).response
    expect((await ask(alice, DRIVE)).me.drive).toEqual({
      id: bucket_data.bucket_name,
      owner: { id: alice.userId },
      permissions: ['READ', 'WRITE', 'DELETE', 'SHARE'],
      root: { size: 7, fileCount: 2, path: '' },
      usage: {
        usedBytes: 7,
        fileCount: 2,
        folderCount: 3,
        maxBytes: 5 * GiB,
        maxFiles: 10_000,
        maxFolders: 10_000,
        maxFileSize: 2 * GiB,
      },
    })
    expect(await codeOf(t.anonymous, DRIVE)).toBe('UNAUTHENTICATED')
    const { caller } = await privateKey(t, alice, ['private_files:read'])
    expect((await ask(caller, DRIVE)).me.drive.permissions).toEqual(['READ'])
  })
})
