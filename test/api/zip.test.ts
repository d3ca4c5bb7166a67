import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { figure, MAX_ARCHIVED, MAX_ZIPPED, MAX_ZIPS_OF_ADDRESS } from '../../src/values/limits.ts'
import { driveOf, found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { readZip } from '../support/zip-reader.ts'

declare const engine: 'sqlite' | 'mysql'

const onSqlite = engine === 'sqlite' ? it : it.skip

let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('trip/day 1/sea ü.txt', 'blue', 'text/plain')
  await alice.upload('trip/plan.txt', 'walk', 'text/plain')
  await alice.upload('trip/empty.txt', '', 'text/plain')
  await alice.upload('private.txt', 'mine', 'text/plain')
  await alice.upload('other/plan.txt', 'stay', 'text/plain')
})
afterAll(() => t.stop())

const statusAndCode = ({ status, response }: RestAnswer) => [status, response.code]
const zip = (entries: string[], person = alice, base = '/api') =>
  person.rest('POST', `${base}/files/zip`, { json: { entries } })
const at = (path: string, drive?: string) => ({ at: { path, ...(drive ? { drive } : {}) } })

const ZIP = `mutation ($input: ZipEntriesInput!) { zipEntries(input: $input) { download { url fileName size expiresAt } } }`
const zipping = (person: Person, entries: object[]) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  person.graphql<any>(ZIP, { input: { entries } })

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers })
const bytesAt = async (url: string) => new Uint8Array(await (await get(url)).arrayBuffer())
const textsAt = async (url: string) =>
  Object.fromEntries(
    [...(await readZip(await bytesAt(url)))].map(([path, { text }]) => [path, text]),
  )
const urlOf = async (entries: string[], person = alice) =>
  (await zip(entries, person)).response.url as string

const TRIP = {
  'trip/': '',
  'trip/day 1/': '',
  'trip/day 1/sea ü.txt': 'blue',
  'trip/empty.txt': '',
  'trip/plan.txt': 'walk',
}

async function shareFolder(path: string, terms: object = {}): Promise<string> {
  return (await alice.rest('POST', '/api/folders/quick_share', { json: { path, ...terms } }))
    .response.sharing_token
}

