import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import {
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t.stop())

let serial = 0
/** A new person with these files. */
async function personWith(...paths: string[]): Promise<Person> {
  const person = await t.signIn(`marker${serial++}`)
  for (const path of paths) await person.upload(path, `content of ${path}`)
  return person
}

const ADD = `mutation ($input: AddFavouritesInput!) { addFavourites(input: $input) {
  entries { id path isFavourite } viewer { favourites { id name } } } }`
const REMOVE = `mutation ($input: RemoveFavouritesInput!) { removeFavourites(input: $input) {
  entries { path isFavourite } viewer { favourites { name } } } }`
const MOVE = `mutation ($input: MoveFavouriteInput!) { moveFavourite(input: $input) { viewer { favourites { name } } } }`
const LIST = `query ($order: FavouriteOrder = POSITION) { me { favourites(orderBy: $order) { id name
  entry { id path drive { id } } share { id token isFavourite } createdAt } } }`

const at = (...paths: string[]) => paths.map(path => ({ at: { path } }))
const add = async (person: Person, ...paths: string[]) =>
  (await ask(person, ADD, { input: { entries: at(...paths) } })).addFavourites
const list = async (person: Person, order?: string) =>
  (await ask(person, LIST, order ? { order } : {})).me.favourites
const namesOf = async (person: Person, order?: string): Promise<string[]> =>
  (await list(person, order)).map(({ name }: { name: string }) => name)

/** Marks several folders of a workspace as favourites of a person. */
async function markMany(
  owner: Person,
  person: Person,
  workspace: string,
  count: number,
): Promise<void> {
  const drive = await driveOf(owner, workspace)
  const { id: root } = (
    await ask(owner, 'query ($id: ID!) { node(id: $id) { ... on Drive { root { id } } } }', {
      id: drive,
    })
  ).node.root
  const ids = Array.from({ length: count }, () => crypto.randomUUID())
  const now = Date.now()
  const folders = ids
    .map(id => `('${id}', '${drive}', '${root}', 0, '${id}', ${now}, ${now})`)
    .join(', ')
  await t.app.db.run(
    `INSERT INTO entry (id, bucket_id, parent_id, kind, name, created_at, updated_at) VALUES ${folders}`,
  )
  await t.app.db.run('UPDATE bucket SET used_folders = ? WHERE id = ?', [count, drive])
  const marks = ids
    .map((id, i) => `('${crypto.randomUUID()}', '${person.userId}', '${id}', ${i}, 1)`)
    .join(', ')
  await t.app.db.run(
    `INSERT INTO favourite (id, user_id, entry_id, position, created_at) VALUES ${marks}`,
  )
}

