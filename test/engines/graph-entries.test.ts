import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ ...ROOMY, maxWorkspaceFolders: 10_000 })
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

async function ask(
  person: Person,
  query: string,
  variables: object = {},
  file?: File,
): Promise<Anything> {
  const { data, errors } = await person.graphql<Anything>(query, variables, file)
  expect(errors).toBeUndefined()
  return data
}

const codeOf = async (person: Person, query: string, variables: object = {}) =>
  (await person.graphql(query, variables)).code

const UPLOAD = `mutation ($input: UploadFileInput!) { uploadFile(input: $input) {
  file { id name path size contentType md5 note shareCount permissions createdBy { name email } parent { id path } }
  folder { id path fileCount } drive { id usage { usedBytes fileCount folderCount } } } }`
const upload = async (person: Person, folder: object | undefined, name: string, bytes = 'hello') =>
  (
    await ask(
      person,
      UPLOAD,
      { input: { file: null, ...(folder ? { folder } : {}) } },
      new File([bytes], name),
    )
  ).uploadFile

const MOVE = `mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) {
  entries { id path parent { id } } from { id path fileCount } to { id path fileCount } drive { usage { folderCount } } } }`
const DELETE = `mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) {
  deletedIds filesDeleted folders { id path fileCount } drive { usage { fileCount folderCount usedBytes } } } }`
const MKDIR = `mutation ($input: CreateFolderInput!) { createFolder(input: $input) {
  folder { id name path } parent { id path } drive { id } } }`
const mkdir = async (person: Person, path: string, drive?: string) =>
  (await ask(person, MKDIR, { input: { at: { path, ...(drive ? { drive } : {}) } } })).createFolder
    .folder

const driveOf = async (person: Person): Promise<string> =>
  (await ask(person, '{ me { drive { id } } }')).me.drive.id
const driveOfWorkspace = async (person: Person, id: string): Promise<string> =>
  (await ask(person, 'query ($id: ID) { workspace(id: $id) { drive { id } } }', { id })).workspace
    .drive.id

const ENTRIES = `query ($path: String!, $first: Int, $after: String, $orderBy: EntryOrder, $filter: EntryFilter) {
  me { drive { entry(path: $path) { ... on Folder {
    entries(first: $first, after: $after, orderBy: $orderBy, filter: $filter) {
      nodes { __typename id name } edges { cursor } pageInfo { hasNextPage endCursor } } } } } } }`
const NAME = { field: 'NAME' }

describe('A file', () => {
  it('is uploaded into a new folder, and returns all fields that a cache needs', async () => {
    const person = await t.signIn('uploader')
    const drive = await driveOf(person)
    const {
      file,
      folder,
      drive: after,
    } = await upload(person, { at: { path: 'docs/2026' } }, 'a.txt')
    expect(file).toMatchObject({
      name: 'a.txt',
      path: 'docs/2026/a.txt',
      size: 5,
      contentType: 'text/plain',
      note: '',
      shareCount: 0,
      permissions: ['READ', 'WRITE', 'DELETE', 'SHARE'],
      createdBy: { email: 'uploader@example.com' },
      parent: { id: folder.id, path: 'docs/2026' },
    })
    expect(folder.fileCount).toBe(1)
    expect(after).toEqual({ id: drive, usage: { usedBytes: 5, fileCount: 1, folderCount: 2 } })
    const again = await upload(person, { id: folder.id }, 'b.txt')
    expect(again.file.path).toBe('docs/2026/b.txt')
    const { node } = await ask(
      person,
      'query ($id: ID!) { node(id: $id) { __typename id ... on Entry { path } } }',
      {
        id: file.id,
      },
    )
    expect(node).toEqual({ __typename: 'File', id: file.id, path: 'docs/2026/a.txt' })
  })

  it('is the same component in a workspace', async () => {
    const room = await found(alice, 'Library')
    const bob = await t.signIn('bob')
    await join(t, room, bob, 'viewer')
    const drive = await driveOfWorkspace(alice, room)
    const { file } = await upload(alice, { at: { drive, path: 'docs' } }, 'a.txt')
    expect(file).toMatchObject({ path: '/docs/a.txt', note: null, shareCount: 0 })
    expect(file.permissions).toEqual(['READ', 'WRITE', 'DELETE', 'SHARE'])
    const query = `query ($id: ID!) { node(id: $id) { ... on File { permissions createdBy { name }
      drive { id owner { __typename ... on Workspace { name } } } download { url fileName expiresAt } } } }`
    const { node } = await ask(bob, query, { id: file.id })
    expect(node.permissions).toEqual(['READ'])
    expect(node.drive).toEqual({ id: drive, owner: { __typename: 'Workspace', name: 'Library' } })
    expect(await (await fetch(node.download.url)).text()).toBe('hello')
    expect(Date.parse(node.download.expiresAt)).toBeGreaterThan(Date.now())
    expect(await codeOf(bob, DELETE, { input: { entries: [{ id: file.id }] } })).toBe('FORBIDDEN')
    expect(await codeOf(bob, MKDIR, { input: { at: { drive, path: 'x' } } })).toBe('FORBIDDEN')
  })

  it('has the note of its owner', async () => {
    const { file } = await upload(alice, undefined, 'noted.txt', 'to be noted')
    const WRITE = `mutation ($input: WriteNoteInput!) { writeNote(input: $input) { note md5 file { id note } } }`
    const { writeNote } = await ask(alice, WRITE, { input: { file: file.id, content: 'mine' } })
    expect(writeNote).toEqual({ note: 'mine', md5: file.md5, file: { id: file.id, note: 'mine' } })
    const byMd5 = await ask(alice, WRITE, { input: { md5: file.md5, content: '' } })
    expect(byMd5.writeNote).toEqual({ note: '', md5: file.md5, file: null })
    expect(await codeOf(alice, WRITE, { input: { content: 'x' } })).toBe('INVALID_INPUT')
    expect(await codeOf(alice, WRITE, { input: { md5: '0'.repeat(32), content: 'x' } })).toBe(
      'FILE_NOT_FOUND',
    )
  })
})

