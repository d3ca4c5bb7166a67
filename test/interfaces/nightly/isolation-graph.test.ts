import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v4, v7 } from 'uuid'
import { type Identity, identities, identityOf, rightfulOf } from '../../support/authorization.ts'
import { type GraphRow, graphRows } from '../../support/authorization-graph.ts'
import { World } from '../../support/authorization-world.ts'
import { found, ROOMY, UNHURRIED, workspaceKey } from '../../support/builders.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { everything } from '../../support/wire.ts'

let t: TestApp
let world: World
let owner: Person

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  world = new World(t)
  owner = await world.callerOf(identityOf('owner'), null)
})
afterAll(() => t.stop())

/** A string among the variables of an operation, and the path of names to it. */
interface Leaf {
  path: string[]
  value: string
}

const leavesOf = (value: unknown, path: string[] = []): Leaf[] =>
  typeof value === 'string'
    ? [{ path, value }]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
      : []

/** Returns the same variables with another text in one place. */
function inPlace(value: unknown, [name, ...rest]: string[], text: string): unknown {
  if (name === undefined) return text
  if (Array.isArray(value))
    return value.map((inner, i) => (String(i) === name ? inPlace(inner, rest, text) : inner))
  return { ...Object(value), [name]: inPlace(Reflect.get(Object(value), name), rest, text) }
}

/** The variables that name someone's things. */
const naming =
  'account add apiKey copy drive drives entries favourite favourites file fileRequest id identity invite items md5 member next path remove session tag token uploadSession version webhook workspace'.split(
    ' ',
  )

/** The other variables: options, new values and targets. */
const telling =
  'clientId clientName codeChallenge colour content email endsAt event expiresIn fileName folder keyExpiresIn kinds label message name plan query redirectUri role scopes slug source status until url userCode'.split(
    ' ',
  )

/** New things do not exist yet. */
const makers = ['createFolder', 'uploadFile']
const isNamed = ({ title }: GraphRow, { path, value }: Leaf) => {
  const name = path.findLast(step => !/^\d+$/.test(step)) ?? ''
  const isPlace =
    name === 'path' && (makers.includes(title.replace(/ .*/, '')) || path.includes('to'))
  return naming.includes(name) && !isPlace && value !== ''
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g

/** Well-formed references to nothing, and references that can never be valid. */
function missing(row: GraphRow, { path, value }: Leaf): { alike: string; unlike: string[] } {
  switch (path.at(-1)) {
    case 'path':
      return { alike: value.replaceAll(/[a-z]/g, 'q'), unlike: [] }
    case 'md5':
      return { alike: [...value].reverse().join(''), unlike: [] }
    case 'token': {
      const forged = [...value].reverse().join('')
      return /Invite/.test(row.title)
        ? { alike: forged, unlike: [] }
        : { alike: t.app.services.shares.tokenOf(v7()), unlike: [forged] }
    }
    default:
      return {
        alike: value.replaceAll(uuid, () => v7()),
        unlike: [value.replaceAll(uuid, () => v4()), 'nonsense', '🦊'],
      }
  }
}

const aimed = graphRows.filter(
  ({ access, document }) => access !== 'public' && !document.startsWith('subscription'),
)

describe('Users without access cannot distinguish an existing thing from a missing one', () => {
  /**
   * Where the contract permits a difference: a token is secret, so its holder may learn about the
   * thing.
   */
  const apart = /^(openShare|revokeShare|updateShare|acceptInvite|rejectInvite)\b/
  /**
   * Whether a variable permits a difference. `saveSharedEntries` permits one only for its token.
   */
  const isLink = ({ title }: GraphRow, { path }: Leaf) =>
    apart.test(title) || (title.startsWith('saveSharedEntries') && path.at(-1) === 'token')

  /**
   * Users without a right to the owner's things, and users who look for these from a workspace of
   * their own.
   */
  let strangers: [string, Person][]

  beforeAll(async () => {
    // Keys of the owner are left out, because they may know what their creator owns.
    const outside = ({ via, who, role, dead }: Identity) =>
      via !== 'nothing' && !dead && who === 'stranger' && role === null && via !== 'workspace key'
    strangers = await Promise.all(
      identities
        .filter(outside)
        .map(async i => [i.title, await world.callerOf(i, null)] as [string, Person]),
    )
    const neighbour = await t.signIn('neighbour')
    const { caller } = await workspaceKey(t, neighbour, await found(neighbour))
    strangers.push(['owner of another workspace', neighbour], ['key of it', caller])
  })

  it.each(aimed.map(row => [row.title, row] as const))('%s', async (_title, row) => {
    const things = await world.things()
    const variables = await row.variables(things, owner)
    const leaves = leavesOf(variables)
    expect(
      leaves.filter(
        ({ path }) =>
          ![...naming, ...telling].includes(path.filter(name => !/^\d+$/.test(name)).at(-1) ?? ''),
      ),
    ).toEqual([])
    const outsiders =
      row.access === 'operator' ? strangers.filter(([who]) => who !== 'operator') : strangers
    for (const leaf of leaves.filter(each => isNamed(row, each) && !isLink(row, each)))
      for (const [who, caller] of outsiders) {
        const look = async (text: string) => {
          const file = row.file && new File([''], things.name)
          const { status, data, errors } = await caller.graphql(
            row.document,
            inPlace(variables, leaf.path, text) as object,
            file,
          )
          const said = errors?.map(({ message, path, extensions }) => ({
            message,
            path,
            extensions,
          }))
          return JSON.stringify([status, data, said]).replaceAll(text, 'it')
        }
        const foreign = await look(leaf.value)
        const { alike, unlike } = missing(row, leaf)
        expect([who, leaf.path, await look(alike)]).toEqual([who, leaf.path, foreign])
        for (const text of who === 'somebody else' ? unlike : [])
          expect([who, leaf.path, text, await look(text)]).toEqual([who, leaf.path, text, foreign])
      }
  })
})

describe('Fields that no client may set are refused and change nothing', () => {
  const internal: Record<string, unknown> = {
    owner: v7(),
    ownerId: v7(),
    userId: v7(),
    blobId: v7(),
    checksum: 'd41d8cd98f00b204e9800998ecf8427e',
    planId: 'enterprise',
    bucketId: v7(),
    createdBy: v7(),
    expiresAt: '2099-01-01T00:00:00.000Z',
    seen: true,
  }
  const mutations = aimed.filter(
    ({ document, title }) => document.startsWith('mutation ($input') && !title.includes('{'),
  )

  it.each(mutations.map(row => [row.title, row] as const))('%s', async (_title, row) => {
    const own = row.consumes ? new World(t) : world
    const caller = await own.callerOf(rightfulOf(row), null)
    const things = await own.things()
    const variables = (await row.variables(things, caller)) as { input: object }
    const file = row.file && new File([''], things.name)
    const before = await everything(t)
    for (const [name, value] of Object.entries(internal)) {
      const inside = { input: { ...variables.input, [name]: value } }
      const beside = row.document.replace(
        '(input: $input',
        `(${name}: ${JSON.stringify(value)}, input: $input`,
      )
      const codes = [
        (await caller.graphql(row.document, inside, file)).code,
        (await caller.graphql(beside, variables, file)).code,
      ]
      expect([name, codes]).toEqual([name, ['INVALID_INPUT', 'INVALID_INPUT']])
    }
    expect(await everything(t)).toEqual(before)
    // Only the additional field was refused.
    expect((await caller.graphql(row.document, variables, file)).errors).toBeUndefined()
  })
})
