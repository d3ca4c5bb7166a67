import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { schema } from '../../schema/index.ts'
import { type Role, roles } from '../../src/access/roles.ts'
import { privateScopes, type WorkspaceScope, workspaceScopes } from '../../src/access/scopes.ts'
import { ask } from '../support/ask.ts'
import {
  expel,
  found,
  join,
  type Program,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let olga: Person
let stranger: Person
let garden: string
/** A member of every role. */
let members: Record<Role, Person>

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, OPERATORS: 'olga@example.com' })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  olga = await t.signIn('olga')
  stranger = await t.signIn('mallory')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
  await alice.upload('docs/deep/b.txt', 'b', 'text/plain')
  const objects = ['docs/a.txt', 'docs/deep/b.txt']
  await alice.rest('POST', '/api/files/share', { json: { email: bob.email, objects } })
  await alice.rest('POST', '/api/files/quick_share', { json: { object: 'docs/a.txt' } })
  garden = await found(alice)
  members = {
    owner: alice,
    admin: await t.signIn('ada'),
    editor: await t.signIn('ed'),
    viewer: await t.signIn('vera'),
  }
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

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

/** The result of the field at a path: the value, or the code of the refusal. */
async function outcome(person: Person, query: string, ...path: string[]): Promise<unknown> {
  const { data, errors } = await person.graphql<Anything>(query)
  const refused = errors?.find(e => Array.isArray(e.path) && e.path.at(-1) === path.at(-1))
  return refused
    ? refused.extensions.code
    : path.reduce((value: Anything, key) => value?.[key], data)
}

