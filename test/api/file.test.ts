import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime, at, awkwardNames, byCodePoint } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp({ TRASH_DAYS: '0' })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t.stop())

interface EntryState {
  id: string
  name: string
  blobId: string
  state: string
  md5: string
  bytes: number
  updatedAt: number
}

/** The row of a file with the state of its blob, or undefined. */
const rowOf = async (id: string): Promise<EntryState | undefined> =>
  (
    await t.app.db.rows<EntryState>(
      `SELECT e.id, e.name, e.blob_id AS blobId, b.state, e.md5, e.total_bytes AS bytes, e.updated_at AS updatedAt
       FROM entry e JOIN blobs b ON b.id = e.blob_id WHERE e.id = ?`,
      [id],
    )
  )[0]

const usageOf = async (person: Person) => {
  const { response } = await person.rest('GET', '/api/user/bucket?limit=1')
  const { used_bytes: bytes, file_count: files, folder_count: folders } = response.bucket_data
  return { bytes, files, folders }
}

const tree = (person: Person, query = '') => person.rest('GET', `/api/files/tree?${query}`)
const namesIn = async (person: Person, path: string): Promise<string[]> =>
  (await tree(person, `path=${encodeURIComponent(path)}`)).response.files.map(
    (f: { name: string }) => f.name,
  )

/**
 * Expects that after all work nothing is reserved, and that the store holds exactly the blobs of
 * files.
 */
async function expectNothingLeft() {
  await t.settle()
  const reserved = await t.app.db.rows(
    'SELECT id FROM bucket WHERE reserved_bytes <> 0 OR reserved_files <> 0',
  )
  expect(reserved).toEqual([])
  const named = await t.app.db.rows<{ id: string }>(
    'SELECT blob_id AS id FROM entry WHERE blob_id IS NOT NULL',
  )
  const known = await t.app.db.rows<{ id: string }>('SELECT id FROM blobs')
  const stored: string[] = []
  for await (const { key } of t.app.store.list()) stored.push(key)
  const ids = (rows: { id: string }[]) => rows.map(r => r.id).sort()
  expect(stored.sort()).toEqual(ids(named))
  expect(ids(known)).toEqual(ids(named))
}

/** A form as browsers send it: the file first. */
function formOf(parts: [string, string | Blob, string?][]): FormData {
  const form = new FormData()
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename)
  }
  return form
}
const blob = (text: string, type = '') => new Blob([text], { type })
const send = (form: FormData, person = alice) => person.rest('POST', '/api/files/upload', { form })

/** Expects the same refusal for another user's path and for a missing path. */
function expectSameRefusal(
  foreign: RestAnswer,
  missing: RestAnswer,
  path: string,
  missingPath: string,
) {
  expect(foreign.status).toBeGreaterThanOrEqual(400)
  expect(foreign.text.replaceAll(path, '')).toBe(missing.text.replaceAll(missingPath, ''))
}

