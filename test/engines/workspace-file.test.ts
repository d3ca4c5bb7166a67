import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { found, join, put, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
/** A new workspace for every test. Alice owns it, bob is an editor, and carol a viewer. */
let id: string

const LIMITS = {
  maxFilesWorkspace: 10_000,
  maxTotalStorageBytesWorkspace: 5 * 1024 ** 3,
  maxWorkspaceFolders: 1_000,
  maxFileSizeBytes: 2 * 1024 ** 3,
}

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  ;[alice, bob, carol] = await Promise.all([t.signIn('alice'), t.signIn('bob'), t.signIn('carol')])
})
afterAll(() => t.stop())
beforeEach(async () => {
  id = await found(alice)
  await join(t, id, bob, 'editor')
  await join(t, id, carol, 'viewer')
})

type Query = Record<string, string>
const call = (method: string, action: string, query: Query = {}, json?: object, person = bob) =>
  person.rest(
    method,
    `/api/workspaces/${id}/files/${action}?${new URLSearchParams(query)}`,
    json === undefined ? {} : { json },
  )
const tree = (query: Query = {}, person = bob) => call('GET', 'tree', query, undefined, person)
const move = (json: object, person = bob) => call('PATCH', 'move', {}, json, person)
const mkdir = (json: object, person = bob) => call('POST', 'mkdir', {}, json, person)
const moveFolder = (json: object, person = bob) => call('PATCH', 'folder/move', {}, json, person)
const deleteFolder = (query: Query, person = bob) =>
  call('DELETE', 'folder/delete', query, undefined, person)
const download = (query: Query, person = carol) => call('GET', 'download', query, undefined, person)
const remove = (query: Query, person = bob) => call('DELETE', 'delete', query, undefined, person)

const outcome = ({ status, response }: RestAnswer) => [status, response]
const level = async (path: string) => {
  const { files, folders } = (await tree({ path })).response
  const names = (list: { name: string }[]) => list.map(entry => entry.name)
  return { folders: names(folders), files: names(files) }
}
const usage = async () => {
  const {
    file_count: files,
    total_bytes: bytes,
    folder_count: folders,
  } = (await alice.rest('GET', `/api/workspaces/${id}/quota`)).response
  return { files, bytes, folders }
}
const putId = async (path: string, bytes = 'x'): Promise<string> =>
  (await put(bob, id, path, bytes)).response[0].id
const HELLO = '5d41402abc4b2a76b9719d911017c592'

