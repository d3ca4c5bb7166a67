import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { found, join, ROOMY, UNHURRIED } from '../support/builders.ts'
import { wholeGuessWindow } from '../support/guess-window.ts'
import {
  type Person,
  type RestAnswer,
  rest,
  signInTo,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import { readZip } from '../support/zip-reader.ts'

const PASSWORD = 'päss wörd 🦊'
const KiB = 1024
const provider = (name: string) => ({
  [`OAUTH_${name}_CLIENT_ID`]: 'satchel',
  [`OAUTH_${name}_CLIENT_SECRET`]: 'secret',
  [`OAUTH_${name}_AUTHORIZE_URL`]: 'https://sso.example.com/authorize',
  [`OAUTH_${name}_TOKEN_URL`]: 'https://sso.example.com/token',
  [`OAUTH_${name}_USERINFO_URL`]: 'https://sso.example.com/userinfo',
})
const settings = { ...UNHURRIED, ...provider('GITHUB'), ...provider('ACME_CLOUD') }

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
/** Called before every statement, so that tests can break the database. */
let trouble: Error | undefined

beforeAll(async () => {
  t = await startApp(settings, {
    onStatement: sql => {
      if (trouble) throw trouble
      counted.push(sql)
    },
  })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  carol = await t.signIn('carol')
  // Background work would be counted, too.
  await t.app.worker.stop()
})
afterAll(() => t.stop())

let counted: string[] = []
let made = 0

/** A new file of alice. Returns its path. */
async function file(
  name = 'a.txt',
  bytes: string | Uint8Array = 'hello',
  type = 'text/plain',
): Promise<string> {
  const folder = `files-${++made}`
  await alice.upload(`${folder}/file`, bytes, type)
  await alice.rest('POST', '/api/files/move', {
    json: { source: `${folder}/file`, destination: `${folder}/${name}` },
  })
  return `${folder}/${name}`
}

const pathOf = (link: string) => new URL(link).pathname

/** Creates a public link to a file. Returns the path of its page. */
async function share(object: string, terms: object = {}): Promise<string> {
  const { status, response, text } = await alice.rest('POST', '/api/files/quick_share', {
    json: { object, ...terms },
  })
  if (status !== 200) throw new Error(text)
  return pathOf(response.sharing_link)
}

/** Shares a file with bob. Returns the path of its page. */
async function send(object: string, terms: object = {}): Promise<string> {
  const json = { email: bob.email, objects: [object], ...terms }
  const { response, text, status } = await alice.rest('POST', '/api/files/share', { json })
  if (status !== 200) throw new Error(text)
  return pathOf(response.sharing_info[0].sharing_link)
}

/** Invites bob to a new workspace. Returns its id and the path of the page. */
async function invite(
  role = 'editor',
  name = 'Garden',
  email = bob.email,
): Promise<{ id: string; path: string }> {
  const id = await found(alice, name)
  await alice.rest('POST', '/api/workspaces/invites/create', {
    json: { workspace_id: id, email, role },
  })
  const { response } = await bob.rest('GET', '/api/workspaces/invites/mine')
  const mine = response.find((i: { workspace_id: string }) => i.workspace_id === id)
  return { id, path: `/invite/${mine?.token}` }
}

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const get = (
  path: string,
  who = t.anonymous,
  headers: Record<string, string> = {},
  method = 'GET',
) => who.rest(method, path, { headers: { ...asBrowser, ...headers } })
const post = (
  path: string,
  fields: Record<string, string>,
  who = t.anonymous,
  headers: Record<string, string> = {},
) =>
  who.rest('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: {
      ...asBrowser,
      'content-type': 'application/x-www-form-urlencoded',
      origin: t.url,
      ...headers,
    },
  })
const leadOf = async (asked: Promise<RestAnswer>) => {
  const { status, headers } = await asked
  return [status, headers.get('location')]
}
const passOf = (answer: RestAnswer) => (answer.headers.get('set-cookie') ?? '').replace(/;.*/, '')

/** The visible text of a page. */
const wordsOf = ({ text }: RestAnswer) =>
  text
    .replace(/<title>.*?<\/title>|<svg.*?<\/svg>|<[^>]+>/gs, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .replaceAll(/ ([,.:)])/g, '$1')
    .replaceAll('( ', '(')
const linksOf = ({ text }: RestAnswer) =>
  [...text.matchAll(/ href="([^"]*)"/g)].map(([, to = '']) => to)
const isPage = (answer: RestAnswer) => {
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('x-frame-options')).toBe('DENY')
  expect(answer.headers.get('referrer-policy')).toBe('same-origin')
  const policy = answer.headers.get('content-security-policy')
  expect(policy).toMatch(/^default-src 'none'; /)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
}
const downloadsOf = async (path: string) => {
  const { response } = await alice.rest('GET', '/api/files/shared_by_user')
  return response.files.find((s: { sharing_link: string }) => s.sharing_link.endsWith(path))
    ?.downloads
}
const expireAll = (table: 'share' | 'invite') =>
  t.app.db.run(`UPDATE ${table} SET expires_at = ?`, [Date.now() - 1])

describe('GET /workspace/{id}', () => {
  it('lists a folder with sizes and links to its entries', async () => {
    const id = await found(alice, 'Tool Shed')
    await join(t, id, bob, 'viewer')
    for (const [folder, name] of [
      ['', 'plan <1>.txt'],
      ['deep/er', 'saw.bin'],
    ] as const) {
      const form = new FormData()
      form.append('folder', folder)
      form.append('file', new Blob(['hello']), name)
      expect(
        (await alice.rest('POST', `/api/workspaces/${id}/files/upload`, { form })).status,
      ).toBe(200)
    }
    const top = await get(`/workspace/${id}`, bob)
    isPage(top)
    expect(wordsOf(top)).toContain('deep 1 file, 5 B')
    expect(wordsOf(top)).toContain('plan <1>.txt')
    const link = linksOf(top).find(to => to.includes('/files/download')) ?? ''
    expect((await bob.rest('GET', link)).status).toBe(302)
    expect(linksOf(top)).toContain(`/workspace/${id}?path=deep`)
    const deepest = await get(`/workspace/${id}?path=deep%2Fer`, bob)
    expect(wordsOf(deepest)).toContain('saw.bin')
    expect(linksOf(deepest)).toEqual(
      expect.arrayContaining([`/workspace/${id}?path=`, `/workspace/${id}?path=deep`]),
    )
    expect(wordsOf(await get(`/workspace/${id}?path=none`, bob))).toContain(
      'There is nothing in this folder.',
    )
    expect(linksOf(await get('/', bob))).toContain(`/workspace/${id}`)
  })

  it('refuses strangers, and redirects signed-out visitors to the sign-in', async () => {
    const id = await found(alice, 'Vault')
    expect((await get(`/workspace/${id}`, carol)).status).toBe(403)
    expect((await get('/workspace/no-id', carol)).status).toBe(403)
    expect((await get(`/workspace/${id}?path=a%2F..%2Fb`, alice)).status).toBe(400)
    const { status, headers } = await get(`/workspace/${id}`)
    expect([status, headers.get('location')]).toEqual([
      303,
      `/login?return_to=%2Fworkspace%2F${id}`,
    ])
  })
})

