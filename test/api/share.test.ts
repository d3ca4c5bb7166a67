import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { ask, codeOf } from '../support/ask.ts'
import { found, privateKey, workspaceKey } from '../support/builders.ts'
import { wholeGuessWindow } from '../support/guess-window.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import { anId, aTime, at } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  // Behind a proxy, so that visitors can come from several addresses.
  t = await startApp({ TRUST_PROXY: 'loopback' })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
})
afterAll(() => t.stop())

const day = 24 * 3600 * 1000
const aToken = expect.stringMatching(/^[\w-]{43}$/)
const PASSWORD = 'päss wörd 🦊'

const quickShare = (json: object, person = alice) =>
  person.rest('POST', '/api/files/quick_share', { json })
const info = (token: string, person = t.anonymous) => person.rest('GET', `/api/share/info/${token}`)
const resolve = (token: string, options: RestOptions = {}, query = '', person = t.anonymous) =>
  person.rest('POST', `/api/share/resolve/${token}${query}`, options)
const revoke = (token: string, person = alice, options: RestOptions = {}) =>
  person.rest('POST', `/api/share/revoke/${token}`, options)

/** Creates a link to a file of alice. Returns the token. */
async function share(json: object = {}, person = alice): Promise<string> {
  const { status, response } = await quickShare({ object: 'docs/a.txt', ...json }, person)
  expect(status).toBe(200)
  return response.sharing_token
}

/** The row of the newest share. */
const newestRow = async () => {
  const rows = await t.app.db.rows<Record<string, unknown>>(
    'SELECT * FROM share ORDER BY id DESC LIMIT 1',
  )
  return rows[0] ?? {}
}
const expire = async () => {
  await t.app.db.run('UPDATE share SET expires_at = ? WHERE id = ?', [
    Date.now() - 1,
    String((await newestRow()).id),
  ])
}
const downloadsOf = async (token: string) => {
  const { nodes } = (
    await ask(alice, '{ me { shares(first: 1000) { nodes { token downloads } } } }')
  ).me.shares
  return nodes.find((node: { token: string }) => node.token === token)?.downloads
}
const statusAndCode = ({ status, response }: RestAnswer) => [status, response.code]

describe('POST /api/files/quick_share', () => {
  it('200 creates a public link that expires after 24 hours', async () => {
    const before = Date.now()
    const { status, msg, response } = await quickShare({ object: '/docs/a.txt' })
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      sharing_token: aToken,
      sharing_link: `${t.url}/share/${response.sharing_token}`,
      expires_at: aTime,
    })
    expect(at(response.expires_at) - before - day).toBeGreaterThanOrEqual(0)
    expect(at(response.expires_at) - Date.now() - day).toBeLessThanOrEqual(0)
    const row = await newestRow()
    expect(row).toMatchObject({
      user_id: alice.userId,
      recipient: null,
      password_hash: null,
      max_downloads: null,
    })
    expect(JSON.stringify(row)).not.toContain(response.sharing_token)
  })

  it.each([
    ['1m', 60_000],
    ['90s', 90_000],
    ['2w', 14 * day],
    ['1mo', 30 * day],
    ['5y', 5 * 365 * day],
    ['', day],
  ])('200 for a duration of "%s"', async (duration, ms) => {
    const before = Date.now()
    const { response } = await quickShare({ object: 'docs/a.txt', duration })
    expect(Math.abs(at(response.expires_at) - before - ms)).toBeLessThan(30_000)
  })

  it('200 stores only a slow hash of a password; an empty password counts as none', async () => {
    await share({ password: PASSWORD })
    const row = await newestRow()
    expect(row.password_hash).toMatch(/^\$argon2id\$/)
    expect(JSON.stringify(row)).not.toContain('wörd')
    const { sharing_token } = (await quickShare({ object: 'docs/a.txt', password: '' })).response
    expect((await info(sharing_token)).response.password_protected).toBe(false)
  })

  it.each<[string, object, string, string]>([
    ['no object', {}, 'INVALID_INPUT', 'object'],
    ['a list of objects', { object: ['docs/a.txt'] }, 'INVALID_INPUT', 'object'],
    ['the root', { object: '/' }, 'INVALID_PATH', 'object'],
    ['an invalid path', { object: 'a/../b' }, 'INVALID_PATH', 'object'],
    [
      'a duration without a unit',
      { object: 'docs/a.txt', duration: '24' },
      'INVALID_DURATION',
      'duration',
    ],
    [
      'a duration of 59 seconds',
      { object: 'docs/a.txt', duration: '59s' },
      'INVALID_DURATION',
      'duration',
    ],
    [
      'a duration beyond 5 years',
      { object: 'docs/a.txt', duration: '1826d' },
      'INVALID_DURATION',
      'duration',
    ],
    ['a number as duration', { object: 'docs/a.txt', duration: 24 }, 'INVALID_INPUT', 'duration'],
    [
      'a password of 129 characters',
      { object: 'docs/a.txt', password: 'x'.repeat(129) },
      'INVALID_INPUT',
      'password',
    ],
    ['no downloads', { object: 'docs/a.txt', max_downloads: 0 }, 'INVALID_INPUT', 'max_downloads'],
    [
      'half a download',
      { object: 'docs/a.txt', max_downloads: 1.5 },
      'INVALID_INPUT',
      'max_downloads',
    ],
    [
      'downloads as a text',
      { object: 'docs/a.txt', max_downloads: '3' },
      'INVALID_INPUT',
      'max_downloads',
    ],
    [
      'an unknown field',
      { object: 'docs/a.txt', email: 'bob@example.com' },
      'INVALID_INPUT',
      'email',
    ],
  ])('400 for %s', async (_what, json, code, field) => {
    const before = await newestRow()
    const { status, response } = await quickShare(json)
    expect([status, response]).toEqual([400, { code, field }])
    expect(await newestRow()).toEqual(before)
  })

  it('400 for a password in the URL', async () => {
    const { status, response } = await alice.rest(
      'POST',
      '/api/files/quick_share?password=secret',
      {
        json: { object: 'docs/a.txt' },
      },
    )
    expect([status, response]).toEqual([400, { code: 'INVALID_INPUT', field: 'password' }])
  })

  it('400 for a missing file, a folder, and a file of another owner, with the same message', async () => {
    for (const [object, person] of [
      ['docs/none.txt', alice],
      ['docs', alice],
      ['docs/a.txt', bob],
    ] as const) {
      const { status, response } = await quickShare({ object }, person)
      expect([status, response]).toEqual([400, { code: 'FILE_NOT_FOUND', path: object }])
    }
  })
})

