import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Tx } from '../../db/index.ts'
import { reserve } from '../../db/queries/reservation.ts'
import { assignPlan } from '../../src/services/accounts/plan-assignment.ts'
import { ask } from '../support/ask.ts'
import { found, put } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const KIB = 1024

let t: TestApp
let olga: Person
let people = 0

beforeAll(async () => {
  t = await startApp({ OPERATORS: 'olga@example.com' })
  olga = await t.signIn('olga')
  await t.app.worker.stop()
})
afterAll(() => t?.stop())

const person = () => t.signIn(`person${++people}`)
const accountOf = ({ userId }: Person) => `account:${userId}`

const PLAN = 'plan { plan { id name maxBytes maxFiles } accountCount isDefault retiredAt }'
const selections: Record<string, string> = {
  operatorUpdateAccount: 'account { plan { id } planBy }',
  operatorDeletePlan: 'deletedId',
  operatorSetWorkspaceLimits: 'limits { name value ofPlan from }',
}

/** Runs a mutation of an operator. Returns its payload, or the code and message of its error. */
// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
async function change(name: string, input: object): Promise<any> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
  const document = `mutation ($input: ${type}!) { ${name}(input: $input) { ${selections[name] ?? PLAN} } }`
  const { data, code, errors } = await olga.graphql(document, { input })
  return code
    ? { code, message: errors?.[0]?.message, field: errors?.[0]?.extensions.field }
    : data?.[name]
}

const newPlan = async (id: string, limits: object[] = []) =>
  change('operatorCreatePlan', { id, name: `Plan ${id}`, limits })

const mailsTo = async ({ email }: Person) => {
  const rows = await t.app.db.rows<{ payload: string }>(
    "SELECT payload FROM outbox WHERE kind = 'mail'",
  )
  return rows.map(({ payload }) => JSON.parse(payload)).filter(({ to }) => to === email)
}

