import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { driveOf, found } from '../support/builders.ts'
import { type Person, type RestOptions, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  // The worker must not clean up while a drive is closed.
  await t.app.worker.stop()
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

type Call = [method: string, path: string, options?: RestOptions]
type GraphCall = [mutation: string, input: object, file?: File]

const BYTES = 'x'
const MD5 = createHash('md5').update(BYTES).digest('hex')

function formOf(name: string, folder = '', onConflict = 'fail'): FormData {
  const form = new FormData()
  form.append('on_conflict', onConflict)
  form.append('folder', folder)
  form.append('file', new Blob([BYTES]), name)
  return form
}

/** Starts a multipart upload that could be completed. */
async function sent(base: string): Promise<string> {
  const { response } = await alice.rest('POST', base, { json: { filename: 'parts', size: 1 } })
  await alice.rest('PUT', `${base}/${response.upload_id}/parts/1`, { body: BYTES })
  return response.upload_id
}

/** A deleted file, by its id in the trash. */
async function deleted(remove: string, trash: string): Promise<string> {
  await alice.rest('DELETE', remove)
  return (await alice.rest('GET', trash)).response.items[0].id
}

/**
 * Makes a request, and closes the drive between its permission checks and its first transaction, as
 * if its owner were deleted.
 */
async function late<T>(drive: string, request: () => Promise<T>): Promise<T> {
  const { db } = t.app
  const [row] = await db.rows<{ user_id: string | null; workspace_id: string | null }>(
    'SELECT user_id, workspace_id FROM bucket WHERE id = ?',
    [drive],
  )
  const open = db.transaction
  const setOwner = (user: string | null, workspace: string | null) =>
    db.run('UPDATE bucket SET user_id = ?, workspace_id = ? WHERE id = ?', [user, workspace, drive])
  db.transaction = async work => {
    await setOwner(null, null)
    return open.call(db, work) as ReturnType<typeof work>
  }
  try {
    return await request()
  } finally {
    db.transaction = open
    await setOwner(row?.user_id ?? null, row?.workspace_id ?? null)
  }
}

const byRest = async (drive: string, [method, path, options]: Call) =>
  late(drive, async () => [method, path, (await alice.rest(method, path, options)).response?.code])

const byGraph = async (drive: string, [name, input, file]: GraphCall) => {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
  const document = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`
  return late(drive, async () => [name, (await alice.graphql(document, { input }, file)).code])
}

/** A link of another person. */
async function linkOfBob(): Promise<string> {
  const bob = await t.signIn('bob')
  await bob.upload('b.txt', BYTES)
  return (await bob.rest('POST', '/api/files/quick_share', { json: { object: 'b.txt' } })).response
    .sharing_token
}

describe('A late request to a drive that is gone', () => {
  it('is FOLDER_NOT_FOUND on every route that changes the drive', async () => {
    const workspace = await found(alice)
    const files = `/api/workspaces/${workspace}/files`
    for (const name of ['a.txt', 'dir/b.txt']) {
      await alice.upload(name, BYTES)
      const folder = name.startsWith('dir') ? 'dir' : ''
      await alice.rest('POST', `${files}/upload`, {
        form: formOf(name.replace('dir/', ''), folder),
      })
    }
    const room = `/api/workspaces/${workspace}`
    await alice.upload('gone.txt', BYTES)
    await alice.rest('POST', `${files}/upload`, { form: formOf('gone.txt') })
    const version = async (base: string, path: string) => {
      await alice.rest('POST', `${base}/upload`, { form: formOf('a.txt', '', 'replace') })
      return `${base}/versions/${(await alice.rest('GET', `${base}/versions?path=${path}`)).response.versions[0].id}`
    }
    const [ownVersion, theirVersion] = [
      await version('/api/files', 'a.txt'),
      await version(files, '/a.txt'),
    ]
    const items = [await deleted('/api/files/delete?file=gone.txt', '/api/trash')]
    const theirs = [await deleted(`${files}/delete?path=/gone.txt`, `${room}/trash`)]
    const prefer = { json: {}, headers: { prefer: 'respond-async, wait=10' } }
    const later = `/api/files/uploads/${await sent('/api/files/uploads')}`
    const theirLater = `${files}/uploads/${await sent(`${files}/uploads`)}`
    const token = await linkOfBob()
    const tag = (await alice.rest('POST', '/api/tags', { json: { name: 'late' } })).response.tag.id
    const theirTag = (await alice.rest('POST', `${room}/tags`, { json: { name: 'late' } })).response
      .tag.id
    const own: Call[] = [
      ['POST', '/api/tags', { json: { name: 'later' } }],
      ['PATCH', `/api/tags/${tag}`, { json: { name: 'later' } }],
      ['DELETE', `/api/tags/${tag}`],
      ['POST', '/api/entries/tags', { json: { entries: ['a.txt'], add: [tag] } }],
      ['POST', '/api/trash/restore', { json: { items } }],
      ['DELETE', '/api/trash/items', { json: { items } }],
      ['DELETE', '/api/trash'],
      ['POST', `${ownVersion}/restore`],
      ['DELETE', ownVersion],
      ['POST', '/api/files/upload', { form: formOf('new.txt') }],
      ['POST', '/api/files/move', { json: { source: 'a.txt', destination: 'c.txt' } }],
      ['DELETE', '/api/files/delete?file=a.txt'],
      ['DELETE', '/api/files/delete/batch', { json: { files: ['a.txt'] } }],
      ['POST', '/api/folders', { json: { path: 'new' } }],
      ['POST', '/api/folders/move', { json: { source: 'dir', destination: 'other' } }],
      ['DELETE', '/api/folders?path=dir&recursive=true'],
      ['POST', '/api/copies', { json: { entries: ['a.txt'], folder: 'copies' } }],
      ['POST', `/api/share/save/${token}`, { json: { folder: 'saved' } }],
      ['POST', '/api/file_requests', { json: { label: 'late' } }],
      ['PUT', `/api/files/${MD5}/note`, { json: { content: 'late' } }],
      ['POST', '/api/files/uploads', { json: { filename: 'late', size: 1 } }],
      ['POST', `/api/files/uploads/${await sent('/api/files/uploads')}/complete`, { json: {} }],
      ['POST', `${later}/complete`, prefer],
      ['GET', `${later}/completion`],
    ]
    const shared: Call[] = [
      ['POST', `${room}/tags`, { json: { name: 'later' } }],
      ['PATCH', `${room}/tags/${theirTag}`, { json: { name: 'later' } }],
      ['DELETE', `${room}/tags/${theirTag}`],
      ['POST', `${room}/entries/tags`, { json: { entries: ['/a.txt'], add: [theirTag] } }],
      ['POST', `${room}/trash/restore`, { json: { items: theirs } }],
      ['DELETE', `${room}/trash/items`, { json: { items: theirs } }],
      ['DELETE', `${room}/trash`],
      ['POST', `${theirVersion}/restore`],
      ['DELETE', theirVersion],
      ['POST', `${files}/upload`, { form: formOf('new.txt') }],
      ['PATCH', `${files}/move`, { json: { source: '/a.txt', destination: '/c.txt' } }],
      ['DELETE', `${files}/delete?path=/a.txt`],
      ['POST', `${room}/file_requests`, { json: { label: 'late' } }],
      ['POST', `${files}/mkdir`, { json: { folder_name: 'new' } }],
      ['PATCH', `${files}/folder/move`, { json: { source: '/dir', destination: '/other' } }],
      ['DELETE', `${files}/folder/delete?path=/dir`],
      ['POST', `${files}/uploads`, { json: { filename: 'late', size: 1 } }],
      ['POST', `${files}/uploads/${await sent(`${files}/uploads`)}/complete`, { json: {} }],
      ['POST', `${theirLater}/complete`, prefer],
      ['GET', `${theirLater}/completion`],
    ]
    const [drive, shop] = [await driveOf(alice), await driveOf(alice, workspace)]
    const answers = []
    for (const call of own) answers.push(await byRest(drive, call))
    for (const call of shared) answers.push(await byRest(shop, call))
    expect(answers).toEqual(
      [...own, ...shared].map(([method, path]) => [method, path, 'FOLDER_NOT_FOUND']),
    )
  })

  it('is FORBIDDEN where the drive was shared with edit permission', async () => {
    const bob = await t.signIn('bob')
    await alice.upload('for bob/a.txt', BYTES)
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }'
    const input = { entries: [{ at: { path: 'for bob' } }], email: bob.email, mayEdit: true }
    const { id, token } = (await ask(alice, SHARE, { input })).createDirectShare.shares[0]
    const START =
      'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id } } }'
    const start = { drive: id, fileName: 'b.txt', size: 0 }
    const uploadSession = (await ask(bob, START, { input: start })).startUpload.uploadSession.id
    const base = `/api/shared/${token}`
    const calls: Call[] = [
      ['POST', `${base}/upload`, { form: formOf('new.txt') }],
      ['POST', `${base}/folders`, { json: { path: 'new' } }],
      ['POST', `${base}/move`, { json: { source: 'a.txt', destination: 'c.txt' } }],
      ['DELETE', `${base}/entries?path=a.txt`],
    ]
    const drive = await driveOf(alice)
    const codes: unknown[] = []
    for (const [method, path, options] of calls)
      codes.push(
        await late(drive, async () => (await bob.rest(method, path, options)).response.code),
      )
    const COMPLETE =
      'mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { completedId } }'
    codes.push(
      await late(
        drive,
        async () => (await bob.graphql(COMPLETE, { input: { uploadSession } })).code,
      ),
    )
    codes.push(await late(drive, async () => (await bob.graphql(START, { input: start })).code))
    expect(codes).toEqual(codes.map(() => 'FORBIDDEN'))
  })

  it('is FOLDER_NOT_FOUND when it moves a shared folder that was deleted', async () => {
    const erin = await t.signIn('erin')
    await alice.upload('for erin/dir/a.txt', BYTES)
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'
    const input = { entries: [{ at: { path: 'for erin' } }], email: erin.email, mayEdit: true }
    const { token } = (await ask(alice, SHARE, { input })).createDirectShare.shares[0]
    const { db } = t.app
    const open = db.transaction
    db.transaction = async work => {
      db.transaction = open
      await alice.rest('DELETE', '/api/folders?path=for erin/dir&recursive=true')
      return open.call(db, work) as ReturnType<typeof work>
    }
    const json = { source: 'dir', destination: 'other' }
    const { status, response } = await erin.rest('POST', `/api/shared/${token}/move`, { json })
    expect([status, response.code]).toEqual([404, 'FOLDER_NOT_FOUND'])
  })

  it('is WORKSPACE_NOT_FOUND when it deletes the workspace', async () => {
    const workspace = await found(alice)
    const drive = await driveOf(alice, workspace)
    const mutation: GraphCall = ['deleteWorkspace', { workspace }]
    expect(await byGraph(drive, mutation)).toEqual(['deleteWorkspace', 'WORKSPACE_NOT_FOUND'])
  })

  it.each(['own', 'workspace'])(
    'is FOLDER_NOT_FOUND in every mutation of a drive (%s)',
    async kind => {
      const isOwn = kind === 'own'
      const workspace = isOwn ? undefined : await found(alice)
      const drive = await driveOf(alice, workspace)
      const base = isOwn ? '/api/files' : `/api/workspaces/${workspace}/files`
      const trash = isOwn ? '/api/trash' : `/api/workspaces/${workspace}/trash`
      const upload = (name: string, choice?: string) =>
        alice.rest('POST', `${base}/upload`, { form: formOf(name, '', choice) })
      for (const name of ['here.txt', 'binned.txt']) {
        await upload(name)
        await upload(name, 'replace')
      }
      const versions = await alice.rest('GET', `${base}/versions?path=${isOwn ? '' : '/'}here.txt`)
      const version = versions.response.versions[0].id
      const items = [await deleted(`${base}/delete?${isOwn ? 'file=' : 'path=/'}binned.txt`, trash)]
      const at = (path: string) => ({ at: { drive, path } })
      const token = await linkOfBob()
      const CREATE =
        'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id } } }'
      const tag = (await ask(alice, CREATE, { input: { drive, name: 'here' } })).createTag.tag.id
      const calls: GraphCall[] = [
        ['createTag', { drive, name: 'new' }],
        ['updateTag', { tag, name: 'new' }],
        ['tagEntries', { entries: [at('here.txt')], add: [tag] }],
        ['deleteTag', { tag }],
        ['uploadFile', { file: null, folder: at('') }, new File([BYTES], 'new.txt')],
        ['createFolder', at('new')],
        ['createFileRequest', { label: 'late', folder: at('') }],
        ['moveEntries', { entries: [at('here.txt')], name: 'there.txt' }],
        ['copyEntries', { entries: [at('here.txt')], to: at('copies') }],
        ['saveSharedEntries', { token, to: at('saved') }],
        ['deleteEntries', { entries: [at('here.txt')] }],
        ['startUpload', { drive, fileName: 'late', size: 1 }],
        ['completeUpload', { uploadSession: await sent(`${base}/uploads`) }],
        ['restoreFromTrash', { items }],
        ['deleteFromTrash', { items }],
        ['emptyTrash', { drive }],
        ['restoreVersion', { version }],
        ['deleteVersion', { version }],
        // Workspaces have no notes.
        ...(isOwn ? [['writeNote', { md5: MD5, content: 'late' }] satisfies GraphCall] : []),
      ]
      const answers = []
      for (const call of calls) answers.push(await byGraph(drive, call))
      expect(answers).toEqual(calls.map(([name]) => [name, 'FOLDER_NOT_FOUND']))
    },
  )
})
