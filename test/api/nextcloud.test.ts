import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseXml } from '../../src/dav/xml.ts'
import { ask } from '../support/ask.ts'
import { expel, found, join, privateKey, workspaceKey } from '../support/builders.ts'
import { basic, davPerson, lockInfo } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

// The requests of Nextcloud's and ownCloud's clients, and the responses that they require.

let t: TestApp
let person: Person
let authorization: string
beforeAll(async () => {
  t = await startApp()
  ;({ person, authorization } = await davPerson(t, 'nora'))
})
afterAll(() => t.stop())

interface Options {
  headers?: Record<string, string>
  body?: string | Uint8Array
  as?: string | null
}
const send = async (method: string, path: string, { headers = {}, body, as }: Options = {}) => {
  const credential = as === null ? {} : { authorization: as ?? authorization }
  const answer = await fetch(`${t.url}${path}`, {
    method,
    headers: { ...credential, ...headers },
    ...(body === undefined ? {} : { body: body as BodyInit }),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const files = (path = '/') => `/remote.php/dav/files/${person.email}${path}`
const asked = [
  '<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getetag/><oc:size/><oc:id/>',
  '<oc:fileid/><oc:permissions/><oc:checksums/><oc:favorite/><nc:has-preview/><oc:share-types/><oc:owner-id/>',
].join('')
const propfind = async (path: string, depth = '1', as?: string) => {
  const ns = 'xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
  const body = `<?xml version="1.0"?><d:propfind ${ns}><d:prop>${asked}</d:prop></d:propfind>`
  const answer = await send('PROPFIND', path, { headers: { depth }, body, ...(as ? { as } : {}) })
  expect(answer.status).toBe(207)
  const entries = answer.text.split('<d:response>').slice(1)
  const valueIn = (text: string, name: string) =>
    new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1]
  return entries.map(text => ({
    text,
    href: valueIn(text, 'd:href') ?? '',
    of: (name: string) => valueIn(text, name),
  }))
}

describe('The status', () => {
  it('names the product and the protocol, and reports whether changes are refused', async () => {
    const { status, text } = await send('GET', '/status.php', { as: null })
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      installed: true,
      maintenance: false,
      productname: 'Satchel',
      version: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
    })
  })

  it('responds to the connectivity check', async () => {
    expect(await send('GET', '/index.php/204', { as: null })).toMatchObject({ status: 204 })
  })
})

describe('The Open Collaboration Services', () => {
  it('report the capabilities in JSON and XML, without a credential', async () => {
    const json = await send('GET', '/ocs/v2.php/cloud/capabilities?format=json', { as: null })
    expect(JSON.parse(json.text).ocs).toMatchObject({
      meta: { status: 'ok', statuscode: 200 },
      data: {
        version: { major: expect.any(Number), string: expect.any(String) },
        capabilities: { dav: { chunking: '1.0' }, files: { bigfilechunking: true } },
      },
    })
    const xml = await send('GET', '/ocs/v1.php/cloud/capabilities', { as: null })
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(xml.text).toContain('<statuscode>100</statuscode>')
  })

  it('report the user and the quota', async () => {
    const { text } = await send('GET', '/ocs/v1.php/cloud/user?format=json')
    const { data } = JSON.parse(text).ocs
    expect(data).toMatchObject({ id: person.email, email: person.email, enabled: true })
    expect(data.quota.free + data.quota.used).toBe(data.quota.total)
  })

  it('respond in their own format without a credential, and for unsupported requests', async () => {
    const user = await send('GET', '/ocs/v1.php/cloud/user?format=json', { as: null })
    expect(user.status).toBe(401)
    expect(JSON.parse(user.text).ocs.meta).toMatchObject({ status: 'failure', statuscode: 997 })
    const missing = await send('GET', '/ocs/v2.php/apps/notifications/api?format=json')
    expect(missing.status).toBe(404)
    expect(JSON.parse(missing.text).ocs.meta.statuscode).toBe(404)
  })

  it('tell nothing about the drive of a person to a key of a workspace', async () => {
    const workspace = await found(person, 'out-of-bounds')
    const as = basic(person.email, (await workspaceKey(t, person, workspace)).key)
    const user = await send('GET', '/ocs/v2.php/cloud/user?format=json', { as })
    expect(user.status).toBe(403)
    expect(user.text).not.toContain('quota')
    for (const [method, path] of [
      ['PROPFIND', files()],
      ['GET', '/index.php/core/preview?file=x'],
      ['PUT', `/remote.php/dav/uploads/${person.email}/1/1`],
    ] as const)
      expect([path, (await send(method, path, { as })).status]).toEqual([path, 403])
  })

  it('delete the key of an app that signs out', async () => {
    const { authorization: own } = await davPerson(t, 'leaver')
    expect(await send('GET', '/ocs/v1.php/cloud/user', { as: own })).toMatchObject({ status: 200 })
    const path = '/ocs/v2.php/core/apppassword?format=json'
    expect((await send('GET', '/ocs/v2.php/core/getapppassword', { as: own })).status).toBe(403)
    expect(await send('DELETE', path, { as: own })).toMatchObject({ status: 200 })
    expect(await send('GET', '/ocs/v1.php/cloud/user', { as: own })).toMatchObject({ status: 401 })
  })
})

