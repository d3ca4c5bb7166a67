import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { driveOf, found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import {
  type GraphqlAnswer,
  type Person,
  type RestAnswer,
  startApp,
  type TestApp,
} from '../support/harness.ts'

const PART_BYTES = 1024
const FIRST = 'a'.repeat(PART_BYTES)

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
let made = 0

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART_BYTES) })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  carol = await t.signIn('carol')
})
afterEach(() => expectConsistent(t))
afterAll(() => t.stop())

const SHARE =
  'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token mayEdit } } }'
const UPDATE =
  'mutation ($input: UpdateShareInput!) { updateShare(input: $input) { share { ... on DirectShare { mayEdit allowDownload } } } }'
const UPLOAD = `mutation ($input: UploadFileInput!) { uploadFile(input: $input) {
  file { id path size md5 revision permissions drive { id permissions } } } }`
const FOLDER =
  'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { path } } }'
const MOVE =
  'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { path } } }'
const REMOVE =
  'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { filesDeleted } }'
const START =
  'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id folder } } }'
const PART = 'mutation ($input: UploadPartInput!) { uploadPart(input: $input) { crc32 } }'
const COMPLETE =
  'mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { file { path } } }'
const BEGIN =
  'mutation ($input: BeginCompletionInput!) { beginCompletion(input: $input) { uploadSession { completion { state failure { code } file { path } } } } }'

interface Shared {
  id: string
  token: string
  /** The path of Alice's folder. */
  folder: string
}

/** A folder deep in Alice's drive, shared with bob. */
async function folder(terms: object = { mayEdit: true }): Promise<Shared> {
  const path = `top ${++made}/shared`
  await alice.upload(`${path}/plan.txt`, 'walk', 'text/plain')
  await alice.upload(`${path}/day 1/sea.txt`, 'blue', 'text/plain')
  await alice.upload(`top ${made}/secret.txt`, 'mine', 'text/plain')
  return { ...(await share(alice, { at: { path } }, terms)), folder: path }
}

async function share(
  by: Person,
  entry: object,
  terms: object,
  email = bob.email,
): Promise<Omit<Shared, 'folder'>> {
  const { shares } = (await ask(by, SHARE, { input: { entries: [entry], email, ...terms } }))
    .createDirectShare
  return shares[0]
}

const at = (share: { id: string }, path: string) => ({ at: { drive: share.id, path } })
const file = (name: string, content = 'fresh') => new File([content], name, { type: 'text/plain' })
const upload = async (
  person: Person,
  to: object,
  name: string,
  content?: string,
  more: object = {},
) =>
  (await ask(person, UPLOAD, { input: { file: null, folder: to, ...more } }, file(name, content)))
    .uploadFile.file
const uploadCode = async (person: Person, to: object, name: string, more: object = {}) =>
  (await person.graphql(UPLOAD, { input: { file: null, folder: to, ...more } }, file(name))).code
const editCodes = async (person: Person, share: { id: string }) => [
  await uploadCode(person, at(share, ''), `late ${++made}.txt`),
  await codeOf(person, FOLDER, { input: at(share, `late ${++made}`) }),
  await codeOf(person, MOVE, { input: { entries: [at(share, 'plan.txt')], name: 'other.txt' } }),
  await codeOf(person, REMOVE, { input: { entries: [at(share, 'day 1')], recursive: true } }),
  await codeOf(person, START, { input: { drive: share.id, fileName: 'late.txt', size: 1 } }),
]
const FORBIDDEN = Array.from({ length: 5 }, () => 'FORBIDDEN')

/** The paths of Alice's entries at and below a path, relative to it. */
async function tree(path: string, person = alice): Promise<string[]> {
  const { response } = await person.rest('GET', `/api/files/tree?path=${encodeURIComponent(path)}`)
  const below = await Promise.all(
    response.folders.map((name: string) => tree(`${path}/${name}`, person)),
  )
  return [
    ...response.files.map((f: { name: string }) => f.name),
    ...response.folders.map((n: string) => `${path}/${n}/`),
    ...below.flat(),
  ].sort()
}

const within = async ({ folder }: Shared) =>
  (await tree(folder)).map(path => path.slice(folder.length + 1))