describe('Favourites', () => {
  it('are files and folders of any drive, in the order of marking, or by name', async () => {
    const person = await personWith('b.txt', 'a/c.txt')
    const workspace = await found(person, 'Marks')
    const drive = await driveOf(person, workspace)
    await put(person, workspace, '/z.txt')
    const entries = [...at('b.txt', 'a'), { at: { drive, path: '/z.txt' } }]
    const { addFavourites } = await ask(person, ADD, { input: { entries } })
    expect(addFavourites.entries).toEqual(
      ['b.txt', 'a', '/z.txt'].map(path => ({ id: expect.any(String), path, isFavourite: true })),
    )
    expect(await namesOf(person)).toEqual(['b.txt', 'a', 'z.txt'])
    expect(await namesOf(person, 'NAME')).toEqual(['a', 'b.txt', 'z.txt'])
    // Marking it again changes nothing.
    await add(person, 'a')
    expect(await namesOf(person)).toEqual(['b.txt', 'a', 'z.txt'])
    const { id } = (await list(person))[0]
    const { node } = await ask(
      person,
      'query ($id: ID!) { node(id: $id) { ... on Favourite { name } } }',
      { id },
    )
    expect(node).toEqual({ name: 'b.txt' })
  })

  it('can be removed, ignoring entries that are not favourites', async () => {
    const person = await personWith('a.txt', 'b.txt')
    const { entries } = await add(person, 'a.txt', 'b.txt')
    const input = { entries: [entries[0].id, 'nonsense', crypto.randomUUID()] }
    const { removeFavourites } = await ask(person, REMOVE, { input })
    expect(removeFavourites).toEqual({
      entries: [{ path: 'a.txt', isFavourite: false }],
      viewer: { favourites: [{ name: 'b.txt' }] },
    })
  })

  it('can be reordered', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c.txt')
    await add(person, 'a.txt', 'b.txt', 'c.txt')
    const [a, b, c] = (await list(person)).map(({ id }: { id: string }) => id)
    const move = async (favourite: string, next?: string) =>
      (await ask(person, MOVE, { input: { favourite, next } })).moveFavourite.viewer.favourites
    expect(await move(c, a)).toEqual([{ name: 'c.txt' }, { name: 'a.txt' }, { name: 'b.txt' }])
    expect(await move(c)).toEqual([{ name: 'a.txt' }, { name: 'b.txt' }, { name: 'c.txt' }])
    expect(await move(a, a)).toEqual([{ name: 'a.txt' }, { name: 'b.txt' }, { name: 'c.txt' }])
    expect(await move(a, c)).toEqual([{ name: 'b.txt' }, { name: 'a.txt' }, { name: 'c.txt' }])
    for (const input of [{ favourite: 'nonsense' }, { favourite: b, next: crypto.randomUUID() }])
      expect(await codeOf(person, MOVE, { input })).toBe('FAVOURITE_NOT_FOUND')
    const stranger = await personWith()
    expect(await codeOf(stranger, MOVE, { input: { favourite: b } })).toBe('FAVOURITE_NOT_FOUND')
  })

  it('include received shares, as long as the shares last', async () => {
    const [alice, bob] = [await personWith('shared/a.txt'), await personWith()]
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }'
    const share = async () =>
      (await ask(alice, SHARE, { input: { email: bob.email, entries: at('shared') } }))
        .createDirectShare.shares[0]
    const { id, token } = await share()
    await ask(bob, ADD, { input: { shares: [id] } })
    expect(await list(bob)).toMatchObject([
      { name: 'shared', entry: null, share: { id, token, isFavourite: true } },
    ])
    expect(await codeOf(alice, ADD, { input: { shares: [id] } })).toBe('SHARE_NOT_FOUND')
    expect((await bob.rest('GET', '/api/favourites')).response.favourites).toMatchObject([
      { id, kind: 'share', name: 'shared', path: null, workspace_id: null, sharing_token: token },
    ])
    await alice.rest('POST', `/api/share/revoke/${token}`)
    expect(await namesOf(bob)).toEqual([])
    expect(await t.app.db.rows('SELECT id FROM favourite WHERE user_id = ?', [bob.userId])).toEqual(
      [],
    )
    const again = await share()
    await bob.rest('PUT', `/api/favourites/${again.id}`)
    await ask(bob, REMOVE, { input: { shares: [again.id] } })
    expect(await namesOf(bob)).toEqual([])
  })

  it('that the user may no longer see are neither shown nor counted', async () => {
    const [owner, member] = [await personWith(), await personWith('own.txt')]
    const workspace = await found(owner, 'Ends')
    await join(t, workspace, member, 'viewer')
    const drive = await driveOf(owner, workspace)
    const [{ id }] = (await put(owner, workspace, '/secret.txt')).response
    await ask(member, ADD, { input: { entries: [{ id }, ...at('own.txt')] } })
    const [mark] = await list(member)
    await expel(t, workspace, member)
    expect(await namesOf(member)).toEqual(['own.txt'])
    const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    expect((await ask(member, NODES, { ids: [mark.id, id] })).nodes).toEqual([null, null])
    expect((await member.rest('GET', '/api/favourites')).response.favourites).toMatchObject([
      { name: 'own.txt' },
    ])
    expect(await codeOf(member, ADD, { input: { entries: [{ id }] } })).toBe('FILE_NOT_FOUND')
    expect(
      await codeOf(member, ADD, { input: { entries: [{ at: { drive, path: '/secret.txt' } }] } }),
    ).toBe('FORBIDDEN')
    await join(t, workspace, member, 'viewer')
    expect(await namesOf(member)).toEqual(['secret.txt', 'own.txt'])
  })

  it('are hidden while in the trash, and are deleted with their entry', async () => {
    const person = await personWith('a.txt', 'f/b.txt')
    await add(person, 'a.txt', 'f/b.txt')
    await person.rest('DELETE', '/api/files/delete?file=a.txt')
    await person.rest('DELETE', '/api/folders?path=f&recursive=true')
    expect(await namesOf(person)).toEqual([])
    const { items } = (await person.rest('GET', '/api/trash')).response
    await person.rest('POST', '/api/trash/restore', { json: { items: [items[0].id] } })
    expect(await namesOf(person)).toEqual(['b.txt'])
    await person.rest('DELETE', '/api/trash')
    expect(
      await t.app.db.rows('SELECT id FROM favourite WHERE user_id = ?', [person.userId]),
    ).toHaveLength(1)
    await expectConsistent(t)
  })

  it('follow a moved file, and are deleted with the account', async () => {
    const person = await personWith('a.txt')
    await add(person, 'a.txt')
    await person.rest('POST', '/api/files/move', {
      json: { source: 'a.txt', destination: 'there/b.txt' },
    })
    expect(await list(person)).toMatchObject([{ name: 'b.txt', entry: { path: 'there/b.txt' } }])
    await person.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: false } })
    expect(
      await t.app.db.rows('SELECT id FROM favourite WHERE user_id = ?', [person.userId]),
    ).toEqual([])
  })

  it.each([
    ['the root', { entries: at('') }, 'INVALID_PATH'],
    ['an unknown path', { entries: at('none.txt') }, 'FILE_NOT_FOUND'],
    ['an invalid id', { entries: [{ id: 'nonsense' }] }, 'FILE_NOT_FOUND'],
    ['an unknown share', { shares: ['nonsense'] }, 'SHARE_NOT_FOUND'],
    ['an unknown drive id', { entries: [{ at: { drive: 'nonsense', path: 'a' } }] }, 'FORBIDDEN'],
    ['too many', { shares: Array(101).fill('x') }, 'INVALID_INPUT'],
  ])('are refused for %s', async (_what, input, code) => {
    expect(await codeOf(await personWith(), ADD, { input })).toBe(code)
  })

  it('are limited to 200, even under parallel requests; hidden ones make room', async () => {
    const [owner, person] = [await personWith(), await personWith('a', 'b', 'c', 'd', 'e')]
    const workspace = await found(owner, 'Many')
    await join(t, workspace, person, 'viewer')
    await markMany(owner, person, workspace, 198)
    const outcomes = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(path => person.graphql(ADD, { input: { entries: at(path) } })),
    )
    expect(outcomes.filter(({ code }) => code === 'QUOTA_EXCEEDED')).toHaveLength(3)
    expect(await namesOf(person)).toHaveLength(200)
    const { id } = (
      await ask(person, '{ me { drive { entry(path: "a") { id } b: entry(path: "b") { id } } } }')
    ).me.drive.entry
    const left = ['a', 'b', 'c', 'd', 'e'].filter((_, i) => outcomes[i]?.code)
    expect(id).toBeDefined()
    const REST = '{ me { drive { root { entries { nodes { id name } } } } } }'
    const nodes = (await ask(person, REST)).me.drive.root.entries.nodes
    const full = nodes.find(({ name }: { name: string }) => name === left[0]).id
    expect(await person.rest('PUT', `/api/favourites/${full}`)).toMatchObject({
      status: 400,
      response: { code: 'QUOTA_EXCEEDED', limit: 'max_favourites', max: 200, used: 200 },
    })
    await expel(t, workspace, person)
    expect((await person.rest('PUT', `/api/favourites/${full}`)).status).toBe(200)
    expect(await namesOf(person)).toHaveLength(3)
    // One hidden favourite made room for one new one. The others are shown again if the person
    // returns.
    expect(
      await t.app.db.rows('SELECT id FROM favourite WHERE user_id = ?', [person.userId]),
    ).toHaveLength(200)
  })

  it('that a key cannot see make no room for it', async () => {
    const person = await personWith('a.txt')
    const workspace = await found(person, 'Full of marks')
    await markMany(person, person, workspace, 200)
    const before = await list(person)
    const { caller } = await privateKey(t, person)
    expect((await caller.graphql(ADD, { input: { entries: at('a.txt') } })).code).toBe(
      'QUOTA_EXCEEDED',
    )
    expect(before).toHaveLength(200)
    expect(await list(person)).toEqual(before)
  })

  it('are read with one statement for a page of entries, and with none if not requested', async () => {
    const person = await personWith('a.txt', 'b.txt', 'c.txt')
    const PAGE = (of: string) => `{ me { drive { root { entries { nodes { id ${of} } } } } } }`
    const count = async (of: string) => {
      t.statements()
      await ask(person, PAGE(of))
      return t.statements().length
    }
    const plain = await count('name')
    expect(await count('isFavourite')).toBe(plain + 1)
    expect(await count('isFavourite tags { name }')).toBe(plain + 2)
  })

  it('are part of the account export', async () => {
    const person = await personWith('a.txt')
    const { entries } = await add(person, 'a.txt')
    const { text } = await person.rest('GET', '/api/user/export')
    expect(JSON.parse(text).favourites).toEqual([
      { entry_id: entries[0].id, share_id: null, created_at: expect.any(String) },
    ])
  })
})

