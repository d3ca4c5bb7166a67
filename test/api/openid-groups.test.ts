import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import type { Caller } from '../../src/access/caller.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'
import { type OpenIdProvider, openOpenIdProvider } from '../support/openid-provider.ts'
import { Browser } from '../unit/sign-in-browser.ts'

let sso: OpenIdProvider
let lab: OpenIdProvider
let database: Awaited<ReturnType<typeof newDatabase>>
/** Two services on one database, without and with the setting, which names existing workspaces. */
let plain: TestApp
let t: TestApp
let olivia: Person
let team: string
let ops: string

const missing = '00000000-0000-7000-8000-000000000000'

beforeAll(async () => {
  database = await newDatabase()
  ;[sso, lab] = await Promise.all([openOpenIdProvider(), openOpenIdProvider()])
  const settings = {
    ...sso.settings('SSO'),
    ...lab.settings('LAB'),
    DATABASE_URL: database.url,
    LINK_BY_EMAIL: 'true',
  }
  plain = await startApp(settings)
  olivia = await plain.signIn('olivia')
  team = await newWorkspace('Team')
  ops = await newWorkspace('Operations')
  const GROUP_ROLES = [
    ...[
      `sso:eng=${team}/editor`,
      `sso:leads=${team}/admin`,
      `sso:guests=${team}/viewer`,
      `sso:ops=${ops}/viewer`,
    ],
    ...[`sso:lost=${missing}/viewer`, `lab:crew=${ops}/viewer`],
  ].join()
  t = await startApp({ ...settings, GROUP_ROLES })
})
afterAll(async () => {
  await t?.stop()
  await plain?.stop()
  await sso?.close()
  await lab?.close()
  await database?.drop()
})
afterEach(() => {
  sso.alter = undefined
})

async function newWorkspace(name: string): Promise<string> {
  const { data } = await olivia.graphql<{ createWorkspace: { workspace: { id: string } } }>(
    'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }',
    { input: { name } },
  )
  const slug = name.toLowerCase()
  const [row] = await plain.app.db.rows<{ id: string }>('SELECT id FROM workspace WHERE slug = ?', [
    slug,
  ])
  if (!data?.createWorkspace || !row) throw new Error(`There is no workspace ${name}.`)
  return row.id
}

interface SignedIn {
  browser: Browser
  userId: string
}

/** Signs in with these groups. Null stands for a provider that sends no groups. */
async function signIn(
  name: string,
  groups: string[] | null,
  { by = 'sso', app = t } = {},
): Promise<SignedIn> {
  const [browser, provider] = [new Browser(), by === 'sso' ? sso : lab]
  const person = { sub: `${name}-${by}`, email: `${name}@example.com`, email_verified: true, name }
  provider.user = { ...person, ...(groups ? { groups } : {}) }
  const done = await browser.get(
    await provider.visit(browser, await browser.get(`${app.url}/auth/oauth?provider=${by}`)),
  )
  expect(done.headers.get('location')).toBe(`${app.url}/`)
  const { user_info } = JSON.parse(
    await (await browser.get(`${app.url}/auth/is_valid`)).text(),
  ).response
  return { browser, userId: user_info.sub }
}

/** The roles of a user in both workspaces. */
async function rolesOf({ userId }: SignedIn): Promise<(string | undefined)[]> {
  const rows = await t.app.db.rows<{ id: string; role: string }>(
    'SELECT workspace_id AS id, role FROM member WHERE user_id = ?',
    [userId],
  )
  return [team, ops].map(id => rows.find(row => row.id === id)?.role)
}

const setRole = (
  userId: string,
  role: string,
  provider: string | null = null,
  workspaceId = team,
) =>
  t.app.db.run(
    'INSERT INTO member (workspace_id, user_id, role, joined_at, provider) VALUES (?, ?, ?, 1, ?)',
    [...[workspaceId, userId, role, provider]],
  )

/** The kinds of the events about these subjects, oldest first. */
const eventsOf = async (subject: string, kinds: string) =>
  (
    await t.app.db.rows<{ kind: string }>(
      'SELECT kind FROM event WHERE subject_id = ? AND kind LIKE ? ORDER BY at, seq',
      [...[subject, kinds]],
    )
  ).map(({ kind }) => kind)