const said = ({ status, response }: RestAnswer) => [status, response?.code]
async function bytesAt(path: string): Promise<string> {
  const query =
    'query ($path: String!) { me { drive { entry(path: $path) { ... on File { download { url } } } } } }'
  const { url } = (await ask(alice, query, { path })).me.drive.entry.download
  return (await fetch(url)).text()
}

interface Happened {
  kind: string
  actor: { email: string } | null
  path?: string
}

/** The last entries in the log of Alice's drive. */
async function events(count: number): Promise<Happened[]> {
  const { response } = await alice.rest('GET', '/api/events?limit=1000')
  const actors = new Map([alice, bob, carol].map(person => [person.userId, person.email]))
  return response.events
    .slice(-count)
    .map((event: { kind: string; actor_id: string; details: Happened }) => ({
      kind: event.kind,
      actor: actors.get(event.actor_id),
      path: event.details.path,
    }))
}

describe('A folder that is shared for editing', () => {
  it('accepts files, folders, moves, renames, replacements and deletions by relative paths', async () => {
    const it = await folder()
    const sent = await upload(bob, at(it, 'new/deep'), 'a.txt')
    expect(sent).toMatchObject({
      path: 'new/deep/a.txt',
      size: 5,
      permissions: ['WRITE', 'DELETE'],
    })
    expect((await ask(bob, FOLDER, { input: at(it, 'day 2') })).createFolder.folder).toEqual({
      path: 'day 2',
    })
    const move = { entries: [at(it, 'day 1')], to: at(it, 'day 2') }
    expect((await ask(bob, MOVE, { input: move })).moveEntries.entries).toEqual([
      { path: 'day 2/day 1' },
    ])
    const rename = { entries: [at(it, 'plan.txt')], name: 'idea.txt' }
    expect((await ask(bob, MOVE, { input: rename })).moveEntries.entries).toEqual([
      { path: 'idea.txt' },
    ])
    const more = await upload(bob, at(it, ''), 'idea.txt', 'run!', {
      onConflict: 'REPLACE',
      expectedRevision: 2,
    })
    expect(more).toMatchObject({ path: 'idea.txt', revision: 3 })
    expect(await bytesAt(`${it.folder}/idea.txt`)).toBe('run!')
    expect(
      await uploadCode(bob, at(it, ''), 'idea.txt', { onConflict: 'REPLACE', expectedRevision: 2 }),
    ).toBe('REVISION_MISMATCH')
    const gone = { entries: [at(it, 'day 2')], recursive: true }
    expect((await ask(bob, REMOVE, { input: gone })).deleteEntries).toEqual({ filesDeleted: 1 })
    expect(await within(it)).toEqual(['idea.txt', 'new/', 'new/deep/', 'new/deep/a.txt'])
  })

  it('names the revisions that an editor sends, of its files and of a single file', async () => {
    const it = await folder()
    const revisions = async () =>
      (
        await ask(
          bob,
          'query ($token: String!) { sharedFolder(token: $token) { entries { name revision } } }',
          { token: it.token },
        )
      ).sharedFolder.entries.map((entry: { revision: number }) => entry.revision)
    expect(await revisions()).toEqual([1, 1])
    const over = { onConflict: 'REPLACE', expectedRevision: 1 }
    await upload(bob, at(it, ''), 'plan.txt', 'run', over)
    expect(await revisions()).toEqual([1, 2])
    expect(await uploadCode(bob, at(it, ''), 'plan.txt', over)).toBe('REVISION_MISMATCH')

    const single = await share(alice, { at: { path: `${it.folder}/plan.txt` } }, { mayEdit: true })
    const revisionOf = async (id: string) =>
      (
        await ask(bob, 'query ($id: ID!) { node(id: $id) { ... on DirectShare { revision } } }', {
          id,
        })
      ).node.revision
    expect(await revisionOf(single.id)).toBe(2)
    expect(await revisionOf(it.id)).toBeNull()
    await upload(bob, at(single, ''), 'plan.txt', 'rest', { ...over, expectedRevision: 2 })
    expect(await revisionOf(single.id)).toBe(3)
    expect(await uploadCode(bob, at(single, ''), 'plan.txt', over)).toBe('REVISION_MISMATCH')
  })

  it('records each change with its person and path in the log of the owner', async () => {
    const it = await folder()
    await upload(bob, at(it, 'in'), 'a.txt')
    await ask(bob, MOVE, { input: { entries: [at(it, 'plan.txt')], name: 'idea.txt' } })
    await upload(bob, at(it, ''), 'idea.txt', 'run', { onConflict: 'REPLACE' })
    await ask(bob, REMOVE, { input: { entries: [at(it, 'idea.txt')] } })
    const path = (below: string) => `${it.folder}/${below}`
    expect(await events(5)).toEqual([
      { kind: 'folder.created', actor: bob.email, path: path('in') },
      { kind: 'file.created', actor: bob.email, path: path('in/a.txt') },
      { kind: 'file.renamed', actor: bob.email, path: path('idea.txt') },
      { kind: 'file.replaced', actor: bob.email, path: path('idea.txt') },
      { kind: 'file.deleted', actor: bob.email, path: path('idea.txt') },
    ])
  })

  it('keeps versions and deleted entries for the owner, and counts towards their quota', async () => {
    const it = await folder()
    const used = async (person: Person) =>
      (await ask(person, '{ me { drive { usage { usedBytes fileCount keptBytes } } } }')).me.drive
        .usage
    const [before, his] = [await used(alice), await used(bob)]
    await upload(bob, at(it, ''), 'plan.txt', 'stroll', { onConflict: 'REPLACE' })
    await upload(alice, { at: { path: it.folder } }, 'plan.txt', 'run', { onConflict: 'REPLACE' })
    const { versions } = (
      await ask(
        alice,
        `query ($path: String!) { me { drive { entry(path: $path) { ... on File {
          createdBy { email } versions { nodes { size createdBy { email } } } } } } } }`,
        { path: `${it.folder}/plan.txt` },
      )
    ).me.drive.entry
    expect(versions.nodes).toEqual([
      { size: 6, createdBy: { email: bob.email } },
      { size: 4, createdBy: { email: alice.email } },
    ])
    await upload(bob, at(it, ''), 'more.txt', 'four')
    expect(await used(alice)).toMatchObject({
      usedBytes: before.usedBytes + 3,
      fileCount: before.fileCount + 1,
    })
    await ask(bob, REMOVE, { input: { entries: [at(it, 'more.txt')] } })
    expect(await used(bob)).toEqual(his)
    const [item] = (await alice.rest('GET', '/api/trash')).response.items
    expect(item).toMatchObject({ path: `${it.folder}/more.txt`, deleted_by: bob.userId })
    await alice.rest('POST', '/api/trash/restore', { json: { items: [item.id] } })
    expect(await within(it)).toContain('more.txt')
    expect((await bob.rest('GET', '/api/trash')).response.items).toEqual([])
  })

  it('refuses invalid, taken and missing names, and too large files, by REST', async () => {
    const it = await folder()
    const base = `/api/shared/${it.token}`
    const send = (name: string, folder = '') => {
      const form = new FormData()
      form.append('folder', folder)
      form.append('file', new Blob(['1234']), name)
      return bob.rest('POST', `${base}/upload`, { form })
    }
    const make = (path: string) => bob.rest('POST', `${base}/folders`, { json: { path } })
    const move = (source: string, destination: string) =>
      bob.rest('POST', `${base}/move`, { json: { source, destination } })
    const remove = (path: string) => bob.rest('DELETE', `${base}/entries?path=${path}`)
    const [invalid, taken] = [
      [400, 'INVALID_PATH'],
      [409, 'PATH_EXISTS'],
    ]
    expect(said(await send('a.txt', '../secret'))).toEqual(invalid)
    expect(said(await make('../secret'))).toEqual(invalid)
    expect(said(await move('plan.txt', '../secret'))).toEqual(invalid)
    expect(said(await remove('../secret'))).toEqual(invalid)
    expect(said(await send('plan.txt'))).toEqual(taken)
    expect(said(await make('day 1'))).toEqual(taken)
    expect(said(await move('plan.txt', 'day 1'))).toEqual(taken)
    expect(said(await remove('none'))).toEqual([404, 'FILE_NOT_FOUND'])
    await t.limit({ maxFileSizeBytes: 3 })
    try {
      expect(said(await send('large.txt'))).toEqual([400, 'FILE_TOO_LARGE'])
    } finally {
      await t.limit({ maxFileSizeBytes: 5 * 1024 ** 3 })
    }
    expect(await within(it)).toEqual(['day 1/', 'day 1/sea.txt', 'plan.txt'])
  })

  it('refuses what exceeds the limits of the owner, without details about their drive', async () => {
    const it = await folder()
    const start = (name: string, size: number) =>
      bob.graphql<{ startUpload: { uploadSession: { id: string } } }>(START, {
        input: { drive: it.id, folder: name, fileName: 'b.txt', size },
      })
    const uploadSession = (await start('new 1', 0)).data?.startUpload.uploadSession.id
    const full = { code: 'SHARE_FULL' }
    const refusal = (answer: GraphqlAnswer<unknown>) => answer.errors?.[0]?.extensions
    await t.limit({ maxTotalStorageBytes: 0, maxFolders: 0 })
    try {
      const sent = { input: { file: null, folder: at(it, '') } }
      expect(refusal(await bob.graphql(UPLOAD, sent, file('more.txt')))).toEqual(full)
      expect(refusal(await start('', 1))).toEqual(full)
      expect(refusal(await bob.graphql(COMPLETE, { input: { uploadSession } }))).toEqual(full)
      expect(refusal(await bob.graphql(FOLDER, { input: at(it, 'new 2') }))).toEqual(full)
      const move = { entries: [at(it, 'plan.txt')], to: at(it, 'new 3') }
      expect(refusal(await bob.graphql(MOVE, { input: move }))).toEqual(full)
      const json = { source: 'plan.txt', destination: 'new 4/plan.txt' }
      const moved = await bob.rest('POST', `/api/shared/${it.token}/move`, { json })
      expect([moved.status, moved.response]).toEqual([403, full])
    } finally {
      await t.limit({ maxTotalStorageBytes: 5 * 1024 ** 3, maxFolders: 10_000 })
    }
    expect(await within(it)).toEqual(['day 1/', 'day 1/sea.txt', 'plan.txt'])
  })

  it('accepts multipart uploads, which survive a move of the folder', async () => {
    const it = await folder()
    const input = { drive: it.id, folder: 'parts', fileName: 'b.txt', size: PART_BYTES + 2 }
    const { uploadSession } = (await ask(bob, START, { input })).startUpload
    expect(uploadSession.folder).toBe('parts')
    const sent = (number: number, bytes: string) =>
      ask(
        bob,
        PART,
        { input: { uploadSession: uploadSession.id, number, part: null } },
        new File([bytes], 'part'),
      )
    await sent(1, FIRST)
    const moved = `away ${made}`
    await alice.rest('POST', '/api/folders/move', {
      json: { source: it.folder, destination: moved },
    })
    await sent(2, 'ef')
    const done = await ask(bob, COMPLETE, { input: { uploadSession: uploadSession.id } })
    expect(done.completeUpload.file).toEqual({ path: 'parts/b.txt' })
    expect(await bytesAt(`${moved}/parts/b.txt`)).toBe(`${FIRST}ef`)
    expect((await events(1))[0]).toMatchObject({ path: `${moved}/parts/b.txt` })
  })

  it('can be edited through REST with the share token', async () => {
    const it = await folder()
    const base = `/api/shared/${it.token}`
    const form = new FormData()
    form.append('folder', 'rest')
    form.append('file', new Blob(['by REST']), 'r.txt')
    const sent = await bob.rest('POST', `${base}/upload`, { form })
    expect(sent.response.file).toMatchObject({ path: 'rest/r.txt', folder: 'rest', name: 'r.txt' })
    const put = await bob.rest('POST', `${base}/folders`, { json: { path: 'rest/sub' } })
    expect(put.response.folder).toMatchObject({ path: 'rest/sub' })
    const move = (source: string, destination: string) =>
      bob.rest('POST', `${base}/move`, { json: { source, destination } })
    expect((await move('rest/r.txt', 'rest/sub/s.txt')).response).toEqual({
      source: 'rest/r.txt',
      destination: 'rest/sub/s.txt',
    })
    expect((await move('rest', 'other')).response).toMatchObject({
      source: 'rest',
      destination: 'other',
    })
    expect(said(await move('none', 'other2'))).toEqual([404, 'FILE_NOT_FOUND'])
    const remove = (path: string, query = '') =>
      bob.rest('DELETE', `${base}/entries?path=${path}${query}`)
    expect(said(await remove('other'))).toEqual([400, 'FOLDER_NOT_EMPTY'])
    const gone = await remove('other', '&recursive=true')
    expect(gone.response).toEqual({ path_deleted: 'other', files_deleted: 1 })
    expect(await within(it)).toEqual(['day 1/', 'day 1/sea.txt', 'plan.txt'])
  })
})