describe('GET /', () => {
  it('explains the service to strangers, and how to sign in', async () => {
    const answer = await get('/')
    expect(answer.status).toBe(200)
    isPage(answer)
    expect(wordsOf(answer)).toContain('Satchel keeps your files')
    expect(linksOf(answer)).toEqual(expect.arrayContaining(['/login', '/graphql', '/api/docs']))
  })

  it('shows signed-in people their files, workspaces and pending invites', async () => {
    const dora = await t.signIn('dora')
    await dora.upload('big.bin', new Uint8Array(3 * KiB))
    const empty = wordsOf(await get('/', dora))
    expect(empty).toContain('3 KiB of 5 GiB')
    expect(empty).toContain('1 of 10,000 files · plan Free')
    expect(empty).toContain('Nothing yet.')
    expect(empty).not.toContain('full')
    const sql = 'UPDATE bucket SET used_files = ? WHERE user_id = ?'
    await t.app.db.run(sql, [10_000, dora.userId])
    expect(wordsOf(await get('/', dora))).toContain('Your storage is full. Delete something')
    await t.app.db.run(sql, [1, dora.userId])

    const objects = await Promise.all(Array.from({ length: 7 }, (_, i) => file(`gift-${i}.txt`)))
    await alice.rest('POST', '/api/files/share', { json: { email: dora.email, objects } })
    const workspaceId = await found(alice, 'Orchard')
    await alice.rest('POST', '/api/workspaces/invites/create', {
      json: { workspace_id: workspaceId, email: dora.email, role: 'admin' },
    })
    await found(dora, 'Own Garden')
    const answer = await get('/', dora)
    const words = wordsOf(answer)
    expect(words).toContain('Received 7 new')
    expect(words).toContain('gift-6.txt')
    expect(words).toContain('5 B from alice@example.com')
    expect(words).toContain('and 2 more')
    const more = linksOf(answer).find(to => to === '/home?all') ?? ''
    const everything = await get(more, dora)
    expect(linksOf(everything).filter(to => to.startsWith('/share/'))).toHaveLength(7)
    expect(linksOf(everything)).not.toContain('/home?all')
    expect(words).toContain('Orchard as admin, until')
    expect(words).toContain('Own Garden owner')

    // Its links lead to the named entries, and a share that was opened is no longer new.
    const shares = linksOf(answer).filter(to => to.startsWith('/share/'))
    expect(shares.length).toBe(5)
    expect((await get(shares[0] ?? '', dora)).status).toBe(200)
    const invites = linksOf(answer).filter(to => to.startsWith('/invite/'))
    expect((await get(invites[0] ?? '', dora)).status).toBe(200)
    for (let words = ''; !words.includes('Received 6 new'); ) words = wordsOf(await get('/', dora))
  })

  it('shows a received folder as a folder', async () => {
    const hugo = await t.signIn('hugo')
    await alice.upload('album.zip/a.txt', 'four')
    const SHARE =
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }'
    await ask(alice, SHARE, {
      input: { entries: [{ at: { path: 'album.zip' } }], email: hugo.email },
    })
    const { text } = await get('/home', hugo)
    const own = /<ul class="rows">.*?album\.zip/s.exec(text)?.[0]
    expect(own).toContain('tile folder')
  })

  it('omits entries of a deleted folder that is not purged yet', async () => {
    const [emil, gina] = [await t.signIn('emil'), await t.signIn('gina')]
    const objects = ['gone/a.txt', 'here/b.txt']
    for (const object of objects) await gina.upload(object, 'x')
    await gina.rest('POST', '/api/files/share', { json: { email: emil.email, objects } })
    expect(wordsOf(await get('/', emil))).toContain('Received 2 new')
    await gina.rest('DELETE', '/api/folders?path=gone&recursive=true')
    const words = wordsOf(await get('/', emil))
    expect(words).toContain('Received 1 new')
    expect(words).toContain('b.txt')
    expect(words).not.toContain('a.txt')
  })

  it('treats a program with a key as signed out', async () => {
    const json = { name: 'k', scopes: ['private_files:read'] }
    const { response } = await alice.rest('POST', '/api/api_keys/private/create', { json })
    expect(wordsOf(await get('/', t.withKey(response.api_key.key)))).not.toContain(
      'alice@example.com',
    )
  })

  it('explains a failed sign-in only in its own words', async () => {
    expect(wordsOf(await get('/?error=email_unverified'))).toContain(
      'does not confirm that it is yours',
    )
    expect((await get('/?error=%3Cb%3Eevil')).text).not.toContain('evil')
    expect((await get('/?error=constructor')).text).not.toContain('role="alert"')
  })
})

describe('GET /login', () => {
  it('offers every provider, and returns to the previous page', async () => {
    const answer = await get('/login?return_to=/share/abc')
    expect(answer.status).toBe(200)
    isPage(answer)
    const words = wordsOf(answer)
    expect(words).toContain('Continue with GitHub')
    expect(words).toContain('Continue with Acme cloud')
    expect(words).toContain('After that, you see the file that was shared with you.')
    expect(linksOf(answer)).toContain('/auth/oauth?provider=github&amp;return_to=%2Fshare%2Fabc')
  })

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/auth/logout',
    '/login?return_to=/login',
    '/logout',
    '',
  ])('does not redirect to %j', async to => {
    const answer = await get(`/login?return_to=${encodeURIComponent(to)}`)
    expect(linksOf(answer)).toContain('/auth/oauth?provider=github&amp;return_to=%2F')
  })

  it('informs signed-in people, and lets them continue or sign out', async () => {
    const answer = await get('/login?return_to=/graphql', alice)
    expect(wordsOf(answer)).toContain('You are signed in as alice (alice@example.com)')
    expect(linksOf(answer)).toContain('/graphql')
    expect(answer.text).toContain('<form class="actions" method="post" action="/logout">')
    expect(answer.text).not.toContain('/auth/oauth')
  })
})

describe('POST /logout', () => {
  it.each([
    ['', '/'],
    ['?return_to=/invite/x', '/login?return_to=%2Finvite%2Fx'],
    ['?return_to=https://evil.example', '/'],
    ['?return_to=/logout', '/'],
  ])('ends the session and shows a page of this service: %j', async (query, to) => {
    const eve = await t.signIn('eve')
    const answer = await post(`/logout${query}`, {}, eve)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, to])
    expect(answer.headers.getSetCookie()).toEqual([
      'session_id=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      'provider_session=; Max-Age=0; Path=/auth/sign_out; HttpOnly; SameSite=Lax',
    ])
    expect((await eve.rest('GET', '/auth/is_valid')).response.authenticated).toBe(false)
  })

  it('refuses pages of other origins, and accepts visitors who are not signed in', async () => {
    const answer = await post('/logout', {}, alice, { origin: 'https://evil.example' })
    expect(answer.status).toBe(403)
    expect((await alice.rest('GET', '/auth/is_valid')).response.authenticated).toBe(true)
    expect((await post('/logout', {})).status).toBe(303)
  })
})

describe('The language of a page', () => {
  const german = { 'accept-language': 'de-CH,de;q=0.9,en;q=0.8' }

  it('is the language of the browser', async () => {
    const path = await share(await file('Minutes.txt', 'hello', 'text/plain'))
    const answer = await get(path, t.anonymous, german)
    expect(answer.headers.get('vary')).toContain('Accept-Language')
    expect(answer.text).toContain('<html lang="de">')
    expect(wordsOf(answer)).toContain('Minutes.txt Textdatei · 5 B Geteilt von alice Verfügbar bis')
    expect(wordsOf(await get('/', t.anonymous, german))).toContain('Deine Dateien, sicher geteilt')
  })

  it('is the language that the person has chosen', async () => {
    const cookie = 'language=en'
    const answer = await get('/login', t.anonymous, { ...german, cookie })
    expect(answer.text).toContain('<html lang="en">')
  })

  it('also applies to errors', async () => {
    const gone = await get(`/share/${'x'.repeat(43)}`, t.anonymous, german)
    expect([gone.status, wordsOf(gone)]).toEqual([
      404,
      expect.stringContaining('Link nicht gefunden Dieser Link geht nicht: Die Freigabe wurde'),
    ])
  })
})

describe('GET /share/{token}', () => {
  it('shows the shared files and the name of the sharer, but neither address nor location', async () => {
    const object = await file('Minutes.txt', 'hello', 'text/plain')
    const path = await share(object, { duration: '7d' })
    const answer = await get(path)
    expect(answer.status).toBe(200)
    isPage(answer)
    const words = wordsOf(answer)
    expect(words).toContain('Minutes.txt Text file · 5 B Shared by alice Available until')
    expect(answer.text).toContain('title="5 bytes"')
    expect(answer.text).toMatch(
      /<time datetime="\d{4}-\d\d-\d\dT[\d:.]+Z">\d+ \w+ \d{4} at \d\d:\d\d UTC<\/time>/,
    )
    expect(linksOf(answer)).toContain(`${path}/download`)
    for (const hidden of ['alice@example.com', object.split('/')[0] ?? ''])
      expect(answer.text).not.toContain(hidden)
    expect(await downloadsOf(path)).toBe(0)
  })

  it('is the target of sharing_link and of the mail', async () => {
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: await file() },
    })
    expect(response.sharing_link).toBe(`${t.url}/share/${response.sharing_token}`)
    expect((await get(pathOf(response.sharing_link))).status).toBe(200)
  })

  it.each([
    ['SHARE_NOT_FOUND', 404, 'Link not found', async () => '/share/nothing'],
    ['SHARE_NOT_FOUND', 404, 'Link not found', async () => '/share/%2E%2E%2F'],
    ['SHARE_NOT_FOUND', 404, 'Link not found', async () => `/share/${'A'.repeat(43)}`],
    [
      'SHARE_NOT_FOUND',
      404,
      'Link not found',
      async () => {
        const path = await share(await file())
        await alice.rest('POST', `/api/share/revoke/${path.slice('/share/'.length)}`)
        return path
      },
    ],
    [
      'SHARE_EXPIRED',
      403,
      'No longer available',
      async () => {
        const path = await share(await file())
        await expireAll('share')
        return path
      },
    ],
    [
      'SHARE_USED_UP',
      403,
      'Already used',
      async () => {
        const path = await share(await file(), { max_downloads: 1 })
        await get(`${path}/download`)
        return path
      },
    ],
  ])('%s is a page with the same status as by REST: %d', async (code, status, heading, make) => {
    const path = await make()
    const byRest = await t.anonymous.rest('GET', `/api/share/info/${path.slice('/share/'.length)}`)
    expect([byRest.status, byRest.response.code]).toEqual([status, code])
    for (const address of [path, `${path}/download`, `${path}/preview`]) {
      const answer = await get(address)
      expect(answer.status).toBe(status)
      isPage(answer)
      expect(wordsOf(answer)).toContain(heading)
      expect(wordsOf(answer)).toContain(byRest.msg)
    }
    const sent = await post(path, { password: 'x' })
    expect(sent.status).toBe(status)
  })

  it('asks for the password before it shows a preview', async () => {
    const path = await share(await file('a.png', 'png', 'image/png'), { password: PASSWORD })
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(
      `<form class="password" method="post" action="${path}" data-in-place>`,
    )
    expect(answer.text).toMatch(/<label for="password">Password<\/label>/)
    expect(answer.text).not.toContain('/preview')
    expect(answer.text).not.toContain('/download')
    // A password in the URL is ignored, because URLs are stored and shown to others.
    expect((await get(`${path}?password=${encodeURIComponent(PASSWORD)}`)).text).not.toContain(
      '/download',
    )
    for (const part of ['preview', 'download'])
      expect(await leadOf(get(`${path}/${part}`))).toEqual([303, path])
  })
})

