import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createLog } from '../../src/runtime/log.ts'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, privateKey, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent, findingsOf } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, VERSIONS_KEPT: '3' })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

/** The storage limit of the plan. */
const FREE = 5 * 1024 ** 3

let serial = 0
const somebody = () => t.signIn(`person${serial++}`)

/** Uploads a file by REST, with the fields before the file, or after it like browsers. */
const put = (
  person: Person,
  path: string,
  content: string,
  {
    choice,
    base = '/api/files',
    after = false,
  }: { choice?: string; base?: string; after?: boolean } = {},
) => {
  const names = path.split('/')
  const form = new FormData()
  const file = () => form.append('file', new File([content], names.pop() ?? ''))
  if (after) file()
  form.append('folder', names.slice(0, after ? undefined : -1).join('/'))
  if (choice !== undefined) form.append('on_conflict', choice)
  if (!after) file()
  return person.rest('POST', `${base}/upload`, { form })
}

/** A file that has had these contents, one after the other. @returns its id */
async function fileWith(person: Person, path: string, ...contents: string[]): Promise<string> {
  let id = ''
  for (const content of contents)
    id = (await put(person, path, content, { choice: 'replace' })).response.file.id
  return id
}

const VERSIONS = `query ($path: String!, $first: Int, $after: String) { me { drive { usage { usedBytes keptBytes fileCount }
  entry(path: $path) { id size ... on File { md5 contentType download { url }
    versions(first: $first, after: $after) { nodes { id size md5 contentType createdAt replacedAt expiresAt createdBy { email }
      download { url fileName } file { id } } pageInfo { hasNextPage endCursor } } } } } } }`
const driveOf = async (person: Person, path: string, more = {}) =>
  (await ask(person, VERSIONS, { path, ...more })).me.drive
const versionsOf = async (person: Person, path: string) =>
  (await driveOf(person, path)).entry.versions.nodes
const textAt = async (url: string) => (await fetch(url)).text()
/** The bytes at the target of a download. */
const followed = ({ headers }: RestAnswer) => textAt(headers.get('location') ?? '')
const textOf = async (person: Person, path: string) =>
  textAt((await driveOf(person, path)).entry.download.url)
const RESTORE = `mutation ($input: RestoreVersionInput!) { restoreVersion(input: $input) {
  removedId version { id size } file { id size md5 } drive { usage { usedBytes keptBytes } } } }`
const DELETE = `mutation ($input: DeleteVersionInput!) { deleteVersion(input: $input) {
  deletedId file { id versions { nodes { id } } } drive { usage { keptBytes } } } }`
const UPLOAD = `mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { id path size } } }`

