import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v4 as anyId } from 'uuid'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, ROOMY } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime, at } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let mallory: Person
/** A new workspace for every test, owned by a new alice, because invites are limited per owner. */
let workspace_id: string

beforeAll(async () => {
  t = await startApp()
  await t.limit(ROOMY)
  mallory = await t.signIn('mallory')
  // Mails stay in the outbox.
  await t.app.worker.stop()
})
afterAll(() => t.stop())

let round = 0
beforeEach(async () => {
  ;[alice, bob] = await Promise.all([t.signIn(`alice${++round}`), t.signIn(`bob${round}`)])
  workspace_id = await found(alice, 'Garden')
})

const list = (person = alice, id = workspace_id) =>
  person.rest('GET', `/api/workspaces/invites?workspace_id=${id}`)
const invite = (json: object = {}, person = alice) =>
  person.rest('POST', '/api/workspaces/invites/create', {
    json: { workspace_id, email: bob.email, role: 'editor', ...json },
  })
const mine = async (person = bob) =>
  (await person.rest('GET', '/api/workspaces/invites/mine')).response
const accept = (token: unknown, person = bob) =>
  person.rest('POST', '/api/workspaces/invites/accept', { json: { token } })
const reject = (token: string, person = bob) =>
  person.rest('DELETE', `/api/workspaces/invites/reject?token=${encodeURIComponent(token)}`)
const remove = (invite_id: string, person = alice, id = workspace_id) =>
  person.rest(
    'DELETE',
    `/api/workspaces/invites/delete?workspace_id=${id}&invite_id=${encodeURIComponent(invite_id)}`,
  )
const outcome = ({ status, response }: RestAnswer) => [status, response]

/** The token of an invite to this workspace. */
async function invited(person = bob, role = 'editor'): Promise<string> {
  await invite({ email: person.email, role })
  const found = (await mine(person)).find(
    (i: { workspace_id: string }) => i.workspace_id === workspace_id,
  )
  return found.token
}
const rows = () =>
  t.app.db.rows<{ id: string; role: string; expires_at: number }>(
    'SELECT id, role, expires_at FROM invite WHERE workspace_id = ?',
    [workspace_id],
  )
const expire = () =>
  t.app.db.run('UPDATE invite SET expires_at = ? WHERE workspace_id = ?', [
    Date.now() - 1,
    workspace_id,
  ])
const members = async () => {
  const found = await t.app.db.rows<{ id: string; role: string }>(
    'SELECT user_id AS id, role FROM member WHERE workspace_id = ?',
    [workspace_id],
  )
  return Object.fromEntries(found.map(({ id, role }) => [id, role]))
}
/** The mails in the outbox, oldest first. */
const mails = async () =>
  (
    await t.app.db.rows<{ kind: string; payload: string }>(
      'SELECT kind, payload FROM outbox ORDER BY id',
    )
  )
    .filter(({ kind }) => kind === 'mail')
    .map(({ payload }) => JSON.parse(payload))
const FIELDS = `{ id email role invitedBy { id email } createdAt expiresAt workspace { id } workspaceName workspaceSlug token }`
const WEEK = 7 * 86_400_000
const FORBIDDEN = [403, { code: 'FORBIDDEN' }]