describe('POST /share/{token}', () => {
  it('accepts the right password once: the page, its preview and its download then open', async () => {
    const path = await share(await file('a.txt', 'hello'), { password: PASSWORD })
    const answer = await post(path, { password: PASSWORD })
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([303, path, ''])
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(
      new RegExp(`^share_pass=[\\w-]+; Path=${path}; HttpOnly; SameSite=Strict$`),
    )
    const opened = await get(path, t.anonymous, { cookie: passOf(answer) })
    expect(linksOf(opened)).toContain(`${path}/download`)
    expect(opened.text).not.toContain('type="password"')
    const preview = await get(`${path}/preview`, t.anonymous, { cookie: passOf(answer) })
    expect(preview.text).toContain('hello')
    const download = await get(`${path}/download`, t.anonymous, { cookie: passOf(answer) })
    expect(download.status).toBe(302)
    expect(await (await fetch(download.headers.get('location') ?? '')).text()).toBe('hello')
    expect(await downloadsOf(path)).toBe(1)
  })

  it('sets a pass that opens nothing else, and becomes invalid with the password', async () => {
    const object = await file()
    const path = await share(object, { password: PASSWORD })
    const other = await share(object, { password: PASSWORD })
    const pass = passOf(await post(path, { password: PASSWORD }))
    expect((await get(other, t.anonymous, { cookie: pass })).text).toContain('type="password"')
    expect(await leadOf(get(`${other}/preview`, t.anonymous, { cookie: pass }))).toEqual([
      303,
      other,
    ])
    for (const broken of [
      'share_pass=',
      'share_pass=x',
      pass.slice(0, -2),
      `${pass}A`,
      'share_pass=%E0%A4%A',
    ])
      expect((await get(path, t.anonymous, { cookie: broken })).text).toContain('type="password"')

    const direct = await send(object, { password: 'first' })
    const own = `${bob.cookie}; ${passOf(await post(direct, { password: 'first' }, bob))}`
    expect(linksOf(await get(direct, t.anonymous, { cookie: own }))).toContain(`${direct}/download`)
    await send(object, { password: 'second' })
    expect((await get(direct, t.anonymous, { cookie: own })).text).toContain('type="password"')
    // A pass is not a session, without which nobody can open a direct share.
    expect((await get(direct, t.anonymous, { cookie: own.split('; ')[1] ?? '' })).status).toBe(401)
  })

  it.each([
    ['a wrong one', 'wrong', 403, 'This is not the password. Check it and try again.'],
    ['none', '', 401, 'Enter the password first.'],
    ['one that is too long', 'x'.repeat(129), 403, 'This is not the password.'],
  ])('refuses %s with an explanation and the form', async (_what, password, status, words) => {
    const path = await share(await file('secret.txt'), { password: PASSWORD })
    const answer = await post(path, { password })
    expect(answer.status).toBe(status)
    isPage(answer)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(wordsOf(answer)).toContain(words)
    expect(answer.text).toContain('<p class="problem" id="problem" role="alert">')
    expect(answer.text).toContain('aria-describedby="hint problem" aria-invalid="true" autofocus')
    expect(answer.text).toContain('<title>Error: Protected by a password · Satchel</title>')
    if (password) expect(answer.text).not.toContain(password)
  })

  it('hides names, number and size until the password, also from link previews', async () => {
    const path = await share(await file('secret.txt', 'hello', 'text/plain'), {
      password: PASSWORD,
      title: 'Delivery for Acme',
      message: 'As discussed.',
    })
    const before = await get(path)
    for (const hidden of ['secret.txt', '5 B', 'Text file', 'Acme', 'discussed'])
      expect(before.text).not.toContain(hidden)
    expect(before.text).toContain(
      '<meta property="og:description" content="A password is needed to see it.">',
    )
    expect(wordsOf(before)).toContain('Shared by alice')
    const after = await get(path, t.anonymous, {
      cookie: passOf(await post(path, { password: PASSWORD })),
    })
    expect(wordsOf(after)).toContain('Delivery for Acme secret.txt · Text file · 5 B')
    expect(wordsOf(after)).toContain('As discussed.')
    const og = [...after.text.matchAll(/<meta property="og:[^>]+>/g)].join()
    expect(og).not.toMatch(/secret|Acme|5 B/)
  })

  it('shows link previews the contents of an open link', async () => {
    const path = await share(await file('Minutes.txt', 'hello', 'text/plain'), { title: 'May' })
    const { text } = await get(path)
    expect(text).toContain('<meta property="og:title" content="May">')
    expect(text).toContain('content="alice shares something with you: 1 file, 5 B"')
  })

  it('counts guesses together with the REST routes, and shows when to retry', async () => {
    await wholeGuessWindow()
    const path = await share(await file(), { password: PASSWORD })
    const byRest = (password: string) =>
      t.anonymous.rest('POST', `/api/share/resolve/${path.slice('/share/'.length)}`, {
        json: { password },
      })
    for (let i = 0; i < 5; i++) {
      expect((await post(path, { password: `wrong ${i}` })).status).toBe(403)
      expect((await byRest(`wrong as well ${i}`)).response.code).toBe('WRONG_PASSWORD')
    }
    const refused = await post(path, { password: PASSWORD })
    expect(refused.status).toBe(403)
    isPage(refused)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(wordsOf(refused)).toMatch(
      /Too many passwords were tried, so more are blocked for now. Try again in \d+ (minutes|seconds)\./,
    )
    const [, at = ''] = /<time datetime="([^"]+)">/.exec(refused.text) ?? []
    expect(Math.abs(Date.parse(at) - Date.now() - seconds * 1000)).toBeLessThan(30_000)
    expect(linksOf(refused)).toContain(path)
    expect((await byRest(PASSWORD)).response.code).toBe('TOO_MANY_ATTEMPTS')
  })

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin that is hidden', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ])('refuses a form from %s without counting a guess', async (_what, headers) => {
    const path = await share(await file(), { password: PASSWORD })
    for (let i = 0; i < 11; i++) {
      const answer = await post(path, { password: PASSWORD }, t.anonymous, headers)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
      expect(wordsOf(answer)).toContain(
        'The form could not be read The form comes from a page of another origin',
      )
      expect(linksOf(answer)).toContain(path)
    }
    expect((await post(path, { password: PASSWORD })).status).toBe(303)
  })

  it('accepts a form from a browser that sends no origin', async () => {
    const path = await share(await file(), { password: PASSWORD })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams({ password: PASSWORD }).toString()
    expect((await t.anonymous.rest('POST', path, { headers, body })).status).toBe(303)
  })

  it.each([
    ['JSON', 'application/json', '{"password":"x"}', 400],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--', 400],
    ['too much', 'application/x-www-form-urlencoded', `password=${'x'.repeat(20 * KiB)}`, 400],
  ])('refuses %s', async (_what, type, body, status) => {
    const path = await share(await file(), { password: PASSWORD })
    const answer = await t.anonymous.rest('POST', path, { body, headers: { 'content-type': type } })
    expect(answer.status).toBe(status)
    isPage(answer)
  })

  it('sends the pass only over https, if the service uses https', async () => {
    const other = await startApp({ ...settings, PUBLIC_URL: 'https://files.example.com' })
    try {
      const address = other.app.gateway.server.address()
      const url = `http://127.0.0.1:${typeof address === 'object' && address?.port}`
      const dora = await signInTo(other.app.db, url, 'dora')
      await dora.upload('a.txt', 'x')
      const json = { object: 'a.txt', password: 'p' }
      const { response } = await dora.rest('POST', '/api/files/quick_share', { json })
      expect(response.sharing_link).toMatch(/^https:\/\/files\.example\.com\/share\//)
      const answer = await rest(url, 'POST', pathOf(response.sharing_link), {
        body: 'password=p',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'https://files.example.com',
        },
      })
      expect(answer.headers.get('set-cookie')).toMatch(/; HttpOnly; Secure; SameSite=Strict$/)
    } finally {
      await other.stop()
    }
  })
})

