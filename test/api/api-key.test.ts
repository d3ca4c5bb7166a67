import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v4 as anyId } from 'uuid'
import { privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import { ask, codeOf } from '../support/ask.ts'
import { expel, found, join, privateKey, put, ROOMY, workspaceKey } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime, at } from '../support/shapes.ts'
import { until } from '../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

let t: TestApp
let alice: Person
let bob: Person
let workspaceId: string

beforeAll(async () => {
  t = await startApp()
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

let round = 0
/**
 * Creates new users for every test, because each user may create ten keys a minute. Alice owns the
 * workspace, and bob is an admin.
 */
beforeEach(async () => {
  ;[alice, bob] = await Promise.all([t.signIn(`alice${++round}`), t.signIn(`bob${round}`)])
  workspaceId = await found(alice)
  await join(t, workspaceId, bob, 'admin')
})

const READ = { name: 'Backup', scopes: ['private_files:read'] }
const SEE = { name: 'Press', scopes: ['workspaces:read'] }
const create = (where: string, json: object, person = alice) =>
  person.rest('POST', `/api/api_keys/${where}/create`, { json })
const list = (where: string, person = alice) => person.rest('GET', `/api/api_keys/${where}/list`)
const remove = (where: string, api_key_id: unknown, person = alice) =>
  person.rest('DELETE', `/api/api_keys/${where}/delete`, { json: { api_key_id } })
const quota = (person: Person) => person.rest('GET', `/api/workspaces/${workspaceId}/quota`)
const folders = (person: Person) => person.rest('GET', '/api/folders')
const outcome = ({ status, response }: RestAnswer) => [status, response]
const rowOf = async (id: string) =>
  (await t.app.db.rows<Record<string, unknown>>('SELECT * FROM api_key WHERE id = ?', [id]))[0]
const countOf = async (person: Person) =>
  (await t.app.db.rows('SELECT id FROM api_key WHERE created_by = ?', [person.userId])).length

const FIELDS = `{ id name description status scopes hint createdBy { id email } createdAt lastUsedAt expiresAt workspace { id } }`
const CREATE = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
  secret apiKey ${FIELDS} workspace { id apiKeyCount } viewer { apiKeys { nodes { id } } } } }`
const DELETE = `mutation ($input: DeleteApiKeyInput!) { deleteApiKey(input: $input) {
  deletedId workspace { id apiKeyCount } viewer { apiKeys { nodes { id } } } } }`
const aKey = expect.stringMatching(/^satchel_[\w-]{43}$/)
const FORBIDDEN = [403, { code: 'FORBIDDEN' }]
const UNAUTHENTICATED = [401, { code: 'UNAUTHENTICATED' }]
const day = 86_400_000

/** Inputs that every key creation refuses: title, input, error code and field. */
const wrong: [string, object, string, string][] = [
  ['no name', { name: undefined }, 'INVALID_INPUT', 'name'],
  ['an empty name', { name: ' ' }, 'INVALID_INPUT', 'name'],
  ['a name of 101 characters', { name: '🦊'.repeat(101) }, 'INVALID_INPUT', 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'INVALID_INPUT', 'name'],
  ['no scopes', { scopes: undefined }, 'INVALID_INPUT', 'scopes'],
  ['an empty list of scopes', { scopes: [] }, 'INVALID_INPUT', 'scopes'],
  ['a text as scopes', { scopes: 'private_files:read' }, 'INVALID_INPUT', 'scopes'],
  ['a null among the scopes', { scopes: [null] }, 'INVALID_INPUT', 'scopes'],
  ['an unknown scope', { scopes: ['private_files:everything'] }, 'INVALID_SCOPE', 'scopes'],
  ['all scopes at once', { scopes: ['*'] }, 'INVALID_SCOPE', 'scopes'],
  ['an invalid duration', { expires_in: 'soon' }, 'INVALID_DURATION', 'expires_in'],
  ['a duration of 59 seconds', { expires_in: '59s' }, 'INVALID_DURATION', 'expires_in'],
  ['a duration of 6 years', { expires_in: '6y' }, 'INVALID_DURATION', 'expires_in'],
  [
    'a description of 1,001 characters',
    { description: 'x'.repeat(1001) },
    'INVALID_INPUT',
    'description',
  ],
  ['a caller-defined key', { key: 'satchel_secret' }, 'INVALID_INPUT', 'key'],
  ['another user', { user_id: anyId() }, 'INVALID_INPUT', 'user_id'],
  ['another creator', { created_by: anyId() }, 'INVALID_INPUT', 'created_by'],
  ['a workspace in the body', { workspace_id: anyId() }, 'INVALID_INPUT', 'workspace_id'],
  ['a hash', { hash: 'x' }, 'INVALID_INPUT', 'hash'],
]

describe('POST /api/api_keys/private/create', () => {
  it('200 creates a key and shows its secret only this once', async () => {
    const before = Date.now()
    const json = {
      name: ' Backup ',
      scopes: [' private_files:write\n', 'private_files:read', 'private_files:read '],
    }
    const { status, msg, response } = await create('private', {
      ...json,
      description: 'Nightly',
      expires_in: '90d',
    })
    expect([status, msg]).toEqual([200, 'api_key_created'])
    expect(response).toEqual({
      api_key: {
        id: anId,
        name: 'Backup',
        description: 'Nightly',
        key: aKey,
        scopes: ['private_files:read', 'private_files:write'],
        user_id: alice.userId,
        workspace_id: null,
        created_by: alice.userId,
        created_at: aTime,
        expires_at: aTime,
      },
    })
    const { id, key, created_at, expires_at } = response.api_key
    expect(at(created_at)).toBeGreaterThanOrEqual(before)
    expect(at(expires_at) - at(created_at)).toBe(90 * day)
    const row = await rowOf(id)
    expect(row).toMatchObject({
      hash: createHash('sha256').update(key).digest('hex'),
      hint: key.slice(-4),
    })
    expect(JSON.stringify(row)).not.toContain(key)
    expect(JSON.stringify(row)).not.toContain(key.replace('satchel_', ''))
    expect(t.logs()).not.toContain(key)
    expect((await folders(t.withKey(key))).status).toBe(200)
  })

  it('200 without an expiry and a description when they are absent or empty', async () => {
    for (const more of [
      {},
      { expires_in: '', description: '' },
      { expires_in: null, description: null },
    ])
      expect((await create('private', { ...READ, ...more })).response.api_key).toMatchObject({
        description: '',
        expires_at: null,
      })
  })

  it('200 for each scope, and for all scopes together', async () => {
    for (const scopes of [...privateScopes.map(scope => [scope]), privateScopes])
      expect((await create('private', { name: 'a', scopes })).response.api_key.scopes).toEqual(
        scopes,
      )
  })

  it.each(wrong)('400 for %s', async (_what, json, code, field) => {
    expect(outcome(await create('private', { ...READ, ...json }))).toEqual([400, { code, field }])
    expect(await countOf(alice)).toBe(0)
  })

  it('400 for the scope of a workspace key', async () => {
    const { status, response } = await create('private', {
      name: 'a',
      scopes: ['private_files:read', 'workspaces:read'],
    })
    expect([status, response]).toEqual([400, { code: 'INVALID_SCOPE', field: 'scopes' }])
  })

  it('400 beyond the key limit of the plan, also for requests at once', async () => {
    await t.limit({ maxPrivateApiKeys: 3 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('private', READ)))
    expect(answers.map(a => a.status).sort()).toEqual([200, 200, 200, ...Array(5).fill(400)])
    for (const { status, response } of answers)
      if (status === 400)
        expect(response).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: 'max_private_api_keys',
          max: 3,
          used: 3,
        })
    expect(await countOf(alice)).toBe(3)
    // Workspace keys are counted separately, and a deleted key frees its place.
    expect((await create(workspaceId, SEE)).status).toBe(200)
    await remove('private', answers.find(a => a.status === 200)?.response.api_key.id)
    expect((await create('private', READ)).status).toBe(200)
    await t.limit(ROOMY)
  })

  it('429 for the eleventh key in a minute, of either kind', async () => {
    const { caller } = await privateKey(t, alice)
    for (let i = 0; i < 3; i++) await create('private', READ, caller)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 2 ? create('private', READ) : create(workspaceId, SEE),
      ),
    )
    expect(answers.map(a => a.status).sort()).toEqual([...Array(9).fill(200), 429, 429, 429])
    const limited = await create('private', READ)
    expect(outcome(limited)).toEqual([
      429,
      {
        code: 'RATE_LIMITED',
        retry_after: expect.any(Number),
        policy: 'api_keys',
        limit: 10,
        window: 60,
      },
    ])
    expect(limited.headers.get('retry-after')).toBe(String(limited.response.retry_after))
    expect((await create(workspaceId, SEE)).status).toBe(429)
    expect(await countOf(alice)).toBe(10)
    expect((await create(workspaceId, SEE, bob)).status).toBe(200)
  })

  it('GraphQL: createApiKey creates a key and shows its secret only this once', async () => {
    const input = {
      name: 'Backup',
      scopes: ['PRIVATE_FILES_READ', 'PRIVATE_FILES_WRITE'],
      description: 'nightly',
    }
    const { apiKey, secret, workspace, viewer } = (
      await ask(alice, CREATE, { input: { ...input, expiresIn: '1h' } })
    ).createApiKey
    expect(apiKey).toEqual({
      ...input,
      id: anId,
      status: 'ACTIVE',
      hint: secret.slice(-4),
      createdBy: { id: alice.userId, email: alice.email },
      createdAt: aTime,
      lastUsedAt: null,
      expiresAt: aTime,
      workspace: null,
    })
    expect([secret, workspace, viewer]).toEqual([
      aKey,
      null,
      { apiKeys: { nodes: [{ id: apiKey.id }] } },
    ])
    expect((await folders(t.withKey(secret))).status).toBe(200)
    for (const [changes, code] of [
      [{ scopes: [] }, 'INVALID_INPUT'],
      [{ name: ' ' }, 'INVALID_INPUT'],
      [{ userId: bob.userId }, 'INVALID_INPUT'],
      [{ scopes: ['private_files:read'] }, 'INVALID_INPUT'],
      [{ scopes: ['WORKSPACES_READ'] }, 'INVALID_SCOPE'],
      [{ expiresIn: 'soon' }, 'INVALID_DURATION'],
    ] as const)
      expect(await codeOf(alice, CREATE, { input: { ...input, ...changes } })).toBe(code)
    expect(await codeOf(t.withKey(secret), CREATE, { input })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(t.anonymous, CREATE, { input })).toBe('UNAUTHENTICATED')
    await t.limit({ maxPrivateApiKeys: 1 })
    expect(await codeOf(alice, CREATE, { input })).toBe('QUOTA_EXCEEDED')
    await t.limit(ROOMY)
  })
})

describe('POST /api/api_keys/{workspace_id}/create', () => {
  it('200 creates a workspace key for owners and admins', async () => {
    for (const person of [alice, bob]) {
      const { status, msg, response } = await create(workspaceId, SEE, person)
      expect([status, msg]).toEqual([200, 'api_key_created'])
      expect(response).toEqual({
        api_key: {
          ...SEE,
          id: anId,
          description: '',
          key: aKey,
          user_id: null,
          workspace_id: workspaceId,
          created_by: person.userId,
          created_at: aTime,
          expires_at: null,
        },
      })
      expect((await quota(t.withKey(response.api_key.key))).response.api_key_count).toBe(
        person === alice ? 1 : 2,
      )
    }
  })

  it('200 for all scopes', async () => {
    const { response } = await create(workspaceId, {
      name: 'a',
      scopes: workspaceScopes.toReversed(),
    })
    expect(response.api_key.scopes).toEqual(workspaceScopes)
  })

  it.each(wrong)('400 for %s', async (_what, json, code, field) => {
    expect(outcome(await create(workspaceId, { ...SEE, ...json }))).toEqual([400, { code, field }])
    expect(await countOf(alice)).toBe(0)
  })

  it('400 for the scope of a private key', async () => {
    expect(outcome(await create(workspaceId, READ))).toEqual([
      400,
      { code: 'INVALID_SCOPE', field: 'scopes' },
    ])
  })

  it('400 beyond the key limit of the owner’s plan, whoever creates the keys', async () => {
    await t.limit({ maxWorkspaceApiKeys: 3 })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create(workspaceId, SEE, i % 2 ? alice : bob)),
    )
    expect(answers.map(a => a.status).sort()).toEqual([200, 200, 200, ...Array(5).fill(400)])
    for (const { status, response } of answers)
      if (status === 400)
        expect(response).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: 'max_workspace_api_keys',
          max: 3,
          used: 3,
        })
    expect((await quota(alice)).response).toMatchObject({
      api_key_count: 3,
      max_workspace_api_keys: 3,
    })
    expect((await create('private', READ)).status).toBe(200)
    await t.limit(ROOMY)
  })

  it('403 for another workspace in the path, whatever the query contains', async () => {
    const own = await found(bob)
    await expel(t, workspaceId, bob)
    const played = await bob.rest(
      'POST',
      `/api/api_keys/${workspaceId}/create?workspace_id=${own}`,
      { json: SEE },
    )
    expect(outcome(played)).toEqual(FORBIDDEN)
  })

  it('429 for the eleventh key in a minute', async () => {
    for (let i = 0; i < 10; i++) await create(workspaceId, { ...SEE, name: '' }, bob)
    expect((await create(workspaceId, SEE, bob)).status).toBe(429)
  })

  it('GraphQL: createApiKey creates a workspace key', async () => {
    const input = { name: 'Press', scopes: ['WORKSPACES_READ'], workspace: workspaceId }
    const { apiKey, secret, workspace } = (await ask(bob, CREATE, { input })).createApiKey
    expect(apiKey).toMatchObject({
      name: 'Press',
      scopes: ['WORKSPACES_READ'],
      createdBy: { id: bob.userId },
      expiresAt: null,
      workspace: { id: workspaceId },
    })
    expect(workspace).toEqual({ id: workspaceId, apiKeyCount: 1 })
    expect((await quota(t.withKey(secret))).status).toBe(200)
    expect(await codeOf(bob, CREATE, { input: { ...input, scopes: ['PRIVATE_FILES_READ'] } })).toBe(
      'INVALID_SCOPE',
    )
    expect(await codeOf(bob, CREATE, { input: { ...input, workspace: anyId() } })).toBe('FORBIDDEN')
    await join(t, workspaceId, bob, 'editor')
    expect(await codeOf(bob, CREATE, { input })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, CREATE, { input })).toBe('UNAUTHENTICATED')
  })
})

describe('GET /api/api_keys/private/list', () => {
  it('200 lists the caller’s private keys, newest first, without their secrets', async () => {
    expect(outcome(await list('private'))).toEqual([200, { api_keys: [] }])
    const first = (await create('private', { ...READ, name: 'First', expires_in: '1m' })).response
      .api_key
    const second = (await create('private', { ...READ, name: 'Second', description: 'Two' }))
      .response.api_key
    await create(workspaceId, SEE)
    await privateKey(t, bob)
    await t.app.db.run('UPDATE api_key SET expires_at = ? WHERE id = ?', [Date.now() - 1, first.id])
    const { status, msg, response } = await list('private')
    expect([status, msg]).toEqual([200, 'ok'])
    const { key: _key, user_id: _user, workspace_id: _workspace, ...shown } = second
    expect(response.api_keys).toEqual([
      { ...shown, status: 'active', last_used_at: null, key_hint: second.key.slice(-4) },
      {
        ...shown,
        id: first.id,
        name: 'First',
        description: '',
        created_at: first.created_at,
        status: 'expired',
        last_used_at: null,
        expires_at: aTime,
        key_hint: first.key.slice(-4),
      },
    ])
    for (const { key } of [first, second]) expect(JSON.stringify(response)).not.toContain(key)
  })

  it('200 shows when a key was last used, to the minute', async () => {
    const { caller, id } = await privateKey(t, alice)
    const before = Date.now()
    await folders(caller)
    // The last use is written asynchronously.
    const used = await until(async () => (await list('private')).response.api_keys[0].last_used_at)
    expect(at(used)).toBeGreaterThanOrEqual(before)
    const row = await rowOf(id)
    for (let i = 0; i < 3; i++) await folders(caller)
    expect(await rowOf(id)).toEqual(row)
    await t.app.db.run('UPDATE api_key SET last_used_at = ? WHERE id = ?', [before - 61_000, id])
    await folders(caller)
    await until(async () => Number((await rowOf(id))?.last_used_at) >= before)
  })

  it('GraphQL: me.apiKeys lists private keys, newest first, page by page', async () => {
    const { api_key } = (await create('private', READ)).response
    const newer = (await create('private', { ...READ, name: 'Newer' })).response.api_key
    await workspaceKey(t, alice, workspaceId)
    const KEYS = `query ($first: Int, $after: String) { me { apiKeys(first: $first, after: $after) {
      nodes ${FIELDS} pageInfo { hasNextPage endCursor } } } }`
    const first = (await ask(alice, KEYS, { first: 1 })).me.apiKeys
    const rest = (await ask(alice, KEYS, { after: first.pageInfo.endCursor })).me.apiKeys
    expect(first.nodes).toMatchObject([{ id: newer.id, name: 'Newer' }])
    expect(rest.nodes).toEqual([
      {
        name: READ.name,
        scopes: ['PRIVATE_FILES_READ'],
        id: api_key.id,
        description: '',
        status: 'ACTIVE',
        createdBy: { id: alice.userId, email: alice.email },
        createdAt: api_key.created_at,
        lastUsedAt: null,
        expiresAt: null,
        hint: api_key.key.slice(-4),
        workspace: null,
      },
    ])
    expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false])
    expect(await codeOf(t.anonymous, KEYS)).toBe('UNAUTHENTICATED')
    const { data, code } = await t
      .withKey(api_key.key)
      .graphql('{ me { email apiKeys { nodes { id } } } }')
    expect([data, code]).toEqual([
      { me: { email: alice.email, apiKeys: null } },
      'KEY_OUT_OF_BOUNDS',
    ])
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on ApiKey { name } } }'
    expect(await ask(alice, NODE, { id: newer.id })).toEqual({ node: { name: 'Newer' } })
    expect(await ask(bob, NODE, { id: newer.id })).toEqual({ node: null })
    expect(await ask(t.withKey(api_key.key), NODE, { id: newer.id })).toEqual({ node: null })
  })
})

describe('GET /api/api_keys/{workspace_id}/list', () => {
  it('200 lists all keys of the workspace, newest first', async () => {
    const keys = [await create(workspaceId, SEE), await create(workspaceId, SEE, bob)]
    await create('private', READ)
    await create(await found(alice), SEE)
    for (const person of [alice, bob]) {
      const { status, response } = await list(workspaceId, person)
      expect([status, response.api_keys]).toEqual([
        200,
        keys.toReversed().map(({ response: { api_key } }, i) => ({
          ...SEE,
          id: api_key.id,
          description: '',
          status: 'active',
          created_by: i === 0 ? bob.userId : alice.userId,
          created_at: api_key.created_at,
          last_used_at: null,
          expires_at: null,
          key_hint: api_key.key.slice(-4),
        })),
      ])
    }
  })

  it('GraphQL: workspace.apiKeys lists them to owners and admins', async () => {
    const { id } = await workspaceKey(t, bob, workspaceId, ['workspaces:read'])
    const KEYS = `query ($id: ID!) { workspace(id: $id) { slug apiKeys { nodes ${FIELDS} } } }`
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on ApiKey { name } } }'
    const { workspace } = await ask(alice, KEYS, { id: workspaceId })
    expect(workspace.apiKeys.nodes).toMatchObject([
      {
        id,
        createdBy: { id: bob.userId },
        scopes: ['WORKSPACES_READ'],
        workspace: { id: workspaceId },
      },
    ])
    expect(await ask(alice, NODE, { id })).toEqual({ node: { name: 'a key' } })
    await join(t, workspaceId, bob, 'editor')
    expect((await ask(bob, KEYS, { id: workspaceId })).workspace.apiKeys).toBeNull()
    expect(await ask(bob, NODE, { id })).toEqual({ node: null })
    await expel(t, workspaceId, bob)
    expect(await codeOf(bob, KEYS, { id: workspaceId })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, KEYS, { id: workspaceId })).toBe('UNAUTHENTICATED')
  })
})

describe('DELETE /api/api_keys/private/delete', () => {
  it('200 revokes a key, and refuses its next call', async () => {
    const { caller, id } = await privateKey(t, alice)
    expect((await folders(caller)).status).toBe(200)
    const { status, msg, response } = await remove('private', id)
    expect([status, msg, response]).toEqual([200, 'deleted', null])
    expect(outcome(await folders(caller))).toEqual(UNAUTHENTICATED)
    expect((await list('private')).response.api_keys).toEqual([])
  })

  it('404 for a key that is not the caller’s private key, which remains', async () => {
    const others = [
      await privateKey(t, bob),
      await workspaceKey(t, bob, workspaceId),
      await workspaceKey(t, alice, workspaceId),
    ]
    for (const id of [...others.map(key => key.id), anyId(), 'nonsense', '🦊', ''])
      expect(outcome(await remove('private', id))).toEqual([404, { code: 'API_KEY_NOT_FOUND' }])
    for (const { id } of others) expect(await rowOf(id)).toBeDefined()
  })

  it('400 without an id, or with the id in the address', async () => {
    const { caller, id } = await privateKey(t, alice)
    const bad = [400, { code: 'INVALID_INPUT', field: 'api_key_id' }]
    expect(outcome(await remove('private', undefined))).toEqual(bad)
    expect(outcome(await remove('private', 7))).toEqual(bad)
    expect(
      outcome(await alice.rest('DELETE', `/api/api_keys/private/delete?api_key_id=${id}`)),
    ).toEqual(bad)
    expect((await folders(caller)).status).toBe(200)
  })

  it('GraphQL: deleteApiKey revokes a key', async () => {
    const { caller, id } = await privateKey(t, alice)
    const input = { apiKey: id }
    expect(await codeOf(bob, DELETE, { input })).toBe('API_KEY_NOT_FOUND')
    expect(await codeOf(caller, DELETE, { input })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(t.anonymous, DELETE, { input })).toBe('UNAUTHENTICATED')
    expect(await ask(alice, DELETE, { input })).toEqual({
      deleteApiKey: { deletedId: id, workspace: null, viewer: { apiKeys: { nodes: [] } } },
    })
    expect((await folders(caller)).status).toBe(401)
    for (const apiKey of [id, anyId(), 'nonsense'])
      expect(await codeOf(alice, DELETE, { input: { apiKey } })).toBe('API_KEY_NOT_FOUND')
  })
})

describe('DELETE /api/api_keys/{workspace_id}/delete', () => {
  it('200 revokes a key of the workspace, whoever created it', async () => {
    const { caller, id } = await workspaceKey(t, alice, workspaceId)
    const { status, msg, response } = await remove(workspaceId, id, bob)
    expect([status, msg, response]).toEqual([200, 'deleted', null])
    expect(outcome(await quota(caller))).toEqual(UNAUTHENTICATED)
  })

  it('404 for a key of another workspace, a private key, and an unknown key', async () => {
    const others = [await workspaceKey(t, alice, await found(alice)), await privateKey(t, alice)]
    for (const id of [...others.map(key => key.id), anyId(), 'nonsense', '🦊'])
      expect(outcome(await remove(workspaceId, id))).toEqual([404, { code: 'API_KEY_NOT_FOUND' }])
    for (const { id } of others) expect(await rowOf(id)).toBeDefined()
  })

  it('400 without an id, or with two workspaces', async () => {
    const { caller, id } = await workspaceKey(t, alice, workspaceId)
    expect(outcome(await remove(workspaceId, undefined))).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'api_key_id' },
    ])
    const both = await alice.rest('DELETE', `/api/api_keys/${workspaceId}/delete`, {
      json: { api_key_id: id, workspace_id: anyId() },
    })
    expect(outcome(both)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    expect((await quota(caller)).status).toBe(200)
  })

  it('GraphQL: deleteApiKey revokes a workspace key', async () => {
    const [one, two] = [
      await workspaceKey(t, alice, workspaceId),
      await workspaceKey(t, alice, workspaceId),
    ]
    const input = { apiKey: one.id }
    expect(await codeOf(t.anonymous, DELETE, { input })).toBe('UNAUTHENTICATED')
    expect((await ask(bob, DELETE, { input })).deleteApiKey).toMatchObject({
      deletedId: one.id,
      workspace: { id: workspaceId, apiKeyCount: 1 },
    })
    expect(await codeOf(bob, DELETE, { input })).toBe('API_KEY_NOT_FOUND')
    await join(t, workspaceId, bob, 'editor')
    expect(await codeOf(bob, DELETE, { input: { apiKey: two.id } })).toBe('FORBIDDEN')
    await expel(t, workspaceId, bob)
    expect(await codeOf(bob, DELETE, { input: { apiKey: two.id } })).toBe('API_KEY_NOT_FOUND')
    expect((await quota(two.caller)).status).toBe(200)
  })
})

describe('An API key', () => {
  it('is found by one index look-up, however many keys exist', async () => {
    const { caller, key } = await privateKey(t, alice)
    const others = Array.from({ length: 500 }, (_, i) => ({
      id: anyId(),
      hash: createHash('sha256').update(`${round} ${i}`).digest('hex'),
      hint: '0000',
      name: 'another',
      description: '',
      scopes: 'private_files:read',
      workspaceId: null,
      createdBy: alice.userId,
      createdAt: 0,
      lastUsedAt: null,
      expiresAt: null,
    }))
    await t.app.db.ApiKey.bulkCreate(others)
    await folders(caller)
    await until(async () => (await list('private')).response.api_keys[0].last_used_at)
    t.statements()
    await folders(caller)
    const [lookUp, ...more] = t.statements()
    expect(lookUp).toMatch(/FROM api_key c .* WHERE .* c\.hash IN \(\?\)/s)
    expect(more).toHaveLength(1)
    const hash = createHash('sha256').update(key).digest('hex')
    if (engine === 'sqlite') {
      const plan = await t.app.db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${lookUp}`, [hash])
      expect(plan[0]?.detail).toMatch(/^SEARCH c USING INDEX \w+ \(hash=\?\)$/)
      expect(plan.map(step => step.detail).join()).not.toMatch(/SCAN/)
    } else {
      const plan = await t.app.db.rows<{ table: string; type: string; rows: number }>(
        `EXPLAIN FORMAT=TRADITIONAL ${lookUp}`,
        [hash],
      )
      // This account has no limits of its own.
      expect(plan.map(({ table, type, rows }) => [table, type, Number(rows)])).toEqual([
        ...['c', 'u', 'b', 'p'].map(table => [table, 'const', 1]),
        ['ol', 'const', 0],
      ])
    }
  })

  it('takes precedence over the cookie', async () => {
    await alice.upload('hers.txt', 'x')
    const { key } = await privateKey(t, bob, ['private_files:read'])
    const tree = (person: Person) => person.rest('GET', '/api/files/tree')
    expect((await tree(t.withKey(key, alice))).response.files).toEqual([])
    expect(
      outcome(await t.withKey(key, alice).rest('DELETE', '/api/files/delete?file=hers.txt')),
    ).toEqual([401, { code: 'INSUFFICIENT_SCOPE', required: 'private_files:delete' }])
    for (const wrongKey of [
      '',
      'nonsense',
      `${key}x`,
      key.slice(0, -1),
      key.toUpperCase(),
      `${key},${key}`,
      'x'.repeat(8000),
    ])
      expect(outcome(await tree(t.withKey(wrongKey, alice)))).toEqual(UNAUTHENTICATED)
    expect((await t.withKey('nonsense', alice).graphql('{ me { id } }')).code).toBe(
      'UNAUTHENTICATED',
    )
    expect((await tree(alice)).response.files).toHaveLength(1)
  })

  it('that is invalid counts as no credential on a public route', async () => {
    await alice.upload('open.txt', 'x')
    const { sharing_token } = (
      await alice.rest('POST', '/api/files/quick_share', { json: { object: 'open.txt' } })
    ).response
    const wrongKey = t.withKey('nonsense')
    expect((await wrongKey.rest('GET', `/api/share/info/${sharing_token}`)).status).toBe(200)
    expect((await wrongKey.rest('POST', `/api/share/resolve/${sharing_token}`)).status).toBe(200)
  })

  it('is read only from its headers', async () => {
    const { key } = await privateKey(t, alice)
    for (const name of ['api_key', 'key', 'x-api-key', 'X-API-Key', 'token'])
      expect((await t.anonymous.rest('GET', `/api/folders?${name}=${key}`)).status).toBe(401)
    const statusWith = async (headers: Record<string, string>) =>
      (await t.anonymous.rest('GET', '/api/folders', { headers })).status
    for (const authorization of [`Basic ${key}`, key, `Bearer x${key}`])
      expect(await statusWith({ authorization })).toBe(401)
    expect(await statusWith({ cookie: `session_id=${key}` })).toBe(401)
    expect(await statusWith({ 'X-API-KEY': key })).toBe(200)
    expect(await statusWith({ authorization: `Bearer ${key}` })).toBe(200)
  })

  it('acts as its creator in GraphQL as well, and accepts no session in its place', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:read'])
    expect((await caller.graphql('{ me { person { id } } }')).data).toEqual({
      me: { person: { id: alice.userId } },
    })
    const secret = alice.cookie.replace('session_id=', '')
    expect((await t.withKey(secret).graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
  })

  it('of a workspace has the current role of its creator', async () => {
    const { caller } = await workspaceKey(t, bob, workspaceId)
    const file = async (name: string) => (await put(caller, workspaceId, `/${name}`)).status
    const invite = async () => {
      const json = { workspace_id: workspaceId, email: 'guest@example.com', role: 'viewer' }
      return (await caller.rest('POST', '/api/workspaces/invites/create', { json })).status
    }
    const rename = async () => {
      const json = { workspace_id: workspaceId, name: 'By key' }
      return (await caller.rest('PATCH', '/api/workspaces/rename', { json })).status
    }
    const all = async (name: string) => [
      (await quota(caller)).status,
      await file(name),
      await invite(),
      await rename(),
    ]
    expect(await all('a')).toEqual([200, 200, 200, 403])
    const change = (role: string) =>
      alice.rest('PATCH', '/api/workspaces/members/role', {
        json: { workspace_id: workspaceId, user_id: bob.userId, role },
      })
    await change('editor')
    expect(await all('b')).toEqual([200, 200, 403, 403])
    await change('viewer')
    expect(await all('c')).toEqual([200, 403, 403, 403])
    await change('owner')
    expect(await all('d')).toEqual([200, 200, 200, 200])
    await alice.rest(
      'DELETE',
      `/api/workspaces/members/remove?workspace_id=${workspaceId}&user_id=${bob.userId}`,
    )
    expect(await all('e')).toEqual([401, 401, 401, 401])
  })

  it('stops working when it expires, and when its creator leaves', async () => {
    const made = [await privateKey(t, alice), await workspaceKey(t, alice, workspaceId)] as const
    const statuses = async () => [
      (await folders(made[0].caller)).status,
      (await quota(made[1].caller)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    const set = (expiresAt: number | null) =>
      t.app.db.run('UPDATE api_key SET expires_at = ? WHERE created_by = ?', [
        expiresAt,
        alice.userId,
      ])
    await set(Date.now() - 1)
    expect(await statuses()).toEqual([401, 401])
    await set(Date.now() + 60_000)
    expect(await statuses()).toEqual([200, 200])
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [alice.userId])
    expect(await statuses()).toEqual([401, 401])
    await t.app.db.run("UPDATE user SET status = 'active' WHERE id = ?", [alice.userId])
    await join(t, workspaceId, bob, 'owner')
    await alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
    expect(await statuses()).toEqual([401, 401])
    expect(await countOf(alice)).toBe(0)
  })

  it('cannot delete its creator’s account or list identities', async () => {
    const keys = [await privateKey(t, alice), await workspaceKey(t, alice, workspaceId)]
    for (const { caller } of keys) {
      const ended = await caller.rest('DELETE', '/api/user/account/delete', {
        json: { delete_user_data: true },
      })
      expect(outcome(ended)).toEqual([401, { code: 'KEY_OUT_OF_BOUNDS' }])
      expect(outcome(await caller.rest('GET', '/api/user/identities'))).toEqual([
        401,
        { code: 'KEY_OUT_OF_BOUNDS' },
      ])
      const END = 'mutation { deleteAccount(input: { deleteUserData: true }) { driveDeleted } }'
      expect((await caller.graphql(END)).code).toBe('KEY_OUT_OF_BOUNDS')
      expect((await caller.graphql('{ me { identities { id } } }')).code).toBe('KEY_OUT_OF_BOUNDS')
    }
    expect((await folders(alice)).status).toBe(200)
  })
})