describe('me', () => {
  it('shows the same as REST', async () => {
    const get = async (path: string) => (await alice.rest('GET', path)).response
    const { me } = await ask(
      alice,
      `{ me { drive { usage { usedBytes fileCount folderCount maxBytes } } shares(kind: DIRECT) { nodes { token fileName } }
        apiKeys { nodes { id name hint createdAt } } identities { id email }
        workspaces { nodes { id name slug memberCount apiKeyCount maxMembers members { nodes { person { id } joinedAt } }
          invites { nodes { id email expiresAt } } apiKeys { nodes { id name hint createdAt } } } } } }`,
    )
    const { bucket_data } = await get('/api/user/bucket')
    expect(me.drive.usage).toEqual({
      usedBytes: 6,
      fileCount: 2,
      folderCount: 2,
      maxBytes: bucket_data.max_total_storage_bytes,
    })
    const sent = (await get('/api/files/shared_by_user')).files
    expect(sent.length).toBeGreaterThanOrEqual(2)
    expect(me.shares.nodes).toEqual(
      sent
        .filter((share: Anything) => share.shared_for !== '')
        .map((share: Anything) => ({
          token: share.sharing_token,
          fileName: share.file_name.split('/').at(-1),
        })),
    )
    const keys = (list: Anything[]) =>
      list.map(({ id, name, key_hint, created_at }) => ({
        id,
        name,
        hint: key_hint,
        createdAt: created_at,
      }))
    expect(me.apiKeys.nodes).toEqual(keys((await get('/api/api_keys/private/list')).api_keys))
    const { identities } = await get('/api/user/identities')
    expect(me.identities).toEqual(identities.map(({ id, email }: Anything) => ({ id, email })))
    const [workspace] = me.workspaces.nodes
    const [rest] = await get('/api/workspaces/list')
    const quota = await get(`/api/workspaces/${garden}/quota`)
    expect(workspace).toEqual({
      id: rest.workspace_id,
      name: rest.name,
      slug: rest.slug,
      memberCount: quota.member_count,
      apiKeyCount: quota.api_key_count,
      maxMembers: quota.max_users_workspace,
      members: {
        nodes: (await get(`/api/workspaces/members?workspace_id=${garden}`)).map(
          (member: Anything) => ({
            person: { id: member.user_id },
            joinedAt: member.joined_at,
          }),
        ),
      },
      invites: {
        nodes: (await get(`/api/workspaces/invites?workspace_id=${garden}`)).map(
          (invite: Anything) => ({
            id: invite.id,
            email: invite.email,
            expiresAt: invite.expires_at,
          }),
        ),
      },
      apiKeys: { nodes: keys((await get(`/api/api_keys/${garden}/list`)).api_keys) },
    })
    expect([workspace.members.nodes.length, workspace.invites.nodes.length]).toEqual([4, 2])
  })

  it('shows received shares', async () => {
    const { me } = await ask(
      bob,
      `{ me { receivedShares { nodes { token sharedBy { email } } } unseenShareCount
        invites { nodes { id token workspaceName } } } }`,
    )
    const { files } = (await bob.rest('GET', '/api/files/received')).response
    expect(me.receivedShares.nodes).toEqual(
      files.map(({ sharing_token }: Anything) => ({
        token: sharing_token,
        sharedBy: { email: alice.email },
      })),
    )
    expect([files.length, me.unseenShareCount]).toEqual([2, 2])
    const [invite] = (await bob.rest('GET', '/api/workspaces/invites/mine')).response
    expect(me.invites.nodes).toEqual([
      { id: invite.id, token: invite.token, workspaceName: 'Garden' },
    ])
  })

  it('shows a stranger nothing of a received share', async () => {
    const LISTS = ['receivedShares', 'shares', 'apiKeys', 'workspaces', 'invites']
    const { me } = await ask(
      stranger,
      `{ me { drive { usage { fileCount } root { entries { nodes { id } } } } ${LISTS.map(list => `${list} { nodes { id } }`).join(' ')} } }`,
    )
    const none = { nodes: [] }
    expect(me).toEqual({
      drive: { usage: { fileCount: 0 }, root: { entries: none } },
      ...Object.fromEntries(LISTS.map(list => [list, none])),
    })
  })

  it('shows a private key what its scope allows, and null for fields that require a session', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:read'])
    const fields: [string, string, unknown][] = [
      ['drive', '{ usage { fileCount } }', { usage: { fileCount: 2 } }],
      ['shares', '{ nodes { id } }', { nodes: expect.any(Array) }],
      ['receivedShares', '{ nodes { id } }', { nodes: [] }],
      ['unseenShareCount', '', 0],
      ['workspaces', '{ nodes { id } }', 'KEY_OUT_OF_BOUNDS'],
      ['apiKeys', '{ nodes { id } }', 'KEY_OUT_OF_BOUNDS'],
      ['identities', '{ id }', 'KEY_OUT_OF_BOUNDS'],
      ['sessions', '{ id }', 'KEY_OUT_OF_BOUNDS'],
      ['signInNotices', '', 'KEY_OUT_OF_BOUNDS'],
      ['invites', '{ nodes { id } }', 'KEY_OUT_OF_BOUNDS'],
    ]
    for (const [name, selection, wanted] of fields) {
      const query = `{ me { email ${name} ${selection} } }`
      expect([name, await outcome(caller, query, 'me', name)]).toEqual([name, wanted])
      expect([name, await outcome(caller, query, 'me', 'email')]).toEqual([name, alice.email])
    }
    for (const program of [
      (await privateKey(t, alice, privateScopes.slice(1))).caller,
      (await workspaceKey(t, alice, garden)).caller,
      t.anonymous,
    ])
      expect(await outcome(program, '{ me { email } }', 'me')).toMatch(
        /^(INSUFFICIENT_SCOPE|KEY_OUT_OF_BOUNDS|UNAUTHENTICATED)$/,
      )
  })
})

describe('The payload of a mutation', () => {
  it('shows a key no more than its scopes allow, and reports the change', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const made = await caller.graphql(
      'mutation { createFolder(input: { at: { path: "made" } }) { folder { path } parent { path } } }',
    )
    expect([made.data, made.code]).toEqual([
      { createFolder: { folder: { path: 'made' }, parent: null } },
      'INSUFFICIENT_SCOPE',
    ])
    await alice.rest('PUT', '/api/files/5d41402abc4b2a76b9719d911017c592/note', {
      json: { content: 'a secret' },
    })
    const UPLOAD =
      'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { name note } } }'
    const sent = await caller.graphql(
      UPLOAD,
      { input: { file: null } },
      new File(['hello'], 'made.txt'),
    )
    expect([sent.data, sent.code]).toEqual([
      { uploadFile: { file: { name: 'made.txt', note: null } } },
      'INSUFFICIENT_SCOPE',
    ])
    const { caller: renamer } = await workspaceKey(t, alice, garden, ['workspaces:write'])
    const { data, errors } = await renamer.graphql(
      `mutation { updateWorkspace(input: { workspace: "${garden}", name: "Garden" }) { workspace {
        id members { nodes { id } } memberCount invites { nodes { id } } apiKeys { nodes { id } } } } }`,
    )
    expect(data).toEqual({
      updateWorkspace: {
        workspace: { id: garden, members: null, memberCount: null, invites: null, apiKeys: null },
      },
    })
    expect(errors?.map(({ extensions }) => extensions.code).sort()).toEqual([
      ...Array(3).fill('INSUFFICIENT_SCOPE'),
      'KEY_OUT_OF_BOUNDS',
    ])
  })
})

