import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Role, roles } from '../src/auth/roles.ts'
import { privateScopes, type WorkspaceScope, workspaceScopes } from '../src/auth/scopes.ts'
import { expel, found, join, type Program, privateKey, put, ROOMY, UNHURRIED, workspaceKey } from './builders.ts'
import { type Person, startApp, type TestApp } from './harness.ts'
import { anId, aTime } from './shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let stranger: Person
let garden: string
/** A member of every role. */
let members: Record<Role, Person>

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  stranger = await t.signIn('mallory')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
  await alice.upload('docs/deep/b.txt', 'b', 'text/plain')
  const objects = ['docs/a.txt', 'docs/deep/b.txt']
  await alice.rest('POST', '/api/files/share', { json: { email: bob.email, objects } })
  await alice.rest('POST', '/api/files/quick_share', { json: { object: 'docs/a.txt' } })
  garden = await found(alice)
  members = { owner: alice, admin: await t.signIn('ada'), editor: await t.signIn('ed'), viewer: await t.signIn('vera') }
  for (const role of roles) if (role !== 'owner') await join(t, garden, members[role], role)
  await put(members.editor, garden, '/beds/deep/rose.txt', 'red')
  await put(alice, garden, '/beds/fence.txt', 'wood')
  for (const email of [bob.email, 'zoe@example.com'])
    await alice.rest('POST', '/api/workspaces/invites/create', {
      json: { workspace_id: garden, email, role: 'viewer' },
    })
  await privateKey(t, alice)
  await workspaceKey(t, alice, garden)
})
afterAll(() => t.stop())

