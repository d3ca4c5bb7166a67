import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SMTPServer } from 'smtp-server'
import { createLog } from '../../../src/runtime/log.ts'
import { mountSignIn } from '../../../src/sign-in/embedded/mount.ts'
import { walkEveryRoute } from '../../support/every-route.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../../support/harness.ts'
import { Browser } from '../../unit/sign-in-browser.ts'

/** Words that appear nowhere else, so that a word in the log reveals its origin. */
const plants = { password: 'planted-share-password', fileName: 'planted-file-name.txt' }
const wrong = 'planted-wrong-password'

let t: TestApp
let mailServer: SMTPServer
let alice: Person
let bob: Person
/** The values that must stay secret, by kind. */
const secrets = new Map<string, string>()
const ofSignIn: string[] = []
let word: () => Promise<string>
const dataDir = mkdtempSync(join(tmpdir(), 'satchel-secrets-'))

beforeAll(async () => {
  mailServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) =>
      done(new Error(`no mailbox of the name ${address} here`)),
  })
  mailServer.on('error', () => {})
  await new Promise<void>(resolve => mailServer.listen(0, '127.0.0.1', resolve))
  const at = mailServer.server.address()
  const log = createLog({ logLevel: 'trace' }, { write: line => void ofSignIn.push(line) })
  t = await startApp(
    {
      PREVIEWS: 'true',
      SMTP_URL: `smtp://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`,
    },
    {
      async embeddedSignIn(publicUrl) {
        const embedded = await mountSignIn({ publicUrl, secretKey: 'k'.repeat(32), dataDir, log })
        word = embedded.word.current
        return embedded
      },
    },
  )
  alice = await t.signIn('planted-alice')
  bob = await t.signIn('planted-bob')
  for (const [what, value] of Object.entries({ ...plants, wrong })) secrets.set(what, value)
  for (const person of [alice, bob]) remember(person)
})

afterAll(async () => {
  await t?.stop()
  rmSync(dataDir, { recursive: true, force: true })
  await new Promise<void>(resolve => mailServer.close(() => resolve()))
})

function remember({ email, cookie }: Person): void {
  secrets.set(`e-mail ${email}`, email)
  secrets.set(`cookie of ${email}`, cookie.replace('session_id=', ''))
}

/** Collects every token, key and signature in a response. */
function harvest({ response, headers }: RestAnswer): void {
  const look = (value: unknown, name: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [k, v] of Object.entries(value)) look(v, k)
    else if (typeof value === 'string' && /token$|^key$/.test(name))
      secrets.set(`${name} ${value}`, value)
    else if (typeof value === 'string' && name === 'url') noteSignature(value)
  }
  look(response, '')
  noteSignature(headers.get('location') ?? '')
}

function noteSignature(address: string): void {
  // The token of a signed address is its signature.
  const sig = /\/api\/blobs\/([^/?]+)/.exec(address)?.[1]
  if (sig) secrets.set(`signature ${sig}`, sig)
}

const answered = async (call: Promise<RestAnswer>): Promise<RestAnswer> => {
  const answer = await call
  harvest(answer)
  return answer
}

/** The lines that contain a secret. There must be none. */
function expectSilence(): void {
  const lines = [...t.logs().split('\n'), ...ofSignIn]
  const found = [...secrets].flatMap(([what, value]) =>
    lines
      .filter(line => line.includes(value) || line.includes(encodeURIComponent(value)))
      .map(line => `${what}: ${line}`),
  )
  expect(found).toEqual([])
  expect(lines.filter(line => /sig=|session_id=|@example\.com/i.test(line))).toEqual([])
}

/**
 * All entries so far in the logs of drives, persons and links, because some logs are deleted with
 * their accounts.
 */
const events = new Map<string, string>()

async function noteEvents(): Promise<void> {
  const { Event, ShareEvent } = t.app.db
  for (const row of await Event.findAll({ raw: true }))
    events.set(`${row.logId} ${row.seq}`, JSON.stringify(row))
  for (const row of await ShareEvent.findAll({ raw: true })) events.set(row.id, JSON.stringify(row))
}

