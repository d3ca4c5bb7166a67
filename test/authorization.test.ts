import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { schema } from '../schema/index.ts'
import { cell, expected, type Identity, identities, printed, type Row, rows } from './authorization.ts'
import { World } from './authorization-world.ts'
import { ROOMY, UNHURRIED } from './builders.ts'
import { callByGraphql, callByRest, documentOf, type Inputs } from './contract/call.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

let t: TestApp
let common: World

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  // What is deleted here needs nobody to tidy up.
  await t.app.worker.stop()
  common = new World(t)
})
afterAll(() => t.stop())

interface Outcome {
  graphql: string
  /** Absent where there is no route. */
  rest?: string
}

/** The cells of each row, as they were met. */
const met = new Map<Row, string[]>()

/** Whether somebody was let through, or the code of the refusal. Who waits for something is let through when it is told to them. */
async function outcomeByGraphql({ field }: Row, caller: Person, inputs: Inputs): Promise<string> {
  if (!field.startsWith('Subscription.')) return (await callByGraphql(caller, field, inputs)).code ?? 'yes'
  const { query, variables } = documentOf(field, inputs)
  const stream = await caller.subscribe(query, variables)
  await common.causeNews(field, caller, inputs)
  const { errors } = await stream.next()
  stream.close()
  await stream.ended
  return errors?.[0]?.extensions.code ?? 'yes'
}

/** What GraphQL and REST say to everybody. Things are made anew once somebody was let through to them. */
async function outcomesOf(row: Row): Promise<Map<Identity, Outcome>> {
  const outcomes = new Map<Identity, Outcome>()
  const newWorld = () => (row.consumes ? new World(t) : common)
  let world = newWorld()
  let inputs: Promise<Inputs> | undefined
  const aim = async (identity: Identity) => {
    const caller = await world.callerOf(identity, row.scope)
    inputs ??= world.inputsOf(row, caller)
    return { caller, inputs: await inputs }
  }
  const through = () => {
    world = newWorld()
    // What was read is still there.
    if (!row.field.startsWith('Query')) inputs = undefined
  }
  for (const identity of identities) {
    // Who leaves is one of the inputs.
    if (row.consumes) inputs = undefined
    const first = await aim(identity)
    const graphql = await outcomeByGraphql(row, first.caller, first.inputs)
    if (graphql === 'yes') through()
    outcomes.set(identity, { graphql })
    if (!row.rest) continue
    const second = await aim(identity)
    const { status, response } = await callByRest(second.caller, row.rest, second.inputs)
    if (status < 400) through()
    outcomes.set(identity, { graphql, rest: status < 400 ? 'yes' : `${status} ${response.code}` })
  }
  return outcomes
}

const byTitle = (outcomes: Map<Identity, Outcome>) =>
  Object.fromEntries(Array.from(outcomes, ([{ title }, outcome]) => [title, outcome]))

describe('Who may', () => {
  it.each(rows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = await outcomesOf(row)
      const wanted = new Map(
        identities.map((identity): [Identity, Outcome] => {
          const outcome = expected(row, identity)
          return [identity, { graphql: outcome, ...(row.rest ? { rest: cell(row, outcome) } : {}) }]
        }),
      )
      met.set(
        row,
        Array.from(outcomes.values(), ({ graphql, rest }) => rest ?? graphql),
      )
      expect(byTitle(outcomes)).toEqual(byTitle(wanted))
    },
    60_000,
  )

  it('is said of every field of the schema, and of every route', () => {
    const said = new Set(rows.map(row => row.field))
    const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(type =>
      Object.keys(type?.getFields() ?? {}).map(name => `${type}.${name}`),
    )
    expect(fields.filter(name => !said.has(name))).toEqual([])
  })

  it('is what authorization.md says', () => {
    const file = new URL('./authorization.md', import.meta.url)
    const table = printed(met)
    if (process.env.UPDATE_AUTHORIZATION) writeFileSync(file, table)
    expect(readFileSync(file, 'utf8')).toBe(table)
  })
})