describe('POST /api/files/upload', () => {
  it('200 stores a file in a folder, and creates missing folders', async () => {
    const before = Date.now()
    const answer = await alice.upload('up/load/a.txt', 'hello', 'text/plain')
    expect([answer.status, answer.msg]).toEqual([200, 'file_uploaded'])
    expect(answer.response).toEqual({
      file: {
        id: anId,
        name: 'a.txt',
        path: 'up/load/a.txt',
        folder: 'up/load',
        file_type: 'text/plain',
        size: 5,
        md5_checksum: '5d41402abc4b2a76b9719d911017c592',
        created_at: aTime,
        modified_at: answer.response.file.created_at,
        updated_at: answer.response.file.created_at,
      },
    })
    expect(at(answer.response.file.created_at)).toBeGreaterThanOrEqual(before)
    const row = await rowOf(answer.response.file.id)
    expect(row).toMatchObject({ name: 'a.txt', state: 'live', bytes: 5 })
    const stored = await t.app.store.open(row?.blobId ?? '')
    expect(Buffer.concat(await stored.toArray()).toString()).toBe('hello')
    expect((await tree(alice, 'path=up')).response.folders).toEqual(['load'])
  })

  it('200 accepts the file before its folder, as browsers send them', async () => {
    const { status, response } = await send(
      formOf([
        ['file', blob('late', 'text/plain'), 'late.txt'],
        ['folder', '/up/late/'],
      ]),
    )
    expect([status, response.file.path]).toEqual([200, 'up/late/late.txt'])
  })

  it('200 without a folder, or with an empty one, stores the file in the root', async () => {
    const bare = await send(formOf([['file', blob('1'), 'top 1.txt']]))
    const empty = await send(
      formOf([
        ['folder', ''],
        ['file', blob('2'), 'top 2.txt'],
      ]),
    )
    expect([bare.response.file.path, bare.response.file.folder]).toEqual(['top 1.txt', ''])
    expect([empty.response.file.path, empty.response.file.folder]).toEqual(['top 2.txt', ''])
  })

  it('200 keeps any Unicode in a name, normalised to NFC', async () => {
    const { response } = await alice.upload('up/u\u0308ber/Scho\u0308n 🦊 ни́же.txt', 'x')
    expect(response.file.path).toBe('up/über/Schön 🦊 ни́же.txt'.normalize('NFC'))
    expect(await namesIn(alice, 'up/über')).toEqual([response.file.path])
  })

  it.each([
    ['photo.png', '', 'image/png'],
    ['photo.png', 'application/octet-stream', 'image/png'],
    ['photo.png', 'image/webp', 'image/webp'],
    ['table.txt', 'TEXT/CSV; charset=UTF-8', 'text/csv'],
    ['unknown.thing', '', 'application/octet-stream'],
    ['odd.txt', 'not a type', 'text/plain'],
  ])('200 gives %s sent as "%s" the media type %s', async (name, sent, type) => {
    const { response } = await alice.upload(
      `types/${randomBytes(4).toString('hex')}/${name}`,
      'x',
      sent,
    )
    expect(response.file.file_type).toBe(type)
  })

  it.each([
    ['nothing', 0],
    ['some blocks', 9 * 1024 * 1024 + 1],
  ])('200 stores %s: %d bytes, byte for byte', async (name, size) => {
    const bytes = randomBytes(size)
    const { response } = await alice.upload(`sizes/${name}`, bytes)
    const md5 = createHash('md5').update(bytes).digest('hex')
    expect(response.file).toMatchObject({ size, md5_checksum: md5 })
    const row = await rowOf(response.file.id)
    const stored = Buffer.concat(await (await t.app.store.open(row?.blobId ?? '')).toArray())
    expect(stored.equals(bytes)).toBe(true)
  })

  it.each<[string, FormData, string, string]>([
    ['no file', formOf([['folder', 'docs']]), 'INVALID_INPUT', 'file'],
    ['a file that is a text', formOf([['file', 'hello']]), 'INVALID_INPUT', 'file'],
    ['a file under another name', formOf([['upload', blob('x'), 'a']]), 'INVALID_INPUT', 'upload'],
    [
      'two files',
      formOf([
        ['file', blob('x'), 'two-a'],
        ['file', blob('y'), 'two-b'],
      ]),
      'INVALID_INPUT',
      'file',
    ],
    [
      'an unknown field',
      formOf([
        ['path', 'docs'],
        ['file', blob('x'), 'a'],
      ]),
      'INVALID_INPUT',
      'path',
    ],
    [
      'two folders',
      formOf([
        ['folder', 'a'],
        ['folder', 'b'],
        ['file', blob('x'), 'a'],
      ]),
      'INVALID_INPUT',
      'folder',
    ],
    [
      'an invalid folder',
      formOf([
        ['folder', 'a/../b'],
        ['file', blob('x'), 'a'],
      ]),
      'INVALID_PATH',
      'folder',
    ],
    [
      'an invalid folder after the file',
      formOf([
        ['file', blob('x'), 'a'],
        ['folder', 'a//b'],
      ]),
      'INVALID_PATH',
      'folder',
    ],
    ['a name with a backslash', formOf([['file', blob('x'), 'a\\b']]), 'INVALID_PATH', 'file'],
    ['a name that ends with a slash', formOf([['file', blob('x'), 'a/']]), 'INVALID_PATH', 'file'],
    ['a name of two dots', formOf([['file', blob('x'), '..']]), 'INVALID_PATH', 'file'],
    ['a name of 256 bytes', formOf([['file', blob('x'), 'é'.repeat(128)]]), 'INVALID_PATH', 'file'],
    [
      'a path of 33 names',
      formOf([
        ['folder', 'n/'.repeat(32)],
        ['file', blob('x'), 'a'],
      ]),
      'INVALID_PATH',
      'folder',
    ],
  ])('400 for a form with %s', async (_what, form, code, field) => {
    const before = await usageOf(alice)
    const { status, response } = await send(form)
    expect([status, response.code, response.field]).toEqual([400, code, field])
    expect(await usageOf(alice)).toEqual(before)
  })

  it('400 for a body that is not a form, or is cut short', async () => {
    const json = await alice.rest('POST', '/api/files/upload', { json: { file: 'hello' } })
    expect([json.status, json.response]).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'content-type' },
    ])
    const broken = await alice.rest('POST', '/api/files/upload', {
      body: '--cut\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nhalf of it',
      headers: { 'content-type': 'multipart/form-data; boundary=cut' },
    })
    expect([broken.status, broken.response.code]).toEqual([400, 'INVALID_INPUT'])
    expect(await namesIn(alice, '')).not.toContain('cut.txt')
  })

  it('400 beyond a limit of the plan, with the limit', async () => {
    const carol = await t.signIn('carol')
    await t.limit({ maxFileSizeBytes: 10, maxTotalStorageBytes: 15, maxFiles: 2 })
    try {
      const large = await carol.upload('large', 'x'.repeat(11))
      expect([large.status, large.response]).toEqual([
        400,
        { code: 'FILE_TOO_LARGE', limit: 'max_file_size_bytes', max: 10 },
      ])
      expect((await carol.upload('one', 'x'.repeat(10))).status).toBe(200)
      const full = await carol.upload('full', 'x'.repeat(6))
      expect([full.status, full.response]).toEqual([
        400,
        { code: 'QUOTA_EXCEEDED', limit: 'max_total_storage_bytes', max: 15, used: 10 },
      ])
      expect((await carol.upload('two', 'x'.repeat(5))).status).toBe(200)
      const many = await carol.upload('three', '')
      expect([many.status, many.response]).toEqual([
        400,
        { code: 'QUOTA_EXCEEDED', limit: 'max_files', max: 2, used: 2 },
      ])
    } finally {
      await t.limit({
        maxFileSizeBytes: 2 * 1024 ** 3,
        maxTotalStorageBytes: 5 * 1024 ** 3,
        maxFiles: 10_000,
      })
    }
    expect(await namesIn(carol, '')).toEqual(['one', 'two'])
    expect(await usageOf(carol)).toEqual({ bytes: 15, files: 2, folders: 0 })
  })

  it('400 with the byte limit when it is exceeded by the last allowed file', async () => {
    const dora = await t.signIn('dora')
    const max = 6 * 1024 ** 2
    await t.limit({ maxTotalStorageBytes: max, maxFiles: 1 })
    try {
      const { status, response } = await dora.upload('grows', Buffer.alloc(max + 1))
      expect([status, response]).toEqual([
        400,
        { code: 'QUOTA_EXCEEDED', limit: 'max_total_storage_bytes', max, used: expect.any(Number) },
      ])
    } finally {
      await t.limit({ maxTotalStorageBytes: 5 * 1024 ** 3, maxFiles: 10_000 })
    }
    expect(await usageOf(dora)).toEqual({ bytes: 0, files: 0, folders: 0 })
  })

  it('409 for an existing name in any form; the old file stays, and the new blob is deleted', async () => {
    const { response } = await alice.upload('taken/a.txt', 'first')
    await alice.rest('POST', '/api/folders', { json: { path: 'taken/folder' } })
    const before = await usageOf(alice)
    const inOrder = await alice.upload('taken/a.txt', 'second')
    const byBrowser = await send(
      formOf([
        ['file', blob('second'), 'a.txt'],
        ['folder', 'taken'],
      ]),
    )
    for (const { status, response: refusal } of [inOrder, byBrowser])
      expect([status, refusal]).toEqual([409, { code: 'PATH_EXISTS', path: 'taken/a.txt' }])
    const folder = await alice.upload('taken/folder', 'x')
    expect([folder.status, folder.response.path]).toEqual([409, 'taken/folder'])
    const through = await alice.upload('taken/a.txt/b/c.txt', 'x')
    expect([through.status, through.response.path]).toEqual([409, 'taken/a.txt'])
    expect((await rowOf(response.file.id))?.bytes).toBe(5)
    expect(await usageOf(alice)).toEqual(before)
    await expectNothingLeft()
  })

  it('200 for a path that another user has', async () => {
    await alice.upload('same/path.txt', 'of alice')
    const { status, response } = await bob.upload('same/path.txt', 'of bob')
    expect([status, response.file.size]).toEqual([200, 6])
    expect((await tree(alice, 'path=same')).response.files[0].size).toBe(8)
  })
})

