import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  driveOf,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const EVENTS = `query ($id: ID!, $first: Int, $after: String, $newestFirst: Boolean, $kinds: [EventKind!]) { node(id: $id) { ... on Entry { name
  events(first: $first, after: $after, newestFirst: $newestFirst, kinds: $kinds) {
    nodes { kind entry { id } details { path from } } pageInfo { hasNextPage endCursor } } } } }`

interface Page {
  nodes: {
    kind: string
    entry: { id: string } | null
    details: { path: string | null; from: string | null }
  }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

async function eventsOf(who: Person, id: string, variables: object = {}) {
  const { data, errors } = await who.graphql<{ node: { events: Page | null } | null }>(EVENTS, {
    id,
    ...variables,
  })
  const code = errors?.[0]?.extensions.code
  const page = data?.node?.events
  return { code, kinds: page?.nodes.map(({ kind }) => kind), page, isThere: Boolean(data?.node) }
}

const change = async (who: Person, mutation: string, variables: object = {}) => {
  const { data, errors } = await who.graphql<Record<string, never>>(mutation, variables)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

const idAt = async (who: Person, path: string, drive?: string): Promise<string> => {
  const id = drive ?? (await driveOf(who))
  const { data } = await who.graphql<{ node: { entry: { id: string } } }>(
    'query ($id: ID!, $path: String!) { node(id: $id) { ... on Drive { entry(path: $path) { id } } } }',
    { id, path },
  )
  return data?.node.entry.id ?? ''
}

describe('The history of a file or a folder', () => {
  it('contains its events from its drive, and moves with it', async () => {
    const alice = await t.signIn('alice')
    await alice.upload('plan.txt', 'one')
    await alice.upload('other.txt', 'two')
    const id = await idAt(alice, 'plan.txt')
    await change(
      alice,
      'mutation { createFolder(input: { at: { path: "old" } }) { folder { id } } }',
    )
    const move =
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }'
    await change(alice, move, { input: { entries: [{ id }], to: { at: { path: 'old' } } } })
    await change(alice, move, { input: { entries: [{ id }], name: 'Plan A.txt' } })
    await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'old/Plan A.txt', duration: '7d' },
    })
    const { kinds, page } = await eventsOf(alice, id)
    expect(kinds).toEqual(['FILE_CREATED', 'FILE_MOVED', 'FILE_RENAMED', 'SHARE_CREATED'])
    expect(page?.nodes.map(({ entry }) => entry?.id)).toEqual([id, id, id, id])
    expect(page?.nodes[2]?.details).toEqual({ path: 'old/Plan A.txt', from: 'old/plan.txt' })
    expect((await eventsOf(alice, await idAt(alice, 'old'))).kinds).toEqual(['FOLDER_CREATED'])
    expect((await eventsOf(alice, await idAt(alice, 'other.txt'))).kinds).toEqual(['FILE_CREATED'])
  })

  it('is read page by page in either direction, by kind, with cursors of its own drive', async () => {
    const [bob, eve] = [await t.signIn('bob'), await t.signIn('eve')]
    await bob.upload('a', 'a')
    const id = await idAt(bob, 'a')
    for (const name of ['b', 'c', 'd'])
      await change(
        bob,
        'mutation ($id: ID!, $name: String!) { moveEntries(input: { entries: [{ id: $id }], name: $name }) { to { id } } }',
        {
          id,
          name,
        },
      )
    const first = await eventsOf(bob, id, { first: 2, newestFirst: true })
    expect(first.page?.nodes.map(({ details }) => details.path)).toEqual(['d', 'c'])
    expect(first.page?.pageInfo.hasNextPage).toBe(true)
    const after = first.page?.pageInfo.endCursor
    const rest = await eventsOf(bob, id, { first: 2, newestFirst: true, after })
    expect(rest.page?.nodes.map(({ details }) => details.path)).toEqual(['b', 'a'])
    expect(rest.page?.pageInfo.hasNextPage).toBe(false)
    expect((await eventsOf(bob, id, { kinds: ['FILE_CREATED'] })).kinds).toEqual(['FILE_CREATED'])
    expect((await eventsOf(bob, id, { kinds: ['SESSION_STARTED'] })).kinds).toEqual([])
    await eve.upload('e', 'e')
    expect((await eventsOf(eve, await idAt(eve, 'e'), { after })).code).toBe('INVALID_INPUT')
    expect((await eventsOf(bob, id, { after: 'nonsense' })).code).toBe('INVALID_INPUT')
    expect((await eventsOf(bob, id, { first: 0 })).code).toBe('INVALID_INPUT')
  })

  it('is shown to sessions and keys that may read the drive, and to no others', async () => {
    const [owner, viewer, stranger] = [
      await t.signIn('owner'),
      await t.signIn('viewer'),
      await t.signIn('stranger'),
    ]
    const workspaceId = await found(owner)
    await join(t, workspaceId, viewer, 'viewer')
    const drive = await driveOf(owner, workspaceId)
    await change(
      owner,
      'mutation ($drive: ID) { createFolder(input: { at: { drive: $drive, path: "beds" } }) { folder { id } } }',
      { drive },
    )
    const id = await idAt(owner, 'beds', drive)
    expect((await eventsOf(viewer, id)).kinds).toEqual(['FOLDER_CREATED'])
    expect(await eventsOf(stranger, id)).toMatchObject({ isThere: false })
    const reader = await workspaceKey(t, owner, workspaceId, ['workspaces:files:read'])
    expect((await eventsOf(reader.caller, id)).kinds).toEqual(['FOLDER_CREATED'])
    await owner.upload('mine.txt', 'mine')
    const mine = await idAt(owner, 'mine.txt')
    expect(
      (await eventsOf((await privateKey(t, owner, ['private_files:read'])).caller, mine)).kinds,
    ).toEqual(['FILE_CREATED'])
    const writer = await privateKey(t, owner, ['private_files:write'])
    expect((await eventsOf(writer.caller, mine)).page).toBeUndefined()
  })
})