describe('GET /share/{token} of a folder', () => {
  /** Creates a public link to a folder. Returns the path of its page. */
  async function shareFolder(path: string, terms: object = {}): Promise<string> {
    const { status, response, text } = await alice.rest('POST', '/api/folders/quick_share', {
      json: { path, ...terms },
    })
    if (status !== 200) throw new Error(text)
    return pathOf(response.sharing_link)
  }

  it('lists its entries, links down and up, and names nothing above the shared folder', async () => {
    await alice.upload('secret place/trip/day & night/sea.txt', 'blue', 'text/plain')
    await alice.upload('secret place/trip/plan.txt', 'walk', 'text/plain')
    const path = await shareFolder('secret place/trip')
    const top = await get(path)
    expect(top.status).toBe(200)
    isPage(top)
    expect(wordsOf(top)).toMatch(
      /trip 2 files · 8 B Shared by alice Available until .* day & night 1 file, 4 B \d+ \w+ \d+ 4 B plan\.txt Text file, 4 B/,
    )
    const [below = '', file = ''] = ['path=day+%26+night', 'file=plan.txt'].map(
      query => `${path}?${query}`,
    )
    expect(linksOf(top)).toEqual(expect.arrayContaining([below, file]))

    const level = await get(below)
    expect(linksOf(level)).toEqual(
      expect.arrayContaining([path, `${path}?file=day+%26+night%2Fsea.txt`]),
    )
    const one = await get(`${path}?file=day+%26+night%2Fsea.txt`)
    isPage(one)
    expect(wordsOf(one)).toContain('sea.txt Text file · 4 B')
    expect(linksOf(one)).toEqual(
      expect.arrayContaining([`${path}/download?path=day+%26+night%2Fsea.txt`, below]),
    )
    expect((await get(`${path}/preview?path=day+%26+night%2Fsea.txt`)).text).toContain('blue')
    const answer = await get(`${path}/download?path=plan.txt`)
    expect(await (await fetch(answer.headers.get('location') ?? '')).text()).toBe('walk')
    for (const { text } of [top, level, one])
      for (const hidden of ['alice@', 'secret place']) expect(text).not.toContain(hidden)
  })

  it('downloads the selection, or everything, as one archive', async () => {
    await alice.upload('walk/peaks/high.txt', 'cold', 'text/plain')
    await alice.upload('walk/a b.txt', 'one', 'text/plain')
    await alice.upload('walk/c.txt', 'two', 'text/plain')
    const path = await shareFolder('walk', { max_downloads: 3 })
    const download = (...fields: [string, string][]) =>
      fetch(`${t.url}${path}/download`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        redirect: 'manual',
      })
    const namesOf = async (answer: Response) => {
      expect(answer.status).toBe(303)
      const archive = await fetch(answer.headers.get('location') ?? '')
      return [...(await readZip(new Uint8Array(await archive.arrayBuffer()))).keys()]
    }
    const { text } = await get(path)
    expect(text).toContain('name="entry" value="a b.txt"')
    expect(text).toContain('name="entry" value="peaks"')
    expect(
      await namesOf(await download(['path', ''], ['entry', 'a b.txt'], ['entry', 'peaks'])),
    ).toEqual([...['a b.txt', 'peaks/', 'peaks/high.txt']])
    expect(await namesOf(await download(['path', 'peaks']))).toEqual(['peaks/', 'peaks/high.txt'])
    expect(await namesOf(await download(['path', '']))).toEqual([
      ...['walk/', 'walk/a b.txt', 'walk/c.txt', 'walk/peaks/', 'walk/peaks/high.txt'],
    ])
    expect((await download(['path', ''])).status).toBe(403)
    const locked = await shareFolder('walk', { password: PASSWORD })
    const refused = await fetch(`${t.url}${locked}/download`, {
      method: 'POST',
      body: new URLSearchParams({ path: '' }),
      redirect: 'manual',
    })
    expect([refused.status, refused.headers.get('location')]).toEqual([303, locked])
  })

  it('is paged', async () => {
    for (let i = 0; i < 201; i++)
      await alice.rest('POST', '/api/folders', { json: { path: `many/${1000 + i}` } })
    const path = await shareFolder('many')
    const first = await get(path)
    const [next] = linksOf(first).filter(link => link.includes('cursor='))
    expect(wordsOf(first)).not.toContain('1200')
    expect(wordsOf(await get(next ?? ''))).toContain('1200')
    // Further pages do not count as visits, but opened files do.
    await get(`${next}&file=1200`)
    const noted =
      'SELECT COUNT(*) AS n FROM share_event WHERE share_id = (SELECT MAX(id) FROM share)'
    expect(await t.app.db.row(noted)).toEqual({ n: 2 })
  })

  it('shows tiles for images of moderate size if previews are allowed', async () => {
    const image = new Uint8Array(4_000_001)
    await alice.upload('gallery/a & b.png', image.subarray(1), 'image/png')
    await alice.upload('gallery/large.png', image, 'image/png')
    await alice.upload('gallery/empty.png', '', 'image/png')
    await alice.upload('gallery/drawing.svg', '<svg/>', 'image/svg+xml')
    await alice.upload('gallery/plan.txt', 'walk', 'text/plain')
    const [path, limited, looking] = [
      await shareFolder('gallery'),
      await shareFolder('gallery', { max_downloads: 1 }),
      await shareFolder('gallery', { allow_download: false }),
    ]
    const picturesOf = ({ text }: RestAnswer) =>
      [...text.matchAll(/<img src="([^"]*)"/g)].map(([, to]) => to)
    const page = await get(path)
    expect(picturesOf(page)).toEqual([`${path}/preview?path=a+%26+b.png`])
    expect(linksOf(page)).toContain(`${path}/download?path=a+%26+b.png`)
    expect(picturesOf(await get(limited))).toEqual([])
    const view = await get(looking)
    expect(picturesOf(view)).toHaveLength(1)
    expect(linksOf(view).filter(link => link.includes('/download'))).toEqual([])
    // Most of its files are pictures.
    expect(page.text).toContain('class="card folder-card tiles pictures"')
    const chosen = await get(path, t.anonymous, { cookie: 'share_view=list' })
    expect(chosen.text).toContain('class="card folder-card pictures"')
    const asked = await get(`${path}?view=list`)
    expect(asked.text).toContain('class="card folder-card pictures"')
    expect(asked.headers.get('set-cookie')).toContain(
      `share_view=list; Max-Age=31536000; Path=${path};`,
    )
  })

  it('is sorted by the URL in both directions, across pages', async () => {
    for (const [name, size] of Object.entries({ 'b.txt': 1, 'c.txt': 300, 'a.txt': 20 }))
      await alice.upload(`sorted/${name}`, 'x'.repeat(size), 'text/plain')
    const path = await shareFolder('sorted')
    const namesAt = async (address: string) => {
      const answer = await get(address)
      isPage(answer)
      return [...answer.text.matchAll(/name="entry" value="([^"]*)"/g)].map(([, name]) => name)
    }
    expect(await namesAt(path)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect(await namesAt(`${path}?desc=1`)).toEqual(['c.txt', 'b.txt', 'a.txt'])
    expect(await namesAt(`${path}?sort=size`)).toEqual(['b.txt', 'a.txt', 'c.txt'])
    expect(await namesAt(`${path}?sort=changed&desc=1`)).toEqual(['a.txt', 'c.txt', 'b.txt'])
    expect(await namesAt(`${path}?sort=colour`)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    const bySize = await get(`${path}?sort=size&desc=1`)
    expect(linksOf(bySize)).toEqual(
      expect.arrayContaining([path, `${path}?sort=changed&amp;desc=1`, `${path}?sort=size`]),
    )
    expect(bySize.text.match(/aria-current="true">(\w+)/g)).toEqual(['aria-current="true">Size'])
    // The page of a file links back to the same state of the list.
    const one = await get(`${path}?sort=size&desc=1&file=a.txt`)
    expect(linksOf(one)).toContain(`${path}?sort=size&amp;desc=1`)
  })

  it('searches the shared folder at all depths, and nothing outside', async () => {
    await alice.upload('archive/2024/May/bill.txt', 'x', 'text/plain')
    await alice.upload('archive/Bill <b>.txt', 'x', 'text/plain')
    await alice.upload('bills of alice.txt', 'x', 'text/plain')
    const path = await shareFolder('archive')
    expect((await get(`${path}?path=2024`)).text).toContain(
      '<input type="hidden" name="path" value="2024">',
    )
    const found = await get(`${path}?path=2024&q=bILL`)
    isPage(found)
    expect(wordsOf(found)).toMatch(/Bill <b>.txt Text file, .*bill.txt in 2024\/May, Text file, /)
    expect(wordsOf(found)).not.toContain('bills of alice')
    expect(linksOf(found)).toEqual(
      expect.arrayContaining([
        `${path}?path=2024`,
        `${path}?path=2024%2FMay`,
        `${path}?path=2024&amp;q=bILL&amp;file=2024%2FMay%2Fbill.txt`,
      ]),
    )
    expect(wordsOf(await get(`${path}?q=alice`))).toContain('Nothing here has that in its name.')
    const hostile = await get(`${path}?q=${encodeURIComponent('"><script>')}`)
    isPage(hostile)
    expect(hostile.text).not.toContain('"><script>')
  })

  it('accepts as many selected entries as an archive allows', async () => {
    const long = 'ü'.repeat(120)
    for (let i = 0; i < 12; i++)
      await alice.rest('POST', '/api/folders', { json: { path: `long/${long}/${long} ${i}` } })
    const path = await shareFolder('long')
    const fields = Array.from({ length: 12 }, (_, i) => ['entry', `${long}/${long} ${i}`])
    const body = new URLSearchParams([['path', ''], ...fields])
    expect(body.toString().length).toBeGreaterThan(16 * 1024)
    expect(
      (await fetch(`${t.url}${path}/download`, { method: 'POST', body, redirect: 'manual' }))
        .status,
    ).toBe(303)
  })

  it('returns to the same folder after the password', async () => {
    await alice.upload('vault/in/a.txt', 'x', 'text/plain')
    const path = await shareFolder('vault', { password: PASSWORD })
    for (const query of ['?path=in&sort=size', '?file=in%2Fa.txt', '?q=a']) {
      const closed = await get(path + query)
      expect(closed.text).toContain(`action="${path}${query.replace('&', '&amp;')}"`)
      const { status, headers } = await post(path + query, { password: PASSWORD })
      expect([status, headers.get('location')]).toEqual([303, path + query])
      expect((await post(path + query, { password: 'no' })).text).toContain(
        `action="${path}${query.replace('&', '&amp;')}"`,
      )
    }
    // The redirect keeps only known parameters.
    expect(
      (await post(`${path}?next=//evil.example&path=in`, { password: PASSWORD })).headers.get(
        'location',
      ),
    ).toBe(`${path}?path=in`)
  })

  it('can be saved by signed-in people in whole or in part, and is not offered to others', async () => {
    await alice.upload('given/deep/sea.txt', 'blue', 'text/plain')
    const path = await shareFolder('given')
    const visitor = await t.signIn('saver')
    expect(wordsOf(await get(path))).not.toContain('Save to my files')
    expect(wordsOf(await alice.rest('GET', path))).not.toContain('Save to my files')
    const send = (body: string, person = visitor) =>
      person.rest('POST', `${path}/save`, {
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: t.url },
      })
    const seen = await visitor.rest('GET', `${path}?file=deep/sea.txt`)
    isPage(seen)
    expect(seen.text).toContain('name="file" value="deep/sea.txt"')
    for (const [body, name] of [
      ['file=deep%2Fsea.txt', 'sea.txt'],
      ['path=deep', 'deep'],
      ['', 'given'],
      ['', 'given (2)'],
    ] as const) {
      const answer = await send(body)
      expect([body, answer.status]).toEqual([body, 303])
      const shown = await visitor.rest('GET', answer.headers.get('location') ?? '')
      isPage(shown)
      expect(wordsOf(shown)).toContain(`Saved to your files as ${name}`)
    }
    expect((await send('file=none')).status).toBe(404)
    expect((await send('', t.anonymous)).headers.get('location')).toMatch(/^\/login\?return_to=/)
    const locked = await shareFolder('given', { password: PASSWORD })
    const refused = await visitor.rest('POST', `${locked}/save`, {
      body: '',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: t.url },
    })
    expect(refused.headers.get('location')).toBe(locked)
  })

  it('asks for the password first, and refuses entries outside', async () => {
    await alice.upload('locked/a.txt', 'x', 'text/plain')
    const path = await shareFolder('locked', { password: PASSWORD })
    const closed = await get(path)
    expect(wordsOf(closed)).toContain('Password')
    expect(closed.text).not.toContain('a.txt')
    for (const below of ['/download?path=a.txt', '/preview?path=a.txt'])
      expect((await get(path + below)).headers.get('location')).toBe(`${path}?file=a.txt`)
    const open = await shareFolder('locked')
    for (const query of ['?path=none', '?file=none', '?file=a.txt/b', '/download?path=none'])
      expect([query, (await get(open + query)).status]).toEqual([query, 404])
    for (const query of ['?path=..', '?file=../locked/a.txt'])
      expect([query, (await get(open + query)).status]).toEqual([query, 400])
  })
})

