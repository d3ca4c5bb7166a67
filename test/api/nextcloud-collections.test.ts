import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { found, privateKey, put } from '../support/builders.ts'
import { basic, davPerson } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { bodyOf, entriesIn, nextcloudClient, PROP } from '../support/nextcloud-client.ts'
import { picture, pictured } from '../support/pictured.ts'

// The collections of Nextcloud's clients beside the files: trash, versions, favourites, media.

let t: TestApp
beforeAll(async () => {
  t = await startApp({ PREVIEWS: 'true' })
})
afterAll(() => t.stop())

let person: Person
let client: ReturnType<typeof nextcloudClient>
let n = 0
beforeEach(async () => {
  const made = await davPerson(t, `collector${++n}`)
  person = made.person
  client = nextcloudClient(t, made.authorization)
})
const files = (path = '/') => `/remote.php/dav/files/${person.email}${path}`
const trash = (path = '') => `/remote.php/dav/trashbin/${person.email}${path}`
const versions = (path = '') => `/remote.php/dav/versions/${person.email}${path}`
const store = (path: string, body: string) => client.send('PUT', files(path), { body })
/** A key of the same person with these scopes. */
async function keyWith(scopes: readonly string[]): Promise<string> {
  const own = scopes.filter(scope => scope.startsWith('private_files:'))
  const { id, key } = await privateKey(t, person, own)
  // Only the login flow makes keys that reach workspaces.
  await t.app.db.run('UPDATE api_key SET scopes = ? WHERE id = ?', [scopes.join(' '), id])
  return basic(person.email, key)
}

describe('The trash', () => {
  it('lists deleted entries with their former places, and restores and deletes them', async () => {
    await client.send('MKCOL', files('/folder'))
    await store('/folder/a.txt', 'first')
    const [file] = await client.propfind(files('/folder/a.txt'), '0')
    await client.send('DELETE', files('/folder/a.txt'))
    await store('/folder/a.txt', 'second')
    await client.send('DELETE', files('/folder/a.txt'))
    await store('/b & c.txt', 'b')
    await client.send('DELETE', files('/b & c.txt'))
    const [top, ...items] = await client.propfind(trash('/trash'))
    expect(top?.href).toBe(trash('/trash/'))
    expect(
      items.map(one => [
        one.of('nc:trashbin-filename'),
        one.of('nc:trashbin-original-location'),
        one.of('oc:size'),
      ]),
    ).toEqual([
      ['b &amp; c.txt', 'b &amp; c.txt', '1'],
      ['a.txt', 'folder/a.txt', '6'],
      ['a.txt', 'folder/a.txt', '5'],
    ])
    expect(new Set(items.map(({ href }) => href)).size).toBe(3)
    for (const one of items) {
      const seconds = Number(one.of('nc:trashbin-deletion-time'))
      expect(Math.abs(Date.now() / 1000 - seconds)).toBeLessThan(60)
      expect(one.of('oc:fileid')).toMatch(/^\d+$/)
    }
    const [other, second, first] = items.map(({ href }) => href)
    const headers = { destination: `${t.url}${trash('/restore/a.txt')}` }
    const restore = (href = '', more = headers) => client.send('MOVE', href, { headers: more })
    expect((await restore(first, { destination: files('/elsewhere') })).status).toBe(403)
    expect((await restore(first)).status).toBe(201)
    expect((await client.send('GET', files('/folder/a.txt'))).text).toBe('first')
    const [restored] = await client.propfind(files('/folder/a.txt'), '0')
    expect(restored?.of('oc:fileid')).toBe(file?.of('oc:fileid'))
    // The place is taken, and nothing is replaced.
    expect((await restore(second)).status).toBe(201)
    expect(await client.propfind(files('/folder/'))).toHaveLength(3)
    expect((await restore(second)).status).toBe(404)
    expect((await client.send('DELETE', other ?? '')).status).toBe(204)
    expect((await client.send('DELETE', other ?? '')).status).toBe(404)
    expect(await client.propfind(trash('/trash/'))).toHaveLength(1)
  })

  it('can be emptied', async () => {
    for (const path of ['/1', '/2']) {
      await store(path, path)
      await client.send('DELETE', files(path))
    }
    expect((await client.send('DELETE', trash('/trash'))).status).toBe(204)
    expect(await client.propfind(trash('/trash'))).toHaveLength(1)
  })

  it('needs the scope of each act, and belongs to its person', async () => {
    await store('/f', 'f')
    await client.send('DELETE', files('/f'))
    const [, item] = await client.propfind(trash('/trash'))
    const href = item?.href ?? ''
    const headers = { destination: trash('/restore/f') }
    const stranger = (await davPerson(t)).authorization
    for (const method of ['PROPFIND', 'MOVE', 'DELETE'])
      expect((await client.send(method, href, { headers, as: stranger })).status).toBe(404)
    const reader = await keyWith(['private_files:read'])
    const writer = await keyWith(['private_files:write', 'private_files:delete'])
    const list = { headers: { depth: '1' } }
    expect((await client.send('PROPFIND', trash('/trash'), { ...list, as: writer })).status).toBe(
      403,
    )
    for (const method of ['MOVE', 'DELETE'])
      expect((await client.send(method, href, { headers, as: reader })).status).toBe(403)
    expect((await client.send('PROPFIND', trash('/other'), list)).status).toBe(404)
    expect((await client.send('MOVE', href, { headers, as: writer })).status).toBe(201)
  })
})

