import { createHash, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { FOLDER } from '../../db/models/entry.ts'
import { insertEntries } from '../../db/queries/entry.ts'
import { privateScopes } from '../../src/access/scopes.ts'
import { httpDate, rfc3339 } from '../../src/dav/properties.ts'
import { propertyHash } from '../../src/services/tree/dav-property.ts'
import { MAX_DAV_PROPERTY_BYTES_OF_DRIVE } from '../../src/values/limits.ts'
import { ask } from '../support/ask.ts'
import { expel, found, join, put, workspaceKey } from '../support/builders.ts'
import { basic, type Dav, davOf, davPerson, hrefsIn } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let dav: Dav
let authorization: string
beforeAll(async () => {
  t = await startApp()
  ;({ person: alice, dav, authorization } = await davPerson(t, 'alice'))
})
afterAll(() => t.stop())

const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status

describe('OPTIONS', () => {
  it('lists the methods, without a credential and independently of CORS', async () => {
    const { status, headers } = await davOf(t.url)('OPTIONS', '/files/')
    expect(status).toBe(200)
    expect(headers.get('dav')).toBe('1, 2, 3')
    expect(headers.get('ms-author-via')).toBe('DAV')
    expect(headers.get('allow')).toContain('PROPFIND')
    const crossed = await startApp({ CORS_ORIGINS: 'https://app.example.com' })
    try {
      expect((await davOf(crossed.url)('OPTIONS', '/')).headers.get('dav')).toBe('1, 2, 3')
      const preflight = {
        origin: 'https://app.example.com',
        'access-control-request-method': 'GET',
      }
      expect(await statusOf(davOf(crossed.url)('OPTIONS', '/', { headers: preflight }))).toBe(204)
    } finally {
      await crossed.stop()
    }
  })
})

describe('Signing in', () => {
  it('accepts the e-mail address or the name, and an API key as the password', async () => {
    const { key, person } = await davPerson(t)
    for (const user of [person.email, person.email.toUpperCase()])
      expect(
        await statusOf(
          davOf(t.url, basic(user, key.key))('PROPFIND', '/', { headers: { depth: '0' } }),
        ),
      ).toBe(207)
    expect(
      await statusOf(
        davOf(t.url, `Bearer ${key.key}`)('PROPFIND', '/', { headers: { depth: '0' } }),
      ),
    ).toBe(207)
    expect(
      await statusOf(
        davOf(t.url)('PROPFIND', '/', { headers: { depth: '0', 'x-api-key': key.key } }),
      ),
    ).toBe(207)
  })

  it('asks for Basic without a valid credential, and ignores cookies', async () => {
    const { key } = await davPerson(t)
    for (const given of [
      undefined,
      basic(alice.email, 'wrong'),
      basic('someone@else', key.key),
      'Bearer x',
      'Basic ?',
    ]) {
      const { status, headers } = await davOf(t.url, given)('PROPFIND', '/files/', {
        headers: { depth: '0' },
      })
      expect([given, status]).toEqual([given, 401])
      expect(headers.get('www-authenticate')).toMatch(/^Basic realm="[^"]+", charset="UTF-8"$/)
    }
    expect(
      await statusOf(davOf(t.url)('PROPFIND', '/files/', { headers: { cookie: alice.cookie } })),
    ).toBe(401)
  })

  it('refuses a deleted key immediately', async () => {
    const { key, dav: theirs, person } = await davPerson(t)
    expect(await statusOf(theirs('PUT', '/files/a.txt', { body: 'a' }))).toBe(201)
    expect(
      (
        await person.rest('DELETE', '/api/api_keys/private/delete', {
          json: { api_key_id: key.id },
        })
      ).status,
    ).toBe(200)
    expect(await statusOf(theirs('GET', '/files/a.txt'))).toBe(401)
  })

  it('slows down guesses, and never refuses a valid key', async () => {
    const own = await startApp()
    try {
      const { dav: right } = await davPerson(own)
      const wrong = davOf(own.url, basic('alice', 'wrong'))
      const answers = []
      for (let i = 0; i < 12; i++) answers.push(await statusOf(wrong('GET', '/files/')))
      expect(answers.slice(0, 10)).toEqual(new Array(10).fill(401))
      expect(answers.at(-1)).toBe(429)
      expect(await statusOf(right('PROPFIND', '/files/', { headers: { depth: '0' } }))).toBe(207)
    } finally {
      await own.stop()
    }
  })
})

describe('The permissions of a key', () => {
  const tries: [string, string, object, string][] = [
    ['PROPFIND', '/files/f.txt', { headers: { depth: '0' } }, 'private_files:read'],
    ['GET', '/files/f.txt', {}, 'private_files:read'],
    ['HEAD', '/files/f.txt', {}, 'private_files:read'],
    ['PUT', '/files/new.txt', { body: 'x' }, 'private_files:write'],
    ['MKCOL', '/files/new', {}, 'private_files:write'],
    ['PROPPATCH', '/files/f.txt', {}, 'private_files:write'],
    ['LOCK', '/files/f.txt', {}, 'private_files:write'],
    [
      'UNLOCK',
      '/files/f.txt',
      { headers: { 'lock-token': '<urn:uuid:0>' } },
      'private_files:write',
    ],
    [
      'MOVE',
      '/files/f.txt',
      { headers: { destination: '/dav/files/g.txt' } },
      'private_files:write',
    ],
    [
      'COPY',
      '/files/f.txt',
      { headers: { destination: '/dav/files/g.txt' } },
      'private_files:read',
    ],
    ['DELETE', '/files/f.txt', {}, 'private_files:delete'],
  ]

  it.each(tries)('%s requires the scope', async (method, path, options, scope) => {
    const without = await davPerson(
      t,
      undefined,
      privateScopes.filter(one => one !== scope),
    )
    await without.person.upload('f.txt', 'content')
    const { status, text } = await without.dav(method, path, options)
    expect(status).toBe(403)
    if (method !== 'HEAD') expect(text).toContain('<S:code>INSUFFICIENT_SCOPE</S:code>')
  })

  it('include the delete scope for replacing a file', async () => {
    const { person, dav: theirs } = await davPerson(t, undefined, [
      'private_files:read',
      'private_files:write',
    ])
    await person.upload('old.txt', 'old')
    await person.upload('other.txt', 'other')
    expect(await statusOf(theirs('PUT', '/files/old.txt', { body: 'new' }))).toBe(403)
    for (const method of ['COPY', 'MOVE'])
      expect(
        await statusOf(
          theirs(method, '/files/other.txt', { headers: { destination: '/dav/files/old.txt' } }),
        ),
      ).toBe(403)
    expect(await statusOf(theirs('PUT', '/files/new.txt', { body: 'new' }))).toBe(201)
    expect((await theirs('GET', '/files/old.txt')).text).toBe('old')
  })

  it('are limited to one workspace, by the current role of its creator', async () => {
    const [owner, bob] = [await t.signIn('wanda'), await t.signIn('bob')]
    const [id, other] = [await found(owner, 'Garden'), await found(owner, 'Shed')]
    await join(t, id, bob, 'admin')
    await join(t, other, bob, 'admin')
    await put(owner, id, 'plan.txt', 'plan')
    const { key } = await workspaceKey(t, bob, id)
    const theirs = davOf(t.url, basic(bob.email, key))
    const slugOf = async (workspace: string) =>
      (await t.app.db.Workspace.findByPk(workspace, { raw: true }))?.slug ?? ''
    const [slug, otherSlug] = [await slugOf(id), await slugOf(other)]
    const list = async (path: string) =>
      hrefsIn((await theirs('PROPFIND', path, { headers: { depth: '1' } })).text)
    expect(await list('/')).toEqual(['/dav/', '/dav/workspaces/'])
    expect(await list('/workspaces')).toEqual(['/dav/workspaces/', `/dav/workspaces/${slug}/`])
    expect(await list(`/workspaces/${slug}`)).toEqual([
      `/dav/workspaces/${slug}/`,
      `/dav/workspaces/${slug}/plan.txt`,
    ])
    expect((await theirs('GET', `/workspaces/${slug}/plan.txt`)).text).toBe('plan')
    expect(await statusOf(theirs('GET', `/workspaces/${otherSlug}/x`))).toBe(403)
    expect(await statusOf(theirs('GET', '/files/x'))).toBe(403)
    expect(await statusOf(theirs('GET', '/workspaces/unknown/x'))).toBe(404)
    await join(t, id, bob, 'viewer')
    expect(await statusOf(theirs('PUT', `/workspaces/${slug}/plan.txt`, { body: 'new' }))).toBe(403)
    expect((await theirs('GET', `/workspaces/${slug}/plan.txt`)).text).toBe('plan')
    await expel(t, id, bob)
    expect([401, 404]).toContain(await statusOf(theirs('GET', `/workspaces/${slug}/plan.txt`)))
  })
})

describe('PUT and GET', () => {
  it('create a file, replace it, and keep the replaced version', async () => {
    const made = await dav('PUT', '/files/put.txt', {
      body: 'one',
      headers: { 'content-type': 'text/plain' },
    })
    expect(made.status).toBe(201)
    const again = await dav('PUT', '/files/put.txt', { body: 'two!' })
    expect(again.status).toBe(204)
    const got = await dav('GET', '/files/put.txt')
    expect([got.status, got.text, got.headers.get('content-length')]).toEqual([200, 'two!', '4'])
    expect(got.headers.get('etag')).toBe(again.headers.get('etag'))
    expect(got.headers.get('last-modified')).not.toBeNull()
    const query =
      '{ me { drive { entry(path: "put.txt") { ... on File { versions { nodes { size } } } } } } }'
    const { data, errors } = await alice.graphql(query)
    expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.stringContaining('"size":3')])
  })

  it('accept an empty file, and any Unicode name in either normal form', async () => {
    expect(await statusOf(dav('PUT', '/files/empty', { body: '' }))).toBe(201)
    expect((await dav('GET', '/files/empty')).text).toBe('')
    const name = 'Zoë & <Ærø> 100% #1 漢字.txt'
    expect(
      await statusOf(
        dav('PUT', `/files/${encodeURIComponent(name.normalize('NFD'))}`, { body: 'z' }),
      ),
    ).toBe(201)
    expect((await dav('GET', `/files/${encodeURIComponent(name)}`)).text).toBe('z')
    const { text } = await dav('PROPFIND', `/files/${encodeURIComponent(name)}`, {
      headers: { depth: '0' },
    })
    expect(hrefsIn(text)).toEqual([`/dav/files/${encodeURIComponent(name)}`])
    expect(text).toContain('<d:displayname>Zoë &amp; &lt;Ærø&gt; 100% #1 漢字.txt</d:displayname>')
  })

  it('send ranges, and 304 for a cached file', async () => {
    await dav('PUT', '/files/range', { body: '0123456789' })
    const part = await dav('GET', '/files/range', { headers: { range: 'bytes=2-4' } })
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ])
    expect(await statusOf(dav('GET', '/files/range', { headers: { range: 'bytes=20-' } }))).toBe(
      416,
    )
    const etag = part.headers.get('etag') ?? ''
    expect(await statusOf(dav('GET', '/files/range', { headers: { 'if-none-match': etag } }))).toBe(
      304,
    )
    const since = part.headers.get('last-modified') ?? ''
    expect(
      await statusOf(dav('GET', '/files/range', { headers: { 'if-modified-since': since } })),
    ).toBe(304)
    expect(await statusOf(dav('GET', '/files/range', { headers: { 'if-match': '"0"' } }))).toBe(412)
    const head = await dav('HEAD', '/files/range')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '10'])
  })

  it('change a file only if it matches the expected ETag', async () => {
    const { headers } = await dav('PUT', '/files/cond', {
      body: '1',
      headers: { 'if-none-match': '*' },
    })
    const etag = headers.get('etag') ?? ''
    expect(etag).toMatch(/^"1-[0-9a-f-]{36}"$/)
    const put = (given: Record<string, string>) =>
      statusOf(dav('PUT', '/files/cond', { body: '2', headers: given }))
    expect(await put({ 'if-none-match': '*' })).toBe(412)
    expect(await put({ 'if-match': '"99"' })).toBe(412)
    expect(await put({ 'if-match': etag })).toBe(204)
    expect(await put({ 'if-match': etag })).toBe(412)
    expect(await put({ 'if-match': '"2"' })).toBe(204)
    expect(await put({ if: '(["99"])' })).toBe(412)
    expect(await put({ if: '(["99"]) (["3"])' })).toBe(204)
    expect(await put({ if: '(Not ["99"] <urn:uuid:no>)' })).toBe(412)
    expect(await put({ if: '(nonsense' })).toBe(400)
    expect(await statusOf(dav('DELETE', '/files/cond', { headers: { 'if-match': '"1"' } }))).toBe(
      412,
    )
  })

  it('keep the ETag of a file that is renamed or moved, until its content changes', async () => {
    const tagOf = async (path: string) => (await dav('HEAD', path)).headers.get('etag') ?? ''
    await dav('MKCOL', '/files/tags')
    const first = (await dav('PUT', '/files/tagged', { body: 'one' })).headers.get('etag') ?? ''
    const move = (from: string, to: string) =>
      dav('MOVE', from, { headers: { destination: `/dav${to}` } })
    expect((await move('/files/tagged', '/files/renamed')).headers.get('etag')).toBe(first)
    await move('/files/renamed', '/files/tags/moved')
    expect(await tagOf('/files/tags/moved')).toBe(first)
    const { text } = await dav('PROPFIND', '/files/tags', { headers: { depth: '1' } })
    expect(text).toContain(first.replaceAll('"', '&quot;'))
    const headers = { 'if-match': first }
    const second = await dav('PUT', '/files/tags/moved', { body: 'two', headers })
    expect(second.status).toBe(204)
    expect(second.headers.get('etag')).not.toBe(first)
    expect(await tagOf('/files/tags/moved')).toBe(second.headers.get('etag'))
    await move('/files/tags/moved', '/files/tagged')
    const third = await dav('PUT', '/files/tagged', { body: 'six' })
    expect([first, second.headers.get('etag')]).not.toContain(third.headers.get('etag'))
    // A restored version is a further content.
    const { response } = await alice.rest('GET', '/api/files/versions?path=tagged')
    await alice.rest('POST', `/api/files/versions/${response.versions[0].id}/restore`)
    expect([first, second.headers.get('etag'), third.headers.get('etag')]).not.toContain(
      await tagOf('/files/tagged'),
    )
  })

  it('distinguish two files with the same path and revision', async () => {
    const first = await dav('PUT', '/files/again', { body: 'first' })
    await dav('DELETE', '/files/again')
    const second = await dav('PUT', '/files/again', { body: 'second' })
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'))
  })

  it('refuse a partial PUT, a missing parent folder, and a full drive', async () => {
    expect(
      await statusOf(
        dav('PUT', '/files/p', { body: 'x', headers: { 'content-range': 'bytes 0-0/2' } }),
      ),
    ).toBe(400)
    expect(await statusOf(dav('PUT', '/files/no/such/x', { body: 'x' }))).toBe(409)
    expect(await statusOf(dav('PUT', '/files/', { body: 'x' }))).toBe(403)
    expect(await statusOf(dav('PUT', '/x', { body: 'x' }))).toBe(409)
    const own = await startApp()
    try {
      const { dav: theirs } = await davPerson(own)
      await own.limit({ maxTotalStorageBytes: 100, maxFileSizeBytes: 50 })
      expect(await statusOf(theirs('PUT', '/files/large', { body: 'x'.repeat(60) }))).toBe(413)
      for (const name of ['a', 'b']) await theirs('PUT', `/files/${name}`, { body: 'x'.repeat(45) })
      expect(await statusOf(theirs('PUT', '/files/c', { body: 'x'.repeat(45) }))).toBe(507)
      expect(await statusOf(theirs('GET', '/files/c'))).toBe(404)
    } finally {
      await own.stop()
    }
  })

  it('send 100 Continue when the client waits for it', async () => {
    const { port } = new URL(t.url)
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization, expect: '100-continue', 'content-length': 5 }
      const sent = request({ port, method: 'PUT', path: '/dav/files/expected', headers }, res => {
        res.resume()
        resolve(res.statusCode)
      })
      sent.on('error', reject)
      sent.on('continue', () => sent.end('hello'))
      sent.flushHeaders()
    })
    expect(status).toBe(201)
    expect((await dav('GET', '/files/expected')).text).toBe('hello')
  })

  it('record an event with the interface and the key', async () => {
    const { key, person, dav: theirs } = await davPerson(t)
    await theirs('PUT', '/files/seen', { body: 'x' })
    const query =
      '{ me { drive { events(first: 1, newestFirst: true) { nodes { kind via apiKeyId } } } } }'
    const { data } = await person.graphql(query)
    expect(JSON.stringify(data)).toContain('"via":"WEBDAV"')
    expect(JSON.stringify(data)).toContain(key.id)
  })

  it('accept or refuse the metadata files of operating systems', async () => {
    expect(await statusOf(dav('PUT', '/files/._x', { body: 'x' }))).toBe(201)
    const own = await startApp({ WEBDAV_SYSTEM_FILES: 'refuse' })
    try {
      const { dav: theirs } = await davPerson(own)
      for (const name of ['._x', '.DS_Store', 'Thumbs.db', 'desktop.ini'])
        expect(await statusOf(theirs('PUT', `/files/${name}`, { body: 'x' }))).toBe(403)
      await theirs('PUT', '/files/x', { body: 'x' })
      expect(
        await statusOf(theirs('MOVE', '/files/x', { headers: { destination: '/dav/files/._x' } })),
      ).toBe(403)
    } finally {
      await own.stop()
    }
  })
})