describe('A replaced file', () => {
  it('keeps its id, shares and note, and its old content as a version', async () => {
    const person = await somebody()
    const first = await put(person, 'docs/a.txt', 'one')
    const { id, md5_checksum: md5, created_at } = first.response.file
    const shared = await person.rest('POST', '/api/files/quick_share', {
      json: { object: 'docs/a.txt' },
    })
    await person.rest('PUT', `/api/files/${md5}/note`, { json: { content: 'mine' } })
    const second = await put(person, 'docs/a.txt', 'three', { choice: 'replace' })
    expect(second.status).toBe(200)
    expect(second.response.file).toMatchObject({ id, path: 'docs/a.txt', size: 5, created_at })
    expect(await textOf(person, 'docs/a.txt')).toBe('three')
    const { usage, entry } = await driveOf(person, 'docs/a.txt')
    expect(usage).toEqual({ usedBytes: 5, keptBytes: 3, fileCount: 1 })
    const [version] = entry.versions.nodes
    expect(version).toEqual({
      id: anId,
      size: 3,
      md5,
      contentType: 'text/plain',
      createdAt: created_at,
      replacedAt: aTime,
      expiresAt: aTime,
      createdBy: { email: person.email },
      download: { url: expect.any(String), fileName: 'a.txt' },
      file: { id },
    })
    expect(Date.parse(version.expiresAt) - Date.parse(version.replacedAt)).toBe(90 * 86_400_000)
    expect(await textAt(version.download.url)).toBe('one')
    const token = shared.response.sharing_token
    expect(await followed(await t.anonymous.rest('GET', `/api/d/${token}`))).toBe('three')
    const note = await person.rest('GET', `/api/files/${second.response.file.md5_checksum}/note`)
    expect(note.response.content).toBe('mine')
    const { node } = await ask(person, 'query ($id: ID!) { node(id: $id) { __typename id } }', {
      id: version.id,
    })
    expect(node).toEqual({ __typename: 'Version', id: version.id })
    expect(
      (await ask(alice, 'query ($id: ID!) { node(id: $id) { id } }', { id: version.id })).node,
    ).toBeNull()
    await expectConsistent(t)
  })

  it('counts towards its parent folders by its present size', async () => {
    const person = await somebody()
    await fileWith(person, 'a/b/c.txt', '12345', '1', '123')
    const sizeOf = async (path: string) =>
      (await ask(person, VERSIONS, { path })).me.drive.entry.size
    expect([await sizeOf('a'), await sizeOf('a/b')]).toEqual([3, 3])
  })

  it('can be replaced through GraphQL, and by a form with its fields after the file', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'a.txt', 'one')
    const upload = (onConflict: string, content: string) =>
      person.graphql<{ uploadFile: { file: object } }>(
        UPLOAD,
        { input: { file: null, onConflict } },
        new File([content], 'a.txt'),
      )
    expect((await upload('REPLACE', 'two')).data?.uploadFile.file).toEqual({
      id,
      path: 'a.txt',
      size: 3,
    })
    expect((await upload('KEEP_BOTH', 'other')).data?.uploadFile.file).toMatchObject({
      path: 'a (2).txt',
      size: 5,
    })
    expect((await upload('FAIL', 'no')).errors?.[0]?.extensions.code).toBe('PATH_EXISTS')
    expect(
      (await put(person, 'a.txt', 'four', { choice: 'replace', after: true })).response.file,
    ).toMatchObject({ id })
    expect(
      (await put(person, 'a.txt', 'five', { choice: 'keep_both', after: true })).response.file.path,
    ).toBe('a (3).txt')
    expect((await versionsOf(person, 'a.txt')).map(({ size }: { size: number }) => size)).toEqual([
      3, 3,
    ])
  })

  it('is refused without an explicit choice, and when a folder has the name', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', 'one')
    for (const after of [false, true]) {
      expect((await put(person, 'a.txt', 'two', { after })).response).toMatchObject({
        code: 'PATH_EXISTS',
      })
      expect((await put(person, 'a.txt', 'two', { after, choice: 'fail' })).status).toBe(409)
      expect((await put(person, 'a.txt', 'two', { after, choice: 'over' })).response).toEqual({
        code: 'INVALID_INPUT',
        field: 'on_conflict',
      })
    }
    await person.rest('POST', '/api/folders', { json: { path: 'dir' } })
    expect((await put(person, 'dir', 'two', { choice: 'replace' })).response.code).toBe(
      'PATH_EXISTS',
    )
    expect(
      (await put(person, 'dir', 'two', { choice: 'replace', after: true })).response.code,
    ).toBe('PATH_EXISTS')
    expect((await put(person, 'dir', 'two', { choice: 'keep_both' })).response.file.path).toBe(
      'dir (2)',
    )
    // Together with the folder, everything is known before the bytes arrive.
    const form = new FormData()
    form.append('folder', '')
    form.append('file', new File(['x'], 'b.txt'))
    form.append('on_conflict', 'replace')
    expect((await person.rest('POST', '/api/files/upload', { form })).response).toEqual({
      code: 'INVALID_INPUT',
      field: 'on_conflict',
    })
    expect(await versionsOf(person, 'a.txt')).toEqual([])
    await expectConsistent(t)
  })

  it('cannot be replaced without the right to delete', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', 'one')
    const { caller } = await privateKey(t, person, ['private_files:read', 'private_files:write'])
    for (const after of [false, true])
      expect((await put(caller, 'a.txt', 'two', { choice: 'replace', after })).response.code).toBe(
        'INSUFFICIENT_SCOPE',
      )
    const input = { file: null, onConflict: 'REPLACE' }
    const byGraph = await caller.graphql(UPLOAD, { input }, new File(['two'], 'a.txt'))
    expect(byGraph.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE')
    const json = { filename: 'a.txt', size: 0, on_conflict: 'replace' }
    expect((await caller.rest('POST', '/api/files/uploads', { json })).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    const started = await person.rest('POST', '/api/files/uploads', { json })
    const at = `/api/files/uploads/${started.response.upload_id}/complete`
    expect((await caller.rest('POST', at, { json: {} })).response.code).toBe('INSUFFICIENT_SCOPE')
    expect((await put(caller, 'a.txt', 'two', { choice: 'keep_both' })).status).toBe(200)
    expect(await textOf(person, 'a.txt')).toBe('one')
    await person.rest('DELETE', `/api/files/uploads/${started.response.upload_id}`)
  })

  it('moves its note along if no other file has the old content, and copies it otherwise', async () => {
    const person = await somebody()
    const md5 = (await put(person, 'a.txt', 'same')).response.file.md5_checksum
    await put(person, 'b.txt', 'same')
    await person.rest('PUT', `/api/files/${md5}/note`, { json: { content: 'mine' } })
    const next = (await put(person, 'a.txt', 'other', { choice: 'replace' })).response.file
      .md5_checksum
    const noteOn = async (sum: string) =>
      (await person.rest('GET', `/api/files/${sum}/note`)).response.content
    expect([await noteOn(md5), await noteOn(next)]).toEqual(['mine', 'mine'])
    const [row] = await t.app.db.rows<{ count: number }>(
      'SELECT note_count AS count FROM bucket WHERE user_id = ?',
      [person.userId],
    )
    expect(row?.count).toBe(2)
    const [version] = await versionsOf(person, 'a.txt')
    await person.rest('PUT', `/api/files/${next}/note`, { json: { content: 'newer' } })
    await ask(person, RESTORE, { input: { version: version.id } })
    // A file with a note of its own keeps it.
    expect(await noteOn(md5)).toBe('mine')
  })
})

