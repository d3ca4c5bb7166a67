import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import {
  found,
  join,
  privateKey,
  put,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, OPERATORS: 'olga@example.com' })
  await t.limit({ ...ROOMY, maxWorkspaceFolders: 10_000 })
  alice = await t.signIn('alice')
})
afterAll(() => t.stop())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Anything = any

const people = (count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, i) => t.signIn(`${name}${i}`)))
const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

/**
 * A person with this many workspaces, each with this many objects of every kind, and folders with
 * as many files.
 */
async function stock(name: string, count: number): Promise<Person> {
  const owner = await t.signIn(name)
  const friends = await people(count, `friend-of-${name}-`)
  for (const i of texts(count)) {
    const id = await found(owner, `Room ${i}`)
    for (const friend of friends) await join(t, id, friend, 'editor')
    for (const j of texts(count)) {
      await put(friends[Number(j)] ?? owner, id, `/folder ${j}/${i}.txt`)
      const email = `guest-${j}@example.com`
      await owner.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id: id, email, role: 'viewer' },
      })
      await workspaceKey(t, owner, id)
      await owner.upload(`outer ${i}/inner ${j}/a.txt`, `${i} ${j}`)
      await owner.upload(`outer ${i}/b ${j}.txt`, `${i} ${j}`)
      await owner.rest('POST', '/api/files/share', {
        json: { email, objects: [`outer ${i}/b ${j}.txt`] },
      })
    }
  }
  return owner
}

