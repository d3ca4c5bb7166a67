import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, privateKey, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let t: TestApp
/** The operator listed in the setting. */
let chief: Person
let alice: Person

beforeAll(async () => {
  t = await startApp({ OPERATORS: 'Chief@example.com, deputy@example.com' })
  chief = await t.signIn('chief')
  alice = await t.signIn('alice')
  await t.app.worker.stop()
})
afterAll(() => t?.stop())

/** The id of a person's account. */
const accountOf = ({ userId }: { userId: string }) => `account:${userId}`

const ACCOUNT = `query ($id: ID!) { node(id: $id) { ... on Account {
  id person { id } email emailVerified name status plan { id } usage { usedBytes fileCount maxBytes }
  identities { provider email } workspaces { name role } sessionCount apiKeyCount shareCount operator { bySetting }
} } }`
const account = async (who: Person, of: { userId: string }) =>
  (await ask(who, ACCOUNT, { id: accountOf(of) })).node

type Change = 'operatorUpdateAccount' | 'operatorAppoint' | 'operatorDismiss'

const change = (who: Person, mutation: Change, id: string, input: object = {}) => {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  return who.graphql(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { account { id status plan { id } } } }`,
    {
      input: { account: id, ...input },
    },
  )
}

const list = async (who: Person, args: string) =>
  (
    await ask(
      who,
      `{ operator { accounts(${args}) { nodes { email usage { usedBytes } } pageInfo { hasNextPage endCursor } } } }`,
    )
  ).operator.accounts

const everything = [
  '{ operator { accounts { nodes { id } } } }',
  '{ operator { plans { accountCount } } }',
  '{ operator { mailQueue { waiting } } }',
  '{ operator { operators { account { id } } } }',
  '{ operator { storageReport { usedBytes largestAccounts { id } largestWorkspaces { name } } } }',
  'mutation { operatorUpdateAccount(input: { account: "ID", plan: "developer" }) { account { id } } }',
  'mutation { operatorUpdateAccount(input: { account: "ID", status: SUSPENDED }) { account { id } } }',
  'mutation { operatorUpdateAccount(input: { account: "ID", status: ACTIVE }) { account { id } } }',
  'mutation { operatorUpdateAccount(input: { account: "ID", limits: [{ name: MAX_FILES, unlimited: true }] }) { account { id } } }',
  'mutation { operatorCreatePlan(input: { id: "gold", name: "Gold" }) { plan { accountCount } } }',
  'mutation { operatorUpdatePlan(input: { plan: "free", name: "Mine" }) { plan { accountCount } } }',
  'mutation { operatorRetirePlan(input: { plan: "developer" }) { plan { accountCount } } }',
  'mutation { operatorRestorePlan(input: { plan: "developer" }) { plan { accountCount } } }',
  'mutation { operatorSetDefaultPlan(input: { plan: "developer" }) { plan { accountCount } } }',
  'mutation { operatorDeletePlan(input: { plan: "enterprise" }) { deletedId } }',
  'mutation { operatorSetWorkspaceLimits(input: { workspace: "ID", limits: [] }) { workspaceId } }',
  'mutation { operatorRetryMails { count } }',
  'mutation { operatorAppoint(input: { account: "ID" }) { account { id } } }',
  'mutation { operatorDismiss(input: { account: "ID" }) { account { id } } }',
]

const isOperator = async (who: Person) =>
  (await who.graphql('{ operator { plans { accountCount } } }')).code ?? 'yes'

describe('A caller who is not an operator', () => {
  it('is refused everything, and learns nothing about accounts', async () => {
    const nowhere = '00000000-0000-4000-8000-000000000000'
    for (const query of everything) {
      const refusals = await Promise.all(
        [accountOf(chief), accountOf({ userId: nowhere }), chief.userId, 'no id'].map(
          async id => (await alice.graphql(query.replace('ID', id))).errors,
        ),
      )
      for (const errors of refusals) {
        expect(errors).toEqual([expect.objectContaining({ message: 'You may not do this.' })])
        expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN' })
      }
      expect((await t.anonymous.graphql(query.replace('ID', accountOf(chief)))).code).toBe(
        'UNAUTHENTICATED',
      )
    }
    for (const { userId } of [chief, alice, { userId: nowhere }])
      expect(await account(alice, { userId })).toBeNull()
    expect(await codeOf(t.anonymous, ACCOUNT, { id: accountOf(chief) })).toBe('UNAUTHENTICATED')
    expect(await account(chief, alice)).toMatchObject({ plan: { id: 'free' }, status: 'ACTIVE' })
  })

  it('includes an operator’s key, whatever its scopes', async () => {
    const ofWorkspace = await workspaceKey(t, chief, await found(chief))
    for (const { caller } of [await privateKey(t, chief), ofWorkspace]) {
      for (const query of everything)
        expect(await codeOf(caller, query.replace('ID', accountOf(alice)))).toBe(
          'KEY_OUT_OF_BOUNDS',
        )
      expect(await account(caller, alice)).toBeNull()
    }
  })

  it('includes a user whose listed address is unverified', async () => {
    const deputy = await t.signIn('deputy', { emailVerified: false })
    expect(await isOperator(deputy)).toBe('FORBIDDEN')
    await t.app.db.run('UPDATE user SET verified_email = email WHERE id = ?', [deputy.userId])
    expect(await isOperator(deputy)).toBe('yes')
    // From the next request after the address is unverified or changed.
    await t.app.db.run('UPDATE user SET verified_email = ? WHERE id = ?', [
      'other@example.com',
      deputy.userId,
    ])
    expect(await isOperator(deputy)).toBe('FORBIDDEN')
  })

  it('includes everybody if the setting is empty', async () => {
    const other = await startApp()
    try {
      const [person, unsure] = [
        await other.signIn('chief'),
        await other.signIn('unsure', { emailVerified: false }),
      ]
      expect([await isOperator(person), await isOperator(unsure)]).toEqual([
        'FORBIDDEN',
        'FORBIDDEN',
      ])
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
    const first = await list(chief, 'search: "PAGE-", first: 2')
    expect(first.nodes).toEqual([
      { email: 'page-a@example.com', usage: { usedBytes: 0 } },
      { email: 'page-b@example.com', usage: { usedBytes: 5 } },
    ])
    expect(first.pageInfo.hasNextPage).toBe(true)
    const rest = await list(
      chief,
      `search: "page-", first: 2, after: "${first.pageInfo.endCursor}"`,
    )
    expect(rest.nodes.map(({ email }: { email: string }) => email)).toEqual(['page-c@example.com'])
    expect(rest.pageInfo.hasNextPage).toBe(false)
    // The search treats patterns and quotes as text.
    for (const search of ['page_a', '%', "' OR 1=1 --"])
      expect((await list(chief, `search: ${JSON.stringify(search)}`)).nodes).toEqual([])
    for (const wrong of [`search: "${'x'.repeat(321)}"`, 'first: 1001', 'after: "x"'])
      expect(await codeOf(chief, `{ operator { accounts(${wrong}) { nodes { id } } } }`)).toBe(
        'INVALID_INPUT',
      )
  })

  it('sees the storage, the identities and the memberships of an account', async () => {
    const bob = await t.signIn('bob')
    await bob.upload('a.txt', '123')
    await found(bob, 'Orchard')
    await privateKey(t, bob)
    expect(await account(chief, bob)).toEqual({
      id: accountOf(bob),
      person: { id: bob.userId },
      email: bob.email,
      emailVerified: true,
      name: 'bob',
      status: 'ACTIVE',
      plan: { id: 'free' },
      usage: { usedBytes: 3, fileCount: 1, maxBytes: 5 * 1024 ** 3 },
      identities: [{ provider: 'test', email: bob.email }],
      workspaces: [{ name: 'Orchard', role: 'OWNER' }],
      sessionCount: 1,
      apiKeyCount: 1,
      shareCount: 0,
      operator: null,
    })
    expect((await account(chief, chief)).operator).toEqual({ bySetting: true })
    // Only by id, because several accounts may claim an address.
    for (const userId of [bob.email, '', 'x', '00000000-0000-4000-8000-000000000000'])
      expect(await account(chief, { userId })).toBeNull()
  })

  it('assigns plans', async () => {
    const carol = await t.signIn('carol')
    expect(
      (await change(chief, 'operatorUpdateAccount', accountOf(carol), { plan: 'developer' })).data,
    ).toEqual({
      operatorUpdateAccount: {
        account: { id: accountOf(carol), status: 'ACTIVE', plan: { id: 'developer' } },
      },
    })
    expect((await carol.rest('GET', '/api/user/data')).response.user_data.plan_id).toBe('developer')
    const unknown = await change(chief, 'operatorUpdateAccount', accountOf(carol), { plan: 'gold' })
    expect(unknown.code).toBe('INVALID_INPUT')
    const { plans } = (
      await ask(chief, '{ operator { plans { plan { id maxFiles } accountCount } } }')
    ).operator
    expect(plans.map(({ plan }: { plan: { id: string } }) => plan.id)).toEqual([
      'free',
      'developer',
      'enterprise',
    ])
    expect(plans[1].accountCount).toBe(1)
  })

  it('suspends and restores accounts: sessions end, keys are disabled meanwhile', async () => {
    const dora = await t.signIn('dora')
    const { caller } = await privateKey(t, dora)
    const reads = async () => [
      (await dora.rest('GET', '/api/user/data')).status,
      (await caller.rest('GET', '/api/user/data')).status,
    ]
    expect(await reads()).toEqual([200, 200])
    const upper = accountOf({ userId: dora.userId.toUpperCase() })
    expect(
      (await change(chief, 'operatorUpdateAccount', upper, { status: 'SUSPENDED' })).errors,
    ).toBeUndefined()
    expect(await reads()).toEqual([401, 401])
    expect(await account(chief, dora)).toMatchObject({ status: 'SUSPENDED', sessionCount: 0 })
    const restored = await change(chief, 'operatorUpdateAccount', accountOf(dora), {
      status: 'ACTIVE',
      plan: 'developer',
    })
    expect(restored.data).toEqual({
      operatorUpdateAccount: {
        account: { id: accountOf(dora), status: 'ACTIVE', plan: { id: 'developer' } },
      },
    })
    expect(await reads()).toEqual([401, 200])
    for (const [mutation, input] of [
      ['operatorUpdateAccount', { status: 'SUSPENDED' }],
      ['operatorUpdateAccount', { status: 'ACTIVE' }],
      ['operatorAppoint', {}],
      ['operatorDismiss', {}],
    ] as const)
      for (const userId of ['x', alice.email, '00000000-0000-4000-8000-000000000000'])
        for (const id of [accountOf({ userId }), userId])
          expect((await change(chief, mutation, id, input)).code).toBe('USER_NOT_FOUND')
  })

  it('sees the queue of mails, and retries abandoned mails', async () => {
    const { db } = t.app
    await db.run('DELETE FROM outbox')
    const queue = async () =>
      (await ask(chief, '{ operator { mailQueue { waiting retrying givenUp oldestAt } } }'))
        .operator.mailQueue
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
    expect(await queue()).toEqual({
      waiting: 1,
      retrying: 1,
      givenUp: 1,
      oldestAt: '2023-11-14T22:13:20.000Z',
    })
    expect(
      await ask(chief, 'mutation { operatorRetryMails { count mailQueue { waiting } } }'),
    ).toEqual({
      operatorRetryMails: { count: 1, mailQueue: { waiting: 2 } },
    })
    expect(await queue()).toMatchObject({ waiting: 2, retrying: 1, givenUp: 0 })
    await db.run('DELETE FROM outbox')
  })
})

describe('Appointing operators', () => {
  it('grants and revokes the right at once, and only appointed operators can be dismissed', async () => {
    const erin = await t.signIn('erin')
    expect(await isOperator(erin)).toBe('FORBIDDEN')
    for (let times = 0; times < 2; times++)
      expect((await change(chief, 'operatorAppoint', accountOf(erin))).data).toMatchObject({
        operatorAppoint: { account: { id: accountOf(erin) } },
      })
    expect(await isOperator(erin)).toBe('yes')
    expect(
      (await (await privateKey(t, erin)).caller.graphql('{ operator { plans { accountCount } } }'))
        .code,
    ).toBe('KEY_OUT_OF_BOUNDS')
    const { operators } = (
      await ask(
        erin,
        '{ operator { operators { account { id } bySetting appointedBy { id } appointedAt } } }',
      )
    ).operator
    expect(operators).toEqual([
      { account: { id: accountOf(chief) }, bySetting: true, appointedBy: null, appointedAt: null },
      {
        account: { id: accountOf(erin) },
        bySetting: false,
        appointedBy: { id: chief.userId },
        appointedAt: aTime,
      },
    ])
    for (const [mutation, input] of [
      ['operatorDismiss', {}],
      ['operatorUpdateAccount', { status: 'SUSPENDED' }],
    ] as const) {
      const refused = await change(erin, mutation, accountOf(chief), input)
      expect([refused.code, refused.errors?.[0]?.message]).toEqual([
        'FORBIDDEN',
        expect.stringContaining('OPERATORS'),
      ])
    }
    expect(await isOperator(chief)).toBe('yes')
    expect(
      (await change(erin, 'operatorUpdateAccount', accountOf(erin), { status: 'SUSPENDED' })).code,
    ).toBe('FORBIDDEN')
    expect((await change(chief, 'operatorDismiss', accountOf(erin))).errors).toBeUndefined()
    expect(await isOperator(erin)).toBe('FORBIDDEN')
    expect((await change(chief, 'operatorDismiss', accountOf(erin))).code).toBe('USER_NOT_FOUND')
  })

  it('happens once when two operators do it at once', async () => {
    const frank = await t.signIn('frank')
    const both = await Promise.all(
      [1, 2].map(() => change(chief, 'operatorAppoint', accountOf(frank))),
    )
    expect(both.map(({ errors }) => errors)).toEqual([undefined, undefined])
    const ended = await Promise.all(
      [1, 2].map(() => change(chief, 'operatorDismiss', accountOf(frank))),
    )
    expect(ended.map(({ code }) => code ?? 'yes').sort()).toEqual(['USER_NOT_FOUND', 'yes'])
    expect(await isOperator(frank)).toBe('FORBIDDEN')
  })

  it('excludes suspended accounts, and ends with the account', async () => {
    const gina = await t.signIn('gina')
    await change(chief, 'operatorUpdateAccount', accountOf(gina), { status: 'SUSPENDED' })
    expect((await change(chief, 'operatorAppoint', accountOf(gina))).code).toBe('FORBIDDEN')
    const hugo = await t.signIn('hugo')
    await change(chief, 'operatorAppoint', accountOf(hugo))
    await hugo.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
    expect(
      await t.app.db.rows('SELECT user_id FROM operator WHERE user_id = ?', [hugo.userId]),
    ).toEqual([])
    expect(await isOperator(await t.signIn('hugo'))).toBe('FORBIDDEN')
  })
})

it('The actions of operators are logged, by ids only', async () => {
  const ivan = await t.signIn('ivan')
  const { userId } = ivan
  const before = t.logs().length
  await change(chief, 'operatorUpdateAccount', accountOf(ivan), { plan: 'developer' })
  for (const mutation of ['operatorAppoint', 'operatorDismiss'] as const)
    await change(chief, mutation, accountOf(ivan))
  for (const status of ['SUSPENDED', 'ACTIVE'])
    await change(chief, 'operatorUpdateAccount', accountOf(ivan), { status })
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
