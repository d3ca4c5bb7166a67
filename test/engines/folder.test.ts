import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime, awkwardNames, byCodePoint } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp({ TRASH_DAYS: '0' })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t.stop())

const list = (path: string, person = alice) =>
  person.rest('GET', `/api/folders?path=${encodeURIComponent(path)}`)
const make = (path: unknown, person = alice) =>
  person.rest('POST', '/api/folders', { json: { path } })
const move = (source: unknown, destination: unknown, person = alice) =>
  person.rest('POST', '/api/folders/move', { json: { source, destination } })
const remove = (path: string, more = '', person = alice) =>
  person.rest('DELETE', `/api/folders?path=${encodeURIComponent(path)}${more}`)

const level = async (path: string, person = alice) => {
  const { response } = await person.rest('GET', `/api/files/tree?path=${encodeURIComponent(path)}`)
  return { folders: response.folders, files: response.files.map((f: { name: string }) => f.name) }
}
const usageOf = async (person: Person) => {
  const { response } = await person.rest('GET', '/api/user/bucket?limit=1')
  const { used_bytes: bytes, file_count: files, folder_count: folders } = response.bucket_data
  return { bytes, files, folders }
}

/** Expects that the stored totals of each folder match a recount. */
async function expectTotalsRight(person: Person) {
  interface Row {
    id: string
    parentId: string | null
    kind: number
    bytes: number
    files: number
    folders: number
  }
  const rows = await t.app.db.rows<Row>(
    `SELECT e.id, e.parent_id AS parentId, e.kind, e.total_bytes AS bytes, e.total_files AS files, e.total_folders AS folders
     FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE b.user_id = ?`,
    [person.userId],
  )
  const count = (id: string): Omit<Row, 'id' | 'parentId' | 'kind'> =>
    rows
      .filter(r => r.parentId === id)
      .map(r => (r.kind === 1 ? { bytes: r.bytes, files: 1, folders: 0 } : count(r.id)))
      .map((sum, i) => ({
        ...sum,
        folders: sum.folders + (rows.filter(r => r.parentId === id)[i]?.kind === 0 ? 1 : 0),
      }))
      .reduce(
        (a, b) => ({
          bytes: a.bytes + b.bytes,
          files: a.files + b.files,
          folders: a.folders + b.folders,
        }),
        {
          bytes: 0,
          files: 0,
          folders: 0,
        },
      )
  const root = rows.find(r => r.kind === 0 && r.parentId === null)
  expect(await usageOf(person)).toEqual(count(root?.id ?? ''))
  for (const { id, parentId, kind, ...totals } of rows)
    if (kind === 0 && parentId !== null) expect({ id, ...totals }).toEqual({ id, ...count(id) })
}

describe('GET /api/folders', () => {
  it('200 lists only the folders of one level', async () => {
    await alice.upload('list/b/deep/a.txt', 'x')
    await alice.upload('list/file.txt', 'x')
    await make('list/a')
    const { status, msg, response } = await list('/list/')
    expect([status, msg, response]).toEqual([200, 'ok', { path: 'list', folders: ['a', 'b'] }])
    const top = await alice.rest('GET', '/api/folders')
    expect(top.response).toEqual({ path: '', folders: ['list'] })
  })

  it('200 sorts by code point', async () => {
    for (const name of awkwardNames) await make(`sorted/${name}`)
    expect((await list('sorted')).response.folders).toEqual(awkwardNames.toSorted(byCodePoint))
  })

  it('200 with an empty list for an unknown path, a file, or another user’s folder', async () => {
    expect((await list('none')).response).toEqual({ path: 'none', folders: [] })
    expect((await list('list/file.txt')).response).toEqual({ path: 'list/file.txt', folders: [] })
    expect((await list('list', bob)).response).toEqual({ path: 'list', folders: [] })
    expect((await list('', bob)).response).toEqual({ path: '', folders: [] })
  })

  it.each(['a/../b', 'a//b', 'a\\b', 'a\0b', `${'x'.repeat(256)}`, 'n/'.repeat(33)])(
    '200 treats an invalid path as unknown: %j',
    async path => {
      const { status, response } = await list(path)
      expect([status, response.folders]).toEqual([200, []])
    },
  )

  it('200 uses the first of two paths', async () => {
    const { response } = await alice.rest('GET', '/api/folders?path=list&path=none')
    expect(response).toEqual({ path: 'list', folders: ['a', 'b'] })
  })
})