describe('Plans', () => {
  it('are created from another one, changed, retired, restored and deleted', async () => {
    const made = await newPlan('team', [
      { name: 'MAX_BYTES', value: 5000 },
      { name: 'MAX_FILES', unlimited: true },
    ])
    const plan = { id: 'team', name: 'Plan team', maxBytes: 5000, maxFiles: null }
    expect(made).toEqual({ plan: { plan, accountCount: 0, isDefault: false, retiredAt: null } })
    const like = await change('operatorCreatePlan', { id: 'team-2', name: 'Second', like: 'team' })
    expect(like).toMatchObject({ plan: { plan: { id: 'team-2', maxBytes: 5000, maxFiles: null } } })

    const changed = await change('operatorUpdatePlan', {
      plan: 'team',
      name: 'Team',
      limits: [{ name: 'MAX_FILES', value: 7 }],
    })
    expect(changed).toMatchObject({ plan: { plan: { ...plan, name: 'Team', maxFiles: 7 } } })

    const bob = await person()
    await change('operatorUpdateAccount', { account: accountOf(bob), plan: 'team' })
    expect(await change('operatorDeletePlan', { plan: 'team' })).toMatchObject({
      code: 'PLAN_IN_USE',
    })
    expect(await change('operatorRetirePlan', { plan: 'team' })).toMatchObject({
      plan: { accountCount: 1, retiredAt: expect.any(String) },
    })
    const carol = await person()
    expect(
      await change('operatorUpdateAccount', { account: accountOf(carol), plan: 'team' }),
    ).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.plan',
      message: expect.stringContaining('is retired'),
    })
    expect((await ask(bob, '{ me { plan { id } limits { maxBytes maxFiles } } }')).me).toEqual({
      plan: { id: 'team' },
      limits: { maxBytes: 5000, maxFiles: 7 },
    })
    expect(await change('operatorRestorePlan', { plan: 'team' })).toMatchObject({
      plan: { retiredAt: null },
    })
    expect(
      await change('operatorUpdateAccount', { account: accountOf(carol), plan: 'team' }),
    ).toEqual({
      account: { plan: { id: 'team' }, planBy: 'OPERATOR' },
    })
    expect(await change('operatorDeletePlan', { plan: 'team-2' })).toEqual({ deletedId: 'team-2' })
    expect(
      (await ask(olga, '{ operator { plans { plan { id } } } }')).operator.plans,
    ).not.toContainEqual({
      plan: { id: 'team-2' },
    })
  })

  it.each<[string, string, object, string]>([
    ['an id that is taken', 'operatorCreatePlan', { id: 'free', name: 'x' }, 'input.id'],
    ['an id of other characters', 'operatorCreatePlan', { id: 'A b', name: 'x' }, 'input.id'],
    ['an unknown plan id', 'operatorCreatePlan', { id: 'automatic', name: 'x' }, 'input.id'],
    ['an empty name', 'operatorCreatePlan', { id: 'x', name: ' \n' }, 'input.name'],
    ['no such model', 'operatorCreatePlan', { id: 'x', name: 'x', like: 'none' }, 'input.like'],
    ['no such plan', 'operatorUpdatePlan', { plan: 'none' }, 'input.plan'],
    [
      'a limit without a value',
      'operatorUpdatePlan',
      { plan: 'free', limits: [{ name: 'MAX_FILES' }] },
      'input.limits',
    ],
    [
      'a limit that cannot be unlimited',
      'operatorUpdatePlan',
      { plan: 'free', limits: [{ name: 'MAX_BYTES', unlimited: true }] },
      'input.limits',
    ],
    [
      'a negative limit',
      'operatorUpdatePlan',
      { plan: 'free', limits: [{ name: 'MAX_FILES', value: -1 }] },
      'input.limits',
    ],
    [
      'a limit twice',
      'operatorUpdatePlan',
      {
        plan: 'free',
        limits: [
          { name: 'MAX_FILES', value: 1 },
          { name: 'MAX_FILES', value: 2 },
        ],
      },
      'input.limits',
    ],
    [
      'a count that is too large',
      'operatorUpdatePlan',
      { plan: 'free', limits: [{ name: 'MAX_FILES', value: 2 ** 31 }] },
      'input.limits',
    ],
  ])('refuse %s', async (_what, name, input, field) => {
    const before = await t.app.db.rows('SELECT * FROM plan ORDER BY id')
    const refused = await change(name, input)
    expect(refused).toMatchObject({
      code: expect.stringMatching(/^(INVALID_INPUT|BAD_USER_INPUT)$/),
    })
    if (refused.code === 'INVALID_INPUT' && refused.field) expect(refused.field).toBe(field)
    expect(await t.app.db.rows('SELECT * FROM plan ORDER BY id')).toEqual(before)
  })

  it('have one default for new accounts, which cannot be retired or deleted', async () => {
    await newPlan('starter')
    await newPlan('old')
    await change('operatorRetirePlan', { plan: 'old' })
    expect(await change('operatorSetDefaultPlan', { plan: 'old' })).toMatchObject({
      code: 'PLAN_IN_USE',
    })
    // Whatever happens last, there is one default plan.
    await Promise.all(
      ['starter', 'free', 'starter'].map(plan => change('operatorSetDefaultPlan', { plan })),
    )
    await change('operatorSetDefaultPlan', { plan: 'starter' })
    expect(await t.app.db.rows('SELECT id FROM plan WHERE is_default = 1')).toEqual([
      { id: 'starter' },
    ])
    const dora = await person()
    expect((await ask(dora, '{ me { plan { id } } }')).me.plan.id).toBe('starter')
    for (const name of ['operatorRetirePlan', 'operatorDeletePlan'])
      expect(await change(name, { plan: 'starter' })).toMatchObject({ code: 'PLAN_IN_USE' })
    await change('operatorSetDefaultPlan', { plan: 'free' })
    expect(
      await change('operatorUpdateAccount', { account: accountOf(dora), automaticPlan: true }),
    ).toEqual({
      account: { plan: { id: 'free' }, planBy: 'DEFAULT' },
    })
  })

  it('retired and assigned at the same time have one of two outcomes', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `raced-${round}`
      await newPlan(id)
      const who = await person()
      const [given] = await Promise.all([
        change('operatorUpdateAccount', { account: accountOf(who), plan: id }),
        change('operatorDeletePlan', { plan: id }),
      ])
      const row = await t.app.db.User.findByPk(who.userId, { raw: true, rejectOnEmpty: true })
      const plan = await t.app.db.Plan.findByPk(row.planId, { raw: true })
      expect([plan?.id, given.code]).toEqual(
        row.planId === id ? [id, undefined] : ['free', 'INVALID_INPUT'],
      )
    }
  })
})

