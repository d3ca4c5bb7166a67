import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v4 as anyId } from 'uuid'
import { type Role, roles } from '../../src/access/roles.ts'
import { ask, codeOf } from '../support/ask.ts'
import { expel, found, join, ROOMY, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
let dora: Person
let mallory: Person
/**
 * A new workspace for every test. Alice owns it, bob is an admin, carol an editor, and dora a
 * viewer. Mallory is a stranger.
 */
let workspace_id: string

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  ;[alice, bob, carol, dora, mallory] = await Promise.all([
    t.signIn('alice'),
    t.signIn('bob'),
    t.signIn('carol'),
    t.signIn('dora'),
    t.signIn('mallory'),
  ])
})
afterAll(() => t.stop())
beforeEach(async () => {
  workspace_id = await found(alice)
  await join(t, workspace_id, bob, 'admin')
  await join(t, workspace_id, carol, 'editor')
  await join(t, workspace_id, dora, 'viewer')
})

const list = (person: Person, id = workspace_id) =>
  person.rest('GET', `/api/workspaces/members?workspace_id=${id}`)
const changeRole = (person: Person, user_id: unknown, role: unknown, more: object = {}) =>
  person.rest('PATCH', '/api/workspaces/members/role', {
    json: { workspace_id, user_id, role, ...more },
  })
const remove = (person: Person, user: string) =>
  person.rest(
    'DELETE',
    `/api/workspaces/members/remove?workspace_id=${workspace_id}&user_id=${encodeURIComponent(user)}`,
  )
const outcome = ({ status, response }: RestAnswer) => [status, response]
const FORBIDDEN = [403, { code: 'FORBIDDEN' }]
const LAST_OWNER = [403, { code: 'LAST_OWNER' }]

/** Everyone's roles in the database. */
async function standing(): Promise<Record<string, Role>> {
  const names = new Map(
    [alice, bob, carol, dora, mallory].map(person => [person.userId, person.email.split('@')[0]]),
  )
  const rows = await t.app.db.rows<{ id: string; role: Role }>(
    'SELECT user_id AS id, role FROM member WHERE workspace_id = ?',
    [workspace_id],
  )
  return Object.fromEntries(rows.map(({ id, role }) => [names.get(id), role]))
}
const ownerId = async () => {
  const rows = await t.app.db.rows<{ id: string }>(
    'SELECT owner_id AS id FROM workspace WHERE id = ?',
    [workspace_id],
  )
  return rows[0]?.id
}
/** The membership id of a person in this workspace. */
const memberId = ({ userId }: Pick<Person, 'userId'>) => `member:${workspace_id}:${userId}`
const START = { alice: 'owner', bob: 'admin', carol: 'editor', dora: 'viewer' }

describe('GET /api/workspaces/members', () => {
  it('200 lists all members to every member, in the order in which they joined', async () => {
    for (const person of [alice, bob, carol, dora]) {
      const { status, msg, response } = await list(person)
      expect([status, msg]).toEqual([200, 'ok'])
      expect(response).toEqual(
        [alice, bob, carol, dora].map(({ userId, email }, i) => ({
          user_id: userId,
          email,
          name: email.split('@')[0],
          role: roles[i],
          joined_at: aTime,
        })),
      )
    }
  })

  it('400 without a workspace, or with two', async () => {
    const missing = await alice.rest('GET', '/api/workspaces/members')
    expect(outcome(missing)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    const twice = await alice.rest(
      'GET',
      `/api/workspaces/members?workspace_id=${workspace_id}&workspace_id=${anyId()}`,
    )
    expect(outcome(twice)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
  })

  it('GraphQL: workspace.members lists the members by page', async () => {
    const MEMBERS = `query ($id: ID!, $first: Int, $after: String) { workspace(id: $id) {
      members(first: $first, after: $after) { nodes { id person { id email name } role joinedAt workspace { id } }
        pageInfo { hasNextPage endCursor } } } }`
    const page = async (variables: object) =>
      (await ask(dora, MEMBERS, { id: workspace_id, ...variables })).workspace.members
    const first = await page({ first: 3 })
    const rest = await page({ first: 3, after: first.pageInfo.endCursor })
    expect([...first.nodes, ...rest.nodes]).toEqual(
      [alice, bob, carol, dora].map(({ userId, email }, i) => ({
        id: memberId({ userId }),
        person: { id: userId, email, name: email.split('@')[0] },
        role: roles[i]?.toUpperCase(),
        joinedAt: aTime,
        workspace: { id: workspace_id },
      })),
    )
    expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false])
    expect(await codeOf(mallory, MEMBERS, { id: workspace_id })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, MEMBERS, { id: workspace_id })).toBe('UNAUTHENTICATED')
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Member { role person { email } } } }'
    expect(await ask(bob, NODE, { id: memberId(dora) })).toEqual({
      node: { role: 'VIEWER', person: { email: dora.email } },
    })
    expect(await ask(bob, NODE, { id: memberId(mallory) })).toEqual({ node: null })
    expect(await ask(mallory, NODE, { id: memberId(dora) })).toEqual({ node: null })
  })
})