describe('The login flow', () => {
  const begin = async () => {
    const headers = { 'user-agent': 'Mozilla/5.0 (Android) Nextcloud-android/3.30' }
    const { status, text } = await send('POST', '/index.php/login/v2', { as: null, headers })
    expect(status).toBe(200)
    return JSON.parse(text) as { login: string; poll: { token: string; endpoint: string } }
  }
  const poll = (token: string, where: 'form' | 'query') =>
    where === 'form'
      ? send('POST', '/index.php/login/v2/poll', {
          as: null,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ token }).toString(),
        })
      : send('POST', `/index.php/login/v2/poll?token=${token}`, { as: null })

  it.each(['form', 'query'] as const)(
    'gives an app a key once the person has approved it (token in the %s)',
    async where => {
      const { login, poll: polled } = await begin()
      expect(polled.endpoint).toBe(`${t.url}/index.php/login/v2/poll`)
      expect((await poll(polled.token, where)).status).toBe(404)
      expect((await poll(polled.token, where)).status).toBe(404)
      const userCode = new URL(login).searchParams.get('user_code')
      const answer = { account: person.userId, answer: 'approve', user_code: userCode ?? '' }
      const page = new URLSearchParams(answer)
      await person.rest('POST', '/device', {
        body: page.toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: t.url },
      })
      const granted = await poll(polled.token, where)
      expect(granted.status).toBe(200)
      const { server, loginName, appPassword } = JSON.parse(granted.text)
      expect({ server, loginName }).toEqual({ server: t.url, loginName: person.email })
      const as = basic(loginName, appPassword)
      expect(await send('GET', '/ocs/v1.php/cloud/user', { as })).toMatchObject({ status: 200 })
      expect((await poll(polled.token, where)).status).toBe(404)
    },
  )

  it('is limited for each network, and wrong keys are slowed down', async () => {
    const limited = await startApp({ RATE_DEVICE_LOGINS: '1' })
    try {
      const start = () => fetch(`${limited.url}/index.php/login/v2`, { method: 'POST' })
      expect([(await start()).status, (await start()).status]).toEqual([200, 429])
      const guess = () =>
        fetch(`${limited.url}/ocs/v2.php/cloud/user`, {
          headers: { authorization: basic('nora@example.org', `satchel_${'x'.repeat(43)}`) },
        })
      const statuses = []
      for (let i = 0; i < 12; i++) statuses.push((await guess()).status)
      expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
      expect(statuses.at(-1)).toBe(429)
    } finally {
      await limited.stop()
    }
  }, 60_000)

  it('reveals nothing for an unknown token', async () => {
    expect((await poll('unknown', 'form')).status).toBe(404)
  })
})