describe('the groups that a provider sends at a sign-in', () => {
  it('grant, change and revoke roles', async () => {
    const ann = await signIn('ann', ['eng', 'ops', 'unknown'])
    expect(await rolesOf(ann)).toEqual(['editor', 'viewer'])
    await signIn('ann', ['guests'])
    expect(await rolesOf(ann)).toEqual(['viewer', undefined])
    await signIn('ann', ['guests', 'leads', 'eng'])
    expect(await rolesOf(ann)).toEqual(['admin', undefined])
    await signIn('ann', null)
    expect(await rolesOf(ann)).toEqual([undefined, undefined])
    const log = t.logs()
    for (const event of ['member_joined', 'role_changed', 'member_removed'])
      expect(log).toContain(`"event":"${event}"`)
  })

  it('are recorded like other changes of members', async () => {
    const ben = await signIn('ben', ['eng'])
    await signIn('ben', ['guests'])
    await signIn('ben', [])
    expect(await eventsOf(ben.userId, 'member.%')).toEqual([
      'member.joined',
      'member.role_changed',
      'member.removed',
    ])
    expect((await eventsOf(team, 'workspace.%')).slice(-2)).toEqual([
      'workspace.joined',
      'workspace.left',
    ])
  })

  it('revoke everything that came with the membership', async () => {
    const cleo = await signIn('cleo', ['leads'])
    const cookie = `session_id=${cleo.browser.jar.get('session_id')?.value}`
    const asked = await fetch(`${t.url}/api/workspaces/${team}/quota`, { headers: { cookie } })
    expect(asked.status).toBe(200)
    await signIn('cleo', [])
    expect(
      (await fetch(`${t.url}/api/workspaces/${team}/quota`, { headers: { cookie } })).status,
    ).toBe(403)
  })

  it('do not change memberships that people made, or owners', async () => {
    const dan = await signIn('dan', [])
    await setRole(dan.userId, 'admin')
    for (const groups of [['guests'], [], ['eng']]) {
      await signIn('dan', groups)
      expect(await rolesOf(dan)).toEqual(['admin', undefined])
    }
    const eve = await signIn('eve', ['eng'])
    await t.app.db.run("UPDATE member SET role = 'owner' WHERE user_id = ?", [eve.userId])
    for (const groups of [['guests'], []]) {
      await signIn('eve', groups)
      expect(await rolesOf(eve)).toEqual(['owner', undefined])
    }
  })

  it('do not change memberships from another provider, which end with the identity of that provider', async () => {
    const fay = await signIn('fay', ['eng'])
    await signIn('fay', ['crew'], { by: 'lab' })
    expect(await rolesOf(fay)).toEqual(['editor', 'viewer'])
    await signIn('fay', [])
    expect(await rolesOf(fay)).toEqual([undefined, 'viewer'])
    const { browser } = await signIn('fay', ['eng'])
    const { identities } = JSON.parse(
      await (await browser.get(`${t.url}/api/user/identities`)).text(),
    ).response
    const { id } = identities.find(({ provider }: { provider: string }) => provider === 'lab')
    const logged = t.logged()
    const removed = await browser.get(`${t.url}/api/user/identities?identity_id=${id}`, {
      method: 'DELETE',
    })
    expect([removed.status, await removed.clone().text()]).toEqual([200, expect.any(String)])
    expect(await rolesOf(fay)).toEqual(['editor', undefined])
    expect(t.logs(logged)).toContain('"event":"member_removed"')
    expect((await eventsOf(fay.userId, 'member.%')).at(-1)).toBe('member.removed')
  })

  it('keep their memberships and the identity if the memberships cannot be removed', async () => {
    const lea = await signIn('lea', ['eng'])
    await signIn('lea', ['crew'], { by: 'lab' })
    const caller = { userId: lea.userId, via: 'session', credentialId: 'none' } as unknown as Caller
    const { id = '' } =
      (await t.app.db.Identity.findOne({
        where: { userId: lea.userId, provider: 'lab' },
        raw: true,
      })) ?? {}
    const end = jest
      .spyOn(t.app.db.ApiKey, 'destroy')
      .mockRejectedValue(new Error('The database is gone.'))
    try {
      await expect(t.app.services.identities.remove(caller, id)).rejects.toThrow(
        'The database is gone.',
      )
    } finally {
      end.mockRestore()
    }
    expect(await t.app.db.Identity.count({ where: { userId: lea.userId } })).toBe(2)
    expect(await rolesOf(lea)).toEqual(['editor', 'viewer'])
  })

  it('of another provider grant and change nothing, whatever their names', async () => {
    const gil = await signIn('gil', ['leads', 'ops'], { by: 'lab' })
    expect(await rolesOf(gil)).toEqual([undefined, undefined])
    await signIn('gil', ['eng', 'crew'])
    await signIn('gil', ['leads', 'guests'], { by: 'lab' })
    expect(await rolesOf(gil)).toEqual(['editor', undefined])
  })

  it('lose their memberships at the next sign-in by any provider if their own provider is not configured', async () => {
    const mia = await signIn('mia', ['eng'])
    await setRole(mia.userId, 'viewer', 'former', ops)
    expect(await rolesOf(mia)).toEqual(['editor', 'viewer'])
    const logged = t.logged()
    await signIn('mia', ['eng'])
    expect(await rolesOf(mia)).toEqual(['editor', undefined])
    expect(t.logs(logged)).toMatch(/"event":"member_removed".*"provider":"former"/)
  })

  it('change nothing if the provider sends them in another claim', async () => {
    const gus = await signIn('gus', ['eng'])
    sso.alter = async (path, answer) =>
      path === 'me'
        ? { ...answer, groups: undefined, _claim_names: { groups: 'src1' }, _claim_sources: {} }
        : undefined
    const logged = t.logged()
    await signIn('gus', [])
    expect(await rolesOf(gus)).toEqual(['editor', undefined])
    expect(t.logs(logged)).toContain('states these claims elsewhere')
  })

  it('change nothing if they cannot be read', async () => {
    const kim = await signIn('kim', ['eng'])
    for (const groups of [{ eng: true }, [{ name: 'eng' }], [null]]) {
      sso.alter = async (path, answer) => (path === 'me' ? { ...answer, groups } : undefined)
      const logged = t.logged()
      await signIn('kim', [])
      expect(await rolesOf(kim)).toEqual(['editor', undefined])
      expect(t.logs(logged)).toContain(
        'the claim GROUP_CLAIM of the sign-in provider is no list of texts',
      )
    }
    sso.alter = async (path, answer) =>
      path === 'me' ? { ...answer, groups: [null, 'guests', {}] } : undefined
    await signIn('kim', [])
    expect(await rolesOf(kim)).toEqual(['viewer', undefined])
    sso.alter = async (path, answer) => (path === 'me' ? { ...answer, groups: null } : undefined)
    await signIn('kim', [])
    expect(await rolesOf(kim)).toEqual([undefined, undefined])
  })

  it('skip a full or missing workspace, and complete the sign-in', async () => {
    const [{ members = 0 } = {}] = await t.app.db.rows<{ members: number }>(
      'SELECT COUNT(*) AS members FROM member WHERE workspace_id = ?',
      [ops],
    )
    await t.limit({ maxUsersWorkspace: Number(members) })
    try {
      const logged = t.logged()
      const hal = await signIn('hal', ['ops', 'lost'])
      expect(await rolesOf(hal)).toEqual([undefined, undefined])
      expect(t.logs(logged)).toContain('"reason":"workspace_full"')
      expect(t.logs(logged)).toContain('"reason":"no_such_workspace"')
    } finally {
      await t.limit({ maxUsersWorkspace: 10 })
    }
  })

  it('are applied once by sign-ins at the same time', async () => {
    const ida = await signIn('ida', [])
    await Promise.all([signIn('ida', ['eng']), signIn('ida', ['eng']), signIn('ida', ['eng'])])
    expect(await rolesOf(ida)).toEqual(['editor', undefined])
    expect(await eventsOf(ida.userId, 'member.%')).toEqual(['member.joined'])
  })

  it('grant nothing once the setting is removed', async () => {
    const jan = await signIn('jan', ['eng'])
    expect(await rolesOf(jan)).toEqual(['editor', undefined])
    await signIn('jan', ['eng'], { app: plain })
    expect(await rolesOf(jan)).toEqual([undefined, undefined])
  })
})
