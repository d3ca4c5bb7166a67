import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { callerFinder } from '../../src/access/credential.ts'
import { MAX_NOTE } from '../../src/values/limits.ts'
import { insertFolder } from '../bench/folder.ts'
import { ask } from '../support/ask.ts'
import { anotherIdentity, found, join, privateKey, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp({ RATE_EXPORTS: '4', WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1' })
  await t.app.worker.stop()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
})
afterAll(() => t?.stop())

const ROUTE = '/api/user/export'

// biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
async function exportOf(person: Person): Promise<any> {
  const { status, headers, text } = await person.rest('GET', ROUTE)
  expect(status).toBe(200)
  expect(headers.get('content-disposition')).toMatch(
    /^attachment; filename="satchel-\d{4}-\d\d-\d\d\.json"$/,
  )
  expect(headers.get('cache-control')).toBe('no-store')
  return JSON.parse(text)
}

const lists = [
  ...[
    'identities',
    'sessions',
    'api_keys',
    'webhooks',
    'workspaces',
    'invites_received',
    'invites_sent',
  ],
  ...[
    'shares_made',
    'shares_received',
    'file_requests',
    'folders',
    'files',
    'tags',
    'tagged_entries',
    'favourites',
    'notes',
    'versions',
    'trash',
    'file_events',
    'account_events',
  ],
]

const replace = (person: Person, path: string, content: string) => {
  const form = new FormData()
  form.append('on_conflict', 'replace')
  form.append('file', new File([content], path))
  return person.rest('POST', '/api/files/upload', { form })
}

describe('The account export', () => {
  it('contains every list, even the empty ones', async () => {
    const nobody = await t.signIn('nobody')
    const { exported_at, account, ...rest } = await exportOf(nobody)
    expect(exported_at).toEqual(aTime)
    expect(account).toEqual({
      id: nobody.userId,
      email: nobody.email,
      email_verified: true,
      name: 'nobody',
      given_name: 'nobody',
      family_name: '',
      picture: '',
      locale: 'en',
      created_at: aTime,
      plan_id: 'free',
      sign_in_notices: false,
      used_bytes: 0,
      file_count: 0,
      folder_count: 0,
      kept_bytes: 0,
    })
    expect(Object.keys(rest)).toEqual(lists)
    const empty = lists.filter(name => rest[name].length === 0)
    expect(lists.filter(name => !empty.includes(name))).toEqual([
      'identities',
      'sessions',
      'account_events',
    ])
    expect(rest.sessions).toEqual([
      {
        id: anId,
        device: expect.any(String),
        address: expect.any(String),
        current: true,
        created_at: aTime,
        last_used_at: aTime,
        expires_at: aTime,
      },
    ])
  })

  it('describes the account, its drives and its shares, and contains no secret of anybody', async () => {
    const secrets: string[] = []
    await anotherIdentity(t, alice)
    const own = await privateKey(t, alice)
    const garden = await found(alice, 'Garden')
    const shared = await workspaceKey(t, alice, garden)
    const orchard = await found(bob, 'Orchard')
    await join(t, orchard, alice, 'viewer')
    const meadow = await found(bob, 'Meadow')
    const invite = (who: Person, workspace_id: string, email: string) =>
      who.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id, email, role: 'editor' },
      })
    await invite(alice, garden, 'carol@example.com')
    await invite(bob, meadow, alice.email)
    // An invite to another member of her workspace, which she must not see.
    await invite(bob, orchard, 'stranger@example.com')
    const secretUrl = 'http://127.0.0.1:9/hooks/secret-path'
    const { createWebhook } = await ask(
      alice,
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret } }',
      { input: { url: secretUrl } },
    )

    await alice.upload('docs/deep/a.txt', 'first')
    await replace(alice, 'b.txt', 'old')
    await replace(alice, 'b.txt', 'newer')
    await alice.upload('gone/c.txt', 'gone')
    await alice.rest('DELETE', '/api/folders?path=gone&recursive=true')
    const md5 = '8b04d5e3775d298e78455efc5ca404d5'
    await alice.rest('PUT', `/api/files/${md5}/note`, {
      json: { content: 'mine "quoted" \u2028 \u{1f92b}' },
    })
    const link = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'b.txt', password: 'secret' },
    })
    const direct = await alice.rest('POST', '/api/files/share', {
      json: { email: bob.email, objects: ['b.txt'] },
    })
    const asked: string[] = []
    for (const label of ['Pictures', 'Minutes']) {
      const made = await alice.rest('POST', '/api/file_requests', {
        json: { label, password: 'secret' },
      })
      asked.push(made.response.id)
      secrets.push(made.response.link.slice(-43))
    }
    await alice.rest('DELETE', `/api/file_requests/${asked[1]}`)
    await bob.upload('private/of-bob.txt', 'bob')
    const back = await bob.rest('POST', '/api/files/share', {
      json: { email: alice.email, objects: ['private/of-bob.txt'] },
    })
    await bob.upload('hidden.txt', 'hidden')

    const all = await exportOf(alice)
    const text = JSON.stringify(all)
    const { response: received } = await alice.rest('GET', '/api/workspaces/invites/mine')
    secrets.push(own.key, shared.key, createWebhook.secret, '/hooks/secret-path', received[0].token)
    secrets.push(link.response.sharing_token, direct.response.sharing_info[0].sharing_token)
    secrets.push(back.response.sharing_info[0].sharing_token)
    const rows = await t.app.db.rows<Record<string, string>>(
      'SELECT hash AS a, NULL AS b FROM session UNION ALL SELECT hash, hint FROM api_key UNION ALL SELECT password_hash, NULL FROM share',
    )
    secrets.push(...rows.flatMap(row => Object.values(row)).filter(Boolean))
    expect(secrets.length).toBeGreaterThan(12)
    // A hint of four characters can occur anywhere by chance.
    for (const secret of secrets.filter(({ length }) => length > 4))
      expect(text).not.toContain(secret)
    for (const foreign of ['stranger@example.com', 'private/', 'hidden.txt'])
      expect(text).not.toContain(foreign)

    expect(all.account).toMatchObject({
      used_bytes: 10,
      file_count: 2,
      folder_count: 2,
      kept_bytes: 7,
    })
    expect(all.identities.map(({ provider }: { provider: string }) => provider)).toEqual([
      'test',
      'lab',
    ])
    expect(all.api_keys).toMatchObject([
      {
        id: own.id,
        workspace_id: null,
        scopes: expect.arrayContaining(['private_files:read']),
        expires_at: null,
      },
      { id: shared.id, workspace_id: garden },
    ])
    expect(all.webhooks).toEqual([
      { id: anId, host: '127.0.0.1:9', state: 'active', created_at: aTime },
    ])
    expect(all.workspaces).toMatchObject([
      { id: garden, name: 'Garden', role: 'owner' },
      { id: orchard, name: 'Orchard', role: 'viewer' },
    ])
    expect(all.invites_received).toMatchObject([
      { workspace_id: meadow, workspace_name: 'Meadow', role: 'editor' },
    ])
    expect(all.invites_sent).toMatchObject([
      { workspace_id: garden, email: 'carol@example.com', role: 'editor' },
    ])
    expect(all.shares_made).toMatchObject([
      {
        path: 'b.txt',
        shared_for: null,
        password_protected: true,
        downloads: 0,
        max_downloads: null,
      },
      { path: 'b.txt', shared_for: bob.email, password_protected: false, seen: false },
    ])
    expect(all.shares_received).toEqual([
      {
        id: anId,
        file_name: 'of-bob.txt',
        file_type: 'text/plain',
        size: 3,
        md5_checksum: expect.any(String),
        shared_by: bob.email,
        seen: false,
        created_at: aTime,
        expires_at: aTime,
      },
    ])
    expect(all.file_requests).toEqual([
      {
        id: asked[0],
        label: 'Pictures',
        message: '',
        folder: '',
        folder_id: anId,
        workspace_id: null,
        kinds: [],
        password_protected: true,
        asks_name: false,
        notifies: true,
        max_files: null,
        max_file_size: null,
        max_bytes: null,
        files: 0,
        bytes: 0,
        created_at: aTime,
        expires_at: aTime,
        closed_at: null,
      },
      expect.objectContaining({ id: asked[1], label: 'Minutes', closed_at: aTime }),
    ])
    expect(all.folders).toEqual([
      { id: anId, path: 'docs', created_at: aTime, updated_at: aTime },
      { id: anId, path: 'docs/deep', created_at: aTime, updated_at: aTime },
    ])
    expect(all.files.map(({ path, size }: { path: string; size: number }) => [path, size])).toEqual(
      [
        ['docs/deep/a.txt', 5],
        ['b.txt', 5],
      ],
    )
    expect(all.files[0]).toEqual({
      id: anId,
      path: 'docs/deep/a.txt',
      file_type: 'text/plain',
      size: 5,
      md5_checksum: md5,
      revision: 1,
      created_at: aTime,
      modified_at: aTime,
      updated_at: aTime,
    })
    expect(all.notes).toEqual([
      { md5_checksum: md5, content: 'mine "quoted" \u2028 \u{1f92b}', updated_at: aTime },
    ])
    expect(all.versions).toMatchObject([{ file_id: all.files[1].id, size: 3, replaced_at: aTime }])
    expect(all.trash).toMatchObject([
      { kind: 'folder', path: 'gone', size: 4, file_count: 1, expires_at: aTime },
    ])
    const kinds = (events: { kind: string }[]) => events.map(({ kind }) => kind)
    expect(kinds(all.file_events)).toEqual(
      expect.arrayContaining(['file.created', 'folder.deleted', 'share.created']),
    )
    expect(kinds(all.account_events)).toEqual(
      expect.arrayContaining(['session.started', 'key.created']),
    )
  })

  it('refuses API keys of every scope, and requests without credentials', async () => {
    const { caller } = await privateKey(t, alice)
    const answers = await Promise.all([caller, t.anonymous].map(who => who.rest('GET', ROUTE)))
    expect(answers.map(({ status, response }) => [status, response.code])).toEqual([
      [401, 'KEY_OUT_OF_BOUNDS'],
      [401, 'UNAUTHENTICATED'],
    ])
  })

  it('is limited per minute by its setting, and logged every time', async () => {
    const carol = await t.signIn('carol')
    for (let times = 0; times < 4; times++) await exportOf(carol)
    const { status, response, headers } = await carol.rest('GET', ROUTE)
    expect([status, response.code, response.policy]).toEqual([429, 'RATE_LIMITED', 'exports'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const lines = t
      .logs()
      .split('\n')
      .filter(line => line.includes('"data_exported"') && line.includes(carol.userId))
    expect(lines).toHaveLength(4)
  })

  it('responds to HEAD with the headers of GET', async () => {
    const dora = await t.signIn('dora')
    const { status, headers, text } = await dora.rest('HEAD', ROUTE)
    expect([status, headers.get('content-type'), text]).toEqual([
      200,
      'application/json; charset=utf-8',
      '',
    ])
    expect(headers.get('content-disposition')).toContain('attachment')
  })
})