describe('Statements', () => {
  const page = (fields: string) => `{ nodes { ${fields} } }`
  const person = '{ email name }'
  const entry = `__typename path createdBy ${person} permissions`
  const queries = {
    'me { workspaces': `{ me { workspaces ${page(`name owner ${person} memberCount apiKeyCount drive { usage { fileCount } }
      members ${page(`role person ${person}`)} invites ${page(`email invitedBy ${person}`)}
      apiKeys ${page(`name createdBy ${person}`)}`)} } }`,
    'me { workspaces { drive': `{ me { workspaces(first: 10) ${page(`drive { root { ${entry}
      entries(first: 10) ${page(`${entry} ... on Folder { entries(first: 10) ${page(entry)} }`)} } }`)} } }`,
    'me { drive': `{ me { drive { root { entries ${page(
      `${entry} parent { path } ... on Folder { entries ${page(
        `${entry} ... on Folder { entries ${page('path ... on File { note shareCount }')} } ... on File { note shareCount }`,
      )} }`,
    )} } } } }`,
    'me { drive, with the shares of files': `{ me { drive { root { entries ${page(`... on Folder { entries(filter: { kind: FILE })
      ${page(`${entry} ... on File { shares ${page(`__typename file { path } sharedBy ${person}`)} }`)} }`)} } } } }`,
    'me { shares': `{ me { shares ${page(`__typename file { path parent { path } } sharedBy ${person}`)} } }`,
  }

  let small: Person
  let large: Person

  beforeAll(async () => {
    small = await stock('small', 1)
    large = await stock('large', 4)
  })

  it.each(Object.entries(queries))(
    'do not grow with the number of results: %s',
    async (_name, query) => {
      const count = async (person: Person) => {
        // The first request of a session records its use.
        await ask(person, query)
        t.statements()
        const data = await ask(person, query)
        return {
          statements: t.statements().length,
          nodes: JSON.stringify(data).split(/"(?:__typename|name)":/).length - 1,
        }
      }
      const [few, many] = [await count(small), await count(large)]
      expect(many.nodes).toBeGreaterThanOrEqual(few.nodes * 4)
      // Two loads may or may not share a batch. One statement for each node would need three more.
      expect(many.statements).toBeLessThanOrEqual(few.statements + 1)
    },
  )

  it('do not grow with the number of requested ids', async () => {
    const LIST = `{ me { workspaces { nodes { id drive { root { entries { nodes { id } } } } } } } }`
    const rooms = (await ask(large, LIST)).me.workspaces.nodes
    const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Workspace { owner { name } }
      ... on Entry { path createdBy { name } } } }`
    const count = async (number: number) => {
      const ids = rooms
        .slice(0, number)
        .flatMap((room: Anything) => [
          room.id,
          ...room.drive.root.entries.nodes.map((node: Anything) => node.id),
        ])
      t.statements()
      const { nodes } = await ask(large, NODES, { ids })
      expect(nodes.map((node: Anything) => node.id)).toEqual(ids)
      return t.statements().length
    }
    const one = await count(1)
    expect(await count(4)).toBe(one)
  })

  it('skip no member between two pages', async () => {
    const list = 'nodes { person { email } } pageInfo { endCursor hasNextPage }'
    const lists = (args: string) =>
      `{ me { workspaces { nodes { members(${args}) { ${list} } } } } }`
    const { me } = await ask(large, lists('first: 3'))
    const first = me.workspaces.nodes.map((workspace: Anything) => workspace.members)
    expect(
      first.map((members: Anything) => [members.nodes.length, members.pageInfo.hasNextPage]),
    ).toEqual(Array(4).fill([3, true]))
    const next = await ask(large, lists(`first: 3, after: "${first[0].pageInfo.endCursor}"`))
    const second = next.me.workspaces.nodes[0].members
    expect([second.nodes.length, second.pageInfo.hasNextPage]).toEqual([2, false])
    const emails = [...first[0].nodes, ...second.nodes].map(
      (member: Anything) => member.person.email,
    )
    expect(new Set(emails).size).toBe(5)
  })

  it('return the same for several folders together as for each alone', async () => {
    const folder =
      'path ... on Folder { entries(first: 3) { nodes { id path parent { path } } pageInfo { hasNextPage endCursor } } }'
    const { me } = await ask(large, `{ me { drive { root { entries { nodes { ${folder} } } } } } }`)
    const folders = me.drive.root.entries.nodes
    expect(folders).toHaveLength(4)
    for (const together of folders) {
      const alone = await ask(
        large,
        `{ me { drive { entry(path: "${together.path}") { ${folder} } } } }`,
      )
      expect(alone.me.drive.entry).toEqual(together)
      expect(together.entries.nodes.map((entry: Anything) => entry.parent.path)).toEqual(
        Array(3).fill(together.path),
      )
      expect(together.entries.pageInfo.hasNextPage).toBe(true)
    }
  })
})

describe('Every connection', () => {
  const COUNT = 5
  let room: string

  beforeAll(async () => {
    room = await found(alice, 'Room 0')
    for (const i of texts(COUNT - 1)) await found(alice, `Room ${i}`)
    // The owner is one of the members. Two others joined at the same time.
    const friends = await people(COUNT - 1, 'friend')
    for (const friend of friends) await join(t, room, friend, 'viewer')
    await t.app.db.run('UPDATE member SET joined_at = 1000 WHERE user_id IN (?, ?)', [
      friends[0]?.userId ?? '',
      friends[1]?.userId ?? '',
    ])
    const bob = await t.signIn('bob')
    await people(COUNT, 'walked')
    for (const i of texts(COUNT)) {
      await put(alice, room, `/folder ${i}/x`)
      await put(alice, room, `/${i}.txt`)
      await alice.upload(`folder ${i}/x`, i)
      await alice.upload(`${i}.txt`, i)
      await bob.upload(`${i}.txt`, i)
      await alice.rest('POST', '/api/files/share', {
        json: { email: bob.email, objects: [`${i}.txt`] },
      })
      await bob.rest('POST', '/api/files/share', {
        json: { email: alice.email, objects: [`${i}.txt`] },
      })
      await alice.rest('POST', '/api/files/quick_share', { json: { object: '0.txt' } })
      const invite = (by: Person, workspace_id: string, email: string) =>
        by.rest('POST', '/api/workspaces/invites/create', {
          json: { workspace_id, email, role: 'viewer' },
        })
      await invite(alice, room, `guest-${i}@example.com`)
      await invite(bob, await found(bob, `Bob ${i}`), alice.email)
      await workspaceKey(t, alice, room)
      await privateKey(t, alice)
    }
    // Created at the same time, so the id decides.
    await t.app.db.run('UPDATE api_key SET created_at = 1000')
  })

  const ROOM = 'workspace(id: "ROOM") {'
  const ROOT = 'drive { entry(path: "") { ... on Folder { entries(filter: { kind: KIND }, '
  it.each<[string, string, number]>([
    ['me.workspaces', 'me { workspaces(', 1],
    ['me.receivedShares', 'me { receivedShares(', 1],
    ['me.shares', 'me { shares(kind: DIRECT, ', 1],
    ['me.apiKeys', 'me { apiKeys(', 1],
    ['me.invites', 'me { invites(', 1],
    ['folders of me.drive', `me { ${ROOT.replace('KIND', 'FOLDER')}`, 4],
    ['files of me.drive', `me { ${ROOT.replace('KIND', 'FILE')}`, 4],
    ['me.drive.search', 'me { drive { search(query: ".TXT", ', 2],
    ['file.shares', 'me { drive { entry(path: "0.txt") { ... on File { shares(kind: LINK, ', 4],
    ['workspace.members', `${ROOM} members(`, 1],
    ['workspace.invites', `${ROOM} invites(`, 1],
    ['workspace.apiKeys', `${ROOM} apiKeys(`, 1],
    ['folders of workspace.drive', `${ROOM} ${ROOT.replace('KIND', 'FOLDER')}`, 4],
    ['files of workspace.drive', `${ROOM} ${ROOT.replace('KIND', 'FILE')}`, 4],
    ['operator.accounts', 'operator { accounts(search: "walked", ', 1],
  ])('%s is read in pages of two, each entry once and in order', async (name, start, depth) => {
    const person = name === 'operator.accounts' ? await t.signIn('olga') : alice
    const asked = (args: string, selection: string) =>
      `{ ${start.replace('ROOM', room)}${args}) { ${selection} } ${'}'.repeat(depth)} }`
    const read = async (args: string) => {
      const query = asked(
        args,
        'edges { cursor node { id } } nodes { id } pageInfo { hasNextPage endCursor }',
      )
      let found = await ask(person, query)
      while (!found.edges) found = Object.values(found)[0]
      return {
        ids: found.nodes.map(({ id }: Anything) => id),
        nodes: found.edges.map((e: Anything) => e.node.id),
        cursors: found.edges.map((e: Anything) => e.cursor),
        ...found.pageInfo,
      }
    }
    const all = await read('first: 1000')
    expect([all.ids.length, all.nodes, all.hasNextPage]).toEqual([COUNT, all.ids, false])
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
      expect([wrong, await codeOf(person, asked(wrong, 'edges { cursor }'))]).toEqual([
        wrong,
        'INVALID_INPUT',
      ])
    }
  })

  it('does not give access to the whole tree in one request', async () => {
    const nested = (
      first: number,
    ) => `{ me { drive { root { entries(first: ${first}) { nodes { ... on Folder {
      entries(first: ${first}) { nodes { name } } } } } } } } }`
    const wide = await t.signIn('wide')
    await Promise.all(texts(60).map(i => wide.rest('POST', '/api/folders', { json: { path: i } })))
    expect((await wide.graphql(nested(100))).errors).toBeUndefined()
    const { errors } = await wide.graphql(nested(1000))
    expect(errors?.[0]).toMatchObject({
      message:
        'A request may get 20,000 entries of lists. Ask for smaller pages, or for fewer pages.',
      extensions: { code: 'INVALID_INPUT', field: 'first' },
    })
  })
})