describe('A multipart upload', () => {
  const inParts = async (
    person: Person,
    name: string,
    content: string,
    choice?: string,
    base = '/api/files/uploads',
  ) => {
    const json = {
      filename: name,
      size: content.length,
      ...(choice ? { on_conflict: choice } : {}),
    }
    const started = await person.rest('POST', base, { json })
    if (started.status !== 200) return started
    const at = `${base}/${started.response.upload_id}`
    await person.rest('PUT', `${at}/parts/1`, { body: content })
    return person.rest('POST', `${at}/complete`, { json: {} })
  }

  it('replaces, keeps both or fails, as chosen at its start', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'a.txt', 'one')
    const replaced = await inParts(person, 'a.txt', 'seven', 'replace')
    expect(replaced.response).toMatchObject({ file_name: 'a.txt', size: 5, file: { id } })
    expect((await inParts(person, 'a.txt', 'x', 'keep_both')).response.file_name).toBe('a (2).txt')
    expect((await inParts(person, 'a.txt', 'x')).response.code).toBe('PATH_EXISTS')
    expect((await inParts(person, 'a.txt', 'x', 'over')).response).toMatchObject({
      field: 'on_conflict',
    })
    expect(await textOf(person, 'a.txt')).toBe('seven')
    expect(await versionsOf(person, 'a.txt')).toMatchObject([{ size: 3 }])
    await expectConsistent(t)
  })

  it('replaces the file present at completion, or creates a new one', async () => {
    const person = await somebody()
    const START =
      'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id } } }'
    const COMPLETE =
      'mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { file { id path } } }'
    const start = async () =>
      (await ask(person, START, { input: { fileName: 'a.txt', size: 0, onConflict: 'REPLACE' } }))
        .startUpload.uploadSession.id
    const complete = async (uploadSession: string) =>
      (await ask(person, COMPLETE, { input: { uploadSession } })).completeUpload.file
    const [first, second] = [await start(), await start()]
    const made = await complete(first)
    expect(await complete(second)).toEqual(made)
    expect(await versionsOf(person, 'a.txt')).toHaveLength(1)
    await expectConsistent(t)
  })
})