describe('POST /api/workspaces/invites/create', () => {
  it('200 invites an address for 7 days, and queues a mail with the link', async () => {
    const before = Date.now()
    const waiting = (await mails()).length
    const { status, msg, response } = await invite({
      email: ' New.Person@Example.COM ',
      role: 'admin',
    })
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      id: anId,
      workspace_id,
      email: 'new.person@example.com',
      role: 'admin',
      invited_by: alice.userId,
      created_at: aTime,
      expires_at: aTime,
    })
    expect(at(response.expires_at) - at(response.created_at)).toBe(WEEK)
    expect(at(response.created_at)).toBeGreaterThanOrEqual(before)
    const [mail, ...more] = (await mails()).slice(waiting)
    expect(more).toEqual([])
    const person = await t.signIn('new.person')
    const [{ token }] = await mine(person)
    expect(mail).toMatchObject({
      template: 'invite',
      to: 'new.person@example.com',
      values: { workspace: 'Garden', role: 'admin', link: `${t.url}/invite/${token}` },
    })
    // The stored data is not enough to join.
    const [row] = await t.app.db.rows<object>('SELECT * FROM invite WHERE id = ?', [response.id])
    expect(JSON.stringify(row)).not.toContain(token)
  })

  it('200 again for the same address renews the invite: one row, the same token, another role; another mail after an hour', async () => {
    const token = await invited(bob, 'viewer')
    const [first] = await rows()
    await expire()
    expect(await mine()).toEqual([])
    const waiting = (await mails()).length
    await invite({ email: bob.email, role: 'editor' })
    expect((await mails()).slice(waiting)).toEqual([])
    await t.app.db.run('UPDATE mail_notice SET sent_at = sent_at - 3600000')
    const again = await invite({ email: bob.email.toUpperCase(), role: 'admin' })
    expect(again.response).toMatchObject({ id: first?.id, role: 'admin' })
    expect((await rows()).map(({ id, role }) => [id, role])).toEqual([[first?.id, 'admin']])
    expect(await mine()).toMatchObject([{ token, role: 'admin' }])
    expect(at(again.response.expires_at)).toBeGreaterThan(Date.now() + WEEK - 60_000)
    expect((await mails()).slice(waiting)).toMatchObject([
      { to: bob.email, values: { role: 'admin' } },
    ])
    expect((await accept(token)).response.workspace.role).toBe('admin')
  })

  it('200 for ten concurrent requests creates one row', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => invite()))
    expect(answers.map(a => a.status)).toEqual(Array(10).fill(200))
    expect(new Set(answers.map(a => a.response.id)).size).toBe(1)
    expect(await rows()).toHaveLength(1)
  })

  it('200 for an admin, who may invite admins', async () => {
    await join(t, workspace_id, mallory, 'admin')
    expect((await invite({ role: 'admin' }, mallory)).response.invited_by).toBe(mallory.userId)
  })

  it.each<[string, object, string]>([
    ['no address', { email: undefined }, 'email'],
    ['an empty address', { email: '' }, 'email'],
    ['a name as address', { email: 'bob' }, 'email'],
    ['two addresses', { email: 'bob@example.com, carol@example.com' }, 'email'],
    ['an address with a line end', { email: 'bob@example.com\nBcc: carol@example.com' }, 'email'],
    ['an address of 321 characters', { email: `${'b'.repeat(309)}@example.com` }, 'email'],
    ['the role owner', { role: 'owner' }, 'role'],
    ['an unknown role', { role: 'king' }, 'role'],
    ['no role', { role: undefined }, 'role'],
    ['no workspace', { workspace_id: undefined }, 'workspace_id'],
    ['a number as workspace', { workspace_id: 7 }, 'workspace_id'],
    ['who invites', { invited_by: anyId() }, 'invited_by'],
    ['an end', { expires_at: '2036-01-01T00:00:00.000Z' }, 'expires_at'],
    ['a token', { token: 'x' }, 'token'],
  ])('400 for %s, and no mail', async (_what, json, field) => {
    const waiting = (await mails()).length
    expect(outcome(await invite(json))).toEqual([400, { code: 'INVALID_INPUT', field }])
    expect([await rows(), (await mails()).length]).toEqual([[], waiting])
  })

  it('400 for a member, and no mail', async () => {
    await join(t, workspace_id, bob, 'viewer')
    const waiting = (await mails()).length
    expect(outcome(await invite({ email: bob.email.toUpperCase() }))).toEqual([
      400,
      { code: 'ALREADY_A_MEMBER' },
    ])
    expect([await rows(), (await mails()).length]).toEqual([[], waiting])
  })

  it('403 for a foreign workspace in the body, whatever the URL names', async () => {
    const own = await found(mallory)
    const json = { workspace_id, email: bob.email, role: 'viewer' }
    expect(
      outcome(
        await mallory.rest('POST', `/api/workspaces/invites/create?workspace_id=${own}`, { json }),
      ),
    ).toEqual(FORBIDDEN)
    expect(await rows()).toEqual([])
  })

  it('429 for the thirty-first invite in a minute', async () => {
    const answers = await Promise.all(
      Array.from({ length: 33 }, (_, i) => invite({ email: `guest${i}@example.com` })),
    )
    expect(answers.map(a => a.status).sort()).toEqual([...Array(30).fill(200), 429, 429, 429])
    const limited = await invite()
    expect(outcome(limited)).toEqual([
      429,
      {
        code: 'RATE_LIMITED',
        retry_after: expect.any(Number),
        policy: 'invites',
        limit: 30,
        window: 60,
      },
    ])
    expect(limited.headers.get('retry-after')).toBe(String(limited.response.retry_after))
    expect(await rows()).toHaveLength(30)
  })

  it('GraphQL: createInvite invites and renews', async () => {
    const INVITE = `mutation ($input: CreateInviteInput!) { createInvite(input: $input) {
      invite ${FIELDS} workspace { id invites { nodes { id } } } } }`
    const input = { workspace: workspace_id, email: bob.email, role: 'VIEWER' }
    const { invite: made, workspace } = (await ask(alice, INVITE, { input })).createInvite
    expect(made).toEqual({
      id: anId,
      email: bob.email,
      role: 'VIEWER',
      invitedBy: { id: alice.userId, email: alice.email },
      createdAt: aTime,
      expiresAt: aTime,
      workspace: { id: workspace_id },
      workspaceName: 'Garden',
      workspaceSlug: expect.stringMatching(/^garden/),
      token: null,
    })
    expect(workspace).toEqual({ id: workspace_id, invites: { nodes: [{ id: made.id }] } })
    const renewed = (await ask(alice, INVITE, { input: { ...input, role: 'EDITOR' } })).createInvite
    expect(renewed).toMatchObject({ invite: { id: made.id, role: 'EDITOR' }, workspace })
    expect(await codeOf(alice, INVITE, { input: { ...input, role: 'OWNER' } })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(alice, INVITE, { input: { ...input, role: 'editor' } })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(alice, INVITE, { input: { ...input, email: 'bob' } })).toBe('INVALID_INPUT')
    expect(await codeOf(alice, INVITE, { input: { ...input, email: alice.email } })).toBe(
      'ALREADY_A_MEMBER',
    )
    expect(await codeOf(mallory, INVITE, { input })).toBe('FORBIDDEN')
    await join(t, workspace_id, mallory, 'editor')
    expect(await codeOf(mallory, INVITE, { input })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, INVITE, { input })).toBe('UNAUTHENTICATED')
    await t.limit({ maxPendingInvites: 1 })
    const beyond = await alice.graphql(INVITE, {
      input: { ...input, email: 'one.more@example.com' },
    })
    expect(beyond.errors?.[0]?.extensions).toEqual({
      code: 'QUOTA_EXCEEDED',
      limit: 'max_pending_invites',
      max: 1,
      used: 1,
    })
    await t.limit({ maxPendingInvites: null })
    expect(await rows()).toHaveLength(1)
  })
})