interface Connection {
  edges: { cursor: string; node: Record<string, unknown> }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any
const nodes = (connection: Connection | null | undefined) => connection?.edges.map(edge => edge.node)

/** The data of a query without errors. */
async function ask(person: Person, query: string, variables: object = {}): Promise<Anything> {
  const { data, errors } = await person.graphql<Anything>(query, variables)
  expect(errors).toBeUndefined()
  return data
}

/** What a query says of the field at a path: the code of a refusal, or the value. */
async function outcome(person: Person, query: string, ...path: string[]): Promise<unknown> {
  const { data, errors } = await person.graphql<Anything>(query)
  const refused = errors?.find(e => Array.isArray(e.path) && e.path.at(-1) === path.at(-1))
  return refused ? refused.extensions.code : path.reduce((value: Anything, key) => value?.[key], data)
}

describe('me', () => {
  it('leads to all that the flat fields show', async () => {
    const [share, key, invite] = [
      'id sharingToken fileName sharedFor',
      'id name scopes keyHint createdAt',
      'id email role expiresAt',
    ]
    const { me, ...flat } = await ask(
      alice,
      `query ($id: ID!) {
        me { email
          usage { usedBytes fileCount folderCount maxTotalStorageBytes }
          rootFolder { id path folders { edges { node { path } } } }
          sentShares { edges { node { ${share} } } }
          privateApiKeys { edges { node { ${key} } } }
          identities { id email }
          workspaces { edges { node { id workspaceId name slug role
            members { edges { node { userId email name role joinedAt } } }
            quota { fileCount totalBytes folderCount memberCount apiKeyCount maxUsersWorkspace }
            invites { edges { node { ${invite} } } }
            apiKeys { edges { node { ${key} } } } } } } }
        bucket { usedBytes fileCount folderCount maxTotalStorageBytes }
        folder { id path folders { edges { node { path } } } }
        sentShares { files { ${share} } }
        privateApiKeys { ${key} }
        identities { identities { id email } }
        workspaces { id workspaceId name slug role }
        workspaceMembers(workspaceId: $id) { userId email name role joinedAt }
        workspaceQuota(workspaceId: $id) { fileCount totalBytes folderCount memberCount apiKeyCount maxUsersWorkspace }
        workspaceInvites(workspaceId: $id) { ${invite} }
        workspaceApiKeys(workspaceId: $id) { ${key} }
      }`,
      { id: garden },
    )
    expect(me.usage).toEqual({ ...flat.bucket, usedBytes: 6, fileCount: 2, folderCount: 2 })
    expect(me.rootFolder).toEqual(flat.folder)
    expect(nodes(me.sentShares)).toEqual(flat.sentShares.files)
    expect(me.sentShares.edges).toHaveLength(3)
    expect(nodes(me.privateApiKeys)).toEqual(flat.privateApiKeys)
    expect(me.identities).toEqual(flat.identities.identities)
    const [{ members: people, quota, invites, apiKeys, ...workspace }] = nodes(me.workspaces) as Anything
    expect([workspace]).toEqual(flat.workspaces)
    expect(nodes(people)).toEqual(flat.workspaceMembers)
    expect(people.edges).toHaveLength(4)
    expect(quota).toEqual(flat.workspaceQuota)
    expect(nodes(invites)).toEqual(flat.workspaceInvites)
    expect(invites.edges).toHaveLength(2)
    expect(nodes(apiKeys)).toEqual(flat.workspaceApiKeys)
    expect(apiKeys.edges).toHaveLength(1)
  })

  it('shows what others have sent', async () => {
    const { me, receivedShares, myInvites, unseenShareCount } = await ask(
      bob,
      `{ me { receivedShares { edges { node { id fileName sharedBy } } } unseenShareCount
          invites { edges { node { id token workspaceName } } } }
        receivedShares { files { id fileName sharedBy } } unseenShareCount { count } myInvites { id token workspaceName } }`,
    )
    expect(nodes(me.receivedShares)).toEqual(receivedShares.files)
    expect(receivedShares.files).toMatchObject([{ sharedBy: alice.email }, { sharedBy: alice.email }])
    expect(me.unseenShareCount).toBe(unseenShareCount.count)
    expect(nodes(me.invites)).toEqual(myInvites)
    expect(myInvites).toMatchObject([{ workspaceName: 'Garden' }])
  })

  it('shows a stranger nothing of it', async () => {
    const { me } = await ask(
      stranger,
      `{ me { usage { fileCount } rootFolder { folders { edges { cursor } } files { edges { cursor } } }
        receivedShares { edges { cursor } } sentShares { edges { cursor } } privateApiKeys { edges { cursor } }
        workspaces { edges { cursor } } invites { edges { cursor } } } }`,
    )
    const none = { edges: [] }
    expect(me).toEqual({
      usage: { fileCount: 0 },
      rootFolder: { folders: none, files: none },
      receivedShares: none,
      sentShares: none,
      privateApiKeys: none,
      workspaces: none,
      invites: none,
    })
  })

  it('gives a private key what its scope allows, and null for what needs a session', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:read'])
    const fields = {
      usage: { fileCount: 2 },
      rootFolder: { path: '' },
      sentShares: { edges: expect.any(Array) },
      receivedShares: { edges: [] },
      unseenShareCount: 0,
      workspaces: 'KEY_OUT_OF_BOUNDS',
      privateApiKeys: 'KEY_OUT_OF_BOUNDS',
      identities: 'KEY_OUT_OF_BOUNDS',
      invites: 'KEY_OUT_OF_BOUNDS',
    }
    const selection = {
      usage: '{ fileCount }',
      rootFolder: '{ path }',
      unseenShareCount: '',
      identities: '{ id }',
    } as Record<string, string>
    for (const [name, wanted] of Object.entries(fields)) {
      const query = `{ me { id ${name} ${selection[name] ?? '{ edges { cursor } }'} } }`
      expect([name, await outcome(caller, query, 'me', name)]).toEqual([name, wanted])
      expect([name, await outcome(caller, query, 'me', 'id')]).toEqual([name, alice.userId])
    }
    for (const program of [
      (await privateKey(t, alice, privateScopes.slice(1))).caller,
      (await workspaceKey(t, alice, garden)).caller,
      t.anonymous,
    ])
      expect(await outcome(program, '{ me { id usage { fileCount } } }', 'me')).toMatch(
        /^(INSUFFICIENT_SCOPE|KEY_OUT_OF_BOUNDS|UNAUTHENTICATED)$/,
      )
  })
})