describe('The versions of a file', () => {
  it('are listed, read and restored by the number of the file', async () => {
    for (const text of ['one', 'two!', 'three']) await store('/f.txt', text)
    const [file] = await client.propfind(files('/f.txt'), '0')
    const number = file?.of('oc:fileid') ?? ''
    const [top, newer, older] = await client.propfind(versions(`/versions/${number}`))
    expect(top?.href).toBe(versions(`/versions/${number}/`))
    expect([newer, older].map(one => one?.of('d:getcontentlength'))).toEqual(['4', '3'])
    expect((await client.send('GET', older?.href ?? '')).text).toBe('one')
    const destination = `${t.url}${versions('/restore/target')}`
    const restored = await client.send('MOVE', older?.href ?? '', { headers: { destination } })
    expect(restored.status).toBe(201)
    expect((await client.send('GET', files('/f.txt'))).text).toBe('one')
    const sizes = (await client.propfind(versions(`/versions/${number}`))).map(one =>
      one.of('d:getcontentlength'),
    )
    expect(sizes).toEqual([undefined, '5', '4'])
    const [again] = await client.propfind(files('/f.txt'), '0')
    expect(again?.of('d:getetag')).not.toBe(file?.of('d:getetag'))
  })

  it('are found only below their own file, and belong to its person', async () => {
    for (const text of ['one', 'two']) await store('/f.txt', text)
    await store('/g.txt', 'g')
    const numberOf = async (path: string) =>
      (await client.propfind(files(path), '0'))[0]?.of('oc:fileid') ?? ''
    const number = await numberOf('/f.txt')
    const [, version] = await client.propfind(versions(`/versions/${number}`))
    const href = version?.href ?? ''
    const misplaced = href.replace(number, await numberOf('/g.txt'))
    const headers = { destination: versions('/restore/target') }
    for (const method of ['GET', 'MOVE'])
      expect((await client.send(method, misplaced, { headers })).status).toBe(404)
    const stranger = (await davPerson(t)).authorization
    for (const method of ['PROPFIND', 'GET', 'MOVE'])
      expect((await client.send(method, href, { headers, as: stranger })).status).toBe(404)
    const reader = await keyWith(['private_files:read'])
    expect((await client.send('MOVE', href, { headers, as: reader })).status).toBe(403)
    expect((await client.send('GET', href, { as: reader })).status).toBe(200)
    expect((await client.send('PROPFIND', versions('/versions/1'))).status).toBe(404)
  })
})