interface Page {
  nodes: { size: number }[]
  pageInfo: { hasNextPage: boolean; endCursor: string }
}

describe('The versions of a file', () => {
  it('are listed by REST and GraphQL, newest first, page by page', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'docs/a.txt', '1', '22', '333', '4444')
    const sizes: number[] = []
    for (let after: string | null = null; ; ) {
      const page: Page = (await driveOf(person, 'docs/a.txt', { first: 2, after })).entry.versions
      sizes.push(...page.nodes.map(({ size }) => size))
      if (!page.pageInfo.hasNextPage) break
      after = page.pageInfo.endCursor
    }
    expect(sizes).toEqual([3, 2, 1])
    const first = (await person.rest('GET', `/api/files/versions?file_id=${id}&limit=2`)).response
    expect(first).toMatchObject({
      file_id: id,
      path: 'docs/a.txt',
      versions: [
        { id: anId, size: 3, created_by: person.userId, created_at: aTime, replaced_at: aTime },
        { size: 2 },
      ],
    })
    const next = await person.rest(
      'GET',
      `/api/files/versions?path=docs/a.txt&cursor=${first.next_cursor}`,
    )
    expect(next.response).toMatchObject({ versions: [{ size: 1 }], next_cursor: null })
    const version = next.response.versions[0].id
    expect(
      await followed(await person.rest('GET', `/api/files/versions/${version}/download`)),
    ).toBe('1')
  })

  it('name the author of each content', async () => {
    const room = await found(alice, 'Shed')
    const bob = await t.signIn('bob')
    await join(t, room, bob, 'editor')
    const base = `/api/workspaces/${room}/files`
    const save = (who: Person, content: string) =>
      put(who, 'plan.txt', content, { choice: 'replace', base })
    await save(alice, '1')
    await save(bob, '22')
    const third = await save(alice, '333')
    expect(third.response[0]).toMatchObject({ uploaded_by: alice.userId, size: 3 })
    const { versions } = (await bob.rest('GET', `${base}/versions?path=/plan.txt`)).response
    expect(versions).toMatchObject([
      { size: 2, created_by: bob.userId },
      { size: 1, created_by: alice.userId },
    ])
  })

  it('are limited to the number of the policy', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', '1', '22', '333', '4444', '55555', '666666')
    expect((await versionsOf(person, 'a.txt')).map(({ size }: { size: number }) => size)).toEqual([
      5, 4, 3,
    ])
    expect((await driveOf(person, 'a.txt')).usage).toEqual({
      usedBytes: 6,
      keptBytes: 12,
      fileCount: 1,
    })
    await expectConsistent(t)
  })

  it('expire VERSION_DAYS after they were replaced', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', '1', '22', '333')
    const [young, old] = await versionsOf(person, 'a.txt')
    await t.app.db.run(
      'UPDATE version SET replaced_at = replaced_at - 90 * 86400000 - 1 WHERE id = ?',
      [old.id],
    )
    await t.app.sweeper.run()
    expect((await versionsOf(person, 'a.txt')).map(({ id }: { id: string }) => id)).toEqual([
      young.id,
    ])
    expect((await driveOf(person, 'a.txt')).usage.keptBytes).toBe(2)
    await expectConsistent(t)
  })

  it('are purged before younger trash when a drive exceeds its limit', async () => {
    const person = await somebody()
    const thousand = (digit: string) => digit.repeat(1000)
    await fileWith(person, 'a.txt', thousand('1'), thousand('2'), thousand('3'))
    await put(person, 'b.txt', thousand('4'))
    await person.rest('DELETE', '/api/files/delete?file=b.txt')
    await t.limit({ maxTotalStorageBytes: 2500 })
    await t.app.services.kept.trimOverfull()
    await t.limit({ maxTotalStorageBytes: FREE })
    expect((await driveOf(person, 'a.txt')).usage.keptBytes).toBe(2000)
    const [left, ...none] = await versionsOf(person, 'a.txt')
    expect(await textAt(left.download.url)).toBe(thousand('2'))
    expect(none).toEqual([])
    await expectConsistent(t)
  })

  it('are trimmed again by the next sweep only after a failure', async () => {
    let trims = 0
    const trimOverfull = async () => {
      trims += 1
      if (trims === 1) throw new Error('a fault of the database')
    }
    const { db, store, services } = t.app
    const { contents } = services
    const of = {
      contents,
      kept: { purgeExpired: async () => {}, trimOverfull },
      log: createLog({ logLevel: 'silent' }),
    }
    const sweeper = createSweeper({ db, store, ...of, everyMs: 3_600_000, eventDays: 90 })
    for (const expected of [1, 2, 2]) {
      await sweeper.run()
      expect(trims).toBe(expected)
    }
  })
})