describe('POST /api/workspaces/{workspace_id}/files/upload', () => {
  it('200 streams a file in, and creates missing folders', async () => {
    const { status, msg, response } = await put(bob, id, '/docs/new/a.txt', 'hello')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual([
      {
        id: anId,
        workspace_id: id,
        file_name: 'a.txt',
        file_type: 'text/plain',
        size: 5,
        path: '/docs/new',
        md5_checksum: HELLO,
        created_at: aTime,
        modified_at: aTime,
        uploaded_by: bob.userId,
      },
    ])
    expect(await level('/docs/new')).toEqual({ folders: [], files: ['a.txt'] })
    expect(await usage()).toEqual({ files: 1, bytes: 5, folders: 2 })
    // The file belongs to the workspace and to no person.
    expect((await bob.rest('GET', '/api/user/bucket')).response.bucket_data.file_count).toBe(0)
  })

  it.each<[string | undefined, string]>([
    [undefined, '/'],
    ['', '/'],
    ['/', '/'],
    ['docs', '/docs'],
    ['/docs/', '/docs'],
    ['docs/ä', '/docs/ä'],
  ])('200 into %j, which is returned as %j', async (folder, path) => {
    const form = new FormData()
    form.append('file', new Blob(['x']), 'b.txt')
    // Browsers send the file first.
    if (folder !== undefined) form.append('folder', folder)
    const { response } = await bob.rest('POST', `/api/workspaces/${id}/files/upload`, { form })
    expect([response[0].path, await level(path)]).toEqual([path, { folders: [], files: ['b.txt'] }])
  })

  it('400 for a missing file, an invalid path, and an unknown part', async () => {
    const form = (parts: Record<string, string | Blob>) => {
      const made = new FormData()
      for (const [name, value] of Object.entries(parts))
        value instanceof Blob ? made.append(name, value, 'a.txt') : made.append(name, value)
      return alice.rest('POST', `/api/workspaces/${id}/files/upload`, { form: made })
    }
    const file = new Blob(['x'])
    expect(outcome(await form({ folder: '/a' }))).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'file' },
    ])
    expect(outcome(await form({ folder: '/a/../b', file }))).toEqual([
      400,
      { code: 'INVALID_PATH', field: 'folder' },
    ])
    expect(outcome(await form({ workspace_id: newId(), file }))).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'workspace_id' },
    ])
    expect(await usage()).toEqual({ files: 0, bytes: 0, folders: 0 })
  })

  it('409 for a path that exists or leads through a file, which stays unchanged', async () => {
    await put(bob, id, '/docs/a.txt', 'first')
    for (const [path, blocking] of [
      ['/docs/a.txt', '/docs/a.txt'],
      ['/docs', '/docs'],
      ['/docs/a.txt/b.txt', '/docs/a.txt'],
    ] as const)
      expect(outcome(await put(alice, id, path, 'second'))).toEqual([
        409,
        { code: 'PATH_EXISTS', path: blocking },
      ])
    expect(await usage()).toEqual({ files: 1, bytes: 5, folders: 1 })
    await expectConsistent(t)
  })

  it('400 beyond the storage limit of the plan of its owner, to the byte, also at once', async () => {
    await t.limit({ maxTotalStorageBytesWorkspace: 10, maxFileSizeBytes: 8 })
    expect(outcome(await put(bob, id, '/large', '123456789'))).toEqual([
      400,
      { code: 'FILE_TOO_LARGE', limit: 'max_file_size_bytes', max: 8 },
    ])
    const racing = await Promise.all(
      Array.from({ length: 8 }, (_, i) => put(i % 2 ? bob : alice, id, `/${i}`, '123')),
    )
    expect(racing.map(a => a.status).sort()).toEqual([200, 200, 200, ...Array(5).fill(400)])
    expect((await put(bob, id, '/last', '1')).status).toBe(200)
    expect(outcome(await put(bob, id, '/more', '1'))).toEqual([
      400,
      { code: 'QUOTA_EXCEEDED', limit: 'max_total_storage_bytes_workspace', max: 10, used: 10 },
    ])
    expect(await usage()).toEqual({ files: 4, bytes: 10, folders: 0 })
    // Files in one workspace do not count in another, or for the personal files.
    expect((await put(alice, await found(alice), '/b', '12345678')).status).toBe(200)
    expect((await bob.upload('own', '12345678')).status).toBe(200)
    await bob.rest('DELETE', '/api/files/delete?file=own')
    await t.limit(LIMITS)
    await expectConsistent(t)
  })

  it('400 beyond the file limit of the plan, also at once', async () => {
    await t.limit({ maxFilesWorkspace: 3 })
    const racing = await Promise.all(Array.from({ length: 8 }, (_, i) => put(bob, id, `/${i}`)))
    expect(racing.map(a => a.status).sort()).toEqual([200, 200, 200, ...Array(5).fill(400)])
    expect(outcome(await put(bob, id, '/more'))).toEqual([
      400,
      { code: 'QUOTA_EXCEEDED', limit: 'max_files_workspace', max: 3, used: 3 },
    ])
    expect(await usage()).toEqual({ files: 3, bytes: 3, folders: 0 })
    await t.limit(LIMITS)
  })
})

