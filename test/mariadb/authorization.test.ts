import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type DocumentNode, isObjectType, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { schema } from '../../schema/index.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { localCoordination } from '../../src/coordination/local.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { callByRest } from '../contract/call.ts'
import {
  cell,
  davGroups,
  expected,
  type Identity,
  identities,
  identityGroups,
  printed,
  type Row,
  type Rule,
  rows,
} from '../support/authorization.ts'
import {
  aimAt,
  type DavRow,
  davCell,
  davRows,
  expectedByDav,
} from '../support/authorization-dav.ts'
import { type GraphRow, graphRows } from '../support/authorization-graph.ts'
import { World } from '../support/authorization-world.ts'
import { expel, join, ROOMY, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let common: World

beforeAll(async () => {
  // Without this, hundreds of expired credentials would count as guesses of keys, which are slowed
  // down: test/engines/dav.test.ts.
  const coordination = localCoordination()
  const add: Coordination['add'] = async (key, ...rest) =>
    key.startsWith('satchel:webdav') ? 0 : coordination.add(key, ...rest)
  const instance = { coordination: { ...coordination, add }, history: createRecorder() }
  t = await startApp({ ...UNHURRIED, PREVIEWS: 'true' }, { instance })
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  // Nothing that is deleted here needs the worker.
  await t.app.worker.stop()
  common = new World(t)
})
afterAll(() => t.stop())

/** The observed cells of each row. */
const met = {
  REST: { groups: identityGroups, outcomes: new Map<Rule, string[]>() },
  GraphQL: { groups: identityGroups, outcomes: new Map<Rule, string[]>() },
  WebDAV: { groups: davGroups, outcomes: new Map<Rule, string[]>() },
}

interface Call {
  outcome: string
  /** The request had an effect, so the next request needs new targets. */
  done: boolean
}

/**
 * The outcome of a row for every caller.
 * @param aim creates the targets of the row
 */
async function outcomesOf<Aim>(
  rule: Rule,
  aim: (world: World, caller: Person) => Promise<Aim>,
  call: (world: World, caller: Person, aim: Aim) => Promise<Call>,
  callers = identities,
): Promise<Map<Identity, string>> {
  const outcomes = new Map<Identity, string>()
  const newWorld = () => (rule.consumes ? new World(t) : common)
  let world = newWorld()
  let aimed: Promise<Aim> | undefined
  for (const identity of callers) {
    const caller = await world.callerOf(identity, rule.scope ?? rule.under?.scope ?? null)
    // The caller who leaves is part of the target.
    if (rule.consumes) aimed = undefined
    aimed ??= aim(world, caller)
    const { outcome, done } = await call(world, caller, await aimed)
    outcomes.set(identity, outcome)
    if (!done) continue
    world = newWorld()
    aimed = undefined
  }
  return outcomes
}

const byRest = (row: Row) =>
  outcomesOf(
    row,
    (world, caller) => world.inputsOf(row, caller),
    async (_world, caller, inputs) => {
      const { status, response } = await callByRest(caller, row.rest, inputs)
      // A read changes nothing.
      if (status < 400) return { outcome: 'yes', done: !row.field.startsWith('Query') }
      return { outcome: `${status} ${response.code}`, done: false }
    },
  )

/** The value at a path of a response. */
const valueAt = (data: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
      data,
    )

const byGraphql = (row: GraphRow) =>
  outcomesOf(
    row,
    async (world, caller) => {
      const things = await world.things()
      return { variables: await row.variables(things, caller), name: things.name }
    },
    async (world, caller, { variables, name }) => {
      const { data, errors } = row.document.startsWith('subscription')
        ? await firstEvent(world, row, caller, variables)
        : await caller.graphql(row.document, variables, row.file && new File([''], name))
      const code = errors?.[0]?.extensions.code
      const [root = ''] = row.at.split('.')
      const done = row.document.startsWith('mutation') && (valueAt(data, root) ?? null) !== null
      return { outcome: code ?? ((valueAt(data, row.at) ?? null) === null ? 'null' : 'yes'), done }
    },
  )

const davIdentities = Object.values(davGroups).flat()

const byDav = (row: DavRow) =>
  outcomesOf(
    row,
    async world => aimAt(row, await world.things()),
    async (_world, caller, aim) => {
      const { path = aim.path, ...request } = await row.request(aim, caller)
      const { status, text } = await caller.rest(row.method, path, request)
      if (status < 400)
        return { outcome: 'yes', done: !['GET', 'HEAD', 'PROPFIND'].includes(row.method) }
      const [, code] = /<S:code>(\w+)</.exec(text) ?? []
      return { outcome: code ? `${status} ${code}` : String(status), done: false }
    },
    davIdentities,
  )

/** The first event that reaches a subscriber proves the permission. */
async function firstEvent(
  world: World,
  { document, at }: GraphRow,
  caller: Person,
  variables: object,
) {
  const stream = await caller.subscribe(document, variables)
  await world.causeNews(at, caller, variables)
  const event = await stream.next()
  stream.close()
  await stream.ended
  return event
}

const byTitle = (cellOf: (identity: Identity) => string | undefined, columns = identities) =>
  Object.fromEntries(columns.map(identity => [identity.title, cellOf(identity)]))

/**
 * The fields that have their own rules, as `Type.field`. Fields of an interface count as fields of
 * the types that implement it.
 */
const ruled = new Set(
  Object.values(schema.getTypeMap()).flatMap(type =>
    isObjectType(type)
      ? Object.values(type.getFields())
          .filter(({ extensions: { pothosOptions } }) => {
            const { authScopes, check } = (pothosOptions ?? {}) as {
              authScopes?: object
              check?: unknown
            }
            return authScopes ?? check
          })
          .map(field => `${type.name}.${field.name}`)
      : [],
  ),
)

function fieldsOf(document: DocumentNode): string[] {
  const info = new TypeInfo(schema)
  const fields: string[] = []
  const enter = () => {
    fields.push(`${info.getParentType()?.name}.${info.getFieldDef()?.name}`)
  }
  visit(document, visitWithTypeInfo(info, { Field: { enter } }))
  return fields
}

describe('Permissions in REST', () => {
  it.each(rows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await byRest(row)
      met.REST.outcomes.set(row, Array.from(outcomes.values()))
      expect(byTitle(identity => outcomes.get(identity))).toEqual(
        byTitle(identity => cell(row, expected(row, identity))),
      )
    },
    60_000,
  )
})