describe('Entries outside a shared folder', () => {
  it('cannot be addressed by path or by id', async () => {
    const it = await folder()
    const top = it.folder.split('/')[0]
    const drive = await driveOf(alice)
    for (const path of ['../secret.txt', `${top}/secret.txt`, 'secret.txt'])
      expect(await codeOf(bob, REMOVE, { input: { entries: [at(it, path)] } })).toMatch(
        /^(INVALID_PATH|FILE_NOT_FOUND)$/,
      )
    expect(await codeOf(bob, REMOVE, { input: { entries: [{ at: { drive, path: 'x' } }] } })).toBe(
      'FORBIDDEN',
    )
    const { entry } = (
      await ask(alice, 'query ($path: String!) { me { drive { entry(path: $path) { id } } } }', {
        path: `${top}/secret.txt`,
      })
    ).me.drive
    expect(await codeOf(bob, MOVE, { input: { entries: [entry], to: at(it, 'x') } })).toBe(
      'FILE_NOT_FOUND',
    )
    // The shared folder itself remains.
    expect(await codeOf(bob, REMOVE, { input: { entries: [at(it, '')], recursive: true } })).toBe(
      'INVALID_PATH',
    )
    expect(await codeOf(bob, MOVE, { input: { entries: [at(it, '')], name: 'mine' } })).toBe(
      'INVALID_PATH',
    )
  })

  it('do not appear in the results of changes', async () => {
    const it = await folder()
    const { data, errors } = await bob.graphql<{ uploadFile: { file: object; folder: null } }>(
      `mutation ($input: UploadFileInput!) { uploadFile(input: $input) {
        file { path parent { path } createdBy { email } shareCount versions { nodes { id } } drive { usage { usedBytes } } }
        folder { path } } }`,
      { input: { file: null, folder: at(it, '') } },
      file('x.txt'),
    )
    expect(errors?.map(({ extensions: { code } }) => code)).toEqual(errors?.map(() => 'FORBIDDEN'))
    expect(JSON.stringify(data)).not.toContain(it.folder.split('/')[0])
  })

  it('cannot be reached through operations on drives', async () => {
    const it = await folder()
    await alice.rest(
      'DELETE',
      `/api/files/delete?file=${encodeURIComponent(`${it.folder}/plan.txt`)}`,
    )
    const refused = async (query: string, input: object) => codeOf(bob, query, { input })
    expect(
      await refused('mutation ($input: EmptyTrashInput!) { emptyTrash(input: $input) { count } }', {
        drive: it.id,
      }),
    ).toBe('FORBIDDEN')
    expect(
      await refused(
        'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
        {
          entries: at(it, 'day 1'),
        },
      ),
    ).toBe('FORBIDDEN')
    expect(
      await refused(
        'mutation ($input: CopyEntriesInput!) { copyEntries(input: $input) { drive { id } } }',
        {
          entries: [at(it, 'day 1')],
          to: { at: { path: '' } },
        },
      ),
    ).toBe('FORBIDDEN')
    expect(
      await codeOf(bob, SHARE, { input: { entries: [at(it, 'day 1')], email: carol.email } }),
    ).toBe('FORBIDDEN')
    expect((await alice.rest('GET', '/api/trash')).response.items[0].path).toBe(
      `${it.folder}/plan.txt`,
    )
  })
})