describe('GET /api/workspaces/{workspace_id}/files/tree', () => {
  it('200 lists one level, with the author of each entry', async () => {
    await put(bob, id, '/docs/a.txt', 'hello')
    await mkdir({ folder_name: 'empty', parent_path: '/docs' }, alice)
    const { status, msg, response } = await tree({ path: 'docs/' }, carol)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      path: '/docs',
      files: [
        {
          id: anId,
          name: 'a.txt',
          file_type: 'text/plain',
          size: 5,
          md5_checksum: HELLO,
          uploaded_by: bob.userId,
          uploaded_by_email: bob.email,
          created_at: aTime,
          modified_at: aTime,
        },
      ],
      folders: [
        {
          name: 'empty',
          size: 0,
          file_count: 0,
          created_by_email: alice.email,
          created_at: aTime,
          updated_at: aTime,
        },
      ],
      next_cursor: null,
    })
    const docs = {
      name: 'docs',
      size: 5,
      file_count: 1,
      created_by_email: bob.email,
      created_at: aTime,
      updated_at: aTime,
    }
    const root = { path: '/', files: [], folders: [docs] }
    for (const query of [{}, { path: '' }, { path: '/' }] as Query[])
      expect((await tree(query)).response).toEqual({ ...root, next_cursor: null })
  })

  it('200 is empty for an unknown path', async () => {
    await put(bob, id, '/a.txt')
    const nothing = { files: [], folders: [], next_cursor: null }
    expect((await tree({ path: '/none' })).response).toEqual({ path: '/none', ...nothing })
    expect((await tree({ path: 'a.txt' })).response).toEqual({ path: '/a.txt', ...nothing })
  })

  it('200 page by page, each entry once', async () => {
    for (const name of ['a', 'b', 'c']) await mkdir({ folder_name: name })
    for (const name of ['1', '2', '3', '4']) await put(bob, id, name)
    const seen: string[] = []
    let cursor = ''
    do {
      const { folders, files, next_cursor } = (
        await tree({ limit: '3', ...(cursor && { cursor }) })
      ).response
      expect(folders.length + files.length).toBeLessThanOrEqual(3)
      seen.push(...[...folders, ...files].map((entry: { name: string }) => entry.name))
      cursor = next_cursor
    } while (cursor)
    expect(seen).toEqual(['a', 'b', 'c', '1', '2', '3', '4'])
  })

  it('400 for an invalid path, a limit out of range, and an invalid cursor', async () => {
    for (const [query, field, code] of [
      [{ path: '/a/../b' }, 'path', 'INVALID_PATH'],
      [{ limit: '0' }, 'limit', 'INVALID_INPUT'],
      [{ cursor: 'x' }, 'cursor', 'INVALID_INPUT'],
    ] as const)
      expect(outcome(await tree(query))).toEqual([400, { code, field }])
  })
})

