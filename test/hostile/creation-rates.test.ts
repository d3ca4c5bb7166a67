import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, workspaceKey } from '../support/builders.ts'
import { davPerson } from '../support/dav-client.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'

const MAX = 3

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp({
    RATE_LINKS: '5',
    RATE_PROTECTED_LINKS: String(MAX),
    RATE_FOLDERS: String(MAX),
    RATE_NOTES: String(MAX),
    RATE_SEARCHES: String(MAX),
  })
  alice = await t.signIn('alice')
  await alice.upload('a.txt', 'hello')
})
afterAll(() => t?.stop())

const HELLO = '5d41402abc4b2a76b9719d911017c592'
const link = (person: Person, password?: string) =>
  person.rest('POST', '/api/files/quick_share', {
    json: { object: 'a.txt', ...(password ? { password } : {}) },
  })

/** Statuses and codes of sequential calls. */
async function outcomes(
  count: number,
  call: (n: number) => Promise<RestAnswer>,
): Promise<(number | string)[]> {
  const answers: (number | string)[] = []
  for (let n = 0; n < count; n++) {
    const { status, response } = await call(n)
    answers.push(status === 200 ? 200 : `${status} ${response.code} ${response.policy}`)
  }
  return answers
}

describe('A user’s creations per minute are limited', () => {
  it.each([
    [
      'folders',
      'folders',
      (person: Person, n: number) =>
        person.rest('POST', '/api/folders', { json: { path: `f${n}` } }),
    ],
    [
      'notes',
      'notes',
      (person: Person, n: number) =>
        person.rest('PUT', `/api/files/${HELLO}/note`, { json: { content: `${n}` } }),
    ],
    [
      'protected links',
      'protected_links',
      (person: Person, n: number) => link(person, `sesame ${n}`),
    ],
  ] as const)('%s', async (_what, policy, make) => {
    expect(await outcomes(MAX + 1, n => make(alice, n))).toEqual([
      200,
      200,
      200,
      `400 RATE_LIMITED ${policy}`,
    ])
    const { headers } = await make(alice, MAX + 1)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    // Another user has a separate count.
    const bob = await t.signIn(`bob-${policy}`)
    await bob.upload('a.txt', 'hello')
    expect((await make(bob, 0)).status).toBe(200)
  })

  it('counting links with and without a password together, in both interfaces', async () => {
    const carol = await t.signIn('carol')
    await carol.upload('a.txt', 'hello')
    expect(await outcomes(6, () => link(carol))).toEqual([
      ...Array(5).fill(200),
      '400 RATE_LIMITED links',
    ])
    const mutation =
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token } } }'
    expect(
      (await carol.graphql(mutation, { input: { entries: { at: { path: 'a.txt' } } } })).code,
    ).toBe('RATE_LIMITED')
  })

  it('counting workspace folders with personal ones', async () => {
    const dora = await t.signIn('dora')
    const own = await found(dora)
    const mkdir = (n: number) =>
      dora.rest('POST', `/api/workspaces/${own}/files/mkdir`, { json: { folder_name: `f${n}` } })
    expect(await outcomes(MAX, mkdir)).toEqual([200, 200, 200])
    expect((await dora.rest('POST', '/api/folders', { json: { path: 'x' } })).response.code).toBe(
      'RATE_LIMITED',
    )
  })
  it('not counting folders created with an API key', async () => {
    const { person, key, dav } = await davPerson(t)
    const own = await found(person)
    const team = await workspaceKey(t, person, own)
    const mutation =
      'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }'
    const numbers = Array.from({ length: 2 * MAX }, (_, n) => n)
    for (const n of numbers) {
      expect((await dav('MKCOL', `/files/dav-${n}`)).status).toBe(201)
      const made = await key.caller.rest('POST', '/api/folders', { json: { path: `rest-${n}` } })
      expect(made.status).toBe(200)
      const json = { folder_name: `f${n}` }
      const inTeam = await team.caller.rest('POST', `/api/workspaces/${own}/files/mkdir`, { json })
      expect(inTeam.status).toBe(200)
      const input = { at: { path: `graph-${n}` } }
      expect((await key.caller.graphql(mutation, { input })).code).toBeUndefined()
    }
    // The user still has the whole rate.
    const byHand = (n: number) => person.rest('POST', '/api/folders', { json: { path: `h${n}` } })
    expect(await outcomes(MAX + 1, byHand)).toEqual([200, 200, 200, '400 RATE_LIMITED folders'])
  })
})

describe('A user’s searches per minute are limited', () => {
  it('in all drives, together with those of a workspace', async () => {
    const erin = await t.signIn('erin')
    const workspace = await found(erin)
    const search = () => erin.rest('GET', '/api/search?query=x')
    const inWorkspace = (query: string) =>
      erin.rest('GET', `/api/workspaces/${workspace}/search?query=x${query}`)
    // Invalid searches count, too.
    expect((await inWorkspace('&limit=0')).status).toBe(400)
    expect((await inWorkspace('')).status).toBe(200)
    expect(await outcomes(MAX - 2, search)).toEqual([200])
    const refused = '429 RATE_LIMITED searches'
    expect(await outcomes(1, search)).toEqual([refused])
    expect(await outcomes(1, () => inWorkspace(''))).toEqual([refused])
  })
})
