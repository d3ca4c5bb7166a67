import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v4 as anyId } from 'uuid'
import { ask, codeOf } from '../support/ask.ts'
import { expel, found, join, privateKey, put, ROOMY, workspaceKey } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aSentence, aTime, at } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t.stop())

let people = 0
/** A new person, who has created no workspace in the current minute. */
const newcomer = () => t.signIn(`founder${++people}`)

const create = (json: object, person = alice) =>
  person.rest('POST', '/api/workspaces/create', { json })
const rename = (json: object, person = alice) =>
  person.rest('PATCH', '/api/workspaces/rename', { json })
const remove = (id: string, person = alice) =>
  person.rest('DELETE', `/api/workspaces/delete?workspace_id=${id}`)
const quota = (id: string, person = alice) => person.rest('GET', `/api/workspaces/${id}/quota`)
const list = async (person = alice) => (await person.rest('GET', '/api/workspaces/list')).response
const refusal = ({ status, response }: RestAnswer) => [status, response]

const countOf = async (table: string, where = '1 = 1', values: string[] = []): Promise<number> => {
  const [row] = await t.app.db.rows<{ n: number }>(
    `SELECT COUNT(*) AS n FROM ${table} WHERE ${where}`,
    values,
  )
  return Number(row?.n)
}
/** The row counts of the tables that make up workspaces. */
const counts = async () =>
  Object.fromEntries(
    await Promise.all(
      ['workspace', 'member', 'bucket', 'entry'].map(async table => [table, await countOf(table)]),
    ),
  )

const FIELDS = 'id name slug owner { id email } createdAt role'
const CREATE = `mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) {
  workspace { ${FIELDS} } viewer { workspaces { nodes { id } } } } }`