it('Two accounts are assigned one plan at the same time without waiting', async () => {
  const { db } = t.app
  const [one, other] = [await person(), await person()]
  const given = ({ userId }: Person, tx: Tx) =>
    assignPlan(db, { userId, plan: null, by: 'default', link: '' }, tx).then(({ plan }) => plan)
  // SQLite has only one writer.
  if (db.dialect === 'sqlite')
    return expect(
      await Promise.all([one, other].map(who => db.transaction(tx => given(who, tx)))),
    ).toEqual(['free', 'free'])
  await db.transaction(async tx => {
    expect(await given(one, tx)).toBe('free')
    const start = performance.now()
    expect(await db.transaction(another => given(other, another))).toBe('free')
    expect(performance.now() - start).toBeLessThan(2000)
  })
})

it('Sign-ups get a plan while the default plan changes, is retired and is deleted, and one default remains', async () => {
  const { db, services } = t.app
  for (let round = 0; round < 4; round++) {
    const [first, second] = [`a-${round}`, `z-${round}`]
    await newPlan(first)
    await newPlan(second)
    const changes = [
      ...[first, second, 'free', first].map(id => services.plans.setDefault(id)),
      ...[first, second].map(id => services.plans.retire(id)),
      services.plans.remove(second),
    ]
    const [done, people] = await Promise.all([
      Promise.allSettled(changes),
      Promise.all(Array.from({ length: 8 }, person)),
    ])
    for (const one of done)
      if (one.status === 'rejected')
        expect(one.reason.code).toMatch(/^(PLAN_IN_USE|INVALID_INPUT)$/)
    const ids = (await db.rows<{ id: string }>('SELECT id FROM plan')).map(({ id }) => id)
    for (const { userId } of people)
      expect(ids).toContain(
        (await db.User.findByPk(userId, { raw: true, rejectOnEmpty: true })).planId,
      )
    expect(await db.rows('SELECT retired_at FROM plan WHERE is_default = 1')).toEqual([
      { retired_at: null },
    ])
    await services.plans.setDefault('free')
  }
})

