import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { MAX_COPIED } from '../../../src/values/limits.ts'
import { ask } from '../../support/ask.ts'
import { driveOf, found, ROOMY, UNHURRIED } from '../../support/builders.ts'
import { expectConsistent, findingsOf } from '../../support/consistency.ts'
import { plantForest } from '../../support/forest.ts'
import { type Person, type RestOptions, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const LARGE = {
  ...ROOMY,
  maxWorkspaceFolders: 100_000,
  maxFilesWorkspace: 100_000,
  maxTotalStorageBytes: 1e9,
  maxFiles: 100_000,
  maxFolders: 100_000,
  maxFileSizeBytes: 1e9,
}

let t: TestApp
let alice: Person
let n = 0

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

const at = (path: string, drive?: string) => ({ at: { path, ...(drive ? { drive } : {}) } })
const COPY = `mutation ($input: CopyEntriesInput!) { copyEntries(input: $input) {
  entries { path } copy { id state entryCount size copiedCount } } }`
const COPIED = `query ($id: ID!) { node(id: $id) { ... on BackgroundCopy {
  state entryCount copiedCount size copiedSize failure { code } entries { path size ... on Folder { fileCount } } drive { id } } } }`
const USAGE = '{ me { drive { usage { usedBytes fileCount folderCount } } copies { id state } } }'

const copyOf = async (person: Person, id: string): Promise<Anything> =>
  (await ask(person, COPIED, { id })).node
const usageOf = async (person: Person): Promise<Anything> =>
  (await ask(person, USAGE)).me.drive.usage
const objects = async () => (await t.app.db.rows('SELECT id FROM blobs')).length
const reserved = async (person: Person) =>
  t.app.db.row<Anything>(
    'SELECT reserved_bytes AS bytes, reserved_files AS files, purging FROM bucket WHERE id = ?',
    [await driveOf(person)],
  )

async function begin(person: Person, input: object): Promise<Anything> {
  const { copyEntries } = await ask(person, COPY, { input })
  expect(copyEntries.entries).toBeNull()
  return copyEntries.copy
}
const codeOf = async (person: Person, input: object) => (await person.graphql(COPY, { input })).code

/** Runs the due jobs until a copy has finished. */
async function ended(person: Person, id: string): Promise<Anything> {
  await t.app.worker.idle()
  let copy = await copyOf(person, id)
  await until(async () => {
    copy = await copyOf(person, id)
    return copy.state !== 'COPYING'
  })
  return copy
}

let whole: { files: number; folders: number; bytes: number }

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(LARGE)
  alice = await t.signIn('alice')
  whole = await plantForest(alice, 'forest')
})
afterAll(() => t.stop())

const someone = () => t.signIn(`forester-${++n}`)
const rest = (
  person: Person,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  options: RestOptions = {},
) => person.rest(method, path, options)
const link = async (path: string): Promise<string> =>
  (await alice.rest('POST', '/api/folders/quick_share', { json: { path } })).response.sharing_token

const findings = () => findingsOf({ db: t.app.db, store: t.app.store })
const copies = () => t.app.services.backgroundCopies
/** Purges abandoned copies. */
async function settled(): Promise<void> {
  await t.app.worker.idle()
  await expectConsistent(t)
}