it('reads long notes in small batches', async () => {
  const fay = await t.signIn('fay')
  const caller = await callerFinder(t.app.db)({
    headers: { cookie: fay.cookie },
  } as IncomingMessage)
  if (!caller) throw new Error('Fay is not signed in.')
  const { bucketId } = caller.bucket
  const checksums = Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(32, '0'))
  await t.app.db.Note.bulkCreate(
    checksums.map(checksum => ({
      bucketId,
      checksum,
      content: 'n'.repeat(MAX_NOTE),
      updatedAt: 0,
    })),
  )
  let [longest, text] = [0, '']
  const drive = { id: bucketId, eventKinds: [] }
  for await (const part of t.app.services.accountExports.make(caller, drive, async () => true)
    .chunks) {
    longest = Math.max(longest, part.length)
    text += part
  }
  expect(longest).toBeLessThan(100 * MAX_NOTE)
  const { notes } = JSON.parse(text)
  expect(notes.map(({ md5_checksum }: { md5_checksum: string }) => md5_checksum)).toEqual(checksums)
})

describe('The export of 40,000 files', () => {
  const FILES = 40_000
  let erin: Person

  beforeAll(async () => {
    erin = await t.signIn('erin')
    const where = { userId: erin.userId }
    const { id, rootId } = await t.app.db.Bucket.findOne({ where, raw: true, rejectOnEmpty: true })
    await insertFolder(t.app.db, { bucketId: id, rootId, ...where }, 'big', FILES)
  })

  it('lists each file once', async () => {
    const { files, account } = await exportOf(erin)
    expect(account.file_count).toBe(FILES)
    expect(files).toHaveLength(FILES)
    expect(new Set(files.map(({ path }: { path: string }) => path)).size).toBe(FILES)
    expect(files.at(-1).path).toMatch(/^big\/file-/)
  })

  it('breaks off as invalid JSON when the session ends during the export', async () => {
    const response = await fetch(`${t.url}${ROUTE}`, { headers: { cookie: erin.cookie } })
    const reader = response.body?.getReader()
    let text = new TextDecoder().decode((await reader?.read())?.value)
    await t.app.db.run('DELETE FROM session WHERE user_id = ?', [erin.userId])
    await expect(
      (async () => {
        for (;;) {
          const { done, value } = (await reader?.read()) ?? { done: true }
          if (done) return
          text += new TextDecoder().decode(value)
        }
      })(),
    ).rejects.toThrow()
    expect(text).toMatch(/^\{\n"exported_at"/)
    expect(() => JSON.parse(text)).toThrow()
    expect(t.logs()).toContain('a file could not be sent completely')
  })
})
