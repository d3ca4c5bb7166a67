import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { GIVEN_UP } from '../../../db/queries/job.ts'
import { accountService } from '../../../src/services/accounts/account.ts'
import {
  type OperatorService,
  operatorService,
  Refused,
} from '../../../src/services/accounts/operator.ts'
import { COMPILED, runBuilt } from '../../support/built-service.ts'
import { runWarm } from '../../support/command-line.ts'
import {
  blobFolderOf,
  newDatabase,
  type Person,
  startApp,
  type TestApp,
} from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'
import { eventually } from '../../support/until.ts'

let database: { url: string; drop(): Promise<void> }
let t: TestApp
let dir: string
let alice: Person
let bob: Person
/** The operator service without the start-up time of a process. */
let operator: OperatorService

const GiB = 1024 ** 3

beforeAll(async () => {
  database = await newDatabase()
  dir = mkdtempSync(join(tmpdir(), 'satchel-admin-'))
  t = await startApp({ DATABASE_URL: database.url })
  operator = operatorService({ db: t.app.db })
  alice = await t.signIn('alice')
  bob = await t.signIn('Bob@Example.com')
  await alice.upload('docs/a.txt', 'x'.repeat(3000))
  await bob.upload('b.txt', 'bee')
})
afterAll(async () => {
  await t.stop()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

/** The arguments that an operator types after `npm run admin --`. */
const admin = (...args: string[]) => adminWith({}, ...args)
const adminWith = (settings: Record<string, string>, ...args: string[]) =>
  runWarm({
    program: resolve('src/admin.ts'),
    args,
    stdin: '',
    cwd: dir,
    env: {
      ...COMPILED,
      PATH: process.env.PATH ?? '',
      DATA_DIR: dir,
      DATABASE_URL: database.url,
      ...settings,
    },
  })
/** Runs the command in its own process, to test its exit. */
const alone = (...args: string[]) =>
  runBuilt('admin.ts', args, { DATA_DIR: dir, DATABASE_URL: database.url })

async function json(...args: string[]) {
  const { code, out, err } = await admin(...args, '--json')
  expect([code, err]).toEqual([0, ''])
  expect(out.trimEnd().split('\n')).toHaveLength(1)
  return JSON.parse(out)
}

const isIn = async (person: Person) => (await person.rest('GET', '/api/user/data')).status === 200

/** An account as the command shows it. */
const shown = (person: Person, more: object = {}) => ({
  id: person.userId,
  email: person.email,
  email_verified: true,
  name: person.email === bob.email ? 'Bob@Example.com' : person.email.split('@')[0],
  plan: 'free',
  plan_by: 'default',
  status: 'active',
  created_at: aTime,
  used_bytes: 0,
  files: 0,
  max_bytes: 5 * GiB,
  ...more,
})

describe('npm run admin -- --help', () => {
  it('lists the commands and their exit codes', async () => {
    const { code, out } = await alone('--help')
    expect(code).toBe(0)
    for (const word of [
      'users',
      'user <user>',
      'set-plan',
      'suspend',
      'restore',
      'usage',
      'storage',
      'plans',
      '--json',
      'Exit code',
    ])
      expect(out).toContain(word)
    expect((await alone('users', '--help')).out).toMatch(/--search <text>[\s\S]*--json/)
  })

  it.each<[string, string[]]>([
    ['nothing', []],
    ['an unknown command', ['remove', 'alice@example.com']],
    ['too little', ['set-plan', 'alice@example.com']],
    ['an invalid limit', ['usage', '--limit', '0']],
  ])('exits with 2 for %s', async (_what, args) => {
    const { code, out, err } = await alone(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
  })
})

describe('admin users', () => {
  it('lists accounts, oldest first', async () => {
    expect(await json('users')).toEqual({
      users: [
        shown(alice, { used_bytes: 3000, files: 1 }),
        shown(bob, { used_bytes: 3, files: 1 }),
      ],
      total: 2,
    })
    const { code, out } = await admin('users')
    expect(code).toBe(0)
    expect(out.split('\n').map(line => line.split(/ {2,}/).slice(0, 6))).toEqual([
      ['E-MAIL', 'NAME', 'PLAN', 'STATUS', 'USED', 'OF'],
      ['alice@example.com', 'alice', 'free', 'active', '2.9 KiB', '5 GiB'],
      ['Bob@Example.com', 'Bob@Example.com', 'free', 'active', '3 B', '5 GiB'],
      [''],
    ])
  })

  it('finds accounts by a part of the address or name, ignoring case', async () => {
    const found = async (text: string) =>
      (await operator.users({ search: text, over: false }, 10)).users.map(u => u.email)
    await t.app.db.run('UPDATE user SET name = ? WHERE id = ?', ['Ällice 100%_\\', alice.userId])
    expect(await json('users', '--search', 'ALICE@')).toMatchObject({
      users: [{ id: alice.userId }],
      total: 1,
    })
    expect(await found('@example.com')).toEqual(['alice@example.com', 'Bob@Example.com'])
    expect(await found('Ällice')).toEqual(['alice@example.com'])
    expect(await found('100%_\\')).toEqual(['alice@example.com'])
    expect(await found('%')).toEqual(['alice@example.com'])
    expect(await found("'; DROP TABLE user; --")).toEqual([])
    expect((await admin('users', '--search', 'nobody')).out).toBe('No accounts.\n')
    await t.app.db.run("UPDATE user SET name = 'alice' WHERE id = ?", [alice.userId])
  })

  it('shows as many accounts as requested, and counts the rest', async () => {
    const { users, total } = await json('users', '--limit', '1')
    expect([users.length, total]).toEqual([1, 2])
    expect((await admin('users', '--limit', '1')).out).toContain(
      '1 more; see --limit and --search.',
    )
  })

  it('escapes control characters in names', async () => {
    await t.app.db.run('UPDATE user SET name = ? WHERE id = ?', [
      '\u001b[2Jevil\r\n\u202eeman',
      bob.userId,
    ])
    const { out } = await admin('users')
    expect(out).toContain('[2Jevil eman')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    await t.app.db.run('UPDATE user SET name = ? WHERE id = ?', ['Bob@Example.com', bob.userId])
  })
})

describe('admin user', () => {
  it('shows an account in full, by its address or id', async () => {
    const { response } = await bob.rest('POST', '/api/workspaces/create', {
      json: { name: 'Garden' },
    })
    await bob.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'k', scopes: ['private_files:read'] },
    })
    await bob.rest('POST', '/api/files/quick_share', { json: { object: 'b.txt' } })
    const expected = {
      user: {
        ...shown(bob, { used_bytes: 3, files: 1 }),
        identities: [
          { provider: 'test', provider_user_id: 'Bob@Example.com', email: 'Bob@Example.com' },
        ],
        workspaces: [
          { id: response.workspace.workspace_id, name: 'Garden', slug: 'garden', role: 'owner' },
        ],
        sessions: 1,
        api_keys: 1,
        shares: 1,
      },
    }
    expect(await json('user', ' BOB@EXAMPLE.COM ')).toEqual(expected)
    for (const named of ['bob@example.com', bob.userId])
      expect((await operator.user(named)).id).toBe(bob.userId)
    const { out } = await admin('user', 'bob@example.com')
    for (const word of [
      bob.userId,
      'Garden (garden), owner',
      '3 B of 5 GiB in 1 files',
      'test as Bob@Example.com',
    ])
      expect(out).toContain(word)
  })

  it('exits with 1 for an unknown account', async () => {
    const { code, out, err } = await admin('user', 'nobody@example.com')
    expect([code, out, err]).toEqual([1, '', 'There is no user "nobody@example.com".\n'])
    for (const named of [newId(), '', '%', 'alice'])
      await expect(operator.user(named)).rejects.toThrow(Refused)
  })

  it('exits with 1 and lists the accounts when an unverified address is ambiguous', async () => {
    const claim = async (n: number) => {
      const { userId } = await accountService({ db: t.app.db }).signIn(
        {
          provider: `p${n}`,
          providerUserId: `${n}`,
          email: 'Claim@example.com',
          emailVerified: n === 3,
          name: '',
          givenName: '',
          familyName: '',
          picture: '',
          locale: '',
        },
        null,
      )
      return userId
    }
    const first = await claim(1)
    expect(await operator.user('claim@example.com')).toMatchObject({
      id: first,
      emailVerified: false,
    })
    const second = await claim(2)
    const { code, err } = await admin('suspend', 'claim@example.com')
    expect(code).toBe(1)
    for (const id of [first, second]) expect(err).toContain(id)
    expect((await operator.user(second)).id).toBe(second)
    const third = await claim(3)
    expect(await operator.user('CLAIM@example.com')).toMatchObject({
      id: third,
      emailVerified: true,
    })
    expect(await t.app.db.rows("SELECT id FROM user WHERE status <> 'active'")).toEqual([])
    await t.app.db.run("DELETE FROM user WHERE email = 'Claim@example.com'")
    await t.app.db.run('DELETE FROM bucket WHERE user_id NOT IN (SELECT id FROM user)')
  })
})

