import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { type GroupsProvider, openGroupsProvider } from '../support/groups-provider.ts'
import { startApp, type TestApp } from '../support/harness.ts'

let hub: GroupsProvider
let t: TestApp

beforeAll(async () => {
  hub = await openGroupsProvider()
  t = await startApp({
    ...hub.settings,
    PLAN_CLAIM: 'groups: chiefs =enterprise,staff=developer,a=b=basic,ghosts=none',
  })
  hub.serve(t.url)
  await t.app.worker.stop()
  const free = await t.app.db.Plan.findByPk('free', { raw: true, rejectOnEmpty: true })
  await t.app.db.Plan.create({ ...free, id: 'basic', isDefault: false, maxTotalStorageBytes: 1000 })
})
afterAll(async () => {
  await t?.stop()
  await hub?.close()
})

/** Signs in with these groups. Returns the plan, its source, and the id of the account. */
async function planOf(
  sub: string,
  groups?: string | string[],
): Promise<[plan: string, by: string, id: string]> {
  await hub.signIn({ sub, ...(groups === undefined ? {} : { groups }) })
  const where = { verifiedEmail: `${sub}@example.com` }
  const user = await t.app.db.User.findOne({ where, raw: true, rejectOnEmpty: true })
  return [user.planId, user.planBy, user.id]
}

const operators = () => t.app.services.operators

it.each<[string, string | string[] | undefined, string, string]>([
  ['one group', ['staff'], 'developer', 'claim'],
  ['a group in a claim that is a text', 'staff', 'developer', 'claim'],
  [
    'the first of several, in the order of the setting',
    ['x', 'staff', 'chiefs'],
    'enterprise',
    'claim',
  ],
  ['a group with a = in its name', ['a=b'], 'basic', 'claim'],
  ['groups without a plan', ['x', 'Staff'], 'free', 'default'],
  ['no groups', undefined, 'free', 'default'],
  ['a group whose plan does not exist', ['ghosts'], 'free', 'default'],
])('A first sign-in with %s assigns the plan', async (what, groups, plan, by) => {
  expect((await planOf(what.replaceAll(/[^a-z]/gi, ''), groups)).slice(0, 2)).toEqual([plan, by])
})

it('The plan follows the groups at each sign-in and falls back to the default; an unknown plan changes nothing', async () => {
  const plans = []
  const groups = [['staff'], ['chiefs'], ['ghosts'], [], ['staff'], undefined]
  for (const some of groups) plans.push((await planOf('alice', some)).slice(0, 2).join(' by '))
  expect(plans).toEqual([
    ...['developer by claim', 'enterprise by claim', 'enterprise by claim', 'free by default'],
    ...['developer by claim', 'free by default'],
  ])
  const [, , id] = await planOf('alice', ['staff'])
  const events = await t.app.db.rows<{ details: string; via: string }>(
    "SELECT details, via FROM event WHERE log_id = ? AND kind = 'plan.changed' ORDER BY seq",
    [id],
  )
  // The first sign-in, and a sign-in that changes nothing, are not recorded.
  expect(events.map(({ details, via }) => `${JSON.parse(details).plan} ${via}`)).toEqual([
    ...['enterprise system', 'free system', 'developer system', 'free system', 'developer system'],
  ])
})

it('The choice of an operator takes precedence over the claim, until it is undone', async () => {
  const [, , id] = await planOf('bob', ['staff'])
  await operators().setPlan(id, 'free')
  expect(await planOf('bob', ['chiefs'])).toEqual(['free', 'operator', id])
  await operators().setPlan(id, null)
  expect(await planOf('bob', ['chiefs'])).toEqual(['enterprise', 'claim', id])
})

it('A claim assigns no retired plan, and accounts keep the retired plan that they have', async () => {
  expect((await planOf('carol', ['staff']))[0]).toBe('developer')
  await t.app.services.plans.retire('developer')
  expect((await planOf('carol', ['staff'])).slice(0, 2)).toEqual(['developer', 'claim'])
  expect((await planOf('dave', ['staff'])).slice(0, 2)).toEqual(['free', 'default'])
  await t.app.services.plans.restore('developer')
  expect((await planOf('dave', ['staff'])).slice(0, 2)).toEqual(['developer', 'claim'])
})

it('The default plan of new accounts applies if no claim does', async () => {
  await t.app.services.plans.setDefault('basic')
  expect((await planOf('erin', ['x'])).slice(0, 2)).toEqual(['basic', 'default'])
  // Accounts with the former default keep it.
  expect((await planOf('nogroups')).slice(0, 2)).toEqual(['free', 'default'])
  await t.app.services.plans.setDefault('free')
})

it('A smaller plan from a claim keeps the files, refuses new ones, and sends a mail', async () => {
  const [, , id] = await planOf('frank', ['staff'])
  await t.app.db.run('UPDATE bucket SET used_bytes = 2000, used_files = 1 WHERE user_id = ?', [id])
  expect((await planOf('frank', ['a=b']))[0]).toBe('basic')
  await planOf('frank', ['a=b'])
  const rows = await t.app.db.rows<{ payload: string }>(
    "SELECT payload FROM outbox WHERE kind = 'mail'",
  )
  const mails = rows
    .map(({ payload }) => JSON.parse(payload))
    .filter(({ to }) => to === 'frank@example.com')
  expect(mails).toEqual([
    expect.objectContaining({
      template: 'over-quota',
      values: expect.objectContaining({ usedBytes: 2000, maxBytes: 1000 }),
    }),
  ])
  await t.app.db.run('UPDATE bucket SET used_bytes = 0, used_files = 0 WHERE user_id = ?', [id])
})

it('A sign-in at a provider without the claim keeps the plan from another provider', async () => {
  const [, , userId] = await planOf('hanna', ['staff'])
  const identity = { id: newId(), userId, provider: 'plain', providerUserId: 'hanna', createdAt: 1 }
  const shown = { email: 'hanna@example.com', emailVerified: true, name: '', avatarUrl: '' }
  await t.app.db.Identity.create({ ...identity, ...shown })
  const at = async (claims: Record<string, string[]>, elsewhere: string[] = []) => {
    const texts = { name: '', givenName: '', familyName: '', picture: '', locale: '' }
    const { email, emailVerified } = shown
    const profile = {
      provider: 'plain',
      providerUserId: 'hanna',
      email,
      emailVerified,
      ...texts,
      claims,
      elsewhere,
    }
    await t.app.services.accounts.signIn(profile, null)
    return (await t.app.db.User.findByPk(userId, { raw: true, rejectOnEmpty: true })).planId
  }
  expect(await at({})).toBe('developer')
  expect(await at({ groups: [] })).toBe('free')
  expect((await planOf('hanna', ['staff']))[0]).toBe('developer')
  await t.app.db.Identity.destroy({ where: { userId, provider: 'hub' } })
  expect(await at({}, ['groups'])).toBe('developer')
  expect(await at({})).toBe('free')
})

it('Concurrent sign-ins of one person with different groups keep the choice that an operator makes meanwhile', async () => {
  const [, , id] = await planOf('gina', ['staff'])
  await Promise.all([
    ...[['staff'], ['chiefs'], ['a=b'], []].map(groups => hub.signIn({ sub: 'gina', groups })),
    operators().setPlan(id, 'free'),
  ])
  expect(await planOf('gina', ['chiefs'])).toEqual(['free', 'operator', id])
})