describe('GET /api/workspaces/invites', () => {
  it('200 lists the pending invites, oldest first, without their tokens', async () => {
    expect(outcome(await list())).toEqual([200, []])
    const first = (await invite({ email: 'first@example.com' })).response
    await expire()
    const second = (await invite()).response
    const third = (await invite({ email: 'third@example.com' })).response
    expect(outcome(await list())).toEqual([200, [second, third]])
    const renewed = (await invite({ email: 'first@example.com' })).response
    expect(renewed.id).toBe(first.id)
    expect((await list()).response).toEqual([renewed, second, third])
  })

  it('400 without a workspace', async () => {
    expect(outcome(await alice.rest('GET', '/api/workspaces/invites'))).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'workspace_id' },
    ])
  })

  it('GraphQL: workspace.invites lists the pending invites by page, without their tokens', async () => {
    const ids: string[] = []
    for (const email of ['one@example.com', 'two@example.com', bob.email])
      ids.push((await invite({ email })).response.id)
    const INVITES = `query ($id: ID!, $first: Int, $after: String) { workspace(id: $id) { name
      invites(first: $first, after: $after) { nodes ${FIELDS} pageInfo { hasNextPage endCursor } } } }`
    const page = async (variables: object) =>
      (await ask(alice, INVITES, { id: workspace_id, ...variables })).workspace.invites
    const first = await page({ first: 2 })
    const rest = await page({ first: 2, after: first.pageInfo.endCursor })
    expect([...first.nodes, ...rest.nodes].map(({ id }: { id: string }) => id)).toEqual(ids)
    expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false])
    expect(rest.nodes).toEqual([
      {
        id: ids[2],
        email: bob.email,
        role: 'EDITOR',
        invitedBy: { id: alice.userId, email: alice.email },
        createdAt: aTime,
        expiresAt: aTime,
        workspace: { id: workspace_id },
        workspaceName: 'Garden',
        workspaceSlug: expect.stringMatching(/^garden/),
        token: null,
      },
    ])
    expect(await codeOf(mallory, INVITES, { id: workspace_id })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, INVITES, { id: workspace_id })).toBe('UNAUTHENTICATED')
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Invite { email token } } }'
    expect(await ask(alice, NODE, { id: ids[0] })).toEqual({
      node: { email: 'one@example.com', token: null },
    })
    expect(await ask(mallory, NODE, { id: ids[0] })).toEqual({ node: null })
    for (const [role, visible] of [
      ['editor', null],
      ['admin', { nodes: ids.map(() => expect.anything()), pageInfo: expect.anything() }],
    ] as const) {
      await join(t, workspace_id, mallory, role)
      expect(await ask(mallory, INVITES, { id: workspace_id })).toEqual({
        workspace: { name: 'Garden', invites: visible },
      })
      expect((await ask(mallory, NODE, { id: ids[0] })).node === null).toBe(visible === null)
    }
  })
})