/** Makes every statement on a table fail, as after a broken migration. */
async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
  await t.app.db.run(`ALTER TABLE ${table} RENAME TO ${table}_away`)
  try {
    return await work()
  } finally {
    await t.app.db.run(`ALTER TABLE ${table}_away RENAME TO ${table}`)
  }
}

describe('The service log', () => {
  it('contains no secret from any route', async () => {
    const carol = await t.signIn('planted-carol')
    const dora = await t.signIn('planted-dora')
    for (const person of [carol, dora]) remember(person)
    await walkEveryRoute(t, { alice, bob, carol, dora }, plants, async (_route, call) => {
      const answer = await answered(call())
      await noteEvents()
      return answer
    })
    const kinds = [...secrets.keys()].map(what => what.split(' ')[0])
    expect(kinds).toEqual(
      expect.arrayContaining([
        'sharing_token',
        'private_download_token',
        'token',
        'key',
        'signature',
        'cookie',
      ]),
    )
    expect(t.logs()).toContain('"path":"/api/d/:token","status":302')
    expectSilence()
  })

  it('contains no secret from any route, including the logs of drives, persons and links', () => {
    const rows = [...events.values()]
    for (const kind of [
      'share.created',
      'share.received',
      'key.created',
      'invite.created',
      'session.started',
      'opened',
    ])
      expect(rows.filter(row => row.includes(`"kind":"${kind}"`))).not.toEqual([])
    // Events name files, because only people who may read the files can read the events.
    const found = [...secrets].filter(([what]) => what !== 'fileName')
    expect(
      found.flatMap(([what, value]) =>
        rows.filter(row => row.includes(value)).map(row => `${what}: ${row}`),
      ),
    ).toEqual([])
    expect(rows.filter(row => /[^…]@example\.com|127\.0\.0\.1\b/.test(row))).toEqual([])
  })

  it('contains no secret after a wrong or a correct password', async () => {
    await alice.upload(plants.fileName, 'bytes')
    const json = { object: plants.fileName, password: plants.password }
    const { response } = await answered(alice.rest('POST', '/api/files/quick_share', { json }))
    const token = response.sharing_token
    for (const password of [wrong, plants.password]) {
      const expected = password === wrong ? 403 : 200
      const headers = { 'x-share-password': password }
      const path = `/api/d/${token}`
      expect((await answered(t.anonymous.rest('GET', path, { headers }))).status).toBe(
        expected === 200 ? 302 : 403,
      )
      const resolve = t.anonymous.rest('POST', `/api/share/resolve/${token}`, {
        json: { password },
      })
      expect((await answered(resolve)).status).toBe(expected)
      const OPEN =
        'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url } } }'
      for (const [query, variables] of [
        [OPEN, { input: { token, password } }],
        [
          `mutation { openShare(input: { token: "${token}", password: "${password}" }) { download { url } } }`,
          {},
        ],
      ] as const) {
        const { data } = await t.anonymous.graphql<{
          openShare: { download: { url: string } } | null
        }>(query, variables)
        expect(data?.openShare === null).toBe(password === wrong)
        noteSignature(data?.openShare?.download.url ?? '')
      }
      // Refused, but the request was still processed.
      await t.anonymous.rest('GET', `${path}?password=${password}`)
    }
    expectSilence()
  })

  it('contains no secret from almost correct addresses', async () => {
    const json = { object: plants.fileName }
    const share = await answered(alice.rest('POST', '/api/files/quick_share', { json }))
    const own = await answered(
      alice.rest('GET', `/api/user/private/download_token?file=${plants.fileName}`),
    )
    const tokens = [share.response.sharing_token, own.response.private_download_token]
    const near = (token: string) => [
      ...[
        `/api/d/${token}/`,
        `/api/d/${token}/x`,
        `//api/d/${token}`,
        `/api//d/${token}`,
        `/API/d/${token}`,
      ],
      ...[
        `/api/d/x/${token}`,
        `/api/share/${token}`,
        `/api/share/information/${token}`,
        `/${token}`,
        `/d/${token}`,
      ],
      ...[
        `/share/${token}`,
        `/share/${token}/x`,
        `/invite/${token}`,
        `/api/blobs/${token}`,
        `/api/blobs/${token}/x`,
      ],
      ...[
        `/api/d/private/${token}`,
        `/api/files/${token}/note`,
        `/api/d/%20${token}`,
        `/api/d/${token}%20`,
      ],
      ...[
        `/api/workspaces/${token}/quota`,
        `/auth/${token}/login`,
        `/auth/${token}`,
        `/sign-in/${token}`,
      ],
      ...[
        `/api/d/${token}?x=${token}`,
        `/api/d/${token};x`,
        `/api/d/x%2F${token}`,
        `/healthz/${token}`,
      ],
    ]
    for (const token of tokens) for (const path of near(token)) await t.anonymous.rest('GET', path)
    expectSilence()
  })

  it.each(['share', 'note', 'session', 'entry', 'user', 'invite', 'api_key'])(
    'contains no secret when statements on the table %s fail',
    async table => {
      const before = t.logs().length
      const share = await answered(
        alice.rest('POST', '/api/files/quick_share', { json: { object: plants.fileName } }),
      )
      const token = share.response.sharing_token
      await without(table, async () => {
        const { password } = plants
        const json = { object: plants.fileName, password }
        const all = await Promise.all([
          alice.rest('POST', '/api/files/quick_share', { json }),
          alice.rest('POST', '/api/files/share', {
            json: { email: bob.email, objects: [plants.fileName], password },
          }),
          t.anonymous.rest('GET', `/api/d/${token}`, { headers: { 'x-share-password': password } }),
          alice.rest('PUT', '/api/files/4b3a6218bb3e3a7303e8a171a60fcf92/note', {
            json: { content: password },
          }),
          alice.rest('GET', '/api/user/data'),
          bob.rest('GET', '/api/files/received'),
          bob.rest('GET', '/api/workspaces/invites/mine'),
          t.anonymous.rest('GET', '/api/user/data', {
            headers: { 'x-api-key': `satchel_${password}` },
          }),
        ])
        const failed = all.filter(answer => answer.status === 500)
        expect(failed.length).toBeGreaterThan(0)
        for (const { text } of failed)
          expect(text).not.toMatch(new RegExp(`${table}|${password}|${alice.email}`))
        const open = `openShare(input: { token: "${token}", password: "${password}" }) { download { url } }`
        await alice.graphql(`mutation { ${open} }`)
        await alice.graphql(`{ share(token: "${token}") { fileName } me { email } }`)
      })
      expect(t.logs().slice(before)).toContain('"level":50')
      expectSilence()
    },
  )

  it('contains no secret when the mail server refuses a message', async () => {
    const json = {
      email: bob.email,
      objects: [plants.fileName],
      password: plants.password,
      send_email: true,
    }
    expect((await answered(alice.rest('POST', '/api/files/share', { json }))).status).toBe(200)
    await t.app.worker.idle()
    expect(t.logs()).toContain("Can't send mail")
    expectSilence()
  })

  it('contains no secret from successful or failed sign-ins', async () => {
    const browser = new Browser()
    const email = 'planted-erin@example.com'
    secrets.set(`e-mail ${email}`, email)
    const follow = async (first: Response): Promise<Response> => {
      let res = first
      for (let i = 0; i < 10 && res.headers.has('location'); i++) {
        const to = new URL(res.headers.get('location') ?? '', browser.last)
        for (const name of ['code', 'state']) {
          const value = to.searchParams.get(name)
          if (value) secrets.set(`${name} ${value}`, value)
        }
        res = await browser.get(to.href)
      }
      return res
    }
    await follow(await browser.get(`${t.app.publicUrl()}/auth/oauth?return_to=/api/user/data`))
    const planted = await word()
    secrets.set('word of the sign-in', planted)
    const callback = await browser.post({ word: planted, email, name: 'Erin', verified: 'yes' })
    const end = await follow(callback)
    expect(await end.text()).toContain(email)
    const session = browser.jar.get('session_id')?.value ?? ''
    expect(session).toHaveLength(43)
    secrets.set('cookie of the browser', session)
    const device = browser.jar.get('known_device')?.value ?? ''
    expect(device.length).toBeGreaterThan(40)
    secrets.set('cookie of the device', device)
    await browser.get(`${t.app.publicUrl()}/sessions`)
    await browser.get(`${t.app.publicUrl()}/nowhere/${email}/${device}`)
    // The same callback again, and a callback of a sign-in that never began.
    const used = [...secrets.keys()].find(what => what.startsWith('code '))?.slice('code '.length)
    await browser.get(`${t.app.publicUrl()}/auth/callback?code=${used}&state=${session}`)
    await browser.get(`${t.app.publicUrl()}/auth/is_valid`)
    await browser.get(`${t.app.publicUrl()}/auth/logout`)
    expectSilence()
  })
})