describe('workspace(id:)', () => {
  const WORKSPACE = (selection: string, id = garden) =>
    `{ workspace(id: "${id}") { ${selection} } }`

  it('leads from the root to every file, with the paths of REST', async () => {
    const by = 'createdBy { email }'
    const { workspace } = await ask(
      members.viewer,
      WORKSPACE(`role drive { root { __typename id name path ${by} createdAt entries(first: 10) { nodes { __typename name path ${by}
        ... on Folder { fileCount entries(first: 10) { nodes { __typename name path ${by} size
          ... on File { contentType md5 note shareCount shares { nodes { id } } createdAt updatedAt permissions }
          ... on Folder { entries(first: 10) { nodes { name path ${by} size } } } } } } } } } }`),
    )
    const [owner, editor] = [{ email: alice.email }, { email: members.editor.email }]
    expect(workspace).toEqual({
      role: 'VIEWER',
      drive: {
        root: {
          __typename: 'Folder',
          id: anId,
          name: '',
          path: '/',
          createdBy: owner,
          createdAt: aTime,
          entries: {
            nodes: [
              {
                __typename: 'Folder',
                name: 'beds',
                path: '/beds',
                createdBy: editor,
                fileCount: 2,
                entries: {
                  nodes: [
                    {
                      __typename: 'Folder',
                      name: 'deep',
                      path: '/beds/deep',
                      createdBy: editor,
                      size: 3,
                      entries: {
                        nodes: [
                          {
                            name: 'rose.txt',
                            path: '/beds/deep/rose.txt',
                            createdBy: editor,
                            size: 3,
                          },
                        ],
                      },
                    },
                    {
                      __typename: 'File',
                      name: 'fence.txt',
                      path: '/beds/fence.txt',
                      createdBy: owner,
                      size: 4,
                      contentType: 'text/plain',
                      md5: '22811dd94d65037ef86535740b98dec8',
                      // Workspace files have no notes, and a viewer sees no shares.
                      note: null,
                      shareCount: null,
                      shares: null,
                      createdAt: aTime,
                      updatedAt: aTime,
                      permissions: ['READ'],
                    },
                  ],
                },
              },
            ],
          },
        },
      },
    })
  })

  it.each(roles)('shows the %s their fields, and null instead of a refusal by role', async role => {
    const { workspace } = await ask(
      members[role],
      WORKSPACE(`role memberCount members { nodes { id } } drive { root { path } permissions }
        invites { nodes { email } } apiKeys { nodes { name } }`),
    )
    const manages = role === 'owner' || role === 'admin'
    expect(workspace).toMatchObject({
      role: role.toUpperCase(),
      memberCount: 4,
      drive: {
        root: { path: '/' },
        permissions: role === 'viewer' ? ['READ'] : ['READ', 'WRITE', 'DELETE', 'SHARE'],
      },
      invites: manages ? { nodes: [{ email: bob.email }, { email: 'zoe@example.com' }] } : null,
    })
    expect(workspace.members.nodes).toHaveLength(4)
    expect(workspace.apiKeys === null).toBe(!manages)
  })

  it('is FORBIDDEN for non-members, whether the workspace exists or not', async () => {
    const gone = await t.signIn('gone')
    await join(t, garden, gone, 'owner')
    await expel(t, garden, gone)
    const refusals = new Set<string>()
    for (const person of [stranger, gone, bob])
      for (const id of [garden, '00000000-0000-7000-8000-000000000000', 'nothing']) {
        const { data, errors } = await person.graphql(WORKSPACE('id', id))
        refusals.add(JSON.stringify([data ?? null, errors?.[0]?.message]))
        expect(errors).toEqual([expect.objectContaining({ extensions: { code: 'FORBIDDEN' } })])
      }
    // The refusals are equal, so that they do not reveal which workspaces exist.
    expect([...refusals]).toEqual([
      expect.stringContaining('You are not a member of this workspace, or it does not exist.'),
    ])
    expect(await outcome(t.anonymous, WORKSPACE('id'), 'workspace')).toBe('UNAUTHENTICATED')
  })

  it('requires the scope of each field from every key', async () => {
    const fields: [string, string, WorkspaceScope | null][] = [
      ['name', '', 'workspaces:read'],
      ['memberCount', '', 'workspaces:read'],
      ['members', '{ nodes { id } }', 'workspaces:members:read'],
      ['invites', '{ nodes { id } }', 'workspaces:invites:manage'],
      ['apiKeys', '{ nodes { id } }', null],
    ]
    for (const scope of workspaceScopes) {
      const { caller } = await workspaceKey(t, alice, garden, [scope])
      for (const [name, selection, needed] of fields) {
        // The name is requested, and null in a non-null field nulls the whole workspace.
        const said = await outcome(caller, WORKSPACE(`id ${name} ${selection}`), 'workspace', name)
        const refusal = needed === null ? 'KEY_OUT_OF_BOUNDS' : 'INSUFFICIENT_SCOPE'
        expect([scope, name, said]).toEqual([
          scope,
          name,
          needed === scope ? expect.anything() : refusal,
        ])
      }
      const usage = await outcome(
        caller,
        WORKSPACE('id drive { id usage { fileCount } }'),
        'workspace',
        'drive',
        'usage',
      )
      expect([scope, usage]).toEqual([
        scope,
        scope === 'workspaces:files:read' ? { fileCount: 2 } : 'INSUFFICIENT_SCOPE',
      ])
    }
    const other = await workspaceKey(t, alice, await found(alice, 'Other'))
    const personal = await privateKey(t, alice)
    for (const program of [other, personal])
      expect(await outcome(program.caller, WORKSPACE('id'), 'workspace')).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('limits a key to the current role of its creator', async () => {
    const { caller } = await workspaceKey(t, members.admin, garden)
    const INVITES = WORKSPACE('role invites { nodes { id } } drive { permissions }')
    const look = async () => (await ask(caller, INVITES)).workspace
    expect(await look()).toMatchObject({
      role: 'ADMIN',
      drive: { permissions: ['READ', 'WRITE', 'DELETE'] },
    })
    expect((await look()).invites.nodes).toHaveLength(2)
    await join(t, garden, members.admin, 'viewer')
    expect(await look()).toEqual({
      role: 'VIEWER',
      invites: null,
      drive: { permissions: ['READ'] },
    })
    await join(t, garden, members.admin, 'admin')
  })
})

describe('node and nodes', () => {
  const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Entry { path } ... on Share { token }
    ... on Workspace { name } ... on Member { role } ... on Person { email } ... on Viewer { email } ... on Drive { permissions }
    ... on UploadSession { fileName } ... on TrashItem { deletedAt } ... on Invite { workspaceName } ... on ApiKey { hint } ... on Identity { provider }
    ... on Session { current } ... on Account { status } ... on Webhook { state } } }`
  let ids: Record<string, string>

  /** The nodes that a person finds: the type of each visible node, or the code of the refusal. */
  async function look(person: Person): Promise<Record<string, string>> {
    const { data, errors } = await person.graphql<Anything>(NODES, { ids: Object.values(ids) })
    const said: [string, string][] = Object.entries(ids).flatMap(([what, id], i) => {
      const node = data?.nodes[i]
      if (node) expect([what, node.id]).toEqual([what, id])
      const code = errors?.find(e => Array.isArray(e.path) && e.path[1] === i)?.extensions.code
      return code || node ? [[what, code ?? node.__typename]] : []
    })
    return Object.fromEntries(said)
  }

  beforeAll(async () => {
    const { me, workspace } = await ask(
      alice,
      `{ me { id person { id } identities { id } sessions { id } apiKeys { nodes { id } } shares { nodes { id } }
          drive { id root { id } docs: entry(path: "docs") { id } file: entry(path: "docs/a.txt") { id } } }
        workspace(id: "${garden}") { id members { nodes { id } } invites { nodes { id } } apiKeys { nodes { id } }
          drive { id root { id } beds: entry(path: "beds") { id } file: entry(path: "beds/fence.txt") { id } } } }`,
    )
    const THROW_AWAY = `mutation { deleteEntries(input: { entries: [{ at: { path: "thrown-away.txt" } }] }) { trashItems { id } } }`
    const copyInto = async (drive: string) => {
      const id = newId()
      await t.app.db.run(
        `INSERT INTO entry_copy (id, user_id, bucket_id, state, plan, result, created_at) VALUES (?, ?, ?, 'done', '{}', '[]', 1)`,
        [id, alice.userId, drive],
      )
      return id
    }
    const ASK_FOR_FILES = `mutation { createFileRequest(input: { label: "x", folder: { at: { path: "" } } }) { fileRequest { id } } }`
    await alice.upload('thrown-away.txt', 'x')
    const webhook = async (input: object) => {
      const document =
        'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }'
      const nothing = { url: 'https://receiver.invalid/', kinds: ['TRASH_PURGED'], ...input }
      return (await ask(alice, document, { input: nothing })).createWebhook.webhook.id
    }
    const tagIn = async (drive: string) => {
      const document =
        'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }'
      return (await ask(alice, document, { input: { drive, name: 'later' } })).createTag.tag.id
    }
    const favouriteOf = async (id: string) => {
      const MARK =
        'mutation ($input: AddFavouritesInput!) { addFavourites(input: $input) { viewer { id } } }'
      await ask(alice, MARK, { input: { entries: [{ id }] } })
      return (await ask(alice, '{ me { favourites { id } } }')).me.favourites[0].id
    }
    const START =
      'mutation { startUpload(input: { fileName: "p.txt", size: 5 }) { uploadSession { id } } }'
    const REPLACE = `mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { versions { nodes { id } } } } }`
    const replace = (content: string) =>
      alice.graphql<Anything>(
        REPLACE,
        { input: { file: null, onConflict: 'REPLACE' } },
        new File([content], 'twice.txt'),
      )
    await replace('once')
    const replaced = await replace('twice')
    ids = {
      version: replaced.data.uploadFile.file.versions.nodes[0].id,
      viewer: me.id,
      person: me.person.id,
      identity: me.identities[0].id,
      session: me.sessions[0].id,
      drive: me.drive.id,
      root: me.drive.root.id,
      folder: me.drive.docs.id,
      file: me.drive.file.id,
      trashItem: (await ask(alice, THROW_AWAY)).deleteEntries.trashItems[0].id,
      upload: (await ask(alice, START)).startUpload.uploadSession.id,
      key: me.apiKeys.nodes[0].id,
      share: me.shares.nodes[0].id,
      link: me.shares.nodes[2].id,
      workspace: workspace.id,
      member: workspace.members.nodes[0].id,
      invite: workspace.invites.nodes[0].id,
      workspaceKey: workspace.apiKeys.nodes[0].id,
      workspaceDrive: workspace.drive.id,
      workspaceRoot: workspace.drive.root.id,
      workspaceFolder: workspace.drive.beds.id,
      workspaceFile: workspace.drive.file.id,
      account: `account:${alice.userId}`,
      event: `event:${me.drive.id}:1`,
      fileRequest: (await ask(alice, ASK_FOR_FILES)).createFileRequest.fileRequest.id,
      copy: await copyInto(me.drive.id),
      webhook: await webhook({}),
      workspaceWebhook: await webhook({ workspace: garden }),
      tag: await tagIn(me.drive.id),
      favourite: await favouriteOf(me.drive.file.id),
    }
  })

  const own = {
    viewer: 'Viewer',
    person: 'Person',
    identity: 'Identity',
    session: 'Session',
    drive: 'Drive',
    root: 'Folder',
    folder: 'Folder',
    file: 'File',
    trashItem: 'TrashItem',
    version: 'Version',
    upload: 'UploadSession',
    key: 'ApiKey',
    share: 'DirectShare',
    link: 'LinkShare',
    event: 'Event',
    fileRequest: 'FileRequest',
    copy: 'BackgroundCopy',
    webhook: 'Webhook',
    tag: 'Tag',
    favourite: 'Favourite',
  }
  const files = {
    workspaceDrive: 'Drive',
    workspaceRoot: 'Folder',
    workspaceFolder: 'Folder',
    workspaceFile: 'File',
  }
  const inside = { workspace: 'Workspace', member: 'Member', ...files }
  const managed = {
    ...inside,
    invite: 'Invite',
    workspaceKey: 'ApiKey',
    workspaceWebhook: 'Webhook',
  }

  it('find every type of node again', async () => {
    expect(await look(alice)).toEqual({ ...own, ...managed })
    expect(await look(olga)).toMatchObject({ account: 'Account' })
    const nouns = schema.getPossibleTypes(schema.getType('Node') as Anything).map(type => type.name)
    expect(nouns.toSorted()).toEqual(
      [...new Set([...Object.values({ ...own, ...managed }), 'Account'])].toSorted(),
    )
    for (const [what, id] of Object.entries(ids)) {
      const { node } = await ask(alice, 'query ($id: ID!) { node(id: $id) { id } }', { id })
      expect([what, node]).toEqual([what, what === 'account' ? null : { id }])
    }
  })

  it('find shared entries for their recipients', async () => {
    const person = 'Person'
    for (const role of roles.slice(1))
      expect([role, await look(members[role])]).toEqual([
        role,
        { person, ...(role === 'admin' ? managed : inside) },
      ])
    expect(await look(bob)).toEqual({ share: 'DirectShare', invite: 'Invite' })
    expect(await look(olga)).toEqual({ account: 'Account' })
    expect(await look(stranger)).toEqual({})
  })

  it('answer null for an unknown id, and keep the order of the ids', async () => {
    const none = [
      '',
      'nothing',
      ':',
      'nobody:x',
      'viewer:',
      '00000000-0000-7000-8000-000000000000',
      '🦊',
    ]
    const asked = [...none, garden, ids.file]
    const { nodes } = await ask(alice, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: asked,
    })
    expect(nodes).toEqual([...none.map(() => null), { id: garden }, { id: ids.file }])
    for (const id of none)
      expect(await ask(alice, 'query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({
        node: null,
      })
    for (const query of [
      'query ($id: ID!) { node(id: $id) { id } }',
      'query ($id: ID!) { nodes(ids: [$id]) { id } }',
    ])
      expect((await t.anonymous.graphql(query, { id: garden })).code).toBe('UNAUTHENTICATED')
    const many = (count: number) =>
      alice.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
        ids: Array(count).fill(garden),
      })
    expect((await many(100)).errors).toBeUndefined()
    expect((await many(101)).code).toBe('INVALID_INPUT')
  })

  it('show keys the nodes in their area, by scope', async () => {
    const all = (names: object, code: string) =>
      Object.fromEntries(Object.keys(names).map(name => [name, code]))
    const [lacking, outside] = ['INSUFFICIENT_SCOPE', 'KEY_OUT_OF_BOUNDS']
    const {
      viewer,
      person,
      drive,
      root,
      folder,
      file,
      trashItem,
      version,
      upload,
      share,
      link,
      event,
      fileRequest,
      copy,
      tag,
      favourite,
    } = own
    const drives = { drive, root, folder, file, trashItem, version, upload, event }
    const lookBy = async ({ caller }: Program) => look(caller)
    expect(await lookBy(await privateKey(t, alice, ['private_files:read']))).toEqual({
      viewer,
      person,
      ...drives,
      upload: lacking,
      share,
      link,
      ...all({ fileRequest, copy }, lacking),
      tag,
      favourite,
      ...all(files, outside),
    })
    expect(await lookBy(await privateKey(t, alice, ['private_files:write']))).toEqual({
      person,
      ...all({ viewer, ...drives, share, link, fileRequest, tag, favourite }, lacking),
      copy,
      upload,
      ...all(files, outside),
    })
    const made = (scope: WorkspaceScope, workspaceId = garden) =>
      workspaceKey(t, alice, workspaceId, [scope])
    const { workspace, member, invite } = managed
    expect(await lookBy(await made('workspaces:files:read'))).toEqual({
      person,
      ...all({ ...drives, fileRequest, copy, tag }, outside),
      ...all({ workspace, member, invite }, lacking),
      ...files,
    })
    expect(await lookBy(await made('workspaces:read'))).toEqual({
      person,
      ...all({ ...drives, fileRequest, copy, tag }, outside),
      workspace,
      ...all({ member, invite, ...files }, lacking),
    })
    expect(
      await lookBy(await made('workspaces:files:read', await found(alice, 'Elsewhere'))),
    ).toEqual({
      person,
      ...all({ ...drives, fileRequest, copy, tag, ...files }, outside),
    })
    expect(await lookBy(await privateKey(t, stranger))).toEqual({})
  })
})
