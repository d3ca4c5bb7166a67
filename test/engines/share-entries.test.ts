import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import {
  driveOf,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import { until } from '../support/until.ts'
import { readZip } from '../support/zip-reader.ts'

let t: TestApp
let bob: Person
let n = 0

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ maxFiles: 10_000, maxFolders: 10_000 })
  bob = await t.signIn('bob')
})
afterEach(async () => {
  await expectConsistent(t)
  const stray = `SELECT share_id FROM share_entry x WHERE NOT EXISTS (SELECT 1 FROM share s WHERE s.id = x.share_id)
    OR NOT EXISTS (SELECT 1 FROM entry e WHERE e.id = x.entry_id AND e.parent_id IS NOT NULL)`
  expect(await t.app.db.rows(stray)).toEqual([])
})
afterAll(() => t.stop())

/** A person with two files of the same name, a folder, and entries that are not shared. */
async function owner(): Promise<Person> {
  const person = await t.signIn(`owner-${++n}`)
  await person.upload('trip/day 1/sea.txt', 'blue', 'text/plain')
  await person.upload('trip/plan.txt', 'walk', 'text/plain')
  await person.upload('notes/plan.txt', 'write!', 'text/plain')
  await person.upload('a.txt', 'first', 'text/plain')
  await person.upload('private plan.txt', 'mine', 'text/plain')
  return person
}

const THREE = ['a.txt', 'trip', 'notes/plan.txt']
const at = (path: string) => ({ at: { path } })
const statusAndCode = ({ status, response }: RestAnswer) => [status, response?.code]
const quickShare = (person: Person, objects: unknown, terms: object = {}) =>
  person.rest('POST', '/api/entries/quick_share', { json: { objects, ...terms } })

async function link(
  person: Person,
  objects: string[] = THREE,
  terms: object = {},
): Promise<string> {
  const { status, response } = await quickShare(person, objects, terms)
  expect(status).toBe(200)
  return response.sharing_token
}

const SHARE = `mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) {
  shares { id token fileName firstName entryKind entryCount size recipient entries { path } } mail } }`

async function shareWith(person: Person, paths = THREE, input: object = {}) {
  const given = { entries: paths.map(at), email: bob.email, together: true, ...input }
  return (await ask(person, SHARE, { input: given })).createDirectShare.shares
}

const entries = (
  token: string,
  query: Record<string, string> = {},
  person = t.anonymous,
  options: RestOptions = {},
) => person.rest('GET', `/api/share/entries/${token}?${new URLSearchParams(query)}`, options)

interface Listed {
  name: string
  path: string
  size: number
}

async function pathsIn(
  token: string,
  query: Record<string, string> = {},
  person = t.anonymous,
): Promise<string[]> {
  const { status, response } = await entries(token, query, person)
  expect(status).toBe(200)
  return [...response.folders, ...response.files].map(({ path }: Listed) => path)
}

/** A list in page order, read with one entry per page. */
async function inOrder(token: string, query: Record<string, string>): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = null; ; ) {
    const page: RestAnswer = await entries(token, {
      ...query,
      limit: '1',
      ...(cursor ? { cursor } : {}),
    })
    expect(page.status).toBe(200)
    seen.push(...[...page.response.folders, ...page.response.files].map(({ path }: Listed) => path))
    cursor = page.response.next_cursor
    if (cursor === null) return seen
  }
}

const resolve = (token: string, path?: string, json: object = {}, person = t.anonymous) =>
  person.rest(
    'POST',
    `/api/share/resolve/${token}${path === undefined ? '' : `?${new URLSearchParams({ path })}`}`,
    {
      json,
    },
  )
async function urlOf(token: string, path?: string, json: object = {}): Promise<string> {
  const { status, response } = await resolve(token, path, json)
  expect(status).toBe(200)
  return response.url
}
const textOf = async (url: string) => (await fetch(url)).text()
async function zipAt(url: string): Promise<Record<string, string>> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  const read = await readZip(new Uint8Array(await answer.arrayBuffer()))
  return Object.fromEntries(Array.from(read, ([path, { text }]) => [path, text]))
}
const move = (person: Person, source: string, destination: string) =>
  ask(
    person,
    'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
    {
      input: {
        entries: [at(source)],
        to: at(destination.split('/').slice(0, -1).join('/')),
        name: destination.split('/').at(-1),
      },
    },
  )
const remove = (person: Person, ...paths: string[]) =>
  ask(
    person,
    'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }',
    {
      input: { entries: paths.map(at), recursive: true },
    },
  )
