import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t.stop())

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const read = (checksum: string, person = alice) => person.rest('GET', `/api/files/${checksum}/note`)
const write = (checksum: string, content: unknown, person = alice) =>
  person.rest('PUT', `/api/files/${checksum}/note`, { json: { content } })
const contentOf = async (text: string, person = alice): Promise<string> =>
  (await read(md5(text), person)).response.content
const notes = () => t.app.db.rows<{ content: string }>('SELECT content FROM note ORDER BY content')

/** Uploads a file with this text. Returns its checksum. */
async function have(path: string, text: string, person = alice): Promise<string> {
  expect((await person.upload(path, text)).response.file.md5_checksum).toBe(md5(text))
  return md5(text)
}

describe('GET /api/files/{checksum}/note', () => {
  it('200 returns an empty note when there is none yet', async () => {
    const checksum = await have('note/none.txt', 'without a note')
    const { status, msg, response } = await read(checksum)
    expect([status, msg, response]).toEqual([200, 'ok', { content: '' }])
  })

  it('200 also accepts an uppercase checksum', async () => {
    const checksum = await have('note/case.txt', 'in capitals')
    await write(checksum.toUpperCase(), 'one note')
    expect((await read(checksum)).response.content).toBe('one note')
    expect((await read(checksum.toUpperCase())).response.content).toBe('one note')
  })

  it('400 without a file of that content', async () => {
    for (const checksum of [md5('nobody has this'), 'd41d8cd9', 'upload', '%20', 'x'.repeat(200)]) {
      const { status, response } = await read(checksum)
      expect([status, response]).toEqual([
        400,
        { code: 'FILE_NOT_FOUND', checksum: decodeURIComponent(checksum) },
      ])
    }
  })
})

describe('PUT /api/files/{checksum}/note', () => {
  it('200 writes, overwrites and removes a note', async () => {
    const checksum = await have('put/a.txt', 'with a note')
    const { status, msg, response } = await write(checksum, 'first\nline, 🦊 and all')
    expect([status, msg, response]).toEqual([200, 'ok', { note: 'first\nline, 🦊 and all' }])
    expect((await read(checksum)).response).toEqual({ content: 'first\nline, 🦊 and all' })
    await write(checksum, 'second')
    expect((await read(checksum)).response).toEqual({ content: 'second' })
    const before = await notes()
    const removed = await write(checksum, '')
    expect([removed.status, removed.response]).toEqual([200, { note: '' }])
    expect((await read(checksum)).response).toEqual({ content: '' })
    expect(await notes()).toHaveLength(before.length - 1)
  })

  it('200 for up to 10,000 characters, whatever their size in bytes', async () => {
    const checksum = await have('put/long.txt', 'with a long note')
    const long = '🦊'.repeat(10_000)
    expect((await write(checksum, long)).status).toBe(200)
    expect((await read(checksum)).response.content).toBe(long)
    const longer = await write(checksum, `${long}.`)
    expect([longer.status, longer.response]).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'content' },
    ])
    expect((await read(checksum)).response.content).toBe(long)
  })

  it.each([1, 2, 3, 4, 5])(
    '200 for each of several first writes at once, which leave one note (%d)',
    async round => {
      const checksum = await have(`put/race ${round}.txt`, `raced for ${round}`)
      const texts = Array.from({ length: 8 }, (_, i) => `${round} by ${i}`)
      const answers = await Promise.all(texts.map(text => write(checksum, text)))
      expect(answers.map(a => a.status)).toEqual(Array(8).fill(200))
      expect(texts).toContain((await read(checksum)).response.content)
      expect((await notes()).filter(n => n.content.startsWith(`${round} by `))).toHaveLength(1)
    },
  )

  it.each<[string, object]>([
    ['no content', {}],
    ['null', { content: null }],
    ['a number', { content: 5 }],
    ['half a character', { content: 'a\ud800' }],
  ])('400 for %s', async (_what, json) => {
    const checksum = await have(`put/${_what}`, `bad note: ${_what}`)
    const { status, response } = await alice.rest('PUT', `/api/files/${checksum}/note`, { json })
    expect([status, response]).toEqual([400, { code: 'INVALID_INPUT', field: 'content' }])
  })

  it('400 for an unknown field, and without a file of that content', async () => {
    const checksum = md5('with a note')
    const unknown = await alice.rest('PUT', `/api/files/${checksum}/note`, {
      json: { content: 'a', note: 'b' },
    })
    expect([unknown.status, unknown.response]).toEqual([
      400,
      { code: 'INVALID_INPUT', field: 'note' },
    ])
    const none = await write(md5('nobody has this'), 'x')
    expect([none.status, none.response.code]).toEqual([400, 'FILE_NOT_FOUND'])
  })
})