// What nextcloudcmd 3.7.3 refuses to work without, found by taking away one after the other.
describe('What clients cannot do without', () => {
  const has = {
    'capabilities in version 1': async () =>
      (await send('GET', '/ocs/v1.php/cloud/capabilities?format=json')).status === 200,
    'the exact type of a multistatus': async () =>
      (await send('PROPFIND', files(), { headers: { depth: '1' } })).headers.get('content-type') ===
      'application/xml; charset=utf-8',
    'the permissions, the id and the ETag of each entry': async () => {
      await send('MKCOL', files('/needed'))
      await send('PUT', files('/needed/f'), { body: 'f' })
      const all = [...(await propfind(files())), ...(await propfind(files('/needed/')))]
      return ['oc:permissions', 'oc:id', 'd:getetag'].every(name => all.every(one => one.of(name)))
    },
    'no host in the URLs, and the folder itself first': async () => {
      const [first] = await propfind(files('/needed/'))
      return first?.href === files('/needed/')
    },
    'the ETag and the accepted time of an upload': async () => {
      const { headers } = await send('PUT', files('/needed/g'), {
        body: 'g',
        headers: { 'x-oc-mtime': '1600000000' },
      })
      return (
        headers.get('etag') === headers.get('oc-etag') &&
        headers.get('etag') !== null &&
        headers.get('x-oc-mtime') === 'accepted'
      )
    },
    'ETags that change up to the root': async () => {
      const tag = async () => (await propfind(files(), '0'))[0]?.of('d:getetag')
      const before = await tag()
      await send('PUT', files('/needed/f'), { body: 'F' })
      return before !== (await tag())
    },
    '405 for a folder that is there': async () =>
      (await send('MKCOL', files('/needed'))).status === 405,
  }
  it.each(Object.entries(has))('is there: %s', async (_name, isThere) => {
    expect(await isThere()).toBe(true)
  })
})

describe('A listing', () => {
  it('is well-formed for a person whose address has an ampersand', async () => {
    const { person: of, authorization: as } = await davPerson(t, 'salt&pepper')
    expect(of.email).toContain('&')
    const path = `/remote.php/dav/files/${of.email}/f`
    await send('PUT', path, { as, body: 'f' })
    const set = '<d:set><d:prop><x xmlns="urn:x">1</x></d:prop></d:set>'
    const answers = [
      await send('PROPPATCH', path, {
        as,
        body: `<d:propertyupdate xmlns:d="DAV:">${set}</d:propertyupdate>`,
      }),
      await send('LOCK', path, { as, body: lockInfo() }),
      await send('PROPFIND', path, { as, headers: { depth: '0' } }),
    ]
    for (const { status, text } of answers) {
      expect(status).toBeLessThan(300)
      expect(() => parseXml(text)).not.toThrow()
    }
  })

  it('has every property that the clients need, in one propstat with status 200', async () => {
    await send('MKCOL', files('/list'))
    await send('PUT', files('/list/f.txt'), { body: 'text' })
    const [folder, file] = await propfind(files('/list'))
    expect(folder?.href).toBe(`/remote.php/dav/files/${person.email}/list/`)
    expect(file?.href).toBe(`/remote.php/dav/files/${person.email}/list/f.txt`)
    expect(folder?.of('oc:permissions')).toBe('GRDNVCK')
    expect(file?.of('oc:permissions')).toBe('GRDNVW')
    expect(file?.of('oc:size')).toBe('4')
    expect(folder?.of('oc:size')).toBe('4')
    const md5 = createHash('md5').update('text').digest('hex')
    expect(file?.of('oc:checksum')).toBe(`MD5:${md5}`)
    expect(file?.of('nc:has-preview')).toBe('false')
    for (const one of [folder, file]) {
      expect(one?.of('d:getetag')).toMatch(/^&quot;\d+-[\da-f-]+&quot;$/)
      expect(BigInt(one?.of('oc:fileid') ?? 0)).toBeLessThan(1n << 63n)
      expect(one?.of('oc:id')).toBe(`${one?.of('oc:fileid')}satchel`)
      expect(one?.of('d:getlastmodified')).toMatch(/ GMT$/)
      expect(one?.text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1)
      expect(one?.text.indexOf('200 OK')).toBeLessThan(one?.text.indexOf('404 Not Found') ?? 0)
    }
  })

  it('is the same at the legacy address, with URLs of that address', async () => {
    const [root] = await propfind('/remote.php/webdav/', '0')
    expect(root?.href).toBe('/remote.php/webdav/')
    expect((await propfind(files(), '0'))[0]?.of('oc:id')).toBe(root?.of('oc:id'))
  })

  it('is missing at addresses that belong to nobody', async () => {
    for (const path of ['/remote.php/', '/remote.php/dav/', '/remote.php/dav/files/'])
      expect((await send('PROPFIND', path)).status).toBe(404)
  })

  it('is refused for another person, and without a credential', async () => {
    const { authorization: other } = await davPerson(t, 'other')
    expect((await send('PROPFIND', files(), { as: other })).status).toBe(404)
    expect((await send('PUT', files('/x'), { as: other, body: 'x' })).status).toBe(404)
    const anonymous = await send('PROPFIND', files(), { as: null })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get('www-authenticate')).toContain('Basic')
  })
})