const favourite = (path: string, value: string, as?: string) =>
  client.send('PROPPATCH', path, {
    body: bodyOf(
      'd:propertyupdate',
      `<d:set><d:prop><oc:favorite>${value}</oc:favorite></d:prop></d:set>`,
    ),
    ...(as ? { as } : {}),
  })
const report = (path: string, rules = '<oc:favorite>1</oc:favorite>') =>
  client.send('REPORT', path, {
    body: bodyOf('oc:filter-files', `${PROP}<oc:filter-rules>${rules}</oc:filter-rules>`),
  })

describe('Favourites', () => {
  it('are marked by PROPPATCH and listed by REPORT', async () => {
    await client.send('MKCOL', files('/folder'))
    await store('/folder/a.txt', 'a')
    await store('/b.txt', 'b')
    expect((await favourite(files('/folder/a.txt'), '1')).status).toBe(207)
    expect((await favourite(files('/folder'), '1')).text).toContain('200 OK')
    const [, ...listed] = await client.propfind(files())
    expect(listed.map(one => [one.href, one.of('oc:favorite')])).toEqual([
      [files('/folder/'), '1'],
      [files('/b.txt'), '0'],
    ])
    const marked = entriesIn((await report(files())).text)
    expect(marked.map(one => [one.href, one.of('oc:favorite')])).toEqual([
      [files('/folder/a.txt'), '1'],
      [files('/folder/'), '1'],
    ])
    expect(marked.every(one => one.of('oc:permissions') !== undefined)).toBe(true)
    await favourite(files('/folder'), '0')
    expect(entriesIn((await report(files())).text)).toHaveLength(1)
    expect((await report(files(), '')).status).toBe(400)
  })

  it('change nothing for the client that syncs, and need the right to write', async () => {
    await store('/f', 'f')
    const tag = async () => (await client.propfind(files(), '0'))[0]?.of('d:getetag')
    const before = await tag()
    const reader = await keyWith(['private_files:read'])
    expect((await favourite(files('/f'), '1', reader)).status).toBe(403)
    expect((await favourite(files('/missing'), '1')).status).toBe(404)
    expect((await favourite(files('/f'), '1')).status).toBe(207)
    expect(await tag()).toBe(before)
    const stranger = (await davPerson(t)).authorization
    const body = bodyOf(
      'oc:filter-files',
      '<oc:filter-rules><oc:favorite>1</oc:favorite></oc:filter-rules>',
    )
    expect((await client.send('REPORT', files(), { body, as: stranger })).status).toBe(404)
  })
})

