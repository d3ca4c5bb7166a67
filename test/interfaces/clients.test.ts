import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createApolloClient } from '../clients/apollo.ts'
import type { CachingClient, Watched } from '../clients/cache.ts'
import * as g from '../clients/generated.ts'
import { createUrqlClient } from '../clients/urql.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t?.stop())

/** The types that each id had in responses. */
const typesOfIds = new Map<string, Set<string>>()

function noteIds(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if ('id' in value && '__typename' in value)
    typesOfIds.set(
      String(value.id),
      (typesOfIds.get(String(value.id)) ?? new Set()).add(String(value.__typename)),
    )
  for (const inner of Object.values(value)) noteIds(inner)
}

const file = (name: string, content: string) => new File([content], name, { type: 'text/plain' })

describe.each([
  ['urql with graphcache', createUrqlClient],
  ['Apollo Client', createApolloClient],
])('%s', (name, create) => {
  let alice: Person
  let client: CachingClient

  const clients: CachingClient[] = []
  const clientOf = ({ cookie }: Person) => {
    const made = create({ url: t.url, cookie, onAnswer: noteIds })
    clients.push(made)
    return made
  }
  afterAll(() => {
    for (const { stop } of clients) stop()
  })
  const email = (who: string) => `${who}@${name.split(' ')[0]}.example`.toLowerCase()

  beforeAll(async () => {
    alice = await t.signIn(email('alice'))
    client = clientOf(alice)
  })

  /** Watches a query, and checks that the cache shows the current data without a new request. */
  async function show<Result, Variables extends Record<string, unknown>>(
    document: g.TypedDocumentString<Result, Variables>,
    variables: Variables,
    { by = client, as = alice } = {},
  ) {
    const screen: Watched<Result> = await by.watch(document, variables)
    return {
      ...screen,
      async expectCurrent() {
        const other = await clientOf(as).watch(document, variables)
        await until(
          () => JSON.stringify(screen.shown()) === JSON.stringify(other.shown()),
          500,
        ).catch(() => {})
        expect(screen.shown()).toEqual(other.shown())
        other.stop()
      },
    }
  }

  /** Runs a mutation, and expects exactly one request. */
  async function mutate<Result, Variables extends Record<string, unknown>>(
    document: g.TypedDocumentString<Result, Variables>,
    variables: Variables,
    by = client,
  ): Promise<Result> {
    const before = by.requests()
    const result = await by.mutate(document, variables)
    // A cache with missing data would fetch it within this time.
    await new Promise(later => setTimeout(later, 20))
    expect(by.requests()).toBe(before + 1)
    return result
  }

  const namesIn = (folder: { entries: { nodes: { name: string }[] } }) =>
    folder.entries.nodes.map(node => node.name)

  /** File operations are the same in every drive. */
  async function useDrive(
    drive: string,
    home: { shown(): unknown; expectCurrent(): Promise<void> },
    rootOf: () => g.FolderPageFragment | undefined,
  ) {
    const inDrive = (path: string) => ({ at: { drive, path } })
    const rootNames = () => namesIn(rootOf() ?? { entries: { nodes: [] } })

    await mutate(g.UploadDocument, { input: { folder: inDrive(''), file: file('a.txt', 'hello') } })
    await home.expectCurrent()
    expect(rootNames()).toEqual(['a.txt'])

    const { createFolder } = await mutate(g.CreateFolderDocument, {
      input: { at: { drive, path: 'docs' } },
    })
    const docs = createFolder?.folder.id ?? ''
    await home.expectCurrent()
    expect(rootNames()).toEqual(['docs', 'a.txt'])

    const folder = await show(g.FolderViewDocument, { id: docs })
    const inDocs = () => {
      const { node } = folder.shown()
      return node?.__typename === 'Folder' ? node : undefined
    }
    await mutate(g.UploadDocument, {
      input: { folder: { id: docs }, file: file('b.txt', 'world!') },
    })
    await mutate(g.MoveDocument, { input: { entries: [inDrive('a.txt')], to: { id: docs } } })
    await Promise.all([home.expectCurrent(), folder.expectCurrent()])
    expect(rootNames()).toEqual(['docs'])
    expect(inDocs()).toMatchObject({
      size: 11,
      fileCount: 2,
      entries: { nodes: [{ name: 'a.txt' }, { name: 'b.txt' }] },
    })

    // The folder and a file in it were renamed.
    await mutate(g.MoveDocument, { input: { entries: [{ id: docs }], name: 'letters' } })
    await Promise.all([home.expectCurrent(), folder.expectCurrent()])
    expect(rootNames()).toEqual(['letters'])
    const a = inDocs()?.entries.nodes[0]?.id ?? ''
    await mutate(g.MoveDocument, { input: { entries: [{ id: a }], name: 'c.txt' } })
    await folder.expectCurrent()
    expect(inDocs()?.entries.nodes.map(node => node.path.replace(/^\//, ''))).toEqual([
      'letters/b.txt',
      'letters/c.txt',
    ])

    // Contents of subfolders count in all folders above.
    const deep = await mutate(g.CreateFolderDocument, {
      input: { at: { drive, path: 'letters/2026' } },
    })
    const folderOfDeep = { id: deep.createFolder?.folder.id ?? '' }
    await mutate(g.UploadDocument, {
      input: { folder: folderOfDeep, file: file('deep.txt', '1234') },
    })
    await Promise.all([home.expectCurrent(), folder.expectCurrent()])
    expect(inDocs()).toMatchObject({
      size: 15,
      fileCount: 3,
      entries: { nodes: [{ name: '2026', size: 4 }, {}, {}] },
    })

    await mutate(g.DeleteDocument, { input: { entries: [{ id: a }] } })
    await Promise.all([home.expectCurrent(), folder.expectCurrent()])
    expect(inDocs()?.entries.nodes).toHaveLength(2)
    folder.stop()
    await mutate(g.DeleteDocument, { input: { entries: [{ id: docs }], recursive: true } })
    await home.expectCurrent()
    expect(rootNames()).toEqual([])
  }

  it('shows events of personal files', async () => {
    const home = await show(g.HomeDocument, {})
    await useDrive(home.shown().me.drive.id, home, () => home.shown().me.drive.root)
    home.stop()
  })

  it('shows created and revoked links and shares', async () => {
    const home = await show(g.HomeDocument, {})
    const { uploadFile } = await mutate(g.UploadDocument, {
      input: { file: file('letter.txt', 'Dear Bob') },
    })
    const id = uploadFile?.folder?.entries.nodes.find(node => node.name === 'letter.txt')?.id ?? ''
    const letter = await show(g.FileViewDocument, { id })
    const current = () => Promise.all([home.expectCurrent(), letter.expectCurrent()])

    await mutate(g.LinkDocument, { input: { entries: [{ id }], maxDownloads: 3 } })
    await current()
    await mutate(g.ShareWithDocument, { input: { entries: [{ id }], email: 'bob@example.com' } })
    await current()
    const { edges } = home.shown().me.shares
    expect(edges.map(({ node }) => node.fileName)).toEqual(['letter.txt', 'letter.txt'])
    expect(letter.shown().node).toMatchObject({ shareCount: 2 })

    await mutate(g.RevokeDocument, { input: { share: { id: edges[0]?.node.id ?? '' } } })
    await current()
    expect(home.shown().me.shares.edges).toHaveLength(1)
    expect(letter.shown().node).toMatchObject({
      shareCount: 1,
      shares: { nodes: [{ recipient: 'bob@example.com' }] },
    })
    home.stop()
    letter.stop()
  })

  it('shows created and deleted keys', async () => {
    const home = await show(g.HomeDocument, {})
    const { createApiKey } = await mutate(g.CreateKeyDocument, {
      input: { name: 'backup', scopes: ['PRIVATE_FILES_READ'] },
    })
    await home.expectCurrent()
    expect(home.shown().me.apiKeys?.nodes).toMatchObject([{ name: 'backup', status: 'ACTIVE' }])
    await mutate(g.DeleteKeyDocument, { input: { apiKey: createApiKey?.apiKey.id ?? '' } })
    await home.expectCurrent()
    expect(home.shown().me.apiKeys?.nodes).toEqual([])
    home.stop()
  })

  it('shows a workspace: its files, invites, members, roles and keys', async () => {
    const home = await show(g.HomeDocument, {})
    const made = await mutate(g.CreateWorkspaceDocument, { input: { name: 'Garden' } })
    const id = made.createWorkspace?.workspace.id ?? ''
    await home.expectCurrent()
    expect(home.shown().me.workspaces?.nodes).toMatchObject([{ name: 'Garden', role: 'OWNER' }])

    const garden = await show(g.WorkspaceHomeDocument, { id })
    const workspace = () => garden.shown().workspace
    await useDrive(workspace().drive?.id ?? '', garden, () => workspace().drive?.root)

    for (const who of ['bob', 'carol'])
      await mutate(g.InvitePersonDocument, {
        input: { workspace: id, email: email(who), role: 'EDITOR' },
      })
    await garden.expectCurrent()
    const [, carols] = workspace().invites?.nodes ?? []
    expect(carols?.email).toBe(email('carol'))
    await mutate(g.RevokeInviteDocument, { input: { invite: carols?.id ?? '' } })
    await garden.expectCurrent()
    expect(workspace().invites?.nodes.map(invite => invite.email)).toEqual([email('bob')])

    const bob = await t.signIn(email('bob'))
    const bobs = clientOf(bob)
    const invited = await show(g.InvitedDocument, {}, { by: bobs, as: bob })
    const token = invited.shown().me.invites?.nodes[0]?.token ?? ''
    await mutate(g.AcceptInviteDocument, { input: { token } }, bobs)
    await invited.expectCurrent()
    expect(invited.shown().me).toMatchObject({
      invites: { nodes: [] },
      workspaces: { nodes: [{ name: 'Garden' }] },
    })
    invited.stop()
    garden.stop()

    // Changes by others arrive by subscriptions, or when the page is opened.
    client = clientOf(alice)
    const page = await show(g.WorkspaceHomeDocument, { id })
    const list = await show(g.HomeDocument, {})
    const members = () => page.shown().workspace.members?.nodes ?? []
    const [, second] = members()
    await mutate(g.ChangeRoleDocument, { input: { member: second?.id ?? '', role: 'VIEWER' } })
    await page.expectCurrent()
    expect(members().map(({ role }) => role)).toEqual(['OWNER', 'VIEWER'])
    await mutate(g.RemoveMemberDocument, { input: { member: second?.id ?? '' } })
    await page.expectCurrent()
    expect(page.shown().workspace.memberCount).toBe(1)

    const key = await mutate(g.CreateKeyDocument, {
      input: { workspace: id, name: 'sensor', scopes: ['WORKSPACES_FILES_WRITE'] },
    })
    await Promise.all([page.expectCurrent(), list.expectCurrent()])
    expect(page.shown().workspace.apiKeys?.nodes).toHaveLength(1)
    await mutate(g.DeleteKeyDocument, { input: { apiKey: key.createApiKey?.apiKey.id ?? '' } })
    await page.expectCurrent()
    expect(page.shown().workspace).toMatchObject({ apiKeyCount: 0, apiKeys: { nodes: [] } })

    page.stop()
    await mutate(g.DeleteWorkspaceDocument, { input: { workspace: id } })
    await list.expectCurrent()
    expect(list.shown().me.workspaces?.nodes).toEqual([])
    list.stop()
    home.stop()
  })

  it('has received no warning', () => {
    expect(clients.flatMap(({ warnings }) => warnings)).toEqual([])
  })
})

it('Each id has one type', () => {
  const doubles = [...typesOfIds].filter(([, types]) => types.size > 1)
  expect(typesOfIds.size).toBeGreaterThan(30)
  expect(doubles).toEqual([])
})