describe('An entry that was shared with a person', () => {
  it('is a folder of the root with the permissions of its share, and its ETag changes with its contents', async () => {
    const owner = await t.signIn('sharer')
    const { person: guest, authorization: as } = await davPerson(t, 'guest')
    const root = `/remote.php/dav/files/${guest.email}`
    const names = async () => (await propfind(`${root}/`, '1', as)).map(({ href }) => href)
    expect(await names()).toEqual([`${root}/`])
    for (const path of ['edit/f', 'read/f', 'one/f', 'two/f']) await owner.upload(path, path)
    const share = (paths: string[], mayEdit: boolean) =>
      ask(
        owner,
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
        { input: { entries: paths.map(path => ({ at: { path } })), email: guest.email, mayEdit } },
      )
    await share(['edit'], true)
    await share(['read'], false)
    expect(await names()).toEqual([`${root}/`, `${root}/Shared%20with%20me/`])
    const listed = await propfind(`${root}/Shared%20with%20me/`, '1', as)
    expect(listed.map(one => [one.href.split('/').at(-2), one.of('oc:permissions')])).toEqual([
      ['Shared%20with%20me', 'G'],
      ['edit', 'SGCK'],
      ['read', 'SG'],
    ])
    const inside = await propfind(`${root}/Shared%20with%20me/edit/`, '1', as)
    expect(inside.map(one => one.of('oc:permissions'))).toEqual(['SGCK', 'SGDNVW'])
    const tags = async () => [
      (await propfind(`${root}/`, '0', as))[0]?.of('d:getetag'),
      (await propfind(`${root}/Shared%20with%20me/`, '0', as))[0]?.of('d:getetag'),
    ]
    const before = await tags()
    expect(await tags()).toEqual(before)
    await owner.upload('read/new', 'new')
    const after = await tags()
    for (const [i, tag] of after.entries()) expect(tag).not.toBe(before[i])
    await share(['read'], true)
    for (const [i, tag] of (await tags()).entries()) expect(tag).not.toBe(after[i])
    await share(['read'], false)
    const put = (path: string) =>
      send('PUT', `${root}/Shared%20with%20me/${path}`, { as, body: 'theirs' })
    expect((await put('edit/theirs')).status).toBe(201)
    expect((await put('read/theirs')).status).toBe(403)
    expect((await put('at-the-top')).status).toBe(409)
  })
})