describe('GET /api/workspaces/invites/mine', () => {
  it('200 lists the invites of the caller, with their tokens', async () => {
    const carol = await t.signIn('carol-mine')
    expect(await mine(carol)).toEqual([])
    const { id, expires_at } = (await invite({ email: carol.email })).response
    const { workspace } = (
      await alice.rest('POST', '/api/workspaces/create', {
        json: { name: 'Second', slug: `second-${round}` },
      })
    ).response
    await invite({ workspace_id: workspace.workspace_id, email: carol.email, role: 'viewer' })
    const invites = await mine(carol)
    expect(invites[0]).toEqual({
      id,
      workspace_id,
      workspace_name: 'Garden',
      workspace_slug: expect.stringMatching(/^garden/),
      email: carol.email,
      token: expect.stringMatching(/^[\w-]{43}$/),
      role: 'editor',
      expires_at,
    })
    expect(invites[1]).toMatchObject({
      workspace_name: 'Second',
      workspace_slug: workspace.slug,
      role: 'viewer',
    })
    expect(invites).toHaveLength(2)
    await expire()
    expect(await mine(carol)).toMatchObject([{ workspace_name: 'Second' }])
  })

  it('200 hides invites to an address that the user has not verified', async () => {
    const claim = await t.signIn('claimed', { emailVerified: false })
    await invite({ email: claim.email })
    expect(await mine(claim)).toEqual([])
    const owner = await t.signIn('claimed@example.com')
    expect(owner.userId).toBe(claim.userId)
    expect(await mine(owner)).toHaveLength(1)
  })

  it('GraphQL: me.invites lists the invites of the caller, with their tokens', async () => {
    const carol = await t.signIn('carol-graph')
    const { id } = (await invite({ email: carol.email })).response
    const MINE = `{ me { invites { nodes ${FIELDS} } } }`
    const [{ token }] = await mine(carol)
    const { nodes } = (await ask(carol, MINE)).me.invites
    expect(nodes).toEqual([
      {
        id,
        workspaceName: 'Garden',
        workspaceSlug: expect.stringMatching(/^garden/),
        // The invited person is not a member yet.
        workspace: null,
        email: carol.email,
        token,
        role: 'EDITOR',
        invitedBy: { id: alice.userId, email: alice.email },
        createdAt: aTime,
        expiresAt: aTime,
      },
    ])
    const NODE = 'query ($id: ID!) { node(id: $id) { ... on Invite { token } } }'
    expect(await ask(carol, NODE, { id })).toEqual({ node: { token } })
    expect(await codeOf(t.anonymous, MINE)).toBe('UNAUTHENTICATED')
  })
})