describe('PATCH /api/workspaces/{workspace_id}/files/move', () => {
  it('200 by id: into a folder, which is created, under the same name', async () => {
    const file_id = await putId('/docs/a.txt', 'hello')
    const { status, msg, response } = await move({ file_id, destination: 'new/place/' })
    expect([status, msg, response]).toEqual([
      200,
      'ok',
      { source: '/docs/a.txt', destination: '/new/place/a.txt' },
    ])
    expect(await level('/new/place')).toEqual({ folders: [], files: ['a.txt'] })
    expect(await level('/docs')).toEqual({ folders: [], files: [] })
    const back = await move({ file_id, destination: '/' })
    expect(back.response).toEqual({ source: '/new/place/a.txt', destination: '/a.txt' })
    expect(await usage()).toEqual({ files: 1, bytes: 5, folders: 3 })
    expect((await tree()).response.files[0]).toMatchObject({
      id: file_id,
      uploaded_by: bob.userId,
      md5_checksum: HELLO,
    })
  })

  it('200 by path: to a full path, under another name', async () => {
    await put(bob, id, '/docs/a.txt')
    const { response } = await move({
      source: 'docs/a.txt',
      destination: '/docs/b.txt',
      file_id: '',
    })
    expect(response).toEqual({ source: '/docs/a.txt', destination: '/docs/b.txt' })
    expect(await level('/docs')).toEqual({ folders: [], files: ['b.txt'] })
    await expectConsistent(t)
  })

  it('400 for a file that is named twice or not at all, and for invalid targets', async () => {
    const file_id = await putId('/a.txt')
    for (const [json, field, code] of [
      [{ file_id, source: '/a.txt', destination: '/b' }, 'file_id', 'INVALID_INPUT'],
      [{ destination: '/b' }, 'file_id', 'INVALID_INPUT'],
      [{ file_id }, 'destination', 'INVALID_INPUT'],
      [{ file_id, destination: '/../b' }, 'destination', 'INVALID_PATH'],
      [{ source: '/', destination: '/b' }, 'source', 'INVALID_PATH'],
      [{ source: '/a.txt', destination: '/' }, 'destination', 'INVALID_PATH'],
      [{ file_id, destination: '/b', workspace_id: newId() }, 'workspace_id', 'INVALID_INPUT'],
      [{ file_id, destination: '/b', created_by: carol.userId }, 'created_by', 'INVALID_INPUT'],
    ] as const)
      expect(outcome(await move(json))).toEqual([400, { code, field }])
    expect(await level('/')).toEqual({ folders: [], files: ['a.txt'] })
  })

  it('404 for a missing file, a folder, a file of another workspace, and one’s own file', async () => {
    await mkdir({ folder_name: 'folder' })
    const other = (await put(alice, await found(alice), '/a.txt')).response[0].id
    const own = (await alice.upload('mine.txt', 'x')).response.file.id
    for (const source of ['/none', 'folder'])
      expect(outcome(await move({ source, destination: '/b' }))).toEqual([
        404,
        { code: 'FILE_NOT_FOUND', path: `/${source.replace('/', '')}` },
      ])
    for (const file_id of [newId(), other, own, 'nonsense', '🦊'])
      expect(outcome(await move({ file_id, destination: '/b' }, alice))).toEqual([
        404,
        { code: 'FILE_NOT_FOUND', file_id },
      ])
    await alice.rest('DELETE', '/api/files/delete?file=mine.txt')
  })

  it('409 for a target that exists', async () => {
    const file_id = await putId('/a.txt')
    await put(bob, id, '/docs/a.txt')
    for (const json of [
      { file_id, destination: '/docs' },
      { source: '/a.txt', destination: '/docs/a.txt' },
    ])
      expect(outcome(await move(json))).toEqual([409, { code: 'PATH_EXISTS', path: '/docs/a.txt' }])
    expect(outcome(await move({ file_id, destination: '/' }))).toEqual([
      409,
      { code: 'PATH_EXISTS', path: '/a.txt' },
    ])
    expect(await usage()).toEqual({ files: 2, bytes: 2, folders: 1 })
  })
})