describe('A workspace', () => {
  /** The key that the login flow gives an app. */
  async function appKey(of: Person): Promise<string> {
    const { login, poll } = JSON.parse(
      (await send('POST', '/index.php/login/v2', { as: null, headers: { 'user-agent': 'phone' } }))
        .text,
    )
    const userCode = new URL(login).searchParams.get('user_code') ?? ''
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: t.url }
    const asked = new URLSearchParams({ user_code: userCode })
    const page = await of.rest('POST', '/device', { body: asked.toString(), headers })
    expect(page.text).toContain('the files of your workspaces')
    // The app opens the page itself, and shows no code.
    expect(page.text).not.toContain('It must show this code')
    const answer = { account: of.userId, answer: 'approve', user_code: userCode }
    await of.rest('POST', '/device', { body: new URLSearchParams(answer).toString(), headers })
    const path = `/index.php/login/v2/poll?token=${poll.token}`
    const { appPassword } = JSON.parse((await send('POST', path, { as: null })).text)
    return basic(of.email, appPassword)
  }

  it('is a folder of the root for the key of an app, with the letters of the role', async () => {
    const [owner, member] = [await t.signIn('ws-owner'), await t.signIn('ws-member')]
    const as = await appKey(member)
    const root = `/remote.php/dav/files/${member.email}`
    const names = async () => (await propfind(`${root}/`, '1', as)).map(({ href }) => href)
    expect(await names()).toEqual([`${root}/`])
    const workspace = await found(owner, 'Garden')
    await join(t, workspace, member, 'editor')
    expect(await names()).toEqual([`${root}/`, `${root}/Workspaces/`])
    const [, garden] = await propfind(`${root}/Workspaces/`, '1', as)
    expect(garden?.of('oc:permissions')).toBe('GCK')
    const folder = garden?.href ?? ''
    const tags = async () => [
      (await propfind(`${root}/`, '0', as))[0]?.of('d:getetag'),
      (await propfind(`${root}/Workspaces/`, '0', as))[0]?.of('d:getetag'),
      (await propfind(folder, '0', as))[0]?.of('d:getetag'),
    ]
    const changed = async (act: () => Promise<unknown>) => {
      const before = await tags()
      expect(await tags()).toEqual(before)
      await act()
      const after = await tags()
      return after.map((tag, i) => tag !== before[i])
    }
    const put = () => send('PUT', `${folder}plan.txt`, { as, body: 'plan' })
    expect(await changed(put)).toEqual([true, true, true])
    expect((await propfind(folder, '1', as)).map(one => one.of('oc:permissions'))).toEqual([
      'GCK',
      'GDNVW',
    ])
    expect((await send('GET', `${folder}plan.txt`, { as })).text).toBe('plan')
    expect(await changed(() => join(t, workspace, member, 'viewer'))).toEqual([true, true, false])
    expect((await propfind(folder, '1', as)).map(one => one.of('oc:permissions'))).toEqual([
      'G',
      'G',
    ])
    expect((await put()).status).toBe(403)
    await expel(t, workspace, member)
    expect(await names()).toEqual([`${root}/`])
    expect((await send('GET', `${folder}plan.txt`, { as })).status).toBe(404)
  })

  it('takes uploads in chunks, and cannot be moved or deleted as a whole', async () => {
    const owner = await t.signIn('ws-chunks')
    const as = await appKey(owner)
    await found(owner, 'chunks')
    const folder = `/remote.php/dav/files/${owner.email}/Workspaces/chunks`
    const uploads = `/remote.php/dav/uploads/${owner.email}/1`
    await send('PUT', `${uploads}/1`, { as, body: 'in ' })
    await send('PUT', `${uploads}/2`, { as, body: 'chunks' })
    const headers = { destination: `${folder}/f.txt` }
    expect((await send('MOVE', `${uploads}/.file`, { as, headers })).status).toBe(201)
    expect((await send('GET', `${folder}/f.txt`, { as })).text).toBe('in chunks')
    const root = `/remote.php/dav/files/${owner.email}`
    for (const path of [folder, `${root}/Workspaces`]) {
      expect((await send('DELETE', path, { as })).status).toBe(403)
      const destination = { destination: `${root}/elsewhere` }
      expect((await send('MOVE', path, { as, headers: destination })).status).toBe(403)
    }
  })

  it('takes entries from the own files by MOVE, and gives them back', async () => {
    const owner = await t.signIn('ws-moves')
    const as = await appKey(owner)
    const workspace = await found(owner, 'moves')
    const root = `/remote.php/dav/files/${owner.email}`
    const move = (from: string, to: string, headers: Record<string, string> = {}) =>
      send('MOVE', `${root}${from}`, { as, headers: { destination: `${root}${to}`, ...headers } })
    const status = async (path: string) => (await send('GET', `${root}${path}`, { as })).status
    await send('PUT', `${root}/f.txt`, { as, body: 'mine' })
    await send('MKCOL', `${root}/d`, { as })
    await send('PUT', `${root}/d/in.txt`, { as, body: 'inside' })
    const moved = await move('/f.txt', '/Workspaces/moves/f.txt')
    expect(moved.status).toBe(201)
    const [there] = await propfind(`${root}/Workspaces/moves/f.txt`, '0', as)
    expect(there?.of('oc:id')).toBe(moved.headers.get('oc-fileid'))
    expect(await status('/f.txt')).toBe(404)
    expect((await move('/d', '/Workspaces/moves/d')).status).toBe(201)
    expect(await status('/Workspaces/moves/d/in.txt')).toBe(200)
    expect((await move('/Workspaces/moves/d/in.txt', '/back.txt')).status).toBe(201)
    expect((await send('GET', `${root}/back.txt`, { as })).text).toBe('inside')
    // The original is in the trash.
    const trash = await propfind(`/remote.php/dav/trashbin/${owner.email}/trash`, '1', as)
    expect(trash).toHaveLength(3)
    await send('PUT', `${root}/f.txt`, { as, body: 'second' })
    const kept = await move('/f.txt', '/Workspaces/moves/f.txt', { overwrite: 'F' })
    expect([kept.status, await status('/f.txt')]).toEqual([412, 200])
    expect((await move('/f.txt', '/Workspaces/moves/f.txt')).status).toBe(204)
    expect((await send('GET', `${root}/Workspaces/moves/f.txt`, { as })).text).toBe('second')
    // A folder that only the background could copy stays.
    await send('MKCOL', `${root}/large`, { as })
    const large = "UPDATE entry SET total_files = 2500 WHERE name = 'large'"
    await t.app.db.run(large)
    expect((await move('/large', '/Workspaces/moves/large')).status).toBe(403)
    expect([await status('/large'), await status('/Workspaces/moves/large')]).toEqual([200, 404])
    await t.app.db.run("UPDATE entry SET total_files = 0 WHERE name = 'large'")
    // A viewer can move nothing, and loses nothing.
    await t.app.db.run("UPDATE member SET role = 'viewer' WHERE workspace_id = ?", [workspace])
    expect((await move('/back.txt', '/Workspaces/moves/back.txt')).status).toBe(403)
    expect((await move('/Workspaces/moves/f.txt', '/f.txt')).status).toBe(403)
    expect([await status('/back.txt'), await status('/Workspaces/moves/f.txt')]).toEqual([200, 200])
    expect(await status('/f.txt')).toBe(404)
  })

  it('stays closed to other private keys, and an app cannot do more there than with files', async () => {
    const owner = await t.signIn('ws-keys')
    const workspace = await found(owner, 'closed')
    const plain = await davPersonOf(owner)
    const root = `/remote.php/dav/files/${owner.email}`
    expect((await propfind(`${root}/`, '1', plain)).map(({ href }) => href)).toEqual([`${root}/`])
    expect((await send('PROPFIND', `${root}/Workspaces/closed/`, { as: plain })).status).toBe(403)
    const secret = Buffer.from((await appKey(owner)).slice(6), 'base64')
      .toString()
      .split(':')[1]
    const key = { headers: { authorization: '', 'x-api-key': secret ?? '' } }
    const files = await send('GET', `/api/workspaces/${workspace}/files/tree`, key)
    expect(files.status).toBe(200)
    const others = ['list', `members?workspace_id=${workspace}`, `${workspace}/quota`]
    for (const path of others.map(one => `/api/workspaces/${one}`))
      expect([path, (await send('GET', path, key)).text]).toEqual([
        path,
        expect.stringContaining('KEY_OUT_OF_BOUNDS'),
      ])
  })
  const davPersonOf = async (of: Person) => basic(of.email, (await privateKey(t, of)).key)
})