describe('GET /api/files/tree', () => {
  it('200 lists one level', async () => {
    const { response: made } = await alice.upload('level/a.txt', 'hello', 'text/plain')
    await alice.upload('level/deep/er/b.txt', 'x')
    await alice.upload('level/deep/c.txt', 'xy')
    await alice.rest('POST', '/api/folders', { json: { path: 'level/empty' } })
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const { status, msg, response } = await tree(alice, 'path=/level/')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      path: 'level',
      folders: ['deep', 'empty'],
      folder_entries: [
        { name: 'deep', size: 3, file_count: 2, created_at: time, updated_at: time },
        { name: 'empty', size: 0, file_count: 0, created_at: time, updated_at: time },
      ],
      files: [
        {
          name: 'level/a.txt',
          file_type: 'text/plain',
          size: 5,
          md5_checksum: '5d41402abc4b2a76b9719d911017c592',
          id: made.file.id,
          created_at: made.file.created_at,
          modified_at: made.file.created_at,
          updated_at: made.file.updated_at,
        },
      ],
      next_cursor: null,
    })
    expect((await tree(alice, 'path=level%2Fdeep')).response).toMatchObject({
      folders: ['er'],
      folder_entries: [{ name: 'er', size: 1, file_count: 1 }],
      files: [{ name: 'level/deep/c.txt' }],
    })
  })

  it('200 without a path, or with an empty one, lists the root', async () => {
    const bare = await tree(alice)
    expect(bare.response.path).toBe('')
    expect(bare.response.folders).toContain('level')
    for (const query of ['path=', 'path=/', 'path=&limit=&cursor=', 'unknown=1'])
      expect((await tree(alice, query)).response).toEqual(bare.response)
  })

  it('200 with an empty list for an unknown path, a file, or another user’s folder', async () => {
    const nothing = { folders: [], folder_entries: [], files: [], next_cursor: null }
    expect((await tree(alice, 'path=nothing/here')).response).toEqual({
      path: 'nothing/here',
      ...nothing,
    })
    expect((await tree(alice, 'path=level/a.txt')).response).toEqual({
      path: 'level/a.txt',
      ...nothing,
    })
    expect((await tree(bob, 'path=level')).response).toEqual({ path: 'level', ...nothing })
    expect((await tree(bob)).response.folders).not.toContain('level')
  })

  it('200 sorts by code point', async () => {
    const dora = await t.signIn('dora')
    for (const name of awkwardNames) await dora.upload(name, '')
    for (const name of awkwardNames)
      await dora.rest('POST', '/api/folders', { json: { path: `${name} folder` } })
    const { response } = await tree(dora)
    expect(response.files.map((f: { name: string }) => f.name)).toEqual(
      awkwardNames.toSorted(byCodePoint),
    )
    expect(response.folders).toEqual(awkwardNames.map(n => `${n} folder`).toSorted(byCodePoint))
    const walked = await walk(dora, '', 5)
    expect(walked.folders).toEqual(response.folders)
    expect(walked.files).toEqual(awkwardNames.toSorted(byCodePoint))
  })

  /** All pages of a level, with this many entries a page. */
  async function walk(person: Person, path: string, limit: number) {
    const all = { folders: [] as string[], files: [] as string[], sizes: [] as number[] }
    let cursor: string | null = ''
    do {
      const { response }: RestAnswer = await tree(
        person,
        `path=${path}&limit=${limit}&cursor=${cursor}`,
      )
      all.folders.push(...response.folders)
      all.files.push(...response.files.map((f: { name: string }) => f.name))
      all.sizes.push(response.folders.length + response.files.length)
      cursor = response.next_cursor
    } while (cursor !== null)
    return all
  }

  it('200 returns 25 entries in pages of 7, folders first, each once and in order', async () => {
    const numbers = Array.from({ length: 25 }, (_, i) => String(i).padStart(2, '0'))
    const [folders, files] = [numbers.slice(0, 10), numbers.slice(10)]
    for (const n of folders.toReversed())
      await alice.rest('POST', '/api/folders', { json: { path: `walk/${n}` } })
    for (const n of files.toReversed()) await alice.upload(`walk/${n}`, '')
    expect(await walk(alice, 'walk', 7)).toEqual({
      folders,
      files: files.map(n => `walk/${n}`),
      sizes: [7, 7, 7, 4],
    })
    expect((await walk(alice, 'walk', 5)).sizes).toEqual([5, 5, 5, 5, 5])
    expect((await walk(alice, 'walk', 10)).sizes).toEqual([10, 10, 5])
    expect((await walk(alice, 'walk', 1)).sizes).toEqual(Array(25).fill(1))
    expect((await walk(alice, 'walk', 10_000)).sizes).toEqual([25])
  })

  it('200 continues correctly when entries change between pages', async () => {
    for (const n of ['b', 'd', 'f']) await alice.upload(`moving/${n}`, '')
    const first = await tree(alice, 'path=moving&limit=2')
    await alice.upload('moving/a', '')
    await alice.upload('moving/e', '')
    await alice.rest('DELETE', '/api/files/delete?file=moving/d')
    const second = await tree(alice, `path=moving&limit=5&cursor=${first.response.next_cursor}`)
    expect(second.response.files.map((f: { name: string }) => f.name)).toEqual([
      'moving/e',
      'moving/f',
    ])
  })

  it.each([
    ['an invalid path', 'path=a/../b', 'INVALID_PATH', 'path'],
    ['a path with a control character', 'path=a%00b', 'INVALID_PATH', 'path'],
    ['a limit of 0', 'limit=0', 'INVALID_INPUT', 'limit'],
    ['a limit beyond 10,000', 'limit=10001', 'INVALID_INPUT', 'limit'],
    ['a limit that is not a number', 'limit=ten', 'INVALID_INPUT', 'limit'],
    ['a fractional limit', 'limit=1.5', 'INVALID_INPUT', 'limit'],
    ['a limit beyond 32 bits', 'limit=99999999999', 'INVALID_INPUT', 'limit'],
    ['an unknown cursor', 'cursor=bm90aGluZw', 'INVALID_INPUT', 'cursor'],
    ['a repeated path', 'path=a&path=b', 'INVALID_INPUT', 'path'],
    ['a repeated limit', 'limit=1&limit=1', 'INVALID_INPUT', 'limit'],
  ])('400 for %s', async (_what, query, code, field) => {
    const { status, response } = await tree(alice, query)
    expect([status, response]).toEqual([400, { code, field }])
  })
})