describe('POST /api/workspaces/{workspace_id}/files/mkdir', () => {
  it('200 creates a folder in the root or in an existing folder', async () => {
    const { status, msg, response } = await mkdir({ folder_name: 'docs' })
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      id: anId,
      workspace_id: id,
      name: 'docs',
      path: '/',
      created_by: bob.userId,
      created_at: aTime,
    })
    expect((await mkdir({ folder_name: 'deep', parent_path: 'docs/' })).response.path).toBe('/docs')
    expect((await mkdir({ folder_name: 'top', parent_path: '' })).response.path).toBe('/')
    expect(await level('/')).toEqual({ folders: ['docs', 'top'], files: [] })
    expect(await level('/docs')).toEqual({ folders: ['deep'], files: [] })
    expect(await usage()).toEqual({ files: 0, bytes: 0, folders: 3 })
  })

  it.each<[string, object, string, string]>([
    ['no name', { folder_name: undefined }, 'INVALID_INPUT', 'folder_name'],
    ['an empty name', { folder_name: '' }, 'INVALID_PATH', 'folder_name'],
    ['a path as name', { folder_name: 'a/b' }, 'INVALID_PATH', 'folder_name'],
    ['..', { folder_name: '..' }, 'INVALID_PATH', 'folder_name'],
    ['an invalid parent', { parent_path: '/a//b' }, 'INVALID_PATH', 'parent_path'],
    ['33 names', { parent_path: Array(32).fill('a').join('/') }, 'INVALID_PATH', 'folder_name'],
    ['its maker', { created_by: newId() }, 'INVALID_INPUT', 'created_by'],
    ['another workspace', { workspace_id: newId() }, 'INVALID_INPUT', 'workspace_id'],
  ])('400 for %s', async (_what, json, code, field) => {
    expect(outcome(await mkdir({ folder_name: 'a', ...json }))).toEqual([400, { code, field }])
    expect(await usage()).toEqual({ files: 0, bytes: 0, folders: 0 })
  })

  it('404 in a missing folder; 409 for an existing name, also at once', async () => {
    await put(bob, id, '/docs/a.txt')
    for (const parent_path of ['/none', '/docs/a.txt'])
      expect(outcome(await mkdir({ folder_name: 'a', parent_path }))).toEqual([
        404,
        { code: 'FOLDER_NOT_FOUND', path: parent_path },
      ])
    expect(outcome(await mkdir({ folder_name: 'docs' }))).toEqual([
      409,
      { code: 'PATH_EXISTS', path: '/docs' },
    ])
    expect(outcome(await mkdir({ folder_name: 'a.txt', parent_path: 'docs' }))).toEqual([
      409,
      { code: 'PATH_EXISTS', path: '/docs/a.txt' },
    ])
    const racing = await Promise.all(
      Array.from({ length: 6 }, () => mkdir({ folder_name: 'raced' })),
    )
    expect(racing.map(a => a.status).sort()).toEqual([200, ...Array(5).fill(409)])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 2 })
  })

  it('400 beyond the folder limit of the plan, exactly, by every way of creating folders', async () => {
    await t.limit({ maxWorkspaceFolders: 5 })
    const full = { code: 'QUOTA_EXCEEDED', limit: 'max_workspace_folders', max: 5, used: 5 }
    const racing = await Promise.all(
      Array.from({ length: 8 }, (_, i) => mkdir({ folder_name: `${i}` })),
    )
    expect(racing.map(a => a.status).sort()).toEqual([...Array(5).fill(200), 400, 400, 400])
    for (const { status, response } of racing) if (status === 400) expect(response).toEqual(full)
    expect(outcome(await put(bob, id, '/on/the/way.txt'))).toEqual([400, full])
    const file_id = await putId('/file')
    expect(outcome(await move({ file_id, destination: '/new' }))).toEqual([400, full])
    const [some = ''] = (await level('/')).folders
    expect(outcome(await moveFolder({ source: some, destination: '/new/some' }))).toEqual([
      400,
      full,
    ])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 5 })
    const [last] = (await level('/')).folders
    await deleteFolder({ path: last ?? '' })
    // Two more requests, one of which succeeds.
    expect(outcome(await put(bob, id, '/on/the/way.txt'))).toEqual([400, { ...full, used: 4 }])
    expect((await put(bob, id, '/on/way.txt')).status).toBe(200)
    expect((await bob.rest('POST', '/api/folders', { json: { path: 'a/b/c/d/e/f' } })).status).toBe(
      200,
    )
    await t.limit(LIMITS)
    await expectConsistent(t)
  })
})