describe('An upload', () => {
  it('returns the ETag, the id and the accepted time', async () => {
    const put = await send('PUT', files('/put.txt'), {
      body: 'put',
      headers: { 'x-oc-mtime': '1600000000', 'oc-total-length': '3' },
    })
    expect(put.status).toBe(201)
    const [file] = await propfind(files('/put.txt'), '0')
    expect(`"${put.headers.get('etag')?.slice(1, -1)}"`).toBe(put.headers.get('oc-etag'))
    expect(file?.of('d:getetag')).toBe(put.headers.get('oc-etag')?.replaceAll('"', '&quot;'))
    expect(file?.of('oc:id')).toBe(put.headers.get('oc-fileid'))
    expect(put.headers.get('x-oc-mtime')).toBe('accepted')
    const moved = await send('MOVE', files('/put.txt'), {
      headers: { destination: `${t.url}${files('/moved.txt').replace('@', '%40')}` },
    })
    expect(moved.status).toBe(201)
    expect(moved.headers.get('oc-fileid')).toBe(put.headers.get('oc-fileid'))
    expect((await send('MKCOL', files('/made'))).headers.get('oc-fileid')).toMatch(/satchel$/)
  })

  const uploads = (path: string) => `/remote.php/dav/uploads/${person.email}${path}`
  const chunk = (path: string, body: string | Uint8Array) => send('PUT', uploads(path), { body })
  const assemble = (transfer: string, to: string, headers: Record<string, string> = {}) =>
    send('MOVE', uploads(`/${transfer}/.file`), { headers: { destination: files(to), ...headers } })

  it('in chunks creates a file from them in the order of their numbers', async () => {
    expect((await send('MKCOL', uploads('/123'))).status).toBe(201)
    expect((await send('MKCOL', uploads('/123/folder'))).status).toBe(409)
    const bytes = Buffer.alloc(3_000_000, 'chunked ')
    const parts = [bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000, 2_500_000)]
    await Promise.all([
      chunk('/123/10', bytes.subarray(2_500_000)),
      chunk('/123/9', parts[1] ?? ''),
      chunk('/123/0000000000000000', parts[0] ?? ''),
    ])
    const listed = await propfind(uploads('/123/'))
    expect(listed.map(one => one.of('d:getcontentlength'))).toEqual([
      undefined,
      '1000000',
      '1500000',
      '500000',
    ])
    expect((await send('GET', files('/whole.bin'))).status).toBe(404)
    const sha1 = createHash('sha1').update(bytes).digest('hex')
    const headers = { 'oc-checksum': `SHA1:${sha1}`, 'x-oc-mtime': '1600000000' }
    const made = await assemble('123', '/whole.bin', { ...headers, 'oc-total-length': '3000000' })
    expect(made.status).toBe(201)
    expect(made.headers.get('oc-fileid')).toMatch(/satchel$/)
    expect(made.headers.get('x-oc-mtime')).toBe('accepted')
    const { text } = await send('GET', files('/whole.bin'))
    expect(text).toBe(bytes.toString())
    expect(await propfind(uploads('/123/'))).toHaveLength(1)
  })

  it('in chunks can be listed before the first chunk, and then is empty', async () => {
    await send('MKCOL', uploads('/fresh'))
    const listed = await propfind(uploads('/fresh'))
    expect(listed.map(one => one.href)).toEqual([uploads('/fresh/')])
    expect(listed[0]?.text).toContain('<d:collection/>')
    expect((await assemble('fresh', '/fresh.txt')).status).toBe(404)
  })

  it('in chunks replaces a chunk that is sent again, and verifies the length and the ETag', async () => {
    await chunk('/again/1', 'wrong')
    await chunk('/again/1', 'right ')
    await chunk('/again/2', 'bytes')
    const short = await assemble('again', '/again.txt', { 'oc-total-length': '99' })
    expect(short.status).toBe(400)
    await send('PUT', files('/again.txt'), { body: 'before' })
    const stale = await assemble('again', '/again.txt', {
      if: `<${t.url}${files('/again.txt')}> (["1-stale"])`,
    })
    expect(stale.status).toBe(412)
    expect((await assemble('again', '/again.txt', { 'oc-total-length': '11' })).status).toBe(204)
    expect((await send('GET', files('/again.txt'))).text).toBe('right bytes')
  })

  it('in chunks can be deleted by the client, and belongs to its user', async () => {
    await chunk('/ended/1', 'bytes')
    const { authorization: other } = await davPerson(t, 'stranger')
    for (const method of ['PUT', 'PROPFIND', 'DELETE', 'MKCOL', 'MOVE'])
      expect((await send(method, uploads('/ended/1'), { as: other })).status).toBe(404)
    expect((await send('DELETE', uploads('/ended'))).status).toBe(204)
    expect((await send('DELETE', uploads('/ended'))).status).toBe(404)
    expect((await assemble('ended', '/never.txt')).status).toBe(404)
    expect((await chunk('/bad name/1', 'x')).status).toBe(400)
    expect((await chunk('/ended/one', 'x')).status).toBe(400)
    expect((await chunk('/ended/9999999999999999', 'x')).status).toBe(400)
  })
})