describe('A version', () => {
  it('can be restored, and the present content becomes a version', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'docs/a.txt', 'one', 'three')
    const [version] = await versionsOf(person, 'docs/a.txt')
    const { restoreVersion } = await ask(person, RESTORE, { input: { version: version.id } })
    expect(restoreVersion).toEqual({
      removedId: version.id,
      version: { id: anId, size: 5 },
      file: { id, size: 3, md5: version.md5 },
      drive: { usage: { usedBytes: 3, keptBytes: 5 } },
    })
    expect(await textOf(person, 'docs/a.txt')).toBe('one')
    const again = restoreVersion.version.id
    const back = await person.rest('POST', `/api/files/versions/${again}/restore`)
    expect(back.response).toMatchObject({
      file_id: id,
      path: 'docs/a.txt',
      size: 5,
      version_id: anId,
      updated_at: aTime,
    })
    expect(await textOf(person, 'docs/a.txt')).toBe('three')
    expect((await driveOf(person, 'docs')).entry.size).toBe(5)
    await expectConsistent(t)
  })

  it('can only be restored within the quota', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', 'x'.repeat(1000), 'y')
    const [version] = await versionsOf(person, 'a.txt')
    await t.limit({ maxTotalStorageBytes: 500 })
    const byGraph = await codeOf(person, RESTORE, { input: { version: version.id } })
    const byRest = await person.rest('POST', `/api/files/versions/${version.id}/restore`)
    await t.limit({ maxTotalStorageBytes: FREE })
    expect([byGraph, byRest.response.code]).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'])
    expect(await textOf(person, 'a.txt')).toBe('y')
    await expectConsistent(t)
  })

  it('can be deleted through REST and GraphQL, with its bytes', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'a.txt', '1', '22', '333')
    const [second, first] = await versionsOf(person, 'a.txt')
    expect((await ask(person, DELETE, { input: { version: first.id } })).deleteVersion).toEqual({
      deletedId: first.id,
      file: { id, versions: { nodes: [{ id: second.id }] } },
      drive: { usage: { keptBytes: 2 } },
    })
    const gone = await person.rest('DELETE', `/api/files/versions/${second.id}`)
    expect(gone.response).toEqual({ version_deleted: second.id })
    expect(await versionsOf(person, 'a.txt')).toEqual([])
    await expectConsistent(t)
  })

  it('stays with its file in the trash, and is deleted for ever with it', async () => {
    const person = await somebody()
    await fileWith(person, 'docs/a.txt', '1', '22')
    const [version] = await versionsOf(person, 'docs/a.txt')
    await person.rest('DELETE', '/api/folders?path=docs&recursive=true')
    expect(await codeOf(person, RESTORE, { input: { version: version.id } })).toBe(
      'VERSION_NOT_FOUND',
    )
    expect(await codeOf(person, DELETE, { input: { version: version.id } })).toBe(
      'VERSION_NOT_FOUND',
    )
    const [item] = (await person.rest('GET', '/api/trash')).response.items
    await person.rest('POST', '/api/trash/restore', { json: { items: [item.id] } })
    expect(await versionsOf(person, 'docs/a.txt')).toMatchObject([{ id: version.id, size: 1 }])
    await expectConsistent(t)
    const kept = async () => (await driveOf(person, '')).usage.keptBytes
    await person.rest('DELETE', '/api/files/delete?file=docs/a.txt')
    expect(await kept()).toBe(3)
    await person.rest('DELETE', '/api/trash')
    expect(await kept()).toBe(0)
    await fileWith(person, 'docs/b.txt', '1', '22')
    await person.rest('DELETE', '/api/folders?path=docs&recursive=true')
    await person.rest('DELETE', '/api/trash')
    await expectConsistent(t)
    expect(await kept()).toBe(0)
    expect(
      await t.app.db.rows('SELECT id FROM version WHERE created_by = ?', [person.userId]),
    ).toEqual([])
  })

  it('is deleted with the account and with the workspace', async () => {
    const person = await somebody()
    await fileWith(person, 'a/b.txt', '1', '22')
    const room = await found(person)
    const base = `/api/workspaces/${room}/files`
    for (const content of ['1', '22'])
      await put(person, 'c.txt', content, { choice: 'replace', base })
    expect(
      (await person.rest('DELETE', `/api/workspaces/delete?workspace_id=${room}`)).status,
    ).toBe(200)
    const json = { delete_user_data: true }
    expect((await person.rest('DELETE', '/api/user/account/delete', { json })).status).toBe(200)
    await expectConsistent(t)
    expect(
      await t.app.db.rows('SELECT id FROM version WHERE created_by = ?', [person.userId]),
    ).toEqual([])
  })
})