describe('An archive', () => {
  it('contains a folder with all its contents, by session and by key, through REST and GraphQL', async () => {
    for (const person of [alice, (await privateKey(t, alice, ['private_files:read'])).caller]) {
      const { status, response } = await zip(['trip'], person)
      expect(status).toBe(200)
      expect(response).toMatchObject({ file_name: 'trip.zip', size: expect.any(Number) })
      expect(await textsAt(response.url)).toEqual(TRIP)
      expect((await bytesAt(response.url)).length).toBe(response.size)
      const { data } = await zipping(person, [at('trip')])
      expect(data.zipEntries.download).toMatchObject({ fileName: 'trip.zip', size: response.size })
      expect(await textsAt(data.zipEntries.download.url)).toEqual(TRIP)
    }
  })

  it('contains the selected entries under distinct names, or everything', async () => {
    const { response } = await zip(['trip/plan.txt', 'other/plan.txt', 'trip/day 1'])
    expect(response.file_name).toBe('Files.zip')
    expect(await textsAt(response.url)).toEqual({
      'plan.txt': 'walk',
      'plan (2).txt': 'stay',
      'day 1/': '',
      'day 1/sea ü.txt': 'blue',
    })
    expect((await zip(['trip/plan.txt', 'trip/day 1'])).response.file_name).toBe('trip.zip')
    const all = await textsAt(await urlOf(['']))
    expect(all).toMatchObject({ ...TRIP, 'private.txt': 'mine', 'other/plan.txt': 'stay' })
  })

  it('has names that Windows and macOS can unpack side by side', async () => {
    for (const path of ['odd/A:/CON', 'odd/A:/a?', 'odd/B.TXT', 'odd/b.txt'])
      await alice.upload(path, path, 'text/plain')
    expect(await textsAt(await urlOf(['odd']))).toEqual({
      'odd/': '',
      'odd/A_/': '',
      'odd/A_/_CON': 'odd/A:/CON',
      'odd/A_/a_': 'odd/A:/a?',
      'odd/B.TXT': 'odd/B.TXT',
      'odd/b (2).txt': 'odd/b.txt',
    })
  })

  it('has a length, name and times, supports caching, and can be read in ranges', async () => {
    const url = await urlOf(['trip'])
    const whole = await bytesAt(url)
    const answer = await get(url)
    expect(Number(answer.headers.get('content-length'))).toBe(whole.length)
    expect(answer.headers.get('content-type')).toBe('application/zip')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename=trip.zip')
    const etag = answer.headers.get('etag') ?? ''
    expect((await get(url, { 'if-none-match': etag })).status).toBe(304)
    expect((await get(await urlOf(['trip']), { 'if-none-match': etag })).status).toBe(304)
    expect((await get(url, { range: `bytes=${whole.length}-` })).status).toBe(416)
    for (let start = 0; start < whole.length; start += 37) {
      const part = await get(url, { range: `bytes=${start}-${start + 99}`, 'if-range': etag })
      expect(part.status).toBe(206)
      expect(new Uint8Array(await part.arrayBuffer())).toEqual(whole.subarray(start, start + 100))
    }
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)])
    const age = Date.now() / 1000 - ((await readZip(whole)).get('trip/plan.txt')?.at ?? 0)
    expect(Math.abs(age)).toBeLessThan(600)
  })

  it('has checksums after the data of files while they are unknown, and is identical in any range', async () => {
    await alice.upload('old/a.txt', 'a'.repeat(70_000), 'text/plain')
    await alice.upload('old/b.txt', 'b', 'text/plain')
    const forget = () => t.app.db.run('UPDATE blobs SET crc32 = NULL')
    const known = async () =>
      Number(
        (
          await t.app.db.row<{ n: number }>(
            'SELECT COUNT(*) AS n FROM blobs WHERE crc32 IS NOT NULL',
          )
        )?.n,
      )
    await forget()
    const url = await urlOf(['old'])
    // The end of the archive has the checksums of files that have not been read yet.
    const end = new Uint8Array(await (await get(url, { range: 'bytes=-200' })).arrayBuffer())
    await forget()
    const whole = await bytesAt(url)
    expect(end).toEqual(whole.subarray(-200))
    for (const start of [10, 60_000, 70_080, whole.length - 300]) {
      const part = await get(url, { range: `bytes=${start}-` })
      expect(new Uint8Array(await part.arrayBuffer())).toEqual(whole.subarray(start))
    }
    expect((await readZip(whole)).get('old/a.txt')?.text).toBe('a'.repeat(70_000))
    for (let tries = 0; (await known()) < 2 && tries < 50; tries++)
      await new Promise(done => setTimeout(done, 20))
    expect(await known()).toBe(2)
    const again = await bytesAt(await urlOf(['old']))
    expect(again.length).toBe(whole.length - 2 * 16)
    expect((await readZip(again)).get('old/a.txt')?.text).toBe('a'.repeat(70_000))
  })

  it.each([
    [[], 400, 'INVALID_INPUT'],
    [['', 'trip'], 400, 'INVALID_INPUT'],
    [['../trip'], 400, 'INVALID_PATH'],
    [['none'], 404, 'FILE_NOT_FOUND'],
    [['trip', 'none'], 404, 'FILE_NOT_FOUND'],
    [Array.from({ length: MAX_ZIPPED + 1 }, (_, i) => `${i}`), 400, 'INVALID_INPUT'],
  ])('rejects %j', async (entries, status, code) => {
    expect(statusAndCode(await zip(entries))).toEqual([status, code])
    const { errors } = await zipping(
      alice,
      entries.map(path => at(path)),
    )
    if (entries.length > 0 && entries.length <= MAX_ZIPPED)
      expect(errors?.[0]?.extensions.code).toBe(code)
    else expect(errors).toBeDefined()
  })

  it('is refused without a credential or scope, to a stranger, and when too large', async () => {
    expect((await zip(['trip'], t.anonymous)).status).toBe(401)
    const { caller } = await privateKey(t, alice, ['private_files:share'])
    expect(statusAndCode(await zip(['trip'], caller))).toEqual([401, 'INSUFFICIENT_SCOPE'])
    expect(statusAndCode(await zip(['trip'], bob))).toEqual([404, 'FILE_NOT_FOUND'])
    expect((await zipping(bob, [at('trip', await driveOf(alice))])).code).toBe('FORBIDDEN')
    const [{ id } = { id: '' }] = await t.app.db.rows<{ id: string }>(
      "SELECT id FROM entry WHERE name = 'trip' AND kind = 0",
    )
    await t.app.db.run('UPDATE entry SET total_files = ? WHERE id = ?', [MAX_ARCHIVED, id])
    const { status, msg, response } = await zip(['trip'])
    expect([status, response.code, response.field]).toEqual([400, 'INVALID_INPUT', 'entries'])
    expect(msg).toContain(`an archive can contain ${figure(MAX_ARCHIVED)}`)
    await t.app.db.run('UPDATE entry SET total_files = 3 WHERE id = ?', [id])
  })

  it('has a URL that is invalidated by a change of its contents, and by nothing else', async () => {
    await alice.upload('changing/a.txt', 'one', 'text/plain')
    const url = await urlOf(['changing'])
    await alice.upload('beside.txt', 'x', 'text/plain')
    expect((await get(url)).status).toBe(200)
    await alice.upload('changing/b.txt', 'two', 'text/plain')
    const gone = await get(url)
    expect([gone.status, ((await gone.json()) as RestAnswer).response.code]).toEqual([
      404,
      'TOKEN_NOT_FOUND',
    ])
    const next = await urlOf(['changing'])
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'changing/b.txt', destination: 'elsewhere/b.txt' },
    })
    expect((await get(next)).status).toBe(404)
    const last = await urlOf(['changing'])
    await alice.rest('DELETE', '/api/folders?path=changing&recursive=true')
    expect((await get(last)).status).toBe(404)
  })

  // Runs on one engine, because the database does not matter.
  onSqlite('is whole for who reads slowly while others read, too', async () => {
    const LEVELS = 6
    const texts = Array.from({ length: 8 }, (_, i) =>
      String.fromCharCode(97 + i).repeat(i === 7 ? 300_000 : 14_000 + i),
    )
    for (const [i, text] of texts.entries()) await alice.upload(`slow/${i}.txt`, text)
    // Doubled until it exceeds the buffers of a connection.
    for (let level = 0; level < LEVELS; level++) {
      const json = { entries: ['slow'], folder: 'halves', name: `half ${level}` }
      expect((await alice.rest('POST', '/api/copies', { json })).status).toBe(200)
      const move = { source: `halves/half ${level}`, destination: `slow/half ${level}` }
      expect((await alice.rest('POST', '/api/folders/move', { json: move })).status).toBe(200)
    }
    const slowly = (url: string, pause: number) =>
      new Promise<Uint8Array>((resolve, reject) => {
        request(url, async answer => {
          await new Promise(done => setTimeout(done, pause))
          buffer(answer).then(resolve, reject)
        })
          .on('error', reject)
          .end()
      })
    const url = await urlOf(['slow'])
    for (const bytes of await Promise.all([slowly(url, 500), slowly(url, 200), slowly(url, 0)])) {
      const files = [...(await readZip(bytes))].filter(([path]) => path.endsWith('.txt'))
      expect(files).toHaveLength(8 * 2 ** LEVELS)
      expect(files.filter(([path, { text }]) => text !== texts[Number(path.at(-5))])).toEqual([])
    }
  })

  it('is limited to a few concurrent downloads per client', async () => {
    await alice.upload('large.bin', Buffer.alloc(8 * 1024 * 1024, 'satchel'))
    const url = await urlOf(['large.bin'])
    const held = await Promise.all(Array.from({ length: MAX_ZIPS_OF_ADDRESS }, () => get(url)))
    expect(held.map(({ status }) => status)).toEqual(held.map(() => 200))
    const refused = await get(url)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBeTruthy()
    for (const answer of held) await answer.body?.cancel()
    for (
      let tries = 0;
      tries < 100 && (await get(url, { range: 'bytes=0-0' })).status === 503;
      tries++
    )
      await new Promise(done => setTimeout(done, 20))
    expect((await get(url, { range: 'bytes=0-0' })).status).toBe(206)
  })
})