describe('A copy of many entries', () => {
  it('appears in one step when it is finished, is counted exactly, and stores no bytes', async () => {
    const before = { objects: await objects(), usage: await usageOf(alice) }
    expect(whole.files + whole.folders).toBeGreaterThan(MAX_COPIED)
    const copy = await begin(alice, { entries: [at('forest')], to: at('new/place'), name: 'wood' })
    expect(copy).toMatchObject({
      state: 'COPYING',
      entryCount: whole.files + whole.folders,
      copiedCount: 1,
    })
    while (
      (await copies().step(copy.id, 100)) &&
      (await copyOf(alice, copy.id)).copiedCount < 1000
    ) {
      // The copy is invisible until it finishes.
    }
    expect(await usageOf(alice)).toEqual(before.usage)
    expect((await alice.rest('GET', '/api/files/tree?path=new')).response).toMatchObject({
      files: [],
      folders: [],
    })
    expect(await reserved(alice)).toEqual({ bytes: whole.bytes, files: whole.files, purging: 1 })
    expect(await findings()).toEqual([])
    while (await copies().step(copy.id, 100));
    const done = await copyOf(alice, copy.id)
    expect(done).toMatchObject({
      state: 'DONE',
      copiedCount: done.entryCount,
      copiedSize: done.size,
      failure: null,
      entries: [{ path: 'new/place/wood', size: whole.bytes, fileCount: whole.files }],
    })
    expect(await objects()).toBe(before.objects)
    // All files are copies of three files, and keep their times.
    const times = await t.app.db.rows(
      "SELECT DISTINCT COALESCE(modified_at, created_at) AS at FROM entry WHERE name = 'leaf.txt'",
    )
    expect(times.length).toBeLessThanOrEqual(3)
    expect(await usageOf(alice)).toEqual({
      usedBytes: before.usage.usedBytes + whole.bytes,
      fileCount: before.usage.fileCount + whole.files,
      folderCount: before.usage.folderCount + whole.folders + 2,
    })
    expect(await reserved(alice)).toEqual({ bytes: 0, files: 0, purging: 0 })
    await expectConsistent(t)
  })

  it('is carried out by the worker, which takes turns between users', async () => {
    const workspace = await found(alice)
    const drive = await driveOf(alice, workspace)
    const [first, second] = [
      await begin(alice, { entries: [at('forest')], to: at('by turns') }),
      await begin(alice, { entries: [at('forest')], to: at('', drive) }),
    ]
    const { me } = await ask(alice, USAGE)
    expect(me.copies.slice(0, 2).map(({ id }: Anything) => id)).toEqual([second.id, first.id])
    expect(await ended(alice, first.id)).toMatchObject({
      state: 'DONE',
      entries: [{ path: 'by turns/forest' }],
    })
    expect(await ended(alice, second.id)).toMatchObject({
      state: 'DONE',
      entries: [{ path: '/forest' }],
      drive: { id: drive },
    })
    await settled()
  })

  it('runs once when two workers take it at the same time while its source changes', async () => {
    const copy = await begin(alice, { entries: [at('forest')], to: at('twice') })
    const work = async () => {
      while (await copies().step(copy.id, 64));
    }
    const change = async () => {
      for (let i = 0; i < 10; i++) {
        await alice.upload(`forest/a/new ${i}.txt`, 'new')
        await alice.rest('DELETE', `/api/files/delete?file=forest/a/new ${i}.txt`)
      }
    }
    await Promise.all([work(), work(), change()])
    expect(await copyOf(alice, copy.id)).toMatchObject({ state: 'DONE' })
    await settled()
  })

  it('leaves nothing when it is cancelled', async () => {
    const before = await usageOf(alice)
    const copy = await begin(alice, { entries: [at('forest')], to: at('cancelled') })
    for (let i = 0; i < 3; i++) await copies().step(copy.id, 100)
    const cancelled = await ask(
      alice,
      'mutation ($id: ID!) { cancelCopy(input: { copy: $id }) { copy { state entries { id } } } }',
      { id: copy.id },
    )
    expect(cancelled.cancelCopy.copy).toEqual({ state: 'CANCELLED', entries: null })
    expect(await copies().step(copy.id, 100)).toBe(false)
    await settled()
    expect(await usageOf(alice)).toEqual(before)
    const stranger = await someone()
    const cancel = 'mutation ($id: ID!) { cancelCopy(input: { copy: $id }) { copy { state } } }'
    expect((await stranger.graphql(cancel, { id: copy.id })).code).toBe('COPY_NOT_FOUND')
    expect(await copyOf(stranger, copy.id)).toBeNull()
  })

  it('fails when its source is deleted, and copies what remains of a folder', async () => {
    const owner = await someone()
    await ask(owner, '{ me { id } }')
    const saved = await rest(owner, 'POST', `/api/share/save/${await link('forest')}`, {
      json: { folder: 'mine' },
    })
    expect(saved.status).toBe(202)
    expect(await ended(owner, saved.response.copy_id)).toMatchObject({ state: 'DONE' })
    const partly = await begin(owner, { entries: [at('mine/forest')], to: at('x') })
    await copies().step(partly.id, 50)
    await owner.rest('DELETE', '/api/folders?path=mine/forest/part0&recursive=true')
    expect(await ended(owner, partly.id)).toMatchObject({ state: 'DONE' })
    const copy = await begin(owner, { entries: [at('x/forest')], to: at('y') })
    await copies().step(copy.id, 50)
    await owner.rest('DELETE', '/api/folders?path=x&recursive=true')
    expect(await ended(owner, copy.id)).toMatchObject({
      state: 'FAILED',
      failure: { code: 'FILE_NOT_FOUND' },
    })
    await settled()
    expect((await owner.rest('GET', '/api/folders')).response.folders).toEqual(['mine'])
  })

  it('stops when the share that permits it ends', async () => {
    const bob = await someone()
    const token = await link('forest')
    const { response } = await rest(bob, 'POST', `/api/share/save/${token}`, { json: {} })
    await copies().step(response.copy_id, 50)
    await alice.rest('POST', `/api/share/revoke/${token}`)
    expect(await ended(bob, response.copy_id)).toMatchObject({
      state: 'FAILED',
      failure: { code: 'SHARE_NOT_FOUND' },
    })
    const again = await rest(bob, 'POST', `/api/share/save/${await link('forest')}`, { json: {} })
    await copies().step(again.response.copy_id, 50)
    await bob.rest('GET', '/auth/logout')
    await t.app.db.run('DELETE FROM session WHERE user_id = ?', [bob.userId])
    await t.app.worker.idle()
    const row = await t.app.db.row<Anything>('SELECT state, failure FROM entry_copy WHERE id = ?', [
      again.response.copy_id,
    ])
    expect([row?.state, JSON.parse(row?.failure).code]).toEqual(['failed', 'FORBIDDEN'])
    await settled()
  })

  it('copies all entries of a share of several, and stops when one is removed from it', async () => {
    const saver = await someone()
    await alice.upload('beside/forest.txt', 'x')
    const owned = await plantForest(alice, 'grove')
    const share = async () => {
      const json = { objects: ['beside', 'grove'] }
      return (await alice.rest('POST', '/api/entries/quick_share', { json })).response.sharing_token
    }
    const save = async (token: string, folder: string): Promise<string> => {
      const { status, response } = await rest(saver, 'POST', `/api/share/save/${token}`, {
        json: { folder },
      })
      expect(status).toBe(202)
      return response.copy_id
    }
    const first = await save(await share(), 'first')
    while (await copies().step(first, 500));
    const FOLDER =
      'query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { fileCount } } } } }'
    const { entry } = (await ask(saver, FOLDER, { path: 'first' })).me.drive
    expect(entry).toEqual({ fileCount: owned.files + 1 })
    const second = await save(await share(), 'second')
    await copies().step(second, 100)
    const DELETE =
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }'
    await ask(alice, DELETE, { input: { entries: [at('grove')], recursive: true } })
    while (await copies().step(second, 500));
    const row = await t.app.db.row<Anything>('SELECT state, failure FROM entry_copy WHERE id = ?', [
      second,
    ])
    expect([row?.state, JSON.parse(row?.failure).code]).toEqual(['failed', 'FILE_NOT_FOUND'])
    await settled()
  })

  it('reserves its storage, and is refused without enough storage', async () => {
    const usage = await usageOf(alice)
    const input = { entries: [at('forest')], to: at('no room') }
    for (const limits of [
      { maxTotalStorageBytes: usage.usedBytes + whole.bytes - 1 },
      { maxFiles: usage.fileCount + whole.files - 1 },
      { maxFolders: usage.folderCount + whole.folders - 1 },
    ]) {
      await t.limit({ ...LARGE, ...limits })
      expect(await codeOf(alice, input)).toBe('QUOTA_EXCEEDED')
    }
    await t.limit({ ...LARGE, maxFiles: usage.fileCount + whole.files })
    const copy = await begin(alice, input)
    const { status, response } = await alice.upload('one more.txt', 'x')
    expect([status, response.code]).toEqual([400, 'QUOTA_EXCEEDED'])
    await t.limit({ ...LARGE, maxFileSizeBytes: 5 })
    expect(await ended(alice, copy.id)).toMatchObject({
      state: 'FAILED',
      failure: { code: 'FILE_TOO_LARGE' },
    })
    await t.limit(LARGE)
    await settled()
  })

  it('applies its conflict rule to entries that exist when it finishes', async () => {
    const input = { entries: [at('forest')], to: at('met') }
    const [failing, both] = [
      await begin(alice, input),
      await begin(alice, { ...input, onConflict: 'KEEP_BOTH' }),
    ]
    await alice.rest('POST', '/api/folders', { json: { path: 'met/forest' } })
    expect(await codeOf(alice, input)).toBe('PATH_EXISTS')
    expect(await ended(alice, failing.id)).toMatchObject({
      state: 'FAILED',
      failure: { code: 'PATH_EXISTS' },
    })
    expect(await ended(alice, both.id)).toMatchObject({
      state: 'DONE',
      entries: [{ path: 'met/forest (2)' }],
    })
    await settled()
  })
})