describe('POST /api/files/move', () => {
  const move = (source: unknown, destination: unknown, person = alice) =>
    person.rest('POST', '/api/files/move', { json: { source, destination } })

  it('200 moves a file, and changes neither its id nor its blob', async () => {
    const { response: made } = await alice.upload('from/a.txt', 'moving', 'text/plain')
    const before = await rowOf(made.file.id)
    const { status, msg, response } = await move('/from/a.txt', 'to/new/folder/b.txt/')
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({ source: 'from/a.txt', destination: 'to/new/folder/b.txt' })
    const after = await rowOf(made.file.id)
    expect(after).toEqual({ ...before, name: 'b.txt', updatedAt: after?.updatedAt })
    expect(after?.updatedAt).toBeGreaterThanOrEqual(before?.updatedAt ?? 0)
    expect(await namesIn(alice, 'from')).toEqual([])
    const { updated_at: _updated, ...file } = (await tree(alice, 'path=to/new/folder')).response
      .files[0]
    expect(file).toEqual({
      name: 'to/new/folder/b.txt',
      file_type: 'text/plain',
      size: 6,
      md5_checksum: made.file.md5_checksum,
      id: made.file.id,
      created_at: made.file.created_at,
      modified_at: made.file.created_at,
    })
    expect((await tree(alice)).response.folders).toContain('from')
  })

  it('400 for a missing file, or for a folder', async () => {
    await alice.upload('move/dir/a.txt', '')
    for (const path of ['move/none.txt', 'none/none.txt', 'move/dir', 'move/dir/a.txt/b']) {
      const { status, response } = await move(path, 'move/new.txt')
      expect([status, response]).toEqual([400, { code: 'FILE_NOT_FOUND', path }])
    }
  })

  it('400 onto an existing path, or through a file', async () => {
    await alice.upload('onto/a.txt', 'a')
    await alice.upload('onto/b.txt', 'b')
    await alice.rest('POST', '/api/folders', { json: { path: 'onto/folder' } })
    for (const [destination, path = destination] of [
      ['onto/b.txt'],
      ['onto/a.txt'],
      ['onto/folder'],
      ['onto/b.txt/c.txt', 'onto/b.txt'],
    ] as [string, string?][]) {
      const { status, response } = await move('onto/a.txt', destination)
      expect([status, response]).toEqual([400, { code: 'PATH_EXISTS', path }])
    }
    expect(await namesIn(alice, 'onto')).toEqual(['onto/a.txt', 'onto/b.txt'])
  })

  it.each<[string, object | string, string, string | undefined]>([
    ['no source', { destination: 'b' }, 'INVALID_INPUT', 'source'],
    ['no destination', { source: 'a' }, 'INVALID_INPUT', 'destination'],
    ['null', { source: 'a', destination: null }, 'INVALID_INPUT', 'destination'],
    ['a number', { source: 1, destination: 'b' }, 'INVALID_INPUT', 'source'],
    ['an unknown field', { source: 'a', destination: 'b', force: true }, 'INVALID_INPUT', 'force'],
    ['the root as source', { source: '/', destination: 'b' }, 'INVALID_PATH', 'source'],
    ['the root as destination', { source: 'a', destination: '' }, 'INVALID_PATH', 'destination'],
    ['an invalid path', { source: 'a', destination: 'b/./c' }, 'INVALID_PATH', 'destination'],
    ['a list', '["a","b"]', 'INVALID_JSON', 'body'],
    ['null as a body', 'null', 'INVALID_JSON', 'body'],
    ['half a body', '{"source":', 'INVALID_JSON', 'body'],
    ['a body in invalid UTF-8', '\xff', 'INVALID_JSON', 'body'],
  ])('400 for %s', async (_what, body, code, field) => {
    const { status, response } = await alice.rest('POST', '/api/files/move', {
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? Buffer.from(body, 'latin1') : JSON.stringify(body),
    })
    expect([status, response]).toEqual([400, { code, field }])
  })

  it('400 for another user’s file, like for a missing one', async () => {
    await alice.upload('hers/a.txt', 'hers')
    const foreign = await move('hers/a.txt', 'mine.txt', bob)
    expectSameRefusal(
      foreign,
      await move('hers/0.txt', 'mine.txt', bob),
      'hers/a.txt',
      'hers/0.txt',
    )
    expect(await namesIn(alice, 'hers')).toEqual(['hers/a.txt'])
  })
})

