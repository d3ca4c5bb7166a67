import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SERVICE_LOG } from '../../../db/models/event.ts'
import { changeRunner } from '../../../src/services/history/event.ts'
import { ask } from '../../support/ask.ts'
import { privateKey } from '../../support/builders.ts'
import { COMPILED } from '../../support/built-service.ts'
import { runWarm } from '../../support/command-line.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
let olga: Person
let alice: Person

beforeAll(async () => {
  database = await newDatabase()
  t = await startApp({
    DATABASE_URL: database.url,
    OPERATORS: 'olga@example.com',
    LOG_ADDRESSES: 'full',
    TRUST_PROXY: 'loopback',
  })
  olga = await t.signIn('olga')
  alice = await t.signIn('alice')
})
afterAll(async () => {
  await t?.stop()
  await database?.drop()
})

const TRAIL = `query ($filter: AuditFilter, $first: Int, $after: String) { operator { auditTrail(filter: $filter, first: $first, after: $after) {
  nodes { id happenedAt kind via actor { id } actorId operator { id } concerned { id } credentialId credentialName subjectId address agent details { path } }
  pageInfo { hasNextPage endCursor } } } }`

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const trail = async (filter: object = {}, page: object = {}): Promise<any[]> =>
  (await ask(olga, TRAIL, { filter, ...page })).operator.auditTrail.nodes

const admin = (...args: string[]) =>
  runWarm({
    program: resolve('src/admin.ts'),
    args,
    stdin: '',
    cwd: process.cwd(),
    env: { ...COMPILED, PATH: process.env.PATH ?? '', DATABASE_URL: database.url },
  })