describe('POST /api/folders', () => {
  it('200 creates a folder with its parents', async () => {
    const before = await usageOf(alice)
    const { status, msg, response } = await make('/made/in/one/')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      folder: { id: anId, name: 'one', path: 'made/in/one', created_at: aTime },
    })
    expect(await level('made/in')).toEqual({ folders: ['one'], files: [] })
    expect(await usageOf(alice)).toEqual({ ...before, folders: before.folders + 3 })
    await expectTotalsRight(alice)
  })

  it.each<[string, unknown, string]>([
    ['no path', undefined, 'INVALID_INPUT'],
    ['a number', 7, 'INVALID_INPUT'],
    ['the root', '/', 'INVALID_PATH'],
    ['an empty path', '', 'INVALID_PATH'],
    ['an invalid path', 'a/../b', 'INVALID_PATH'],
    ['33 names', Array(33).fill('n').join('/'), 'INVALID_PATH'],
  ])('400 for %s', async (_what, path, code) => {
    const { status, response } = await make(path)
    expect([status, response]).toEqual([400, { code, field: 'path' }])
  })

  it('409 for an existing path, or through a file', async () => {
    await alice.upload('clash/file.txt', 'x')
    const before = await usageOf(alice)
    for (const [path, blocking] of [
      ['clash', 'clash'],
      ['clash/file.txt', 'clash/file.txt'],
      ['clash/file.txt/new/one', 'clash/file.txt'],
    ]) {
      const { status, response } = await make(path)
      expect([status, response]).toEqual([409, { code: 'PATH_EXISTS', path: blocking }])
    }
    expect(await usageOf(alice)).toEqual(before)
    expect((await make('clash', bob)).status).toBe(200)
  })

  it('200 once, and 409 for all others, when many create it at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => make('race/deep/er')))
    expect(answers.map(a => a.status).sort()).toEqual([200, ...Array(7).fill(409)])
    expect(await level('race')).toEqual({ folders: ['deep'], files: [] })
    await expectTotalsRight(alice)
  })
})

