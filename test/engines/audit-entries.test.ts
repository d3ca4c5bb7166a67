import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SignInRefused } from '../../src/services/accounts/account.ts'
import { ask } from '../support/ask.ts'
import { COMPILED } from '../support/built-service.ts'
import { runWarm } from '../support/command-line.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
let olga: Person

beforeAll(async () => {
  database = await newDatabase()
  t = await startApp({
    DATABASE_URL: database.url,
    OPERATORS: 'olga@example.com',
    LOG_ADDRESSES: 'full',
    TRUST_PROXY: 'loopback',
    SIGN_UP: 'domains:example.com',
  })
  olga = await t.signIn('olga')
})
afterAll(async () => {
  await t?.stop()
  await database?.drop()
})

const TRAIL = `query ($filter: AuditFilter) { operator { auditTrail(filter: $filter, first: 1000) { nodes {
  kind via actorId operator { id } concerned { id } subjectId address agent
  details { plan name count refusal recipient provider limits { name value unlimited } } } } } }`

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const trail = async (filter: object): Promise<any[]> =>
  (await ask(olga, TRAIL, { filter })).operator.auditTrail.nodes

const admin = (...args: string[]) =>
  runWarm({
    program: resolve('src/admin.ts'),
    args,
    stdin: '',
    cwd: process.cwd(),
    env: { ...COMPILED, PATH: process.env.PATH ?? '', DATABASE_URL: database.url },
  })