describe('What a mutation answers', () => {
  it('shows a key no more than its scopes do', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const made = await caller.graphql(
      'mutation { createFolder(input: { path: "made" }) { path files { edges { cursor } } } }',
    )
    expect([made.data, made.code]).toEqual([null, 'INSUFFICIENT_SCOPE'])
    await alice.rest('PUT', '/api/files/5d41402abc4b2a76b9719d911017c592/note', { json: { content: 'a secret' } })
    const upload = 'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { note } }'
    const sent = await caller.graphql(upload, { input: { file: null } }, new File(['hello'], 'made.txt'))
    expect([sent.data, sent.code]).toEqual([null, 'INSUFFICIENT_SCOPE'])
    const { caller: renamer } = await workspaceKey(t, alice, garden, ['workspaces:write'])
    const rename = `mutation { renameWorkspace(input: { workspaceId: "${garden}", name: "Garden" }) {
      name members { edges { node { email } } } rootFolder { path } } }`
    expect(await renamer.graphql(rename)).toMatchObject({
      data: { renameWorkspace: { name: 'Garden', members: null, rootFolder: null } },
      errors: [{ extensions: { code: 'INSUFFICIENT_SCOPE' } }, { extensions: { code: 'INSUFFICIENT_SCOPE' } }],
    })
  })
})