describe('POST /api/folders/move', () => {
  it('200 moves a folder with all its contents, and changes neither ids nor blobs', async () => {
    const made = [
      await alice.upload('from/a/1.txt', '1'),
      await alice.upload('from/a/b/2.txt', '22'),
    ]
    await make('from/a/empty')
    const rows = () =>
      t.app.db.rows(
        'SELECT id, blob_id, md5, updated_at FROM entry WHERE id IN (?, ?) ORDER BY id',
        made.map(m => m.response.file.id),
      )
    const before = await rows()
    const { status, msg, response } = await move('from/a', '/to/new/place/')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({ source: 'from/a', destination: 'to/new/place', files_moved: 2 })
    expect(await level('to/new/place')).toEqual({
      folders: ['b', 'empty'],
      files: ['to/new/place/1.txt'],
    })
    expect(await level('to/new/place/b')).toEqual({ folders: [], files: ['to/new/place/b/2.txt'] })
    expect(await level('from')).toEqual({ folders: [], files: [] })
    expect(await level('from/a')).toEqual({ folders: [], files: [] })
    expect(await rows()).toEqual(before)
    await expectTotalsRight(alice)
  })

  it('200 moves up, down and sideways, with correct totals at every step', async () => {
    await alice.upload('ways/x/y/z/f', '12345')
    await alice.upload('ways/x/y/g', '123')
    for (const [source, destination, files] of [
      ['ways/x/y', 'ways/y', 2],
      ['ways/y/z', 'ways/x/z', 1],
      ['ways/x', 'ways/y/x', 1],
      ['ways/y', 'ways2', 2],
    ] as const) {
      expect((await move(source, destination)).response.files_moved).toBe(files)
      await expectTotalsRight(alice)
    }
    expect(await level('ways2/x/z')).toEqual({ folders: [], files: ['ways2/x/z/f'] })
    expect(await level('ways')).toEqual({ folders: [], files: [] })
  })

  it('costs the same for any contents', async () => {
    const count = async (folder: string) => {
      t.statements()
      await move(`cost/${folder}`, `cost/${folder} moved`)
      return t.statements().length
    }
    await alice.upload('cost/small/0/0', 'x')
    for (let i = 0; i < 10; i++) await alice.upload(`cost/large/${i % 4}/${i}`, 'x')
    const small = await count('small')
    expect(small).toBeGreaterThan(3)
    expect(await count('large')).toBeLessThanOrEqual(small)
  })

  it.each([
    ['itself', 'self/a'],
    ['a folder in it', 'self/a/b'],
    ['a new folder in it', 'self/a/new/one'],
  ])('400 into %s', async (_what, destination) => {
    await alice.upload('self/a/b/c', 'x')
    const { status, response } = await move('self/a', destination)
    expect([status, response]).toEqual([400, { code: 'INVALID_PATH', field: 'destination' }])
    expect(await level('self/a')).toEqual({ folders: ['b'], files: [] })
  })

  it('200 next to itself, under a name with the same beginning', async () => {
    await make('self/aa/x')
    expect((await move('self/aa', 'self/aab')).status).toBe(200)
  })

  it('400 onto an existing path, or through a file', async () => {
    await make('onto/a')
    await make('onto/b')
    await alice.upload('onto/file', 'x')
    for (const [destination, path] of [
      ['onto/b', 'onto/b'],
      ['onto/file', 'onto/file'],
      ['onto/file/a', 'onto/file'],
    ]) {
      const { status, response } = await move('onto/a', destination)
      expect([status, response]).toEqual([400, { code: 'PATH_EXISTS', path }])
    }
    expect(await level('onto')).toEqual({ folders: ['a', 'b'], files: ['onto/file'] })
  })

  it('400 for a missing folder, or for a file', async () => {
    for (const path of ['onto/none', 'onto/file']) {
      const { status, response } = await move(path, 'new')
      expect([status, response]).toEqual([400, { code: 'FOLDER_NOT_FOUND', path }])
    }
  })

  it('400 if the path of an entry below would become too long', async () => {
    await alice.upload(`deep/${Array(28).fill('n').join('/')}/f`, 'x')
    const { status, response } = await move('deep', 'a/b/c/deep')
    expect([status, response]).toEqual([400, { code: 'INVALID_PATH', field: 'destination' }])
    expect((await move('deep', 'a/b/deep')).status).toBe(200)
    await expectTotalsRight(alice)
  })

  it.each<[string, object, string, string]>([
    ['no source', { destination: 'b' }, 'INVALID_INPUT', 'source'],
    ['the root as source', { source: '', destination: 'b' }, 'INVALID_PATH', 'source'],
    ['the root as destination', { source: 'a', destination: '/' }, 'INVALID_PATH', 'destination'],
    ['an unknown field', { source: 'a', destination: 'b', path: 'c' }, 'INVALID_INPUT', 'path'],
  ])('400 for %s', async (_what, json, code, field) => {
    const { status, response } = await alice.rest('POST', '/api/folders/move', { json })
    expect([status, response]).toEqual([400, { code, field }])
  })

  it('400 for another user’s folder, like for a missing one', async () => {
    const foreign = await move('onto/a', 'mine', bob)
    const missing = await move('onto/0', 'mine', bob)
    expect(foreign.status).toBe(400)
    expect(foreign.text.replaceAll('onto/a', '')).toBe(missing.text.replaceAll('onto/0', ''))
    expect((await level('onto')).folders).toContain('a')
  })
})