describe('Folders', () => {
  it('are created once, in an existing parent, without a body', async () => {
    expect(await statusOf(dav('MKCOL', '/files/dir/'))).toBe(201)
    expect(await statusOf(dav('MKCOL', '/files/dir'))).toBe(405)
    expect(await statusOf(dav('MKCOL', '/files/none/dir'))).toBe(409)
    expect(await statusOf(dav('MKCOL', '/files/body', { body: '<x/>' }))).toBe(415)
    expect(await statusOf(dav('MKCOL', '/files/'))).toBe(405)
    expect((await dav('GET', '/files/dir/')).text).toContain('WebDAV')
  })

  it('move to the trash with their contents', async () => {
    await dav('MKCOL', '/files/gone')
    await dav('PUT', '/files/gone/a', { body: 'a' })
    expect(await statusOf(dav('DELETE', '/files/gone', { headers: { depth: '1' } }))).toBe(400)
    expect(await statusOf(dav('DELETE', '/files/gone'))).toBe(204)
    expect(await statusOf(dav('GET', '/files/gone/a'))).toBe(404)
    expect(await statusOf(dav('DELETE', '/files/gone'))).toBe(404)
    expect(await statusOf(dav('DELETE', '/files/'))).toBe(403)
    const { data, errors } = await alice.graphql(
      '{ me { drive { trash(first: 9) { nodes { path } } } } }',
    )
    expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.stringContaining('"gone"')])
  })
})

