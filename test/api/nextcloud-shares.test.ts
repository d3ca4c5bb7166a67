import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, privateKey, put } from '../support/builders.ts'
import { basic, davPerson } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { nextcloudClient } from '../support/nextcloud-client.ts'

// Shares by the Open Collaboration Services, as Nextcloud's and ownCloud's apps make them.

const API = '/apps/files_sharing/api/v1'
const [PERSON, LINK] = ['0', '3']

let t: TestApp
let person: Person
let client: ReturnType<typeof nextcloudClient>
beforeAll(async () => {
  t = await startApp({ LINK_DURATION: '2d' })
  const made = await davPerson(t, 'sharing-app')
  person = made.person
  client = nextcloudClient(t, made.authorization)
  for (const path of ['doc.txt', 'folder/a.txt', 'folder/b.txt']) await person.upload(path, path)
})
afterAll(() => t.stop())

const create = (form: Record<string, string>) => client.ocs('POST', `${API}/shares`, form)
const day = (inDays: number) =>
  new Date(Date.now() + inDays * 86_400_000).toISOString().slice(0, 10)
const keyWith = async (...scopes: string[]) =>
  nextcloudClient(t, basic(person.email, (await privateKey(t, person, scopes)).key))

describe('A link', () => {
  it('is created with the defaults of Satchel, listed, changed and ended', async () => {
    const made = await create({ path: '/doc.txt', shareType: LINK })
    expect(made).toMatchObject({ status: 200, meta: { status: 'ok', statuscode: 200 } })
    const { data } = made
    expect(data).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      share_type: 3,
      permissions: 1,
      path: '/doc.txt',
      item_type: 'file',
      uid_owner: person.email,
      share_with: null,
      expiration: `${day(2)} 00:00:00`,
      url: `${t.url}/share/${data.token}`,
      hide_download: 0,
    })
    const page = await t.anonymous.rest('GET', `/share/${data.token}`)
    expect(page.status).toBe(200)
    const listed = await client.ocs('GET', `${API}/shares`, { path: '/doc.txt' })
    expect(listed.data).toEqual([data])
    expect((await client.ocs('GET', `${API}/shares/${data.id}`)).data).toEqual([data])
    const changed = await client.ocs('PUT', `${API}/shares/${data.id}`, {
      password: 'long enough secret',
      expireDate: day(10),
      note: 'a note',
      label: 'a label',
      hideDownload: 'true',
    })
    expect(changed.data).toMatchObject({
      id: data.id,
      token: data.token,
      // Apps take a recipient of a link as the sign of a password.
      share_with: '***',
      expiration: `${day(10)} 00:00:00`,
      note: 'a note',
      label: 'a label',
      hide_download: 1,
    })
    const open = await client.ocs('PUT', `${API}/shares/${data.id}`, {
      password: '',
      expireDate: '',
    })
    expect(open.data).toMatchObject({ share_with: null, expiration: null, hide_download: 1 })
    expect((await client.ocs('DELETE', `${API}/shares/${data.id}`)).status).toBe(200)
    expect((await t.anonymous.rest('GET', `/share/${data.token}`)).status).toBe(404)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await client.ocs(method, `${API}/shares/${data.id}`)).status).toBe(404)
  })

  it('answers in XML, as the app for Android reads it', async () => {
    const { data } = await create({ path: '/folder', shareType: LINK, label: 'a & b' })
    const path = `/ocs/v2.php${API}/shares?path=/folder`
    const { text, headers } = await client.send('GET', path)
    expect(headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(text).toContain(`<data><element><id>${data.id}</id><share_type>3</share_type>`)
    expect(text).toContain('<label>a &amp; b</label>')
    expect(text).toContain('<item_type>folder</item_type>')
  })

  it('rejects uploads and an expiry date in the past', async () => {
    const refused = await create({ path: '/folder', shareType: LINK, publicUpload: 'true' })
    expect(refused).toMatchObject({ status: 403, meta: { status: 'failure' } })
    for (const expireDate of ['yesterday', day(-2)]) {
      const answer = await create({ path: '/doc.txt', shareType: LINK, expireDate })
      expect([expireDate, answer.status]).toEqual([expireDate, 400])
    }
  })

  it('leads from the address that apps make to its page', async () => {
    const { data } = await create({ path: '/doc.txt', shareType: LINK })
    for (const path of [`/index.php/s/${data.token}`, `/index.php/s/${data.token}/download`]) {
      const { status, headers } = await client.send('GET', path, { as: null })
      expect([status, headers.get('location')]).toEqual([303, `${t.url}/share/${data.token}`])
    }
    const odd = await client.send('GET', '/index.php/s/a%0d%0ab', { as: null })
    expect(odd.status).toBe(404)
  })
})