describe('admin set-plan', () => {
  it('moves an account to another plan immediately', async () => {
    const { user } = await json('set-plan', 'alice@example.com', 'developer')
    expect(user).toEqual(
      shown(alice, {
        plan: 'developer',
        plan_by: 'operator',
        used_bytes: 3000,
        files: 1,
        max_bytes: 50 * GiB,
      }),
    )
    expect((await alice.rest('GET', '/api/user/data')).response.user_data).toMatchObject({
      plan_id: 'developer',
      max_total_storage_bytes: 50 * GiB,
    })
    expect((await bob.rest('GET', '/api/user/data')).response.user_data.plan_id).toBe('free')
    expect((await admin('set-plan', 'alice@example.com', 'free')).out).toBe(
      'alice@example.com has the plan free.\n',
    )
    expect((await alice.rest('GET', '/api/user/data')).response.user_data.plan_id).toBe('free')
  })

  it('exits with 1 for an unknown plan or user, and changes nothing', async () => {
    const { code, err } = await admin('set-plan', 'alice@example.com', 'gold')
    expect([code, err]).toEqual([
      1,
      'There is no plan "gold". The plans are: free, developer, enterprise.\n',
    ])
    await expect(operator.setPlan('nobody@example.com', 'developer')).rejects.toThrow(Refused)
    expect(await t.app.db.rows("SELECT id FROM user WHERE plan_id <> 'free'")).toEqual([])
  })
})