describe('DELETE /api/folders', () => {
  it('200 deletes an empty folder', async () => {
    await make('bin/empty')
    const { status, msg, response } = await remove('/bin/empty/')
    expect([status, msg, response]).toEqual([
      200,
      'ok',
      { folder_deleted: 'bin/empty', files_deleted: 0 },
    ])
    expect(await level('bin')).toEqual({ folders: [], files: [] })
    await expectTotalsRight(alice)
  })

  it('400 for a non-empty folder without the recursive option', async () => {
    await alice.upload('bin/full/sub/a.txt', 'x')
    await alice.upload('bin/full/b.txt', 'x')
    for (const more of ['', '&recursive=false', '&recursive=']) {
      const { status, response } = await remove('bin/full', more)
      expect([status, response]).toEqual([400, { code: 'FOLDER_NOT_EMPTY', files: 2, folders: 1 }])
    }
    await make('bin/nested/empty')
    const holdingFolders = await remove('bin/nested')
    expect(holdingFolders.response).toEqual({ code: 'FOLDER_NOT_EMPTY', files: 0, folders: 1 })
    expect(await level('bin/full')).toEqual({ folders: ['sub'], files: ['bin/full/b.txt'] })
  })

  it('200 recursively deletes all contents for everybody at once; the purge follows later', async () => {
    const made = await alice.upload('tree/x/y/a.txt', '12345')
    for (let i = 0; i < 5; i++) await alice.upload(`tree/x/${i}`, 'x')
    await make('tree/x/empty')
    const before = await usageOf(alice)
    const { status, response } = await remove('tree/x', '&recursive=true')
    expect([status, response]).toEqual([200, { folder_deleted: 'tree/x', files_deleted: 6 }])
    expect(await usageOf(alice)).toEqual({
      bytes: before.bytes - 10,
      files: before.files - 6,
      folders: before.folders - 3,
    })
    expect(await level('tree')).toEqual({ folders: [], files: [] })
    expect((await alice.rest('DELETE', '/api/files/delete?file=tree/x/y/a.txt')).status).toBe(404)
    const { data } = await alice.graphql('query ($id: ID!) { node(id: $id) { id } }', {
      id: made.response.file.id,
    })
    expect(data).toEqual({ node: null })
    // Its name is free immediately.
    expect((await alice.upload('tree/x/y/a.txt', 'new')).status).toBe(200)
    await t.settle()
    const left = await t.app.db.rows<{ n: number }>(
      "SELECT COUNT(*) AS n FROM blobs WHERE state <> 'live'",
    )
    expect(left[0]?.n).toBe(0)
    const orphans = await t.app.db.rows<{ n: number }>(
      'SELECT COUNT(*) AS n FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE e.parent_id IS NULL AND e.id <> b.root_id',
    )
    expect(orphans[0]?.n).toBe(0)
    const [bucket] = await t.app.db.rows<{ purging: number }>(
      'SELECT purging FROM bucket WHERE user_id = ?',
      [alice.userId],
    )
    expect(bucket?.purging).toBe(0)
    expect(await level('tree/x/y')).toEqual({ folders: [], files: ['tree/x/y/a.txt'] })
    await expectTotalsRight(alice)
  })

  it('keeps a parent folder that has become empty', async () => {
    await alice.upload('last/file.txt', 'x')
    await alice.rest('DELETE', '/api/files/delete?file=last/file.txt')
    expect((await list('')).response.folders).toContain('last')
    expect((await remove('last')).status).toBe(200)
    expect((await list('')).response.folders).not.toContain('last')
  })

  it.each([
    ['no path', '', { code: 'INVALID_INPUT', field: 'path' }],
    ['the root', '?path=/', { code: 'INVALID_PATH', field: 'path' }],
    ['the root, recursively', '?path=&recursive=true', { code: 'INVALID_PATH', field: 'path' }],
    ['an invalid path', '?path=a/../b', { code: 'INVALID_PATH', field: 'path' }],
    ['a repeated path', '?path=a&path=b', { code: 'INVALID_INPUT', field: 'path' }],
    ['recursive=1', '?path=bin/full&recursive=1', { code: 'INVALID_INPUT', field: 'recursive' }],
    [
      'recursive=TRUE',
      '?path=bin/full&recursive=TRUE',
      { code: 'INVALID_INPUT', field: 'recursive' },
    ],
    ['a missing folder', '?path=none', { code: 'FOLDER_NOT_FOUND', path: 'none' }],
    ['a file', '?path=bin/full/b.txt', { code: 'FOLDER_NOT_FOUND', path: 'bin/full/b.txt' }],
  ])('400 for %s', async (_what, query, refusal) => {
    const { status, response } = await alice.rest('DELETE', `/api/folders${query}`)
    expect([status, response]).toEqual([400, refusal])
  })

  it('400 for another user’s folder, like for a missing one', async () => {
    const foreign = await remove('bin/full', '&recursive=true', bob)
    const missing = await remove('bin/0', '&recursive=true', bob)
    expect(foreign.text.replaceAll('bin/full', '')).toBe(missing.text.replaceAll('bin/0', ''))
    expect(await level('bin/full')).toEqual({ folders: ['sub'], files: ['bin/full/b.txt'] })
  })
})