describe('The audit trail', () => {
  it('records who did what, with which credential, from where', async () => {
    const { id, key } = await privateKey(t, alice)
    const form = new FormData()
    form.append('file', new Blob(['x']), 'by-key.txt')
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'curl/8.5.0' }
    expect((await t.withKey(key).rest('POST', '/api/files/upload', { form, headers })).status).toBe(
      200,
    )
    const [found, ...others] = await trail({ address: '203.0.113.7' })
    expect(others).toEqual([])
    expect(found).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}:\d+$/),
      happenedAt: aTime,
      kind: 'FILE_CREATED',
      via: 'KEY',
      actor: { id: alice.userId },
      actorId: alice.userId,
      operator: null,
      concerned: null,
      credentialId: id,
      credentialName: expect.any(String),
      subjectId: anId,
      address: '203.0.113.7',
      agent: 'curl/8.5.0',
      details: { path: 'by-key.txt' },
    })
    expect(await trail({ about: found.subjectId })).toEqual([found])
    expect(await trail({ credential: id })).toEqual([found])
  })

  it('names the operator, but not in the log of the account', async () => {
    const bob = await t.signIn('bob')
    const suspend =
      'mutation ($input: OperatorUpdateAccountInput!) { operatorUpdateAccount(input: $input) { account { id } } }'
    const account = `account:${bob.userId}`
    await ask(olga, suspend, { input: { account, status: 'SUSPENDED' } })
    await ask(olga, suspend, { input: { account, status: 'ACTIVE' } })
    const [restored, suspended] = await trail({ person: olga.userId, about: account })
    expect([restored.kind, suspended.kind]).toEqual(['ACCOUNT_RESTORED', 'ACCOUNT_SUSPENDED'])
    expect(suspended).toMatchObject({
      via: 'OPERATOR',
      actor: null,
      operator: { id: olga.userId },
      concerned: { id: bob.userId },
      subjectId: bob.userId,
    })
    const again = await t.signIn('bob')
    const { response } = await again.rest('GET', '/api/user/events')
    expect(JSON.stringify(response)).not.toContain(olga.userId)
  })

  it('records operators, maintenance, exports, deleted accounts and its own readers', async () => {
    const eve = await t.signIn('eve')
    await ask(
      olga,
      'mutation ($input: OperatorAppointInput!) { operatorAppoint(input: $input) { operator { bySetting } } }',
      {
        input: { account: `account:${eve.userId}` },
      },
    )
    await eve.rest('GET', '/api/user/export')
    await eve.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
    await t.app.services.maintenance.start({ endsAt: Date.now() + 60_000 }, null)
    await t.app.services.maintenance.end(null)
    const kinds = [
      'OPERATOR_APPOINTED',
      'ACCOUNT_EXPORTED',
      'ACCOUNT_DELETED',
      'MAINTENANCE_STARTED',
      'MAINTENANCE_ENDED',
    ]
    const found = await trail({ kinds: [...kinds, 'AUDIT_READ'] })
    // The log of a deleted account is deleted, and the log of the service remains.
    expect(found.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        'ACCOUNT_EXPORTED',
        'ACCOUNT_DELETED',
        'MAINTENANCE_STARTED',
        'MAINTENANCE_ENDED',
      ]),
    )
    expect(found.find(({ kind }) => kind === 'ACCOUNT_DELETED')).toMatchObject({
      actor: null,
      actorId: eve.userId,
    })
    expect(found.find(({ kind }) => kind === 'MAINTENANCE_ENDED')).toMatchObject({
      operator: null,
      agent: 'npm run admin',
    })
    expect(found[0]).toMatchObject({ kind: 'AUDIT_READ', operator: { id: olga.userId } })
  })

  it('is read page by page, and filtered by time', async () => {
    for (let i = 0; i < 5; i++) await alice.upload(`page-${i}.txt`, 'x')
    const filter = { person: alice.userId, kinds: ['FILE_CREATED'] }
    const all = await trail(filter)
    const paged = []
    let page = { hasNextPage: true, endCursor: null as string | null }
    while (page.hasNextPage) {
      const { auditTrail } = (await ask(olga, TRAIL, { filter, first: 2, after: page.endCursor }))
        .operator
      paged.push(...auditTrail.nodes)
      page = auditTrail.pageInfo
    }
    expect(paged).toEqual(all)
    // A client can forge a cursor, so reading later pages is recorded, too.
    const readings = async () => (await trail({ kinds: ['AUDIT_READ'] }, { first: 1000 })).length
    const before = await readings()
    const { auditTrail } = (await ask(olga, TRAIL, { filter, first: 2 })).operator
    await ask(olga, TRAIL, { filter, first: 2, after: auditTrail.pageInfo.endCursor })
    expect(await readings()).toBe(before + 3)
    const since = all[2].happenedAt
    expect(await trail({ ...filter, since })).toEqual(
      all.filter(({ happenedAt }) => happenedAt >= since),
    )
    expect(await trail({ ...filter, until: since })).toEqual(
      all.filter(({ happenedAt }) => happenedAt < since),
    )
    expect((await olga.graphql(TRAIL, { filter: { person: "x' OR 1=1" } })).code).toBe(
      'INVALID_INPUT',
    )
  })

  it('records no change that failed, and every change that succeeded', async () => {
    const change = changeRunner({ db: t.app.db })
    const caller = { userId: alice.userId, via: 'session', viaId: null } as const
    const failing = change(caller, async ({ tx, record }) => {
      await t.app.db.User.update(
        { name: 'changed' },
        { where: { id: alice.userId }, transaction: tx },
      )
      record(SERVICE_LOG, { kind: 'account.exported', subject: 'never' })
      throw new Error('killed')
    })
    await expect(failing).rejects.toThrow('killed')
    expect(await t.app.db.rows("SELECT seq FROM event WHERE subject_id = 'never'")).toEqual([])
    expect(await t.app.db.User.findByPk(alice.userId, { raw: true })).toMatchObject({
      name: 'alice',
    })
  })

  it('is numbered without gaps when many write to the log of the service at once', async () => {
    const before = (await trail({ kinds: ['AUDIT_READ'] })).length
    await Promise.all(Array.from({ length: 12 }, () => trail({ kinds: ['AUDIT_READ'] })))
    expect(await trail({ kinds: ['AUDIT_READ'] })).toHaveLength(before + 13)
    const rows = await t.app.db.rows<{ seq: number }>(
      'SELECT seq FROM event WHERE log_id = ? ORDER BY seq',
      [SERVICE_LOG],
    )
    expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, i) => i + 1))
  })
})

