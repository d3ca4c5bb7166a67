import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { MAX_DAV_LOCKS, MAX_DAV_PROPERTIES } from '../../src/values/limits.ts'
import { found, join, workspaceKey } from '../support/builders.ts'
import { basic, type Dav, davOf, davPerson, lockInfo, lockOf } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let dav: Dav
beforeAll(async () => {
  t = await startApp()
  ;({ person: alice, dav } = await davPerson(t, 'alice'))
})
afterAll(() => t.stop())

const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const to = (destination: string, more: Record<string, string> = {}) => ({
  headers: { destination, ...more },
})
const withToken = (token: string) => ({ if: `(<${token}>)` })
let serial = 0
/** A new folder with a file in it. */
async function place(): Promise<string> {
  const path = `/files/l${serial++}`
  await dav('MKCOL', path)
  await dav('PUT', `${path}/f`, { body: 'f' })
  return path
}

describe('LOCK', () => {
  it('blocks writes that do not send its token', async () => {
    const at = await place()
    const token = await lockOf(dav, `${at}/f`)
    expect(token).toMatch(/^urn:uuid:/)
    const refused = await dav('PUT', `${at}/f`, { body: 'x' })
    expect([refused.status, refused.text.includes('lock-token-submitted')]).toEqual([423, true])
    expect(await statusOf(dav('DELETE', `${at}/f`))).toBe(423)
    expect(await statusOf(dav('DELETE', at))).toBe(423)
    expect(await statusOf(dav('MOVE', `${at}/f`, to(`/dav${at}/g`)))).toBe(423)
    expect(await statusOf(dav('MOVE', at, to('/dav/files/elsewhere')))).toBe(423)
    expect(
      await statusOf(
        dav('PROPPATCH', `${at}/f`, { body: propertyUpdate('<x xmlns="urn:x">1</x>') }),
      ),
    ).toBe(423)
    expect(await statusOf(dav('COPY', `${at}/f`, to(`/dav${at}/copy`)))).toBe(201)
    expect(await statusOf(dav('COPY', `${at}/copy`, to(`/dav${at}/f`)))).toBe(423)
    expect((await dav('GET', `${at}/f`)).text).toBe('f')
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'new', headers: withToken(token) }))).toBe(
      204,
    )
    expect(
      await statusOf(dav('UNLOCK', `${at}/f`, { headers: { 'lock-token': `<${token}>` } })),
    ).toBe(204)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(204)
  })

  it('is released by a Lock-Token without angle brackets, as npm webdav sends it', async () => {
    const at = await place()
    const token = await lockOf(dav, `${at}/f`)
    expect(
      await statusOf(dav('UNLOCK', `${at}/f`, { headers: { 'lock-token': `<${token}` } })),
    ).toBe(409)
    expect(await statusOf(dav('UNLOCK', `${at}/f`, { headers: { 'lock-token': token } }))).toBe(204)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(204)
  })

  it('covers a folder with all its contents, or only its members', async () => {
    const at = await place()
    const deep = await lockOf(dav, at)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(423)
    expect(await statusOf(dav('MKCOL', `${at}/sub`))).toBe(423)
    expect(await statusOf(dav('LOCK', `${at}/f`, { body: lockInfo() }))).toBe(423)
    const { text } = await dav('PROPFIND', at, { headers: { depth: '1' } })
    expect(text.split(deep)).toHaveLength(3)
    expect(
      await statusOf(dav('UNLOCK', `${at}/f`, { headers: { 'lock-token': `<${deep}>` } })),
    ).toBe(204)
    const flat = await lockOf(dav, at, { depth: '0' })
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(204)
    expect(await statusOf(dav('PUT', `${at}/new`, { body: 'x' }))).toBe(423)
    expect(await statusOf(dav('DELETE', `${at}/f`))).toBe(423)
    const tagged = { if: `<${t.url}/dav${at}/> (<${flat}>)` }
    expect(await statusOf(dav('PUT', `${at}/new`, { body: 'x', headers: tagged }))).toBe(201)
  })

  it('of an unmapped URL creates an empty file', async () => {
    const at = await place()
    const made = await dav('LOCK', `${at}/null`, { body: lockInfo(), headers: { depth: '0' } })
    expect(made.status).toBe(201)
    expect((await dav('GET', `${at}/null`)).text).toBe('')
    expect(await statusOf(dav('LOCK', '/files/no/such', { body: lockInfo() }))).toBe(409)
  })

  it('may be shared, and is exclusive by default', async () => {
    const at = await place()
    const one = await lockOf(dav, `${at}/f`, {}, 'shared')
    await lockOf(dav, `${at}/f`, {}, 'shared')
    const refused = await dav('LOCK', `${at}/f`, { body: lockInfo() })
    expect([refused.status, refused.text.includes('no-conflicting-lock')]).toEqual([423, true])
    expect(await statusOf(dav('LOCK', at, { body: lockInfo() }))).toBe(423)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(423)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x', headers: withToken(one) }))).toBe(204)
  })

  it('lasts for the requested time, up to an hour, and can be refreshed', async () => {
    const at = await place()
    const { text } = await dav('LOCK', `${at}/f`, {
      body: lockInfo(),
      headers: { timeout: 'Infinite, Second-4100000000' },
    })
    expect(text).toContain('<d:timeout>Second-3600</d:timeout>')
    const token = /urn:uuid:[0-9a-f-]+/.exec(text)?.[0] ?? ''
    const refresh = (given: Record<string, string>) =>
      dav('LOCK', `${at}/f`, { headers: { timeout: 'Second-5', ...given } })
    expect((await refresh(withToken(token))).text).toContain('Second-5<')
    expect(await statusOf(refresh({}))).toBe(400)
    expect(
      await statusOf(refresh(withToken('urn:uuid:00000000-0000-4000-8000-000000000000'))),
    ).toBe(412)
    await t.app.db.run('UPDATE dav_lock SET expires_at = ? WHERE id = ?', [
      Date.now() - 1,
      token.slice(9),
    ])
    expect(await statusOf(refresh(withToken(token)))).toBe(412)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x' }))).toBe(204)
  })

  it('ends when its entry is moved or deleted', async () => {
    const at = await place()
    const token = await lockOf(dav, `${at}/f`)
    expect(await statusOf(dav('MOVE', `${at}/f`, to(`/dav${at}/g`, withToken(token))))).toBe(201)
    expect(await statusOf(dav('PUT', `${at}/g`, { body: 'x' }))).toBe(204)
    expect(
      await statusOf(dav('UNLOCK', `${at}/g`, { headers: { 'lock-token': `<${token}>` } })),
    ).toBe(409)
  })

  it('is visible to others, who can neither use nor release it', async () => {
    const [owner, bob] = [await t.signIn('owner'), await t.signIn('bob')]
    const id = await found(owner, 'Locks')
    await join(t, id, bob, 'editor')
    await t.app.db.run("UPDATE member SET role = 'admin' WHERE user_id = ? AND workspace_id = ?", [
      bob.userId,
      id,
    ])
    const { slug = '' } = (await t.app.db.Workspace.findByPk(id, { raw: true })) ?? {}
    const [one, two] = await Promise.all(
      [owner, bob].map(async who =>
        davOf(t.url, basic(who.email, (await workspaceKey(t, who, id)).key)),
      ),
    )
    if (!one || !two) throw new Error('There are two clients.')
    await join(t, id, bob, 'editor')
    const path = `/workspaces/${slug}/f`
    await one('PUT', path, { body: 'f' })
    const token = await lockOf(one, path)
    expect((await two('PROPFIND', path, { headers: { depth: '0' } })).text).toContain(token)
    expect(await statusOf(two('PUT', path, { body: 'x', headers: withToken(token) }))).toBe(423)
    expect(await statusOf(two('UNLOCK', path, { headers: { 'lock-token': `<${token}>` } }))).toBe(
      403,
    )
    expect(await statusOf(one('PUT', path, { body: 'x', headers: withToken(token) }))).toBe(204)
  })

  it('is granted to one of many concurrent requests, on any worker', async () => {
    const at = await place()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        dav('LOCK', `${at}/f`, { body: lockInfo() }).then(({ status }) => status),
      ),
    )
    expect(answers.sort()).toEqual([200, ...new Array(7).fill(423)])
  })

  it('is ignored by the other interfaces, where versions keep the replaced files', async () => {
    const at = await place()
    await lockOf(dav, `${at}/f`)
    const path = at.slice('/files/'.length)
    const { status } = await alice.rest('DELETE', `/api/files/delete?file=${path}/f`)
    expect(status).toBe(200)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'again' }))).toBe(201)
  })

  it('may be shared by up to ten locks on an entry, including locks on its folders', async () => {
    const at = await place()
    for (let i = 0; i < 4; i++) await lockOf(dav, at, {}, 'shared')
    for (let i = 0; i < 6; i++) await lockOf(dav, `${at}/f`, {}, 'shared')
    for (const path of [at, `${at}/f`])
      expect(await statusOf(dav('LOCK', path, { body: lockInfo('shared') }))).toBe(507)
    expect(
      await statusOf(dav('LOCK', at, { body: lockInfo('shared'), headers: { depth: '0' } })),
    ).toBe(200)
  })

  it('names the locked entry when its token is missing', async () => {
    const at = await place()
    await dav('MKCOL', `${at}/sub`)
    await dav('PUT', `${at}/sub/ä b`, { body: 'x' })
    await lockOf(dav, `${at}/sub/ä b`)
    const { status, text } = await dav('DELETE', `${at}/sub`)
    expect(status).toBe(423)
    expect(text).toContain(
      `<d:lock-token-submitted><d:href>/dav${at}/sub/%C3%A4%20b</d:href></d:lock-token-submitted>`,
    )
    const again = await dav('LOCK', `${at}/sub`, { body: lockInfo() })
    expect(again.text).toContain(`<d:no-conflicting-lock><d:href>/dav${at}/sub/%C3%A4%20b</d:href>`)
  })

  it('creates no file when it is refused', async () => {
    const at = await place()
    const token = await lockOf(dav, at)
    const answer = dav('LOCK', `${at}/new`, { body: lockInfo(), headers: withToken(token) })
    expect(await statusOf(answer)).toBe(423)
    expect(await statusOf(dav('GET', `${at}/new`))).toBe(404)
  })

  it('accepts up to 16 lists in an If header', async () => {
    const at = await place()
    const token = await lockOf(dav, `${at}/f`)
    const lists = (count: number) => ({ if: `${'(<urn:uuid:x>)'.repeat(count - 1)} (<${token}>)` })
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x', headers: lists(16) }))).toBe(204)
    expect(await statusOf(dav('PUT', `${at}/f`, { body: 'x', headers: lists(17) }))).toBe(400)
  })

  it('is refused without a valid body, or beyond the limit per user', async () => {
    const at = await place()
    for (const body of ['<x/>', lockInfo('neither'), lockInfo().replace('write', 'read')])
      expect(await statusOf(dav('LOCK', `${at}/f`, { body }))).toBe(400)
    expect(
      await statusOf(dav('LOCK', `${at}/f`, { body: lockInfo('exclusive', 'x'.repeat(1100)) })),
    ).toBe(413)
    expect(
      await statusOf(dav('LOCK', `${at}/f`, { body: lockInfo(), headers: { depth: '1' } })),
    ).toBe(400)
    const { dav: theirs, person } = await davPerson(t)
    await theirs('PUT', '/files/f', { body: 'f' })
    await theirs('PUT', '/files/g', { body: 'g' })
    const token = await lockOf(theirs, '/files/f', {}, 'shared')
    const [row] = await t.app.db.rows<Record<string, string>>(
      'SELECT * FROM dav_lock WHERE id = ?',
      [token.slice(9)],
    )
    const { DavLock } = t.app.db
    await DavLock.bulkCreate(
      Array.from({ length: MAX_DAV_LOCKS - 1 }, (_, i) => ({
        id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
        bucketId: row?.bucket_id ?? '',
        entryId: row?.entry_id ?? '',
        userId: person.userId,
        isShared: true,
        isDeep: false,
        owner: '',
        expiresAt: Date.now() + 600_000,
        createdAt: Date.now(),
      })),
    )
    expect(await statusOf(theirs('LOCK', '/files/g', { body: lockInfo('shared') }))).toBe(507)
    expect(await statusOf(theirs('LOCK', '/files/new', { body: lockInfo() }))).toBe(507)
    expect(await statusOf(theirs('GET', '/files/new'))).toBe(404)
    await DavLock.update({ expiresAt: 1 }, { where: { userId: person.userId } })
    expect(await statusOf(theirs('LOCK', '/files/f', { body: lockInfo('shared') }))).toBe(200)
    expect(await DavLock.count({ where: { userId: person.userId } })).toBe(1)
  })
})