it('Changes of versions are recorded in the log of the drive', async () => {
  const person = await somebody()
  const id = await fileWith(person, 'a.txt', '1', '22', '333')
  const [second, first] = await versionsOf(person, 'a.txt')
  await ask(person, RESTORE, { input: { version: first.id } })
  await person.rest('DELETE', `/api/files/versions/${second.id}`)
  const { me } = await ask(
    person,
    '{ me { drive { events(first: 10) { nodes { kind subjectId entry { id } details { path size md5 } } } } } }',
  )
  const about = { subjectId: id, entry: { id }, details: { path: 'a.txt' } }
  expect(me.drive.events.nodes.slice(1)).toMatchObject([
    { ...about, kind: 'FILE_REPLACED', details: { size: 2 } },
    { ...about, kind: 'FILE_REPLACED', details: { size: 3 } },
    { ...about, kind: 'VERSION_RESTORED', details: { size: 1, md5: first.md5 } },
    { ...about, kind: 'VERSION_DELETED', details: { size: 2 } },
  ])
})

it('A content that was just replaced is kept, even if the clocks of instances differ', async () => {
  const person = await somebody()
  const id = await fileWith(person, 'a.txt', '1', '22', '333', '4444')
  // Simulates that another instance, whose clock is far ahead, has created them.
  await t.app.db.run("UPDATE version SET id = CONCAT('f', SUBSTR(id, 2)) WHERE entry_id = ?", [id])
  await put(person, 'a.txt', '55555', { choice: 'replace' })
  const sizes = (await versionsOf(person, 'a.txt')).map(({ size }: { size: number }) => size)
  expect(sizes.sort()).toEqual([2, 3, 4])
})

it.each([{ VERSIONS_KEPT: '0' }, { VERSION_DAYS: '0' }])(
  'With %j no versions are kept',
  async settings => {
    const bare = await startApp({ ...UNHURRIED, ...settings })
    try {
      const person = await bare.signIn('carol')
      const id = await fileWith(person, 'a.txt', 'one', 'three')
      expect((await put(person, 'a.txt', 'four', { choice: 'replace' })).response.file.id).toBe(id)
      expect((await driveOf(person, 'a.txt')).usage).toEqual({
        usedBytes: 4,
        keptBytes: 0,
        fileCount: 1,
      })
      expect(await versionsOf(person, 'a.txt')).toEqual([])
      expect(await textOf(person, 'a.txt')).toBe('four')
      await expectConsistent(bare)
    } finally {
      await bare.stop()
    }
  },
)