describe('The list of a folder', () => {
  let person: Person
  const names = ['b.txt', 'a.txt', 'c.md']

  beforeAll(async () => {
    person = await t.signIn('lister')
    for (const [i, name] of names.entries())
      await upload(person, { at: { path: 'list' } }, name, 'x'.repeat(9 - i))
    for (const name of ['zoo', 'Äpfel']) await mkdir(person, `list/${name}`)
  })

  const list = async (variables: object) => {
    const { me } = await ask(person, ENTRIES, { path: 'list', orderBy: NAME, ...variables })
    return me.drive.entry.entries
  }
  const namesOf = (page: Anything) => page.nodes.map((node: Anything) => node.name)

  it.each([
    [NAME, ['zoo', 'Äpfel', 'a.txt', 'b.txt', 'c.md']],
    [{ field: 'NAME', direction: 'DESC' }, ['Äpfel', 'zoo', 'c.md', 'b.txt', 'a.txt']],
    [{ field: 'SIZE' }, ['zoo', 'Äpfel', 'c.md', 'a.txt', 'b.txt']],
    [{ field: 'SIZE', direction: 'DESC' }, ['b.txt', 'a.txt', 'c.md', 'Äpfel', 'zoo']],
    [{ field: 'CREATED_AT' }, ['b.txt', 'a.txt', 'c.md', 'zoo', 'Äpfel']],
    [{ field: 'UPDATED_AT', direction: 'DESC' }, ['Äpfel', 'zoo', 'c.md', 'a.txt', 'b.txt']],
  ])('is sorted by %j, and read page by page', async (orderBy, sorted) => {
    expect(namesOf(await list({ orderBy }))).toEqual(sorted)
    const walked: string[] = []
    let after: string | undefined
    for (let page = 0; page < 5; page++) {
      const { pageInfo, ...found } = await list({ orderBy, first: 1, after })
      walked.push(...namesOf(found))
      expect(pageInfo.hasNextPage).toBe(page < 4)
      after = pageInfo.endCursor
    }
    expect(walked).toEqual(sorted)
  })

  it.each([
    [{ kind: 'FOLDER' }, ['zoo', 'Äpfel']],
    [{ kind: 'FILE' }, ['a.txt', 'b.txt', 'c.md']],
    [{ nameContains: 'TXT' }, ['a.txt', 'b.txt']],
    [{ nameContains: 'äPF' }, ['Äpfel']],
    [{ nameContains: '%' }, []],
    [{ kind: 'FILE', nameContains: 'z' }, []],
  ])('filters by %j', async (filter, fitting) => {
    expect(namesOf(await list({ filter }))).toEqual(fitting)
  })

  it('refuses invalid pages and filters', async () => {
    for (const wrong of [
      { first: 0 },
      { first: 1001 },
      { after: 'x' },
      { filter: { nameContains: '' } },
    ])
      expect(await codeOf(person, ENTRIES, { path: 'list', orderBy: NAME, ...wrong })).toBe(
        'INVALID_INPUT',
      )
  })

  it('is searched by name at any depth', async () => {
    const SEARCH = `query ($query: String!, $first: Int, $after: String) { me { drive {
      search(query: $query, first: $first, after: $after) { nodes { path } pageInfo { hasNextPage endCursor } } } } }`
    await mkdir(person, 'list/deep/deeper/Zebra')
    const all = (await ask(person, SEARCH, { query: 'Z' })).me.drive.search
    expect(all.nodes.map((node: Anything) => node.path)).toEqual([
      'list/zoo',
      'list/deep/deeper/Zebra',
    ])
    const first = (await ask(person, SEARCH, { query: 'z', first: 1 })).me.drive.search
    const next = (
      await ask(person, SEARCH, { query: 'z', first: 1, after: first.pageInfo.endCursor })
    ).me.drive.search
    expect([...first.nodes, ...next.nodes]).toEqual(all.nodes)
    expect([first.pageInfo.hasNextPage, next.pageInfo.hasNextPage]).toEqual([true, false])
    await ask(person, DELETE, {
      input: { entries: [{ at: { path: 'list/deep' } }], recursive: true },
    })
    expect((await ask(person, SEARCH, { query: 'zebra' })).me.drive.search.nodes).toEqual([])
    expect(await codeOf(person, SEARCH, { query: '' })).toBe('INVALID_INPUT')
  })

  it('costs four statements for a hundred entries with people and shares', async () => {
    const many = await t.signIn('many')
    for (let i = 0; i < 100; i++) await mkdir(many, `many/${i}`)
    await upload(many, { at: { path: 'many' } }, 'a.txt')
    const page = `nodes { id name size createdBy { name } permissions ... on File { shareCount } }`
    const query = `{ me { drive { entry(path: "many") { ... on Folder { entries(first: 101) { ${page} } } } } } }`
    t.statements()
    const { me } = await ask(many, query)
    expect(me.drive.entry.entries.nodes.length).toBe(101)
    // One statement for the caller, and one each for the entry, the list, people and shares.
    expect(t.statements().length).toBe(5)
  })
})