describe('DELETE /api/files/delete', () => {
  const remove = (path: string, person = alice) =>
    person.rest('DELETE', `/api/files/delete?file=${encodeURIComponent(path)}`)

  it('200 deletes a file: its row, its usage, and its blob in the next sweep', async () => {
    const { response: made } = await alice.upload('gone/a.txt', 'going')
    const { blobId } = (await rowOf(made.file.id)) ?? { blobId: '' }
    const before = await usageOf(alice)
    const { status, msg, response } = await remove('/gone/a.txt')
    expect([status, msg, response]).toEqual([200, 'ok', { file_deleted: 'gone/a.txt' }])
    expect(await usageOf(alice)).toEqual({
      ...before,
      bytes: before.bytes - 5,
      files: before.files - 1,
    })
    expect(await rowOf(made.file.id)).toBeUndefined()
    const [blobRow] = await t.app.db.rows<{ state: string }>(
      'SELECT state FROM blobs WHERE id = ?',
      [blobId],
    )
    expect(blobRow?.state ?? 'deleting').toBe('deleting')
    await expectNothingLeft()
    expect((await tree(alice)).response.folders).toContain('gone')
  })

  it.each([
    ['no file', '', 'INVALID_INPUT', 'file'],
    ['the root', '?file=/', 'INVALID_PATH', 'file'],
    ['an invalid path', '?file=a/../b', 'INVALID_PATH', 'file'],
    ['a repeated file', '?file=a&file=b', 'INVALID_INPUT', 'file'],
  ])('400 for %s', async (_what, query, code, field) => {
    const { status, response } = await alice.rest('DELETE', `/api/files/delete${query}`)
    expect([status, response]).toEqual([400, { code, field }])
  })

  it('400 for a body, which the route does not accept', async () => {
    const { status, response } = await alice.rest('DELETE', '/api/files/delete?file=a', {
      json: { file: 'a' },
    })
    expect([status, response]).toEqual([400, { code: 'INVALID_INPUT', field: 'file' }])
  })

  it('404 for a missing file, or for a folder', async () => {
    await alice.upload('stay/dir/a.txt', '')
    for (const path of ['stay/none.txt', 'stay/dir']) {
      const { status, response } = await remove(path)
      expect([status, response]).toEqual([404, { code: 'FILE_NOT_FOUND', path }])
    }
    expect(await namesIn(alice, 'stay/dir')).toEqual(['stay/dir/a.txt'])
  })

  it('404 for another user’s file, like for a missing one', async () => {
    await alice.upload('hers/b.txt', 'hers')
    expectSameRefusal(
      await remove('hers/b.txt', bob),
      await remove('hers/0.txt', bob),
      'hers/b.txt',
      'hers/0.txt',
    )
    expect(await namesIn(alice, 'hers')).toContain('hers/b.txt')
  })
})