describe('POST /api/workspaces/create', () => {
  it('200 creates an empty workspace that is owned by the caller', async () => {
    const founder = await newcomer()
    const before = Date.now()
    const { status, msg, response } = await create({ name: '  Kitchen  Garden ' }, founder)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      workspace: {
        workspace_id: anId,
        name: 'Kitchen  Garden',
        slug: 'kitchen-garden',
        owner_id: founder.userId,
        created_at: aTime,
        role: 'owner',
      },
    })
    const { workspace_id: id, created_at } = response.workspace
    expect(at(created_at)).toBeGreaterThanOrEqual(before)
    expect(await list(founder)).toEqual([response.workspace])
    const members = await t.app.db.rows('SELECT user_id, role FROM member WHERE workspace_id = ?', [
      id,
    ])
    expect(members).toEqual([{ user_id: founder.userId, role: 'owner' }])
    const tree = await founder.rest('GET', `/api/workspaces/${id}/files/tree`)
    expect(tree.response).toEqual({ path: '/', files: [], folders: [], next_cursor: null })
  })

  it.each<[string, string]>([
    ['Crème brûlée & Co.', 'creme-brulee-and-co'],
    ['ACME 2026', 'acme-2026'],
    ['日本', 'workspace'],
    ['🦊', 'workspace'],
    ['...', 'workspace'],
    ['-a_b-', 'a-b'],
    ['x'.repeat(64), 'x'.repeat(48)],
    [`${'x'.repeat(47)} y`, 'x'.repeat(47)],
    ['Ω', 'o'],
  ])('200 derives a slug from the name %j', async (name, slug) => {
    const founder = await newcomer()
    const { response } = await create({ name }, founder)
    expect(response.workspace.slug.length).toBeLessThanOrEqual(48)
    // Another workspace in this test may already have the slug.
    expect(response.workspace.slug).toMatch(
      new RegExp(`^(${slug}|${slug.slice(0, 41)}-[a-z0-9]{6})$`),
    )
  })

  it('200 derives unique slugs, also for ten at once', async () => {
    const founders = await Promise.all(Array.from({ length: 10 }, newcomer))
    const answers = await Promise.all(
      founders.map(founder => create({ name: 'The very same name' }, founder)),
    )
    expect(answers.map(a => a.status)).toEqual(Array(10).fill(200))
    const slugs = answers.map(a => a.response.workspace.slug)
    expect(new Set(slugs).size).toBe(10)
    expect(slugs).toContain('the-very-same-name')
    for (const slug of slugs) expect(slug).toMatch(/^the-very-same-name(-[a-z0-9]{6})?$/)
  })

  it('200 accepts a given slug; an empty one counts as none', async () => {
    const founder = await newcomer()
    const slug = `a-${'9'.repeat(46)}`
    expect((await create({ name: 'Given', slug }, founder)).response.workspace.slug).toBe(slug)
    expect((await create({ name: 'Empty slug', slug: '' }, founder)).response.workspace.slug).toBe(
      'empty-slug',
    )
    expect((await create({ name: 'Null slug', slug: null }, founder)).response.workspace.slug).toBe(
      'null-slug',
    )
  })

  it.each<[string, object, string]>([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of spaces', { name: '   ' }, 'name'],
    ['a name of 65 characters', { name: '🦊'.repeat(65) }, 'name'],
    ['a name with a line end', { name: 'a\nb' }, 'name'],
    ['a number as name', { name: 7 }, 'name'],
    ['a slug with capitals', { name: 'a', slug: 'Abc' }, 'slug'],
    ['a slug with a space', { name: 'a', slug: 'a b' }, 'slug'],
    ['a slug with a line end', { name: 'a', slug: 'abc\n' }, 'slug'],
    ['a slug of 49 characters', { name: 'a', slug: 'a'.repeat(49) }, 'slug'],
    ['its owner', { name: 'a', owner_id: anyId() }, 'owner_id'],
    ['its id', { name: 'a', workspace_id: anyId() }, 'workspace_id'],
    ['its id in the database', { name: 'a', id: anyId() }, 'id'],
    ['a role', { name: 'a', role: 'owner' }, 'role'],
    ['a time', { name: 'a', created_at: '2026-01-01T00:00:00.000Z' }, 'created_at'],
  ])('400 for %s', async (_what, json, field) => {
    const founder = await newcomer()
    const before = await counts()
    expect(refusal(await create(json, founder))).toEqual([400, { code: 'INVALID_INPUT', field }])
    expect(await counts()).toEqual(before)
  })

  it('200 for a name of 64 fox emoji', async () => {
    expect(
      (await create({ name: '🦊'.repeat(64) }, await newcomer())).response.workspace.name,
    ).toBe('🦊'.repeat(64))
  })

  it('400 for a taken slug, whoever owns it, and creates nothing', async () => {
    const founder = await newcomer()
    await create({ name: 'First', slug: 'taken' }, founder)
    const before = await counts()
    for (const person of [founder, bob])
      expect(refusal(await create({ name: 'Second', slug: 'taken' }, person))).toEqual([
        400,
        { code: 'SLUG_TAKEN', slug: 'taken' },
      ])
    expect(await counts()).toEqual(before)
    const founders = await Promise.all(Array.from({ length: 6 }, newcomer))
    const racing = await Promise.all(
      founders.map(person => create({ name: 'Race', slug: 'raced' }, person)),
    )
    expect(racing.map(a => a.response.code ?? 'ok').sort()).toEqual([
      ...Array(5).fill('SLUG_TAKEN'),
      'ok',
    ])
  })

  it('400 beyond the limit of the plan, exactly, when they come at once', async () => {
    const founder = await newcomer()
    await t.limit({ maxUserWorkspaces: 3 })
    await create({ name: 'One' }, founder)
    const racing = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create({ name: `Race ${i}` }, founder)),
    )
    expect(racing.map(a => a.status).sort()).toEqual([200, 200, ...Array(6).fill(400)])
    for (const { status, msg, response } of racing)
      if (status === 400) {
        expect(response).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: 'max_user_workspaces',
          max: 3,
          used: 3,
        })
        expect(msg).toEqual(aSentence)
      }
    const mine = await list(founder)
    expect(mine).toHaveLength(3)
    // Memberships of other workspaces do not count, and a deleted workspace makes room.
    await join(t, mine[0].workspace_id, bob, 'owner')
    expect((await create({ name: 'Bobs own' }, bob)).status).toBe(200)
    await remove(mine[0].workspace_id, founder)
    await t.limit(ROOMY)
  })

  it('429 for the eleventh in a minute, also at once; rejected requests do not count', async () => {
    const founder = await newcomer()
    const { caller } = await privateKey(t, founder)
    for (let i = 0; i < 3; i++) await create({ name: 'a' }, caller)
    const answers = await Promise.all(
      Array.from({ length: 13 }, () => create({ name: '' }, founder)),
    )
    expect(answers.map(a => a.status).sort()).toEqual([
      ...Array(10).fill(400),
      ...Array(3).fill(429),
    ])
    const limited = await create({ name: 'Too many' }, founder)
    expect(refusal(limited)).toEqual([
      429,
      {
        code: 'RATE_LIMITED',
        retry_after: expect.any(Number),
        policy: 'workspaces',
        limit: 10,
        window: 60,
      },
    ])
    const seconds = limited.response.retry_after
    expect(seconds > 0 && seconds <= 60).toBe(true)
    expect(limited.headers.get('retry-after')).toBe(String(seconds))
    expect(limited.headers.get('ratelimit-policy')).toBe('"workspaces";q=10;w=60')
    expect(limited.headers.get('ratelimit')).toBe(`"workspaces";r=0;t=${seconds}`)
    expect(await codeOf(founder, CREATE, { input: { name: 'a' } })).toBe('RATE_LIMITED')
    expect(await list(founder)).toEqual([])
    expect((await create({ name: 'Somebody else' }, await newcomer())).status).toBe(200)
  })

  it('GraphQL: createWorkspace creates a workspace, and returns it to its owner', async () => {
    const founder = await newcomer()
    const input = { name: 'By graph', slug: 'by-graph' }
    const { workspace, viewer } = (await ask(founder, CREATE, { input })).createWorkspace
    expect(workspace).toEqual({
      ...input,
      id: anId,
      owner: { id: founder.userId, email: founder.email },
      createdAt: aTime,
      role: 'OWNER',
    })
    expect(viewer.workspaces.nodes).toEqual([{ id: workspace.id }])
    expect((await founder.graphql(CREATE, { input })).errors?.[0]?.extensions).toEqual({
      code: 'SLUG_TAKEN',
      slug: 'by-graph',
    })
    expect(await codeOf(founder, CREATE, { input: { name: '' } })).toBe('INVALID_INPUT')
    expect(await codeOf(founder, CREATE, { input: { name: 'a', slug: 'A b' } })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(founder, CREATE, { input: { name: 'a', ownerId: bob.userId } })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(t.anonymous, CREATE, { input })).toBe('UNAUTHENTICATED')
    for (const { caller } of [
      await privateKey(t, founder),
      await workspaceKey(t, founder, workspace.id),
    ])
      expect(await codeOf(caller, CREATE, { input })).toBe('KEY_OUT_OF_BOUNDS')
    await t.limit({ maxUserWorkspaces: 1 })
    expect(
      (await founder.graphql(CREATE, { input: { name: 'a' } })).errors?.[0]?.extensions,
    ).toEqual({
      code: 'QUOTA_EXCEEDED',
      limit: 'max_user_workspaces',
      max: 1,
      used: 1,
    })
    await t.limit(ROOMY)
    expect((await list(founder)).length).toBe(1)
  })
})