describe('GET /share/{token}/download', () => {
  it('redirects to the bytes, and counts the download', async () => {
    const path = await share(await file('Schön 🦊.txt', 'hello'), { max_downloads: 1 })
    const head = await get(`${path}/download`, t.anonymous, {}, 'HEAD')
    expect([head.status, head.headers.get('location')]).toEqual([302, null])
    const answer = await get(`${path}/download`)
    expect(answer.status).toBe(302)
    const delivered = await fetch(answer.headers.get('location') ?? '')
    expect(delivered.headers.get('content-disposition')).toMatch(
      /^attachment; .*filename\*=UTF-8''Sch%C3%B6n%20/,
    )
    expect(await delivered.text()).toBe('hello')
    expect((await get(`${path}/download`)).status).toBe(403)
  })

  it('sends files and previews itself with DOWNLOADS=proxy', async () => {
    const proxy = await startApp({ DOWNLOADS: 'proxy' })
    try {
      const dora = await proxy.signIn('dora')
      await dora.upload('a.txt', 'hello', 'text/plain')
      const { response } = await dora.rest('POST', '/api/files/quick_share', {
        json: { object: 'a.txt' },
      })
      const path = pathOf(response.sharing_link)
      const answer = await proxy.anonymous.rest('GET', `${path}/download`)
      expect([answer.status, answer.text]).toEqual([200, 'hello'])
      expect(answer.headers.get('content-disposition')).toBe('attachment; filename=a.txt')
      expect((await proxy.anonymous.rest('GET', `${path}/preview`)).text).toContain('hello')
    } finally {
      await proxy.stop()
    }
  })
})