describe('At the same time', () => {
  it('many replacements create one chain of versions, and lose nothing', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'a.txt', 'start')
    const contents = ['one', 'three', 'sixteen']
    const answers = await Promise.all(
      contents.map(content => put(person, 'a.txt', content, { choice: 'replace' })),
    )
    expect(answers.map(({ response }) => response.file.id)).toEqual([id, id, id])
    const versions = await versionsOf(person, 'a.txt')
    const texts = await Promise.all(
      versions.map((version: { download: { url: string } }) => textAt(version.download.url)),
    )
    expect([...texts, await textOf(person, 'a.txt')].sort()).toEqual([...contents, 'start'].sort())
    await expectConsistent(t)
  })

  it('replacements, moves, deletions and restores leave files, versions and counts consistent', async () => {
    const person = await somebody()
    await fileWith(person, 'a/x.txt', 'start', 'next')
    const [version] = await versionsOf(person, 'a/x.txt')
    const json = (source: string, destination: string) => ({ json: { source, destination } })
    const calls = [
      () => put(person, 'a/x.txt', 'one', { choice: 'replace' }),
      () => put(person, 'a/x.txt', 'two', { choice: 'keep_both' }),
      () => person.rest('POST', '/api/files/move', json('a/x.txt', 'b/x.txt')),
      () => person.rest('POST', `/api/files/versions/${version.id}/restore`),
      () => person.rest('DELETE', '/api/files/delete?file=a/x.txt'),
      () => person.rest('POST', '/api/folders/move', json('a', 'c')),
      () => put(person, 'b/x.txt', 'three', { choice: 'replace' }),
      () => person.rest('DELETE', `/api/files/versions/${version.id}`),
      () => put(person, 'a/x.txt', 'four', { choice: 'replace' }),
    ]
    const answers = await Promise.all(calls.map(call => call()))
    for (const { status, response } of answers)
      expect(
        status === 200 || /^(FILE|VERSION|FOLDER)_NOT_FOUND$|^PATH_EXISTS$/.test(response.code),
      ).toBe(true)
    // Uploads that replace or keep both are never refused.
    expect([0, 1, 6, 8].map(i => answers[i]?.status)).toEqual([200, 200, 200, 200])
    await expectConsistent(t)
  })
})

describe('The doctor', () => {
  it('repairs the counts of a drive, and removes orphaned versions', async () => {
    const person = await somebody()
    const id = await fileWith(person, 'a.txt', '1', '22')
    const bucket = (await ask(person, '{ me { drive { id } } }')).me.drive.id
    await t.app.db.run('UPDATE bucket SET kept_bytes = 7 WHERE id = ?', [bucket])
    expect(await findingsOf(t.app, { repair: true })).toMatchObject([
      { kind: 'bucket-counts', repaired: true },
    ])
    expect((await driveOf(person, 'a.txt')).usage.keptBytes).toBe(1)
    const [version] = await t.app.db.rows<{ blobId: string }>(
      'SELECT blob_id AS blobId FROM version WHERE entry_id = ?',
      [id],
    )
    await t.app.db.run("UPDATE blobs SET state = 'deleting' WHERE id = ?", [version?.blobId ?? ''])
    expect(await findingsOf(t.app, { repair: true })).toContainEqual(
      expect.objectContaining({ kind: 'version-without-blob', repaired: true }),
    )
    await expectConsistent(t)
    await t.app.db.run('UPDATE version SET bytes = 9 WHERE entry_id = ?', [id])
    expect(await findingsOf(t.app, { repair: true })).toContainEqual(
      expect.objectContaining({ kind: 'size-differs', repaired: true }),
    )
    await expectConsistent(t)
    await t.app.db.run('UPDATE version SET entry_id = ? WHERE entry_id = ?', [bucket, id])
    expect(await findingsOf(t.app, { repair: true })).toContainEqual(
      expect.objectContaining({ kind: 'version-without-file', repaired: true }),
    )
    await expectConsistent(t)
    expect(await textOf(person, 'a.txt')).toBe('22')
  })
})