describe('Favourites by REST', () => {
  it('are added, moved and removed', async () => {
    const person = await personWith('a.txt', 'b.txt')
    const files = (await person.rest('GET', '/api/files/tree')).response.files as {
      id: string
      name: string
    }[]
    const [a = '', b = ''] = files.map(({ id }) => id)
    const marked = await person.rest('PUT', `/api/favourites/${a}`)
    expect(marked.response.favourite).toEqual({
      id: a,
      kind: 'file',
      name: 'a.txt',
      path: 'a.txt',
      workspace_id: null,
      sharing_token: null,
      created_at: expect.any(String),
    })
    await person.rest('PUT', `/api/favourites/${b}`)
    await person.rest('PATCH', `/api/favourites/${b}`, { json: { before: a } })
    const listed = (await person.rest('GET', '/api/favourites')).response.favourites
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['b.txt', 'a.txt'])
    expect((await person.rest('DELETE', `/api/favourites/${b}`)).response).toEqual({
      favourite_removed: b,
    })
    const none = crypto.randomUUID()
    const { root } = (await ask(person, '{ me { drive { root { id } } } }')).me.drive
    const refusals: [string, string, object | undefined, number, string][] = [
      ['DELETE', b, undefined, 404, 'FAVOURITE_NOT_FOUND'],
      ['PATCH', b, {}, 404, 'FAVOURITE_NOT_FOUND'],
      ['PATCH', a, { before: b }, 404, 'FAVOURITE_NOT_FOUND'],
      ['PATCH', a, { befor: b }, 400, 'INVALID_INPUT'],
      ['PUT', none, undefined, 404, 'FILE_NOT_FOUND'],
      ['PUT', 'ünknown', undefined, 404, 'FILE_NOT_FOUND'],
      ['PUT', root.id, undefined, 400, 'INVALID_PATH'],
    ]
    for (const [method, id, json, status, code] of refusals) {
      const answer = await person.rest(method, `/api/favourites/${id}`, json ? { json } : {})
      expect([method, id, answer.status, answer.response.code]).toEqual([method, id, status, code])
    }
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect((await t.anonymous.rest(method, `/api/favourites/${a}`)).status).toBe(401)
    expect((await t.anonymous.rest('GET', '/api/favourites')).status).toBe(401)
  })

  it('are limited to the personal drive for keys', async () => {
    const person = await personWith('a.txt')
    const workspace = await found(person, 'Keys')
    const [{ id }] = (await put(person, workspace, '/w.txt')).response
    await ask(person, ADD, { input: { entries: [...at('a.txt'), { id }] } })
    const { caller } = await privateKey(t, person)
    expect((await caller.rest('GET', '/api/favourites')).response.favourites).toMatchObject([
      { name: 'a.txt' },
    ])
    expect((await caller.rest('PUT', `/api/favourites/${id}`)).status).toBe(404)
    const reader = (await privateKey(t, person, ['private_files:read'])).caller
    expect((await reader.rest('PUT', `/api/favourites/${id}`)).response.code).toBe(
      'INSUFFICIENT_SCOPE',
    )
    const ofWorkspace = (await workspaceKey(t, person, workspace)).caller
    expect((await ofWorkspace.rest('GET', '/api/favourites')).response.code).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
  })
})
