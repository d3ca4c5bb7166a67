import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  anotherIdentity,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let garden: string

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, OPERATORS: 'olga@example.com' })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  garden = await found(alice)
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

/** The data of an operation without errors. */
async function ask(person: Person, query: string, variables: object = {}): Promise<Anything> {
  const { data, errors } = await person.graphql<Anything>(query, variables)
  expect(errors).toBeUndefined()
  return data
}

/** The error code of a refused mutation, whose payload is null. */
async function refusal(person: Person, name: string, input: object): Promise<string | undefined> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`
  const { data, code } = await person.graphql<Anything>(query, { input })
  if (code !== undefined) expect(data).toEqual({ [name]: null })
  return code
}

/** The payload of a mutation. */
async function change(
  person: Person,
  name: string,
  input: object,
  payload: string,
): Promise<Anything> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
  const data = await ask(
    person,
    `mutation ($input: ${type}!) { ${name}(input: $input) { ${payload} } }`,
    { input },
  )
  return data[name]
}

const node = async (person: Person, id: string): Promise<Anything> =>
  (await ask(person, 'query ($id: ID!) { node(id: $id) { __typename id } }', { id })).node

describe('the account of the caller', () => {
  it('shows the user, the plan, the drive and the statistics', async () => {
    const { me } = await ask(
      alice,
      `{ me { id person { id name email picture } email emailVerified name givenName familyName picture locale
           plan { id maxBytes maxApiKeys } drive { id owner { ... on Person { id } } }
           statistics { totalFiles totalBytes ownedWorkspaces dailyUploads { day count } }
           identities { id provider email } sessions { id device current } signInNotices unseenShareCount } }`,
    )
    expect(me).toMatchObject({
      id: `viewer:${alice.userId}`,
      person: { id: alice.userId, name: 'alice', email: alice.email, picture: null },
      emailVerified: true,
      plan: { id: 'free' },
      drive: { owner: { id: alice.userId } },
      statistics: { ownedWorkspaces: 1 },
      identities: [{ provider: 'test' }],
      sessions: [{ current: true }],
      signInNotices: false,
      unseenShareCount: 0,
    })
    expect(me.statistics.dailyUploads).toHaveLength(7)
  })

  it('hides sessions, identities, keys and workspaces from a key', async () => {
    const reader = (await privateKey(t, alice, ['private_files:read'])).caller
    const { data, errors } = await reader.graphql<Anything>(
      '{ me { email sessions { id } identities { id } apiKeys { nodes { id } } workspaces { nodes { id } } invites { nodes { id } } } }',
    )
    expect(data.me).toEqual({
      email: alice.email,
      sessions: null,
      identities: null,
      apiKeys: null,
      workspaces: null,
      invites: null,
    })
    expect(errors?.map(e => e.extensions.code)).toEqual(Array(5).fill('KEY_OUT_OF_BOUNDS'))
    const key = (await workspaceKey(t, alice, garden)).caller
    expect((await key.graphql('{ me { id } }')).code).toBe('KEY_OUT_OF_BOUNDS')
    expect((await t.anonymous.graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
  })

  it('finds its own nodes, and no nodes of others', async () => {
    const { me } = await ask(alice, '{ me { id person { id } identities { id } sessions { id } } }')
    for (const id of [me.id, me.person.id, me.identities[0].id, me.sessions[0].id]) {
      expect(await node(alice, id)).toMatchObject({ id })
      expect(await node(bob, id)).toBeNull()
    }
  })

  it('ends sessions, and shows whether new sessions are announced', async () => {
    const carol = await t.signIn('carol')
    const again = await t.signIn('carol')
    const { sessions } = (await ask(carol, '{ me { sessions { id current } } }')).me
    const other = sessions.find((s: Anything) => !s.current).id
    expect(
      await change(
        carol,
        'endSession',
        { session: other },
        'endedId viewer { sessions { current } }',
      ),
    ).toEqual({
      endedId: other,
      viewer: { sessions: [{ current: true }] },
    })
    expect((await again.graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
    expect(await refusal(carol, 'endSession', { session: other })).toBe('SESSION_NOT_FOUND')
    await t.signIn('carol')
    const { endOtherSessions } = await ask(
      carol,
      'mutation { endOtherSessions { count viewer { sessions { id } } } }',
    )
    expect(endOtherSessions).toMatchObject({ count: 1, viewer: { sessions: [{}] } })
    const noted = await change(
      carol,
      'setSignInNotices',
      { enabled: true },
      'viewer { signInNotices }',
    )
    expect(noted).toEqual({ viewer: { signInNotices: true } })
  })

  it('removes an identity but not the last one, and can be deleted', async () => {
    const dave = await t.signIn('dave')
    const lab = await anotherIdentity(t, dave)
    expect(
      await change(
        dave,
        'removeIdentity',
        { identity: lab },
        'removedId viewer { identities { provider } }',
      ),
    ).toEqual({ removedId: lab, viewer: { identities: [{ provider: 'test' }] } })
    expect(await refusal(dave, 'removeIdentity', { identity: lab })).toBe('IDENTITY_NOT_FOUND')
    const { me } = await ask(dave, '{ me { drive { id } identities { id } } }')
    expect(await refusal(dave, 'removeIdentity', { identity: me.identities[0].id })).toBe(
      'LAST_IDENTITY',
    )
    const gone = await change(
      dave,
      'deleteAccount',
      { deleteUserData: true },
      'deletedId email driveId driveDeleted',
    )
    expect(gone).toEqual({
      deletedId: dave.userId,
      email: dave.email,
      driveId: me.drive.id,
      driveDeleted: true,
    })
    expect((await dave.graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
  })
})

describe('workspaces', () => {
  it('are created, shown, renamed and deleted', async () => {
    const { workspace, viewer } = await change(
      alice,
      'createWorkspace',
      { name: 'The Lab' },
      'workspace { id name slug role owner { id } memberCount maxMembers apiKeyCount drive { id } members { nodes { id role person { name } workspace { id } } } } viewer { workspaces { nodes { id } } }',
    )
    expect(workspace).toMatchObject({
      name: 'The Lab',
      slug: 'the-lab',
      role: 'OWNER',
      owner: { id: alice.userId },
      memberCount: 1,
      apiKeyCount: 0,
      members: {
        nodes: [{ role: 'OWNER', person: { name: 'alice' }, workspace: { id: workspace.id } }],
      },
    })
    expect(viewer.workspaces.nodes).toContainEqual({ id: workspace.id })
    const bySlug = await ask(
      alice,
      '{ workspace(slug: "the-lab") { id drive { owner { ... on Workspace { name } } } } }',
    )
    expect(bySlug.workspace).toEqual({ id: workspace.id, drive: { owner: { name: 'The Lab' } } })
    const renamed = await change(
      alice,
      'updateWorkspace',
      { workspace: workspace.id, slug: 'lab' },
      'workspace { id name slug }',
    )
    expect(renamed.workspace).toEqual({ id: workspace.id, name: 'The Lab', slug: 'lab' })
    expect(await refusal(alice, 'createWorkspace', { name: 'x', slug: 'lab' })).toBe('SLUG_TAKEN')
    for (const id of [workspace.id, workspace.members.nodes[0].id]) {
      expect(await node(alice, id)).toMatchObject({ id })
      expect(await node(bob, id)).toBeNull()
    }
    for (const name of ['updateWorkspace', 'deleteWorkspace'])
      expect(await refusal(bob, name, { workspace: workspace.id })).toBe('FORBIDDEN')
    expect(
      await change(alice, 'deleteWorkspace', { workspace: workspace.id }, 'deletedId'),
    ).toEqual({
      deletedId: workspace.id,
    })
    expect((await alice.graphql('{ workspace(slug: "lab") { id } }')).code).toBe('FORBIDDEN')
  })

  it('are named by id or slug, but not by both', async () => {
    expect((await alice.graphql(`{ workspace(id: "${garden}", slug: "x") { id } }`)).code).toBe(
      'INVALID_INPUT',
    )
    expect((await alice.graphql('{ workspace { id } }')).code).toBe('INVALID_INPUT')
    const key = (await workspaceKey(t, alice, garden, ['workspaces:read'])).caller
    const { data, errors } = await key.graphql<Anything>(
      '{ workspace { id memberCount drive { usage { fileCount } } members { nodes { id } } invites { nodes { id } } apiKeys { nodes { id } } } }',
    )
    expect(data.workspace).toEqual({
      id: garden,
      memberCount: expect.any(Number),
      drive: null,
      members: null,
      invites: null,
      apiKeys: null,
    })
    expect(errors?.map(e => e.extensions.code).sort()).toEqual([
      'INSUFFICIENT_SCOPE',
      'INSUFFICIENT_SCOPE',
      'INSUFFICIENT_SCOPE',
      'KEY_OUT_OF_BOUNDS',
    ])
    // Any key finds its drive, and sees no more than its scopes allow.
    const writer = (await workspaceKey(t, alice, garden, ['workspaces:files:write'])).caller
    const known = await ask(writer, '{ workspace { id drive { id permissions } } }')
    expect(known.workspace).toEqual({ id: garden, drive: { id: anId, permissions: ['WRITE'] } })
    for (const field of [
      'name',
      'slug',
      'role',
      'createdAt',
      'owner { id }',
      'drive { owner { ... on Workspace { name } } }',
    ])
      expect((await writer.graphql(`{ workspace { ${field} } }`)).code).toBe('INSUFFICIENT_SCOPE')
    const other = await found(alice, 'Other')
    expect((await key.graphql(`{ workspace(id: "${other}") { id } }`)).code).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
    const own = (await privateKey(t, alice)).caller
    expect((await own.graphql(`{ workspace(id: "${garden}") { id } }`)).code).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
  })

  it('load members and limits in as many statements for three workspaces as for one', async () => {
    const erin = await t.signIn('erin')
    const query =
      '{ me { workspaces { nodes { id owner { name } memberCount members { nodes { person { name } } } } } } }'
    const count = async () => {
      t.statements()
      await ask(erin, query)
      return t.statements().length
    }
    await found(erin, 'One')
    const one = await count()
    await found(erin, 'Two')
    await found(erin, 'Three')
    expect(await count()).toBe(one)
  })

  it('invite people, who join, get another role and leave', async () => {
    const workspace = await found(alice, 'Orchard')
    const invited = await change(
      alice,
      'createInvite',
      { workspace, email: bob.email, role: 'VIEWER' },
      'invite { id email role token workspaceName invitedBy { id } } workspace { invites { nodes { id } } }',
    )
    const { id } = invited.invite
    expect(invited).toEqual({
      invite: {
        id,
        email: bob.email,
        role: 'VIEWER',
        token: null,
        workspaceName: 'Orchard',
        invitedBy: { id: alice.userId },
      },
      workspace: { invites: { nodes: [{ id }] } },
    })
    const { me } = await ask(
      bob,
      '{ me { invites { nodes { id token workspaceId workspaceName workspace { id } invitedBy { name } } } } }',
    )
    const [invite] = me.invites.nodes
    expect(invite).toMatchObject({
      id,
      workspaceId: workspace,
      workspaceName: 'Orchard',
      workspace: null,
      invitedBy: { name: 'alice' },
    })
    expect(await node(bob, id)).toEqual({ __typename: 'Invite', id })
    expect(await node(alice, id)).toEqual({ __typename: 'Invite', id })
    expect(await node(await t.signIn('mallory'), id)).toBeNull()
    const { token } = invite
    expect(await refusal(alice, 'acceptInvite', { token })).toBe('INVITE_NOT_FOR_YOU')
    const accepted = await change(
      bob,
      'acceptInvite',
      { token },
      'acceptedId workspace { id role invites { nodes { id } } } viewer { invites { nodes { id } } }',
    )
    expect(accepted).toEqual({
      acceptedId: id,
      workspace: { id: workspace, role: 'VIEWER', invites: null },
      viewer: { invites: { nodes: [] } },
    })
    expect(
      await refusal(bob, 'createInvite', { workspace, email: 'x@example.com', role: 'VIEWER' }),
    ).toBe('FORBIDDEN')
    expect(
      await refusal(alice, 'createInvite', { workspace, email: bob.email, role: 'VIEWER' }),
    ).toBe('ALREADY_A_MEMBER')
    const member = `member:${workspace}:${bob.userId}`
    expect(await node(bob, member)).toEqual({ __typename: 'Member', id: member })
    expect(await node(bob, alice.userId)).toEqual({ __typename: 'Person', id: alice.userId })
    expect(await refusal(bob, 'changeMemberRole', { member, role: 'ADMIN' })).toBe('FORBIDDEN')
    const promoted = await change(
      alice,
      'changeMemberRole',
      { member, role: 'EDITOR' },
      'member { id role person { id } } workspace { memberCount }',
    )
    expect(promoted).toEqual({
      member: { id: member, role: 'EDITOR', person: { id: bob.userId } },
      workspace: { memberCount: 2 },
    })
    const rights = `query ($id: ID!) { workspace(id: $id) { permissions
      members { nodes { person { id } assignableRoles isRemovable } } } }`
    const everybody = [{ id: alice.userId }, { id: bob.userId }]
    const seenBy = async (person: Person) =>
      (await ask(person, rights, { id: workspace })).workspace
    const rightsOver = (...given: [string[], boolean][]) =>
      given.map(([assignableRoles, isRemovable], at) => ({
        person: everybody[at],
        assignableRoles,
        isRemovable,
      }))
    const every = ['OWNER', 'ADMIN', 'EDITOR', 'VIEWER']
    expect(await seenBy(alice)).toEqual({
      permissions: [
        'RENAME',
        'DELETE',
        'SEE_MEMBERS',
        'CHANGE_ROLES',
        'INVITE',
        'MANAGE_KEYS',
        'MANAGE_WEBHOOKS',
      ],
      members: { nodes: rightsOver([every, true], [every, true]) },
    })
    expect(await seenBy(bob)).toEqual({
      permissions: ['SEE_MEMBERS'],
      members: { nodes: rightsOver([[], false], [[], true]) },
    })
    await change(alice, 'changeMemberRole', { member, role: 'ADMIN' }, 'member { id }')
    expect(await seenBy(bob)).toEqual({
      permissions: ['SEE_MEMBERS', 'CHANGE_ROLES', 'INVITE', 'MANAGE_KEYS', 'MANAGE_WEBHOOKS'],
      members: { nodes: rightsOver([[], false], [every.slice(1), true]) },
    })
    const key = (
      await workspaceKey(t, alice, workspace, ['workspaces:read', 'workspaces:members:read'])
    ).caller
    expect(await seenBy(key)).toEqual({
      permissions: ['SEE_MEMBERS'],
      members: { nodes: rightsOver([[], false], [[], false]) },
    })
    const own = `member:${workspace}:${alice.userId}`
    expect(await refusal(alice, 'removeMember', { member: own })).toBe('LAST_OWNER')
    expect(await refusal(bob, 'removeMember', { member: own })).toBe('FORBIDDEN')
    expect(await change(bob, 'removeMember', { member }, 'removedId workspace { id }')).toEqual({
      removedId: member,
      workspace: null,
    })
    expect(await refusal(alice, 'removeMember', { member })).toBe('MEMBER_NOT_FOUND')
    expect(await refusal(alice, 'removeMember', { member: 'nobody' })).toBe('FORBIDDEN')
  })

  it('withdraw invites, and recipients decline invites', async () => {
    const invite = async () =>
      (
        await change(
          alice,
          'createInvite',
          { workspace: garden, email: bob.email, role: 'EDITOR' },
          'invite { id }',
        )
      ).invite.id
    const id = await invite()
    expect(await refusal(bob, 'revokeInvite', { invite: id })).toBe('INVITE_NOT_FOUND')
    const revoked = await change(
      alice,
      'revokeInvite',
      { invite: id },
      'revokedId workspace { id }',
    )
    expect(revoked).toEqual({ revokedId: id, workspace: { id: garden } })
    expect(await refusal(alice, 'revokeInvite', { invite: id })).toBe('INVITE_NOT_FOUND')
    const again = await invite()
    const { me } = await ask(bob, '{ me { invites { nodes { token } } } }')
    const { token } = me.invites.nodes[0]
    expect(await change(bob, 'rejectInvite', { token }, 'rejectedId')).toEqual({
      rejectedId: again,
    })
    expect(await refusal(bob, 'rejectInvite', { token })).toBe('INVITE_NOT_FOUND')
  })
})

describe('API keys', () => {
  const fields = 'id name status scopes hint lastUsedAt createdBy { id } workspace { id }'

  it('are created, listed and deleted for the user', async () => {
    const input = { name: 'backup', scopes: ['PRIVATE_FILES_READ'], expiresIn: '1d' }
    const { apiKey, secret, workspace } = await change(
      alice,
      'createApiKey',
      input,
      `apiKey { ${fields} } secret workspace { id }`,
    )
    expect(apiKey).toEqual({
      id: apiKey.id,
      name: 'backup',
      status: 'ACTIVE',
      scopes: ['PRIVATE_FILES_READ'],
      hint: secret.slice(-4),
      lastUsedAt: null,
      createdBy: { id: alice.userId },
      workspace: null,
    })
    expect(workspace).toBeNull()
    const { me } = await ask(alice, `{ me { apiKeys { nodes { ${fields} } } } }`)
    expect(me.apiKeys.nodes).toContainEqual(apiKey)
    expect(await node(alice, apiKey.id)).toEqual({ __typename: 'ApiKey', id: apiKey.id })
    expect(await node(t.withKey(secret), apiKey.id)).toBeNull()
    expect(await refusal(bob, 'deleteApiKey', { apiKey: apiKey.id })).toBe('API_KEY_NOT_FOUND')
    expect(await refusal(t.withKey(secret), 'deleteApiKey', { apiKey: apiKey.id })).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
    expect(await refusal(t.withKey(secret), 'createApiKey', input)).toBe('KEY_OUT_OF_BOUNDS')
    expect(await refusal(alice, 'createApiKey', { ...input, scopes: ['WORKSPACES_READ'] })).toBe(
      'INVALID_SCOPE',
    )
    const { deletedId } = await change(alice, 'deleteApiKey', { apiKey: apiKey.id }, 'deletedId')
    expect(deletedId).toBe(apiKey.id)
    expect(await refusal(alice, 'deleteApiKey', { apiKey: apiKey.id })).toBe('API_KEY_NOT_FOUND')
  })

  it('are created, listed and deleted for a workspace by its managers', async () => {
    const ed = await t.signIn('ed')
    await join(t, garden, ed, 'editor')
    const input = {
      workspace: garden,
      name: 'robot',
      scopes: ['WORKSPACES_READ', 'WORKSPACES_FILES_READ'],
    }
    expect(await refusal(ed, 'createApiKey', input)).toBe('FORBIDDEN')
    expect(await refusal(bob, 'createApiKey', input)).toBe('FORBIDDEN')
    const made = await change(
      alice,
      'createApiKey',
      input,
      `apiKey { ${fields} } workspace { apiKeys { nodes { id } } }`,
    )
    const { id } = made.apiKey
    expect(made.apiKey.workspace).toEqual({ id: garden })
    expect(made.workspace.apiKeys.nodes).toContainEqual({ id })
    expect(await node(alice, id)).toMatchObject({ id })
    expect(await node(ed, id)).toBeNull()
    expect(
      (await ask(ed, `{ workspace(id: "${garden}") { apiKeys { nodes { id } } } }`)).workspace
        .apiKeys,
    ).toBeNull()
    expect(await refusal(ed, 'deleteApiKey', { apiKey: id })).toBe('FORBIDDEN')
    expect(await refusal(bob, 'deleteApiKey', { apiKey: id })).toBe('API_KEY_NOT_FOUND')
    expect(await change(alice, 'deleteApiKey', { apiKey: id }, 'deletedId')).toEqual({
      deletedId: id,
    })
  })
})

describe('shares', () => {
  const fields =
    '__typename id token url fileName size passwordProtected downloads maxDownloads sharedBy { id } file { id path }'

  it('are links that open until they are revoked', async () => {
    await alice.upload('shared/a.txt', 'hello', 'text/plain')
    const input = { entries: { at: { path: 'shared/a.txt' } }, maxDownloads: 2, password: 'secret' }
    const { share, file } = await change(
      alice,
      'createLink',
      input,
      `share { ${fields} } file { id path shareCount shares { nodes { id } } }`,
    )
    expect(share).toEqual({
      __typename: 'LinkShare',
      id: share.id,
      token: share.token,
      url: `${t.url}/share/${share.token}`,
      fileName: 'a.txt',
      size: 5,
      passwordProtected: true,
      downloads: 0,
      maxDownloads: 2,
      sharedBy: { id: alice.userId },
      file: { id: file.id, path: 'shared/a.txt' },
    })
    expect(file).toMatchObject({ shareCount: 1, shares: { nodes: [{ id: share.id }] } })
    const preview = await ask(
      t.anonymous,
      `{ share(token: "${share.token}") { fileName size passwordProtected } }`,
    )
    expect(preview.share).toEqual({ fileName: 'a.txt', size: 5, passwordProtected: true })
    expect(await refusal(t.anonymous, 'openShare', { token: share.token })).toBe(
      'PASSWORD_REQUIRED',
    )
    expect(await refusal(t.anonymous, 'openShare', { token: share.token, password: 'wrong' })).toBe(
      'WRONG_PASSWORD',
    )
    const { download } = await change(
      t.anonymous,
      'openShare',
      { token: share.token, password: 'secret', disposition: 'INLINE' },
      'download { url fileName expiresAt }',
    )
    expect(await (await fetch(download.url)).text()).toBe('hello')
    const { me } = await ask(alice, '{ me { shares(kind: LINK) { nodes { id downloads } } } }')
    expect(me.shares.nodes).toEqual([{ id: share.id, downloads: 1 }])
    expect(await node(alice, share.id)).toEqual({ __typename: 'LinkShare', id: share.id })
    expect(await node(bob, share.id)).toBeNull()
    // An id alone does not reveal whether a share exists.
    expect(await refusal(bob, 'revokeShare', { share: { id: share.id } })).toBe('SHARE_NOT_FOUND')
    expect(await refusal(bob, 'revokeShare', { share: { token: share.token } })).toBe('FORBIDDEN')
    const revoked = await change(
      alice,
      'revokeShare',
      { share: { id: share.id } },
      'revokedId file { id shareCount }',
    )
    expect(revoked).toEqual({ revokedId: share.id, file: { id: file.id, shareCount: 0 } })
    expect(await refusal(alice, 'revokeShare', { share: { id: 'nothing' } })).toBe(
      'SHARE_NOT_FOUND',
    )
    expect(await refusal(alice, 'createLink', { entries: { at: { path: 'none' } } })).toBe(
      'FILE_NOT_FOUND',
    )
    const byId = await change(
      alice,
      'createLink',
      { entries: { id: file.id } },
      'share { file { id } }',
    )
    expect(byId.share.file.id).toBe(file.id)
    expect(await refusal(bob, 'createLink', { entries: { id: file.id } })).toBe('FILE_NOT_FOUND')
  })

  it('are for one person, who sees them', async () => {
    const carl = await t.signIn('carl')
    await alice.upload('shared/b.txt', 'b', 'text/plain')
    await alice.upload('shared/c.txt', 'c', 'text/plain')
    const { file } = await change(
      alice,
      'createLink',
      { entries: { at: { path: 'shared/c.txt' } } },
      'file { id }',
    )
    const input = {
      entries: [{ at: { path: 'shared/b.txt' } }, { id: file.id }],
      email: carl.email,
      sendEmail: false,
    }
    const { shares, mail } = await change(
      alice,
      'createDirectShare',
      input,
      'shares { __typename id fileName recipient seen file { shareCount shares(kind: DIRECT) { nodes { id } } } } mail',
    )
    expect(shares).toEqual([
      {
        __typename: 'DirectShare',
        id: shares[0].id,
        fileName: 'b.txt',
        recipient: carl.email,
        seen: false,
        file: { shareCount: 1, shares: { nodes: [{ id: shares[0].id }] } },
      },
      expect.objectContaining({
        fileName: 'c.txt',
        file: { shareCount: 2, shares: { nodes: [{ id: shares[1].id }] } },
      }),
    ])
    expect(mail).toBe('NOT_SENT')
    const { me } = await ask(
      carl,
      `{ me { unseenShareCount receivedShares(seen: false, first: 1) { nodes { ${fields} recipient seen } pageInfo { hasNextPage } } } }`,
    )
    expect(me.unseenShareCount).toBe(2)
    expect(me.receivedShares.pageInfo.hasNextPage).toBe(true)
    const [first] = me.receivedShares.nodes
    expect(first).toMatchObject({
      fileName: 'b.txt',
      file: null,
      sharedBy: { id: alice.userId },
      seen: false,
    })
    expect(await node(carl, first.id)).toEqual({ __typename: 'DirectShare', id: first.id })
    expect(await refusal(bob, 'markShareSeen', { share: { id: first.id } })).toBe('SHARE_NOT_FOUND')
    const seen = await change(
      carl,
      'markShareSeen',
      { share: { token: first.token } },
      'share { id seen } viewer { unseenShareCount receivedShares(seen: true) { nodes { id } } }',
    )
    expect(seen).toEqual({
      share: { id: first.id, seen: true },
      viewer: { unseenShareCount: 1, receivedShares: { nodes: [{ id: first.id }] } },
    })
    expect(await refusal(bob, 'openShare', { token: first.token })).toBe('FORBIDDEN')
    expect(await refusal(t.anonymous, 'openShare', { token: first.token })).toBe('UNAUTHENTICATED')
    expect(await refusal(carl, 'openShare', { token: first.token })).toBeUndefined()
    expect(await refusal(alice, 'createDirectShare', { entries: [], email: carl.email })).toBe(
      'INVALID_INPUT',
    )
    expect(await refusal(alice, 'createDirectShare', { ...input, email: alice.email })).toBe(
      'INVALID_INPUT',
    )
    const reader = (await privateKey(t, alice, ['private_files:read'])).caller
    expect(await refusal(reader, 'createDirectShare', input)).toBe('INSUFFICIENT_SCOPE')
    const drive = (await ask(alice, `{ workspace(id: "${garden}") { drive { id } } }`)).workspace
      .drive.id
    expect(await refusal(alice, 'createLink', { entries: { at: { drive, path: 'x' } } })).toBe(
      'FILE_NOT_FOUND',
    )
  })
})

describe('operators', () => {
  it('manage accounts', async () => {
    const olga = await t.signIn('olga')
    const frank = await t.signIn('frank')
    expect((await alice.graphql('{ operator { accounts { nodes { id } } } }')).code).toBe(
      'FORBIDDEN',
    )
    const { operator } = await ask(
      olga,
      `{ operator { accounts(search: "frank") { nodes { id person { id } email status plan { id } usage { usedBytes fileCount maxBytes }
           identities { provider } workspaces { workspaceId role } sessionCount apiKeyCount shareCount operator { bySetting } } } } }`,
    )
    const [account] = operator.accounts.nodes
    const { id } = account
    expect(account).toMatchObject({
      id: `account:${frank.userId}`,
      person: { id: frank.userId },
      email: frank.email,
      status: 'ACTIVE',
      plan: { id: 'free' },
      usage: { usedBytes: 0, fileCount: 0 },
      identities: [{ provider: 'test' }],
      workspaces: [],
      sessionCount: 1,
      operator: null,
    })
    expect(await node(olga, id)).toEqual({ __typename: 'Account', id })
    expect(await node(frank, id)).toBeNull()
    expect(
      await refusal(frank, 'operatorUpdateAccount', { account: id, status: 'SUSPENDED' }),
    ).toBe('FORBIDDEN')
    const suspended = await change(
      olga,
      'operatorUpdateAccount',
      { account: id, status: 'SUSPENDED' },
      'account { id status }',
    )
    expect(suspended.account).toEqual({ id, status: 'SUSPENDED' })
    expect((await frank.graphql('{ me { id } }')).code).toBe('UNAUTHENTICATED')
    const restored = await change(
      olga,
      'operatorUpdateAccount',
      { account: id, status: 'ACTIVE', plan: 'free' },
      'account { status plan { id } }',
    )
    expect(restored.account).toEqual({ status: 'ACTIVE', plan: { id: 'free' } })
    expect(await refusal(olga, 'operatorUpdateAccount', { account: id, plan: 'none' })).toBe(
      'INVALID_INPUT',
    )
    expect(await refusal(olga, 'operatorUpdateAccount', { account: frank.userId })).toBe(
      'USER_NOT_FOUND',
    )
    expect(
      await refusal(olga, 'operatorUpdateAccount', {
        account: `account:${olga.userId}`,
        status: 'SUSPENDED',
      }),
    ).toBe('FORBIDDEN')
    const appointed = await change(
      olga,
      'operatorAppoint',
      { account: id },
      'operator { bySetting appointedBy { id } account { id } } account { operator { bySetting } }',
    )
    expect(appointed).toEqual({
      operator: { bySetting: false, appointedBy: { id: olga.userId }, account: { id } },
      account: { operator: { bySetting: false } },
    })
    const { operators, plans, mailQueue } = (
      await ask(
        olga,
        '{ operator { operators { account { id } bySetting } plans { plan { id } accountCount } mailQueue { waiting oldestAt } } }',
      )
    ).operator
    expect(operators).toContainEqual({ account: { id }, bySetting: false })
    expect(plans).toContainEqual({ plan: { id: 'free' }, accountCount: expect.any(Number) })
    expect(mailQueue.waiting).toEqual(expect.any(Number))
    const dismissed = await change(
      olga,
      'operatorDismiss',
      { account: id },
      'account { operator { bySetting } }',
    )
    expect(dismissed).toEqual({ account: { operator: null } })
    expect(await refusal(olga, 'operatorDismiss', { account: id })).toBe('USER_NOT_FOUND')
    const { operatorRetryMails } = await ask(
      olga,
      'mutation { operatorRetryMails { count mailQueue { givenUp } } }',
    )
    expect(operatorRetryMails).toEqual({ count: 0, mailQueue: { givenUp: 0 } })
  })
})

describe('subscriptions', () => {
  it('report shares and invites', async () => {
    const gina = await t.signIn('gina')
    const shares = await gina.subscribe(
      'subscription { shareReceived { id fileName sharedBy { name } } }',
    )
    const invites = await gina.subscribe(
      'subscription { inviteReceived { id token workspaceName } }',
    )
    await alice.upload('shared/d.txt', 'd', 'text/plain')
    await change(
      alice,
      'createDirectShare',
      { entries: [{ at: { path: 'shared/d.txt' } }], email: gina.email },
      'mail',
    )
    await change(
      alice,
      'createInvite',
      { workspace: garden, email: gina.email, role: 'VIEWER' },
      'invite { id }',
    )
    expect((await shares.next())?.data).toMatchObject({
      shareReceived: { fileName: 'd.txt', sharedBy: { name: 'alice' } },
    })
    expect((await invites.next())?.data).toMatchObject({
      inviteReceived: { token: expect.any(String), workspaceName: 'Garden' },
    })
    shares.close()
    invites.close()
  })
})
