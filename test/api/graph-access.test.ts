import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  driveOf,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

const FOLDERS = 60

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  const paths = Array.from({ length: FOLDERS }, (_, i) => `folder ${i}`)
  await Promise.all(paths.map(path => alice.rest('POST', '/api/folders', { json: { path } })))
})
afterAll(() => t.stop())

/** Entries of the root, each with a nested path back to the root. */
const circles = (depth: number): string =>
  depth === 0 ? 'id' : `entries(first: ${FOLDERS}) { nodes { parent { ${circles(depth - 1)} } } }`

async function statementsOf(query: string): Promise<number> {
  t.statements()
  const { errors } = await alice.graphql(query)
  expect(errors).toBeUndefined()
  return t.statements().length
}

describe('Circular lists', () => {
  it('count at every level of the response', async () => {
    expect(
      (await alice.graphql(`{ me { drive { root { ${circles(2)} } } } }`)).errors,
    ).toBeUndefined()
    const { code } = await alice.graphql(`{ me { drive { root { ${circles(3)} } } } }`)
    expect(code).toBe('INVALID_INPUT')
    const search = `search(query: "folder", first: ${FOLDERS})`
    const found = `{ me { drive { ${search} { nodes { drive { ${search} { nodes { drive { ${search} { nodes { id } } } } } } } } } } }`
    expect((await alice.graphql(found)).code).toBe('INVALID_INPUT')
  })

  it('are read once', async () => {
    for (const field of [
      'search(query: "folder") { nodes { id } }',
      'entry(path: "folder 1") { id }',
    ]) {
      const query = (first: number) =>
        `{ me { drive { root { entries(first: ${first}) { nodes { drive { ${field} } } } } } } }`
      // The first request of a session records its use.
      await alice.graphql(query(1))
      expect(await statementsOf(query(10))).toBe(await statementsOf(query(1)))
    }
  })

  it('are counted separately for each event of a subscription', async () => {
    const lists = Array.from(
      { length: 7 },
      (_, i) => `a${i}: entries(first: 1000) { nodes { id } }`,
    ).join(' ')
    const nested = `{ root { entries(first: ${FOLDERS}) { nodes { parent { entries(first: ${FOLDERS}) { nodes { id } } } } } ${lists} } }`
    const stream = await alice.subscribe(`subscription { driveChanged ${nested} }`)
    for (let i = 0; i < 6; i++) {
      await alice.upload(`event ${i}.txt`, 'x')
      expect((await stream.next()).errors).toBeUndefined()
    }
    stream.close()
    await stream.ended
  })
})

describe('Nodes', () => {
  it('are found in as many statements as a single node', async () => {
    const sessions = '{ me { sessions { id } identities { id } } }'
    for (let i = 0; i < 4; i++) await t.signIn('alice')
    const { data } = await alice.graphql<{ me: Record<string, { id: string }[]> }>(sessions)
    for (const found of Object.values(data?.me ?? {})) {
      const ids = found.map(({ id }) => id)
      const query = (some: string[]) => `{ nodes(ids: ${JSON.stringify(some)}) { __typename id } }`
      expect((await alice.graphql(query(ids))).data).toMatchObject({ nodes: found })
      expect(await statementsOf(query([...ids, ...ids]))).toBe(
        await statementsOf(query(ids.slice(0, 1))),
      )
    }
  })
})