describe('GET /api/workspaces/list', () => {
  it('200 lists the workspaces of the caller with their role, oldest first', async () => {
    const [founder, guest] = [await newcomer(), await newcomer()]
    expect(await list(guest)).toEqual([])
    const ids = [
      await found(founder, 'One'),
      await found(founder, 'Two'),
      await found(guest, 'Three'),
    ]
    for (const [i, role] of (['viewer', 'admin'] as const).entries())
      await join(t, ids[i] ?? '', guest, role)
    const { status, msg, response } = await guest.rest('GET', '/api/workspaces/list')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(
      response.map((w: { name: string; role: string; owner_id: string }) => [
        w.name,
        w.role,
        w.owner_id,
      ]),
    ).toEqual([
      ['One', 'viewer', founder.userId],
      ['Two', 'admin', founder.userId],
      ['Three', 'owner', guest.userId],
    ])
    expect(Object.keys(response[0]).sort()).toEqual([
      'created_at',
      'name',
      'owner_id',
      'role',
      'slug',
      'workspace_id',
    ])
    expect((await list(founder)).map((w: { role: string }) => w.role)).toEqual(['owner', 'owner'])
  })

  it('200 lists only its own workspace for a key, and none after its creator has left', async () => {
    const founder = await newcomer()
    const id = await found(founder, 'Mine')
    await found(founder, 'Other')
    const admin = await newcomer()
    await found(admin, 'His own')
    await join(t, id, admin, 'admin')
    const { caller } = await workspaceKey(t, admin, id, ['workspaces:read'])
    expect(
      (await list(caller)).map((w: { name: string; role: string }) => [w.name, w.role]),
    ).toEqual([['Mine', 'admin']])
    await expel(t, id, admin)
    expect(await list(caller)).toEqual([])
  })

  it('GraphQL: me.workspaces lists them, page by page', async () => {
    const founder = await newcomer()
    const ids = [
      await found(founder, 'Graph'),
      await found(founder, 'Second'),
      await found(founder, 'Third'),
    ]
    const MINE = `query ($first: Int, $after: String) { me { workspaces(first: $first, after: $after) {
      nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } } }`
    const first = (await ask(founder, MINE, { first: 2 })).me.workspaces
    expect(first.nodes[0]).toEqual({
      id: ids[0],
      name: 'Graph',
      slug: expect.stringMatching(/^graph/),
      owner: { id: founder.userId, email: founder.email },
      createdAt: aTime,
      role: 'OWNER',
    })
    const second = (await ask(founder, MINE, { after: first.pageInfo.endCursor })).me.workspaces
    expect([...first.nodes, ...second.nodes].map(({ id }: { id: string }) => id)).toEqual(ids)
    expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false])
    expect(await codeOf(t.anonymous, MINE)).toBe('UNAUTHENTICATED')
    // Private keys have no access to workspaces, and the rest of the response is complete.
    const { caller } = await privateKey(t, founder)
    const { data, code } = await caller.graphql('{ me { email workspaces { nodes { id } } } }')
    expect([data, code]).toEqual([
      { me: { email: founder.email, workspaces: null } },
      'KEY_OUT_OF_BOUNDS',
    ])
  })

  it('GraphQL: workspace finds a workspace by id or slug, and reveals none of others', async () => {
    const founder = await newcomer()
    const id = await found(founder)
    const FIND = `query ($id: ID, $slug: String) { workspace(id: $id, slug: $slug) { id slug } }`
    const { workspace } = await ask(founder, FIND, { id })
    expect(workspace.id).toBe(id)
    expect(await ask(founder, FIND, { slug: workspace.slug })).toEqual({ workspace })
    const { caller } = await workspaceKey(t, founder, id)
    expect(await ask(caller, FIND)).toEqual({ workspace })
    expect(await codeOf(founder, FIND)).toBe('INVALID_INPUT')
    expect(await codeOf(founder, FIND, workspace)).toBe('INVALID_INPUT')
    for (const [given, person] of [
      [{ id }, bob],
      [{ slug: workspace.slug }, bob],
      [{ id: anyId() }, founder],
      [{ id: 'nonsense' }, founder],
      [{ slug: 'no-such-slug' }, founder],
    ] as const)
      expect(await codeOf(person, FIND, given)).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, FIND, { id })).toBe('UNAUTHENTICATED')
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Workspace { slug } } }'
    expect(await ask(founder, NODE, { id })).toEqual({ node: { slug: workspace.slug } })
    expect(await ask(bob, NODE, { id })).toEqual({ node: null })
  })
})