describe('admin suspend and restore', () => {
  it('suspend sessions, keys and links immediately; restoring revives keys and links only', async () => {
    const carol = await t.signIn('carol')
    const again = await t.signIn('carol')
    await carol.upload('c.txt', 'hello')
    const made = await carol.rest('POST', '/api/workspaces/create', { json: { name: 'Carol' } })
    const { workspace_id } = made.response.workspace
    const keyOf = async (scopes: string[], path: string) => {
      const { response } = await carol.rest('POST', `/api/api_keys/${path}/create`, {
        json: { name: 'k', scopes },
      })
      return { headers: { cookie: '', 'x-api-key': response.api_key.key as string } }
    }
    const own = await keyOf(['private_files:read'], 'private')
    const shared = await keyOf(['workspaces:read'], workspace_id)
    const open = await carol.rest('POST', '/api/files/quick_share', { json: { object: 'c.txt' } })
    const direct = await carol.rest('POST', '/api/files/share', {
      json: { email: bob.email, objects: ['c.txt'] },
    })
    const links = [open.response.sharing_token, direct.response.sharing_info[0].sharing_token]

    const state = async () => ({
      sessions: [await isIn(carol), await isIn(again)],
      keys: [
        (await carol.rest('GET', '/api/files/tree', own)).status,
        (await carol.rest('GET', `/api/workspaces/${workspace_id}/quota`, shared)).status,
      ],
      links: await Promise.all(
        links.map(async token => (await bob.rest('GET', `/api/d/${token}`)).status),
      ),
      received: (await bob.rest('GET', '/api/files/received')).response.files.length,
    })
    const alive = { sessions: [true, true], keys: [200, 200], links: [302, 302], received: 1 }
    const dead = { sessions: [false, false], keys: [401, 401], links: [404, 404], received: 0 }
    expect(await state()).toEqual(alive)

    expect((await json('suspend', 'CAROL@example.com')).user).toMatchObject({
      id: carol.userId,
      status: 'suspended',
    })
    expect(await state()).toEqual(dead)
    expect(
      await t.app.db.rows('SELECT hash FROM session WHERE user_id = ?', [carol.userId]),
    ).toEqual([])
    await expect(t.signIn('carol')).rejects.toMatchObject({ reason: 'auth_failed' })
    expect((await operator.suspend('carol@example.com')).status).toBe('suspended')

    // A session created at the moment of the suspension does not return either.
    await t.app.db.run(
      "INSERT INTO session (hash, id, user_id, created_at, expires_at, last_used_at) VALUES ('x', 'x', ?, 0, ?, 0)",
      [carol.userId, Date.now() + 1e6],
    )
    const { code, out } = await admin('restore', 'carol@example.com')
    expect([code, out]).toEqual([0, expect.stringMatching(/^carol@example.com is active\./)])
    expect(await state()).toEqual({ ...alive, sessions: [false, false] })
    expect(
      await t.app.db.rows('SELECT hash FROM session WHERE user_id = ?', [carol.userId]),
    ).toEqual([])
    expect(await isIn(await t.signIn('carol'))).toBe(true)
    expect([await isIn(alice), await isIn(bob)]).toEqual([true, true])
  })

  it('restoring an active account leaves its sessions alone', async () => {
    expect((await operator.restore('alice@example.com')).status).toBe('active')
    expect(await isIn(alice)).toBe(true)
  })

  it('exits with 1 for an unknown account', async () => {
    for (const command of ['suspend', 'restore'])
      expect((await admin(command, 'nobody@example.com')).code).toBe(1)
  })
})