const propertyUpdate = (set: string, remove = '') =>
  `<?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:"><d:set><d:prop>${set}</d:prop></d:set>${
    remove ? `<d:remove><d:prop>${remove}</d:prop></d:remove>` : ''
  }</d:propertyupdate>`

describe('PROPPATCH', () => {
  const read = async (path: string, name = 'x') =>
    (
      await dav('PROPFIND', path, {
        headers: { depth: '0' },
        body: `<d:propfind xmlns:d="DAV:"><d:prop><${name} xmlns="urn:x"/></d:prop></d:propfind>`,
      })
    ).text

  it('keeps the properties of clients unchanged', async () => {
    const at = await place()
    const value = '<x xmlns="urn:x" xml:lang="de">a &amp; <b xmlns="urn:y" c="d">𐀀</b></x>'
    const { status, text } = await dav('PROPPATCH', `${at}/f`, { body: propertyUpdate(value) })
    expect([status, text.includes('200 OK')]).toEqual([207, true])
    expect(await read(`${at}/f`)).toContain('a &amp; <b xmlns="urn:y" c="d">𐀀</b></x>')
    expect(await read(`${at}/f`)).toContain('xml:lang="de"')
    expect((await dav('PROPFIND', at, { headers: { depth: '1' } })).text).toContain('𐀀')
    await dav('PROPPATCH', `${at}/f`, {
      body: propertyUpdate('<y xmlns="urn:x">1</y>', '<x xmlns="urn:x"/>'),
    })
    expect(await read(`${at}/f`)).toContain('404 Not Found')
    expect(await read(`${at}/f`, 'y')).toContain('>1</y>')
  })

  it('properties move and are copied with their entry, and are deleted with it', async () => {
    const at = await place()
    for (const path of [at, `${at}/f`])
      await dav('PROPPATCH', path, { body: propertyUpdate('<x xmlns="urn:x">kept</x>') })
    await dav('COPY', at, to(`/dav${at}-copy`))
    for (const path of [`${at}-copy`, `${at}-copy/f`])
      expect(await read(path)).toContain('>kept</x>')
    await dav('MOVE', `${at}/f`, to(`/dav${at}/g`))
    expect(await read(`${at}/g`)).toContain('>kept</x>')
    await dav('PUT', `${at}/g`, { body: 'new content' })
    expect(await read(`${at}/g`)).toContain('>kept</x>')
    await dav('DELETE', `${at}/g`)
    await dav('PUT', `${at}/g`, { body: 'another file' })
    expect(await read(`${at}/g`)).toContain('404 Not Found')
  })

  it('properties are read by name, also in the namespace of WebDAV', async () => {
    const at = await place()
    await dav('PROPPATCH', `${at}/f`, { body: propertyUpdate('<d:own>mine</d:own>') })
    const body = '<d:propfind xmlns:d="DAV:"><d:prop><d:own/></d:prop></d:propfind>'
    expect((await dav('PROPFIND', `${at}/f`, { headers: { depth: '0' }, body })).text).toContain(
      '>mine</d:own>',
    )
  })

  it('changes all properties or none, and no live property', async () => {
    const at = await place()
    const { text } = await dav('PROPPATCH', at, {
      body: propertyUpdate('<x xmlns="urn:x">1</x><d:getetag>"1"</d:getetag>'),
    })
    expect(text).toContain('403 Forbidden')
    expect(text).toContain('424 Failed Dependency')
    expect(text).toContain('cannot-modify-protected-property')
    expect(await read(at)).toContain('404 Not Found')
    expect(await statusOf(dav('PROPPATCH', at, { body: propertyUpdate('') }))).toBe(400)
    expect(
      await statusOf(
        dav('PROPPATCH', `${at}/none`, { body: propertyUpdate('<x xmlns="urn:x">1</x>') }),
      ),
    ).toBe(404)
  })

  it('is limited in number and size of properties', async () => {
    const at = await place()
    const many = Array.from(
      { length: MAX_DAV_PROPERTIES },
      (_, i) => `<p${i} xmlns="urn:x"/>`,
    ).join('')
    expect(await statusOf(dav('PROPPATCH', at, { body: propertyUpdate(many) }))).toBe(207)
    expect(
      await statusOf(
        dav('PROPPATCH', at, { body: propertyUpdate('<p0 xmlns="urn:x">again</p0>') }),
      ),
    ).toBe(207)
    expect(
      await statusOf(dav('PROPPATCH', at, { body: propertyUpdate('<more xmlns="urn:x"/>') })),
    ).toBe(507)
    const large = `<x xmlns="urn:x">${'x'.repeat(33_000)}</x>`
    expect(await statusOf(dav('PROPPATCH', `${at}/f`, { body: propertyUpdate(large) }))).toBe(507)
  })
})