it('fails when its target folder is deleted meanwhile', async () => {
  await alice.rest('POST', '/api/folders', { json: { path: 'going' } })
  const { me } = await ask(alice, '{ me { drive { entry(path: "going") { id } } } }')
  const copy = await begin(alice, { entries: [at('forest')], to: { id: me.drive.entry.id } })
  await alice.rest('DELETE', '/api/folders?path=going')
  expect(await ended(alice, copy.id)).toMatchObject({
    state: 'FAILED',
    failure: { code: 'FOLDER_NOT_FOUND' },
  })
  expect((await rest(alice, 'GET', `/api/copies/${copy.id}`)).response.code).toBe(
    'FOLDER_NOT_FOUND',
  )
  await settled()
})

describe('By REST', () => {
  it('a copy is 202, and later shows its result or its error', async () => {
    const { status, response, headers } = await rest(alice, 'POST', '/api/copies', {
      json: { entries: ['forest'], folder: 'rest' },
    })
    const path = headers.get('location') ?? ''
    const entry_count = whole.files + whole.folders
    expect([status, response]).toEqual([
      202,
      { copy_id: expect.any(String), entry_count, size: whole.bytes, copied: 1, copied_size: 0 },
    ])
    expect(path).toBe(`/api/copies/${response.copy_id}`)
    expect((await rest(alice, 'GET', path)).status).toBe(202)
    const stranger = await someone()
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await rest(stranger, method, path)).status).toBe(404)
      expect((await rest(t.anonymous, method, path)).status).toBe(401)
    }
    await ended(alice, response.copy_id)
    const done = await rest(alice, 'GET', path)
    expect([done.status, done.response]).toEqual([
      200,
      { copies: [{ id: expect.any(String), path: 'rest/forest' }] },
    ])
    expect((await rest(alice, 'DELETE', path)).response).toEqual({
      copy_id: response.copy_id,
      state: 'done',
    })
    const other = await rest(alice, 'POST', '/api/copies', {
      json: { entries: ['forest'], folder: 'other' },
    })
    const cancelled = await rest(alice, 'DELETE', other.headers.get('location') ?? '')
    expect(cancelled.response.state).toBe('cancelled')
    expect((await rest(alice, 'GET', other.headers.get('location') ?? '')).response.code).toBe(
      'COPY_NOT_FOUND',
    )
    await settled()
  })
})