describe('COPY and MOVE', () => {
  const to = (destination: string, more: Record<string, string> = {}) => ({
    headers: { destination, ...more },
  })

  beforeAll(async () => {
    await dav('MKCOL', '/files/cm')
    await dav('MKCOL', '/files/cm/tree')
    await dav('PUT', '/files/cm/tree/leaf', { body: 'leaf' })
    await dav('PUT', '/files/cm/a', { body: 'a' })
  })

  it('accept an absolute path or a URL with any scheme, also behind a proxy', async () => {
    const { host } = new URL(t.url)
    const given = [
      '/dav/files/cm/1',
      `http://${host}/dav/files/cm/2`,
      `https://${host}/dav/files/cm/3`,
      `https://${host}/cloud/dav/files/cm/4`,
    ]
    for (const destination of given)
      expect(await statusOf(dav('COPY', '/files/cm/a', to(destination)))).toBe(201)
    for (const name of ['1', '2', '3', '4'])
      expect((await dav('GET', `/files/cm/${name}`)).text).toBe('a')
    expect(
      await statusOf(dav('COPY', '/files/cm/a', to('https://elsewhere.example/dav/files/x'))),
    ).toBe(502)
    expect(await statusOf(dav('COPY', '/files/cm/a', to('/elsewhere/x')))).toBe(502)
    expect(await statusOf(dav('COPY', '/files/cm/a', { headers: {} }))).toBe(400)
    expect(await statusOf(dav('COPY', '/files/cm/a', to('/dav/files/none/x')))).toBe(409)
  })

  it('overwrite a file or a folder unless told not to', async () => {
    await dav('MKCOL', '/files/cm/old')
    await dav('PUT', '/files/cm/old/inside', { body: 'inside' })
    expect(
      await statusOf(dav('COPY', '/files/cm/tree', to('/dav/files/cm/old', { overwrite: 'F' }))),
    ).toBe(412)
    expect(await statusOf(dav('COPY', '/files/cm/tree', to('/dav/files/cm/old')))).toBe(204)
    expect(await statusOf(dav('GET', '/files/cm/old/inside'))).toBe(404)
    expect((await dav('GET', '/files/cm/old/leaf')).text).toBe('leaf')
    expect(await statusOf(dav('MOVE', '/files/cm/1', to('/dav/files/cm/old')))).toBe(204)
    expect((await dav('GET', '/files/cm/old')).text).toBe('a')
    expect(
      await statusOf(dav('MOVE', '/files/cm/2', to('/dav/files/cm/old', { overwrite: 'F' }))),
    ).toBe(412)
    expect(
      await statusOf(dav('MOVE', '/files/cm/2', to('/dav/files/cm/old', { overwrite: 'x' }))),
    ).toBe(400)
  })

  it('copy only the folder itself with depth 0, and always move everything', async () => {
    expect(
      await statusOf(dav('COPY', '/files/cm/tree', to('/dav/files/cm/bare', { depth: '0' }))),
    ).toBe(201)
    expect(await statusOf(dav('GET', '/files/cm/bare/leaf'))).toBe(404)
    expect(
      await statusOf(dav('MOVE', '/files/cm/tree', to('/dav/files/cm/moved', { depth: '0' }))),
    ).toBe(400)
    expect(await statusOf(dav('MOVE', '/files/cm/tree', to('/dav/files/cm/moved/')))).toBe(201)
    expect((await dav('GET', '/files/cm/moved/leaf')).text).toBe('leaf')
    expect(await statusOf(dav('GET', '/files/cm/tree/leaf'))).toBe(404)
    expect(
      await statusOf(dav('COPY', '/files/cm/moved', to('/dav/files/cm/x', { depth: '1' }))),
    ).toBe(400)
  })

  it('refuse an equal source and target, and a target inside the source', async () => {
    for (const method of ['COPY', 'MOVE']) {
      expect(await statusOf(dav(method, '/files/cm/a', to('/dav/files/cm/a')))).toBe(403)
      expect(await statusOf(dav(method, '/files/cm', to('/dav/files/cm/inside')))).toBe(403)
      expect(await statusOf(dav(method, '/files/cm/a', to('/dav/files/cm')))).toBe(403)
      expect(await statusOf(dav(method, '/files/cm/none', to('/dav/files/cm/y')))).toBe(404)
    }
  })
})