describe('PATCH /api/workspaces/{workspace_id}/files/folder/move', () => {
  it('200 moves a folder with its contents', async () => {
    const file_id = await putId('/a/b/1.txt', '123')
    await put(bob, id, '/a/2.txt', '12')
    const { status, msg, response } = await moveFolder({ source: 'a', destination: '/new/place/' })
    expect([status, msg, response]).toEqual([
      200,
      'ok',
      { source: '/a', destination: '/new/place', updated: 2 },
    ])
    expect(await level('/new/place')).toEqual({ folders: ['b'], files: ['2.txt'] })
    expect(await level('/')).toEqual({ folders: ['new'], files: [] })
    expect(await usage()).toEqual({ files: 2, bytes: 5, folders: 3 })
    expect((await move({ file_id, destination: '/' })).response.source).toBe('/new/place/b/1.txt')
    await expectConsistent(t)
  })

  it('400 into itself, for the root, and for invalid targets', async () => {
    await put(bob, id, '/a/1.txt')
    for (const [json, field, code] of [
      [{ source: '/a', destination: '/a' }, 'destination', 'INVALID_PATH'],
      [{ source: '/a', destination: 'a/b' }, 'destination', 'INVALID_PATH'],
      [{ source: '/', destination: '/b' }, 'source', 'INVALID_PATH'],
      [{ source: '/a', destination: '' }, 'destination', 'INVALID_PATH'],
      [{ destination: '/b' }, 'source', 'INVALID_INPUT'],
      [{ source: '/a', destination: '/b', folder_id: newId() }, 'folder_id', 'INVALID_INPUT'],
    ] as const)
      expect(outcome(await moveFolder(json))).toEqual([400, { code, field }])
    expect(await level('/')).toEqual({ folders: ['a'], files: [] })
  })

  it('404 for a missing folder; 409 for a taken name', async () => {
    await put(bob, id, '/a/1.txt')
    await put(bob, id, '/b/2.txt')
    for (const source of ['/none', '/a/1.txt'])
      expect(outcome(await moveFolder({ source, destination: '/c' }))).toEqual([
        404,
        { code: 'FOLDER_NOT_FOUND', path: source },
      ])
    for (const [destination, path] of [
      ['/b', '/b'],
      ['/b/2.txt/c', '/b/2.txt'],
    ] as const)
      expect(outcome(await moveFolder({ source: '/a', destination }))).toEqual([
        409,
        { code: 'PATH_EXISTS', path },
      ])
    expect(await usage()).toEqual({ files: 2, bytes: 2, folders: 2 })
  })
})

describe('DELETE /api/workspaces/{workspace_id}/files/folder/delete', () => {
  it('200 deletes a folder with its contents', async () => {
    await put(bob, id, '/a/b/1.txt', '123')
    await put(bob, id, '/a/2.txt', '12')
    await put(bob, id, '/3.txt', '1')
    const { status, msg, response } = await deleteFolder({ path: 'a/' })
    expect([status, msg, response]).toEqual([200, 'ok', { folder_deleted: '/a', files_deleted: 2 }])
    expect(await level('/')).toEqual({ folders: [], files: ['3.txt'] })
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 0 })
    await expectConsistent(t)
  })

  it('400 for the root, a missing or invalid path, and a path in the body', async () => {
    await put(bob, id, '/a/1.txt')
    for (const [query, field, code] of [
      [{ path: '/' }, 'path', 'INVALID_PATH'],
      [{}, 'path', 'INVALID_INPUT'],
      [{ path: '/../a' }, 'path', 'INVALID_PATH'],
    ] as const)
      expect(outcome(await deleteFolder(query))).toEqual([400, { code, field }])
    expect(
      outcome(await call('DELETE', 'folder/delete', { path: '/none' }, { path: '/a' })),
    ).toEqual([400, { code: 'INVALID_INPUT', field: 'path' }])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 1 })
  })

  it('404 for a missing folder', async () => {
    await put(bob, id, '/a/1.txt')
    for (const path of ['/none', '/a/1.txt'])
      expect(outcome(await deleteFolder({ path }))).toEqual([
        404,
        { code: 'FOLDER_NOT_FOUND', path },
      ])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 1 })
  })
})