describe('Individual limits', () => {
  it('of a person replace those of the plan, until they are reset', async () => {
    const erin = await person()
    const set = (limits: object[]) =>
      change('operatorUpdateAccount', { account: accountOf(erin), limits })
    const limits = async () => {
      const { node } = await ask(
        olga,
        'query ($id: ID!) { node(id: $id) { ... on Account { limits { name value from } } } }',
        { id: accountOf(erin) },
      )
      return node.limits.filter(({ from }: { from: string }) => from !== 'PLAN')
    }
    await set([
      { name: 'MAX_BYTES', value: 100 },
      { name: 'MAX_FILES', unlimited: true },
      { name: 'MAX_API_KEYS', value: 0 },
    ])
    expect(await limits()).toEqual([
      { name: 'MAX_BYTES', value: 100, from: 'ACCOUNT' },
      { name: 'MAX_FILES', value: null, from: 'ACCOUNT' },
      { name: 'MAX_API_KEYS', value: 0, from: 'ACCOUNT' },
    ])
    const { user_data } = (await erin.rest('GET', '/api/user/data')).response
    expect(user_data).toMatchObject({
      max_total_storage_bytes: 100,
      max_files: null,
      max_private_api_keys: 0,
    })
    const { response } = await erin.upload('a', 'x'.repeat(101))
    expect(response).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      limit: 'max_total_storage_bytes',
      max: 100,
    })
    await erin.upload('small', 'x'.repeat(100))

    await set([{ name: 'MAX_BYTES' }])
    await erin.upload('big', 'x'.repeat(101))
    expect(await limits()).toHaveLength(2)
    expect(await set([{ name: 'MAX_BYTES', value: 1.5 }])).toMatchObject({
      code: expect.any(String),
    })
  })

  it('of a workspace override those of its owner, and end with it', async () => {
    const frank = await person()
    const workspace = await found(frank)
    const files = { name: 'MAX_WORKSPACE_FILES' }
    await change('operatorUpdateAccount', {
      account: accountOf(frank),
      limits: [{ ...files, value: 1 }],
    })
    await put(frank, workspace, '/a', 'a')
    expect((await put(frank, workspace, '/b', 'b')).response.code).toBe('QUOTA_EXCEEDED')
    const { limits } = await change('operatorSetWorkspaceLimits', {
      workspace,
      limits: [{ ...files, value: 2 }],
    })
    expect(limits).toContainEqual({ ...files, value: 2, ofPlan: 10_000, from: 'WORKSPACE' })
    await put(frank, workspace, '/b', 'b')
    expect(
      await change('operatorSetWorkspaceLimits', {
        workspace,
        limits: [{ name: 'MAX_FILES', value: 1 }],
      }),
    ).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(
      await change('operatorSetWorkspaceLimits', {
        workspace: frank.userId,
        limits: [{ ...files, value: 1 }],
      }),
    ).toMatchObject({
      code: 'WORKSPACE_NOT_FOUND',
    })
    await ask(
      frank,
      'mutation ($id: ID!) { deleteWorkspace(input: { workspace: $id }) { deletedId } }',
      {
        id: workspace,
      },
    )
    expect(
      await t.app.db.rows('SELECT id FROM own_limit WHERE workspace_id = ?', [workspace]),
    ).toEqual([])
  })
})

it('A change of an account changes nothing if one part is invalid', async () => {
  const who = await person()
  const twice = { name: 'MAX_FILES', value: 1 }
  const rest = { account: accountOf(who), status: 'SUSPENDED' }
  for (const input of [
    { ...rest, plan: 'developer', limits: [twice, twice] },
    { ...rest, plan: 'none', limits: [twice] },
  ]) {
    expect(await change('operatorUpdateAccount', input)).toMatchObject({ code: 'INVALID_INPUT' })
    const row = await t.app.db.User.findByPk(who.userId, { raw: true, rejectOnEmpty: true })
    expect([row.planId, row.planBy, row.status]).toEqual(['free', 'default', 'active'])
    expect(await t.app.db.rows('SELECT id FROM own_limit WHERE user_id = ?', [who.userId])).toEqual(
      [],
    )
  }
})

it('A workspace is not found by a slug that equals the ID of something else', async () => {
  const [owner, other] = [await person(), await person()]
  const workspace = await found(other)
  const squatting = await found(owner)
  const { plans } = t.app.services
  for (const id of [workspace, other.userId]) {
    await t.app.db.Workspace.update({ slug: id }, { where: { id: squatting } })
    expect((await plans.findWorkspace(id))?.id).toBe(id === workspace ? workspace : undefined)
    expect((await plans.findWorkspace(workspace.toUpperCase()))?.id).toBe(workspace)
  }
  await t.app.db.Workspace.update({ slug: 'own-name' }, { where: { id: squatting } })
  expect((await plans.findWorkspace('own-name'))?.id).toBe(squatting)
})