describe('A change under a condition', () => {
  const uploads = (path: string) => `/remote.php/dav/uploads/${person.email}${path}`

  it('is refused if the file changes while its bytes arrive, also if the condition names its URL', async () => {
    await send('PUT', files('/held.txt'), { body: 'first' })
    const [file] = await propfind(files('/held.txt'), '0')
    const etag = file?.of('d:getetag')?.replaceAll('&quot;', '"')
    const url = new URL(files('/held.txt'), t.url)
    const slow = request(url, {
      method: 'PUT',
      headers: { authorization, if: `<${url.href}> ([${etag}])`, 'content-length': '6' },
    })
    const answered = once(slow, 'response')
    slow.write('sto')
    await setTimeout(300)
    expect((await send('PUT', files('/held.txt'), { body: 'meanwhile' })).status).toBe(204)
    slow.end('len')
    const [{ statusCode }] = await answered
    expect(statusCode).toBe(412)
    expect((await send('GET', files('/held.txt'))).text).toBe('meanwhile')
  })

  it('creates a file from chunks only where there is none, with Overwrite: F', async () => {
    await send('PUT', files('/kept.txt'), { body: 'kept' })
    await send('PUT', uploads('/kept/1'), { body: 'chunk' })
    const move = (headers: Record<string, string>) =>
      send('MOVE', uploads('/kept/.file'), {
        headers: { destination: files('/kept.txt'), ...headers },
      })
    expect((await move({ overwrite: 'F' })).status).toBe(412)
    expect((await send('GET', files('/kept.txt'))).text).toBe('kept')
    expect((await move({})).status).toBe(204)
  })
})