describe('The log of a failing sign-in provider', () => {
  it('contains no secret from the response of the provider', async () => {
    const provider: Server = createServer((req, res) => {
      // The provider returns as many details as a broken one can.
      const chunks: Buffer[] = []
      req.on('data', chunk => chunks.push(chunk))
      req.on('end', () => {
        const error_description = `cannot redeem ${Buffer.concat(chunks)} of ${bob.email}`
        res.writeHead(400, { 'content-type': 'application/json' })
        res.end(JSON.stringify({ error: 'invalid_grant', error_description }))
      })
    })
    await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
    const address = provider.address()
    const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const other = await startApp({
      OAUTH_HUB_CLIENT_ID: 'satchel',
      OAUTH_HUB_CLIENT_SECRET: 'planted-client-secret',
      OAUTH_HUB_AUTHORIZE_URL: `${base}/authorize`,
      OAUTH_HUB_TOKEN_URL: `${base}/token`,
      OAUTH_HUB_USERINFO_URL: `${base}/me`,
    })
    try {
      const browser = new Browser()
      const begun = await browser.get(`${other.app.publicUrl()}/auth/oauth`)
      const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
      const code = 'planted-authorisation-code'
      const failed = await browser.get(
        `${other.app.publicUrl()}/auth/callback?code=${code}&state=${state}`,
      )
      expect(failed.headers.get('location')).toContain('error=auth_failed')
      expect(other.logs()).toContain('"reason":"auth_failed"')
      for (const secret of [code, state ?? '', 'planted-client-secret', bob.email])
        expect(other.logs()).not.toContain(secret)
    } finally {
      await other.stop()
      provider.close()
    }
  })
})