describe('A plan that shrinks', () => {
  it('keeps all files, refuses new ones, and notifies the people concerned and operators once', async () => {
    await newPlan('shrinking')
    const gina = await person()
    const workspace = await found(gina)
    await change('operatorUpdateAccount', { account: accountOf(gina), plan: 'shrinking' })
    const near = await person()
    await change('operatorUpdateAccount', { account: accountOf(near), plan: 'shrinking' })
    await near.upload('a', 'x'.repeat(KIB))
    await gina.upload('a', 'x'.repeat(3 * KIB))
    await gina.upload('b', 'x')
    await put(gina, workspace, '/w', 'x'.repeat(3 * KIB))
    const limits = [
      { name: 'MAX_BYTES', value: 2 * KIB },
      { name: 'MAX_WORKSPACE_BYTES', value: 2 * KIB },
    ]
    await change('operatorUpdatePlan', { plan: 'shrinking', limits })
    await change('operatorUpdatePlan', {
      plan: 'shrinking',
      limits: [{ name: 'MAX_BYTES', value: KIB }],
    })

    const usage = async () =>
      (await ask(gina, '{ me { drive { usage { usedBytes maxBytes isOver } } } }')).me.drive.usage
    expect(await usage()).toEqual({ usedBytes: 3 * KIB + 1, maxBytes: KIB, isOver: true })
    const mails = await mailsTo(gina)
    expect(
      mails.map(({ template, values }) => [template, values.workspace !== null, values.maxBytes]),
    ).toEqual([
      ['over-quota', false, 2 * KIB],
      ['over-quota', true, 2 * KIB],
    ])
    expect(await mailsTo(near)).toEqual([])
    const over = (
      await ask(olga, '{ operator { accounts(filter: OVER_QUOTA) { nodes { email } } } }')
    ).operator.accounts.nodes
    expect(over).toEqual([{ email: gina.email }])

    const { status, response } = await gina.upload('c', 'x')
    expect([status, response.code, response.max]).toEqual([400, 'QUOTA_EXCEEDED', KIB])
    expect((await put(gina, workspace, '/v', 'x')).response.code).toBe('QUOTA_EXCEEDED')
    // Reading, sharing, moving and deleting still work.
    const shared = await gina.rest('POST', '/api/files/quick_share', { json: { object: 'a' } })
    expect(shared.status).toBe(200)
    expect(
      (await gina.rest('POST', '/api/files/move', { json: { source: 'a', destination: 'moved' } }))
        .status,
    ).toBe(200)
    expect((await gina.rest('DELETE', '/api/files/delete?file=moved')).status).toBe(200)
    expect((await usage()).isOver).toBe(false)
    await gina.upload('c', 'x')
  })

  it('from unlimited notifies once, counts running uploads, and reads no drives when nothing shrinks', async () => {
    await newPlan('vast', [{ name: 'MAX_FILES', unlimited: true }])
    const [who, idle] = [await person(), await person()]
    for (const one of [who, idle])
      await change('operatorUpdateAccount', { account: accountOf(one), plan: 'vast' })
    await who.upload('a', 'x')
    await t.app.db.run('UPDATE bucket SET reserved_files = 1 WHERE user_id = ?', [who.userId])
    const queries = t.app.db.rows.bind(t.app.db)
    const read: string[] = []
    t.app.db.rows = (sql, ...rest) => {
      if (sql.includes('former')) read.push(sql)
      return queries(sql, ...rest)
    }
    try {
      await change('operatorUpdatePlan', { plan: 'vast', name: 'Vaster' })
      await change('operatorUpdatePlan', {
        plan: 'vast',
        limits: [{ name: 'MAX_BYTES', value: 1e15 }],
      })
      expect(read).toEqual([])
      await change('operatorUpdatePlan', {
        plan: 'vast',
        limits: [{ name: 'MAX_FILES', value: 1 }],
      })
      expect(read).toHaveLength(1)
      await change('operatorUpdatePlan', {
        plan: 'vast',
        limits: [{ name: 'MAX_FILES', value: 0 }],
      })
    } finally {
      t.app.db.rows = queries
    }
    expect((await mailsTo(who)).map(({ values }) => [values.usedFiles, values.maxFiles])).toEqual([
      [2, 1],
    ])
    expect(await mailsTo(idle)).toEqual([])
    await t.app.db.run('UPDATE bucket SET reserved_files = 0 WHERE user_id = ?', [who.userId])
  })

  it('admits nothing beyond the larger limit during uploads, and nothing at all afterwards', async () => {
    const SIZE = KIB
    for (const [round, after] of [20, 5, 0].entries()) {
      const id = `race-${round}`
      await newPlan(id, [{ name: 'MAX_BYTES', value: 20 * SIZE }])
      const who = await person()
      await change('operatorUpdateAccount', { account: accountOf(who), plan: id })
      const upload = async (n: number) => {
        const { status, response } = await who.upload(`f${n}`, 'x'.repeat(SIZE))
        return { status, code: response.code }
      }
      const uploads = Array.from({ length: 30 }, (_, n) => upload(n))
      const shrunk = change('operatorUpdatePlan', {
        plan: id,
        limits: [{ name: 'MAX_BYTES', value: after * SIZE }],
      })
      const done = await Promise.all(uploads)
      await shrunk
      const stored = done.filter(({ status }) => status === 200).length
      expect(
        done.filter(({ status }) => status !== 200).every(({ code }) => code === 'QUOTA_EXCEEDED'),
      ).toBe(true)
      expect(stored).toBeLessThanOrEqual(20)
      const [row] = await t.app.db.rows<{ used: number; reserved: number }>(
        'SELECT used_bytes AS used, reserved_bytes AS reserved FROM bucket WHERE user_id = ?',
        [who.userId],
      )
      expect(row).toEqual({ used: stored * SIZE, reserved: 0 })
      const late = await Promise.all([upload(100), upload(101)])
      if (stored >= after)
        expect(late.map(({ code }) => code)).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'])
    }
  })

  it.each(['of the plan', 'of a person', 'of a workspace'])(
    'waits for running reservations, and applies to the next one: a limit %s',
    async what => {
      const db = t.app.db
      const who = await person()
      const workspace = await found(who)
      const plan = `waiting-${people}`
      await newPlan(plan)
      await change('operatorUpdateAccount', { account: accountOf(who), plan })
      const ofWorkspace = what === 'of a workspace'
      const [column, owner] = ofWorkspace ? ['workspace_id', workspace] : ['user_id', who.userId]
      const [bucket] = await db.rows<{ id: string }>(`SELECT id FROM bucket WHERE ${column} = ?`, [
        owner,
      ])
      const stale = { maxTotalStorageBytes: 10 * KIB, maxFiles: null }
      const take = (tx: Tx) => reserve(db, bucket?.id ?? '', { bytes: KIB, files: 0 }, stale, tx)
      const limits = [{ name: ofWorkspace ? 'MAX_WORKSPACE_BYTES' : 'MAX_BYTES', value: KIB }]
      const shrink = () =>
        what === 'of the plan'
          ? change('operatorUpdatePlan', { plan, limits })
          : ofWorkspace
            ? change('operatorSetWorkspaceLimits', { workspace, limits })
            : change('operatorUpdateAccount', { account: accountOf(who), limits })
      let isShrunk = false
      let shrinking: Promise<void> | undefined
      await db.transaction(async tx => {
        expect(await take(tx)).toBe(true)
        shrinking = shrink().then(({ code }) => {
          expect(code).toBeUndefined()
          isShrunk = true
        })
        await sleep(100)
        expect(isShrunk).toBe(false)
      })
      await shrinking
      expect(await db.transaction(take)).toBe(false)
    },
  )

  it('limits the reservation of a request that was admitted under the old limits', async () => {
    const who = await person()
    const [bucket] = await t.app.db.rows<{ id: string }>(
      'SELECT id FROM bucket WHERE user_id = ?',
      [who.userId],
    )
    const stale = { maxTotalStorageBytes: 10 * KIB, maxFiles: null }
    const take = () =>
      t.app.db.transaction(tx =>
        reserve(t.app.db, bucket?.id ?? '', { bytes: 5 * KIB, files: 0 }, stale, tx),
      )
    expect(await take()).toBe(true)
    await change('operatorUpdateAccount', {
      account: accountOf(who),
      limits: [{ name: 'MAX_BYTES', value: 6 * KIB }],
    })
    expect(await take()).toBe(false)
    await change('operatorUpdateAccount', {
      account: accountOf(who),
      limits: [{ name: 'MAX_BYTES' }],
    })
    expect(await take()).toBe(true)
  })
})