describe('GET /api/share/info/{token}', () => {
  it('200 describes a link to anyone, without the path or the owner', async () => {
    const { response: made } = await quickShare({
      object: 'docs/a.txt',
      password: PASSWORD,
      max_downloads: 1,
    })
    for (const person of [t.anonymous, bob, alice]) {
      const { status, msg, response } = await info(made.sharing_token, person)
      expect([status, msg]).toEqual([200, 'ok'])
      expect(response).toEqual({
        file_name: 'a.txt',
        file_type: 'text/plain',
        allow_download: true,
        size: 5,
        expires_at: made.expires_at,
        password_protected: true,
      })
    }
    expect(await downloadsOf(made.sharing_token)).toBe(0)
  })

  it('403 for an expired link', async () => {
    const token = await share()
    await expire()
    expect(statusAndCode(await info(token))).toEqual([403, 'SHARE_EXPIRED'])
  })

  it('403 for a link that is used up', async () => {
    const token = await share({ max_downloads: 1 })
    await resolve(token)
    expect(statusAndCode(await info(token))).toEqual([403, 'SHARE_USED_UP'])
  })

  it('404 for an invalid token, or a token of another kind', async () => {
    const token = await share()
    const { response } = await alice.rest(
      'POST',
      '/api/user/private/download_token?file=docs/a.txt',
    )
    const forged = (token.startsWith('A') ? 'B' : 'A') + token.slice(1)
    const id = String((await newestRow()).id)
    for (const wrong of [
      forged,
      token.slice(1),
      `${token}A`,
      response.private_download_token,
      id,
      'x',
      '%20',
    ])
      expect(statusAndCode(await info(wrong))).toEqual([404, 'SHARE_NOT_FOUND'])
  })
})