describe('Concurrent requests', () => {
  const statuses = async (answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).sort()

  it('one of many writes that expect the same ETag succeeds', async () => {
    const at = await place()
    const etag = (await dav('HEAD', `${at}/f`)).headers.get('etag') ?? ''
    const puts = Array.from({ length: 6 }, (_, i) =>
      dav('PUT', `${at}/f`, { body: `${i}`, headers: { 'if-match': etag } }),
    )
    expect(await statuses(puts)).toEqual([204, ...new Array(5).fill(412)])
    const news = Array.from({ length: 6 }, () =>
      dav('PUT', `${at}/new`, { body: 'x', headers: { 'if-none-match': '*' } }),
    )
    expect(await statuses(news)).toEqual([201, ...new Array(5).fill(412)])
    expect(await statuses(Array.from({ length: 6 }, () => dav('MKCOL', `${at}/dir`)))).toEqual([
      ...[201, ...new Array(5).fill(405)],
    ])
  })

  it('no write succeeds after a lock was granted, on any worker', async () => {
    for (let round = 0; round < 8; round++) {
      const at = await place()
      const locked = lockOf(dav, `${at}/f`).then(async () => (await dav('GET', `${at}/f`)).text)
      const puts = Array.from({ length: 3 }, (_, i) => dav('PUT', `${at}/f`, { body: `late ${i}` }))
      const seen = await locked
      expect((await Promise.all(puts)).every(({ status }) => [204, 423].includes(status))).toBe(
        true,
      )
      expect((await dav('GET', `${at}/f`)).text).toBe(seen)
    }
  })
})