it('Changes of plans and limits by operators are logged, with IDs only', async () => {
  const who = await person()
  const workspace = await found(who)
  const before = t.logs().length
  const limits = [{ name: 'MAX_WORKSPACE_FILES', value: 5 }]
  await newPlan('logged')
  await change('operatorUpdatePlan', { plan: 'logged', limits })
  await change('operatorRetirePlan', { plan: 'logged' })
  await change('operatorRestorePlan', { plan: 'logged' })
  await change('operatorSetDefaultPlan', { plan: 'logged' })
  await change('operatorSetDefaultPlan', { plan: 'free' })
  await change('operatorDeletePlan', { plan: 'logged' })
  await change('operatorUpdateAccount', { account: accountOf(who), limits })
  await change('operatorSetWorkspaceLimits', { workspace, limits })
  const lines = t
    .logs()
    .slice(before)
    .split('\n')
    .filter(line => line.includes('"event"'))
    .map(line => JSON.parse(line))
  const ofPlan = { plan_id: 'logged' }
  expect(lines.map(({ event, subject }) => [event, subject])).toEqual([
    ...[
      'plan_created',
      'plan_updated',
      'plan_retired',
      'plan_restored',
      'default_plan_changed',
    ].map(e => [e, ofPlan]),
    ['default_plan_changed', { plan_id: 'free' }],
    ['plan_deleted', ofPlan],
    ['limits_changed', { user_id: who.userId, limits: 'maxFilesWorkspace' }],
    ['limits_changed', { workspace_id: workspace, limits: 'maxFilesWorkspace' }],
  ])
  for (const line of lines)
    expect(line).toMatchObject({ user_id: olga.userId, session_id: expect.any(String) })
})