const change = (field: string, input: object) => {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input!`
  return olga.graphql(`mutation ($input: ${type}) { ${field}(input: $input) { __typename } }`, {
    input,
  })
}

const nothing = { count: null, refusal: null, recipient: null, provider: null }
const bySession = { via: 'OPERATOR', actorId: null, concerned: null, subjectId: null }
const byCommand = { ...bySession, operator: null, address: null, agent: 'npm run admin' }
const files = (value: number | null, unlimited = false) => [{ name: 'MAX_FILES', value, unlimited }]

describe('The audit trail records changes of plans', () => {
  const kinds = ['CREATED', 'UPDATED', 'RETIRED', 'RESTORED', 'DELETED', 'MADE_DEFAULT'].map(
    kind => `PLAN_${kind}`,
  )
  const ofPlans = async () => (await trail({ kinds })).toReversed()

  it('by operators, with the changed values, but not refused changes or changes without effect', async () => {
    await change('operatorCreatePlan', {
      id: 'silver',
      name: 'Silver',
      limits: [{ name: 'MAX_FILES', value: 5 }],
    })
    await change('operatorUpdatePlan', {
      plan: 'silver',
      limits: [{ name: 'MAX_FILES', unlimited: true }],
    })
    await change('operatorUpdatePlan', { plan: 'silver', name: 'Silver 2' })
    await change('operatorRetirePlan', { plan: 'silver' })
    await change('operatorRetirePlan', { plan: 'silver' })
    await change('operatorRestorePlan', { plan: 'silver' })
    await change('operatorRestorePlan', { plan: 'silver' })
    await change('operatorSetDefaultPlan', { plan: 'silver' })
    await change('operatorSetDefaultPlan', { plan: 'silver' })
    await change('operatorSetDefaultPlan', { plan: 'free' })
    await change('operatorDeletePlan', { plan: 'silver' })
    expect((await change('operatorCreatePlan', { id: 'free', name: 'Again' })).code).toBe(
      'INVALID_INPUT',
    )
    expect((await change('operatorDeletePlan', { plan: 'free' })).code).toBe('PLAN_IN_USE')
    expect((await change('operatorUpdatePlan', { plan: 'none', name: 'x' })).code).toBe(
      'INVALID_INPUT',
    )
    const found = await ofPlans()
    const silver = { ...nothing, plan: 'silver', name: null, limits: null }
    expect(found.map(({ kind, details }) => [kind, details])).toEqual([
      ['PLAN_CREATED', { ...silver, name: 'Silver', limits: files(5) }],
      ['PLAN_UPDATED', { ...silver, limits: files(null, true) }],
      ['PLAN_UPDATED', { ...silver, name: 'Silver 2' }],
      ['PLAN_RETIRED', silver],
      ['PLAN_RESTORED', silver],
      ['PLAN_MADE_DEFAULT', silver],
      ['PLAN_MADE_DEFAULT', { ...silver, plan: 'free' }],
      ['PLAN_DELETED', { ...silver, name: 'Silver 2' }],
    ])
    for (const entry of found)
      expect(entry).toMatchObject({
        ...bySession,
        operator: { id: olga.userId },
        address: expect.any(String),
      })
  })

  it('by the command line of the service', async () => {
    const before = (await ofPlans()).length
    for (const args of [
      ['create-plan', 'gold', 'Gold', '--set', 'max_files=7'],
      ['change-plan', 'gold', '--name', 'Gold 2'],
      ['default-plan', 'gold'],
      ['default-plan', 'free'],
      ['retire-plan', 'gold'],
      ['restore-plan', 'gold'],
      ['delete-plan', 'gold'],
    ])
      expect([args, (await admin(...args)).code]).toEqual([args, 0])
    const found = (await ofPlans()).slice(before)
    const ends = [
      'CREATED',
      'UPDATED',
      'MADE_DEFAULT',
      'MADE_DEFAULT',
      'RETIRED',
      'RESTORED',
      'DELETED',
    ]
    expect(found.map(({ kind }) => kind)).toEqual(ends.map(end => `PLAN_${end}`))
    for (const entry of found) expect(entry).toMatchObject(byCommand)
    expect(found[0].details).toMatchObject({ plan: 'gold', name: 'Gold', limits: files(7) })
  })

  it('each once, when many change plans at once', async () => {
    const { plans } = t.app.services
    const before = (await ofPlans()).length
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => plans.create({ id: `p-${i}`, name: 'P', limits: [] })),
    )
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => plans.update(`p-${i}`, { name: 'Q', limits: [] })),
    )
    await Promise.all(Array.from({ length: 8 }, (_, i) => plans.remove(`p-${i}`)))
    expect(await ofPlans()).toHaveLength(before + 24)
  })
})

describe('The audit trail records changes of single limits', () => {
  it('of an account, in its log, visible to its owner', async () => {
    const bob = await t.signIn('bob')
    const account = `account:${bob.userId}`
    await change('operatorUpdateAccount', { account, limits: [{ name: 'MAX_FILES', value: 3 }] })
    await change('operatorUpdateAccount', { account, limits: [{ name: 'MAX_FILES' }] })
    await change('operatorUpdateAccount', { account, limits: [] })
    expect(
      (
        await change('operatorUpdateAccount', {
          account,
          limits: [{ name: 'MAX_FILES', value: -1 }],
        })
      ).code,
    ).toBeDefined()
    expect((await admin('set-limit', 'bob@example.com', 'max_files', 'unlimited')).code).toBe(0)
    const found = (await trail({ kinds: ['LIMITS_CHANGED'], about: account })).toReversed()
    expect(found.map(({ details }) => details.limits)).toEqual([
      files(3),
      files(null),
      files(null, true),
    ])
    expect(found[0]).toMatchObject({
      operator: { id: olga.userId },
      concerned: { id: bob.userId },
      via: 'OPERATOR',
    })
    expect(found[2]).toMatchObject({
      operator: null,
      agent: 'npm run admin',
      concerned: { id: bob.userId },
    })
    const { response } = await bob.rest('GET', '/api/user/events?limit=100')
    const own = response.events.filter(({ kind }: { kind: string }) => kind === 'limits.changed')
    expect(own.map((event: { details: { limits: object } }) => event.details.limits)).toEqual([
      [{ name: 'max_files', value: 3, unlimited: false }],
      [{ name: 'max_files', value: null, unlimited: false }],
      [{ name: 'max_files', value: null, unlimited: true }],
    ])
    expect(JSON.stringify(response)).not.toContain(olga.userId)
  })

  it('of a workspace, in its log, visible to its members', async () => {
    const carol = await t.signIn('carol')
    const { createWorkspace } = await ask(
      carol,
      'mutation { createWorkspace(input: { name: "Garden" }) { workspace { id } } }',
    )
    const { id } = createWorkspace.workspace
    await change('operatorSetWorkspaceLimits', {
      workspace: id,
      limits: [{ name: 'MAX_WORKSPACE_FILES', value: 4 }],
    })
    await change('operatorSetWorkspaceLimits', { workspace: id, limits: [] })
    expect((await admin('set-limit', id, 'max_files_workspace', 'default')).code).toBe(0)
    const found = (await trail({ kinds: ['LIMITS_CHANGED'], about: id })).toReversed()
    const limit = { name: 'MAX_WORKSPACE_FILES', unlimited: false }
    expect(found.map(({ details }) => details.limits)).toEqual([
      [{ ...limit, value: 4 }],
      [{ ...limit, value: null }],
    ])
    expect(found[0]).toMatchObject({
      subjectId: id,
      operator: { id: olga.userId },
      concerned: null,
    })
    const { response } = await carol.rest('GET', `/api/workspaces/${id}/events?limit=100`)
    expect(response.events.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(['workspace.created', 'limits.changed']),
    )
  })

  it('but not changes that failed', async () => {
    const dora = await t.signIn('dora')
    const account = `account:${dora.userId}`
    const limits = [{ name: 'MAX_FILES', value: 3 }]
    expect((await change('operatorUpdateAccount', { account, limits, plan: 'none' })).code).toBe(
      'INVALID_INPUT',
    )
    expect(await trail({ kinds: ['LIMITS_CHANGED', 'PLAN_CHANGED'], about: account })).toEqual([])
  })
})

it('The audit trail records retries of mails, with their number', async () => {
  await ask(olga, 'mutation { operatorRetryMails { count } }')
  expect((await admin('retry-mails')).code).toBe(0)
  const [second, first] = await trail({ kinds: ['MAILS_RETRIED'] })
  expect(first).toMatchObject({
    ...bySession,
    operator: { id: olga.userId },
    details: { count: 0 },
  })
  expect(second).toMatchObject({ ...byCommand, details: { count: 0 } })
})

describe('The audit trail records refused sign-ins', () => {
  const refused = (filter = {}) => trail({ kinds: ['SIGN_IN_REFUSED'], ...filter })
  /** A callback for a sign-in that this browser did not start. */
  const guess = (from: string) =>
    t.anonymous.rest('GET', '/auth/callback?state=x&code=y', {
      headers: { 'x-forwarded-for': from, 'user-agent': 'guesser/1.0' },
    })

  /** Records a user refused by SIGN_UP, as /auth/callback does. */
  async function strangerSignsIn(name: string): Promise<void> {
    const { accounts } = t.app.services
    const email = `${name}@elsewhere.test`
    const profile = { provider: 'hub', providerUserId: name, email, emailVerified: true }
    const names = { name, givenName: '', familyName: '', picture: '', locale: 'en' }
    const error = await accounts
      .signIn({ ...profile, ...names }, null)
      .catch((thrown: unknown) => thrown)
    if (!(error instanceof SignInRefused)) throw error
    const from = { address: '203.0.113.9', agent: 'Firefox' }
    await accounts.noteRefusal(error, {
      provider: 'hub',
      device: 'Firefox',
      network: '203.0.113.0/24',
      from,
    })
  }

  it('without an account: reason, network, and the masked address', async () => {
    await strangerSignsIn('mallory')
    const [found] = await refused()
    expect(found).toMatchObject({
      via: 'SYSTEM',
      actorId: null,
      operator: null,
      concerned: null,
      address: '203.0.113.9',
      details: {
        refusal: 'SIGN_UP_CLOSED',
        provider: 'hub',
        recipient: 'm…@elsewhere.test',
        count: 1,
      },
    })
  })

  it('only the first few from each network, followed by a count', async () => {
    for (let i = 0; i < 25; i++) expect((await guess('198.51.100.7')).status).toBe(302)
    const ofOne = await refused({ address: '198.51.100.7' })
    // The first ten, and the twentieth.
    expect(ofOne.map(({ details }) => details.count)).toEqual([20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect(ofOne[0]).toMatchObject({ agent: 'guesser/1.0', details: { refusal: 'INVALID_STATE' } })
    // Other networks are recorded up to a total of thirty. After that, each doubling of their
    // number is recorded.
    for (let i = 0; i < 100; i++) await guess(`10.0.${i}.7`)
    const all = (await refused()).filter(({ details }) => details.refusal === 'INVALID_STATE')
    expect(all.map(({ details }) => details.count).slice(0, 6)).toEqual([120, 60, 30, 29, 28, 27])
    expect(all).toHaveLength(18)
    // Many refusals for one reason do not hide those for another.
    await strangerSignsIn('eve')
    expect((await refused())[0].details).toMatchObject({ refusal: 'SIGN_UP_CLOSED', count: 2 })
  })
})