describe('admin usage', () => {
  it('shows the storage of each user and workspace, largest first', async () => {
    const { response } = await bob.rest('GET', '/api/workspaces/list')
    const form = new FormData()
    form.append('file', new Blob(['y'.repeat(500)]), 'y.txt')
    await bob.rest('POST', `/api/workspaces/${response[0].workspace_id}/files/upload`, { form })
    const dora = await t.signIn('dora')
    await dora.upload('kept.txt', 'k'.repeat(70))
    await dora.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: false } })

    const usage = await json('usage')
    expect(
      usage.users.map((u: { email: string; used_bytes: number }) => [u.email, u.used_bytes]),
    ).toEqual([
      ['alice@example.com', 3000],
      ['carol@example.com', 5],
      ['Bob@Example.com', 3],
    ])
    expect(usage.workspaces).toEqual([
      {
        id: response[0].workspace_id,
        name: 'Garden',
        slug: 'garden',
        owner_id: bob.userId,
        owner: 'Bob@Example.com',
        used_bytes: 500,
        kept_bytes: 0,
        files: 1,
        folders: 0,
        max_bytes: 5 * GiB,
      },
      expect.objectContaining({ id: anId, name: 'Carol', used_bytes: 0 }),
    ])
    expect(usage.kept).toEqual({ areas: 1, used_bytes: 70, files: 1 })
    expect(usage.total).toEqual({ areas: 6, used_bytes: 3578, files: 5 })

    const { out } = await admin('usage', '--limit', '1')
    expect(out).toMatch(
      /alice@example\.com[\s\S]*Garden[\s\S]*Kept for deleted accounts: 70 B in 1 files of 1 accounts\.[\s\S]*Total: 3\.5 KiB in 5 files\./,
    )
    expect(out).not.toContain('carol@example.com')
  })
})