describe('PATCH /api/workspaces/members/role', () => {
  it('200 changes the role from the next request on', async () => {
    const { status, msg, response } = await changeRole(bob, dora.userId, 'editor')
    expect([status, msg, response]).toEqual([200, 'ok', { user_id: dora.userId, role: 'editor' }])
    expect(await standing()).toEqual({ ...START, dora: 'editor' })
    const mkdir = (folder_name: string) =>
      dora.rest('POST', `/api/workspaces/${workspace_id}/files/mkdir`, { json: { folder_name } })
    expect((await mkdir('a')).status).toBe(200)
    await changeRole(alice, dora.userId, 'viewer')
    expect((await mkdir('b')).status).toBe(403)
  })

  it('200 for the role that the member already has', async () => {
    expect((await changeRole(alice, alice.userId, 'owner')).status).toBe(200)
    expect((await changeRole(bob, dora.userId, 'viewer')).status).toBe(200)
    expect(await standing()).toEqual(START)
  })

  it('403 for an admin who changes an owner; admins make admins, editors and viewers', async () => {
    expect((await changeRole(bob, carol.userId, 'admin')).status).toBe(200)
    expect(outcome(await changeRole(bob, carol.userId, 'owner'))).toEqual(FORBIDDEN)
    expect(outcome(await changeRole(bob, bob.userId, 'owner'))).toEqual(FORBIDDEN)
    for (const role of roles)
      expect(outcome(await changeRole(bob, alice.userId, role))).toEqual(FORBIDDEN)
    expect(await standing()).toEqual({ ...START, carol: 'admin' })
    // An admin may give up the role, because that changes nobody else.
    expect((await changeRole(bob, bob.userId, 'viewer')).status).toBe(200)
    expect(outcome(await changeRole(bob, bob.userId, 'admin'))).toEqual(FORBIDDEN)
  })

  it('200 for an owner, who makes owners and reverses that', async () => {
    expect((await changeRole(alice, bob.userId, 'owner')).status).toBe(200)
    expect((await changeRole(bob, alice.userId, 'viewer')).status).toBe(200)
    expect(await standing()).toEqual({ ...START, alice: 'viewer', bob: 'owner' })
    // The limits are those of the owner's plan, so an owner is responsible for them.
    expect(await ownerId()).toBe(bob.userId)
    expect((await bob.rest('GET', '/api/workspaces/list')).response.at(-1)).toMatchObject({
      owner_id: bob.userId,
    })
  })

  it('403 for the last owner, who keeps the role', async () => {
    for (const role of ['admin', 'editor', 'viewer'])
      expect(outcome(await changeRole(alice, alice.userId, role))).toEqual(LAST_OWNER)
    expect(await standing()).toEqual(START)
    expect(await ownerId()).toBe(alice.userId)
  })

  it.each<[string, unknown, unknown, object, string]>([
    ['an unknown role', 'dora', 'king', {}, 'role'],
    ['a role in capitals', 'dora', 'Editor', {}, 'role'],
    ['an empty role', 'dora', '', {}, 'role'],
    ['no role', 'dora', undefined, {}, 'role'],
    ['a list of roles', 'dora', ['editor'], {}, 'role'],
    ['no user', undefined, 'editor', {}, 'user_id'],
    ['a number as user', 7, 'editor', {}, 'user_id'],
    ['no workspace', 'dora', 'editor', { workspace_id: undefined }, 'workspace_id'],
    ['a time', 'dora', 'editor', { joined_at: '2026-01-01T00:00:00.000Z' }, 'joined_at'],
  ])('400 for %s', async (_what, user, role, more, field) => {
    const answer = await changeRole(alice, user === 'dora' ? dora.userId : user, role, more)
    expect(outcome(answer)).toEqual([400, { code: 'INVALID_INPUT', field }])
    expect(await standing()).toEqual(START)
  })

  it('403 for editors, viewers and strangers, whichever member they name', async () => {
    for (const person of [carol, dora, mallory])
      for (const user of [dora.userId, alice.userId, mallory.userId, anyId(), 'nonsense'])
        expect(outcome(await changeRole(person, user, 'admin'))).toEqual(FORBIDDEN)
    expect(await standing()).toEqual(START)
  })

  it('404 for a user who is not a member', async () => {
    await expel(t, workspace_id, dora)
    for (const user of [
      dora.userId,
      mallory.userId,
      anyId(),
      'nonsense',
      '🦊',
      alice.userId.toUpperCase(),
    ])
      expect(outcome(await changeRole(bob, user, 'editor'))).toEqual([
        404,
        { code: 'MEMBER_NOT_FOUND' },
      ])
  })

  it('400 for a workspace in the URL and another in the body: the body counts', async () => {
    const own = await found(mallory)
    const json = { workspace_id, user_id: mallory.userId, role: 'admin' }
    const played = await mallory.rest('PATCH', `/api/workspaces/members/role?workspace_id=${own}`, {
      json,
    })
    expect(outcome(played)).toEqual(FORBIDDEN)
    const other = await mallory.rest(
      'PATCH',
      `/api/workspaces/members/role?workspace_id=${workspace_id}`,
      {
        json: { workspace_id: own, user_id: mallory.userId, role: 'owner' },
      },
    )
    expect(other.status).toBe(200)
    expect(await standing()).toEqual(START)
  })

  it('GraphQL: changeMemberRole changes the role', async () => {
    const CHANGE = `mutation ($input: ChangeMemberRoleInput!) { changeMemberRole(input: $input) {
      member { id role person { id } } workspace { id role owner { id } } } }`
    const change = (role: string, member = memberId(dora)) => ({ input: { member, role } })
    expect(await ask(bob, CHANGE, change('ADMIN'))).toEqual({
      changeMemberRole: {
        member: { id: memberId(dora), role: 'ADMIN', person: { id: dora.userId } },
        workspace: { id: workspace_id, role: 'ADMIN', owner: { id: alice.userId } },
      },
    })
    expect(await codeOf(bob, CHANGE, change('OWNER'))).toBe('FORBIDDEN')
    expect(await codeOf(bob, CHANGE, change('KING'))).toBe('INVALID_INPUT')
    expect(await codeOf(bob, CHANGE, change('VIEWER', memberId(mallory)))).toBe('MEMBER_NOT_FOUND')
    expect(await codeOf(bob, CHANGE, change('VIEWER', memberId(alice)))).toBe('FORBIDDEN')
    expect(await codeOf(alice, CHANGE, change('ADMIN', memberId(alice)))).toBe('LAST_OWNER')
    expect(await codeOf(carol, CHANGE, change('EDITOR'))).toBe('FORBIDDEN')
    expect(await codeOf(mallory, CHANGE, change('EDITOR'))).toBe('FORBIDDEN')
    for (const nonsense of ['', 'x', 'member:', `member:${anyId()}:${dora.userId}`, dora.userId])
      expect(await codeOf(alice, CHANGE, change('EDITOR', nonsense))).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, CHANGE, change('EDITOR'))).toBe('UNAUTHENTICATED')
    expect(await standing()).toEqual({ ...START, dora: 'admin' })
    // The response shows the new role to a member who has given up the old one.
    const gaveUp = (await ask(bob, CHANGE, change('VIEWER', memberId(bob)))).changeMemberRole
    expect(gaveUp).toMatchObject({ member: { role: 'VIEWER' }, workspace: { role: 'VIEWER' } })
  })
})