describe('GET /share/{token}/preview', () => {
  const evil = '<script>parent.pwned = 1</script><svg onload="parent.pwned = 1">'

  it.each([
    ['a.png', 'image/png', 'img', 'image/png'],
    ['a.jpg', 'image/jpeg', 'img', 'image/jpeg'],
    ['a.pdf', 'application/pdf', 'object', 'application/pdf'],
    ['a.mp3', 'audio/mpeg', 'audio', 'audio/mpeg'],
    ['a.mp4', 'video/mp4', 'video', 'video/mp4'],
    ['page.html', 'image/png', 'img', 'image/png'],
  ])('shows %s of type %s only as that type', async (name, type, element, sent) => {
    const path = await share(await file(name, evil, type))
    expect((await get(path)).text).toMatch(
      new RegExp(`<${element} [^>]*(src|data)="${path}/preview"`),
    )
    const answer = await get(`${path}/preview`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(sent)
    expect(answer.headers.get('content-disposition')).toMatch(/^inline/)
    expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
    expect(answer.headers.get('x-frame-options')).toBe('SAMEORIGIN')
    expect(await downloadsOf(path)).toBe(0)
  })

  it.each([
    ['liar.png', 'text/html'],
    ['drawing', 'image/svg+xml'],
    ['photo.tiff', 'image/tiff'],
    ['thing', 'application/octet-stream'],
  ])('shows no preview of %s of type %s', async (name, type) => {
    const path = await share(await file(name, evil, type))
    const page = await get(path)
    expect(page.text).not.toContain('/preview')
    expect(linksOf(page)).toContain(`${path}/download`)
    const answer = await get(`${path}/preview`)
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([303, path, ''])
  })

  it.each([
    ['a.txt', 'text/plain'],
    ['a.md', 'text/markdown'],
    ['a.csv', 'text/csv'],
    ['a.json', 'application/json'],
    ['evil.svg', 'image/svg+xml'],
    ['page.html', 'text/html'],
    ['page.xhtml', 'application/xhtml+xml'],
    ['feed.xml', 'text/xml'],
    ['code.js', 'text/javascript'],
  ])('shows the text of %s in a sandbox, escaped', async (name, type) => {
    const path = await share(await file(name, `${evil} & more`, type))
    expect((await get(path)).text).toMatch(
      new RegExp(`<iframe src="${path}/preview" title="${name}" sandbox>`),
    )
    const answer = await get(`${path}/preview`)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^sandbox; default-src 'none'; style-src 'self';/,
    )
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
    expect(answer.headers.get('x-frame-options')).toBe('SAMEORIGIN')
    expect(answer.text).toContain('&lt;script&gt;parent.pwned = 1&lt;/script&gt;')
    expect(answer.text).not.toContain('<script')
    expect(answer.text).not.toContain('<svg')
    expect(wordsOf(answer)).toContain(`${evil} & more`)
  })

  it('sends ranges of an archive, whose list is at its end, and the whole archive only as a download', async () => {
    const path = await share(await file('a.zip', 'PK and more', 'application/zip'))
    expect((await get(`${path}/preview`, t.anonymous, { range: 'bytes=0-1' })).text).toBe('PK')
    expect(await leadOf(get(`${path}/preview`))).toEqual([303, path])
    const looked = await share(await file('b.zip', 'PK', 'application/zip'), {
      allow_download: false,
    })
    expect(await leadOf(get(`${looked}/preview`, t.anonymous, { range: 'bytes=0-1' }))).toEqual([
      303,
      looked,
    ])
  })

  it('shows the first 64 KiB of a text, and no partial character', async () => {
    const text = `x${'ö'.repeat(40 * KiB)}`
    const path = await share(await file('long.txt', text))
    const answer = await get(`${path}/preview`)
    const [, shown = ''] = /<pre [^>]*>(.*)<\/pre>/s.exec(answer.text) ?? []
    expect(shown).toBe(text.slice(0, 32 * KiB))
    expect(wordsOf(answer)).toContain('These are the first 64 KiB of 80 KiB.')
    const head = await get(`${path}/preview`, t.anonymous, {}, 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it.each([
    ['nothing', '', 'text/plain', ''],
    ['UTF-8 with its mark', '\ufeffGrüße', 'text/plain; charset=iso-8859-1', 'Grüße'],
    ['tags in UTF-16', Buffer.from('\ufeff<b>', 'utf16le'), 'text/plain', '&lt;b&gt;'],
    ['tags in ISO-2022-JP', '\u001b(J<b>', 'text/plain; charset=iso-2022-jp', '&lt;b&gt;'],
    ['UTF-16', Buffer.from('\ufeffGrüße', 'utf16le'), 'text/plain', 'Grüße'],
    ['Latin-1', Buffer.from('Grüße', 'latin1'), 'text/plain; charset=iso-8859-1', 'Grüße'],
  ])('decodes %s', async (_what, bytes, type, shown) => {
    const path = await share(await file('a.txt', bytes))
    await t.app.db.run('UPDATE entry SET file_type = ? WHERE name = ?', [type, 'a.txt'])
    const answer = await get(`${path}/preview`)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(`>${shown}</pre>`)
  })

  it('decodes no encoding that hides tags', async () => {
    const path = await share(await file('a.txt', '+ADw-script+AD4-', 'text/plain; charset=utf-7'))
    const answer = await get(`${path}/preview`)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.text).toContain('>+ADw-script+AD4-</pre>')
  })

  it('is replaced by a page that cannot be framed when the bytes are gone', async () => {
    for (const [name, type] of [
      ['gone.png', 'image/png'],
      ['gone.txt', 'text/plain'],
    ] as const) {
      const path = await share(await file(name, 'x', type))
      const sql = 'SELECT blob_id AS id FROM entry WHERE name = ?'
      await t.app.store.remove(
        (await t.app.db.rows<{ id: string }>(sql, [name])).map(({ id }) => id),
      )
      const answer = await get(`${path}/preview`)
      expect(answer.status).toBe(404)
      isPage(answer)
    }
  })

  it('sends a video in ranges', async () => {
    const path = await share(await file('a.mp4', '0123456789', 'video/mp4'))
    const answer = await get(`${path}/preview`, t.anonymous, { range: 'bytes=3-5' })
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([
      206,
      '345',
      'bytes 3-5/10',
    ])
  })

  it('does not bypass a download limit, and the page explains why', async () => {
    const path = await share(await file('a.png', 'png', 'image/png'), { max_downloads: 5 })
    for (const who of [t.anonymous, carol, alice]) {
      const page = await get(path, who)
      expect(wordsOf(page)).toContain(
        'There is no preview, because this link allows a limited number of downloads.',
      )
      expect(page.text).not.toContain('/preview')
      // The limit applies to the link, not to the visitor, so the page does not suggest another
      // account.
      for (const method of ['GET', 'HEAD'])
        expect(await leadOf(get(`${path}/preview`, who, {}, method))).toEqual([303, path])
    }
  })

  it('refuses everyone without access to the file', async () => {
    const path = await send(await file('a.png', 'png', 'image/png'))
    expect(await leadOf(get(`${path}/preview`))).toEqual([303, path])
    expect((await get(`${path}/preview`, carol)).status).toBe(403)
    expect((await get(`${path}/preview`, bob)).status).toBe(200)
    const locked = await send(await file('b.png', 'png', 'image/png'), { password: PASSWORD })
    expect(await leadOf(get(`${locked}/preview`, bob))).toEqual([303, locked])
  })

  it('is not rendered for an image that is too large, and the page explains why', async () => {
    const path = await share(await file('large.png', 'png', 'image/png'))
    await t.app.db.run("UPDATE entry SET total_bytes = ? WHERE name = 'large.png'", [
      50 * KiB * KiB + 1,
    ])
    expect(wordsOf(await get(path))).toContain(
      'There is no preview, because the file is too large for one.',
    )
    expect(await leadOf(get(`${path}/preview`))).toEqual([303, path])
  })
})

describe('A share with one person', () => {
  it('asks a stranger to sign in, and returns', async () => {
    const path = await send(await file('letter.txt'))
    const answer = await get(path)
    expect(answer.status).toBe(401)
    isPage(answer)
    expect(wordsOf(answer)).toContain('This was shared with one person. Sign in')
    expect(linksOf(answer)).toContain(`/login?return_to=${encodeURIComponent(path)}`)
    for (const hidden of ['alice', 'bob@']) expect(answer.text).not.toContain(hidden)
    const download = await get(`${path}/download`)
    expect([download.status, download.headers.get('location')]).toEqual([303, path])
  })

  it('opens for its recipient, who sees the sharer, and for the sharer', async () => {
    const path = await send(await file('letter.txt', 'dear bob'))
    const answer = await get(path, bob)
    expect(answer.status).toBe(200)
    expect(wordsOf(answer)).toContain('Shared by alice (alice@example.com)')
    expect((await get(`${path}/preview`, bob)).text).toContain('dear bob')
    expect((await get(`${path}/download`, bob)).status).toBe(302)
    expect((await get(path, alice)).status).toBe(200)
  })

  it('shows other users nothing about the share', async () => {
    const path = await send(await file('letter.txt'))
    for (const address of [path, `${path}/download`, `${path}/preview`]) {
      const answer = await get(address, carol)
      expect(answer.status).toBe(403)
      expect(wordsOf(answer)).toContain('This was shared with another person.')
      expect(wordsOf(answer)).toContain('You are signed in as carol@example.com.')
      expect(answer.text).not.toContain('letter')
      expect(answer.text).toContain(`action="/logout?return_to=${encodeURIComponent(path)}"`)
    }
  })

  it('is marked as seen when its recipient opens the page, not when others open it', async () => {
    const path = await send(await file('news.txt'))
    const seen = async () => {
      const { response } = await bob.rest('GET', '/api/files/received')
      return response.files.find((s: { sharing_link: string }) => s.sharing_link.endsWith(path))
        ?.seen
    }
    await get(path)
    await get(path, alice)
    await get(path, bob, {}, 'HEAD')
    expect(await seen()).toBe(false)
    await get(path, bob)
    while (!(await seen()));
  })
})

describe('/invite/{token}', () => {
  it('shows the inviter, the workspace, the role and the expiry before the sign-in', async () => {
    const { path } = await invite('editor', 'Garden')
    const answer = await get(path)
    expect(answer.status).toBe(200)
    isPage(answer)
    const words = wordsOf(answer)
    expect(words).toContain('Join Garden alice (alice@example.com) invites you to this workspace.')
    expect(words).toContain('Your role is editor: you may see, add and change files.')
    expect(words).toContain('Valid until')
    expect(linksOf(answer)).toContain(`/login?return_to=${encodeURIComponent(path)}`)
    expect(answer.text).not.toContain('bob@')
    expect(answer.text).not.toContain('<form')
  })

  it('is the target of the mail', async () => {
    const { path } = await invite()
    const mails = await t.app.db.rows<{ payload: string }>(
      'SELECT payload FROM outbox ORDER BY id DESC LIMIT 1',
    )
    expect(JSON.parse(mails[0]?.payload ?? '').values.link).toBe(t.url + path)
  })

  it('lets the invited person accept only once', async () => {
    const { id, path } = await invite('viewer', 'Tea House')
    const page = await get(path, bob)
    expect(page.text).toContain(`<form class="choice" method="post" action="${path}">`)
    const answer = await post(path, { answer: 'accept' }, bob)
    expect(answer.status).toBe(200)
    isPage(answer)
    expect(wordsOf(answer)).toContain(
      'Welcome to Tea House Your role in this workspace is viewer: you may see and download files.',
    )
    expect(linksOf(answer)).toContainEqual(expect.stringMatching(/^\/workspace\/[\w-]+$/))
    const { response } = await bob.rest('GET', '/api/workspaces/list')
    expect(response.find((w: { workspace_id: string }) => w.workspace_id === id)?.role).toBe(
      'viewer',
    )
    expect((await post(path, { answer: 'accept' }, bob)).status).toBe(404)
    expect((await get(path, bob)).status).toBe(404)
  })

  it('lets the invited person decline', async () => {
    const { id, path } = await invite()
    const answer = await post(path, { answer: 'decline' }, bob)
    expect([answer.status, wordsOf(answer)]).toEqual([
      200,
      expect.stringContaining('You declined the invite'),
    ])
    expect((await get(path, bob)).status).toBe(404)
    expect((await bob.rest('GET', `/api/workspaces/${id}/quota`)).status).toBe(403)
  })

  it('redirects an expired session to the sign-in', async () => {
    const { path } = await invite()
    const answer = await post(path, { answer: 'accept' })
    const to = `/login?return_to=${encodeURIComponent(path)}`
    expect([answer.status, answer.headers.get('location')]).toEqual([303, to])
  })

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:1' }],
  ])('refuses a form from %s', async (_what, headers) => {
    const { path } = await invite()
    for (const answer of ['accept', 'decline'])
      expect((await post(path, { answer }, bob, headers)).status).toBe(403)
    expect((await get(path, bob)).status).toBe(200)
  })

  it('400 for an invalid choice', async () => {
    const { path } = await invite()
    for (const answer of ['', 'perhaps']) {
      const refused = await post(path, { answer }, bob)
      expect([refused.status, linksOf(refused)]).toEqual([400, expect.arrayContaining([path])])
    }
  })

  it('403 for another user, without the address of the invited person', async () => {
    const { path } = await invite('editor', 'Hidden Valley')
    const stranger = await t.signIn('unverified', { emailVerified: false })
    for (const person of [carol, alice, stranger])
      for (const answer of [
        await get(path, person),
        await post(path, { answer: 'accept' }, person),
      ]) {
        expect(answer.status).toBe(403)
        expect(wordsOf(answer)).toContain('This invite is for another e-mail address.')
        expect(wordsOf(answer)).toContain(`You are signed in as ${person.email}.`)
        expect(answer.text).not.toContain('Hidden Valley')
        expect(answer.text).not.toContain('bob@example.com')
      }
  })

  it('400 for an existing member', async () => {
    const { id, path } = await invite()
    await join(t, id, bob, 'viewer')
    for (const answer of [await get(path, bob), await post(path, { answer: 'accept' }, bob)]) {
      expect(answer.status).toBe(400)
      expect(wordsOf(answer)).toContain('You are already a member of this workspace.')
    }
    // Other people do not learn who is a member.
    expect((await get(path)).status).toBe(200)
  })

  it('404 for an unknown or ended invite', async () => {
    const { id, path } = await invite()
    const { response } = await alice.rest('GET', `/api/workspaces/invites?workspace_id=${id}`)
    await alice.rest(
      'DELETE',
      `/api/workspaces/invites/delete?workspace_id=${id}&invite_id=${response[0].id}`,
    )
    const token = await share(await file())
    for (const address of [path, '/invite/nothing', `/invite/${token.slice('/share/'.length)}`])
      for (const answer of [await get(address), await get(address, bob)]) {
        expect(answer.status).toBe(404)
        expect(wordsOf(answer)).toContain('This invite no longer exists')
      }
  })

  it('403 for an expired invite', async () => {
    const { path } = await invite()
    await expireAll('invite')
    for (const answer of [
      await get(path),
      await get(path, bob),
      await post(path, { answer: 'accept' }, bob),
    ]) {
      expect(answer.status).toBe(403)
      expect(wordsOf(answer)).toContain('This invite has expired.')
    }
  })

  it('is gone if its sender is gone', async () => {
    const fred = await t.signIn('fred')
    const id = await found(alice, 'Meadow')
    await join(t, id, fred, 'admin')
    await fred.rest('POST', '/api/workspaces/invites/create', {
      json: { workspace_id: id, email: bob.email, role: 'viewer' },
    })
    const { response } = await bob.rest('GET', '/api/workspaces/invites/mine')
    await t.app.db.run('DELETE FROM user WHERE id = ?', [fred.userId])
    const mine = response.find((i: { workspace_id: string }) => i.workspace_id === id)
    const answer = await get(`/invite/${mine.token}`, bob)
    expect(answer.status).toBe(404)
    expect(wordsOf(answer)).toContain('This invite no longer exists')
  })
})