describe('An archive of a workspace', () => {
  it('is available to its members and its keys that may read', async () => {
    const workspace = await found(alice, 'Archives')
    await put(alice, workspace, 'a/b.txt', 'bee')
    const base = `/api/workspaces/${workspace}`
    const reader = (await workspaceKey(t, alice, workspace, ['workspaces:files:read'])).caller
    for (const person of [alice, reader])
      expect(await textsAt((await zip(['/a'], person, base)).response.url)).toEqual({
        'a/': '',
        'a/b.txt': 'bee',
      })
    expect((await zip(['a'], bob, base)).status).toBe(403)
    await join(t, workspace, bob, 'viewer')
    expect((await zip(['a'], bob, base)).status).toBe(200)
    expect(statusAndCode(await zip(['b'], bob, base))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(statusAndCode(await zip(['..'], bob, base))).toEqual([400, 'INVALID_PATH'])
    expect((await zip(['a'], t.anonymous, base)).status).toBe(401)
  })
})

describe('An archive of a shared folder', () => {
  const opening = (token: string, body: object = {}, query = '', person = t.anonymous) =>
    person.rest('POST', `/api/share/resolve/${token}${query}`, { json: body })
  const OPEN =
    'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { url fileName size } } }'
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const openShare = (input: object) => t.anonymous.graphql<any>(OPEN, { input })

  it('contains the whole folder, a subfolder, or a selection', async () => {
    const token = await shareFolder('trip')
    expect(await textsAt((await opening(token)).response.url)).toEqual(TRIP)
    expect(await textsAt((await opening(token, {}, '?path=day 1')).response.url)).toEqual({
      'day 1/': '',
      'day 1/sea ü.txt': 'blue',
    })
    const some = await opening(token, { entries: ['plan.txt', 'day 1'] })
    expect(some.response.file_name).toBe('trip.zip')
    expect(Object.keys(await textsAt(some.response.url))).toEqual([
      'day 1/',
      'plan.txt',
      'day 1/sea ü.txt',
    ])
    const { data } = await openShare({ token, paths: ['plan.txt', 'empty.txt'] })
    expect(await textsAt(data.openShare.download.url)).toEqual({
      'empty.txt': '',
      'plan.txt': 'walk',
    })
    const direct = await fetch(`${t.url}/api/d/${token}?path=day%201`)
    expect([...(await readZip(new Uint8Array(await direct.arrayBuffer()))).keys()]).toContain(
      'day 1/sea ü.txt',
    )
  })

  it('is refused for entries outside the folder', async () => {
    const token = await shareFolder('trip/day 1')
    expect(statusAndCode(await opening(token, { entries: ['plan.txt'] }))).toEqual([
      404,
      'FILE_NOT_FOUND',
    ])
    expect(statusAndCode(await opening(token, { entries: ['../plan.txt'] }))).toEqual([
      400,
      'INVALID_PATH',
    ])
    expect(
      statusAndCode(await opening(token, { entries: ['sea ü.txt'] }, '?path=sea ü.txt')),
    ).toEqual([...[400, 'INVALID_INPUT']])
    const { errors } = await openShare({ token, paths: ['../plan.txt'] })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_PATH', field: 'input.paths' })
    const file = (
      await alice.rest('POST', '/api/files/quick_share', { json: { object: 'private.txt' } })
    ).response
    expect(statusAndCode(await opening(file.sharing_token, { entries: ['private.txt'] }))).toEqual([
      ...[400, 'INVALID_INPUT'],
    ])
  })

  it('asks for the password, counts as a download, and its URL ends with the share', async () => {
    const token = await shareFolder('trip', { password: 'sesame', max_downloads: 2 })
    expect((await opening(token)).response.code).toBe('PASSWORD_REQUIRED')
    const { response } = await opening(token, { password: 'sesame' })
    expect(await textsAt(response.url)).toEqual(TRIP)
    // A download may repeat some bytes, but not all.
    expect((await get(response.url)).status).toBe(403)
    const second = await opening(token, { password: 'sesame' })
    expect(statusAndCode(await opening(token, { password: 'sesame' }))).toEqual([
      403,
      'SHARE_USED_UP',
    ])
    expect((await alice.rest('POST', `/api/share/revoke/${token}`)).status).toBe(200)
    expect((await get(second.response.url)).status).toBe(404)
  })

  it('omits removed entries, even for a URL that was issued before', async () => {
    await alice.upload('leaving/a.txt', 'stays', 'text/plain')
    await alice.upload('leaving/b.txt', 'goes', 'text/plain')
    const token = await shareFolder('leaving')
    const { response } = await opening(token)
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'leaving/b.txt', destination: 'gone/b.txt' },
    })
    expect((await get(response.url)).status).toBe(404)
    expect(Object.keys(await textsAt((await opening(token)).response.url))).toEqual([
      'leaving/',
      'leaving/a.txt',
    ])
  })
})