describe('DELETE /api/workspaces/members/remove', () => {
  it('200 ends a membership immediately', async () => {
    const { status, msg, response } = await remove(bob, carol.userId)
    expect([status, msg, response]).toEqual([200, 'ok', null])
    const { carol: _gone, ...others } = START
    expect(await standing()).toEqual(others)
    expect((await carol.rest('GET', `/api/workspaces/${workspace_id}/files/tree`)).status).toBe(403)
    expect(
      (await carol.rest('GET', '/api/workspaces/list')).response.map(
        (w: object) => Object.values(w)[0],
      ),
    ).not.toContain(workspace_id)
    expect(outcome(await remove(bob, carol.userId))).toEqual([404, { code: 'MEMBER_NOT_FOUND' }])
  })

  it('200 lets every member leave except the last owner', async () => {
    for (const person of [dora, carol, bob])
      expect((await remove(person, person.userId)).response).toBeNull()
    expect(outcome(await remove(alice, alice.userId))).toEqual(LAST_OWNER)
    expect(await standing()).toEqual({ alice: 'owner' })
    expect(outcome(await remove(dora, dora.userId))).toEqual(FORBIDDEN)
    await join(t, workspace_id, bob, 'owner')
    expect((await remove(alice, alice.userId)).status).toBe(200)
    expect(await standing()).toEqual({ bob: 'owner' })
    expect(await ownerId()).toBe(bob.userId)
  })

  it('403 for an admin who removes an owner; an owner can', async () => {
    expect(outcome(await remove(bob, alice.userId))).toEqual(FORBIDDEN)
    await join(t, workspace_id, carol, 'owner')
    expect(outcome(await remove(bob, carol.userId))).toEqual(FORBIDDEN)
    expect((await remove(alice, carol.userId)).status).toBe(200)
    // Admins may remove other admins, but no owners.
    await join(t, workspace_id, dora, 'admin')
    expect((await remove(dora, bob.userId)).status).toBe(200)
    expect(await standing()).toEqual({ alice: 'owner', dora: 'admin' })
  })

  it('403 for editors, viewers and strangers, whichever member they name', async () => {
    for (const [person, user] of [
      [carol, dora.userId],
      [carol, alice.userId],
      [carol, mallory.userId],
      [dora, carol.userId],
      [dora, 'nonsense'],
      [mallory, dora.userId],
      [mallory, mallory.userId],
    ] as const)
      expect(outcome(await remove(person, user))).toEqual(FORBIDDEN)
    expect(await standing()).toEqual(START)
  })

  it('400 for missing parameters, or parameters in the body; 404 for a user who is not a member', async () => {
    for (const [query, field] of [
      [`workspace_id=${workspace_id}`, 'user_id'],
      [`user_id=${dora.userId}`, 'workspace_id'],
      [`workspace_id=${workspace_id}&user_id=${dora.userId}&user_id=${carol.userId}`, 'user_id'],
    ] as const)
      expect(
        outcome(await alice.rest('DELETE', `/api/workspaces/members/remove?${query}`)),
      ).toEqual([400, { code: 'INVALID_INPUT', field }])
    const both = await alice.rest(
      'DELETE',
      `/api/workspaces/members/remove?workspace_id=${workspace_id}&user_id=${dora.userId}`,
      { json: { user_id: carol.userId } },
    )
    expect(outcome(both)).toEqual([400, { code: 'INVALID_INPUT', field: 'user_id' }])
    for (const user of [mallory.userId, anyId(), 'nonsense', '🦊', dora.userId.toUpperCase()])
      expect(outcome(await remove(alice, user))).toEqual([404, { code: 'MEMBER_NOT_FOUND' }])
    expect(await standing()).toEqual(START)
  })

  it('permanently revokes the keys that the member has created', async () => {
    const { id, caller } = await workspaceKey(t, bob, workspace_id)
    const quota = () => caller.rest('GET', `/api/workspaces/${workspace_id}/quota`)
    expect((await quota()).status).toBe(200)
    await remove(alice, bob.userId)
    expect(outcome(await quota())).toEqual([401, { code: 'UNAUTHENTICATED' }])
    const query = `query ($id: ID!) { workspace(id: $id) { drive { events(kinds: [KEY_DELETED]) { nodes { subjectId actor { id } } } } } }`
    const { events } = (await ask(alice, query, { id: workspace_id })).workspace.drive
    expect(events.nodes).toEqual([{ subjectId: id, actor: { id: expect.anything() } }])
    await join(t, workspace_id, bob, 'viewer')
    expect((await quota()).status).toBe(401)
  })

  it('GraphQL: removeMember ends a membership', async () => {
    const REMOVE = `mutation ($input: RemoveMemberInput!) { removeMember(input: $input) {
      removedId workspace { id memberCount } } }`
    const of = (person: Person) => ({ input: { member: memberId(person) } })
    expect(await codeOf(carol, REMOVE, of(dora))).toBe('FORBIDDEN')
    expect(await codeOf(mallory, REMOVE, of(dora))).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, REMOVE, of(dora))).toBe('UNAUTHENTICATED')
    expect(await ask(bob, REMOVE, of(dora))).toEqual({
      removeMember: { removedId: memberId(dora), workspace: { id: workspace_id, memberCount: 3 } },
    })
    expect(await codeOf(bob, REMOVE, of(dora))).toBe('MEMBER_NOT_FOUND')
    expect(await codeOf(bob, REMOVE, of(alice))).toBe('FORBIDDEN')
    expect(await codeOf(alice, REMOVE, of(alice))).toBe('LAST_OWNER')
    // A member who has left no longer sees the workspace.
    expect((await ask(carol, REMOVE, of(carol))).removeMember).toEqual({
      removedId: memberId(carol),
      workspace: null,
    })
    expect(await standing()).toEqual({ alice: 'owner', bob: 'admin' })
  })
})