it('An empty list of limits for a workspace changes and logs nothing, and the workspace must exist', async () => {
  const workspace = await found(await person())
  const before = t.logs().length
  expect(await change('operatorSetWorkspaceLimits', { workspace, limits: [] })).toMatchObject({
    limits: expect.any(Array),
  })
  expect(await change('operatorSetWorkspaceLimits', { workspace: 'none\nof them' })).toMatchObject({
    code: 'WORKSPACE_NOT_FOUND',
  })
  expect(t.logs().slice(before)).not.toMatch(/limits_changed|none.{0,2}of them/)
})

it('Only operators change plans and limits, and unknown plans are refused', async () => {
  const who = await person()
  const before = await t.app.db.rows('SELECT * FROM plan ORDER BY id')
  const inputs: [name: string, input: object][] = [
    ['operatorCreatePlan', { id: 'mine', name: 'Mine' }],
    ['operatorSetWorkspaceLimits', { workspace: who.userId, limits: [] }],
    ...[
      'operatorUpdatePlan',
      'operatorRetirePlan',
      'operatorRestorePlan',
      'operatorSetDefaultPlan',
      'operatorDeletePlan',
    ].map((name): [string, object] => [name, { plan: 'none' }]),
  ]
  for (const [name, input] of inputs) {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`
    const document = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`
    expect((await t.anonymous.graphql(document, { input })).code).toBe('UNAUTHENTICATED')
    expect((await who.graphql(document, { input })).code).toBe('FORBIDDEN')
    if ('plan' in input)
      expect(await change(name, input)).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'input.plan',
      })
  }
  expect(await t.app.db.rows('SELECT * FROM plan ORDER BY id')).toEqual(before)
})
