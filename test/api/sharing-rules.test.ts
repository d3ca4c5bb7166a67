import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { davPerson } from '../support/dav-client.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../support/harness.ts'
import { nextcloudClient } from '../support/nextcloud-client.ts'

// Rules about what people may share, through every interface that shares.

const RULES = {
  SHARE_MAX_DURATION: '3d',
  SHARE_PASSWORD: 'true',
  SHARE_OUTSIDE: 'plans:developer',
  SHARE_DOMAINS: 'example.com, Example.org',
  LINK_DURATION: 'never',
}
const PASSWORD = 'correct horse battery'
const API = '/apps/files_sharing/api/v1/shares'

let database: Awaited<ReturnType<typeof newDatabase>>
let t: TestApp
let olga: Person
/** May share outside. */
let alice: Person
let apps: ReturnType<typeof nextcloudClient>
/** May not. */
let bob: Person
/** A link without expiry and password, from before the rules. */
let old: { id: string }

beforeAll(async () => {
  database = await newDatabase()
  const before = await startApp({ DATABASE_URL: database.url })
  const early = await before.signIn('alice')
  await early.upload('a.txt', 'a')
  old = (
    await ask(
      early,
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
      { input: { entries: [{ at: { path: 'a.txt' } }], duration: 'never' } },
    )
  ).createLink.share
  await before.stop()
  t = await startApp({ DATABASE_URL: database.url, OPERATORS: 'olga@example.com', ...RULES })
  olga = await t.signIn('olga')
  const made = await davPerson(t, 'alice')
  alice = made.person
  apps = nextcloudClient(t, made.authorization)
  bob = await t.signIn('bob')
  await bob.upload('a.txt', 'a')
  await t.app.db.run('UPDATE user SET plan_id = ? WHERE id = ?', ['developer', alice.userId])
})
afterAll(async () => {
  await t?.stop()
  await database?.drop()
})

const refusal = (code: string, field: string, message: string) => ({
  code,
  errors: [
    expect.objectContaining({
      message: expect.stringContaining(message),
      extensions: expect.objectContaining({ code, field: `input.${field}` }),
    }),
  ],
})
const tooLong = refusal('INVALID_DURATION', 'duration', 'at most 3d')
const unprotected = refusal('INVALID_INPUT', 'password', 'only with a password')

const mutate = (who: Person, name: string, input: object) =>
  who.graphql(
    `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { __typename } }`,
    { input },
  )
const file = { at: { path: 'a.txt' } }
const link = (who: Person, input: object) =>
  mutate(who, 'createLink', { entries: [file], ...input })
const share = (who: Person, input: object) =>
  mutate(who, 'createDirectShare', { entries: [file], ...input })
const request = (who: Person, input: object) =>
  mutate(who, 'createFileRequest', { folder: { at: { path: '' } }, label: 'Send', ...input })

describe('The longest duration', () => {
  it('applies to links, shares and requests, and replaces longer defaults', async () => {
    for (const duration of ['4d', 'never']) {
      expect(await link(alice, { duration, password: PASSWORD })).toMatchObject(tooLong)
      expect(await request(alice, { duration, password: PASSWORD })).toMatchObject(tooLong)
      expect(await share(alice, { duration, email: 'carol@example.net' })).toMatchObject(tooLong)
    }
    expect((await link(alice, { duration: '3d', password: PASSWORD })).code).toBeUndefined()
    expect((await link(alice, { password: PASSWORD })).code).toBeUndefined()
    expect((await request(alice, { password: PASSWORD })).code).toBeUndefined()
    expect((await share(alice, { email: 'carol@example.net' })).code).toBeUndefined()
    const { grants } = (
      await ask(
        olga,
        `{ operator { grants(filter: { person: "${alice.userId}" }) { nodes { kind createdAt expiresAt brokenRules } } } }`,
      )
    ).operator
    const days = grants.nodes.map(
      (one: { createdAt: string; expiresAt: string }) =>
        (Date.parse(one.expiresAt) - Date.parse(one.createdAt)) / 86_400_000,
    )
    expect(days.slice(0, 4).every((long: number) => Math.round(long * 100) === 300)).toBe(true)
  })

  it('applies to REST and to apps, which learn it', async () => {
    const quick = (json: object) =>
      alice.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt', ...json } })
    expect(await quick({ duration: '4d', password: PASSWORD })).toMatchObject({
      status: 400,
      response: { code: 'INVALID_DURATION', field: 'duration' },
    })
    expect(await quick({ duration: '1d' })).toMatchObject({
      status: 400,
      response: { code: 'INVALID_INPUT', field: 'password' },
    })
    expect((await quick({ password: PASSWORD })).status).toBe(200)
    const form = { path: '/a.txt', shareType: '3' }
    expect((await apps.ocs('POST', API, form)).status).toBe(400)
    expect((await apps.ocs('POST', API, { ...form, password: PASSWORD })).status).toBe(200)
    const late = new Date(Date.now() + 9 * 86_400_000).toISOString().slice(0, 10)
    const asked = { ...form, password: PASSWORD, expireDate: late }
    expect((await apps.ocs('POST', API, asked)).status).toBe(400)
    const { data } = await apps.ocs('GET', '/cloud/capabilities')
    expect(data.capabilities.files_sharing.public).toMatchObject({
      password: { enforced: true },
      expire_date: { enabled: true, days: 1, enforced: true },
    })
    // The last of these days, for a client whose date is already one later.
    const last = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
    const allowed = { ...asked, expireDate: last }
    expect((await apps.ocs('POST', API, allowed)).status).toBe(200)
  })
})