describe('A share with a person', () => {
  it('lets the person view, or edit with all permissions of an editor', async () => {
    const { person: guest, authorization } = await davPerson(t, 'app-guest')
    const made = await create({ path: '/folder', shareType: PERSON, shareWith: guest.email })
    expect(made.data).toMatchObject({
      share_type: 0,
      permissions: 1,
      share_with: guest.email,
      token: null,
      url: null,
      expiration: `${day(7)} 00:00:00`,
    })
    const theirs = nextcloudClient(t, authorization)
    const path = `/remote.php/dav/files/${guest.email}/Shared%20with%20me/folder/new.txt`
    const write = () => theirs.send('PUT', path, { body: 'new' })
    expect((await write()).status).toBe(403)
    const change = (form: Record<string, string>) =>
      client.ocs('PUT', `${API}/shares/${made.data.id}`, form)
    expect((await change({ permissions: '5' })).status).toBe(400)
    // 31 includes the right to share again, which does not exist here.
    expect((await change({ permissions: '31' })).data).toMatchObject({ permissions: 15 })
    expect((await write()).status).toBe(201)
    expect((await change({ permissions: '1' })).data).toMatchObject({ permissions: 1 })
    const file = { path: '/doc.txt', shareType: PERSON, shareWith: guest.email, permissions: '19' }
    expect((await create(file)).data).toMatchObject({ permissions: 3 })
  })

  it('rejects the own address, an invalid address and an unknown kind', async () => {
    const to = (shareWith: string, shareType = PERSON) =>
      create({ path: '/doc.txt', shareType, shareWith })
    for (const answer of [await to(person.email), await to('nobody'), await to('a@b.example', '1')])
      expect(answer.status).toBe(400)
  })

  it('can be made with known recipients and the typed address, without revealing accounts', async () => {
    const other = await t.signIn('stranger-to-her')
    const search = async (text: string) => {
      const { data } = await client.ocs('GET', `${API}/sharees`, { search: text, itemType: 'file' })
      const emails = (of: { value: { shareWith: string } }[]) => of.map(one => one.value.shareWith)
      return { exact: emails(data.exact.users), known: emails(data.users) }
    }
    await create({ path: '/doc.txt', shareType: PERSON, shareWith: 'friend@example.org' })
    expect(await search('frien')).toEqual({ exact: [], known: ['friend@example.org'] })
    expect(await search('stranger-to')).toEqual({ exact: [], known: [] })
    expect(await search(other.email)).toEqual({ exact: [other.email], known: [] })
    expect(await search('none@example.org')).toEqual({ exact: ['none@example.org'], known: [] })
  })
})