describe('POST /api/workspaces/invites/accept', () => {
  it('200 adds the member once, with the current role of the invite', async () => {
    const token = await invited()
    const { status, msg, response } = await accept(token)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      workspace: {
        workspace_id,
        name: 'Garden',
        slug: expect.stringMatching(/^garden/),
        owner_id: alice.userId,
        created_at: aTime,
        role: 'editor',
      },
    })
    expect(await members()).toEqual({ [alice.userId]: 'owner', [bob.userId]: 'editor' })
    expect([await rows(), await mine()]).toEqual([[], []])
    expect(outcome(await accept(token))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
  })

  it('400 for an existing member, who keeps the role', async () => {
    const token = await invited(bob, 'admin')
    await join(t, workspace_id, bob, 'viewer')
    expect(outcome(await accept(token))).toEqual([400, { code: 'ALREADY_A_MEMBER' }])
    expect(await members()).toMatchObject({ [bob.userId]: 'viewer' })
  })

  it('400 without a token, and for unknown fields', async () => {
    const token = await invited()
    for (const [json, field] of [
      [{}, 'token'],
      [{ token: 7 }, 'token'],
      [{ token, role: 'owner' }, 'role'],
      [{ token, workspace_id }, 'workspace_id'],
      [{ token, user_id: mallory.userId }, 'user_id'],
    ] as const)
      expect(outcome(await bob.rest('POST', '/api/workspaces/invites/accept', { json }))).toEqual([
        400,
        { code: 'INVALID_INPUT', field },
      ])
    expect(await members()).toEqual({ [alice.userId]: 'owner' })
  })

  it("400 beyond the member limit of the owner's plan, exact to the last member", async () => {
    await t.limit({ maxUsersWorkspace: 4 })
    const guests = await Promise.all(Array.from({ length: 6 }, (_, i) => t.signIn(`guest${i}`)))
    const tokens: string[] = []
    for (const guest of guests) tokens.push(await invited(guest))
    const answers = await Promise.all(guests.map((guest, i) => accept(tokens[i], guest)))
    expect(answers.map(a => a.status).sort()).toEqual([200, 200, 200, 400, 400, 400])
    for (const { status, response } of answers)
      if (status === 400)
        expect(response).toEqual({
          code: 'QUOTA_EXCEEDED',
          limit: 'max_users_workspace',
          max: 4,
          used: 4,
        })
    expect(Object.keys(await members())).toHaveLength(4)
    // The invites of people who came too late remain valid.
    await t.limit(ROOMY)
    const late = answers.findIndex(a => a.status === 400)
    expect((await accept(tokens[late], guests[late])).status).toBe(200)
  })

  it('403 for another address, also an unverified one', async () => {
    const token = await invited()
    for (const person of [mallory, alice])
      expect(outcome(await accept(token, person))).toEqual([403, { code: 'INVITE_NOT_FOR_YOU' }])
    const claim = await t.signIn('claimer', { emailVerified: false })
    const forClaim = await invite({ email: claim.email })
    expect(forClaim.status).toBe(200)
    const [{ token: theirs }] = await mine(await t.signIn('claimer@example.com'))
    await t.app.db.run('UPDATE user SET verified_email = NULL WHERE id = ?', [claim.userId])
    expect(outcome(await accept(theirs, claim))).toEqual([403, { code: 'INVITE_NOT_FOR_YOU' }])
    expect(await members()).toEqual({ [alice.userId]: 'owner' })
  })

  it('403 for an expired invite, until it is renewed', async () => {
    const token = await invited()
    await expire()
    expect(outcome(await accept(token))).toEqual([403, { code: 'INVITE_EXPIRED' }])
    expect(await members()).toEqual({ [alice.userId]: 'owner' })
    await invite()
    expect((await accept(token)).status).toBe(200)
  })

  it('404 for an invite that is unknown, withdrawn or rejected, or whose workspace is deleted', async () => {
    const first = await invited()
    const flipped = first.slice(0, -2) + (first.at(-2) === 'A' ? 'B' : 'A') + first.slice(-1)
    const [row] = await rows()
    for (const token of ['nonsense', '🦊', first.slice(1), flipped, row?.id, ''])
      expect(outcome(await accept(token))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
    await remove(row?.id ?? '')
    expect(outcome(await accept(first))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
    const second = await invited()
    await alice.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspace_id}`)
    expect(outcome(await accept(second))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
  })

  it('GraphQL: acceptInvite adds the member', async () => {
    const ACCEPT = `mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) {
      acceptedId workspace { id name role } viewer { invites { nodes { id } } workspaces { nodes { id } } } } }`
    const input = { token: await invited() }
    const [pending] = await rows()
    expect(await codeOf(mallory, ACCEPT, { input })).toBe('INVITE_NOT_FOR_YOU')
    expect(await codeOf(t.anonymous, ACCEPT, { input })).toBe('UNAUTHENTICATED')
    await t.limit({ maxUsersWorkspace: 1 })
    expect(await codeOf(bob, ACCEPT, { input })).toBe('QUOTA_EXCEEDED')
    await t.limit(ROOMY)
    expect((await ask(bob, ACCEPT, { input })).acceptInvite).toEqual({
      acceptedId: pending?.id,
      workspace: { id: workspace_id, name: 'Garden', role: 'EDITOR' },
      viewer: { invites: { nodes: [] }, workspaces: { nodes: [{ id: workspace_id }] } },
    })
    expect(await codeOf(bob, ACCEPT, { input })).toBe('INVITE_NOT_FOUND')
    const carol = await t.signIn(`carol${round}`)
    const late = { token: await invited(carol) }
    await join(t, workspace_id, carol, 'viewer')
    expect(await codeOf(carol, ACCEPT, { input: late })).toBe('ALREADY_A_MEMBER')
    const dora = await t.signIn(`dora${round}`)
    const expired = { token: await invited(dora) }
    await expire()
    expect(await codeOf(dora, ACCEPT, { input: expired })).toBe('INVITE_EXPIRED')
  })
})

describe('DELETE /api/workspaces/invites/reject', () => {
  it('200 lets the invited person reject the invite', async () => {
    const token = await invited()
    const { status, msg, response } = await reject(token)
    expect([status, msg, response]).toEqual([200, 'ok', null])
    expect([await rows(), await mine(), (await list()).response]).toEqual([[], [], []])
    expect(outcome(await accept(token))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
    expect((await invite()).status).toBe(200)
  })

  it('200 for an expired invite, too', async () => {
    const token = await invited()
    await expire()
    expect((await reject(token)).status).toBe(200)
    expect(await rows()).toEqual([])
  })

  it('400 without a token, or with a token in the body; 403 for another user; 404 for an unknown invite', async () => {
    const token = await invited()
    const wrong = [400, { code: 'INVALID_INPUT', field: 'token' }]
    expect(outcome(await bob.rest('DELETE', '/api/workspaces/invites/reject'))).toEqual(wrong)
    expect(
      outcome(await bob.rest('DELETE', '/api/workspaces/invites/reject', { json: { token } })),
    ).toEqual(wrong)
    for (const person of [mallory, alice])
      expect(outcome(await reject(token, person))).toEqual([403, { code: 'INVITE_NOT_FOR_YOU' }])
    expect(outcome(await reject('nonsense'))).toEqual([404, { code: 'INVITE_NOT_FOUND' }])
    expect(await rows()).toHaveLength(1)
  })

  it('GraphQL: rejectInvite rejects an invite', async () => {
    const REJECT = `mutation ($input: RejectInviteInput!) { rejectInvite(input: $input) {
      rejectedId viewer { invites { nodes { id } } } } }`
    const input = { token: await invited() }
    const [pending] = await rows()
    expect(await codeOf(mallory, REJECT, { input })).toBe('INVITE_NOT_FOR_YOU')
    expect(await codeOf(t.anonymous, REJECT, { input })).toBe('UNAUTHENTICATED')
    expect((await ask(bob, REJECT, { input })).rejectInvite).toEqual({
      rejectedId: pending?.id,
      viewer: { invites: { nodes: [] } },
    })
    expect(await codeOf(bob, REJECT, { input })).toBe('INVITE_NOT_FOUND')
  })
})

describe('DELETE /api/workspaces/invites/delete', () => {
  it('200 withdraws an invite', async () => {
    const token = await invited()
    const [row] = await rows()
    await join(t, workspace_id, mallory, 'admin')
    const { status, msg, response } = await remove(row?.id ?? '', mallory)
    expect([status, msg, response]).toEqual([200, 'ok', { invite_id: row?.id }])
    expect([await rows(), await mine()]).toEqual([[], []])
    expect((await accept(token)).status).toBe(404)
  })

  it('400 for an invite of another workspace, as for an unknown invite', async () => {
    const other = await found(alice)
    const foreign = (await invite({ workspace_id: other })).response.id
    const answers = [foreign, anyId(), 'nonsense', '🦊'].map(id => remove(id))
    for (const { status, response } of await Promise.all(answers))
      expect([status, response]).toEqual([400, { code: 'INVITE_NOT_FOUND' }])
    expect((await list(alice, other)).response).toHaveLength(1)
    await remove(foreign, alice, other)
  })

  it('400 for missing parameters, or parameters in the body; 403 for the invited user', async () => {
    const { id } = (await invite()).response
    for (const [query, field] of [
      [`workspace_id=${workspace_id}`, 'invite_id'],
      [`invite_id=${id}`, 'workspace_id'],
    ] as const)
      expect(
        outcome(await alice.rest('DELETE', `/api/workspaces/invites/delete?${query}`)),
      ).toEqual([400, { code: 'INVALID_INPUT', field }])
    const both = await alice.rest(
      'DELETE',
      `/api/workspaces/invites/delete?workspace_id=${workspace_id}&invite_id=${id}`,
      {
        json: { workspace_id: anyId() },
      },
    )
    expect(outcome(both)).toEqual([400, { code: 'INVALID_INPUT', field: 'workspace_id' }])
    // The invited user rejects the invite instead.
    expect(outcome(await remove(id, bob))).toEqual(FORBIDDEN)
    expect(await rows()).toHaveLength(1)
  })

  it('GraphQL: revokeInvite withdraws an invite', async () => {
    const REVOKE = `mutation ($input: RevokeInviteInput!) { revokeInvite(input: $input) {
      revokedId workspace { id invites { nodes { id } } } } }`
    const { id } = (await invite()).response
    const input = { invite: id }
    // An invite that the caller may not see counts as missing.
    expect(await codeOf(mallory, REVOKE, { input })).toBe('INVITE_NOT_FOUND')
    await join(t, workspace_id, mallory, 'editor')
    expect(await codeOf(mallory, REVOKE, { input })).toBe('FORBIDDEN')
    expect(await codeOf(t.anonymous, REVOKE, { input })).toBe('UNAUTHENTICATED')
    expect((await ask(alice, REVOKE, { input })).revokeInvite).toEqual({
      revokedId: id,
      workspace: { id: workspace_id, invites: { nodes: [] } },
    })
    for (const invite of [id, anyId(), 'nonsense'])
      expect(await codeOf(alice, REVOKE, { input: { invite } })).toBe('INVITE_NOT_FOUND')
  })
})