describe('GET /api/share/info/{token}', () => {
  it('reveals nothing about the owner', async () => {
    const uploaded = await alice.upload('planted-folder/shared.txt', 'shared bytes')
    const json = {
      object: 'planted-folder/shared.txt',
      password: plants.password,
      max_downloads: 3,
    }
    const share = await alice.rest('POST', '/api/files/quick_share', { json })
    const info = await t.anonymous.rest('GET', `/api/share/info/${share.response.sharing_token}`)
    const fields = [
      'allow_download',
      'expires_at',
      'file_name',
      'file_type',
      'password_protected',
      'size',
    ]
    expect(Object.keys(info.response).sort()).toEqual(fields)
    const [bucket] = await t.app.db.rows<{ id: string; root: string }>(
      'SELECT id, root_id AS root FROM bucket WHERE user_id = ?',
      [alice.userId],
    )
    const [blob] = await t.app.db.rows<{ id: string }>(
      'SELECT blob_id AS id FROM entry WHERE id = ?',
      [uploaded.response.file.id],
    )
    const owned = [
      alice.email,
      alice.userId,
      'planted-alice',
      'planted-folder',
      uploaded.response.file.id,
    ]
    const said = info.text + [...info.headers].join('\n')
    for (const secret of [...owned, bucket?.id, bucket?.root, blob?.id]) {
      expect(secret).toBeTruthy()
      expect(said).not.toContain(secret)
    }
    expect(said).not.toContain('http')
  })
})