describe('The password', () => {
  it('is required for links and requests, but not for shares with a person', async () => {
    expect(await link(alice, { duration: '1d' })).toMatchObject(unprotected)
    expect(await request(alice, { duration: '1d' })).toMatchObject(unprotected)
    expect((await share(alice, { duration: '1d', email: 'dora@example.net' })).code).toBeUndefined()
  })
})

describe('Sharing outside', () => {
  it('is only for the accounts on the named plans', async () => {
    const outside = refusal('INVALID_INPUT', 'email', 'example.com, example.org')
    expect(await share(bob, { email: 'carol@example.net' })).toMatchObject(outside)
    expect((await share(bob, { email: 'carol@Example.org' })).code).toBeUndefined()
    expect(await share(bob, { email: 'carol@sub.example.org' })).toMatchObject(outside)
    const everyone = 'may not share with everyone'
    expect(await link(bob, { duration: '1d', password: PASSWORD })).toMatchObject(
      refusal('INVALID_INPUT', 'entries', everyone),
    )
    expect(await request(bob, { duration: '1d', password: PASSWORD })).toMatchObject(
      refusal('INVALID_INPUT', 'folder', everyone),
    )
  })
})

describe('A link that breaks a newer rule', () => {
  const update = (input: object) =>
    mutate(alice, 'updateShare', { share: { id: old.id }, ...input })

  it('is listed with the rules that it breaks', async () => {
    const list = async (filter: string) =>
      (await ask(olga, `{ operator { grants(filter: ${filter}) { nodes { id brokenRules } } } }`))
        .operator.grants.nodes
    expect(await list('{ breaksRules: true }')).toEqual([
      { id: old.id, brokenRules: ['DURATION', 'PASSWORD'] },
    ])
    await t.app.db.run('UPDATE user SET plan_id = ? WHERE id = ?', ['free', alice.userId])
    const all = await list('{ breaksRules: true }')
    expect(all.at(-1)).toEqual({ id: old.id, brokenRules: ['DURATION', 'PASSWORD', 'OUTSIDE'] })
    expect(all.map((one: { id: string }) => one.id)).toEqual(
      (await list('{}'))
        .filter((one: { brokenRules: string[] }) => one.brokenRules.length > 0)
        .map((one: { id: string }) => one.id),
    )
    expect(all.length).toBeGreaterThan(1)
    await t.app.db.run('UPDATE user SET plan_id = ? WHERE id = ?', ['developer', alice.userId])
  })

  it('works, and can get another name, but is renewed only within the rules', async () => {
    const { node } = await ask(
      alice,
      'query ($id: ID!) { node(id: $id) { ... on LinkShare { token } } }',
      { id: old.id },
    )
    expect((await t.anonymous.rest('GET', `/api/d/${node.token}`)).status).toBe(302)
    expect((await update({ label: 'Old' })).code).toBeUndefined()
    expect(await update({ duration: '9d' })).toMatchObject(tooLong)
    expect(await update({ duration: '1d' })).toMatchObject(unprotected)
    expect((await update({ password: PASSWORD })).code).toBeUndefined()
    expect(await update({ password: null })).toMatchObject(unprotected)
    expect((await update({ duration: '1d' })).code).toBeUndefined()
    const { grants } = (
      await ask(olga, '{ operator { grants(filter: { breaksRules: true }) { nodes { id } } } }')
    ).operator
    expect(grants.nodes).toEqual([])
  })
})

describe('A full file request that breaks a newer rule', () => {
  it('accepts files again only within the rules', async () => {
    const { createFileRequest } = await ask(
      alice,
      'mutation ($input: CreateFileRequestInput!) { createFileRequest(input: $input) { fileRequest { id } } }',
      {
        input: { folder: { at: { path: '' } }, label: 'Send', maxFiles: 1, password: PASSWORD },
      },
    )
    const { id } = createFileRequest.fileRequest
    await t.app.db.run('UPDATE file_request SET password_hash = NULL, files = 1 WHERE id = ?', [id])
    const update = (input: object) =>
      mutate(alice, 'updateFileRequest', { fileRequest: id, ...input })
    expect((await update({ label: 'Sent' })).code).toBeUndefined()
    expect(await update({ maxFiles: 2 })).toMatchObject(unprotected)
    expect((await update({ maxFiles: 2, password: PASSWORD })).code).toBeUndefined()
  })
})