describe('Refusals of versions', () => {
  const none = '00000000-0000-7000-8000-000000000000'

  it.each(['caller', 'workspace'])(
    'are the same through REST, for versions of a %s',
    async whose => {
      const stranger = await somebody()
      const room = await found(alice, 'Cellar')
      const base = whose === 'caller' ? '/api/files' : `/api/workspaces/${room}/files`
      const at = `${base}/versions`
      for (const content of ['1', '22'])
        await put(alice, 'mine.txt', content, { choice: 'replace', base })
      const { versions } = (await alice.rest('GET', `${at}?path=/mine.txt`)).response
      const { id } = versions[0]
      const calls: [string, string][] = [
        ['GET', `${at}?file_id=${none}`],
        ['GET', `${at}/${none}/download`],
        ['POST', `${at}/${none}/restore`],
        ['DELETE', `${at}/${none}`],
      ]
      for (const [method, path] of calls) {
        expect((await t.anonymous.rest(method, path)).status).toBe(401)
        expect((await stranger.rest(method, path)).status).toBe(whose === 'caller' ? 404 : 403)
        expect((await alice.rest(method, path)).response).toMatchObject(
          method === 'GET' && path.includes('file_id')
            ? { code: 'FILE_NOT_FOUND' }
            : { code: 'VERSION_NOT_FOUND', id: none },
        )
      }
      if (whose === 'caller')
        expect((await stranger.rest('POST', `${at}/${id}/restore`)).response).toEqual({
          code: 'VERSION_NOT_FOUND',
          id,
        })
      expect((await alice.rest('GET', `${at}?path=a/../b`)).response.code).toBe('INVALID_PATH')
      expect((await alice.rest('GET', at)).response.code).toBe('INVALID_INPUT')
      expect((await alice.rest('GET', `${at}/${id}/download?mode=sideways`)).response.code).toBe(
        'INVALID_MODE',
      )
      expect(
        (await alice.rest('POST', `${at}/${id}/restore`, { json: { more: 1 } })).response.code,
      ).toBe('INVALID_INPUT')
      expect(await followed(await alice.rest('GET', `${at}/${id}/download`))).toBe('1')
      for (const content of ['x'.repeat(2000), 'y'])
        await put(alice, 'mine.txt', content, { choice: 'replace', base })
      const [large] = (await alice.rest('GET', `${at}?path=/mine.txt`)).response.versions
      await t.limit({ maxTotalStorageBytes: 1000, maxTotalStorageBytesWorkspace: 1000 })
      const full = await alice.rest('POST', `${at}/${large.id}/restore`)
      await t.limit({ maxTotalStorageBytes: FREE, maxTotalStorageBytesWorkspace: FREE })
      expect(full.response.code).toBe('QUOTA_EXCEEDED')
      expect((await alice.rest('POST', `${at}/${large.id}/restore`)).status).toBe(200)
      expect((await alice.rest('DELETE', `${at}/${id}`)).status).toBe(200)
    },
  )

  it('are the same through GraphQL', async () => {
    const person = await somebody()
    await fileWith(person, 'a.txt', '1', '22')
    const [{ id }] = await versionsOf(person, 'a.txt')
    for (const query of [RESTORE, DELETE]) {
      expect(await codeOf(t.anonymous, query, { input: { version: id } })).toBe('UNAUTHENTICATED')
      expect(await codeOf(alice, query, { input: { version: id } })).toBe('VERSION_NOT_FOUND')
      expect(await codeOf(person, query, { input: { version: none } })).toBe('VERSION_NOT_FOUND')
    }
    expect(await versionsOf(person, 'a.txt')).toHaveLength(1)
  })
})