describe('A drive that is nearly full', () => {
  it('takes a file in chunks that fits, and counts its bytes once', async () => {
    const small = await startApp()
    try {
      const { person: of, authorization: as } = await davPerson(small, 'full')
      await small.limit({ maxTotalStorageBytes: 1_000_000 })
      const ask = async (method: string, path: string, headers = {}, body?: Uint8Array) => {
        const answer = await fetch(`${small.url}/remote.php/dav/${path}`, {
          method,
          headers: { authorization: as, ...headers },
          ...(body ? { body: body as BodyInit } : {}),
        })
        await answer.text()
        return answer.status
      }
      const chunk = (name: string, bytes: number) =>
        ask('PUT', `uploads/${of.email}/${name}`, {}, Buffer.alloc(bytes))
      const assemble = (transfer: string, headers = {}) =>
        ask('MOVE', `uploads/${of.email}/${transfer}/.file`, {
          destination: `/remote.php/dav/files/${of.email}/${transfer}.bin`,
          ...headers,
        })
      expect(await chunk('large/1', 400_000)).toBe(201)
      expect(await chunk('large/2', 300_000)).toBe(201)
      // After a refusal, the chunks count again.
      expect(await assemble('large', { 'oc-checksum': `MD5:${'0'.repeat(32)}` })).toBe(400)
      expect(await chunk('other/1', 400_000)).toBe(507)
      expect(await assemble('large')).toBe(201)
      expect(await chunk('other/1', 400_000)).toBe(507)
      expect(await chunk('other/1', 200_000)).toBe(201)
      expect(await ask('DELETE', `uploads/${of.email}/other`)).toBe(204)
      const bucket = await small.app.db.Bucket.findOne({ where: { userId: of.userId } })
      expect(bucket).toMatchObject({ usedBytes: 700_000, reservedBytes: 0, reservedFiles: 0 })
    } finally {
      await small.stop()
    }
  })
})

describe('The setting NEXTCLOUD_CLIENTS', () => {
  it('turns the protocol off', async () => {
    const off = await startApp({ NEXTCLOUD_CLIENTS: 'false' })
    try {
      for (const path of ['/status.php', '/ocs/v1.php/cloud/capabilities', '/remote.php/webdav/'])
        expect((await fetch(`${off.url}${path}`)).status).toBe(404)
    } finally {
      await off.stop()
    }
  })
})