describe('Moving', () => {
  it('accepts several entries by id or path, and returns their former places', async () => {
    const person = await t.signIn('mover')
    const one = (await upload(person, { at: { path: 'in' } }, '1.txt')).file
    await upload(person, { at: { path: 'in/sub' } }, '2.txt')
    const input = {
      entries: [{ id: one.id }, { at: { path: 'in/sub' } }],
      to: { at: { path: 'out/new' } },
    }
    const { moveEntries } = await ask(person, MOVE, { input })
    expect(moveEntries.entries.map((entry: Anything) => entry.path)).toEqual([
      'out/new/1.txt',
      'out/new/sub',
    ])
    expect(moveEntries.from).toMatchObject([{ path: 'in', fileCount: 0 }])
    expect(moveEntries.to).toMatchObject({ path: 'out/new', fileCount: 2 })
    expect(moveEntries.drive.usage.folderCount).toBe(4)
    const back = await ask(person, MOVE, {
      input: { entries: [{ id: one.id }], to: { id: moveEntries.from[0].id }, name: 'one.txt' },
    })
    expect(back.moveEntries.entries[0].path).toBe('in/one.txt')
    const renamed = await ask(person, MOVE, {
      input: { entries: [{ id: one.id }], name: 'uno.txt' },
    })
    expect(renamed.moveEntries).toMatchObject({
      entries: [{ path: 'in/uno.txt' }],
      from: [{ path: 'in' }],
      to: null,
    })
  })

  it('moves all entries or none, and refuses impossible moves', async () => {
    const person = await t.signIn('refused-mover')
    for (const path of ['a/x.txt', 'b/x.txt', 'b/c/d.txt']) {
      const cut = path.lastIndexOf('/')
      await upload(person, { at: { path: path.slice(0, cut) } }, path.slice(cut + 1))
    }
    const at = (path: string) => ({ at: { path } })
    const refused = (input: object) => codeOf(person, MOVE, { input })
    expect(await refused({ entries: [at('b/c'), at('b/x.txt')], to: at('a') })).toBe('PATH_EXISTS')
    expect(await refused({ entries: [at('b/c')] })).toBe('INVALID_INPUT')
    expect(await refused({ entries: [at('b/c'), at('a')], name: 'x' })).toBe('INVALID_INPUT')
    expect(await refused({ entries: [at('b'), at('b/c')], to: at('z') })).toBe('INVALID_INPUT')
    expect(await refused({ entries: [at('b')], to: at('b/c') })).toBe('INVALID_PATH')
    expect(await refused({ entries: [at('')], to: at('a') })).toBe('INVALID_PATH')
    expect(await refused({ entries: [at('gone')], to: at('a') })).toBe('FILE_NOT_FOUND')
    const { me } = await ask(person, '{ me { drive { entry(path: "b/c/d.txt") { path } } } }')
    expect(me.drive.entry.path).toBe('b/c/d.txt')
    const bob = await t.signIn('bob')
    const id = (await ask(person, '{ me { drive { entry(path: "a") { id } } } }')).me.drive.entry.id
    expect(await codeOf(bob, MOVE, { input: { entries: [{ id }], name: 'mine' } })).toBe(
      'FILE_NOT_FOUND',
    )
    expect(await codeOf(bob, 'query ($id: ID!) { node(id: $id) { id } }', { id })).toBeUndefined()
    expect((await ask(bob, 'query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull()
  })
})

describe('Deleting', () => {
  it('accepts files and folders together, and keeps the totals correct', async () => {
    const person = await t.signIn('deleter')
    const { file } = await upload(person, { at: { path: 'a/b' } }, '1.txt')
    await upload(person, { at: { path: 'a/b' } }, '2.txt')
    await upload(person, { at: { path: 'a' } }, '3.txt')
    const entries = [{ id: file.id }, { at: { path: 'a/b' } }]
    expect(await codeOf(person, DELETE, { input: { entries } })).toBe('FOLDER_NOT_EMPTY')
    const { deleteEntries } = await ask(person, DELETE, { input: { entries, recursive: true } })
    expect(deleteEntries.deletedIds).toHaveLength(2)
    expect(deleteEntries).toMatchObject({
      filesDeleted: 2,
      folders: [{ path: 'a', fileCount: 1 }],
      drive: { usage: { fileCount: 1, folderCount: 1, usedBytes: 5 } },
    })
    expect(
      await codeOf(person, DELETE, {
        input: { entries: [{ at: { path: 'a/3.txt' } }, { id: file.id }] },
      }),
    ).toBe('FILE_NOT_FOUND')
    expect(
      (await ask(person, '{ me { drive { usage { fileCount } } } }')).me.drive.usage.fileCount,
    ).toBe(1)
    expect(
      await codeOf(person, DELETE, {
        input: { entries: [{ at: { path: '/' } }], recursive: true },
      }),
    ).toBe('INVALID_PATH')
    expect(await codeOf(person, DELETE, { input: { entries: [] } })).toBe('INVALID_INPUT')
    await t.settle()
  })

  it('leaves the results of other mutations in the request', async () => {
    const person = await t.signIn('two-at-once')
    const { data, errors } = await person.graphql<Anything>(`mutation {
      one: createFolder(input: { at: { path: "one" } }) { folder { path } }
      gone: deleteEntries(input: { entries: [{ at: { path: "gone" } }] }) { deletedIds } }`)
    expect(data).toEqual({ one: { folder: { path: 'one' } }, gone: null })
    expect(errors?.map(error => error.extensions.code)).toEqual(['FILE_NOT_FOUND'])
  })
})

describe('A multipart upload', () => {
  const START = `mutation ($input: StartUploadInput!) { startUpload(input: $input) {
    uploadSession { id fileName folder size chunkSize partCount received direct parts { url } drive { id } } } }`
  const PART = `mutation ($input: UploadPartInput!) { uploadPart(input: $input) {
    number size uploadSession { id received } } }`
  const COMPLETE = `mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) {
    completedId file { path size } folder { path fileCount } drive { usage { fileCount } } } }`
  const ABORT = `mutation ($input: AbortUploadInput!) { abortUpload(input: $input) { abortedId drive { id } } }`

  it('is started, found again, filled and completed', async () => {
    const room = await found(alice, 'Uploads')
    const drive = await driveOfWorkspace(alice, room)
    const { startUpload } = await ask(alice, START, {
      input: { drive, folder: 'in', fileName: 'p.txt', size: 5 },
    })
    const { id } = startUpload.uploadSession
    expect(startUpload.uploadSession).toMatchObject({
      folder: '/in',
      received: [],
      parts: null,
      drive: { id: drive },
    })
    const part = await ask(
      alice,
      PART,
      { input: { uploadSession: id, number: 1, part: null } },
      new File(['parts'], 'part'),
    )
    expect(part.uploadPart).toEqual({ number: 1, size: 5, uploadSession: { id, received: [1] } })
    const FIND = 'query ($id: ID!) { node(id: $id) { ... on UploadSession { received } } }'
    expect((await ask(alice, FIND, { id })).node).toEqual({ received: [1] })
    const bob = await t.signIn('bob')
    await join(t, room, bob, 'editor')
    expect((await ask(bob, FIND, { id })).node).toBeNull()
    expect(await codeOf(bob, COMPLETE, { input: { uploadSession: id } })).toBe('UPLOAD_NOT_FOUND')
    const { completeUpload } = await ask(alice, COMPLETE, { input: { uploadSession: id } })
    expect(completeUpload).toEqual({
      completedId: id,
      file: { path: '/in/p.txt', size: 5 },
      folder: { path: '/in', fileCount: 1 },
      drive: { usage: { fileCount: 1 } },
    })
    expect(await codeOf(alice, ABORT, { input: { uploadSession: id } })).toBe('UPLOAD_NOT_FOUND')
  })

  it('is cancelled', async () => {
    const { startUpload } = await ask(alice, START, { input: { fileName: 'never.txt', size: 5 } })
    const { id, drive } = startUpload.uploadSession
    const { abortUpload } = await ask(alice, ABORT, { input: { uploadSession: id } })
    expect(abortUpload).toEqual({ abortedId: id, drive })
  })
})

describe('API keys', () => {
  it('can do what their scopes allow, and access no other drive', async () => {
    const person = await t.signIn('keeper')
    const room = await found(person, 'Keys')
    const drive = await driveOfWorkspace(person, room)
    const own = await driveOf(person)
    await put(person, room, '/a.txt')
    await upload(person, undefined, 'a.txt')
    const writer = (await privateKey(t, person, ['private_files:write'])).caller
    const reader = (await workspaceKey(t, person, room, ['workspaces:files:read'])).caller
    const NODE = 'query ($id: ID!) { node(id: $id) { id ... on Drive { root { fileCount } } } }'
    expect((await ask(reader, NODE, { id: drive })).node).toEqual({
      id: drive,
      root: { fileCount: 1 },
    })
    expect(await codeOf(reader, MKDIR, { input: { at: { drive, path: 'x' } } })).toBe(
      'INSUFFICIENT_SCOPE',
    )
    expect(await codeOf(reader, MKDIR, { input: { at: { path: 'x' } } })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(reader, NODE, { id: own })).toBe('KEY_OUT_OF_BOUNDS')
    expect(await codeOf(writer, NODE, { id: own })).toBe('INSUFFICIENT_SCOPE')
    expect(await codeOf(writer, MKDIR, { input: { at: { drive, path: 'x' } } })).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
    const made = await ask(
      writer,
      'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { path } } }',
      {
        input: { at: { path: 'written' } },
      },
    )
    expect(made.createFolder.folder.path).toBe('written')
    expect(
      await codeOf(writer, DELETE, { input: { entries: [{ at: { path: 'written' } }] } }),
    ).toBe('INSUFFICIENT_SCOPE')
    const other = await driveOfWorkspace(alice, await found(alice, 'Other'))
    expect(await codeOf(person, MKDIR, { input: { at: { drive: other, path: 'x' } } })).toBe(
      'FORBIDDEN',
    )
    expect((await ask(person, NODE, { id: other })).node).toBeNull()
    const mixed = [{ at: { drive, path: 'a.txt' } }, { at: { path: 'a.txt' } }]
    expect(await codeOf(person, DELETE, { input: { entries: mixed } })).toBe('INVALID_INPUT')
    expect(await codeOf(t.anonymous, MKDIR, { input: { at: { path: 'x' } } })).toBe(
      'UNAUTHENTICATED',
    )
  })
})

describe('A subscription', () => {
  it('shows a drive whenever its contents change', async () => {
    const room = await found(alice, 'Live')
    const drive = await driveOfWorkspace(alice, room)
    const query =
      'subscription ($drive: ID) { driveChanged(drive: $drive) { id usage { fileCount } permissions } }'
    const events = await alice.subscribe(query, { drive })
    await put(alice, room, '/a.txt')
    const { data } = (await events.next()) as Anything
    expect(data.driveChanged).toEqual({
      id: drive,
      usage: { fileCount: 1 },
      permissions: ['READ', 'WRITE', 'DELETE', 'SHARE'],
    })
    events.close()
  })
})
