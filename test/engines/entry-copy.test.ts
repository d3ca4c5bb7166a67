import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { purgeFolder } from '../../src/services/tree/purge.ts'
import { driveOf, found, join, privateKey, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const LARGE = {
  ...ROOMY,
  maxTotalStorageBytes: 1e9,
  maxFiles: 10_000,
  maxFolders: 10_000,
  maxFileSizeBytes: 1e9,
}

let t: TestApp
let n = 0

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(LARGE)
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

const COPY = `mutation ($input: CopyEntriesInput!) { copyEntries(input: $input) {
  entries { id name path size createdBy { id } ... on File { md5 contentType shareCount note versions { nodes { id } } } ... on Folder { fileCount } }
  to { path fileCount } drive { id usage { usedBytes fileCount folderCount } } } }`
const DELETE =
  'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }'

const at = (path: string, drive?: string) => ({ at: { path, ...(drive ? { drive } : {}) } })
const copying = (person: Person, input: object) => person.graphql<Anything>(COPY, { input })
async function copy(person: Person, input: object): Promise<Anything> {
  const { data, errors } = await copying(person, input)
  expect(errors).toBeUndefined()
  return data.copyEntries
}
const codeOf = async (person: Person, input: object) => (await copying(person, input)).code
const someone = () => t.signIn(`copier-${++n}`)

async function pathsOf(person: Person, folder: string): Promise<string[]> {
  const { response } = await person.rest(
    'GET',
    `/api/files/tree?path=${encodeURIComponent(folder)}`,
  )
  return [...response.folders, ...response.files.map((file: { name: string }) => file.name)]
}
const objects = async () => (await t.app.db.rows('SELECT id FROM blobs')).length

describe('Copies', () => {
  it('have the bytes, the type and the digest of the source, and nothing else', async () => {
    const person = await someone()
    await person.upload('docs/a.txt', 'one', 'text/plain')
    await person.upload('docs/deep/b.txt', 'four')
    const before = await objects()
    const { entries, to, drive } = await copy(person, {
      entries: [at('docs')],
      to: at('new/place'),
    })
    expect(entries).toMatchObject([
      { name: 'docs', path: 'new/place/docs', fileCount: 2, createdBy: { id: person.userId } },
    ])
    expect(to).toEqual({ path: 'new/place', fileCount: 2 })
    expect(drive.usage).toMatchObject({ fileCount: 4, folderCount: 6 })
    expect(await objects()).toBe(before)
    expect(await pathsOf(person, 'new/place/docs')).toEqual(['deep', 'new/place/docs/a.txt'])
    const { entries: files } = await copy(person, {
      entries: [at('docs/a.txt')],
      to: at(''),
      name: 'c.txt',
    })
    expect(files).toMatchObject([
      { path: 'c.txt', contentType: 'text/plain', shareCount: 0, versions: { nodes: [] } },
    ])
    await expectConsistent(t)
  })

  it('keep their bytes when the original is purged, and free them with the last copy', async () => {
    const person = await someone()
    await person.upload('a.txt', 'lasting')
    const before = await objects()
    await copy(person, { entries: [at('a.txt')], to: at('x') })
    await copy(person, { entries: [at('a.txt'), at('x')], to: at('y') })
    const remove = async (...names: string[]) => {
      await person.graphql(DELETE, {
        input: { entries: names.map(name => at(name)), recursive: true },
      })
      await person.graphql('mutation { emptyTrash(input: {}) { count } }')
      await expectConsistent(t)
    }
    await remove('a.txt', 'x')
    expect((await person.graphql('{ me { drive { usage { fileCount } } } }')).data).toEqual({
      me: { drive: { usage: { fileCount: 2 } } },
    })
    expect(await objects()).toBe(before)
    // Both are deleted in one batch.
    await remove('y')
    expect(await objects()).toBe(before - 1)
  })

  it('apply the chosen conflict rule', async () => {
    const person = await someone()
    await person.upload('a.txt', 'a')
    await person.upload('b/a.txt', 'other')
    const input = { entries: [at('a.txt')], to: at('b') }
    expect(await codeOf(person, input)).toBe('PATH_EXISTS')
    expect((await copy(person, { ...input, onConflict: 'KEEP_BOTH' })).entries[0].path).toBe(
      'b/a (2).txt',
    )
    expect((await copy(person, { ...input, onConflict: 'REPLACE' })).entries[0]).toMatchObject({
      path: 'b/a.txt',
      size: 1,
    })
    const twice = { entries: [at('a.txt'), at('b/a.txt')], to: at('c') }
    expect(await codeOf(person, twice)).toBe('PATH_EXISTS')
    expect(
      (await copy(person, { ...twice, onConflict: 'KEEP_BOTH' })).entries.map(
        (e: Anything) => e.path,
      ),
    ).toEqual(['c/a.txt', 'c/a (2).txt'])
    expect(
      (await copy(person, { entries: [at('b')], to: at(''), onConflict: 'KEEP_BOTH' })).entries[0]
        .path,
    ).toBe('b (2)')
    expect(
      await codeOf(person, { entries: [at('a.txt')], to: at(''), onConflict: 'REPLACE' }),
    ).toBe('PATH_EXISTS')
    expect(await codeOf(person, { entries: [at('b')], to: at(''), onConflict: 'REPLACE' })).toBe(
      'PATH_EXISTS',
    )
    await expectConsistent(t)
  })

  it('are refused when they make no sense', async () => {
    const person = await someone()
    await person.upload('a/b/c.txt', 'c')
    expect(await codeOf(person, { entries: [at('a')], to: at('a') })).toBe('INVALID_PATH')
    expect(await codeOf(person, { entries: [at('a')], to: at('a/b/new') })).toBe('INVALID_PATH')
    expect(await codeOf(person, { entries: [at('a'), at('a/b')], to: at('x') })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(person, { entries: [at('a'), at('a/b')], to: at('x'), name: 'n' })).toBe(
      'INVALID_INPUT',
    )
    expect(await codeOf(person, { entries: [at('none')], to: at('x') })).toBe('FILE_NOT_FOUND')
    expect(
      await codeOf(person, {
        entries: [at('a')],
        to: { id: '00000000-0000-7000-8000-000000000000' },
      }),
    ).toBe('FILE_NOT_FOUND')
    const deep = Array.from({ length: 95 }, (_, i) => `d${i}`).join('/')
    expect(await codeOf(person, { entries: [at('a')], to: at(`${deep}/x/y/z/w`) })).toBe(
      'INVALID_PATH',
    )
    expect(
      await codeOf(person, { entries: Array.from({ length: 1 }, () => at('')), to: at('x') }),
    ).toBe('INVALID_PATH')
    await expectConsistent(t)
  })

  it('are counted to the byte, and refused beyond a limit', async () => {
    const person = await someone()
    await person.upload('a/b.txt', '12345')
    const input = { entries: [at('a')], to: at('x') }
    for (const [limits, code] of [
      [{ maxTotalStorageBytes: 9 }, 'QUOTA_EXCEEDED'],
      [{ maxFiles: 1 }, 'QUOTA_EXCEEDED'],
      [{ maxFolders: 2 }, 'QUOTA_EXCEEDED'],
      [{ maxFileSizeBytes: 4 }, 'FILE_TOO_LARGE'],
    ] as const) {
      await t.limit({ ...LARGE, ...limits })
      expect(await codeOf(person, input)).toBe(code)
    }
    await t.limit({
      ...LARGE,
      maxTotalStorageBytes: 10,
      maxFiles: 2,
      maxFolders: 3,
      maxFileSizeBytes: 5,
    })
    expect((await copy(person, input)).drive.usage).toEqual({
      usedBytes: 10,
      fileCount: 2,
      folderCount: 3,
    })
    await t.limit(LARGE)
    await expectConsistent(t)
  })
})

describe('Copies between drives', () => {
  it('require read access to the source and write access to the target', async () => {
    const [alice, bob] = [await someone(), await someone()]
    const workspace = await found(alice)
    const drive = await driveOf(alice, workspace)
    await alice.upload('mine/a.txt', 'alpha')
    const there = await copy(alice, { entries: [at('mine')], to: at('', drive) })
    expect(there.entries).toMatchObject([{ path: '/mine', fileCount: 1 }])
    const [{ id }] = there.entries
    expect(await codeOf(bob, { entries: [{ id }], to: at('') })).toBe('FILE_NOT_FOUND')
    await join(t, workspace, bob, 'viewer')
    await bob.upload('b.txt', 'b')
    expect(await codeOf(bob, { entries: [at('b.txt')], to: at('', drive) })).toBe('FORBIDDEN')
    expect((await copy(bob, { entries: [{ id }], to: at('') })).entries).toMatchObject([
      { path: 'mine', createdBy: { id: bob.userId } },
    ])
    const reader = (await privateKey(t, alice, ['private_files:read'])).caller
    const writer = (await privateKey(t, alice, ['private_files:write'])).caller
    const both = (await privateKey(t, alice, ['private_files:read', 'private_files:write'])).caller
    const input = { entries: [at('mine/a.txt')], to: at('k') }
    expect(await codeOf(reader, input)).toBe('INSUFFICIENT_SCOPE')
    expect(await codeOf(writer, input)).toBe('INSUFFICIENT_SCOPE')
    expect((await copy(both, input)).entries).toHaveLength(1)
    expect(await codeOf(both, { entries: [at('mine/a.txt')], to: at('k', drive) })).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
    await expectConsistent(t)
  })

  it('are logged in the target drive, and not in the source drive', async () => {
    const alice = await someone()
    const drive = await driveOf(alice, await found(alice))
    await alice.upload('secret place/a.txt', 'alpha')
    await copy(alice, { entries: [at('secret place/a.txt')], to: at('', drive) })
    await copy(alice, { entries: [at('secret place/a.txt')], to: at('b') })
    const logged = await t.app.db.rows<{ details: string; logId: string }>(
      "SELECT details, log_id AS logId FROM event WHERE kind = 'file.copied' AND actor_id = ? ORDER BY at, log_id",
      [alice.userId],
    )
    const foreign = logged.find(({ logId }) => logId === drive)
    expect(JSON.parse(foreign?.details ?? '')).toMatchObject({ path: '/a.txt', bytes: 5 })
    expect(foreign?.details).not.toContain('secret')
    expect(JSON.parse(logged.find(({ logId }) => logId !== drive)?.details ?? '')).toMatchObject({
      path: 'b/a.txt',
      from: 'secret place/a.txt',
    })
  })

  it('of the same bytes back and forth, with deletions in between, lose none', async () => {
    const alice = await someone()
    const drive = await driveOf(alice, await found(alice))
    await alice.upload('x/a.txt', 'alpha')
    await alice.upload('x/b.txt', 'beta')
    await copy(alice, { entries: [at('x')], to: at('y', drive) })
    await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const [from, to] =
          i % 2 === 0 ? [at('x'), at(`t${i}`, drive)] : [at('y/x', drive), at(`f${i}`)]
        await copy(alice, { entries: [from], to })
        if (i % 3 === 0) {
          await alice.graphql(DELETE, { input: { entries: [to], recursive: true } })
          await alice.graphql(
            'mutation ($d: ID) { emptyTrash(input: { drive: $d }) { count } }',
            i % 2 === 0 ? { d: drive } : {},
          )
        }
        if (i % 4 === 0) await t.app.sweeper.run()
      }),
    )
    await expectConsistent(t)
  })
})