describe('POST /api/share/resolve/{token}', () => {
  it('200 returns an address that reads this file, and does nothing else', async () => {
    const token = await share()
    const { status, msg, response } = await resolve(token)
    expect([status, msg, Object.keys(response).sort()]).toEqual([200, 'ok', ['file_name', 'url']])
    expect(response.file_name).toBe('a.txt')
    const signed = new URL(response.url)
    expect(signed.href.startsWith(`${t.url}/api/blobs/`)).toBe(true)
    expect(await (await fetch(signed)).text()).toBe('hello')
    const overwrite = await fetch(signed, {
      method: 'PUT',
      headers: { 'x-ms-blob-type': 'BlockBlob' },
      body: 'x',
    })
    expect(overwrite.status).toBe(405)
    expect((await fetch(signed, { method: 'DELETE' })).status).toBe(405)
    expect(await (await fetch(signed)).text()).toBe('hello')
    expect(await downloadsOf(token)).toBe(1)
  })

  it('404 at that address after it has expired', async () => {
    const brief = await startApp({ SIGNED_URL_SECONDS: '1' })
    try {
      const dora = await brief.signIn('dora')
      await dora.upload('docs/a.txt', 'hello')
      const token = await share({}, dora)
      const { response } = await brief.anonymous.rest('POST', `/api/share/resolve/${token}`)
      await sleep(1100)
      const late = await brief.anonymous.rest('GET', response.url.slice(brief.url.length))
      expect(statusAndCode(late)).toEqual([404, 'TOKEN_NOT_FOUND'])
    } finally {
      await brief.stop()
    }
  })

  it('200 with a wrong credential, which a public route ignores', async () => {
    const token = await share()
    expect((await resolve(token, { headers: { 'x-api-key': 'wrong' } })).status).toBe(200)
    expect((await resolve(token, { headers: { cookie: 'session_id=wrong' } })).status).toBe(200)
  })

  it.each([
    ['', 'attachment; filename=a.txt'],
    ['?mode=', 'attachment; filename=a.txt'],
    ['?mode=download', 'attachment; filename=a.txt'],
    ['?mode=inline', 'inline; filename=a.txt'],
  ])('200 with the mode in the query: "%s"', async (query, disposition) => {
    const { response } = await resolve(await share(), {}, query)
    const answer = await fetch(response.url)
    expect(answer.headers.get('content-disposition')).toBe(disposition)
  })

  it.each<[string, string, RestOptions, object]>([
    ['an unknown mode', '?mode=evil', {}, { code: 'INVALID_MODE', field: 'mode' }],
    ['a mode twice', '?mode=inline&mode=download', {}, { code: 'INVALID_INPUT', field: 'mode' }],
    [
      'a mode in the body',
      '',
      { json: { mode: 'inline' } },
      { code: 'INVALID_INPUT', field: 'mode' },
    ],
    ['a password in the query', '?password=x', {}, { code: 'INVALID_INPUT', field: 'password' }],
    [
      'an empty password in the query',
      '?password=',
      {},
      { code: 'INVALID_INPUT', field: 'password' },
    ],
    [
      'a number as password',
      '',
      { json: { password: 1 } },
      { code: 'INVALID_INPUT', field: 'password' },
    ],
    [
      'a body that is not JSON',
      '',
      { body: 'password=x', headers: { 'content-type': 'application/json' } },
      { code: 'INVALID_JSON', field: 'body' },
    ],
    [
      'a form',
      '',
      { body: 'password=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { code: 'INVALID_INPUT', field: 'content-type' },
    ],
  ])('400 for %s', async (_what, query, options, refusal) => {
    const token = await share()
    const { status, response } = await resolve(token, options, query)
    expect([status, response]).toEqual([400, refusal])
    expect(await downloadsOf(token)).toBe(0)
  })

  it('401 without the password of the link, 403 with a wrong one, 200 with the right one', async () => {
    const token = await share({ password: PASSWORD })
    for (const options of [
      {},
      { json: {} },
      { json: { password: '' } },
      { json: { password: null } },
    ])
      expect(statusAndCode(await resolve(token, options))).toEqual([401, 'PASSWORD_REQUIRED'])
    for (const password of ['wrong', `${PASSWORD} `, PASSWORD.toUpperCase(), 'x'.repeat(5000)])
      expect(statusAndCode(await resolve(token, { json: { password } }))).toEqual([
        403,
        'WRONG_PASSWORD',
      ])
    expect(await downloadsOf(token)).toBe(0)
    for (const password of [PASSWORD, PASSWORD.normalize('NFD')]) {
      const { status, response } = await resolve(token, { json: { password } })
      expect(status).toBe(200)
      expect(await (await fetch(response.url)).text()).toBe('hello')
    }
    expect(await downloadsOf(token)).toBe(2)
  })

  it('200 for the sharer only with the password, too', async () => {
    const token = await share({ password: PASSWORD })
    expect(statusAndCode(await resolve(token, {}, '', alice))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect((await resolve(token, { json: { password: PASSWORD } }, '', alice)).status).toBe(200)
  })

  it('200 with any password when the link has none', async () => {
    expect((await resolve(await share(), { json: { password: 'needless' } })).status).toBe(200)
  })

  it('403 for an expired link, whatever the password', async () => {
    const token = await share({ password: PASSWORD })
    await expire()
    expect(statusAndCode(await resolve(token, { json: { password: PASSWORD } }))).toEqual([
      403,
      'SHARE_EXPIRED',
    ])
    expect(statusAndCode(await resolve(token))).toEqual([403, 'SHARE_EXPIRED'])
  })

  it('403 for a link that is used up, and exactly the allowed downloads, however many come at once', async () => {
    const token = await share({ max_downloads: 5 })
    const requests = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? resolve(token) : t.anonymous.rest('GET', `/api/d/${token}`),
    )
    const statuses = (await Promise.all(requests)).map(a => a.status)
    expect(statuses.filter(s => s === 200 || s === 302)).toHaveLength(5)
    expect(statuses.filter(s => s === 403)).toHaveLength(15)
    expect(await newestRow()).toMatchObject({ downloads: 5 })
    expect(statusAndCode(await resolve(token))).toEqual([403, 'SHARE_USED_UP'])
  })

  it('404 for an invalid token', async () => {
    expect(statusAndCode(await resolve('nothing'))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('403 for a guessing address on all routes; other addresses are served, and the link lives', async () => {
    await wholeGuessWindow()
    const token = await share({ password: PASSWORD })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (let i = 0; i < 5; i++) {
      const json = { password: `guess ${i}` }
      expect(statusAndCode(await resolve(token, { json, headers: from('203.0.113.7') }))).toEqual([
        403,
        'WRONG_PASSWORD',
      ])
      const headers = { ...from('203.0.113.7'), 'x-share-password': `guess ${i + 5}` }
      const direct = await t.anonymous.rest('GET', `/api/d/${token}`, { headers })
      expect(statusAndCode(direct)).toEqual([403, 'WRONG_PASSWORD'])
    }
    const json = { password: PASSWORD }
    const refused = await resolve(token, { json, headers: from('203.0.113.7') })
    expect(statusAndCode(refused)).toEqual([403, 'TOO_MANY_ATTEMPTS'])
    expect(refused.response.retry_after).toBeGreaterThan(0)
    expect(refused.headers.get('retry-after')).toBe(String(refused.response.retry_after))
    expect((await resolve(token, { json, headers: from('203.0.113.8') })).status).toBe(200)
    expect((await resolve(token, { headers: from('203.0.113.7') })).status).toBe(401)
  })
})

describe('POST /api/share/revoke/{token}', () => {
  it('200 revokes a link permanently', async () => {
    const token = await share()
    const { status, msg, response } = await revoke(token)
    expect([status, msg, response]).toEqual([200, 'ok', { token_revoked: token }])
    expect(statusAndCode(await info(token))).toEqual([404, 'SHARE_NOT_FOUND'])
    expect(statusAndCode(await resolve(token))).toEqual([404, 'SHARE_NOT_FOUND'])
    expect(statusAndCode(await t.anonymous.rest('GET', `/api/d/${token}`))).toEqual([
      404,
      'SHARE_NOT_FOUND',
    ])
    expect(statusAndCode(await revoke(token))).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('200 for a link that has expired or is used up', async () => {
    const expired = await share()
    await expire()
    expect((await revoke(expired)).status).toBe(200)
    const used = await share({ max_downloads: 1 })
    await resolve(used)
    expect((await revoke(used)).status).toBe(200)
  })

  it.each<[string, RestOptions]>([
    ['a field', { json: { reason: 'enough' } }],
    ['no object', { json: null }],
    ['no JSON', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ])('200 whatever the body contains: %s', async (_what, options) => {
    expect((await revoke(await share(), alice, options)).status).toBe(200)
  })

  it('404 for an invalid token', async () => {
    expect(statusAndCode(await revoke('nothing'))).toEqual([404, 'SHARE_NOT_FOUND'])
  })
})

describe('A share', () => {
  it('survives moves, and shows the new name of the file', async () => {
    await alice.upload('wander/here/a.txt', 'on its way')
    const token = await share({ object: 'wander/here/a.txt' })
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'wander/here/a.txt', destination: 'wander/b.txt' },
    })
    await alice.rest('POST', '/api/folders/move', {
      json: { source: 'wander', destination: 'far/away' },
    })
    expect((await info(token)).response.file_name).toBe('b.txt')
    const { response } = await resolve(token)
    expect([response.file_name, await (await fetch(response.url)).text()]).toEqual([
      'b.txt',
      'on its way',
    ])
  })

  it.each<[string, (path: string) => Promise<RestAnswer>]>([
    ['a file', path => alice.rest('DELETE', `/api/files/delete?file=${path}`)],
    ['files', path => alice.rest('DELETE', '/api/files/delete/batch', { json: { files: [path] } })],
    ['a folder above', () => alice.rest('DELETE', '/api/folders?path=doomed&recursive=true')],
  ])(
    'is deleted with its file when %s is deleted, and does not return with a new file',
    async (_what, remove) => {
      await alice.upload('doomed/deep/a.txt', 'deleting')
      const token = await share({ object: 'doomed/deep/a.txt' })
      const { id } = await newestRow()
      expect((await remove('doomed/deep/a.txt')).status).toBe(200)
      const isGone = async () => {
        for (const answer of [await info(token), await resolve(token), await revoke(token)])
          expect(statusAndCode(answer)).toEqual([404, 'SHARE_NOT_FOUND'])
      }
      await isGone()
      await alice.upload('doomed/deep/a.txt', 'deleting')
      await isGone()
      await t.settle()
      await isGone()
      expect(await t.app.db.rows('SELECT id FROM share WHERE id = ?', [String(id)])).toEqual([])
    },
  )

  it('is unavailable while its sharer is suspended', async () => {
    const carol = await t.signIn('carol')
    await carol.upload('c.txt', 'of carol')
    const token = await share({ object: 'c.txt' }, carol)
    await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [carol.userId])
    expect(statusAndCode(await info(token))).toEqual([404, 'SHARE_NOT_FOUND'])
    await t.app.db.run("UPDATE user SET status = 'active' WHERE id = ?", [carol.userId])
    expect((await info(token)).status).toBe(200)
  })
})

describe('While a deleted folder waits to be purged', () => {
  let late: TestApp
  let dora: Person

  beforeAll(async () => {
    late = await startApp()
    // The deleted folder is not purged, because the worker is stopped.
    await late.app.worker.stop()
    dora = await late.signIn('dora')
  })
  afterAll(() => late.stop())

  it('its contents are unavailable on every route', async () => {
    await dora.upload('bin/deep/a.txt', 'binned')
    const { response } = await quickShare({ object: 'bin/deep/a.txt' }, dora)
    const token = response.sharing_token
    const own = await dora.rest('POST', '/api/user/private/download_token?file=bin/deep/a.txt')
    expect((await info(token, dora)).status).toBe(200)
    await dora.rest('DELETE', '/api/folders?path=bin&recursive=true')
    expect(await late.app.db.rows('SELECT id FROM share')).toEqual([])
    for (const answer of [
      await info(token, dora),
      await resolve(token, {}, '', dora),
      await dora.rest('GET', `/api/d/${token}`),
      await revoke(token, dora),
    ])
      expect(statusAndCode(answer)).toEqual([404, 'SHARE_NOT_FOUND'])
    const owned = await dora.rest('GET', `/api/d/private/${own.response.private_download_token}`)
    expect(statusAndCode(owned)).toEqual([404, 'TOKEN_NOT_FOUND'])
    expect((await dora.rest('GET', '/api/user/bucket')).response.bucket_data.objects).toEqual([])
  })

  it('the remaining shares can be paged through completely', async () => {
    const objects = ['lose/1', 'lose/2', 'lose/3', 'keep/4', 'lose/5', 'keep/6', 'keep/7', 'lose/8']
    for (const object of objects) {
      await dora.upload(object, 'x')
      await quickShare({ object }, dora)
    }
    await dora.rest('DELETE', '/api/folders?path=lose&recursive=true')
    for (const first of [1, 2, 3, 100])
      expect(await walkShares(dora, first)).toEqual(['keep/4', 'keep/6', 'keep/7'])
  })
})

interface SharePage {
  nodes: { file: { path: string } }[]
  pageInfo: { hasNextPage: boolean; endCursor: string }
}

/** The paths of the files of all shares of a person, page by page. */
async function walkShares(person: Person, first: number, newestFirst = false): Promise<string[]> {
  const WALK = `query ($first: Int, $after: String, $newestFirst: Boolean) { me { shares(first: $first, after: $after, newestFirst: $newestFirst) {
    nodes { file { path } } pageInfo { hasNextPage endCursor } } } }`
  const paths: string[] = []
  let after: string | null = null
  do {
    const page: SharePage = (await ask(person, WALK, { first, after, newestFirst })).me.shares
    paths.push(...page.nodes.map(({ file }) => file.path))
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null)
  return paths
}

describe('GraphQL', () => {
  const LINK = `mutation ($input: CreateLinkInput!) { createLink(input: $input) {
    share { __typename id token url expiresAt maxDownloads passwordProtected downloads sharedBy { email } }
    file { id path shareCount shares { nodes { id } } } } }`
  const PREVIEW =
    'query ($token: String!) { share(token: $token) { fileName contentType size expiresAt passwordProtected } }'
  const OPEN = `mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url fileName expiresAt } } }`
  const REVOKE =
    'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { revokedId file { path shareCount } } }'
  const SEND =
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'

  const file = (path: string) => ({ at: { path } })
  /** A link to a new file of a new person. */
  async function newLink(name: string, input: object = {}) {
    const person = await t.signIn(name)
    await person.upload('docs/a.txt', 'hello', 'text/plain')
    const { share: made } = (
      await ask(person, LINK, { input: { entries: file('docs/a.txt'), ...input } })
    ).createLink
    return { person, ...(made as { id: string; token: string; expiresAt: string }) }
  }

  it('createLink creates a link, and lists it at its file', async () => {
    const person = await t.signIn('linker')
    await person.upload('docs/a.txt', 'hello', 'text/plain')
    const input = {
      entries: file('docs/a.txt'),
      duration: '1h',
      password: PASSWORD,
      maxDownloads: 1,
    }
    const { share: made, file: shared } = (await ask(person, LINK, { input })).createLink
    expect(made).toEqual({
      __typename: 'LinkShare',
      id: anId,
      token: aToken,
      url: `${t.url}/share/${made.token}`,
      expiresAt: aTime,
      maxDownloads: 1,
      passwordProtected: true,
      downloads: 0,
      sharedBy: { email: 'linker@example.com' },
    })
    expect(shared).toEqual({
      id: anId,
      path: 'docs/a.txt',
      shareCount: 1,
      shares: { nodes: [{ id: made.id }] },
    })
    const byId = (await ask(person, LINK, { input: { entries: { id: shared.id } } })).createLink
    expect(byId.file.shareCount).toBe(2)
  })

  it('createLink returns the link exactly as later reads do', async () => {
    const person = await t.signIn('reader')
    await person.upload('docs/a.txt', 'hello', 'text/plain')
    const share = `... on Share { __typename id token url fileName contentType size md5 createdAt expiresAt passwordProtected
      downloads maxDownloads sharedBy { id name email picture } file { id path } }`
    const make = `mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { ${share} } } }`
    for (const input of [{}, { password: PASSWORD, maxDownloads: 3 }]) {
      const { createLink } = await ask(person, make, {
        input: { entries: file('docs/a.txt'), ...input },
      })
      const { node } = await ask(person, `query ($id: ID!) { node(id: $id) { ${share} } }`, {
        id: createLink.share.id,
      })
      expect(createLink.share).toEqual(node)
    }
  })

  it('createLink rejects what cannot be shared', async () => {
    const person = await t.signIn('refused-linker')
    await person.upload('docs/a.txt', 'hello')
    const own = { entries: file('docs/a.txt') }
    expect(await codeOf(t.anonymous, LINK, { input: own })).toBe('UNAUTHENTICATED')
    const foreign = await bob.graphql(LINK, { input: own })
    expect([foreign.data, foreign.errors?.[0]?.extensions]).toEqual([
      { createLink: null },
      { code: 'FILE_NOT_FOUND', path: 'docs/a.txt' },
    ])
    for (const [input, code] of [
      [{ entries: file('none.txt') }, 'FILE_NOT_FOUND'],
      [{ entries: { id: newId() } }, 'FILE_NOT_FOUND'],
      [{ entries: file('a/../b') }, 'INVALID_PATH'],
      [{ entries: {} }, 'INVALID_INPUT'],
      [{ entries: { id: newId(), at: { path: 'docs/a.txt' } } }, 'INVALID_INPUT'],
      [{ ...own, duration: '24' }, 'INVALID_DURATION'],
      [{ ...own, maxDownloads: 0 }, 'INVALID_INPUT'],
      [{ ...own, password: 'x'.repeat(129) }, 'INVALID_INPUT'],
      [{ ...own, email: 'bob@example.com' }, 'INVALID_INPUT'],
    ] as const)
      expect(await codeOf(person, LINK, { input })).toBe(code)
    const id = (await ask(alice, '{ me { drive { entry(path: "docs/a.txt") { id } } } }')).me.drive
      .entry.id
    expect(await codeOf(person, LINK, { input: { entries: { id } } })).toBe('FILE_NOT_FOUND')
    const drive = '00000000-0000-7000-8000-000000000000'
    expect(
      await codeOf(person, LINK, { input: { entries: { at: { drive, path: 'a.txt' } } } }),
    ).toBe('FORBIDDEN')
    await ask(person, LINK, { input: own })
    await t.limit({ maxPublicLinks: 1 })
    const beyond = await person.graphql(LINK, { input: own })
    await t.limit({ maxPublicLinks: null })
    expect(beyond.errors?.[0]?.extensions).toEqual({
      code: 'QUOTA_EXCEEDED',
      limit: 'max_public_links',
      max: 1,
      used: 1,
    })
  })

  it('share describes a link to anyone, and counts nothing', async () => {
    const { person, token, expiresAt } = await newLink('previewed', { password: PASSWORD })
    for (const visitor of [t.anonymous, bob, person])
      expect(await ask(visitor, PREVIEW, { token })).toEqual({
        share: {
          fileName: 'a.txt',
          contentType: 'text/plain',
          size: 5,
          expiresAt,
          passwordProtected: true,
        },
      })
    expect(
      (await ask(person, '{ me { shares { nodes { downloads } } } }')).me.shares.nodes,
    ).toEqual([{ downloads: 0 }])
    expect(await codeOf(t.anonymous, PREVIEW, { token: 'x' })).toBe('SHARE_NOT_FOUND')
  })

  it('openShare returns an address that reads this file, with the password, up to the limit', async () => {
    const { person, token } = await newLink('opened', { password: PASSWORD, maxDownloads: 2 })
    const refusal = (input: object) => codeOf(t.anonymous, OPEN, { input: { token, ...input } })
    expect(await refusal({})).toBe('PASSWORD_REQUIRED')
    expect(await refusal({ password: 'x' })).toBe('WRONG_PASSWORD')
    expect(await refusal({ password: PASSWORD, disposition: 'EVIL' })).toBe('INVALID_INPUT')
    for (const [disposition, header] of [
      ['INLINE', 'inline; filename=a.txt'],
      [undefined, 'attachment; filename=a.txt'],
    ]) {
      const input = { token, password: PASSWORD, disposition }
      const { download } = (await ask(t.anonymous, OPEN, { input })).openShare
      expect(download).toEqual({ url: expect.any(String), fileName: 'a.txt', expiresAt: aTime })
      const answer = await fetch(download.url)
      expect([await answer.text(), answer.headers.get('content-disposition')]).toEqual([
        'hello',
        header,
      ])
    }
    expect(await refusal({ password: PASSWORD })).toBe('SHARE_USED_UP')
    expect(await codeOf(t.anonymous, PREVIEW, { token })).toBe('SHARE_USED_UP')
    const late = await newLink('opened-late')
    await expire()
    expect(await codeOf(late.person, OPEN, { input: { token: late.token } })).toBe('SHARE_EXPIRED')
    expect(await codeOf(person, OPEN, { input: { token: 'x' } })).toBe('SHARE_NOT_FOUND')
  })

  it('openShare blocks password guessing', async () => {
    await wholeGuessWindow()
    const { token } = await newLink('guessed', { password: PASSWORD })
    for (let i = 0; i < 10; i++)
      expect(await codeOf(t.anonymous, OPEN, { input: { token, password: `guess ${i}` } })).toBe(
        'WRONG_PASSWORD',
      )
    const { errors } = await t.anonymous.graphql(OPEN, { input: { token, password: PASSWORD } })
    expect(errors?.[0]?.extensions).toEqual({
      code: 'TOO_MANY_ATTEMPTS',
      retry_after: expect.any(Number),
    })
  })

  it('openShare opens a direct share only for the recipient and the sharer', async () => {
    const [sharer, recipient] = [await t.signIn('side-one'), await t.signIn('side-two')]
    await sharer.upload('a.txt', 'for two')
    const input = { entries: [file('a.txt')], email: recipient.email }
    const [{ token }] = (await ask(sharer, SEND, { input })).createDirectShare.shares
    for (const person of [sharer, recipient]) {
      const { download } = (await ask(person, OPEN, { input: { token } })).openShare
      expect(await (await fetch(download.url)).text()).toBe('for two')
    }
    expect(await codeOf(t.anonymous, OPEN, { input: { token } })).toBe('UNAUTHENTICATED')
    expect(await codeOf(bob, OPEN, { input: { token } })).toBe('FORBIDDEN')
    const { caller: writer } = await privateKey(t, recipient, ['private_files:write'])
    expect(await codeOf(writer, OPEN, { input: { token } })).toBe('INSUFFICIENT_SCOPE')
    const { caller: member } = await workspaceKey(t, recipient, await found(recipient))
    expect(await codeOf(member, OPEN, { input: { token } })).toBe('KEY_OUT_OF_BOUNDS')
  })

  it('revokeShare revokes a link permanently, by its token or its id', async () => {
    const { person, token, id } = await newLink('revoker')
    const other = (await ask(person, LINK, { input: { entries: file('docs/a.txt') } })).createLink
      .share
    const input = { share: { token } }
    expect(await codeOf(t.anonymous, REVOKE, { input })).toBe('UNAUTHENTICATED')
    expect(await codeOf(bob, REVOKE, { input })).toBe('FORBIDDEN')
    // The id alone does not reveal to others that the share exists.
    expect(await codeOf(bob, REVOKE, { input: { share: { id } } })).toBe('SHARE_NOT_FOUND')
    expect(await codeOf(person, REVOKE, { input: { share: { id, token } } })).toBe('INVALID_INPUT')
    expect((await ask(person, REVOKE, { input })).revokeShare).toEqual({
      revokedId: id,
      file: { path: 'docs/a.txt', shareCount: 1 },
    })
    expect((await ask(person, REVOKE, { input: { share: { id: other.id } } })).revokeShare).toEqual(
      {
        revokedId: other.id,
        file: { path: 'docs/a.txt', shareCount: 0 },
      },
    )
    for (const share of [{ token }, { id }, { token: 'x' }, { id: 'x' }])
      expect(await codeOf(person, REVOKE, { input: { share } })).toBe('SHARE_NOT_FOUND')
    expect(await codeOf(t.anonymous, PREVIEW, { token })).toBe('SHARE_NOT_FOUND')
  })

  it('me.shares lists the active shares of the caller, oldest first', async () => {
    const erin = await t.signIn('erin')
    await erin.upload('list/a.txt', 'hello', 'text/plain')
    const { response: made } = await quickShare(
      { object: 'list/a.txt', password: PASSWORD, max_downloads: 9 },
      erin,
    )
    await share({ object: 'list/a.txt' }, erin)
    await expire()
    const used = await share({ object: 'list/a.txt', max_downloads: 1 }, erin)
    await resolve(used)
    await resolve(made.sharing_token, { json: { password: PASSWORD } })
    const SHARES = `{ me { shares { nodes { __typename id token url file { id path } fileName contentType size md5
      sharedBy { id email name } createdAt expiresAt passwordProtected downloads maxDownloads } } } }`
    const { nodes } = (await ask(erin, SHARES)).me.shares
    expect(nodes).toEqual([
      {
        __typename: 'LinkShare',
        id: anId,
        token: made.sharing_token,
        url: made.sharing_link,
        file: { id: anId, path: 'list/a.txt' },
        fileName: 'a.txt',
        contentType: 'text/plain',
        size: 5,
        md5: '5d41402abc4b2a76b9719d911017c592',
        sharedBy: { id: erin.userId, email: 'erin@example.com', name: 'erin' },
        createdAt: aTime,
        expiresAt: made.expires_at,
        passwordProtected: true,
        downloads: 1,
        maxDownloads: 9,
      },
    ])
    expect((await ask(bob, SHARES)).me.shares.nodes).toEqual([])
    expect(await codeOf(t.anonymous, SHARES)).toBe('UNAUTHENTICATED')
    const NODE = 'query ($id: ID!) { node(id: $id) { id ... on Share { token } } }'
    const { id, token } = nodes[0]
    expect(await ask(erin, NODE, { id })).toEqual({ node: { id, token } })
    expect(await ask(bob, NODE, { id })).toEqual({ node: null })
    expect(await codeOf(t.anonymous, NODE, { id })).toBe('UNAUTHENTICATED')
  })

  it('me.shares lists expired and used-up shares separately, for the caller only', async () => {
    const { person, id: live } = await newLink('ends')
    const input = { entries: file('docs/a.txt') }
    const make = async (terms: object) =>
      (await ask(person, LINK, { input: { ...input, ...terms } })).createLink.share
    const expired = await make({})
    await expire()
    const used = await make({ maxDownloads: 1 })
    await ask(t.anonymous, OPEN, { input: { token: used.token } })
    const ENDED = `query ($kind: ShareKind) { me { shares { nodes { id } }
      ended: shares(ended: true, newestFirst: true, kind: $kind) { nodes { id file { path } } } } }`
    const { me } = await ask(person, ENDED)
    expect(me.shares.nodes).toEqual([{ id: live }])
    expect(me.ended.nodes).toEqual(
      [used, expired].map(({ id }) => ({ id, file: { path: 'docs/a.txt' } })),
    )
    expect((await ask(person, ENDED, { kind: 'DIRECT' })).me.ended.nodes).toEqual([])
    expect((await ask(bob, ENDED)).me.ended.nodes).toEqual([])
  })

  it('me.shares and file.shares distinguish links from direct shares', async () => {
    const { person, id } = await newLink('kinds')
    const [direct] = (
      await ask(
        person,
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
        {
          input: { entries: [file('docs/a.txt')], email: 'bob@example.com' },
        },
      )
    ).createDirectShare.shares
    const KIND = `query ($kind: ShareKind) { me { shares(kind: $kind) { nodes { id } }
      drive { entry(path: "docs/a.txt") { ... on File { shareCount shares(kind: $kind) { nodes { id } } } } } } }`
    for (const [kind, nodes] of [
      [null, [{ id }, direct]],
      ['LINK', [{ id }]],
      ['DIRECT', [direct]],
    ] as const) {
      const { me } = await ask(person, KIND, { kind })
      expect([me.shares.nodes, me.drive.entry.shares.nodes, me.drive.entry.shareCount]).toEqual([
        nodes,
        nodes,
        2,
      ])
    }
  })

  it('file.shares pages through 7 shares by 3, each once and in order, from either end', async () => {
    const { person, id } = await newLink('walker')
    const ids = [id]
    while (ids.length < 7) {
      const { share } = (await ask(person, LINK, { input: { entries: file('docs/a.txt') } }))
        .createLink
      ids.push(share.id)
    }
    const WALK = `query ($after: String, $newestFirst: Boolean) { me { drive { entry(path: "docs/a.txt") { ... on File {
      shares(first: 3, after: $after, newestFirst: $newestFirst) { nodes { id } pageInfo { hasNextPage endCursor } } } } } } }`
    const walk = async (newestFirst: boolean | null) => {
      const pages: string[][] = []
      let after: string | null = null
      do {
        const { me } = await ask(person, WALK, { after, newestFirst })
        const { nodes, pageInfo }: { nodes: { id: string }[]; pageInfo: SharePage['pageInfo'] } =
          me.drive.entry.shares
        pages.push(nodes.map(({ id }) => id))
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null
      } while (after !== null)
      return pages
    }
    const byThree = (all: string[]) => [all.slice(0, 3), all.slice(3, 6), all.slice(6)]
    expect(await walk(null)).toEqual(byThree(ids))
    expect(await walk(false)).toEqual(byThree(ids))
    expect(await walk(true)).toEqual(byThree(ids.toReversed()))
  })

  it('me.shares pages through 25 shares by 7, each once and in order', async () => {
    const frank = await t.signIn('frank')
    const names = Array.from({ length: 25 }, (_, i) => `f/${String(i).padStart(2, '0')}`)
    for (const object of names) {
      await frank.upload(object, '')
      await share({ object }, frank)
    }
    expect(await walkShares(frank, 7)).toEqual(names)
    expect(await walkShares(frank, 25)).toEqual(names)
    expect(await walkShares(frank, 7, true)).toEqual(names.toReversed())
  })
})