describe('Names chosen by other people', () => {
  const evil = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;<%= 1 %>\${1}`
  const name = evil.replaceAll('/', '')

  const isHarmless = ({ text }: RestAnswer) => {
    expect(text).not.toMatch(/<script(?! defer src="\/pages\/)/)
    expect(text).not.toContain('<img src=x')
    expect(text).not.toContain('<%')
    expect(text).not.toMatch(/ (?:on\w+|style)=(?:"|')/)
  }

  it('are shown as plain text: of files', async () => {
    for (const type of [
      'image/png',
      'text/plain',
      'application/pdf',
      'video/mp4',
      'audio/mpeg',
      'application/zip',
    ]) {
      const object = await file(name, 'x', type)
      const path = await share(object)
      const answer = await get(path)
      isHarmless(answer)
      expect(wordsOf(answer)).toContain(name.replaceAll(/\s+/g, ' '))
      isHarmless(await get(`${path}/preview`))
      const direct = await send(object)
      isHarmless(await get(direct, bob))
    }
    const home = await get('/', bob)
    isHarmless(home)
    expect(wordsOf(home)).toContain(name)
  })

  it('are shown as plain text: of workspaces and people', async () => {
    const mallory = await t.signIn('mallory')
    await t.app.db.run('UPDATE user SET name = ? WHERE id = ?', [evil, mallory.userId])
    const { response } = await mallory.rest('POST', '/api/workspaces/create', {
      json: { name: evil.slice(0, 64), slug: 'evil' },
    })
    const { workspace_id } = response.workspace
    await mallory.rest('POST', '/api/workspaces/invites/create', {
      json: { workspace_id, email: bob.email, role: 'viewer' },
    })
    const mine = await bob.rest('GET', '/api/workspaces/invites/mine')
    const token = mine.response.find(
      (i: { workspace_id: string }) => i.workspace_id === workspace_id,
    ).token
    for (const who of [bob, t.anonymous]) {
      const answer = await get(`/invite/${token}`, who)
      isHarmless(answer)
      expect(wordsOf(answer)).toContain(evil)
    }
    isHarmless(await get('/', bob))
    isHarmless(await get('/', mallory))
    isHarmless(await get('/login', mallory))
    isHarmless(await post(`/invite/${token}`, { answer: 'accept' }, bob))
  })

  it('cannot reverse the text around them', async () => {
    const answer = await get(
      await share(await file('invoice\u202Efdp.exe', 'x', 'application/x-msdownload')),
    )
    expect(answer.text).not.toMatch(/\p{Bidi_Control}/u)
    expect(answer.text).toContain('<bdi>invoice fdp.exe</bdi>')
  })
})

describe('Unknown addresses', () => {
  it.each([
    '/nowhere',
    '/share',
    '/share/a/b',
    '/share/%E0%A4%A',
    '/share/a%2Fb/c',
    '/share/a/download/x',
    '/invite',
    '/Login',
    '/index.html',
    '//',
  ])('404 is a page for a browser and JSON for other clients: %s', async path => {
    const answer = await get(path)
    expect(answer.status).toBe(404)
    isPage(answer)
    expect(wordsOf(answer)).toContain('There is no such page')
    const json = await t.anonymous.rest('GET', path)
    expect([json.status, json.response.code]).toEqual([404, 'ROUTE_NOT_FOUND'])
  })

  it('return JSON under /api to every client', async () => {
    const answer = await get('/api/nowhere')
    expect([answer.status, answer.response.code]).toEqual([404, 'ROUTE_NOT_FOUND'])
  })

  it.each([
    ['DELETE', '/', 'GET, HEAD'],
    ['POST', '/login', 'GET, HEAD'],
    ['GET', '/logout', 'POST'],
    ['PUT', '/share/x', 'GET, HEAD, POST'],
    ['PUT', '/share/x/download', 'GET, HEAD, POST'],
    ['PATCH', '/invite/x', 'GET, HEAD, POST'],
  ])('405 for %s %s', async (method, path, allow) => {
    const answer = await t.anonymous.rest(method, path)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    isPage(answer)
  })
})

describe('A broken service', () => {
  it.each([
    [
      '503',
      503,
      Object.assign(new Error('no'), { code: 'ECONNREFUSED' }),
      'The database does not answer',
    ],
    ['500', 500, new Error('a secret detail'), 'Tell the operator the request id.'],
  ])('returns %s as a page', async (_what, status, error, words) => {
    const path = await share(await file())
    const { path: invited } = await invite()
    try {
      trouble = error
      for (const [address, who] of [
        [path, t.anonymous],
        [`${path}/download`, t.anonymous],
        [invited, t.anonymous],
        ['/', bob],
        ['/login', bob],
      ] as const) {
        const answer = await get(address, who)
        expect(answer.status).toBe(status)
        isPage(answer)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(wordsOf(answer)).toContain(words)
        expect(answer.text).not.toContain('secret detail')
        if (status === 500)
          expect(wordsOf(answer)).toContain(`Request ${answer.headers.get('x-request-id')}`)
      }
    } finally {
      trouble = undefined
    }
  })

  it('keeps the return address for another try', async () => {
    trouble = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
    try {
      const to = '?return_to=%2Fshare%2Fabc'
      const login = await get('/login?return_to=/share/abc&error=auth_failed', bob)
      expect([login.status, linksOf(login)]).toEqual([503, expect.arrayContaining([`/login${to}`])])
      expect(linksOf(await get('/login?return_to=//evil.example', bob))).toContain('/login')
      const logout = await post('/logout?return_to=/share/abc', {}, bob)
      expect(logout.status).toBe(503)
      expect(logout.text).toContain(
        `<form class="actions" method="post" action="/logout${to}"><button>Try again`,
      )
      // When opened again, the page has its form.
      const invited = await post('/invite/abc', { answer: 'accept' }, bob)
      expect([invited.status, linksOf(invited)]).toEqual([
        503,
        expect.arrayContaining(['/invite/abc']),
      ])
    } finally {
      trouble = undefined
    }
  })
})

describe('The cost of a page', () => {
  /** The number of statements of a response. */
  async function statementsOf(path: string, who: Person): Promise<number> {
    counted = []
    expect((await get(path, who)).status).toBeLessThan(500)
    return counted.length
  }

  it('is one statement, another for a signed-in visitor, in parallel where possible, and another that counts the use of a share', async () => {
    const limited = await share(await file('a.pdf', 'x', 'application/pdf'), {
      max_downloads: 2,
      password: 'p',
    })
    const direct = await send(await file('b.txt'))
    await get(direct, bob)
    for (let seen: number | null | undefined; !seen; ) {
      const sql = 'SELECT seen_at AS seenAt FROM share ORDER BY id DESC LIMIT 1'
      seen = (await t.app.db.rows<{ seenAt: number | null }>(sql))[0]?.seenAt
    }
    const { path } = await invite()
    const costs = {
      '/ of a stranger': await statementsOf('/', t.anonymous),
      '/': await statementsOf('/', bob),
      '/login of a stranger': await statementsOf('/login', t.anonymous),
      '/login': await statementsOf('/login', bob),
      '/share of a stranger': await statementsOf(limited, t.anonymous),
      '/share': await statementsOf(limited, bob),
      '/share with one person, of a stranger': await statementsOf(direct, t.anonymous),
      '/share with one person': await statementsOf(direct, bob),
      'a forged share': await statementsOf(`/share/${'A'.repeat(43)}`, t.anonymous),
      '/invite of a stranger': await statementsOf(path, t.anonymous),
      '/invite': await statementsOf(path, bob),
      nothing: await statementsOf('/nowhere', bob),
    }
    expect(costs).toEqual({
      '/ of a stranger': 0,
      '/': 2,
      '/login of a stranger': 0,
      '/login': 1,
      '/share of a stranger': 2,
      '/share': 3,
      '/share with one person, of a stranger': 2,
      '/share with one person': 3,
      'a forged share': 0,
      '/invite of a stranger': 1,
      '/invite': 2,
      nothing: 0,
    })
  })

  it('is less than 50 KiB of transfer, with all resources', async () => {
    const pages: [string, Person][] = [
      ['/', t.anonymous],
      ['/', bob],
      ['/login', t.anonymous],
      [await share(await file('a.png', 'x', 'image/png')), t.anonymous],
      [await share(await file('x'.repeat(255), 'x', 'image/png'), { password: 'p' }), t.anonymous],
      [(await invite()).path, bob],
      ['/nowhere', t.anonymous],
    ]
    for (const [path, who] of pages) {
      const answer = await get(path, who)
      const parts = [...answer.text.matchAll(/(?:href|src)="(\/pages\/[^"]+)"/g)].map(
        ([, part = '']) => part,
      )
      expect(parts.length).toBe(2)
      const sizes = await Promise.all(
        parts.map(async part => Buffer.byteLength((await get(part)).text)),
      )
      const heads = 3 * KiB
      const all = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(answer.text)) + heads
      expect(all).toBeLessThan(50 * KiB)
    }
  })

  it('is one load of style and script, which are cached until they change', async () => {
    const { text } = await get('/')
    for (const [, path = '', , hash] of text.matchAll(
      /"(\/pages\/(style|script)\.([0-9a-f]{16})\.(?:css|js))"/g,
    )) {
      const answer = await t.anonymous.rest('GET', path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/)
      expect(createHash('sha256').update(answer.text).digest('hex').slice(0, 16)).toBe(hash)
      expect((await t.anonymous.rest('HEAD', path)).text).toBe('')
      // An instance of another version has another hash.
      const other = await t.anonymous.rest('GET', path.replace(/[0-9a-f]{16}/, '0'.repeat(16)))
      expect([other.status, other.headers.get('cache-control'), other.text]).toEqual([
        200,
        'no-cache',
        answer.text,
      ])
    }
    for (const path of [
      '/pages/',
      '/pages/style.css',
      '/pages/layout.eta',
      '/pages/../pages/layout.eta',
    ])
      expect((await t.anonymous.rest('GET', path)).status).toBe(404)
  })
})

describe('HEAD', () => {
  it('returns the headers of GET without a body', async () => {
    const { path } = await invite()
    const paths = ['/', '/login', '/nowhere', await share(await file()), path]
    for (const address of paths) {
      const [full, head] = [await get(address), await get(address, t.anonymous, {}, 'HEAD')]
      expect([head.status, head.text]).toEqual([full.status, ''])
      isPage(head)
      expect(head.headers.get('content-length')).toBe(full.headers.get('content-length'))
    }
  })

  it('returns the headers of GET without a body for the preview of a file', async () => {
    for (const [name, type] of [
      ['a.txt', 'text/plain'],
      ['a.png', 'image/png'],
    ]) {
      const preview = `${await share(await file(name, 'hello', type))}/preview`
      const [full, head] = [await get(preview), await get(preview, t.anonymous, {}, 'HEAD')]
      expect([head.status, head.text]).toEqual([200, ''])
      for (const field of ['content-type', 'content-length', 'content-security-policy'])
        expect(head.headers.get(field)).toBe(full.headers.get(field))
    }
  })
})