describe('workspace(id:)', () => {
  const WORKSPACE = (selection: string, id = garden) => `{ workspace(id: "${id}") { ${selection} } }`

  it('leads from the root down to every file, with the paths of REST', async () => {
    const { workspace } = await ask(
      members.viewer,
      WORKSPACE(`role rootFolder { id workspaceId name path createdByEmail createdAt files { edges { cursor } }
        folders { edges { node { name path createdByEmail
          folders { edges { node { path files { edges { node { name path folder uploadedByEmail size } } } } } }
          files { edges { node { workspaceId name path folder fileType size md5Checksum uploadedBy uploadedByEmail createdAt updatedAt } } } } } } }`),
    )
    expect(workspace).toEqual({
      role: 'viewer',
      rootFolder: {
        id: anId,
        workspaceId: garden,
        name: '',
        path: '/',
        createdByEmail: alice.email,
        createdAt: aTime,
        files: { edges: [] },
        folders: {
          edges: [
            { node: expect.objectContaining({ name: 'beds', path: '/beds', createdByEmail: members.editor.email }) },
          ],
        },
      },
    })
    const [beds] = nodes(workspace.rootFolder.folders) as Anything
    const [deep] = nodes(beds.folders) as Anything
    expect(deep.path).toBe('/beds/deep')
    expect(nodes(deep.files)).toEqual([
      {
        name: 'rose.txt',
        path: '/beds/deep/rose.txt',
        folder: '/beds/deep',
        uploadedByEmail: members.editor.email,
        size: 3,
      },
    ])
    expect(nodes(beds.files)).toEqual([
      {
        workspaceId: garden,
        name: 'fence.txt',
        path: '/beds/fence.txt',
        folder: '/beds',
        fileType: 'text/plain',
        size: 4,
        md5Checksum: '22811dd94d65037ef86535740b98dec8',
        uploadedBy: alice.userId,
        uploadedByEmail: alice.email,
        createdAt: aTime,
        updatedAt: aTime,
      },
    ])
  })

  it.each(roles)('shows the %s what the flat fields show them, and null instead of a refusal by role', async role => {
    const person = members[role]
    const { workspace } = await ask(
      person,
      WORKSPACE(`role members { edges { node { userId } } } quota { memberCount } rootFolder { path }
        invites { edges { node { id } } } apiKeys { edges { node { id } } }`),
    )
    expect(workspace).toMatchObject({ role, quota: { memberCount: 4 }, rootFolder: { path: '/' } })
    expect(nodes(workspace.members)).toHaveLength(4)
    for (const [field, flat] of [
      ['invites', `{ workspaceInvites(workspaceId: "${garden}") { id } }`],
      ['apiKeys', `{ workspaceApiKeys(workspaceId: "${garden}") { id } }`],
    ] as const) {
      const { data, code } = await person.graphql<Record<string, object[]>>(flat)
      const may = role === 'owner' || role === 'admin'
      expect([role, code]).toEqual([role, may ? undefined : 'FORBIDDEN'])
      expect(workspace[field] && nodes(workspace[field])).toEqual(may ? Object.values(data ?? {})[0] : null)
    }
  })

  it('is FORBIDDEN for whoever is no member, whether there is such a workspace or not', async () => {
    const gone = await t.signIn('gone')
    await join(t, garden, gone, 'owner')
    await expel(t, garden, gone)
    for (const person of [stranger, gone, bob])
      for (const id of [garden, '00000000-0000-7000-8000-000000000000', 'nothing', '']) {
        const { data, errors } = await person.graphql(WORKSPACE('id', id))
        expect([data, errors]).toEqual([
          { workspace: null },
          [expect.objectContaining({ extensions: { code: 'FORBIDDEN' } })],
        ])
        expect(errors?.[0]?.message).toBe('You are not a member of this workspace, or it does not exist.')
      }
    expect(await outcome(t.anonymous, WORKSPACE('id'), 'workspace')).toBe('UNAUTHENTICATED')
  })

  it('asks every key for the scope of each field', async () => {
    const fields: [string, string, WorkspaceScope | null][] = [
      ['quota', '{ memberCount }', 'workspaces:read'],
      ['members', '{ edges { cursor } }', 'workspaces:members:read'],
      ['invites', '{ edges { cursor } }', 'workspaces:invites:manage'],
      ['rootFolder', '{ path }', 'workspaces:files:read'],
      ['apiKeys', '{ edges { cursor } }', null],
    ]
    for (const scope of workspaceScopes) {
      const { caller } = await workspaceKey(t, alice, garden, [...new Set<WorkspaceScope>(['workspaces:read', scope])])
      for (const [name, selection, needed] of fields) {
        const said = await outcome(caller, WORKSPACE(`${name} ${selection}`), 'workspace', name)
        const may = needed === scope || needed === 'workspaces:read'
        const refusal = needed === null ? 'KEY_OUT_OF_BOUNDS' : 'INSUFFICIENT_SCOPE'
        expect([scope, name, said]).toEqual([scope, name, may ? expect.any(Object) : refusal])
      }
    }
    const { caller } = await workspaceKey(t, alice, garden, workspaceScopes.slice(1))
    expect(await outcome(caller, WORKSPACE('id'), 'workspace')).toBe('INSUFFICIENT_SCOPE')
    const other = await workspaceKey(t, alice, await found(alice, 'Other'))
    const personal = await privateKey(t, alice)
    for (const program of [other, personal])
      expect(await outcome(program.caller, WORKSPACE('id'), 'workspace')).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('weakens a key with the role of its maker', async () => {
    const { caller } = await workspaceKey(t, members.admin, garden)
    const INVITES = WORKSPACE('invites { edges { node { email } } }')
    expect(nodes((await ask(caller, INVITES)).workspace.invites)).toHaveLength(2)
    await join(t, garden, members.admin, 'viewer')
    expect((await ask(caller, INVITES)).workspace.invites).toBeNull()
    await expel(t, garden, members.admin)
    expect(await outcome(caller, INVITES, 'workspace')).toBe('FORBIDDEN')
    await join(t, garden, members.admin, 'admin')
  })
})

describe('node(id:)', () => {
  const NODE = `query ($id: ID!) { node(id: $id) { __typename id ... on Workspace { name role } ... on WorkspaceFolder { path }
    ... on WorkspaceFile { path } ... on File { path } ... on Folder { path } ... on Share { sharingToken } } }`
  const node = async (person: Person, id: string) => (await ask(person, NODE, { id })).node
  let ids: Record<string, string>

  beforeAll(async () => {
    const { workspace, file, shares } = await ask(
      alice,
      `{ workspace(id: "${garden}") { rootFolder { id folders { edges { node { id files { edges { node { id } } } } } } } }
        file(path: "docs/a.txt") { id } shares { edges { node { id } } } }`,
    )
    const [beds] = nodes(workspace.rootFolder.folders) as Anything
    const [fence] = nodes(beds.files) as Anything
    ids = {
      workspace: garden,
      root: workspace.rootFolder.id,
      folder: beds.id,
      file: fence.id,
      personal: file.id,
      share: shares.edges[0].node.id,
      open: shares.edges[2].node.id,
    }
  })

  it('finds a workspace, its folders and its files for every member', async () => {
    for (const role of roles) {
      expect(await node(members[role], garden)).toEqual({ __typename: 'Workspace', id: garden, name: 'Garden', role })
      expect(await node(members[role], ids.root ?? '')).toEqual({
        __typename: 'WorkspaceFolder',
        id: ids.root,
        path: '/',
      })
      expect(await node(members[role], ids.folder ?? '')).toMatchObject({
        __typename: 'WorkspaceFolder',
        path: '/beds',
      })
      expect(await node(members[role], ids.file ?? '')).toMatchObject({
        __typename: 'WorkspaceFile',
        path: '/beds/fence.txt',
      })
    }
  })

  it('finds a share for both sides, a public one for its sharer only', async () => {
    for (const person of [alice, bob])
      expect(await node(person, ids.share ?? '')).toMatchObject({ __typename: 'Share', id: ids.share })
    expect([await node(alice, ids.open ?? ''), await node(bob, ids.open ?? '')]).toEqual([
      expect.objectContaining({ __typename: 'Share' }),
      null,
    ])
  })

  it('is null for what somebody may not see', async () => {
    for (const [what, id] of Object.entries(ids)) expect([what, await node(stranger, id)]).toEqual([what, null])
    for (const person of Object.values(members).slice(1)) expect(await node(person, ids.personal ?? '')).toBeNull()
  })

  it('shows keys what is in their area, by scope', async () => {
    const look = async ({ caller }: Program) => {
      const said: Record<string, unknown> = {}
      for (const [what, id] of Object.entries(ids)) {
        const { data, code } = await caller.graphql<Anything>(NODE, { id })
        said[what] = code ?? data?.node?.__typename ?? null
      }
      return said
    }
    const none = { workspace: null, root: null, folder: null, file: null, personal: null, share: null, open: null }
    expect(await look(await privateKey(t, alice, ['private_files:read']))).toEqual({
      ...none,
      personal: 'File',
      share: 'Share',
      open: 'Share',
    })
    const lacking = 'INSUFFICIENT_SCOPE'
    const refused = Object.fromEntries(Object.keys(none).map(what => [what, lacking]))
    expect(await look(await privateKey(t, alice, ['private_files:write']))).toEqual(refused)
    const inside = { root: 'WorkspaceFolder', folder: 'WorkspaceFolder', file: 'WorkspaceFile' }
    const made = (scope: WorkspaceScope, workspaceId = garden) => workspaceKey(t, alice, workspaceId, [scope])
    expect(await look(await made('workspaces:files:read'))).toEqual({ ...none, ...inside, workspace: lacking })
    expect(await look(await made('workspaces:read'))).toEqual({
      ...none,
      workspace: 'Workspace',
      root: lacking,
      folder: lacking,
      file: lacking,
    })
    expect(await look(await made('workspaces:files:read', await found(alice, 'Elsewhere')))).toEqual(none)
  })
})
