import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, join, privateKey, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

const own = '/api/files'
let t: TestApp
let alice: Person
let workspaceId: string
let shared: string

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  alice = await t.signIn('alice')
  workspaceId = await found(alice)
  shared = `/api/workspaces/${workspaceId}/files`
  await alice.upload('docs/a.txt', 'content')
  const form = new FormData()
  form.append('folder', '/docs')
  form.append('file', new File(['content'], 'a.txt'))
  await alice.rest('POST', `${shared}/upload`, { form })
})
afterAll(() => t.stop())

const info = (person: Person, base: string, query: Record<string, string>, tag?: string) =>
  person.rest(
    'GET',
    `${base}/info?${new URLSearchParams(query)}`,
    tag ? { headers: { 'if-none-match': tag } } : {},
  )
const bases = [
  ['of the caller', () => own, 'docs/a.txt'],
  ['of a workspace', () => shared, '/docs/a.txt'],
] as const

describe.each(bases)('The details of a file %s', (_whose, baseOf, path) => {
  it('are the same by path and by id, and have its ETag', async () => {
    const byPath = await info(alice, baseOf(), { path })
    expect(byPath.response).toEqual({
      id: anId,
      name: 'a.txt',
      path,
      file_type: 'text/plain',
      size: 7,
      revision: 1,
      md5_checksum: '9a0364b9e99bb480dd25e1f0284c8555',
      created_at: aTime,
      modified_at: aTime,
      updated_at: aTime,
      created_by: alice.userId,
    })
    expect(byPath.headers.get('etag')).toBe('"1"')
    const byId = await info(alice, baseOf(), { file_id: byPath.response.id })
    expect([byId.status, byId.response]).toEqual([200, byPath.response])
  })

  it('are shown to keys with the read scope', async () => {
    const { caller } =
      baseOf() === own
        ? await privateKey(t, alice, ['private_files:read'])
        : await workspaceKey(t, alice, workspaceId)
    expect((await info(caller, baseOf(), { path })).response.name).toBe('a.txt')
    const { caller: other } = await privateKey(t, alice, ['private_files:write'])
    expect((await info(other, baseOf(), { path })).response.code).toMatch(
      /INSUFFICIENT_SCOPE|KEY_OUT_OF_BOUNDS/,
    )
  })

  it('are not sent again while unchanged', async () => {
    const same = await info(alice, baseOf(), { path }, '"1"')
    expect([
      same.status,
      same.text,
      same.headers.get('etag'),
      same.headers.get('content-length'),
    ]).toEqual([304, '', '"1"', null])
    expect((await info(alice, baseOf(), { path }, 'W/"1", "9"')).status).toBe(304)
    expect((await info(alice, baseOf(), { path }, '"2"')).status).toBe(200)
  })

  it('refuse a request with no file, two files or an unknown file', async () => {
    const { id } = (await info(alice, baseOf(), { path })).response
    for (const [query, answer] of [
      [{}, '400 INVALID_INPUT'],
      [{ path, file_id: id }, '400 INVALID_INPUT'],
      [{ path: '../a.txt' }, '400 INVALID_PATH'],
      [{ path: `${path}/b` }, '404 FILE_NOT_FOUND'],
      [{ path: 'docs' }, '404 FILE_NOT_FOUND'],
      [{ file_id: '00000000-0000-4000-8000-000000000000' }, '404 FILE_NOT_FOUND'],
      [{ file_id: 'x' }, '404 FILE_NOT_FOUND'],
    ] as const) {
      const { status, response } = await info(alice, baseOf(), query)
      expect([query, `${status} ${response.code}`]).toEqual([query, answer])
    }
    expect((await info(t.anonymous, baseOf(), { path })).status).toBe(401)
  })
})

it('The details of a file by id show its new path after a parent folder was renamed', async () => {
  await alice.upload('old/b.txt', 'content')
  const { id } = (await info(alice, own, { path: 'old/b.txt' })).response
  await alice.rest('POST', '/api/folders/move', { json: { source: 'old', destination: 'new' } })
  const { status, response } = await info(alice, own, { file_id: id }, '"1"')
  expect([status, response.path, response.revision]).toEqual([200, 'new/b.txt', 1])
})

it('The details of a file are shown only to users who may see it', async () => {
  const [bob, carol] = [await t.signIn('bob'), await t.signIn('carol')]
  await join(t, workspaceId, carol, 'viewer')
  expect((await info(bob, shared, { path: '/docs/a.txt' })).status).toBe(403)
  expect((await info(carol, shared, { path: '/docs/a.txt' })).status).toBe(200)
  const { id } = (await info(alice, own, { path: 'docs/a.txt' })).response
  expect((await info(bob, own, { file_id: id })).response.code).toBe('FILE_NOT_FOUND')
})