describe('Nodes of every kind', () => {
  /** All ids in the response to a document. */
  async function idsIn(query: string, variables: object = {}): Promise<string[]> {
    const { data, errors } = await alice.graphql(query, variables)
    expect(errors).toBeUndefined()
    return Array.from(JSON.stringify(data).matchAll(/"id":"([^"]+)"/g), ([, id = '']) => id)
  }
  const change = (field: string, type: string, input: object, result: string) =>
    idsIn(`mutation ($input: ${type}!) { ${field}(input: $input) { ${result} { id } } }`, { input })

  it('are found in as many statements as a single node, whatever contains them', async () => {
    const bob = await t.signIn('bob')
    const uploads: string[] = []
    const invites: string[] = []
    for (const i of [0, 1, 2]) {
      const workspace = await found(alice, `Garden ${i}`)
      await join(t, workspace, bob, 'editor')
      await workspaceKey(t, alice, workspace, ['workspaces:read'])
      await privateKey(t, alice)
      const upload = { drive: await driveOf(alice, workspace), fileName: 'later.txt', size: 10 }
      uploads.push(...(await change('startUpload', 'StartUploadInput', upload, 'uploadSession')))
      const invite = { workspace, email: `guest${i}@example.com`, role: 'VIEWER' }
      invites.push(...(await change('createInvite', 'CreateInviteInput', invite, 'invite')))
      const path = `shared ${i}.txt`
      await alice.upload(path, path)
      await change('createLink', 'CreateLinkInput', { entries: { at: { path } } }, 'share')
    }
    const kinds = {
      members: await idsIn('{ me { workspaces { nodes { members { nodes { id } } } } } }'),
      keys: await idsIn(
        '{ me { apiKeys { nodes { id } } workspaces { nodes { apiKeys { nodes { id } } } } } }',
      ),
      shares: await idsIn('{ me { shares { nodes { id } } } }'),
      uploads,
      invites,
    }
    for (const [kind, ids] of Object.entries(kinds)) {
      const query = (some: string[]) => `{ nodes(ids: ${JSON.stringify(some)}) { id } }`
      expect([kind, await idsIn(query(ids))]).toEqual([kind, ids])
      expect(ids.length).toBeGreaterThanOrEqual(3)
      // The last node is a workspace key, because no list contains private keys.
      const one = await statementsOf(query(ids.slice(-1)))
      expect([kind, await statementsOf(query(ids))]).toEqual([kind, one])
    }
  })
})

describe('An empty id', () => {
  const codeOf = async (query: string) => (await alice.graphql(query)).code

  it('finds nothing, not even the caller’s drive or a private key', async () => {
    const codes = {
      'createFolder(input: { at: { drive: "", path: "x" } })': 'FORBIDDEN',
      'startUpload(input: { drive: "", fileName: "x", size: 1 })': 'FORBIDDEN',
      'moveEntries(input: { entries: [{ at: { path: "folder 1" } }], to: { id: "" } })':
        'FILE_NOT_FOUND',
      'deleteEntries(input: { entries: [{ id: "" }] })': 'FILE_NOT_FOUND',
      'createApiKey(input: { workspace: "", name: "x", scopes: [PRIVATE_FILES_READ] })':
        'FORBIDDEN',
    }
    for (const [field, code] of Object.entries(codes))
      expect([field, await codeOf(`mutation { ${field} { __typename } }`)]).toEqual([field, code])
  })
})