describe('admin storage', () => {
  const settings = () => ({ DATA_DIR: dir, BLOB_DIR: dir, DATABASE_URL: database.url })

  it('shows used and free storage on the disk', async () => {
    const { code, out } = await runBuilt('admin.ts', ['storage', '--json'], settings())
    expect(code).toBe(0)
    const { bavail, blocks, bsize } = statfsSync(dir)
    const { space, event_count, ...totals } = JSON.parse(out)
    expect(totals).toEqual({
      used_bytes: 3578,
      file_count: 5,
      folder_count: 1,
      left_bytes: 70,
      left_file_count: 1,
      trash_bytes: 0,
      trash_count: 0,
      version_bytes: 0,
      upload_bytes: 0,
      upload_count: 0,
      deleting_bytes: 0,
      deleting_count: 0,
    })
    expect(event_count).toBeGreaterThan(0)
    expect(space.total_bytes).toBe(blocks * bsize)
    expect(Math.abs(space.free_bytes / (bavail * bsize) - 1)).toBeLessThan(0.5)
    const words = (await runBuilt('admin.ts', ['storage'], settings())).out
    expect(words).toMatch(
      /^files +3\.5 KiB +5 files, 1 folders\n +left by deleted accounts +70 B +1 files\n/,
    )
    expect(words).toMatch(/free on the disk +\S+ \S+ +of /)
  })

  it('exits with 2 when the store cannot be reached', async () => {
    const nowhere = join(dir, 'nowhere')
    const { code, out, err } = await runBuilt('admin.ts', ['storage'], {
      ...settings(),
      BLOB_DIR: nowhere,
    })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^The database could not be read: /)
  })
})

describe('admin plans', () => {
  it('lists plans with their limits, null for no limit', async () => {
    const { plans } = await json('plans')
    expect(plans.map((p: { id: string; users: number }) => [p.id, p.users])).toEqual([
      ['free', 3],
      ['developer', 0],
      ['enterprise', 0],
    ])
    expect(plans[2]).toEqual({
      id: 'enterprise',
      name: 'Enterprise',
      users: 0,
      max_file_size_bytes: 100 * GiB,
      max_total_storage_bytes: 1024 * GiB,
      max_files: null,
      max_user_workspaces: 200,
      max_files_workspace: null,
      max_total_storage_bytes_workspace: 1024 * GiB,
      max_users_workspace: 1000,
      max_workspace_folders: null,
      max_private_api_keys: 500,
      max_workspace_api_keys: 500,
      max_folders: null,
      max_public_links: null,
      max_pending_invites: 5_000,
      max_notes: null,
      is_default: false,
      retired_at: null,
    })
    const { out } = await admin('plans')
    expect(out).toMatch(/free \(Free\), 3 accounts, default\n {2}max_file_size_bytes +2 GiB/)
    expect(out).toMatch(/max_files +unlimited/)
  })
})

describe('admin create-plan, change-plan, default-plan, retire-plan, restore-plan and delete-plan', () => {
  it('manage the whole life of a plan', async () => {
    const made = await json(
      'create-plan',
      'team',
      'Team',
      '--set',
      'max_total_storage_bytes=2.5GiB',
      '--set',
      'max_files=unlimited',
    )
    expect(made.plan).toMatchObject({
      id: 'team',
      name: 'Team',
      users: 0,
      max_total_storage_bytes: 2.5 * GiB,
      max_files: null,
      max_folders: 10_000,
      is_default: false,
      retired_at: null,
    })
    expect(
      (await admin('change-plan', 'team', '--name', 'Teams', '--set', 'max_notes=5')).out,
    ).toMatch(/^team \(Teams\), 0 accounts\n[\s\S]*max_notes +5/)
    expect((await json('retire-plan', 'team')).plan.retired_at).toEqual(aTime)
    const refused = await admin('set-plan', 'alice@example.com', 'team')
    expect([refused.code, refused.err]).toEqual([
      1,
      'The plan "team" is retired. The plans are: free, developer, enterprise.\n',
    ])
    expect(await admin('default-plan', 'team')).toMatchObject({
      code: 1,
      err: expect.stringContaining('retired'),
    })
    await json('restore-plan', 'team')
    expect((await admin('default-plan', 'team')).out).toBe('New accounts get the plan team.\n')
    expect(await admin('delete-plan', 'team')).toMatchObject({
      code: 1,
      err: expect.stringContaining('default'),
    })
    await json('default-plan', 'free')
    expect(await json('delete-plan', 'team')).toEqual({ deleted_id: 'team' })
  })

  it.each<[string, string[], string]>([
    [
      'a limit that does not exist',
      ['--set', 'max_fun=1'],
      'There is no limit "max_fun". The limits are: max_file_size',
    ],
    ['a size of a number', ['--set', 'max_files=1GiB'], '"1GiB" is no value of max_files.'],
    ['no value', ['--set', 'max_files'], '"" is no value of max_files.'],
  ])('exits with 1 for %s', async (_what, args, message) => {
    const { code, err } = await admin('change-plan', 'free', ...args)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })
})

