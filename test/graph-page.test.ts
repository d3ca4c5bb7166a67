import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, join, privateKey, put, ROOMY, UNHURRIED, workspaceKey } from './builders.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ ...ROOMY, maxWorkspaceFolders: 10_000 })
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

async function ask(person: Person, query: string): Promise<Anything> {
  const { data, errors } = await person.graphql<Anything>(query)
  expect(errors).toBeUndefined()
  return data
}

const people = (count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, i) => t.signIn(`${name}${i}`)))
const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

/** Somebody with so many workspaces, each with so much of everything, and folders with as many files. */
async function stock(name: string, count: number): Promise<Person> {
  const owner = await t.signIn(name)
  const friends = await people(count, `friend-of-${name}-`)
  for (const i of texts(count)) {
    const id = await found(owner, `Room ${i}`)
    for (const friend of friends) await join(t, id, friend, 'editor')
    for (const j of texts(count)) {
      await put(friends[Number(j)] ?? owner, id, `/folder ${j}/${i}.txt`)
      const email = `guest-${j}@example.com`
      await owner.rest('POST', '/api/workspaces/invites/create', { json: { workspace_id: id, email, role: 'viewer' } })
      await workspaceKey(t, owner, id)
      await owner.upload(`outer ${i}/inner ${j}/a.txt`, `${i} ${j}`)
      await owner.upload(`outer ${i}/b ${j}.txt`, `${i} ${j}`)
    }
  }
  return owner
}

describe('Statements', () => {
  const page = (fields: string) => `{ edges { node { ${fields} } } }`
  const queries = {
    'me { workspaces': `{ me { workspaces ${page(`name quota { fileCount } members ${page('email role')}
      invites ${page('email')} apiKeys ${page('name')}`)} } }`,
    'me { workspaces { rootFolder': `{ me { workspaces ${page(`rootFolder { createdByEmail
      folders ${page(`path createdByEmail files ${page('path uploadedByEmail')}`)} files ${page('path')} }`)} } }`,
    'me { rootFolder': `{ me { rootFolder { folders ${page(`path folders ${page(`path files ${page('path note')}`)}
      files ${page('path note')}`)} } } }`,
  }

  let small: Person
  let large: Person

  beforeAll(async () => {
    small = await stock('small', 1)
    large = await stock('large', 4)
  })

  it.each(Object.entries(queries))('do not grow with what is found: %s', async (_name, query) => {
    const count = async (person: Person) => {
      t.statements()
      const data = await ask(person, query)
      return { statements: t.statements().length, nodes: JSON.stringify(data).split('"node":').length - 1 }
    }
    const [few, many] = [await count(small), await count(large)]
    expect(many.nodes).toBeGreaterThanOrEqual(few.nodes * 4)
    expect(many.statements).toBe(few.statements)
  })

  it('leave no member out between two pages', async () => {
    const page = 'edges { node { email } } pageInfo { endCursor hasNextPage }'
    const lists = (args: string) => `{ me { workspaces { edges { node { members(${args}) { ${page} } } } } } }`
    const { me } = await ask(large, lists('first: 3'))
    const first = me.workspaces.edges.map((edge: Anything) => edge.node.members)
    expect(first.map((list: Anything) => [list.edges.length, list.pageInfo.hasNextPage])).toEqual(
      Array(4).fill([3, true]),
    )
    const next = await ask(large, lists(`first: 3, after: "${first[0].pageInfo.endCursor}"`))
    const second = next.me.workspaces.edges[0].node.members
    expect([second.edges.length, second.pageInfo.hasNextPage]).toEqual([2, false])
    const emails = [...first[0].edges, ...second.edges].map((edge: Anything) => edge.node.email)
    expect(new Set(emails).size).toBe(5)
  })
})