const exists = async (token: string) =>
  (await t.anonymous.rest('GET', `/api/share/info/${token}`)).status === 200
const rowsOf = async (person: Person) =>
  t.app.db.rows<{ entryCount: number | null; name: string; behind: number }>(
    `SELECT s.entry_count AS entryCount, e.name, (SELECT COUNT(*) FROM share_entry x WHERE x.share_id = s.id) AS behind
     FROM share s LEFT JOIN entry e ON e.id = s.entry_id WHERE s.user_id = ? ORDER BY s.id`,
    [person.userId],
  )

describe('POST /api/entries/quick_share', () => {
  it('200 creates one link to several entries, by session and by key', async () => {
    const alice = await owner()
    for (const person of [alice, (await privateKey(t, alice, ['private_files:share'])).caller]) {
      const { status, response } = await quickShare(person, THREE, {
        duration: '7d',
        label: 'Holidays',
      })
      expect(status).toBe(200)
      expect(response.sharing_link).toMatch(new RegExp(`/share/${response.sharing_token}$`))
      expect(await pathsIn(response.sharing_token)).toEqual(['trip', 'a.txt', 'plan.txt'])
    }
  })

  it.each([
    [[], 'INVALID_INPUT'],
    [Array.from({ length: 101 }, (_, i) => `${i}.txt`), 'INVALID_INPUT'],
    [['a.txt', ''], 'INVALID_PATH'],
    [['a.txt', '..'], 'INVALID_PATH'],
    [['a.txt', 'none'], 'FILE_NOT_FOUND'],
  ])('400 for %j', async (objects, code) => {
    const alice = await owner()
    expect(statusAndCode(await quickShare(alice, objects))).toEqual([400, code])
    expect(await rowsOf(alice)).toEqual([])
  })

  it('400 for invalid terms and at the limit of links; 401 without a credential', async () => {
    const alice = await owner()
    expect(statusAndCode(await quickShare(alice, THREE, { duration: 'soon' }))).toEqual([
      400,
      'INVALID_DURATION',
    ])
    await t.limit({ maxPublicLinks: 0 })
    expect(statusAndCode(await quickShare(alice, THREE))).toEqual([400, 'QUOTA_EXCEEDED'])
    await t.limit({ maxPublicLinks: null })
    expect((await quickShare(t.anonymous, THREE)).status).toBe(401)
    expect(statusAndCode(await quickShare(bob, THREE))).toEqual([400, 'FILE_NOT_FOUND'])
    const reader = (await privateKey(t, alice, ['private_files:read'])).caller
    expect((await quickShare(reader, THREE)).response.code).toBe('INSUFFICIENT_SCOPE')
    const inWorkspace = (await workspaceKey(t, alice, await found(alice))).caller
    expect((await quickShare(inWorkspace, THREE)).response.code).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('ignores duplicates, and entries inside a folder that is also shared', async () => {
    const alice = await owner()
    const token = await link(alice, [
      'trip/plan.txt',
      'trip',
      'a.txt',
      'trip',
      'trip/day 1/sea.txt',
    ])
    expect(await pathsIn(token)).toEqual(['trip', 'a.txt'])
    // A single remaining entry is shared like an entry on its own.
    const one = await link(alice, ['trip', 'trip/plan.txt'])
    expect(await pathsIn(one)).toEqual(['day 1', 'plan.txt'])
    expect(await rowsOf(alice)).toMatchObject([
      { entryCount: 2, behind: 2 },
      { entryCount: null, behind: 0 },
    ])
  })
})

describe('The graph', () => {
  const LINK = `mutation ($input: CreateLinkInput!) { createLink(input: $input) {
    share { id token fileName firstName entryKind entryCount size contentType md5 entry { path } entries { path } file { id } }
    entry { path } entries { path shareCount } } }`

  it('creates a link to several entries, and lists it at each of them', async () => {
    const alice = await owner()
    const { share, entries } = (await ask(alice, LINK, { input: { entries: THREE.map(at) } }))
      .createLink
    expect(share).toMatchObject({
      fileName: 'a.txt and 2 more',
      firstName: 'a.txt',
      entryKind: 'FOLDER',
      entryCount: 3,
      size: 19,
      contentType: '',
      md5: '',
      file: null,
      entries: THREE.map(path => ({ path })),
    })
    expect(entries).toEqual(THREE.map(path => ({ path, shareCount: 1 })))
    const NODE = `query ($id: ID!) { node(id: $id) { ... on LinkShare {
      id token fileName firstName entryKind entryCount size contentType md5 entry { path } entries { path } file { id } } } }`
    expect((await ask(alice, NODE, { id: share.id })).node).toEqual(share)
    const AT =
      'query ($path: String!) { me { drive { entry(path: $path) { shares { nodes { id fileName } } } } } }'
    for (const path of THREE)
      expect((await ask(alice, AT, { path })).me.drive.entry.shares.nodes).toEqual([
        { id: share.id, fileName: 'a.txt and 2 more' },
      ])
    const { me } = await ask(alice, '{ me { shares { nodes { id fileName entries { path } } } } }')
    expect(me.shares.nodes).toEqual([
      { id: share.id, fileName: 'a.txt and 2 more', entries: share.entries },
    ])
    const preview = await ask(
      t.anonymous,
      `{ share(token: "${share.token}") { fileName entryKind entryCount size } }`,
    )
    expect(preview.share).toEqual({
      fileName: 'a.txt and 2 more',
      entryKind: 'FOLDER',
      entryCount: 3,
      size: 19,
    })
    const revoke = `mutation ($id: ID!) { revokeShare(input: { share: { id: $id } }) { revokedId entries { path shareCount } } }`
    expect((await ask(alice, revoke, { id: share.id })).revokeShare).toEqual({
      revokedId: share.id,
      entries: THREE.map(path => ({ path, shareCount: 0 })),
    })
  })

  it('accepts either one entry or several, and rejects both, none or too many', async () => {
    const alice = await owner()
    const file = at('a.txt')
    expect(await codeOf(alice, LINK, { input: {} })).toBe('INVALID_INPUT')
    expect(await codeOf(alice, LINK, { input: { entries: [] } })).toBe('INVALID_INPUT')
    expect(
      await codeOf(alice, LINK, { input: { entries: Array.from({ length: 101 }, () => file) } }),
    ).toBe('INVALID_INPUT')
    const { share } = (await ask(alice, LINK, { input: { entries: [file, file] } })).createLink
    expect(share).toMatchObject({
      fileName: 'a.txt',
      entryKind: 'FILE',
      entryCount: 1,
      entries: [{ path: 'a.txt' }],
    })
  })

  it('rejects entries of several drives, and those of a foreign drive', async () => {
    const alice = await owner()
    const drive = await driveOf(alice, await found(alice))
    const elsewhere = { at: { drive, path: 'x' } }
    expect(await codeOf(alice, LINK, { input: { entries: [at('a.txt'), elsewhere] } })).toBe(
      'INVALID_INPUT',
    )
    const together = { email: bob.email, together: true }
    expect(
      await codeOf(alice, SHARE, { input: { entries: [at('a.txt'), elsewhere], ...together } }),
    ).toBe('INVALID_INPUT')
    expect(await codeOf(bob, LINK, { input: { entries: THREE.map(at) } })).toBe('FILE_NOT_FOUND')
    expect(await rowsOf(alice)).toEqual([])
  })

  it('changes and ends shares of several entries like others, without the right to edit', async () => {
    const alice = await owner()
    const [share] = await shareWith(alice)
    const UPDATE = `mutation ($input: UpdateShareInput!) { updateShare(input: $input) { share { fileName label ... on DirectShare { mayEdit } } entries { path } } }`
    const input = { share: { id: share.id }, label: 'Holidays' }
    expect((await ask(alice, UPDATE, { input })).updateShare).toEqual({
      share: { fileName: 'a.txt and 2 more', label: 'Holidays', mayEdit: false },
      entries: THREE.map(path => ({ path })),
    })
    expect(await codeOf(alice, UPDATE, { input: { ...input, mayEdit: true } })).toBe(
      'INVALID_INPUT',
    )
    const edited = { entries: THREE.map(at), email: bob.email, together: true, mayEdit: true }
    expect(await codeOf(alice, SHARE, { input: edited })).toBe('INVALID_INPUT')
    const form = new FormData()
    form.append('file', new Blob(['x']), 'x.txt')
    const refused = await bob.rest('POST', `/api/shared/${share.token}/upload`, { form })
    expect(statusAndCode(refused)).toEqual([403, 'FORBIDDEN'])
  })
})

describe('A link to several entries', () => {
  it('uses paths that begin with an entry, even when two have the same name', async () => {
    const alice = await owner()
    const token = await link(alice, ['trip/plan.txt', 'notes/plan.txt', 'trip/day 1'])
    expect(await pathsIn(token)).toEqual(['day 1', 'plan (2).txt', 'plan.txt'])
    expect(await textOf(await urlOf(token, 'plan.txt'))).toBe('walk')
    expect(await textOf(await urlOf(token, 'plan (2).txt'))).toBe('write!')
    expect(await textOf(await urlOf(token, 'day 1/sea.txt'))).toBe('blue')
    expect(await pathsIn(token, { path: 'day 1' })).toEqual(['day 1/sea.txt'])
    for (const path of [
      'trip',
      'notes/plan.txt',
      'private plan.txt',
      'trip/plan.txt',
      'day 1/none',
      'plan.txt/x',
    ])
      expect(statusAndCode(await resolve(token, path))).toEqual([404, 'FILE_NOT_FOUND'])
    for (const path of ['trip', 'plan.txt', 'none'])
      expect(statusAndCode(await entries(token, { path }))).toEqual([404, 'FOLDER_NOT_FOUND'])
    expect(statusAndCode(await resolve(token, '..'))).toEqual([400, 'INVALID_PATH'])
  })

  it('shows current names after moves, and drops deleted entries', async () => {
    const alice = await owner()
    const token = await link(alice)
    await move(alice, 'a.txt', 'notes/b.txt')
    await move(alice, 'trip', 'notes/journey')
    expect(await pathsIn(token)).toEqual(['journey', 'b.txt', 'plan.txt'])
    expect((await t.anonymous.rest('GET', `/api/share/info/${token}`)).response.file_name).toBe(
      'b.txt and 2 more',
    )
    expect(await textOf(await urlOf(token, 'b.txt'))).toBe('first')
    await alice.upload('notes/journey/new.txt', 'new')
    expect(await pathsIn(token, { path: 'journey' })).toEqual([
      'journey/day 1',
      'journey/new.txt',
      'journey/plan.txt',
    ])
    // Moved into another shared folder, it remains an entry of the share and is visible in the
    // folder as well. A search finds it once.
    await move(alice, 'notes/b.txt', 'notes/journey/b.txt')
    expect(await pathsIn(token)).toEqual(['journey', 'b.txt', 'plan.txt'])
    expect(await pathsIn(token, { query: 'b.txt' })).toEqual(['b.txt'])
    // It is saved once.
    const saver = await t.signIn(`mover-${n}`)
    for (const paths of [undefined, ['b.txt', 'journey', 'plan.txt']]) {
      const json = { folder: paths ? 'some' : 'all', ...(paths ? { paths } : {}) }
      const { response } = await saver.rest('POST', `/api/share/save/${token}`, { json })
      const saved = response.copies.map(({ path }: Listed) => path.split('/')[1])
      expect(saved.toSorted()).toEqual(['journey', 'plan.txt'])
    }
  })

  it.each([
    [{}, ['trip', 'a.txt', 'plan.txt']],
    [{ direction: 'desc' }, ['trip', 'plan.txt', 'a.txt']],
    [{ sort: 'size' }, ['a.txt', 'plan.txt', 'trip']],
    [{ sort: 'size', direction: 'desc' }, ['trip', 'plan.txt', 'a.txt']],
    [{ query: 'PLAN' }, ['plan.txt', 'trip/plan.txt']],
    [{ query: 'plan', sort: 'size' }, ['trip/plan.txt', 'plan.txt']],
    [{ query: 'trip' }, ['trip']],
    [{ query: 'sea', path: 'trip' }, ['trip/day 1/sea.txt']],
    [{ query: 'notes' }, []],
    [{ query: 'private' }, []],
  ])(
    'is sorted and searched from page to page: %j',
    async (query: Record<string, string>, paths) => {
      const alice = await owner()
      const token = await link(alice)
      expect((await inOrder(token, query)).toSorted()).toEqual(paths.toSorted())
      if (!('query' in query) || 'sort' in query) expect(await inOrder(token, query)).toEqual(paths)
    },
  )

  it('downloads as one archive with distinct names, in whole or in part', async () => {
    const alice = await owner()
    const token = await link(alice, ['trip/plan.txt', 'notes/plan.txt', 'trip/day 1'])
    const { response } = await resolve(token)
    expect(response.file_name).toBe('plan.txt and 2 more.zip')
    expect(await zipAt(response.url)).toEqual({
      'plan.txt': 'walk',
      'plan (2).txt': 'write!',
      'day 1/': '',
      'day 1/sea.txt': 'blue',
    })
    const some = await resolve(token, undefined, { entries: ['plan (2).txt', 'day 1/sea.txt'] })
    // Does not reveal the names of the owner's folders.
    expect(some.response.file_name).toBe('plan.txt and 2 more.zip')
    expect(await zipAt(some.response.url)).toEqual({ 'plan (2).txt': 'write!', 'sea.txt': 'blue' })
    // Each by the name on the page, whatever the order of the selection.
    const both = await urlOf(token, undefined, { entries: ['plan (2).txt', 'plan.txt'] })
    expect(await zipAt(both)).toEqual({ 'plan.txt': 'walk', 'plan (2).txt': 'write!' })
    expect(await zipAt(await urlOf(token, 'day 1'))).toEqual({
      'day 1/': '',
      'day 1/sea.txt': 'blue',
    })
    expect(statusAndCode(await resolve(token, undefined, { entries: ['day 1', 'trip'] }))).toEqual([
      404,
      'FILE_NOT_FOUND',
    ])
    expect(await zipAt(`${t.url}/api/d/${token}`)).toMatchObject({ 'plan (2).txt': 'write!' })
  })

  it('shows its files on a page, and can be saved in whole or in parts', async () => {
    const alice = await owner()
    const saver = await t.signIn(`saver-${n}`)
    const token = await link(alice, ['trip/plan.txt', 'notes/plan.txt', 'trip/day 1'])
    const page = async (query = '') =>
      (await t.anonymous.rest('GET', `/share/${token}${query}`)).text
    expect(await page()).toContain('plan.txt and 2 more')
    for (const name of ['day 1', 'plan.txt', 'plan (2).txt'])
      expect(await page()).toContain(`<bdi>${name}</bdi>`)
    expect(await page('?path=day+1')).toContain('sea.txt')
    expect(await page('?file=plan+(2).txt')).toContain('plan (2).txt')
    expect(await page('?q=sea')).toContain('sea.txt')
    for (const text of [await page(), await page('?path=day+1')])
      expect(text).not.toContain('notes')
    const save = (json: object) => saver.rest('POST', `/api/share/save/${token}`, { json })
    const all = await save({ folder: 'all' })
    expect(all.response.copies.map(({ path }: Listed) => path)).toEqual([
      'all/plan.txt',
      'all/plan (2).txt',
      'all/day 1',
    ])
    const { files } = (await saver.rest('GET', '/api/files/tree?path=all')).response
    expect(files.map(({ name, size }: Listed) => [name, size])).toEqual([
      ['all/plan (2).txt', 6],
      ['all/plan.txt', 4],
    ])
    const some = await save({ folder: 'some', paths: ['plan (2).txt', 'day 1/sea.txt'] })
    expect(some.response.copies.map(({ path }: Listed) => path)).toEqual([
      'some/plan (2).txt',
      'some/sea.txt',
    ])
    const two = await save({ folder: 'two', paths: ['plan (2).txt', 'plan.txt'] })
    expect(two.response.copies.map(({ path }: Listed) => path)).toEqual([
      'two/plan (2).txt',
      'two/plan.txt',
    ])
    expect(statusAndCode(await save({ paths: ['trip'] }))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(statusAndCode(await save({ name: 'x' }))).toEqual([400, 'INVALID_INPUT'])
    expect(
      (await save({ name: 'one.txt', paths: ['plan.txt'], folder: 'one' })).response.copies[0].path,
    ).toBe('one/one.txt')
  })

  it('can be searched page by page, by the names that it shows', async () => {
    const alice = await owner()
    const token = await link(alice)
    const found = ['a.txt', 'trip/day 1', 'trip/plan.txt', 'plan.txt', 'trip/day 1/sea.txt']
    expect(await inOrder(token, { query: 'a' })).toEqual(found)
    expect(await inOrder(token, { query: 'a', direction: 'desc' })).toEqual(found.toReversed())
    const twins = await link(alice, ['trip/plan.txt', 'notes/plan.txt'])
    const { files } = (await entries(twins, { query: 'plan' })).response
    expect(files.map(({ name, path }: Listed) => [name, path])).toEqual([
      ['plan.txt', 'plan.txt'],
      ['plan (2).txt', 'plan (2).txt'],
    ])
  })

  it('asks for its password, and ends with its last download', async () => {
    const alice = await owner()
    const token = await link(alice, THREE, { password: 'sesame', max_downloads: 2 })
    const headers = { 'x-share-password': 'sesame' }
    expect((await entries(token)).response.code).toBe('PASSWORD_REQUIRED')
    expect(
      (await entries(token, {}, t.anonymous, { headers: { 'x-share-password': 'no' } })).response
        .code,
    ).toBe('WRONG_PASSWORD')
    expect((await entries(token, {}, t.anonymous, { headers })).response.folders).toHaveLength(1)
    expect((await resolve(token, 'a.txt')).response.code).toBe('PASSWORD_REQUIRED')
    expect(await textOf(await urlOf(token, 'a.txt', { password: 'sesame' }))).toBe('first')
    expect(
      Object.keys(await zipAt(await urlOf(token, undefined, { password: 'sesame' }))),
    ).toHaveLength(6)
    expect((await resolve(token, 'a.txt', { password: 'sesame' })).response.code).toBe(
      'SHARE_USED_UP',
    )
    expect((await entries(token, {}, t.anonymous, { headers })).response.code).toBe('SHARE_USED_UP')
  })

  it('runs the same number of statements per page, whatever its number of entries', async () => {
    const alice = await owner()
    for (let i = 0; i < 20; i++) await alice.upload(`many/${i}/x.txt`, `${i}`)
    const few = await link(alice, ['trip', 'a.txt'])
    const many = await link(alice, ['trip', ...Array.from({ length: 20 }, (_, i) => `many/${i}`)])
    const count = async (work: () => Promise<RestAnswer>) => {
      t.statements()
      expect((await work()).status).toBe(200)
      return t.statements().length
    }
    for (const query of [
      {},
      { sort: 'size' },
      { query: 't' },
      { path: 'trip' },
      { path: 'trip/day 1' },
    ])
      expect(await count(() => entries(many, query))).toBe(await count(() => entries(few, query)))
    expect(await count(() => resolve(many, 'trip/plan.txt'))).toBe(
      await count(() => resolve(few, 'trip/plan.txt')),
    )
    expect(await count(() => resolve(many))).toBe(await count(() => resolve(few)))
    const lists = () => alice.rest('GET', '/api/files/shared_by_user')
    const before = await count(lists)
    await link(alice, ['notes', 'a.txt'])
    expect(await count(lists)).toBe(before)
  })
})

describe('An entry that may no longer be shared', () => {
  it('leaves the share when deleted, and returns when restored', async () => {
    const alice = await owner()
    const token = await link(alice)
    const archive = await urlOf(token)
    const [first, inFolder] = [await urlOf(token, 'a.txt'), await urlOf(token, 'trip/plan.txt')]
    await remove(alice, 'a.txt')
    expect(await pathsIn(token)).toEqual(['trip', 'plan.txt'])
    expect((await t.anonymous.rest('GET', `/api/share/info/${token}`)).response.file_name).toBe(
      'trip and 1 more',
    )
    expect([(await fetch(archive)).status, (await fetch(first)).status]).toEqual([404, 404])
    expect((await fetch(inFolder)).status).toBe(200)
    expect(statusAndCode(await resolve(token, 'a.txt'))).toEqual([404, 'FILE_NOT_FOUND'])
    const [{ id }] = (await ask(alice, '{ me { drive { trash { nodes { id } } } } }')).me.drive
      .trash.nodes
    await ask(
      alice,
      'mutation ($id: ID!) { restoreFromTrash(input: { items: [$id] }) { entries { path } } }',
      { id },
    )
    expect(await pathsIn(token)).toEqual(['trip', 'a.txt', 'plan.txt'])
    await remove(alice, 'a.txt')
    // An entry that was moved out of a folder is no longer part of it.
    await move(alice, 'trip/plan.txt', 'elsewhere/plan.txt')
    expect((await fetch(inFolder)).status).toBe(404)
    expect(await zipAt(await urlOf(token))).toEqual({
      'trip/': '',
      'trip/day 1/': '',
      'trip/day 1/sea.txt': 'blue',
      'plan.txt': 'write!',
    })
    // Also by deleting the folder above it.
    await remove(alice, 'notes')
    expect(await pathsIn(token)).toEqual(['trip'])
    expect(await rowsOf(alice)).toEqual([{ entryCount: 1, name: 'trip', behind: 1 }])
    await remove(alice, 'trip')
    expect(await exists(token)).toBe(false)
    expect(await rowsOf(alice)).toEqual([])
  })

  it('ends the share when the last entry is deleted, even if all go together', async () => {
    const alice = await owner()
    const tokens = [
      await link(alice),
      await link(alice, ['trip/plan.txt', 'trip/day 1/sea.txt']),
      await link(alice),
    ]
    await remove(alice, 'trip')
    expect(await Promise.all(tokens.map(exists))).toEqual([true, false, true])
    await remove(alice, 'a.txt', 'notes')
    expect(await Promise.all(tokens.map(exists))).toEqual([false, false, false])
  })

  it('leaves the share when its sharer loses the right, in a workspace', async () => {
    const [boss, editor] = [await owner(), await t.signIn(`editor-${n}`)]
    const workspace = await found(boss)
    const drive = await driveOf(boss, workspace)
    await join(t, workspace, editor, 'editor')
    for (const path of ['a.txt', 'b/c.txt', 'd.txt']) await put(editor, workspace, path, path)
    const LINK = `mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token fileName entries { path } } } }`
    const input = { entries: ['a.txt', 'b', 'd.txt'].map(path => ({ at: { drive, path } })) }
    const share = async () => (await ask(editor, LINK, { input })).createLink.share
    const one = await share()
    expect(one).toMatchObject({
      fileName: 'a.txt and 2 more',
      entries: [{ path: '/a.txt' }, { path: '/b' }, { path: '/d.txt' }],
    })
    const url = await urlOf(one.token, 'b/c.txt')
    const archive = await urlOf(one.token)
    await join(t, workspace, editor, 'viewer')
    expect(await exists(one.token)).toBe(false)
    expect([(await fetch(url)).status, (await fetch(archive)).status]).toEqual([404, 404])
    await join(t, workspace, editor, 'editor')
    const other = await share()
    const member = new URLSearchParams({ workspace_id: workspace, user_id: editor.userId })
    expect((await boss.rest('DELETE', `/api/workspaces/members/remove?${member}`)).status).toBe(200)
    expect(await exists(other.token)).toBe(false)
    expect(await rowsOf(editor)).toEqual([])
  })

  it('is out of reach of the tokens and paths of another share', async () => {
    const [alice, carol] = [await owner(), await owner()]
    const [hers, other] = [await link(alice), await link(carol, ['a.txt', 'notes'])]
    const { response } = await entries(other)
    expect(response.files.map(({ name }: Listed) => name)).toEqual(['a.txt'])
    expect(statusAndCode(await resolve(other, 'trip/plan.txt'))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(await pathsIn(hers, { query: 'plan' })).toHaveLength(2)
    expect(await pathsIn(other, { query: 'plan' })).toEqual(['notes/plan.txt'])
  })
})

describe('A direct share of several entries', () => {
  it('is one share that only its recipient can see, open and save', async () => {
    const [alice, mallory] = [await owner(), await t.signIn(`mallory-${n}`)]
    const [share, ...more] = await shareWith(alice)
    expect(more).toEqual([])
    expect(share).toMatchObject({
      fileName: 'a.txt and 2 more',
      entryCount: 3,
      recipient: bob.email,
      size: 19,
    })
    const RECEIVED = `{ me { receivedShares(newestFirst: true, first: 1) { nodes {
      id token fileName firstName entryKind entryCount entry { id } entries { id } } } } }`
    expect((await ask(bob, RECEIVED)).me.receivedShares.nodes).toEqual([
      {
        id: share.id,
        token: share.token,
        fileName: 'a.txt and 2 more',
        firstName: 'a.txt',
        entryKind: 'FOLDER',
        entryCount: 3,
        entry: null,
        entries: null,
      },
    ])
    const { files } = (await bob.rest('GET', '/api/files/received')).response
    expect(files.at(-1)).toMatchObject({
      file_name: 'a.txt and 2 more',
      entry_count: 3,
      file_type: 'inode/directory',
      size: 19,
    })
    expect(await pathsIn(share.token, {}, bob)).toEqual(['trip', 'a.txt', 'plan.txt'])
    const SHARED = `query ($token: String!) { sharedFolder(token: $token) { path entries { kind path } } }`
    expect((await ask(bob, SHARED, { token: share.token })).sharedFolder.entries).toHaveLength(3)
    for (const [person, status] of [
      [t.anonymous, 401],
      [mallory, 403],
    ] as const) {
      expect((await entries(share.token, {}, person)).status).toBe(status)
      expect((await resolve(share.token, 'a.txt', {}, person)).status).toBe(status)
    }
    const saved = await bob.rest('POST', `/api/share/save/${share.token}`, {
      json: { folder: `from ${n}` },
    })
    expect(saved.response.copies).toHaveLength(3)
    expect((await t.anonymous.rest('GET', `/share/${share.token}`)).status).toBe(401)
    expect((await bob.rest('GET', '/')).text).toContain('a.txt and 2 more')
  })

  it('is renewed by the same entries in any order, and created again by others', async () => {
    const alice = await owner()
    const [one] = await shareWith(alice)
    const [again] = await shareWith(alice, THREE.toReversed())
    const [others] = await shareWith(alice, ['a.txt', 'trip'])
    expect([again.id === one.id, others.id === one.id]).toEqual([true, false])
    // Shares of the single entries are not affected.
    const each = await shareWith(alice, THREE, { together: false })
    expect(each.map(({ fileName }: { fileName: string }) => fileName)).toEqual([
      'a.txt',
      'trip',
      'plan.txt',
    ])
    expect(await rowsOf(alice)).toHaveLength(5)
    const [single] = await shareWith(alice, ['a.txt'])
    expect(single.id).toBe(each[0].id)
  })

  it('notifies the recipient once', async () => {
    const alice = await owner()
    const carol = await t.signIn(`carol-${n}`)
    await shareWith(alice, THREE, { email: carol.email })
    const events = (await carol.rest('GET', '/api/user/events')).response.events
    const received = events.filter(({ kind }: { kind: string }) => kind === 'share.received')
    expect(received).toMatchObject([{ details: { name: 'a.txt and 2 more' } }])
  })
})

describe('At the same time', () => {
  it('deleting an entry for ever before sharing leaves nothing behind the share', async () => {
    const other = await startApp({ ...UNHURRIED, TRASH_DAYS: '0' })
    try {
      const alice = await other.signIn('alice')
      for (const name of ['x', 'y', 'z']) await alice.upload(`${name}.txt`, name)
      const input = {
        entries: ['x', 'y', 'z'].map(name => at(`${name}.txt`)),
        email: 'bob@example.com',
        together: true,
      }
      const { db } = other.app
      const isSaid = async (sql: RegExp) =>
        until(() => other.statements().some(one => sql.test(one)))
      let answers: Promise<[RestAnswer, { code?: string | undefined }]> | undefined
      await db.transaction(async tx => {
        await db.run('UPDATE bucket SET used_bytes = used_bytes', [], tx)
        other.statements()
        const deletion = alice.rest('DELETE', '/api/files/delete?file=y.txt')
        await new Promise(resolve => setTimeout(resolve, 300))
        const sharing = alice.graphql(SHARE, { input })
        // It has found them, and waits for the drive behind the deletion.
        await isSaid(/FROM entry WHERE parent_id = \? AND name IN/)
        await new Promise(resolve => setTimeout(resolve, 300))
        answers = Promise.all([deletion, sharing])
      })
      const [deleted, shared] = (await answers) ?? []
      expect([deleted?.status, shared?.code]).toEqual([200, 'FILE_NOT_FOUND'])
      expect(await db.rows('SELECT id FROM share')).toEqual([])
    } finally {
      await other.stop()
    }
  })

  it('sharing while its entries are deleted shares the remaining ones, or fails', async () => {
    const alice = await owner()
    for (let i = 0; i < 8; i++) {
      for (const name of ['x', 'y', 'z']) await alice.upload(`race ${i}/${name}.txt`, name)
      const paths = ['x', 'y', 'z'].map(name => `race ${i}/${name}.txt`)
      const [made, direct] = await Promise.all([
        quickShare(alice, paths),
        alice.graphql(SHARE, {
          input: { entries: paths.map(at), email: bob.email, together: true },
        }),
        remove(alice, paths[i % 3] ?? ''),
        ...(i % 2 ? [remove(alice, `race ${i}/${'xyz'[(i + 1) % 3]}.txt`)] : []),
      ])
      expect([undefined, 'FILE_NOT_FOUND']).toContain(direct.code)
      if (made.status !== 200) expect(statusAndCode(made)).toEqual([400, 'FILE_NOT_FOUND'])
      else expect(await pathsIn(made.response.sharing_token)).toHaveLength(i % 2 ? 1 : 2)
    }
    const wrong = await t.app.db.rows(
      `SELECT s.id FROM share s LEFT JOIN entry e ON e.id = s.entry_id AND e.parent_id IS NOT NULL WHERE s.user_id = ?
       AND (e.id IS NULL OR s.entry_count <> (SELECT COUNT(*) FROM share_entry x WHERE x.share_id = s.id))`,
      [alice.userId],
    )
    expect(wrong).toEqual([])
  })

  it('saving while an entry is deleted copies only what was shared at that moment', async () => {
    const [alice, saver] = [await owner(), await t.signIn(`racer-${n}`)]
    for (let i = 0; i < 6; i++) {
      await alice.upload(`save ${i}/x.txt`, 'x')
      await alice.upload(`save ${i}/y.txt`, 'y')
      const token = await link(alice, [`save ${i}/x.txt`, `save ${i}/y.txt`])
      const [saved] = await Promise.all([
        saver.rest('POST', `/api/share/save/${token}`, { json: { folder: `${i}` } }),
        remove(alice, `save ${i}/x.txt`),
      ])
      const paths = saved.response.copies.map(({ path }: Listed) => path)
      expect([[`${i}/x.txt`, `${i}/y.txt`], [`${i}/y.txt`]]).toContainEqual(paths)
    }
  })
})
