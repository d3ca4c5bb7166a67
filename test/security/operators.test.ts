import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, privateKey, workspaceKey } from '../builders.ts'
import { type Person, startApp, type TestApp } from '../harness.ts'

let t: TestApp
/** Of the setting. */
let chief: Person
let alice: Person

beforeAll(async () => {
  t = await startApp({ OPERATORS: 'Chief@example.com, deputy@example.com' })
  chief = await t.signIn('chief')
  alice = await t.signIn('alice')
  await t.app.worker.stop()
})
afterAll(() => t?.stop())

const account = (who: Person, id: string) =>
  who.graphql<{ account: { account: Record<string, unknown>; sessionCount: number } }>(
    `query ($id: ID!) { account(id: $id) {
      account { id email emailVerified name planId status usedBytes fileCount maxTotalStorageBytes }
      identities { provider email } workspaces { name role } sessionCount apiKeyCount shareCount
    } }`,
    { id },
  )

const change = (who: Person, mutation: string, input: object) => {
  const type = mutation === 'setAccountPlan' ? 'SetAccountPlanInput' : 'AccountInput'
  const field = mutation.endsWith('Operator') ? 'userId' : 'id'
  return who.graphql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { ${field} } }`, { input })
}

const list = (who: Person, args: string) =>
  who.graphql<{
    accounts: {
      edges: { node: { email: string; usedBytes: number } }[]
      pageInfo: { hasNextPage: boolean; endCursor: string }
    }
  }>(`{ accounts(${args}) { edges { node { email usedBytes } } pageInfo { hasNextPage endCursor } } }`)

const everything = [
  '{ accounts { edges { node { id } } } }',
  '{ account(id: "ID") { account { id } } }',
  '{ plans { accountCount } }',
  '{ mailQueue { waiting } }',
  '{ operators { userId } }',
  'mutation { setAccountPlan(input: { userId: "ID", planId: "developer" }) { id } }',
  'mutation { suspendAccount(input: { userId: "ID" }) { id } }',
  'mutation { restoreAccount(input: { userId: "ID" }) { id } }',
  'mutation { retryMails { mails } }',
  'mutation { appointOperator(input: { userId: "ID" }) { userId } }',
  'mutation { dismissOperator(input: { userId: "ID" }) { userId } }',
]

const isOperator = async (who: Person) => (await who.graphql('{ plans { accountCount } }')).code ?? 'yes'

describe('Who is no operator', () => {
  it('is refused everything, and learns nothing of who has an account', async () => {
    const nowhere = '00000000-0000-4000-8000-000000000000'
    for (const query of everything) {
      const refusals = await Promise.all(
        [chief.userId, nowhere, 'no id'].map(async id => (await alice.graphql(query.replace('ID', id))).errors),
      )
      for (const errors of refusals) {
        expect(errors).toEqual([expect.objectContaining({ message: 'You may not do this.' })])
        expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN' })
      }
      expect((await t.anonymous.graphql(query.replace('ID', chief.userId))).code).toBe('UNAUTHENTICATED')
    }
    expect((await account(chief, alice.userId)).data?.account.account).toMatchObject({
      planId: 'free',
      status: 'active',
    })
  })

  it('is a key of an operator, whatever its scopes', async () => {
    const ofWorkspace = await workspaceKey(t, chief, await found(chief))
    for (const { caller } of [await privateKey(t, chief), ofWorkspace])
      for (const query of everything)
        expect((await caller.graphql(query.replace('ID', alice.userId))).code).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('is somebody whose address the setting has, and for which no provider vouches', async () => {
    const deputy = await t.signIn('deputy', { emailVerified: false })
    expect(await isOperator(deputy)).toBe('FORBIDDEN')
    await t.app.db.run('UPDATE user SET verified_email = email WHERE id = ?', [deputy.userId])
    expect(await isOperator(deputy)).toBe('yes')
    // At the next request, when the address is verified no more, or is another one.
    await t.app.db.run('UPDATE user SET verified_email = ? WHERE id = ?', ['other@example.com', deputy.userId])
    expect(await isOperator(deputy)).toBe('FORBIDDEN')
  })

  it('is everybody, where the setting is empty', async () => {
    const other = await startApp()
    try {
      const [person, unsure] = [await other.signIn('chief'), await other.signIn('unsure', { emailVerified: false })]
      expect([await isOperator(person), await isOperator(unsure)]).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    } finally {
      await other.stop()
    }
  })
})

describe('An operator', () => {
  it('sees accounts with their usage, page by page, and finds them by address or name', async () => {
    const names = ['page-a', 'page-b', 'page-c']
    for (const name of names) await t.signIn(name)
    await (await t.signIn('page-b')).upload('b.txt', '12345')
    const first = (await list(chief, 'search: "PAGE-", first: 2')).data?.accounts
    expect(first?.edges.map(({ node }) => [node.email, node.usedBytes])).toEqual([
      ['page-a@example.com', 0],
      ['page-b@example.com', 5],
    ])
    expect(first?.pageInfo.hasNextPage).toBe(true)
    const rest = (await list(chief, `search: "page-", first: 2, after: "${first?.pageInfo.endCursor}"`)).data?.accounts
    expect(rest?.edges.map(({ node }) => node.email)).toEqual(['page-c@example.com'])
    expect(rest?.pageInfo.hasNextPage).toBe(false)
    // No patterns, and no end of the statement.
    for (const search of ['page_a', '%', "' OR 1=1 --"])
      expect((await list(chief, `search: ${JSON.stringify(search)}`)).data?.accounts.edges).toEqual([])
    expect((await list(chief, `search: "${'x'.repeat(321)}"`)).code).toBe('INVALID_INPUT')
    expect((await list(chief, 'first: 1001')).code).toBe('INVALID_INPUT')
    expect((await list(chief, 'after: "x"')).code).toBe('INVALID_INPUT')
  })

  it('sees one account: what it stores, how it signs in, and where it is a member', async () => {
    const bob = await t.signIn('bob')
    await bob.upload('a.txt', '123')
    await found(bob, 'Orchard')
    await privateKey(t, bob)
    const { data } = await account(chief, bob.userId)
    expect(data?.account).toEqual({
      account: {
        id: bob.userId,
        email: bob.email,
        emailVerified: true,
        name: 'bob',
        planId: 'free',
        status: 'active',
        usedBytes: 3,
        fileCount: 1,
        maxTotalStorageBytes: 5 * 1024 ** 3,
      },
      identities: [{ provider: 'test', email: bob.email }],
      workspaces: [{ name: 'Orchard', role: 'owner' }],
      sessionCount: 1,
      apiKeyCount: 1,
      shareCount: 0,
    })
    // By an id only: an address may be claimed by several.
    for (const id of [bob.email, '', 'x', '00000000-0000-4000-8000-000000000000'])
      expect((await account(chief, id)).code).toBe('USER_NOT_FOUND')
  })

  it('gives plans', async () => {
    const carol = await t.signIn('carol')
    expect(
      (await change(chief, 'setAccountPlan', { userId: carol.userId, planId: 'developer' })).errors,
    ).toBeUndefined()
    expect((await carol.rest('GET', '/api/user/data')).response.user_data.plan_id).toBe('developer')
    const unknown = await change(chief, 'setAccountPlan', { userId: carol.userId, planId: 'gold' })
    expect(unknown.errors?.[0]?.extensions).toEqual({ code: 'INVALID_INPUT', field: 'plan_id' })
    const { data } = await chief.graphql<{ plans: { plan: { id: string }; accountCount: number }[] }>(
      '{ plans { plan { id maxFiles } accountCount } }',
    )
    expect(data?.plans.map(({ plan }) => plan.id)).toEqual(['free', 'developer', 'enterprise'])
    expect(data?.plans.find(({ plan }) => plan.id === 'developer')?.accountCount).toBe(1)
  })

  it('suspends and restores: sessions end, keys rest', async () => {
    const dora = await t.signIn('dora')
    const { caller } = await privateKey(t, dora)
    const reads = async () => [
      (await dora.rest('GET', '/api/user/data')).status,
      (await caller.rest('GET', '/api/user/data')).status,
    ]
    expect(await reads()).toEqual([200, 200])
    expect((await change(chief, 'suspendAccount', { userId: dora.userId.toUpperCase() })).errors).toBeUndefined()
    expect(await reads()).toEqual([401, 401])
    expect((await account(chief, dora.userId)).data?.account).toMatchObject({
      account: { status: 'suspended' },
      sessionCount: 0,
    })
    await change(chief, 'restoreAccount', { userId: dora.userId })
    expect(await reads()).toEqual([401, 200])
    for (const mutation of ['suspendAccount', 'restoreAccount', 'appointOperator', 'dismissOperator'])
      for (const userId of ['x', alice.email, '00000000-0000-4000-8000-000000000000'])
        expect((await change(chief, mutation, { userId })).code).toBe('USER_NOT_FOUND')
  })

  it('sees what waits to be sent, and has what was given up sent once more', async () => {
    const { db } = t.app
    await db.run('DELETE FROM outbox')
    const queue = async () =>
      (await chief.graphql('{ mailQueue { waiting retrying givenUp oldestAt } }')).data?.mailQueue
    expect(await queue()).toEqual({ waiting: 0, retrying: 0, givenUp: 0, oldestAt: null })
    const rows = [
      ['00000000-0000-4000-8000-000000000001', 0, 5_000_000_000_000],
      ['00000000-0000-4000-8000-000000000002', 3, 5_000_000_000_000],
      ['00000000-0000-4000-8000-000000000003', 9, Number.MAX_SAFE_INTEGER],
    ] as const
    for (const [id, attempts, due] of rows)
      await db.run(
        "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, 'mail', '{}', ?, ?, '', ?)",
        [id, attempts, due, 1_700_000_000_000],
      )
    expect(await queue()).toEqual({ waiting: 1, retrying: 1, givenUp: 1, oldestAt: '2023-11-14T22:13:20.000Z' })
    expect((await chief.graphql('mutation { retryMails { mails } }')).data).toEqual({ retryMails: { mails: 1 } })
    expect(await queue()).toMatchObject({ waiting: 2, retrying: 1, givenUp: 0 })
    await db.run('DELETE FROM outbox')
  })
})

describe('Appointing operators', () => {
  it('gives the right at once and takes it at once, and only the appointed can be dismissed', async () => {
    const erin = await t.signIn('erin')
    expect(await isOperator(erin)).toBe('FORBIDDEN')
    for (let times = 0; times < 2; times++)
      expect((await change(chief, 'appointOperator', { userId: erin.userId })).data).toEqual({
        appointOperator: { userId: erin.userId },
      })
    expect(await isOperator(erin)).toBe('yes')
    expect((await (await privateKey(t, erin)).caller.graphql('{ plans { accountCount } }')).code).toBe(
      'KEY_OUT_OF_BOUNDS',
    )
    const { data } = await erin.graphql<{ operators: object[] }>('{ operators { userId bySetting appointedBy } }')
    expect(data?.operators).toEqual([
      { userId: chief.userId, bySetting: true, appointedBy: null },
      { userId: erin.userId, bySetting: false, appointedBy: chief.userId },
    ])
    for (const mutation of ['dismissOperator', 'suspendAccount']) {
      const refused = await change(erin, mutation, { userId: chief.userId })
      expect([refused.code, refused.errors?.[0]?.message]).toEqual(['FORBIDDEN', expect.stringContaining('OPERATORS')])
    }
    expect(await isOperator(chief)).toBe('yes')
    expect((await change(erin, 'suspendAccount', { userId: erin.userId })).code).toBe('FORBIDDEN')
    expect((await change(chief, 'dismissOperator', { userId: erin.userId })).errors).toBeUndefined()
    expect(await isOperator(erin)).toBe('FORBIDDEN')
    expect((await change(chief, 'dismissOperator', { userId: erin.userId })).code).toBe('USER_NOT_FOUND')
  })

  it('is done once by two at once', async () => {
    const frank = await t.signIn('frank')
    const both = await Promise.all([1, 2].map(() => change(chief, 'appointOperator', { userId: frank.userId })))
    expect(both.map(({ errors }) => errors)).toEqual([undefined, undefined])
    const ended = await Promise.all([1, 2].map(() => change(chief, 'dismissOperator', { userId: frank.userId })))
    expect(ended.map(({ code }) => code ?? 'yes').sort()).toEqual(['USER_NOT_FOUND', 'yes'])
    expect(await isOperator(frank)).toBe('FORBIDDEN')
  })

  it('takes no suspended account, and ends with the account', async () => {
    const gina = await t.signIn('gina')
    await change(chief, 'suspendAccount', { userId: gina.userId })
    expect((await change(chief, 'appointOperator', { userId: gina.userId })).code).toBe('FORBIDDEN')
    const hugo = await t.signIn('hugo')
    await change(chief, 'appointOperator', { userId: hugo.userId })
    await hugo.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
    expect(await t.app.db.rows('SELECT user_id FROM operator WHERE user_id = ?', [hugo.userId])).toEqual([])
    expect(await isOperator(await t.signIn('hugo'))).toBe('FORBIDDEN')
  })
})

it('What operators do is in the log, by ids only', async () => {
  const ivan = await t.signIn('ivan')
  const { userId } = ivan
  const before = t.logs().length
  await change(chief, 'setAccountPlan', { userId, planId: 'developer' })
  for (const mutation of ['appointOperator', 'dismissOperator', 'suspendAccount', 'restoreAccount'])
    await change(chief, mutation, { userId })
  const lines = t
    .logs()
    .slice(before)
    .split('\n')
    .filter(line => line.includes('"event"'))
    .map(line => JSON.parse(line))
  expect(lines.map(({ event, level }) => [event, level])).toEqual([
    ['plan_changed', 30],
    ['operator_appointed', 40],
    ['operator_dismissed', 40],
    ['account_suspended', 40],
    ['account_restored', 40],
  ])
  for (const line of lines) {
    expect(line).toMatchObject({
      user_id: chief.userId,
      session_id: expect.any(String),
      request_id: expect.any(String),
    })
    expect(line.subject.user_id).toBe(userId)
    expect(JSON.stringify(line)).not.toMatch(/@|ivan/)
  }
})
