import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { schema } from '../../schema/index.ts'
import { codeOf } from '../support/ask.ts'
import { graphRows } from '../support/authorization-graph.ts'
import { World } from '../support/authorization-world.ts'
import { ROOMY } from '../support/builders.ts'
import { wholeGuessWindow } from '../support/guess-window.ts'
import { startApp, type TestApp } from '../support/harness.ts'

/** Allows every row of graphRows to prepare its variables. */
const MAX = 5

let t: TestApp

beforeAll(async () => {
  const rates = 'API_KEYS SHARING WORKSPACES INVITES LINKS FOLDERS NOTES WEBHOOKS'.split(' ')
  t = await startApp(Object.fromEntries(rates.map(name => [`RATE_${name}`, `${MAX}`])))
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

const limited = Object.values(schema.getMutationType()?.getFields() ?? {})
  .filter(({ extensions: { fails } }) => fails?.includes('RATE_LIMITED'))
  .map(({ name }) => name)

describe('The rate limit of a mutation', () => {
  it.each(limited)('%s', async name => {
    const row = graphRows.find(({ at }) => at === name)
    if (!row) throw new Error(`No row of graphRows calls ${name}.`)
    const things = await new World(t).things()
    const variables = await row.variables(things, things.owner)
    const codes: (string | undefined)[] = []
    while (codes.length <= MAX && codes.at(-1) !== 'RATE_LIMITED')
      codes.push(await codeOf(things.owner, row.document, variables))
    expect(codes[0]).toBeUndefined()
    expect(codes.at(-1)).toBe('RATE_LIMITED')
  })
})

describe('Guesses of the codes that programs show', () => {
  it.each(['approveDeviceLogin', 'refuseDeviceLogin'])('%s', async name => {
    await wholeGuessWindow()
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
    const document = `mutation ($input: ${type}!) { ${name}(input: $input) { viewer { id } } }`
    const codes: (string | undefined)[] = []
    for (let n = 0; n < 11; n++) {
      const person = await t.signIn(`${name}-${n}`)
      codes.push(await codeOf(person, document, { input: { userCode: `BCDF-GHJ${n}` } }))
    }
    expect(codes.at(-1)).toBe('TOO_MANY_ATTEMPTS')
  })
})