describe('PROPFIND', () => {
  const ask = (path: string, body: string, depth = '0') =>
    dav('PROPFIND', path, { headers: { depth }, body })
  const props = (inside: string) =>
    `<?xml version="1.0"?><a:propfind xmlns:a="DAV:">${inside}</a:propfind>`

  it('lists one level of a folder, whose path ends with a slash, and refuses infinite depth', async () => {
    await dav('MKCOL', '/files/list')
    await dav('MKCOL', '/files/list/sub')
    await dav('PUT', '/files/list/f', { body: 'f' })
    expect(
      hrefsIn((await dav('PROPFIND', '/files/list', { headers: { depth: '1' } })).text),
    ).toEqual(['/dav/files/list/', '/dav/files/list/sub/', '/dav/files/list/f'])
    for (const headers of [{ depth: 'infinity' }, {}] as Record<string, string>[]) {
      const { status, text } = await dav('PROPFIND', '/files/list', { headers })
      expect([status, text.includes('<d:propfind-finite-depth>')]).toEqual([403, true])
    }
    expect(await statusOf(dav('PROPFIND', '/files/none', { headers: { depth: '0' } }))).toBe(404)
  })

  it('returns the requested properties, and lists the missing ones', async () => {
    const { text, status } = await ask(
      '/files/list/f',
      props(
        '<a:prop><a:getcontentlength/><a:getetag/><x:own xmlns:x="urn:x"/><a:quota-used-bytes/></a:prop>',
      ),
    )
    expect(status).toBe(207)
    expect(text).toContain('<d:getcontentlength>1</d:getcontentlength>')
    expect(text).toMatch(/<d:getetag>&quot;1-[0-9a-f-]+&quot;<\/d:getetag>/)
    expect(text).toMatch(/<d:quota-used-bytes>\d+</)
    expect(text).toContain('<p:own xmlns:p="urn:x"/></d:prop><d:status>HTTP/1.1 404 Not Found')
    const names = (await ask('/files/list/', props('<a:propname/>'))).text
    expect(names).toContain('<d:resourcetype/>')
    expect(names).not.toContain('getcontentlength')
    expect((await ask('/files/list/', props('<a:allprop/>'))).text).toContain('<d:collection/>')
  })

  it('returns checksums when requested, as rclone does, but not with allprop', async () => {
    const md5 = createHash('md5').update('sum').digest('hex')
    const put = { body: 'sum', headers: { 'oc-checksum': `MD5:${md5}` } }
    expect(await statusOf(dav('PUT', '/files/sum.txt', put))).toBe(201)
    const sums = `<d:propfind xmlns:d="DAV:"><d:prop><checksums xmlns="http://owncloud.org/ns"/></d:prop></d:propfind>`
    const found = await dav('PROPFIND', '/files/sum.txt', { headers: { depth: '0' }, body: sums })
    expect(found.text).toContain(
      `<oc:checksums><oc:checksum>MD5:${md5}</oc:checksum></oc:checksums>`,
    )
    expect(
      (await dav('PROPFIND', '/files/', { headers: { depth: '0' }, body: sums })).text,
    ).toContain('404 Not Found')
    expect(
      (await dav('PROPFIND', '/files/sum.txt', { headers: { depth: '0' } })).text,
    ).not.toContain('checksum')
    expect((await dav('GET', '/files/sum.txt')).text).toBe('sum')
  })

  describe('an upload', () => {
    const sums = {
      MD5: createHash('md5').update('sum').digest('hex'),
      SHA1: createHash('sha1').update('sum').digest('hex'),
      SHA256: createHash('sha256').update('sum').digest('hex'),
      SHA512: createHash('sha512').update('sum').digest('hex'),
      'SHA3-256': createHash('sha3-256').update('sum').digest('hex'),
      ADLER32: '02b30156',
    }
    const put = (body: string | ReadableStream, headers: Record<string, string>) =>
      dav('PUT', '/files/verified.txt', { body, headers })
    beforeEach(() => put('before', {}))

    it.each(Object.entries(sums))('is verified by a %s in OC-Checksum', async (kind, sum) => {
      const header = { 'oc-checksum': `${kind}:${sum}` }
      const wrong = await put('other', header)
      expect([wrong.status, wrong.text]).toEqual([
        400,
        expect.stringContaining('CHECKSUM_MISMATCH'),
      ])
      expect((await dav('GET', '/files/verified.txt')).text).toBe('before')
      expect(await statusOf(put('sum', header))).toBe(204)
      expect((await dav('GET', '/files/verified.txt')).text).toBe('sum')
    })

    it('is verified by the Adler-32 of many bytes, in chunks of any size', async () => {
      const bytes = Buffer.from(Uint8Array.from({ length: 1_024_000 }, (_, i) => i % 256))
      const header = { 'oc-checksum': 'ADLER32:4d9ba4b9' }
      expect((await dav('PUT', '/files/adler', { body: bytes, headers: header })).status).toBe(201)
    })

    it('is verified by each of several checksums, whose kinds may be in lower case', async () => {
      const both = `sha1:${sums.SHA1.toUpperCase()} Adler32:2b30156`
      expect(await statusOf(put('sum', { 'oc-checksum': both }))).toBe(204)
      expect(await statusOf(put('sum', { 'oc-checksum': `${both} MD5:${'0'.repeat(32)}` }))).toBe(
        400,
      )
    })

    it.each([
      ['a checksum of another kind', { 'oc-checksum': 'XXH64:0123456789abcdef' }],
      ['a checksum of another length', { 'oc-checksum': 'SHA1:0123' }],
      ['a checksum without a kind', { 'oc-checksum': sums.MD5 }],
      ['a Content-MD5 in hex', { 'content-md5': sums.MD5 }],
      ['an OC-Total-Length that is not a number', { 'oc-total-length': '3 bytes' }],
    ] as [string, Record<string, string>][])('is refused with %s', async (_what, headers) => {
      const { status, text } = await put('sum', headers)
      expect([status, text]).toEqual([400, expect.stringContaining('INVALID_INPUT')])
      expect((await dav('GET', '/files/verified.txt')).text).toBe('before')
    })

    it('is verified by Content-MD5', async () => {
      const md5 = createHash('md5').update('sum').digest('base64')
      expect(await statusOf(put('other', { 'content-md5': md5 }))).toBe(400)
      expect((await dav('GET', '/files/verified.txt')).text).toBe('before')
      expect(await statusOf(put('sum', { 'content-md5': md5 }))).toBe(204)
    })

    it('is verified by OC-Total-Length, with and without a Content-Length', async () => {
      const streamed = () => new Blob(['sum']).stream() as ReadableStream
      for (const body of [() => 'sum', streamed]) {
        for (const wrong of ['2', '4'])
          expect(await statusOf(put(body(), { 'oc-total-length': wrong }))).toBe(400)
        expect((await dav('GET', '/files/verified.txt')).text).toBe('before')
        expect(await statusOf(put(body(), { 'oc-total-length': '3' }))).toBe(204)
        await put('before', {})
      }
    })

    it('with a SHA-1 returns only its MD5, the only checksum that is stored', async () => {
      await put('sum', { 'oc-checksum': `SHA1:${sums.SHA1}` })
      const asked = `<d:propfind xmlns:d="DAV:"><d:prop><checksums xmlns="http://owncloud.org/ns"/></d:prop></d:propfind>`
      const { text } = await dav('PROPFIND', '/files/verified.txt', {
        headers: { depth: '0' },
        body: asked,
      })
      expect(text).toContain(`>MD5:${sums.MD5}<`)
      expect(text).not.toContain('SHA1')
      expect((await dav('GET', '/files/verified.txt')).headers.get('oc-checksum')).toBeNull()
    })
  })

  it('has dates in the standard formats, cached by day', () => {
    for (const ms of [
      0, 1, 999, 86_399_999, 86_400_000, 951_782_400_000, 1_795_723_199_123, 1_795_723_200_000,
    ]) {
      expect(httpDate(ms)).toBe(new Date(ms).toUTCString())
      expect(rfc3339(ms)).toBe(new Date(ms).toISOString())
    }
  })

  it('returns each property once, and refuses names that are too long in total', async () => {
    const many = (count: number, ns: string) =>
      props(
        `<a:prop xmlns:x="${ns}">${Array.from({ length: count }, (_, i) => `<x:p${i}/>`).join('')}</a:prop>`,
      )
    const twice = await ask(
      '/files/list/f',
      props(`<a:prop>${'<a:displayname/><a:none/>'.repeat(150)}</a:prop>`),
    )
    expect(twice.status).toBe(207)
    expect(twice.text.split('<d:displayname>')).toHaveLength(2)
    expect(twice.text.split('<d:none/>')).toHaveLength(2)
    expect(await statusOf(ask('/files/list/f', many(200, 'urn:x')))).toBe(207)
    expect(await statusOf(ask('/files/list/f', many(201, 'urn:x')))).toBe(400)
    expect(await statusOf(ask('/files/list/f', many(40, `urn:${'x'.repeat(500)}`)))).toBe(400)
  })

  it('refuses XML that is malformed, too large, too deep or has declarations', async () => {
    const bomb = '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;&x;">]>'
    const external = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    const bodies = [
      '<a',
      '<a:propfind xmlns:a="DAV:"><b:prop/></a:propfind>',
      `${bomb}<a:propfind xmlns:a="DAV:"><a:prop><a:b>&y;</a:b></a:prop></a:propfind>`,
      `${external}<a:propfind xmlns:a="DAV:"><a:prop><a:b>&x;</a:b></a:prop></a:propfind>`,
      props('<a:prop>'.repeat(100) + '</a:prop>'.repeat(100)),
      props(`<a:prop>${'<a:b/>'.repeat(3000)}</a:prop>`),
      '<other/>',
    ]
    for (const body of bodies)
      expect([body.slice(0, 60), await statusOf(ask('/files/', body))]).toEqual([
        body.slice(0, 60),
        400,
      ])
    expect(await statusOf(ask('/files/', `<x>${'y'.repeat(200_000)}</x>`))).toBe(413)
    expect(t.failures()).toEqual([])
  })

  it('has a bound on the dead properties of a drive, for PROPPATCH and COPY', async () => {
    const { person, dav: theirs } = await davPerson(t)
    const patch = (path: string, change: string) =>
      theirs('PROPPATCH', path, {
        body: `<a:propertyupdate xmlns:a="DAV:" xmlns:x="urn:x">${change}</a:propertyupdate>`,
      })
    const set = (value: string) => `<a:set><a:prop><x:p>${value}</x:p></a:prop></a:set>`
    for (const path of ['/files/filling', '/files/full', '/files/own'])
      expect(await statusOf(theirs('MKCOL', path))).toBe(201)
    expect((await patch('/files/own', set('mine'))).text).toContain('200 OK')
    const [own] = await t.app.db.rows<{ fillingId: string; bucketId: string; bytes: number }>(
      `SELECT e.id AS fillingId, p.bucket_id AS bucketId, p.bytes
       FROM dav_property p
         JOIN bucket b ON b.id = p.bucket_id
         JOIN entry e ON e.bucket_id = b.id AND e.name = 'filling'
       WHERE b.user_id = ?`,
      [person.userId],
    )
    if (!own) throw new Error('The property has no row.')
    await t.app.db.DavProperty.create({
      entryId: own.fillingId,
      bucketId: own.bucketId,
      nameHash: '0'.repeat(64),
      content: '',
      bytes: MAX_DAV_PROPERTY_BYTES_OF_DRIVE - own.bytes - 10,
    })
    const refused = await patch('/files/full', set('more'))
    expect([refused.status, refused.text]).toEqual([507, expect.stringContaining('in a drive')])
    const destination = `${t.url}/dav/files/copy`
    expect(await statusOf(theirs('COPY', '/files/own', { headers: { destination } }))).toBe(507)
    expect(await statusOf(theirs('PROPFIND', '/files/copy', { headers: { depth: '0' } }))).toBe(404)
    const removal = '<a:remove><a:prop><x:p/></a:prop></a:remove>'
    expect((await patch('/files/own', removal)).text).toContain('200 OK')
    expect(await statusOf(theirs('DELETE', '/files/filling'))).toBe(204)
    await t.app.db.run('DELETE FROM entry WHERE id = ?', [own.fillingId])
    expect((await patch('/files/full', set('more'))).text).toContain('200 OK')
  })

  it('streams a folder of many pages, each entry once and in order', async () => {
    const { person, dav: theirs } = await davPerson(t)
    await Promise.all(Array.from({ length: 20 }, (_, i) => person.upload(`many/${i}.txt`, 'x')))
    const [folder] = await t.app.db.rows<{ id: string; bucketId: string }>(
      "SELECT e.id, e.bucket_id AS bucketId FROM entry e JOIN bucket b ON b.id = e.bucket_id WHERE b.user_id = ? AND e.name = 'many'",
      [person.userId],
    )
    const names = Array.from({ length: 1200 }, (_, i) => `n${String(i).padStart(5, '0')}`)
    const rows = names.map(name => ({ id: randomUUID(), name, kind: FOLDER, by: null }) as const)
    await t.app.db.transaction(async tx => {
      const place = { bucketId: folder?.bucketId ?? '', parentId: folder?.id ?? '' }
      await insertEntries(
        t.app.db,
        rows.map(row => ({ ...row, ...place })),
        tx,
      )
    })
    const list = async () =>
      (await theirs('PROPFIND', '/files/many', { headers: { depth: '1' } })).text
    const ofProperties = () => t.statements().filter(sql => sql.includes('dav_property')).length
    t.statements()
    const hrefs = hrefsIn(await list())
    // One statement for the folder itself, and one for each of two pages.
    expect(ofProperties()).toBe(3)
    expect(hrefs).toHaveLength(1221)
    expect(new Set(hrefs).size).toBe(1221)
    expect(hrefs.slice(1, 1201)).toEqual(names.map(name => `/dav/files/many/${name}/`))
    const dead = rows.slice(0, 450).map(({ id, name }) => ({
      entryId: id,
      nameHash: propertyHash({ ns: 'u', name: 'p' }),
      content: `<p xmlns="u">${name}</p>`,
      bucketId: folder?.bucketId ?? '',
      bytes: 30,
    }))
    await t.app.db.DavProperty.bulkCreate(dead)
    t.statements()
    const found = [
      ...(await list()).matchAll(
        /<d:href>([^<]*)<\/d:href>(?:(?!<d:href>).)*<p xmlns="u">(n\d+)</gs,
      ),
    ]
    // 200 entries per statement: three more statements for the first page.
    expect(ofProperties()).toBe(6)
    expect(found.map(([, href, name]) => [href, name])).toEqual(
      names.slice(0, 450).map(name => [`/dav/files/many/${name}/`, name]),
    )
  })
})