describe('Permissions in GraphQL', () => {
  it.each(graphRows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await byGraphql(row)
      met.GraphQL.outcomes.set(row, Array.from(outcomes.values()))
      expect(byTitle(identity => outcomes.get(identity))).toEqual(
        byTitle(identity => expected(row, identity)),
      )
    },
    60_000,
  )

  it('are tested for every field with its own rule and every root field', () => {
    const asked = new Set(graphRows.flatMap(({ document }) => fieldsOf(parse(document))))
    expect([...ruled].filter(name => !asked.has(name))).toEqual([])
    const roots = [
      schema.getQueryType(),
      schema.getMutationType(),
      schema.getSubscriptionType(),
    ].flatMap(type => Object.keys(type?.getFields() ?? {}).map(name => `${type}.${name}`))
    expect(roots.filter(name => !ruled.has(name))).toEqual([])
  })
})

describe('Permissions in WebDAV', () => {
  it.each(davRows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await byDav(row)
      met.WebDAV.outcomes.set(row, Array.from(outcomes.values()))
      expect(byTitle(identity => outcomes.get(identity), davIdentities)).toEqual(
        byTitle(identity => davCell(row, expectedByDav(row, identity)), davIdentities),
      )
    },
    60_000,
  )

  it('are tested for every method', async () => {
    const allowed =
      (await t.anonymous.rest('OPTIONS', '/dav/')).headers.get('allow')?.split(', ') ?? []
    expect(new Set(['OPTIONS', ...davRows.map(({ method }) => method)])).toEqual(new Set(allowed))
  })

  /** The statuses of one request per method, each with its own targets. */
  async function statusesOf(
    place: DavRow['place'],
    caller: Person,
    who = caller,
  ): Promise<Record<string, number>> {
    const once = davRows.filter(
      row => row.place === place && row.title.startsWith(`${row.method} /`),
    )
    const statuses: Record<string, number> = {}
    for (const row of once) {
      const aim = await aimAt(row, await common.things())
      const { path = aim.path, ...request } = await row.request(aim, who)
      statuses[row.method] = (await caller.rest(row.method, path, request)).status
    }
    return statuses
  }
  const refusedIn = (statuses: Record<string, number>, status: number) =>
    Object.keys(statuses).filter(method => statuses[method] === status)
  const reading = ['GET', 'HEAD', 'PROPFIND']
  const all = davRows.filter(({ place }) => place === 'files').map(({ method }) => method)
  const writing = [...new Set(all)].filter(method => !reading.includes(method))

  it('Permissions change with the next request when a role, a membership or a key changes', async () => {
    const { owner, workspaceId } = await common.things()
    const admin = await t.signIn('falling-admin')
    await join(t, workspaceId, admin, 'admin')
    const { id, caller } = await workspaceKey(t, admin, workspaceId)
    const statuses = () => statusesOf('workspace', caller, admin)
    expect(Object.values(await statuses()).filter(status => status >= 300)).toEqual([])
    await join(t, workspaceId, admin, 'viewer')
    expect(refusedIn(await statuses(), 403)).toEqual(writing)
    await join(t, workspaceId, admin, 'editor')
    expect(Object.values(await statuses()).filter(status => status >= 300)).toEqual([])
    await expel(t, workspaceId, admin)
    // A workspace that the caller cannot see has no folder to write to either.
    for (const status of Object.values(await statuses())) expect([404, 409]).toContain(status)
    await join(t, workspaceId, admin, 'admin')
    await owner.rest('DELETE', `/api/api_keys/${workspaceId}/delete`, { json: { api_key_id: id } })
    expect(refusedIn(await statuses(), 401)).toEqual([...reading, ...writing])
  })
})

it('The permissions match authorization.md', () => {
  const file = new URL('./authorization.md', import.meta.url)
  const table = printed(met)
  if (process.env.UPDATE) writeFileSync(file, table)
  expect(readFileSync(file, 'utf8')).toBe(table)
})