describe('PATCH /api/workspaces/rename', () => {
  it('200 changes the name, and keeps the slug unless a new one is given', async () => {
    const founder = await newcomer()
    const { workspace } = (await create({ name: 'Old', slug: 'old-slug' }, founder)).response
    const { workspace_id } = workspace
    const { status, msg, response } = await rename({ workspace_id, name: ' New ' }, founder)
    expect([status, msg, response]).toEqual([200, 'ok', { ...workspace, name: 'New' }])
    expect((await rename({ workspace_id, name: 'New', slug: '' }, founder)).response.slug).toBe(
      'old-slug',
    )
    const moved = await rename({ workspace_id, name: 'Newer', slug: 'new-slug' }, founder)
    expect(moved.response).toEqual({ ...workspace, name: 'Newer', slug: 'new-slug' })
    expect(await list(founder)).toEqual([moved.response])
    // The old slug is free, and keeping the own slug is no conflict.
    expect((await rename({ workspace_id, name: 'Newer', slug: 'new-slug' }, founder)).status).toBe(
      200,
    )
    expect((await create({ name: 'Heir', slug: 'old-slug' }, founder)).status).toBe(200)
  })

  it('400 for a taken slug, and changes nothing', async () => {
    const founder = await newcomer()
    await create({ name: 'First', slug: 'rename-taken' }, founder)
    const { workspace } = (await create({ name: 'Second' }, founder)).response
    const { workspace_id } = workspace
    expect(
      refusal(await rename({ workspace_id, name: 'Third', slug: 'rename-taken' }, founder)),
    ).toEqual([400, { code: 'SLUG_TAKEN', slug: 'rename-taken' }])
    expect(await list(founder)).toContainEqual(workspace)
  })

  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 'name'],
    ['a bad slug', { slug: 'A' }, 'slug'],
    ['no workspace', { workspace_id: undefined }, 'workspace_id'],
    ['a number as workspace', { workspace_id: 7 }, 'workspace_id'],
    ['another owner', { owner_id: anyId() }, 'owner_id'],
  ])('400 for %s', async (_what, json, field) => {
    const founder = await newcomer()
    const { workspace } = (await create({ name: 'Stays' }, founder)).response
    const answer = await rename(
      { workspace_id: workspace.workspace_id, name: 'a', ...json },
      founder,
    )
    expect(refusal(answer)).toEqual([400, { code: 'INVALID_INPUT', field }])
    expect(await list(founder)).toEqual([workspace])
  })

  it('GraphQL: updateWorkspace changes the name or the slug', async () => {
    const UPDATE = `mutation ($input: UpdateWorkspaceInput!) { updateWorkspace(input: $input) { workspace { ${FIELDS} } } }`
    const founder = await newcomer()
    const workspace = await found(founder)
    const update = async (changes: object) =>
      (await ask(founder, UPDATE, { input: { workspace, ...changes } })).updateWorkspace.workspace
    const renamed = await update({ name: 'Renamed' })
    expect(renamed).toMatchObject({
      id: workspace,
      name: 'Renamed',
      slug: expect.stringMatching(/^garden/),
    })
    expect(await update({ slug: 'renamed-by-graph' })).toEqual({
      ...renamed,
      slug: 'renamed-by-graph',
    })
    const other = await found(founder)
    expect(
      await codeOf(founder, UPDATE, { input: { workspace: other, slug: 'renamed-by-graph' } }),
    ).toBe('SLUG_TAKEN')
    expect(await codeOf(founder, UPDATE, { input: { workspace, name: ' ' } })).toBe('INVALID_INPUT')
    const input = { workspace, name: 'Taken over' }
    await join(t, workspace, bob, 'admin')
    expect(await codeOf(bob, UPDATE, { input })).toBe('FORBIDDEN')
    await expel(t, workspace, bob)
    expect(await codeOf(bob, UPDATE, { input })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, UPDATE, { input })).toBe('UNAUTHENTICATED')
    expect((await list(founder))[0].name).toBe('Renamed')
  })
})