describe('GET /api/workspaces/{workspace_id}/files/download', () => {
  it('302 to a signed address, by id and by path', async () => {
    const file_id = await putId('/docs/ä.txt', 'hello')
    for (const query of [
      { file_id },
      { path: 'docs/ä.txt' },
      { path: '/docs/ä.txt', file_id: '' },
    ] as Query[]) {
      const { status, headers } = await download(query)
      expect(status).toBe(302)
      const bytes = await fetch(headers.get('location') ?? '')
      expect([bytes.status, await bytes.text()]).toEqual([200, 'hello'])
      expect(bytes.headers.get('content-disposition')).toMatch(/^attachment;.*%C3%A4\.txt/)
    }
    const inline = await download({ file_id, mode: 'inline' })
    const { headers } = await fetch(inline.headers.get('location') ?? '')
    expect(headers.get('content-disposition')).toMatch(/^inline/)
  })

  it('400 for a file that is named twice or not at all, an invalid mode, and an invalid path', async () => {
    const file_id = await putId('/a.txt')
    for (const [query, field, code] of [
      [{ file_id, path: '/a.txt' }, 'file_id', 'INVALID_INPUT'],
      [{}, 'file_id', 'INVALID_INPUT'],
      [{ file_id, mode: 'view' }, 'mode', 'INVALID_MODE'],
      [{ path: '/a/../a.txt' }, 'path', 'INVALID_PATH'],
    ] as const)
      expect(outcome(await download(query))).toEqual([400, { code, field }])
  })

  it('404 for a missing file', async () => {
    await putId('/docs/a.txt')
    for (const path of ['/none', '/docs'])
      expect(outcome(await download({ path }))).toEqual([404, { code: 'FILE_NOT_FOUND', path }])
    const other = (await put(alice, await found(alice), '/a.txt')).response[0].id
    for (const missing of [newId(), other, 'nonsense'])
      expect(outcome(await download({ file_id: missing }, alice))).toEqual([
        404,
        { code: 'FILE_NOT_FOUND', file_id: missing },
      ])
  })
})

describe('DELETE /api/workspaces/{workspace_id}/files/delete', () => {
  it('200 deletes a file, by id and by path, and its blob later', async () => {
    const file_id = await putId('/docs/a.txt', 'hello')
    await put(bob, id, '/docs/b.txt', 'hello')
    const { status, msg, response } = await remove({ file_id })
    expect([status, msg, response]).toEqual([200, 'ok', { file_deleted: '/docs/a.txt' }])
    expect((await remove({ path: 'docs/b.txt' }, alice)).response).toEqual({
      file_deleted: '/docs/b.txt',
    })
    expect(await level('/docs')).toEqual({ folders: [], files: [] })
    expect(await usage()).toEqual({ files: 0, bytes: 0, folders: 1 })
    await expectConsistent(t)
  })

  it('400 for a file that is named twice or not at all, and an invalid path', async () => {
    const file_id = await putId('/a.txt')
    for (const [query, field, code] of [
      [{ file_id, path: '/a.txt' }, 'file_id', 'INVALID_INPUT'],
      [{}, 'file_id', 'INVALID_INPUT'],
      [{ path: '/' }, 'path', 'INVALID_PATH'],
    ] as const)
      expect(outcome(await remove(query))).toEqual([400, { code, field }])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 0 })
  })

  it('404 for a missing file, and deletes nothing', async () => {
    await putId('/docs/a.txt')
    for (const path of ['/none', '/docs'])
      expect(outcome(await remove({ path }))).toEqual([404, { code: 'FILE_NOT_FOUND', path }])
    const other = await found(alice)
    const theirs = (await put(alice, other, '/a.txt')).response[0].id
    const own = (await alice.upload('mine.txt', 'x')).response.file.id
    for (const missing of [newId(), theirs, own, 'nonsense'])
      expect(outcome(await remove({ file_id: missing }, alice))).toEqual([
        404,
        { code: 'FILE_NOT_FOUND', file_id: missing },
      ])
    expect(await usage()).toEqual({ files: 1, bytes: 1, folders: 1 })
    expect((await alice.rest('DELETE', '/api/files/delete?file=mine.txt')).status).toBe(200)
    expect((await alice.rest('GET', `/api/workspaces/${other}/quota`)).response.file_count).toBe(1)
  })
})
