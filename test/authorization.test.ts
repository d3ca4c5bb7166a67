import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type DocumentNode, isObjectType, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { schema } from '../schema/index.ts'
import { cell, expected, type Identity, identities, printed, type Row, type Rule, rows } from './authorization.ts'
import { type GraphRow, graphRows } from './authorization-graph.ts'
import { World } from './authorization-world.ts'
import { ROOMY, UNHURRIED } from './builders.ts'
import { callByRest } from './contract/call.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

let t: TestApp
let common: World

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, PREVIEWS: 'true' })
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  // What is deleted here needs no one to tidy up.
  await t.app.worker.stop()
  common = new World(t)
})
afterAll(() => t.stop())

/** The cells of each row, as they were met. */
const met = { REST: new Map<Rule, string[]>(), GraphQL: new Map<Rule, string[]>() }

interface Call {
  outcome: string
  /** Something has come of it, so that it needs other things the next time. */
  done: boolean
}

/**
 * What everyone is told.
 * @param aim makes what the row is aimed at
 */
async function outcomesOf<Aim>(
  rule: Rule,
  aim: (world: World, caller: Person) => Promise<Aim>,
  call: (world: World, caller: Person, aim: Aim) => Promise<Call>,
): Promise<Map<Identity, string>> {
  const outcomes = new Map<Identity, string>()
  const newWorld = () => (rule.consumes ? new World(t) : common)
  let world = newWorld()
  let aimed: Promise<Aim> | undefined
  for (const identity of identities) {
    const caller = await world.callerOf(identity, rule.scope ?? rule.under?.scope ?? null)
    // Who leaves is a part of the aim.
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
      // What was read is still there.
      if (status < 400) return { outcome: 'yes', done: !row.field.startsWith('Query') }
      return { outcome: `${status} ${response.code}`, done: false }
    },
  )

/** What is at a path of an answer. */
const valueAt = (data: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], data)

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

/** Whoever waits for something is let through when they are told of it. */
async function firstEvent(world: World, { document, at }: GraphRow, caller: Person, variables: object) {
  const stream = await caller.subscribe(document, variables)
  await world.causeNews(at, caller, variables)
  const event = await stream.next()
  stream.close()
  await stream.ended
  return event
}

const byTitle = (cellOf: (identity: Identity) => string | undefined) =>
  Object.fromEntries(identities.map(identity => [identity.title, cellOf(identity)]))

/**
 * The fields that have a rule of their own: as `Type.field`. An interface resolves nothing: its fields count as those
 * of the types that implement it.
 */
const ruled = new Set(
  Object.values(schema.getTypeMap()).flatMap(type =>
    isObjectType(type)
      ? Object.values(type.getFields())
          .filter(({ extensions: { pothosOptions } }) => {
            const { authScopes, check } = (pothosOptions ?? {}) as { authScopes?: object; check?: unknown }
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

describe('Who may by REST', () => {
  it.each(rows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await byRest(row)
      met.REST.set(row, Array.from(outcomes.values()))
      expect(byTitle(identity => outcomes.get(identity))).toEqual(
        byTitle(identity => cell(row, expected(row, identity))),
      )
    },
    60_000,
  )
})

describe('Who may by GraphQL', () => {
  it.each(graphRows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await byGraphql(row)
      met.GraphQL.set(row, Array.from(outcomes.values()))
      expect(byTitle(identity => outcomes.get(identity))).toEqual(byTitle(identity => expected(row, identity)))
    },
    60_000,
  )

  it('is asked of every field that has a rule of its own, and every field of the root has one', () => {
    const asked = new Set(graphRows.flatMap(({ document }) => fieldsOf(parse(document))))
    expect([...ruled].filter(name => !asked.has(name))).toEqual([])
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(type =>
      Object.keys(type?.getFields() ?? {}).map(name => `${type}.${name}`),
    )
    expect(roots.filter(name => !ruled.has(name))).toEqual([])
  })
})

it('Who may is what authorization.md says', () => {
  const file = new URL('./authorization.md', import.meta.url)
  const table = printed(met)
  if (process.env.UPDATE) writeFileSync(file, table)
  expect(readFileSync(file, 'utf8')).toBe(table)
})