describe('A purge by two workers', () => {
  it('releases the references of its files once', async () => {
    const own = await startApp({ ...UNHURRIED, TRASH_DAYS: '0' })
    try {
      await own.app.worker.stop()
      const person = await own.signIn('twice')
      await person.upload('gone/a.txt', 'lasting')
      await person.upload('gone/b.txt', 'also lasting')
      await copy(person, { entries: [at('gone')], to: at('kept') })
      await person.graphql(DELETE, { input: { entries: [at('gone')], recursive: true } })
      const { db } = own.app
      const [job] = await db.rows<{ payload: string }>(
        "SELECT payload FROM outbox WHERE kind = 'purge-folder'",
      )
      const folder = JSON.parse(job?.payload ?? '{}')
      await Promise.all([purgeFolder(db, folder), purgeFolder(db, folder)])
      expect(await db.rows('SELECT state, ref_count AS refCount FROM blobs')).toEqual([
        { state: 'live', refCount: 1 },
        { state: 'live', refCount: 1 },
      ])
    } finally {
      await own.stop()
    }
  })
})

describe('POST /api/copies', () => {
  const post = (person: Person, json: object) => person.rest('POST', '/api/copies', { json })

  it('200 copies within the caller’s drive, and from and to workspaces', async () => {
    const alice = await someone()
    const workspace = await found(alice)
    await alice.upload('a/b.txt', 'b')
    const { status, response } = await post(alice, { entries: ['a'], folder: 'x' })
    expect([status, response]).toEqual([200, { copies: [{ id: expect.any(String), path: 'x/a' }] }])
    const there = await post(alice, {
      entries: ['a/b.txt'],
      name: 'c.txt',
      to_workspace_id: workspace,
    })
    expect(there.response.copies).toMatchObject([{ path: '/c.txt' }])
    const within = await post(alice, {
      entries: ['/c.txt'],
      on_conflict: 'keep_both',
      from_workspace_id: workspace,
      to_workspace_id: workspace,
    })
    expect(within.response.copies).toMatchObject([{ path: '/c (2).txt' }])
    const back = await post(alice, {
      entries: ['/c.txt', '/c (2).txt'],
      from_workspace_id: workspace,
      folder: 'back',
    })
    expect(back.response.copies.map((copy: Anything) => copy.path)).toEqual([
      'back/c.txt',
      'back/c (2).txt',
    ])
    await expectConsistent(t)
  })

  it('400, 401, 403, 404 and 409', async () => {
    const [alice, bob] = [await someone(), await someone()]
    const workspace = await found(alice)
    await alice.upload('a.txt', 'a')
    const entries = ['a.txt']
    expect((await post(alice, { entries, folder: '..' })).status).toBe(400)
    expect((await post(t.anonymous, { entries })).status).toBe(401)
    expect((await post(bob, { entries, to_workspace_id: workspace })).status).toBe(403)
    expect((await post(bob, { entries, from_workspace_id: workspace })).status).toBe(403)
    expect((await post(bob, { entries })).status).toBe(404)
    expect((await post(alice, { entries })).response.code).toBe('PATH_EXISTS')
    await t.limit({ ...LARGE, maxFiles: 1 })
    expect((await post(alice, { entries, folder: 'x' })).response.code).toBe('QUOTA_EXCEEDED')
    await t.limit({ ...LARGE, maxFileSizeBytes: 0 })
    expect((await post(alice, { entries, folder: 'x' })).response.code).toBe('FILE_TOO_LARGE')
    await t.limit(LARGE)
  })
})