describe('A search', () => {
  const search = (where: string, limit = 100) =>
    client.send('SEARCH', '/remote.php/dav/', {
      headers: { 'content-type': 'text/xml' },
      body: bodyOf(
        'd:searchrequest',
        `<d:basicsearch><d:select>${PROP}</d:select><d:from><d:scope><d:href>/files/${person.email}</d:href><d:depth>infinity</d:depth></d:scope></d:from><d:where>${where}</d:where><d:limit><d:nresults>${limit}</d:nresults></d:limit></d:basicsearch>`,
      ),
    })
  const like = (name: string, text: string) =>
    `<d:like><d:prop><d:${name}/></d:prop><d:literal>${text}</d:literal></d:like>`
  const media = `<d:or>${like('getcontenttype', 'image/%')}${like('getcontenttype', 'video/%')}</d:or>`
  const time = (than: string, at: number) =>
    `<d:${than}><d:prop><d:getlastmodified/></d:prop><d:literal>${Math.floor(at / 1000)}</d:literal></d:${than}>`

  it('finds pictures and videos of a range of time, and names', async () => {
    await store('/note.txt', 'no picture')
    await client.send('MKCOL', files('/photos'))
    for (const [i, name] of ['old.png', 'new.png'].entries())
      await client.send('PUT', files(`/photos/${name}`), {
        body: picture,
        headers: { 'x-oc-mtime': String(1_600_000_000 + i * 1000) },
      })
    const hrefs = ({ text }: { text: string }) =>
      entriesIn(text).map(({ href }) => decodeURIComponent(href).split('/').at(-1))
    expect(hrefs(await search(media))).toEqual(['new.png', 'old.png'])
    expect(hrefs(await search(media, 1))).toEqual(['new.png'])
    const since = (at: number) => `<d:and>${media}${time('gt', at * 1000)}</d:and>`
    expect(hrefs(await search(since(1_600_000_500)))).toEqual(['new.png'])
    const until = `<d:and>${media}${time('lt', 1_600_000_500_000)}</d:and>`
    expect(hrefs(await search(until))).toEqual(['old.png'])
    expect(hrefs(await search(like('displayname', '%note%')))).toEqual(['note.txt'])
    expect((await search('')).status).toBe(400)
    const named = entriesIn((await search(like('displayname', '%note%'))).text)
    expect((await client.send('GET', named[0]?.href ?? '')).text).toBe('no picture')
  })

  it('for a name counts towards the rate of searches', async () => {
    const limited = await startApp({ RATE_SEARCHES: '1' })
    try {
      const of = nextcloudClient(limited, (await davPerson(limited)).authorization)
      const body = bodyOf(
        'd:searchrequest',
        `<d:basicsearch><d:select>${PROP}</d:select><d:where>${like('displayname', 'x')}</d:where></d:basicsearch>`,
      )
      const statuses = []
      for (let i = 0; i < 2; i++)
        statuses.push((await of.send('SEARCH', '/remote.php/dav/', { body })).status)
      expect(statuses).toEqual([207, 429])
    } finally {
      await limited.stop()
    }
  })

  it('finds nothing of others, and bounds the body', async () => {
    await store('/note.txt', 'mine')
    const { authorization, person: other } = await davPerson(t)
    const theirs = nextcloudClient(t, authorization)
    const body = bodyOf(
      'd:searchrequest',
      `<d:basicsearch><d:select>${PROP}</d:select><d:from><d:scope><d:href>/files/${person.email}</d:href></d:scope></d:from><d:where>${like('displayname', 'note')}</d:where></d:basicsearch>`,
    )
    const answer = await theirs.send('SEARCH', '/remote.php/dav/', { body })
    expect(answer.status).toBe(207)
    expect(entriesIn(answer.text)).toEqual([])
    expect(other.email).not.toBe(person.email)
    const doctype = `<!DOCTYPE x [<!ENTITY a "b">]>${body.slice(21)}`
    expect((await client.send('SEARCH', '/remote.php/dav/', { body: doctype })).status).toBe(400)
    const large = body.replace('note', 'n'.repeat(200_000))
    expect((await client.send('SEARCH', '/remote.php/dav/', { body: large })).status).toBe(413)
    expect((await client.send('SEARCH', '/remote.php/dav/', { body, as: null })).status).toBe(401)
  })
})

describe('A preview', () => {
  it('is found by number in a workspace, too', async () => {
    const workspace = await found(person, `previews${n}`)
    await pictured(t, put(person, workspace, '/p.png', picture, 'image/png'))
    const as = await keyWith(['private_files:read', 'workspaces:files:read'])
    const reader = nextcloudClient(t, as)
    const folder = `${files()}Workspaces/previews${n}/`
    const [, file] = await reader.propfind(folder)
    expect(file?.of('nc:has-preview')).toBe('true')
    const path = `/index.php/core/preview?fileId=${file?.of('oc:fileid')}&x=256&y=256`
    const preview = await reader.send('GET', path)
    expect([preview.status, preview.headers.get('content-type')]).toEqual([200, 'image/webp'])
    expect((await client.send('GET', path, { as: null })).status).toBe(401)
    // A key without the scopes of workspaces does not find it.
    expect((await client.send('GET', path)).status).toBe(404)
  })
})