describe('A single file that is shared for editing', () => {
  it('accepts new content, and nothing else', async () => {
    const path = `one ${++made}/note.txt`
    await alice.upload(path, 'old', 'text/plain')
    await alice.upload(`one ${made}/beside.txt`, 'mine', 'text/plain')
    const it = await share(alice, { at: { path } }, { mayEdit: true })
    const replaced = await upload(bob, at(it, ''), 'whatever.txt', 'new content', {
      onConflict: 'REPLACE',
    })
    expect(replaced).toMatchObject({ path: 'note.txt', size: 11, permissions: ['WRITE'] })
    expect(await bytesAt(path)).toBe('new content')
    expect((await events(1))[0]).toEqual({ kind: 'file.replaced', actor: bob.email, path })
    const { id } = (
      await ask(bob, START, {
        input: { drive: it.id, fileName: 'x', size: 2, onConflict: 'REPLACE' },
      })
    ).startUpload.uploadSession
    await ask(
      bob,
      PART,
      { input: { uploadSession: id, number: 1, part: null } },
      new File(['hi'], 'part'),
    )
    await ask(bob, COMPLETE, { input: { uploadSession: id } })
    expect(await bytesAt(path)).toBe('hi')
    for (const more of [{}, { onConflict: 'KEEP_BOTH' }])
      expect(await uploadCode(bob, at(it, ''), 'note.txt', more)).toBe('FORBIDDEN')
    expect(await codeOf(bob, FOLDER, { input: at(it, 'x') })).toBe('FORBIDDEN')
    expect(await codeOf(bob, MOVE, { input: { entries: [at(it, 'beside.txt')], name: 'x' } })).toBe(
      'FILE_NOT_FOUND',
    )
    expect(await codeOf(bob, MOVE, { input: { entries: [at(it, 'note.txt')], name: 'x' } })).toBe(
      'FILE_NOT_FOUND',
    )
    expect(await codeOf(bob, REMOVE, { input: { entries: [at(it, 'note.txt')] } })).toBe(
      'FORBIDDEN',
    )
    expect(await tree(path.split('/')[0] ?? '')).toEqual([`one ${made}/beside.txt`, path])
  })
})