describe('A write-only key', () => {
  /** The response of a mutation to such a key, with the refused fields. */
  async function answered(caller: Person, document: string, variables?: object, file?: File) {
    const { data, errors } = await caller.graphql<Record<string, object | null>>(
      document,
      variables,
      file,
    )
    return {
      data,
      refused: (errors ?? []).map(({ path, extensions }) => [
        Array.isArray(path) && path.at(-1),
        extensions.code,
      ]),
    }
  }
  const refusal = (field: string) => [field, 'INSUFFICIENT_SCOPE']

  it('sees the entries that it has deleted, without their parent folder', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:delete'])
    await alice.upload('to go/a.txt', 'x')
    const DELETE = `mutation { deleteEntries(input: { entries: [{ at: { path: "to go/a.txt" } }] }) {
      filesDeleted folders { id } } }`
    expect(await answered(caller, DELETE)).toEqual({
      data: { deleteEntries: { filesDeleted: 1, folders: null } },
      refused: [refusal('folders')],
    })
  })

  it('sees everything that it has created, except the user behind it', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const upload = (name: string, selection: string) =>
      answered(
        caller,
        `mutation ($input: UploadFileInput!) { uploadFile(input: $input) { ${selection} } }`,
        { input: { file: null } },
        new File(['x'], name),
      )
    const made = await upload('new', 'file { path size contentType md5 createdAt updatedAt }')
    expect(made).toMatchObject({
      data: { uploadFile: { file: { path: 'new', size: 1 } } },
      refused: [],
    })
    expect((await upload('second', 'file { createdBy { email } }')).refused).toEqual([
      refusal('createdBy'),
    ])
    expect((await upload('third', 'drive { owner { ... on Person { email } } }')).refused).toEqual([
      refusal('owner'),
    ])
  })

  it('sees the new location of an entry that it moves, and none of its contents', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    await alice.upload('secret.txt', 'x')
    const move = (name: string, selection: string) =>
      answered(
        caller,
        `mutation { moveEntries(input: { entries: [{ at: { path: "secret.txt" } }], name: "${name}" }) {
          entries { id path ${selection} } drive { id } } }`,
      )
    expect(await move('secret.txt', '')).toMatchObject({
      data: { moveEntries: { entries: [{ path: 'secret.txt' }] } },
      refused: [],
    })
    for (const field of ['size', 'createdAt', 'updatedAt', 'contentType', 'md5', 'createdBy']) {
      const selection = field === 'createdBy' ? 'createdBy { name }' : `... on File { ${field} }`
      // The later responses are executed by compiled code.
      for (let i = 0; i < 4; i++) {
        const { data, refused } = await move('secret.txt', selection)
        expect(refused).toEqual([refusal(field)])
        expect(JSON.stringify(data)).not.toMatch(/alice|text\/plain|[0-9a-f]{32}/)
      }
    }
  })

  it('does not learn the content of a file from its note', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const { id } = (await alice.upload('noted.txt', 'x')).response.file
    const WRITE = `mutation { writeNote(input: { file: "${id}", content: "mine" }) { md5 note file { id ... on File { md5 } } } }`
    expect(await answered(caller, WRITE)).toEqual({
      data: { writeNote: { md5: null, note: 'mine', file: null } },
      refused: [refusal('md5'), refusal('md5')],
    })
  })

  it('marks a share as seen without seeing it', async () => {
    const bob = await t.signIn('bob')
    await bob.upload('for alice.txt', 'x')
    const SHARE = `mutation { createDirectShare(input: { entries: [{ at: { path: "for alice.txt" } }], email: "${alice.email}" }) { shares { id } } }`
    const { data } = await bob.graphql<{ createDirectShare: { shares: { id: string }[] } }>(SHARE)
    const id = data?.createDirectShare.shares[0]?.id
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const SEE = `mutation { markShareSeen(input: { share: { id: "${id}" } }) { seenId share { fileName md5 } } }`
    expect(await answered(caller, SEE)).toEqual({
      data: { markShareSeen: { seenId: id, share: null } },
      refused: [refusal('share')],
    })
  })

  it('sets roles without learning who the members are', async () => {
    const workspaceId = await found(alice)
    const bob = await t.signIn('bob')
    await join(t, workspaceId, bob, 'editor')
    const { caller } = await workspaceKey(t, alice, workspaceId, ['workspaces:members:manage'])
    const change = (selection: string) =>
      answered(
        caller,
        `mutation { changeMemberRole(input: { member: "member:${workspaceId}:${bob.userId}", role: VIEWER }) { member { id role ${selection} } } }`,
      )
    expect(await change('')).toMatchObject({
      data: { changeMemberRole: { member: { role: 'VIEWER' } } },
      refused: [],
    })
    for (const field of ['person', 'joinedAt'])
      expect(await change(field === 'person' ? 'person { email }' : field)).toEqual({
        data: { changeMemberRole: { member: null } },
        refused: [refusal(field)],
      })
  })
})

describe('A refusal at every node', () => {
  it('is answered with 50 errors and the number of the rest, interpreted and compiled', async () => {
    const { caller } = await privateKey(t, alice, ['private_files:write'])
    const LEVEL = `{ me { drive { root { entries(first: ${FOLDERS}, filter: { kind: FOLDER }) { nodes { id } } } } } }`
    const { data } = await alice.graphql<{
      me: { drive: { root: { entries: { nodes: { id: string }[] } } } }
    }>(LEVEL)
    const ids = data?.me.drive.root.entries.nodes.map(({ id }) => id) ?? []
    expect(ids).toHaveLength(FOLDERS)
    for (let time = 1; time <= 4; time++) {
      const { errors, extensions } = await caller.graphql(
        'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
        { ids },
      )
      expect(errors?.map(error => error.extensions.code)).toEqual(
        Array(50).fill('INSUFFICIENT_SCOPE'),
      )
      expect(extensions).toMatchObject({
        omittedErrors: FOLDERS - 50,
        cost: { cost: expect.any(Number) },
      })
    }
  })
})