describe('GET /audit/export', () => {
  const download = (who: { rest: Person['rest'] }, query: string, method = 'GET') =>
    who.rest(method, `/audit/export?${query}`)

  it('sends the same entries as the command line, and records one export', async () => {
    await alice.upload('=1+1.txt', 'x')
    const readings = async () => (await trail({ kinds: ['AUDIT_READ'] }, { first: 1000 })).length
    const before = await readings()
    const query = `person=account:${alice.userId}&kind=FILE_CREATED&kind=folder.created`
    const csv = await download(olga, `format=csv&${query}`)
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(csv.headers.get('content-disposition')).toMatch(
      /^attachment; filename="satchel-audit-[\d-]{10}\.csv"$/,
    )
    expect(csv.headers.get('cache-control')).toBe('no-store')
    expect(await readings()).toBe(before + 2)
    const same = await admin(
      'audit',
      '--actor',
      alice.userId,
      '--kind',
      'file.created',
      '--format',
      'csv',
    )
    expect(csv.text).toBe(same.out)
    const ndjson = await download(olga, `format=ndjson&${query}`)
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = ndjson.text.trimEnd().split('\n')
    expect(lines).toHaveLength(csv.text.trimEnd().split('\r\n').length - 1)
    const { happened_at: until, address } = JSON.parse(lines[0] ?? '')
    const older = await download(
      olga,
      `format=ndjson&${query}&until=${until}&address=${encodeURIComponent(address)}`,
    )
    expect(older.text).not.toContain(lines[0])
    expect((await download(olga, `format=ndjson&since=2999-01-01T00:00Z`)).text).toBe('')
  })

  it('requires an operator’s session', async () => {
    const { key } = await privateKey(t, olga)
    expect((await download(t.anonymous, 'format=csv')).status).toBe(401)
    expect((await download(t.withKey(key), 'format=csv')).status).toBe(401)
    const refused = await download(alice, 'format=csv')
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.not.stringContaining('happened_at'),
    ])
  })

  it('records nothing for HEAD', async () => {
    const readings = async () => (await trail({ kinds: ['AUDIT_READ'] }, { first: 1000 })).length
    const before = await readings()
    const { status, text } = await download(olga, 'format=csv', 'HEAD')
    expect([status, text]).toEqual([200, ''])
    expect(await readings()).toBe(before + 1)
  })

  it.each([
    'format=xml',
    'kind=x',
    'since=yesterday',
    'until=x',
    'person=x',
    'about=x',
    'credential=x',
    'address=%C3%A4',
  ])('400 for %s', async query => expect((await download(olga, query)).status).toBe(400))

  it('breaks off when its reader is no longer an operator', async () => {
    const dora = await t.signIn('dora')
    const account = `account:${dora.userId}`
    const appoint =
      'mutation ($input: OperatorAppointInput!) { operatorAppoint(input: $input) { account { id } } }'
    const dismiss =
      'mutation ($input: OperatorDismissInput!) { operatorDismiss(input: $input) { account { id } } }'
    await ask(olga, appoint, { input: { account } })
    expect((await download(dora, 'format=csv')).status).toBe(200)
    const { appointments, audits } = t.app.services
    const caller = { userId: dora.userId, via: 'session', credentialId: '' } as never
    const { chunks } = audits.export({}, caller, 'csv', () => appointments.isOperator(caller))
    expect((await chunks.next()).value).toContain('happened_at')
    expect((await chunks.next()).value).toContain('audit.read')
    await ask(olga, dismiss, { input: { account } })
    await expect(chunks.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect((await download(dora, 'format=csv')).status).toBe(403)
  })
})

describe('npm run admin -- audit', () => {
  it('shows and exports all matching entries, with formulas disarmed and without secrets', async () => {
    await alice.upload('=HYPERLINK("https:,x").txt', 'x')
    const shown = await admin(
      'audit',
      '--actor',
      'alice@example.com',
      '--kind',
      'file.created',
      '--limit',
      '2',
    )
    expect(shown.code).toBe(0)
    expect(shown.out.trimEnd().split('\n')).toHaveLength(3)
    expect(shown.out.match(/ alice@example\.com /g)).toHaveLength(2)
    const csv = await admin('audit', '--actor', alice.userId, '--format', 'csv')
    const [head, first = ''] = csv.out.split('\r\n')
    expect(head).toBe(
      'happened_at,kind,via,actor_id,operator_id,credential_id,address,agent,log_id,number,subject_id,entry_id,details',
    )
    expect(first).toMatch(/^"\d{4}-.*","file\.created","session","/)
    expect(csv.out).not.toMatch(/(^|,)"[=+\-@]/m)
    const lines = (await admin('audit', '--format', 'ndjson')).out.trimEnd().split('\n')
    const [{ count }] = (await t.app.db.rows<{ count: number }>(
      'SELECT COUNT(*) AS count FROM event',
    )) as [{ count: number }]
    expect(lines).toHaveLength(Number(count))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      kind: 'audit.read',
      agent: 'npm run admin',
      operator_id: null,
    })
    expect(lines.join('')).not.toContain(alice.cookie.split('=')[1])
  })

  it.each([
    ['an unknown kind', ['--kind', 'x']],
    ['an unknown format', ['--format', 'xml']],
    ['no time', ['--since', 'yesterday']],
    ['no user', ['--actor', 'nobody@example.com']],
    ['no id', ['--about', 'x']],
    ['no key id', ['--credential', 'x']],
  ])('exits with 1 for %s', async (_what, args) => {
    const { code, out, err } = await admin('audit', ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).not.toBe('')
  })
})