describe('DELETE /api/workspaces/delete', () => {
  it('200 removes members, invites and keys at once, and files and blobs afterwards', async () => {
    const founder = await newcomer()
    const [id, kept] = [await found(founder, 'Doomed'), await found(founder, 'Kept')]
    await join(t, id, bob, 'admin')
    for (const where of [id, kept]) {
      await put(founder, where, '/a/b/1.txt', 'one')
      await put(founder, where, '/2.txt', 'two')
      const json = { workspace_id: where, email: `guest@${where}.example`, role: 'viewer' }
      await founder.rest('POST', '/api/workspaces/invites/create', { json })
    }
    const { caller } = await workspaceKey(t, bob, id)
    expect((await quota(id, caller)).response).toMatchObject({
      file_count: 2,
      member_count: 2,
      api_key_count: 1,
    })
    const { status, msg, response } = await remove(id, founder)
    expect([status, msg, response]).toEqual([200, 'ok', { workspace_id: id }])
    expect((await quota(id, founder)).status).toBe(403)
    expect((await quota(id, caller)).response).toEqual({ code: 'UNAUTHENTICATED' })
    expect((await list(founder)).map((w: { workspace_id: string }) => w.workspace_id)).toEqual([
      kept,
    ])
    for (const table of ['member', 'invite', 'api_key', 'bucket'])
      expect([table, await countOf(table, 'workspace_id = ?', [id])]).toEqual([table, 0])
    await expectConsistent(t)
    expect((await quota(kept, founder)).response).toMatchObject({
      file_count: 2,
      folder_count: 2,
      total_bytes: 6,
    })
    expect(refusal(await remove(id, founder))).toEqual([404, { code: 'WORKSPACE_NOT_FOUND' }])
  })

  it('400 without an id, and for an id in the body', async () => {
    const founder = await newcomer()
    const [first, second] = [await found(founder), await found(founder)]
    const missing = await founder.rest('DELETE', '/api/workspaces/delete')
    expect(refusal(missing)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    const both = await founder.rest('DELETE', `/api/workspaces/delete?workspace_id=${first}`, {
      json: { workspace_id: second },
    })
    expect(refusal(both)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    const twice = await founder.rest(
      'DELETE',
      `/api/workspaces/delete?workspace_id=${first}&workspace_id=${second}`,
    )
    expect(refusal(twice)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    expect(await list(founder)).toHaveLength(2)
  })

  it('404 for a missing workspace', async () => {
    const founder = await newcomer()
    const id = await found(founder)
    for (const unknown of [anyId(), 'nonsense', '', id.toUpperCase(), encodeURIComponent('🦊')])
      expect(refusal(await remove(unknown, founder))).toEqual([
        404,
        { code: 'WORKSPACE_NOT_FOUND' },
      ])
    expect(await list(founder)).toHaveLength(1)
  })

  it('GraphQL: deleteWorkspace deletes the workspace', async () => {
    const DELETE =
      'mutation ($input: DeleteWorkspaceInput!) { deleteWorkspace(input: $input) { deletedId } }'
    const founder = await newcomer()
    const input = { workspace: await found(founder) }
    expect(await codeOf(t.anonymous, DELETE, { input })).toBe('UNAUTHENTICATED')
    expect(await codeOf(bob, DELETE, { input })).toBe('FORBIDDEN')
    await join(t, input.workspace, bob, 'admin')
    expect(await codeOf(bob, DELETE, { input })).toBe('FORBIDDEN')
    expect(await ask(founder, DELETE, { input })).toEqual({
      deleteWorkspace: { deletedId: input.workspace },
    })
    // A missing workspace counts as someone else's.
    expect(await codeOf(founder, DELETE, { input })).toBe('FORBIDDEN')
    expect(await list(founder)).toEqual([])
  })
})

describe('GET /api/workspaces/{workspace_id}/quota', () => {
  const limits = {
    max_files_workspace: 10_000,
    max_total_storage_bytes_workspace: 5 * 1024 ** 3,
    max_workspace_folders: 1_000,
    max_users_workspace: ROOMY.maxUsersWorkspace,
    max_workspace_api_keys: ROOMY.maxWorkspaceApiKeys,
  }

  it('200 returns the usage, and the limits of the plan of the owner', async () => {
    const founder = await newcomer()
    const id = await found(founder)
    const nothing = {
      file_count: 0,
      total_bytes: 0,
      folder_count: 0,
      member_count: 1,
      api_key_count: 0,
    }
    const { status, msg, response } = await quota(id, founder)
    expect([status, msg, response]).toEqual([200, 'ok', { ...nothing, ...limits }])
    await put(founder, id, '/a/b/1.txt', '12345')
    await put(founder, id, '/a/2.txt', '123')
    await join(t, id, bob, 'viewer')
    await workspaceKey(t, founder, id)
    // Personal files and other workspaces do not count.
    await founder.upload('mine/3.txt', '1')
    await put(founder, await found(founder), '/4.txt', '1')
    const full = {
      file_count: 2,
      total_bytes: 8,
      folder_count: 2,
      member_count: 2,
      api_key_count: 1,
    }
    expect((await quota(id, bob)).response).toEqual({ ...full, ...limits })
    await founder.rest('DELETE', `/api/workspaces/${id}/files/folder/delete?path=/a/b`)
    expect((await quota(id, bob)).response).toMatchObject({
      file_count: 1,
      total_bytes: 3,
      folder_count: 1,
    })
  })

  it('200 returns null for no limit, and follows the plan at once', async () => {
    const founder = await newcomer()
    const id = await found(founder)
    await t.app.db.run("UPDATE user SET plan_id = 'enterprise' WHERE id = ?", [founder.userId])
    await join(t, id, bob, 'viewer')
    expect((await quota(id, bob)).response).toMatchObject({
      max_files_workspace: null,
      max_total_storage_bytes_workspace: 1024 ** 4,
      max_workspace_folders: null,
      max_users_workspace: 1_000,
      max_workspace_api_keys: 500,
    })
  })

  it('GraphQL: a workspace shows its usage and its limits', async () => {
    const QUOTA = `query ($id: ID!) { workspace(id: $id) { memberCount maxMembers apiKeyCount maxApiKeys
      drive { usage { fileCount usedBytes folderCount maxFiles maxBytes maxFolders } } } }`
    const founder = await newcomer()
    const id = await found(founder)
    await put(founder, id, '/a.txt', '12345')
    expect(await ask(founder, QUOTA, { id })).toEqual({
      workspace: {
        memberCount: 1,
        maxMembers: limits.max_users_workspace,
        apiKeyCount: 0,
        maxApiKeys: limits.max_workspace_api_keys,
        drive: {
          usage: {
            fileCount: 1,
            usedBytes: 5,
            folderCount: 0,
            maxFiles: limits.max_files_workspace,
            maxBytes: limits.max_total_storage_bytes_workspace,
            maxFolders: limits.max_workspace_folders,
          },
        },
      },
    })
    expect(await codeOf(bob, QUOTA, { id })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, QUOTA, { id })).toBe('UNAUTHENTICATED')
  })
})