describe('Shares', () => {
  it('of all entries in a folder are listed in one response', async () => {
    const { data } = await create({ path: '/folder/a.txt', shareType: LINK })
    const listed = await client.ocs('GET', `${API}/shares`, { path: '/folder', subfiles: 'true' })
    expect(listed.data.map(({ id }: { id: string }) => id)).toEqual([data.id])
    const all = await client.ocs('GET', `${API}/shares`)
    expect(all.data.length).toBeGreaterThan(1)
    expect((await client.ocs('GET', `${API}/shares`, { shared_with_me: 'true' })).data).toEqual([])
  })

  it('are shown in listings of their entries, but only to their sharer', async () => {
    const { person: of, authorization } = await davPerson(t, 'share-types')
    const app = nextcloudClient(t, authorization)
    for (const path of ['link', 'direct', 'both', 'none']) await of.upload(path, path)
    const share = (path: string, form: Record<string, string>) =>
      app.ocs('POST', `${API}/shares`, { path, ...form })
    const guest = { shareType: PERSON, shareWith: person.email }
    const { data } = await share('/link', { shareType: LINK })
    await share('/direct', guest)
    await share('/both', { shareType: LINK })
    await share('/both', guest)
    const types = async (as = app, root = `/remote.php/dav/files/${of.email}/`) =>
      Object.fromEntries(
        (await as.propfind(root)).map(one => [
          one.href.split('/').at(-1),
          [...(one.of('oc:share-types') ?? '').matchAll(/>(\d)</g)].map(([, type]) => type),
        ]),
      )
    expect(await types()).toEqual({
      '': [],
      link: ['3'],
      direct: ['0'],
      both: ['0', '3'],
      none: [],
    })
    await app.ocs('DELETE', `${API}/shares/${data.id}`)
    expect(await types()).toMatchObject({ link: [] })
    const received = await types(
      client,
      `/remote.php/dav/files/${person.email}/Shared%20with%20me/`,
    )
    expect(received).toMatchObject({ direct: [], both: [] })
  })

  it('need the scopes of each act, and belong to their person', async () => {
    const { data } = await create({ path: '/doc.txt', shareType: LINK })
    const one = `${API}/shares/${data.id}`
    const { authorization } = await davPerson(t)
    const stranger = nextcloudClient(t, authorization)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await stranger.ocs(method, one)).status).toBe(404)
    const form = { path: '/doc.txt', shareType: LINK }
    expect((await stranger.ocs('POST', `${API}/shares`, form)).status).toBe(404)
    const reader = await keyWith('private_files:read')
    expect((await reader.ocs('GET', one)).status).toBe(200)
    for (const [method, path] of [
      ['POST', `${API}/shares`],
      ['PUT', one],
      ['DELETE', one],
      ['GET', `${API}/sharees`],
    ] as const)
      expect([method, (await reader.ocs(method, path, form)).status]).toEqual([method, 403])
    const sharer = await keyWith('private_files:read', 'private_files:share')
    const guest = 'editor@example.org'
    const edit = { path: '/folder', shareType: PERSON, shareWith: guest, permissions: '15' }
    // A key that may only share must not let others do more.
    expect((await sharer.ocs('POST', `${API}/shares`, edit)).status).toBe(403)
    expect((await client.send('GET', `/ocs/v2.php${one}`, { as: null })).status).toBe(401)
    expect((await client.send('PATCH', `/ocs/v2.php${one}`)).status).toBe(405)
  })

  it('cannot be made of the files of a workspace, nor of all files', async () => {
    const workspace = await found(person, 'unshared')
    await put(person, workspace, '/w.txt')
    for (const [path, status] of [
      ['/Workspaces/unshared/w.txt', 404],
      ['/', 403],
      ['/../x', 400],
    ] as const)
      expect([path, (await create({ path, shareType: LINK })).status]).toEqual([path, status])
  })

  it('count towards the same rate limits as in other interfaces', async () => {
    const limited = await startApp({
      RATE_LINKS: '1',
      RATE_SHARING: '1',
      RATE_PROTECTED_LINKS: '1',
    })
    try {
      const { person: of, authorization } = await davPerson(limited)
      const app = nextcloudClient(limited, authorization)
      await of.upload('f', 'f')
      const share = (form: Record<string, string>) =>
        app.ocs('POST', `${API}/shares`, { path: '/f', ...form })
      const first = await share({ shareType: LINK })
      expect(first.status).toBe(200)
      const direct = { shareType: PERSON, shareWith: 'a@example.org', password: 'long enough one' }
      expect((await share(direct)).status).toBe(200)
      const change = () => app.ocs('PUT', `${API}/shares/${first.data.id}`, { label: 'x' })
      for (const again of [await share({ shareType: LINK }), await share(direct), await change()]) {
        expect(again.status).toBe(429)
        expect(again.meta).toMatchObject({ status: 'failure', statuscode: 429 })
      }
      expect((await app.ocs('DELETE', `${API}/shares/${first.data.id}`)).status).toBe(200)
    } finally {
      await limited.stop()
    }
  })
})

describe('Other requests of apps', () => {
  it('return 404 without a page for missing functions', async () => {
    for (const path of [
      `/index.php/avatar/${person.email}/128`,
      `/remote.php/dav/avatars/${person.email}/128.png`,
      '/ocs/v2.php/apps/activity/api/v2/activity?format=json',
      '/ocs/v2.php/apps/user_status/api/v1/user_status?format=json',
    ]) {
      const { status, headers } = await client.send('GET', path)
      expect([path, status, headers.get('content-type')?.includes('html')]).toEqual([
        path,
        404,
        false,
      ])
    }
  })

  it('find the logo that the capabilities name', async () => {
    const { text } = await client.send('GET', '/ocs/v2.php/cloud/capabilities?format=json')
    const { theming } = JSON.parse(text).ocs.data.capabilities
    expect(theming.name).toBe('Satchel')
    const logo = await fetch(theming.logo)
    expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    await logo.arrayBuffer()
  })
})