describe('admin set-limit and limits', () => {
  it('set one limit of an account, return it to the plan, and list the exceptions', async () => {
    expect(await json('users', '--over')).toEqual({ users: [], total: 0 })
    const { limits } = await json(
      'set-limit',
      'alice@example.com',
      'max_total_storage_bytes',
      '1KiB',
    )
    expect(limits).toContainEqual({
      name: 'max_total_storage_bytes',
      value: 1024,
      of_plan: 5 * GiB,
      from: 'account',
    })
    expect(await json('users', '--over')).toMatchObject({
      users: [{ id: alice.userId, max_bytes: 1024 }],
      total: 1,
    })
    expect((await admin('limits', 'alice@example.com')).out).toMatch(
      /max_total_storage_bytes +1 KiB +account +5 GiB/,
    )
    await json('set-limit', alice.userId, 'max_total_storage_bytes', 'default')
    expect((await json('users', '--over')).total).toBe(0)
    expect(
      await t.app.db.run("DELETE FROM outbox WHERE kind = 'mail' AND payload LIKE '%over-quota%'"),
    ).toBe(1)
  })

  it('set a limit of a workspace by its slug', async () => {
    const { limits } = await json('set-limit', 'garden', 'max_users_workspace', '2')
    expect(limits).toContainEqual({
      name: 'max_users_workspace',
      value: 2,
      of_plan: 10,
      from: 'workspace',
    })
    const refused = await admin('set-limit', 'garden', 'max_notes', '2')
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/^max_notes does not limit workspaces/),
    ])
  })
})

describe('admin retry-mails', () => {
  it('retries only mails whose delivery was given up', async () => {
    await t.app.worker.stop()
    const insert = (id: string, kind: string, dueAt: number) =>
      t.app.db.run(
        "INSERT INTO outbox (id, kind, payload, attempts, due_at, last_error, created_at) VALUES (?, ?, '{}', 7, ?, 'refused', 0)",
        [id, kind, dueAt],
      )
    const [given, waiting] = [newId(), newId()]
    const later = Date.now() + 1e7
    await insert(given, 'mail', GIVEN_UP)
    await insert(waiting, 'mail', later)
    expect(await json('retry-mails')).toEqual({ mails: 1 })
    const rows = await t.app.db.rows<{
      id: string
      attempts: number
      dueAt: number
      createdAt: number
    }>('SELECT id, attempts, due_at AS dueAt, created_at AS createdAt FROM outbox ORDER BY id')
    expect(rows[0]).toMatchObject({ id: given, attempts: 0 })
    expect(Math.abs(Number(rows[0]?.dueAt) - Date.now())).toBeLessThan(30_000)
    expect(Math.abs(Number(rows[0]?.createdAt) - Date.now())).toBeLessThan(30_000)
    expect(rows[1]).toEqual({ id: waiting, attempts: 7, dueAt: later, createdAt: 0 })
    expect((await admin('retry-mails')).out).toBe('0 mails are sent again.\n')
  })
})