describe('DELETE /api/files/delete/batch', () => {
  const removeAll = (files: unknown, person = alice) =>
    person.rest('DELETE', '/api/files/delete/batch', { json: { files } })

  it('200 deletes existing files, and lists the missing ones', async () => {
    for (const path of ['batch/a', 'batch/b', 'batch/x/c', 'batch/keep'])
      await alice.upload(path, '12')
    const before = await usageOf(alice)
    const paths = [
      'batch/a',
      '/batch/b/',
      'batch/none',
      'batch/x',
      'batch/x/c',
      'none/none',
      'batch/a',
    ]
    const { status, msg, response } = await removeAll(paths)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(Object.keys(response)).toEqual(['files_deleted', 'files_failed'])
    expect(response.files_deleted).toEqual(['batch/a', 'batch/b', 'batch/x/c'])
    expect(response.files_failed).toEqual(['batch/none', 'batch/x', 'none/none'])
    expect(await namesIn(alice, 'batch')).toEqual(['batch/keep'])
    expect(await usageOf(alice)).toEqual({
      ...before,
      bytes: before.bytes - 6,
      files: before.files - 3,
    })
    await expectNothingLeft()
  })

  it('200 accepts 1,000 files', async () => {
    const { response } = await removeAll(Array.from({ length: 1000 }, (_, i) => `none/${i}`))
    expect([response.files_deleted, response.files_failed.length]).toEqual([[], 1000])
  })

  it.each<[string, unknown, string]>([
    ['no file', [], 'INVALID_INPUT'],
    ['1,001 files', Array(1001).fill('a'), 'INVALID_INPUT'],
    ['a text', 'batch/keep', 'INVALID_INPUT'],
    ['a number in the list', ['batch/keep', 1], 'INVALID_INPUT'],
    ['null in the list', ['batch/keep', null], 'INVALID_INPUT'],
    ['nothing', undefined, 'INVALID_INPUT'],
    ['an invalid path in the list', ['batch/keep', '..'], 'INVALID_PATH'],
  ])('400 for %s, and nothing is deleted', async (_what, files, code) => {
    const { status, response } = await removeAll(files)
    expect([status, response]).toEqual([400, { code, field: 'files' }])
    expect(await namesIn(alice, 'batch')).toEqual(['batch/keep'])
  })

  it('200 lists another user’s file among the failures', async () => {
    await bob.upload('batch/keep', '')
    const carol = await t.signIn('carol')
    expect((await removeAll(['batch/keep'], carol)).response).toEqual({
      files_deleted: [],
      files_failed: ['batch/keep'],
    })
    expect((await removeAll(['batch/keep'], bob)).response).toEqual({
      files_deleted: ['batch/keep'],
      files_failed: [],
    })
    expect(await namesIn(alice, 'batch')).toEqual(['batch/keep'])
  })
})