describe('The right to edit', () => {
  it('is granted when sharing, can be changed later, and survives a renewal', async () => {
    const it = await folder({})
    expect(await editCodes(bob, it)).toEqual(FORBIDDEN)
    const set = async (input: object) =>
      (await ask(alice, UPDATE, { input: { share: { id: it.id }, ...input } })).updateShare.share
    expect(await set({ mayEdit: true })).toEqual({ mayEdit: true, allowDownload: true })
    await upload(bob, at(it, ''), 'a.txt')
    const again = await share(alice, { at: { path: it.folder } }, {})
    expect(again).toMatchObject({ id: it.id, mayEdit: true })
    const { response } = await alice.rest('PATCH', `/api/share/${it.token}`, {
      json: { may_edit: false },
    })
    expect(response.may_edit).toBe(false)
    expect(await editCodes(bob, it)).toEqual(FORBIDDEN)
    const rest = await alice.rest('POST', '/api/files/share', {
      json: { objects: [`${it.folder}/plan.txt`], email: carol.email, may_edit: true },
    })
    const [received] = (await carol.rest('GET', '/api/files/received')).response.files
    expect(received).toMatchObject({
      may_edit: true,
      sharing_token: rest.response.sharing_info[0].sharing_token,
    })
  })

  it('can only be granted by keys that have it', async () => {
    const it = await folder({})
    const json = { objects: [`${it.folder}/plan.txt`], email: carol.email, may_edit: true }
    const scopes = ['private_files:read', 'private_files:share', 'private_files:write']
    const { caller: lacking } = await privateKey(t, alice, scopes)
    const { caller: whole } = await privateKey(t, alice, [...scopes, 'private_files:delete'])
    const edit = { json: { may_edit: true } }
    for (const [key, code] of [
      [lacking, 'INSUFFICIENT_SCOPE'],
      [whole, undefined],
    ] as const) {
      expect((await key.rest('POST', '/api/files/share', { json })).response.code).toBe(code)
      expect((await key.rest('PATCH', `/api/share/${it.token}`, edit)).response.code).toBe(code)
    }
    expect(
      (await lacking.rest('PATCH', `/api/share/${it.token}`, { json: { may_edit: false } })).status,
    ).toBe(200)
    const input = { share: { id: it.id }, mayEdit: true }
    expect(await codeOf(lacking, UPDATE, { input })).toBe('INSUFFICIENT_SCOPE')
  })

  it('does not return with an ended share, and a password revokes it', async () => {
    const it = await folder()
    // MySQL can only read a table that it updates through a derived table.
    await t.app.db.run(
      'UPDATE share SET expires_at = ? WHERE id = (SELECT id FROM (SELECT MAX(id) AS id FROM share) AS latest)',
      [Date.now() - 1000],
    )
    const entry = { at: { path: it.folder } }
    expect(await share(alice, entry, {})).toMatchObject({ mayEdit: false })
    expect(await share(alice, entry, { mayEdit: true })).toMatchObject({ mayEdit: true })
    expect(await share(alice, entry, { password: 'open sesame' })).toMatchObject({ mayEdit: false })
  })

  it('does not reveal the numbers of the plan', async () => {
    const it = await folder()
    const input = { drive: it.id, fileName: 'huge', size: 2 ** 50 }
    const { errors } = await bob.graphql<unknown>(START, { input })
    expect(errors?.[0]?.extensions?.code).toBe('FILE_TOO_LARGE')
    expect(JSON.stringify(errors)).not.toMatch(/\d{6}/)
  })

  it('cannot be combined with a link, a password or a view-only share', async () => {
    const it = await folder()
    const code = (input: object) =>
      codeOf(alice, UPDATE, { input: { share: { id: it.id }, ...input } })
    expect(await code({ password: 'secret' })).toBe('INVALID_INPUT')
    expect(await code({ allowDownload: false })).toBe('INVALID_INPUT')
    expect(await code({ allowDownload: false, mayEdit: false })).toBeUndefined()
    expect(await code({ mayEdit: true })).toBe('INVALID_INPUT')
    const input = { entries: [{ at: { path: it.folder } }], email: carol.email, mayEdit: true }
    expect(await codeOf(alice, SHARE, { input: { ...input, password: 'secret' } })).toBe(
      'INVALID_INPUT',
    )
    const link = (
      await alice.rest('POST', '/api/folders/quick_share', { json: { path: it.folder } })
    ).response
    const { status, response } = await alice.rest('PATCH', `/api/share/${link.sharing_token}`, {
      json: { may_edit: true },
    })
    expect([status, response.code, response.field]).toEqual([400, 'INVALID_INPUT', 'may_edit'])
  })

  it('belongs to the recipient alone, by session or by a private key with the scopes', async () => {
    const it = await folder()
    for (const person of [carol, alice]) expect(await editCodes(person, it)).toEqual(FORBIDDEN)
    expect(
      said(await carol.rest('POST', `/api/shared/${it.token}/folders`, { json: { path: 'x' } })),
    ).toEqual([404, 'SHARE_NOT_FOUND'])
    const key = async (scopes: string[]) => (await privateKey(t, bob, scopes)).caller
    const [writes, deletes, reads] = [
      await key(['private_files:write']),
      await key(['private_files:delete']),
      await key(['private_files:read']),
    ]
    expect(await uploadCode(writes, at(it, ''), 'key.txt')).toBeUndefined()
    expect(await uploadCode(writes, at(it, ''), 'key.txt', { onConflict: 'REPLACE' })).toBe(
      'INSUFFICIENT_SCOPE',
    )
    expect(await codeOf(writes, REMOVE, { input: { entries: [at(it, 'key.txt')] } })).toBe(
      'INSUFFICIENT_SCOPE',
    )
    expect(
      await codeOf(deletes, REMOVE, { input: { entries: [at(it, 'key.txt')] } }),
    ).toBeUndefined()
    expect(await uploadCode(reads, at(it, ''), 'key.txt')).toBe('INSUFFICIENT_SCOPE')
    const other = (await workspaceKey(t, bob, await found(bob))).caller
    expect(await uploadCode(other, at(it, ''), 'key.txt')).toBe('KEY_OUT_OF_BOUNDS')
  })

  it.each<[string, (it: Shared) => Promise<unknown>]>([
    ['is revoked', it => alice.rest('POST', `/api/share/revoke/${it.token}`)],
    [
      'expires',
      it => t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [Date.now() - 1, it.id]),
    ],
    [
      'loses it',
      it => alice.rest('PATCH', `/api/share/${it.token}`, { json: { may_edit: false } }),
    ],
    ['is used up', it => t.app.db.run('UPDATE share SET max_downloads = 0 WHERE id = ?', [it.id])],
    [
      'is of a deleted folder',
      it =>
        alice.rest('DELETE', `/api/folders?recursive=true&path=${encodeURIComponent(it.folder)}`),
    ],
    [
      'is for another address',
      it => t.app.db.run('UPDATE share SET recipient = ? WHERE id = ?', [carol.email, it.id]),
    ],
  ])(
    'ends from the next request on when the share %s, in the middle of an upload, too',
    async (_how, end) => {
      const it = await folder()
      const input = { drive: it.id, fileName: 'b.txt', size: 2 * PART_BYTES }
      const { id } = (await ask(bob, START, { input })).startUpload.uploadSession
      const part = async (number: number) =>
        (
          await bob.graphql(
            PART,
            { input: { uploadSession: id, number, part: null } },
            new File([FIRST], 'part'),
          )
        ).code
      expect(await part(1)).toBeUndefined()
      await end(it)
      expect(await editCodes(bob, it)).toEqual(FORBIDDEN)
      expect(await part(2)).toMatch(/^(UPLOAD_NOT_FOUND|FORBIDDEN)$/)
      expect(await codeOf(bob, COMPLETE, { input: { uploadSession: id } })).toMatch(
        /^(UPLOAD_NOT_FOUND|FORBIDDEN)$/,
      )
      const rest = await bob.rest('POST', `/api/shared/${it.token}/folders`, {
        json: { path: 'x' },
      })
      expect(rest.response.code).toMatch(/^(SHARE_NOT_FOUND|FORBIDDEN)$/)
    },
  )
})