describe('A note', () => {
  it('follows the content through moves of the file and of folders above it', async () => {
    const checksum = await have('follow/a/b.txt', 'wanders')
    await write(checksum, 'wherever it goes')
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'follow/a/b.txt', destination: 'follow/c/d.txt' },
    })
    await alice.rest('POST', '/api/folders/move', {
      json: { source: 'follow/c', destination: 'else/where' },
    })
    expect(await contentOf('wanders')).toBe('wherever it goes')
  })

  it('is shared by identical copies, and lives until the last copy is deleted', async () => {
    const checksum = await have('copies/1.txt', 'a twin')
    await have('copies/2.txt', 'a twin')
    await write(checksum, 'of both')
    await alice.rest('DELETE', '/api/files/delete?file=copies/1.txt')
    expect(await contentOf('a twin')).toBe('of both')
    await alice.rest('DELETE', '/api/files/delete?file=copies/2.txt')
    expect((await read(checksum)).response.code).toBe('FILE_NOT_FOUND')
  })

  it('belongs to one person, even if another has the same content', async () => {
    const checksum = await have('own/a.txt', 'common content')
    await write(checksum, 'of alice')
    const without = await read(checksum, bob)
    expect([without.status, without.response.code]).toEqual([400, 'FILE_NOT_FOUND'])
    expect((await write(checksum, 'of bob', bob)).response.code).toBe('FILE_NOT_FOUND')
    await have('mine.txt', 'common content', bob)
    expect(await contentOf('common content', bob)).toBe('')
    await write(checksum, 'of bob', bob)
    expect([await contentOf('common content'), await contentOf('common content', bob)]).toEqual([
      'of alice',
      'of bob',
    ])
    await write(checksum, '', bob)
    expect(await contentOf('common content')).toBe('of alice')
  })

  it('is inaccessible once a folder above the last copy is deleted', async () => {
    const checksum = await have('gone/deep/a.txt', 'soon gone')
    await write(checksum, 'soon gone, too')
    await alice.rest('DELETE', '/api/folders?path=gone&recursive=true')
    expect((await read(checksum)).response.code).toBe('FILE_NOT_FOUND')
    await t.settle()
    expect((await read(checksum)).response.code).toBe('FILE_NOT_FOUND')
  })

  it('is accessible while one copy remains, among any number of deleted folders that wait to be purged', async () => {
    const [bucket] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM bucket WHERE user_id = ?',
      [bob.userId],
    )
    const checksum = md5('one of many')
    const insert = (columns: string, rows: string[]) =>
      t.app.db.run(
        `INSERT INTO entry (${columns}, created_at, updated_at) VALUES ${rows.join(', ')}`,
      )
    const folders = Array.from(
      { length: 1100 },
      (_, i) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`,
    )
    await insert(
      'id, bucket_id, parent_id, kind, name',
      folders.map(id => `('${id}', '${bucket?.id}', NULL, 0, '${id}', 0, 0)`),
    )
    await insert(
      'id, bucket_id, parent_id, kind, name, md5, blob_id',
      folders.map(id => {
        const fileId = id.replace('-7000-', '-7001-')
        return `('${fileId}', '${bucket?.id}', '${id}', 1, 'a', '${checksum}', '${fileId}', 0, 0)`
      }),
    )
    expect((await read(checksum, bob)).response.code).toBe('FILE_NOT_FOUND')
    await have('last/one.txt', 'one of many', bob)
    expect((await write(checksum, 'still there', bob)).response).toEqual({ note: 'still there' })
    await bob.rest('DELETE', '/api/files/delete?file=last/one.txt')
    expect((await read(checksum, bob)).response.code).toBe('FILE_NOT_FOUND')
  })
})