describe('admin maintenance', () => {
  it('refuses changes until the given time, reports it, and accepts changes again', async () => {
    const writes = async () =>
      (await alice.rest('POST', '/api/folders', { json: { path: '..' } })).status
    expect(await json('maintenance', 'status')).toEqual({ maintenance: null })
    const made = await json('maintenance', 'on', '--until', '2126-01-01T10:00Z').catch(() => null)
    expect(made).toBeNull()
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const on = await json('maintenance', 'on', '--until', until, '--message', 'A larger disk')
    expect(on).toEqual({ maintenance: { started_at: aTime, until, message: 'A larger disk' } })
    await eventually(async () => expect(await writes()).toBe(503))
    expect((await admin('maintenance', 'status')).out).toMatch(
      /changes are +refused[\s\S]*A larger disk/,
    )
    expect(await json('maintenance', 'off')).toEqual({ ended: true })
    await eventually(async () => expect(await writes()).toBe(400))
    expect((await admin('maintenance', 'off')).out).toBe(
      'There is no maintenance: changes are accepted.\n',
    )
  })

  it.each([
    ['a time without a zone', '2026-12-01T10:00'],
    ['a past time', '2020-01-01T00:00Z'],
    ['no time', 'tomorrow'],
  ])('exits with 1 for %s', async (_what, until) => {
    const { code, err } = await admin('maintenance', 'on', '--until', until)
    expect(code).toBe(1)
    expect(err).toMatch(/time/)
  })
})

describe('admin status', () => {
  it('reports running instances, and problems with jobs and the last backup', async () => {
    await t.app.db.Job.destroy({ where: {} })
    const down = await admin('status')
    expect([down.code, down.out]).toEqual([
      3,
      expect.stringMatching(/^critical +The blob store does not answer/),
    ])
    const status = () => adminWith({ BLOB_DIR: blobFolderOf(database.url) }, 'status')
    const { code, out } = await status()
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/^critical +No instance of the service says that it runs\./),
    ])
    await t.app.sampler?.sample()
    await t.app.report.run()
    const id = newId()
    await t.app.db.Job.create({
      id,
      kind: 'mail',
      payload: '{}',
      attempts: 3,
      createdAt: Date.now() - 7_300_000,
      dueAt: Date.now() + 1e7,
      lastError: '451 <bob@example.com> try later',
    })
    await t.app.db.BackupRun.create({
      id: newId(),
      finishedAt: Date.now() - 9 * 86_400_000,
      bytes: 1,
    })
    // A slow machine may report the requests refused during the maintenance above.
    const findings = async () =>
      (await status()).out
        .trimEnd()
        .split('\n')
        .map(line => line.replace(/ +/, ' '))
        .filter(line => !line.includes('of the requests fail'))
    expect(await findings()).toEqual([
      'warning Mail has waited for 2 hours: 1 message. Last error: 451 <...@...> try later',
      'warning The last backup was made 9 days ago.',
    ])
    await t.app.db.Job.destroy({ where: { id } })
    await t.app.db.BackupRun.destroy({ where: {} })
    expect(await findings()).toEqual(['info No backup was made with `npm run admin -- backup`.'])
  })
})

describe('exits with 2 and an explanation when no status is available:', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'the database is missing',
      { DATABASE_URL: 'sqlite:nowhere.sqlite' },
      /There is no database .*nowhere\.sqlite/,
    ],
    [
      'the server is unreachable',
      { DATABASE_URL: 'mysql://root@127.0.0.1:9/satchel' },
      /ECONNREFUSED/,
    ],
    ['a setting is wrong', { PORT: 'x' }, /PORT/],
  ])('%s', async (_what, settings, says) => {
    const { code, out, err } = await runBuilt('admin.ts', ['users'], {
      DATA_DIR: dir,
      DATABASE_URL: database.url,
      ...settings,
    })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^The database could not be read: /)
    expect(err).toMatch(says)
    expect(err).not.toMatch(/^ +at /m)
  })
})