describe('Other requests', () => {
  it('are refused for unknown methods', async () => {
    const { status, headers } = await dav('POST', '/files/')
    expect(status).toBe(405)
    expect(headers.get('allow')).toContain('PROPFIND')
  })

  it('to write are refused during maintenance, while reads work', async () => {
    const own = await startApp()
    try {
      const { dav: theirs } = await davPerson(own)
      await theirs('PUT', '/files/a', { body: 'a' })
      await own.app.services.maintenance.start({ endsAt: Date.now() + 60_000 }, null)
      // Another worker learns of the maintenance a moment later.
      for (let seen = 0; seen < 4; )
        seen = (await statusOf(theirs('MKCOL', '/files/c'))) === 503 ? seen + 1 : 0
      const { status, headers } = await theirs('PUT', '/files/b', { body: 'b' })
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true])
      for (const [method, path] of [
        ['MKCOL', '/files/c'],
        ['DELETE', '/files/a'],
        ['LOCK', '/files/a'],
        ['PROPPATCH', '/files/a'],
      ] as const)
        expect(await statusOf(theirs(method, path))).toBe(503)
      expect((await theirs('GET', '/files/a')).text).toBe('a')
    } finally {
      await own.stop()
    }
  })
})

describe('Shared folders and files', () => {
  const SHARE =
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'
  const shareOf = async (
    owner: Person,
    who: Person,
    path: string,
    more: object = {},
  ): Promise<string> => {
    const { createDirectShare } = await ask(owner, SHARE, {
      input: { entries: [{ at: { path } }], email: who.email, ...more },
    })
    return createDirectShare.shares[0].token
  }

  it('are listed and read, and changed if the share allows it', async () => {
    const owner = await t.signIn('sharer')
    const { person, dav: theirs } = await davPerson(t)
    await owner.upload('look/inside/a.txt', 'a')
    await owner.upload('edit/b.txt', 'b')
    await owner.upload('single.txt', 'single')
    await shareOf(owner, person, 'look')
    await shareOf(owner, person, 'edit', { mayEdit: true })
    await shareOf(owner, person, 'single.txt', { mayEdit: true })
    const list = async (path: string) =>
      hrefsIn((await theirs('PROPFIND', path, { headers: { depth: '1' } })).text)
    expect(await list('/')).toEqual(['/dav/', '/dav/files/', '/dav/shared/'])
    expect(await list('/shared')).toEqual([
      ...['/dav/shared/', '/dav/shared/look/', '/dav/shared/edit/', '/dav/shared/single.txt'],
    ])
    expect(await list('/shared/look/inside')).toEqual([
      '/dav/shared/look/inside/',
      '/dav/shared/look/inside/a.txt',
    ])
    const got = await theirs('GET', '/shared/look/inside/a.txt')
    expect([got.status, got.text]).toEqual([200, 'a'])
    expect(await statusOf(theirs('PUT', '/shared/look/new', { body: 'x' }))).toBe(403)
    expect(await statusOf(theirs('DELETE', '/shared/look/inside'))).toBe(403)
    expect(await statusOf(theirs('PUT', '/shared/edit/b.txt', { body: 'changed' }))).toBe(204)
    const { headers, text } = await theirs('GET', '/shared/edit/b.txt')
    expect(text).toBe('changed')
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    expect(
      await statusOf(theirs('PUT', '/shared/edit/b.txt', { body: 'again', headers: ifMatch })),
    ).toBe(204)
    expect(
      await statusOf(theirs('PUT', '/shared/edit/b.txt', { body: 'late', headers: ifMatch })),
    ).toBe(412)
    expect(await statusOf(theirs('MKCOL', '/shared/edit/dir'))).toBe(201)
    const to = { headers: { destination: '/dav/shared/edit/dir/c.txt' } }
    expect(await statusOf(theirs('MOVE', '/shared/edit/b.txt', to))).toBe(201)
    expect(await statusOf(theirs('DELETE', '/shared/edit/dir/c.txt'))).toBe(204)
    expect(await statusOf(theirs('DELETE', '/shared/edit'))).toBe(403)
    expect(await statusOf(theirs('PUT', '/shared/single.txt', { body: 'other' }))).toBe(204)
    expect((await theirs('GET', '/shared/single.txt')).text).toBe('other')
    expect(await statusOf(theirs('GET', '/shared/unknown'))).toBe(404)
    expect(await statusOf(theirs('PUT', '/shared/new', { body: 'x' }))).toBe(409)
  })

  it('are hidden from others, and disappear with the share', async () => {
    const owner = await t.signIn('sharer2')
    const { person, dav: theirs } = await davPerson(t)
    const { dav: strange } = await davPerson(t)
    await owner.upload('secret.txt', 'secret')
    await owner.upload('closed.txt', 'closed')
    const token = await shareOf(owner, person, 'secret.txt')
    await shareOf(owner, person, 'closed.txt', { password: 'a long password' })
    expect(await statusOf(strange('GET', '/shared/secret.txt'))).toBe(404)
    expect(await statusOf(theirs('GET', '/shared/closed.txt'))).toBe(404)
    expect((await theirs('GET', '/shared/secret.txt')).text).toBe('secret')
    expect((await owner.rest('POST', `/api/share/revoke/${token}`)).status).toBe(200)
    expect(await statusOf(theirs('GET', '/shared/secret.txt'))).toBe(404)
  })
})