describe('Every connection', () => {
  const COUNT = 5
  let room: string

  beforeAll(async () => {
    room = await found(alice, 'Room 0')
    for (const i of texts(COUNT - 1)) await found(alice, `Room ${i}`)
    // The owner is one of them; two joined at the same moment.
    const friends = await people(COUNT - 1, 'friend')
    for (const friend of friends) await join(t, room, friend, 'viewer')
    await t.app.db.run('UPDATE member SET joined_at = 1000 WHERE user_id IN (?, ?)', [
      friends[0]?.userId ?? '',
      friends[1]?.userId ?? '',
    ])
    const bob = await t.signIn('bob')
    for (const i of texts(COUNT)) {
      await put(alice, room, `/folder ${i}/x`)
      await put(alice, room, `/${i}.txt`)
      await alice.upload(`folder ${i}/x`, i)
      await alice.upload(`${i}.txt`, i)
      await bob.upload(`${i}.txt`, i)
      await alice.rest('POST', '/api/files/share', { json: { email: bob.email, objects: [`${i}.txt`] } })
      await bob.rest('POST', '/api/files/share', { json: { email: alice.email, objects: [`${i}.txt`] } })
      const invite = (by: Person, workspace_id: string, email: string) =>
        by.rest('POST', '/api/workspaces/invites/create', { json: { workspace_id, email, role: 'viewer' } })
      await invite(alice, room, `guest-${i}@example.com`)
      await invite(bob, await found(bob, `Bob ${i}`), alice.email)
      await workspaceKey(t, alice, room)
      await privateKey(t, alice)
    }
    // Made in the same moment: then the id decides.
    await t.app.db.run('UPDATE api_key SET created_at = 1000')
  })

  const inRoom = (list: string) => [`workspace(id: "ROOM") { ${list}`, 1] as const
  it.each<[string, string, number]>([
    ['me.workspaces', 'me { workspaces', 1],
    ['me.receivedShares', 'me { receivedShares', 1],
    ['me.sentShares', 'me { sentShares', 1],
    ['me.privateApiKeys', 'me { privateApiKeys', 1],
    ['me.invites', 'me { invites', 1],
    ['me.rootFolder.folders', 'me { rootFolder { folders', 2],
    ['me.rootFolder.files', 'me { rootFolder { files', 2],
    ['workspace.members', ...inRoom('members')],
    ['workspace.invites', ...inRoom('invites')],
    ['workspace.apiKeys', ...inRoom('apiKeys')],
    ['workspace.rootFolder.folders', inRoom('rootFolder { folders')[0], 2],
    ['workspace.rootFolder.files', inRoom('rootFolder { files')[0], 2],
  ])('%s is walked by two, each entry once and in order', async (name, start, depth) => {
    const id = name.endsWith('members') ? 'userId' : 'id'
    const read = async (args: string) => {
      const query = `{ ${start.replace('ROOM', room)}(${args}) { edges { cursor node { ${id} } } pageInfo { hasNextPage endCursor } } ${'}'.repeat(depth)} }`
      let found = await ask(alice, query)
      while (!found.edges) found = Object.values(found)[0]
      return {
        ids: found.edges.map((e: Anything) => e.node[id]),
        cursors: found.edges.map((e: Anything) => e.cursor),
        ...found.pageInfo,
      }
    }
    const all = await read('first: 1000')
    expect([all.ids.length, all.hasNextPage]).toEqual([COUNT, false])
    const walked: string[] = []
    let after: string | undefined
    for (const more of [true, true, false]) {
      const page = await read(`first: 2${after ? `, after: "${after}"` : ''}`)
      walked.push(...page.ids)
      expect([page.hasNextPage, page.endCursor]).toEqual([more, page.cursors.at(-1)])
      after = page.endCursor
    }
    expect(walked).toEqual(all.ids)
    for (const wrong of ['first: 0', 'first: 1001', 'last: 1', 'after: "eyJhIjoxfQ"']) {
      const refused = await alice.graphql(
        `{ ${start.replace('ROOM', room)}(${wrong}) { edges { cursor } } ${'}'.repeat(depth)} }`,
      )
      expect([wrong, refused.code]).toEqual([wrong, 'INVALID_INPUT'])
    }
  })

  it('is no way to the whole tree at once', async () => {
    const nested = (
      first: number,
    ) => `{ folder { folders(first: ${first}) { edges { node { folders(first: ${first}) { edges { node { name } } }
      files(first: ${first}) { edges { node { path } } } } } } } }`
    const wide = await t.signIn('wide')
    await Promise.all(texts(60).map(i => wide.rest('POST', '/api/folders', { json: { path: i } })))
    expect((await wide.graphql(nested(100))).errors).toBeUndefined()
    const { errors } = await wide.graphql(nested(1000))
    expect(errors?.[0]).toMatchObject({
      message: 'This asks for 60 lists of up to 1000 entries. Ask for smaller pages, or for fewer of them.',
      extensions: { code: 'INVALID_INPUT', field: 'first' },
    })
  })
})