describe('A shared workspace folder', () => {
  it('can be edited with the rights of the sharer, within the limits of the workspace', async () => {
    const editor = await t.signIn('editor')
    const garden = await found(alice)
    await join(t, garden, editor, 'editor')
    await put(alice, garden, 'beds/rose.txt', 'red')
    const drive = await driveOf(editor, garden)
    const it = await share(editor, { at: { drive, path: 'beds' } }, { mayEdit: true })
    await upload(bob, at(it, ''), 'tulip.txt')
    const { response } = await alice.rest('GET', `/api/workspaces/${garden}/events?limit=1000`)
    expect(response.events.at(-1)).toMatchObject({
      actor_id: bob.userId,
      details: { path: '/beds/tulip.txt' },
    })
    const { id } = (await ask(bob, START, { input: { drive: it.id, fileName: 'b.txt', size: 4 } }))
      .startUpload.uploadSession
    await ask(
      bob,
      PART,
      { input: { uploadSession: id, number: 1, part: null } },
      new File(['abcd'], 'part'),
    )
    await alice.rest('PATCH', '/api/workspaces/members/role', {
      json: { workspace_id: garden, user_id: editor.userId, role: 'viewer' },
    })
    expect(await editCodes(bob, it)).toEqual(FORBIDDEN)
    expect(await codeOf(bob, COMPLETE, { input: { uploadSession: id } })).toBe('UPLOAD_NOT_FOUND')
  })

  it('limits an upload through a share to the shared folder, even for members', async () => {
    const garden = await found(alice)
    await join(t, garden, bob, 'editor')
    await put(alice, garden, 'beds/rose.txt', 'red')
    const it = await share(
      alice,
      { at: { drive: await driveOf(alice, garden), path: 'beds' } },
      { mayEdit: true },
    )
    const { id } = (await ask(bob, START, { input: { drive: it.id, fileName: 'b.txt', size: 4 } }))
      .startUpload.uploadSession
    const route = `/api/workspaces/${garden}/files/uploads/${id}`
    expect(said(await bob.rest('GET', route))).toEqual([404, 'UPLOAD_NOT_FOUND'])
    expect(said(await bob.rest('POST', `${route}/complete`, { json: {} }))).toEqual([
      404,
      'UPLOAD_NOT_FOUND',
    ])
    await ask(
      bob,
      PART,
      { input: { uploadSession: id, number: 1, part: null } },
      new File(['abcd'], 'part'),
    )
    const done = await ask(bob, BEGIN, { input: { uploadSession: id, wait: 10 } })
    expect(done.beginCompletion.uploadSession.completion).toMatchObject({
      state: 'COMPLETED',
      file: { path: 'b.txt' },
    })
    const tree = await alice.rest('GET', `/api/workspaces/${garden}/files/tree?path=/beds`)
    expect(tree.response.files.map(({ name }: { name: string }) => name)).toEqual([
      'b.txt',
      'rose.txt',
    ])
  })
})
