import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { privateKey, ROOMY, UNHURRIED } from '../support/builders.ts'
import { findingsOf } from '../support/consistency.ts'
import { basic, type Dav, type DavAnswer, davOf, davPerson, lockOf } from '../support/dav-client.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { picture } from '../support/pictured.ts'
import { metadataOf, tusOfPerson } from '../support/tus-client.ts'
import { readZip } from '../support/zip-reader.ts'

let t: TestApp
let alice: Person
let dav: Dav
beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
  ;({ person: alice, dav } = await davPerson(t, 'alice'))
})
afterAll(() => t.stop())

const WINDOWS = 'urn:schemas-microsoft-com:'
const seconds = (time: string) => String(Date.parse(time) / 1000)
const http = (time: string) => new Date(time).toUTCString()
let serial = 0
const fresh = (name = 'f.txt') => `t${serial++}/${name}`

const FILE = `query ($path: String!) { me { drive { entry(path: $path) { id revision createdAt updatedAt
  ... on File { modifiedAt versions(first: 10) { nodes { id modifiedAt createdAt } } } } } } }`
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const fileAt = async (path: string, person = alice): Promise<any> =>
  (await ask(person, FILE, { path })).me.drive.entry
const timeOf = async (path: string, person?: Person): Promise<string> =>
  (await fileAt(path, person)).modifiedAt

/** Creates the parent folder first, because a WebDAV PUT does not. */
async function put(
  path: string,
  body: string,
  mtime?: string,
  headers: Record<string, string> = {},
) {
  await dav('MKCOL', `/files/${path.split('/')[0]}`)
  const time = mtime === undefined ? {} : { 'x-oc-mtime': mtime }
  return dav('PUT', `/files/${path}`, { body, headers: { ...time, ...headers } })
}
const accepted = ({ headers }: DavAnswer) => headers.get('x-oc-mtime')
const find = async (path: string, property: string, ns = 'DAV:'): Promise<string | undefined> => {
  const body = `<d:propfind xmlns:d="DAV:"><d:prop><${property} xmlns="${ns}"/></d:prop></d:propfind>`
  const { text } = await dav('PROPFIND', `/files/${path}`, { headers: { depth: '0' }, body })
  return new RegExp(`${property}(?: [^<>]*)?>([^<]+)</`).exec(text)?.[1]
}
const update = (set: string, remove = '') =>
  `<?xml version="1.0"?><d:propertyupdate xmlns:d="DAV:" xmlns:Z="${WINDOWS}"><d:set><d:prop>${set}</d:prop></d:set>${
    remove && `<d:remove><d:prop>${remove}</d:prop></d:remove>`
  }</d:propertyupdate>`
const patch = (path: string, body: string, headers: Record<string, string> = {}, by = dav) =>
  by('PROPPATCH', `/files/${path}`, { body, headers })
const setTo = (time: string) => update(`<d:lastmodified>${seconds(time)}</d:lastmodified>`)

describe('X-OC-Mtime', () => {
  it('sets the time of the file everywhere, until new content arrives without a time', async () => {
    const path = fresh()
    const first = await put(path, 'one', '1500000000.257999')
    expect([first.status, accepted(first)]).toEqual([201, 'accepted'])
    const time = '2017-07-14T02:40:00.257Z'
    expect(await timeOf(path)).toBe(time)
    expect(await find(path, 'getlastmodified')).toBe(http(time))
    expect((await dav('GET', `/files/${path}`)).headers.get('last-modified')).toBe(http(time))
    const info = await alice.rest('GET', `/api/files/info?path=${path}`)
    const tree = await alice.rest('GET', `/api/files/tree?path=${path.split('/')[0]}`)
    expect([info.response.modified_at, tree.response.files[0].modified_at]).toEqual([time, time])
    const before = Date.now()
    expect(accepted(await put(path, 'two'))).toBeNull()
    const { modifiedAt, updatedAt, versions } = await fileAt(path)
    expect([Date.parse(modifiedAt) >= before, modifiedAt === updatedAt]).toEqual([true, true])
    expect(versions.nodes).toEqual([expect.objectContaining({ modifiedAt: time })])
    const listed = await alice.rest('GET', `/api/files/versions?path=${path}`)
    expect(listed.response.versions[0].modified_at).toBe(time)
  })

  it('is ignored when invalid: the file gets the time of its upload', async () => {
    const path = fresh()
    const bad = ['x', '', ' ', '1e9', '0x10', 'NaN', '1,5', '--1', '15000000000000', '7258118400']
    bad.push('-2208988801', '9'.repeat(400), '1.'.repeat(20), 'Thu, 26 Nov 2026 20:15:00 GMT')
    for (const mtime of bad) {
      const before = Date.now()
      const answer = await put(path, mtime, mtime)
      expect([mtime, answer.status < 300, accepted(answer)]).toEqual([mtime, true, null])
      expect(Date.parse(await timeOf(path))).toBeGreaterThanOrEqual(before)
    }
    for (const [mtime, time] of [
      ['0', '1970-01-01T00:00:00.000Z'],
      ['-1.5', '1969-12-31T23:59:58.500Z'],
      ['4102444800', '2100-01-01T00:00:00.000Z'],
      ['1700000000.123', '2023-11-14T22:13:20.123Z'],
    ] as const) {
      expect(accepted(await put(path, mtime, mtime))).toBe('accepted')
      expect(await timeOf(path)).toBe(time)
    }
  })

  it('never makes a condition mistake new content for old', async () => {
    const path = fresh()
    const url = `/files/${path}`
    await put(path, 'newer', seconds('2100-01-01T00:00:00Z'))
    const first = await dav('GET', url)
    const [etag, seen] = [first.headers.get('etag') ?? '', first.headers.get('last-modified') ?? '']
    // Last-Modified must not be in the future (RFC 9110, section 8.8.2.1). A listing shows the
    // exact time.
    expect(Date.parse(seen)).toBeLessThanOrEqual(Date.now())
    expect(await find(path, 'getlastmodified')).toBe(http('2100-01-01T00:00:00Z'))
    await put(path, 'older', seconds('2001-01-01T00:00:00Z'))
    const known: Record<string, string>[] = [
      { 'if-none-match': etag },
      { 'if-modified-since': http('2010-01-01T00:00:00Z') },
      // As in the listing.
      { 'if-modified-since': http('2100-01-01T00:00:00Z') },
    ]
    for (const headers of known) expect((await dav('GET', url, { headers })).text).toBe('older')
    expect((await dav('GET', url, { headers: { 'if-match': etag } })).status).toBe(412)
    for (const since of ['2010-01-01T00:00:00Z', '2100-01-01T00:00:00Z']) {
      const headers = { 'if-unmodified-since': http(since) }
      expect((await dav('GET', url, { headers })).status).toBe(412)
      expect((await put(path, 'lost', undefined, headers)).status).toBe(412)
      expect((await dav('DELETE', url, { headers })).status).toBe(412)
    }
    const { headers } = await dav('GET', url)
    expect(headers.get('last-modified')).toBe(http('2001-01-01T00:00:00Z'))
    for (const known of [
      { 'if-none-match': headers.get('etag') ?? '' },
      { 'if-modified-since': new Date().toUTCString() },
    ] as Record<string, string>[])
      expect((await dav('GET', url, { headers: known })).status).toBe(304)
  })

  it('works in If-Unmodified-Since while the file has it', async () => {
    const path = fresh()
    await put(path, 'one', '1500000000.257')
    const seen = async () =>
      (await dav('HEAD', `/files/${path}`)).headers.get('last-modified') ?? ''
    const [first, ifUnmodified] = [
      await seen(),
      (since: string) => ({ 'if-unmodified-since': since }),
    ]
    expect((await dav('GET', `/files/${path}`, { headers: ifUnmodified(first) })).text).toBe('one')
    expect((await put(path, 'two', '1600000000', ifUnmodified(first))).status).toBe(204)
    expect((await put(path, 'lost', '1700000000', ifUnmodified(first))).status).toBe(412)
    expect((await patch(path, setTo('2020-01-01T00:00:00Z'), ifUnmodified(first))).status).toBe(412)
    expect(
      (await patch(path, setTo('2020-01-01T00:00:00Z'), ifUnmodified(await seen()))).status,
    ).toBe(207)
    expect(
      (await dav('GET', `/files/${path}`, { headers: ifUnmodified(new Date().toUTCString()) }))
        .text,
    ).toBe('two')
    const folder = `/files/${path.split('/')[0]}`
    expect((await dav('DELETE', folder, { headers: ifUnmodified(first) })).status).toBe(412)
    expect(
      (await dav('DELETE', `/files/${path}`, { headers: ifUnmodified(await seen()) })).status,
    ).toBe(204)
  })
})

describe('PROPPATCH', () => {
  it.each([
    ['rclone', 'd:lastmodified', '1500000000'],
    ['clients of ownCloud', 'd:getlastmodified', 'Fri, 14 Jul 2017 02:40:00 GMT'],
    ['Windows', 'Z:Win32LastModifiedTime', 'Fri, 14 Jul 2017 02:40:00 GMT'],
  ])(
    'sets the time like %s, without a new revision, version or event',
    async (_who, name, value) => {
      const path = fresh()
      const etag = (await put(path, 'x')).headers.get('etag')
      const before = await fileAt(path)
      const events = async () =>
        Number((await t.app.db.row<{ n: number }>('SELECT COUNT(*) AS n FROM event'))?.n)
      const count = await events()
      const answer = await patch(
        path,
        update(
          `<${name}>${value}</${name}><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>`,
        ),
      )
      expect([answer.status, answer.text.includes('HTTP/1.1 200 OK')]).toEqual([207, true])
      expect(answer.text).not.toMatch(/HTTP\/1.1 [34]/)
      expect(await fileAt(path)).toEqual({ ...before, modifiedAt: '2017-07-14T02:40:00.000Z' })
      expect(await events()).toBe(count)
      expect((await dav('HEAD', `/files/${path}`)).headers.get('etag')).toBe(etag)
      expect(await find(path, 'getlastmodified')).toBe('Fri, 14 Jul 2017 02:40:00 GMT')
      expect(await find(path, 'Win32LastModifiedTime', WINDOWS)).toBe(
        'Fri, 14 Jul 2017 02:40:00 GMT',
      )
      expect(await find(path, 'lastmodified')).toBe('1500000000')
      const all = await dav('PROPFIND', `/files/${path}`, { headers: { depth: '0' } })
      expect([
        all.text.includes('Win32FileAttributes'),
        all.text.includes('Win32LastModified'),
      ]).toEqual([true, false])
      // Once removed, the time is that of the upload.
      expect((await patch(path, update('', `<${name}/>`))).status).toBe(207)
      expect(await timeOf(path)).toBe(before.modifiedAt)
    },
  )

  it('changes nothing if one of the values is invalid', async () => {
    const path = fresh()
    await put(path, 'x', '1500000000')
    for (const value of [
      '',
      'yesterday',
      'Fri, 99 Foo 2017 02:40:00 GMT',
      '1e9',
      '99999999999',
      '<d:x>1</d:x>',
    ]) {
      const { text } = await patch(
        path,
        update(
          `<other xmlns="urn:x">1</other><Z:Win32LastModifiedTime>${value}</Z:Win32LastModifiedTime>`,
        ),
      )
      expect([value, text.includes('409 Conflict'), text.includes('424 Failed')]).toEqual([
        value,
        true,
        true,
      ])
      expect([await timeOf(path), await find(path, 'other', 'urn:x')]).toEqual([
        '2017-07-14T02:40:00.000Z',
        undefined,
      ])
    }
  })

  it('accepts the checksum that rclone sends if it matches the file', async () => {
    const path = fresh()
    await put(path, 'x')
    const sums = (sum: string) =>
      update(
        `<lastmodified xmlns="DAV:">1500000000</lastmodified><oc:checksums xmlns:oc="http://owncloud.org/ns">\n<oc:checksum>${sum}</oc:checksum></oc:checksums>`,
      )
    const refused = await patch(path, sums('MD5:00000000000000000000000000000000'))
    expect([refused.text.includes('403 Forbidden'), refused.text.includes('424 Failed')]).toEqual([
      true,
      true,
    ])
    const taken = await patch(path, sums('MD5:9dd4e461268c8034f5c8564e155c67a6'))
    expect(taken.text).not.toMatch(/HTTP\/1.1 [34]/)
    expect(await timeOf(path)).toBe('2017-07-14T02:40:00.000Z')
  })

  it('sets no time of a folder, but stores the properties of Windows', async () => {
    const path = fresh()
    await put(path, 'x')
    const folder = path.split('/')[0] ?? ''
    expect((await patch(folder, setTo('2017-07-14T02:40:00Z'))).text).toContain('403 Forbidden')
    const windows = update(
      '<Z:Win32LastModifiedTime>Fri, 14 Jul 2017 02:40:00 GMT</Z:Win32LastModifiedTime>',
    )
    expect((await patch(folder, windows)).text).toContain('200 OK')
    expect(await find(folder, 'Win32LastModifiedTime', WINDOWS)).toBe(
      'Fri, 14 Jul 2017 02:40:00 GMT',
    )
    expect(await find(folder, 'getlastmodified')).not.toContain('2017')
  })

  it('requires the write scope, the lock token and the expected revision', async () => {
    const path = fresh()
    await put(path, 'x', '1500000000')
    const other = setTo('2020-01-01T00:00:00Z')
    const clientWith = async (scopes: string[]) =>
      davOf(t.url, basic(alice.email, (await privateKey(t, alice, scopes)).key))
    const reader = await clientWith(['private_files:read'])
    const writer = await clientWith(['private_files:write'])
    const { dav: stranger } = await davPerson(t)
    expect((await patch(path, other, {}, reader)).status).toBe(403)
    expect((await patch(path, other, {}, stranger)).status).toBe(404)
    expect((await patch(path, other, { 'if-match': '"9"' })).status).toBe(412)
    expect((await patch(path, other, { if: '(["9-x"])' })).status).toBe(412)
    const token = await lockOf(dav, `/files/${path}`)
    expect((await patch(path, other)).status).toBe(423)
    expect((await put(path, 'y', '1', {})).status).toBe(423)
    expect(await timeOf(path)).toBe('2017-07-14T02:40:00.000Z')
    expect((await patch(path, other, { if: `(<${token}>)` })).status).toBe(207)
    expect(await timeOf(path)).toBe('2020-01-01T00:00:00.000Z')
    await dav('UNLOCK', `/files/${path}`, { headers: { 'lock-token': `<${token}>` } })
    expect((await patch(path, setTo('2021-01-01T00:00:00Z'), {}, writer)).status).toBe(207)
    expect(await timeOf(path)).toBe('2021-01-01T00:00:00.000Z')
  })

  it('sets a time only if the content matches the conditions', async () => {
    const path = fresh()
    const other = setTo('2020-01-01T00:00:00Z')
    // The conditions are checked before the body has arrived.
    await put(path, 'x', '1500000000')
    const { readable, writable } = new TextEncoderStream()
    const answer = dav('PROPPATCH', `/files/${path}`, {
      body: readable,
      headers: { 'if-match': '*' },
    })
    const writer = writable.getWriter()
    await writer.write(other.slice(0, 9))
    await setTimeout(300)
    await put(path, 'y', '1600000000')
    await writer.write(other.slice(9))
    await writer.close()
    expect((await answer).status).toBe(412)
    expect(await timeOf(path)).toBe('2020-09-13T12:26:40.000Z')
    // The root of a drive has no revision, so no condition fails.
    expect((await patch('', update('<p xmlns="urn:x">1</p>'), { 'if-match': '*' })).text).toContain(
      '200 OK',
    )
  })

  it('sets the time in a share with edit permission, and not in a view-only share', async () => {
    const path = fresh()
    await put(path, 'x', '1500000000')
    const folder = path.split('/')[0] ?? ''
    const shared = async (mayEdit: boolean) => {
      const { person, dav } = await davPerson(t)
      const share =
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }'
      await ask(alice, share, {
        input: { entries: [{ at: { path: folder } }], email: person.email, mayEdit },
      })
      const set = update('<d:lastmodified>1577836800</d:lastmodified>')
      const { status } = await dav('PROPPATCH', `/shared/${path}`, { body: set })
      const { text } = await dav('PROPFIND', `/shared/${folder}`, { headers: { depth: '1' } })
      return [status, /Fri, 14 Jul 2017|Wed, 01 Jan 2020/.exec(text)?.[0]]
    }
    expect(await shared(false)).toEqual([403, 'Fri, 14 Jul 2017'])
    expect(await shared(true)).toEqual([207, 'Wed, 01 Jan 2020'])
  })
})

describe('The time of a file', () => {
  const TIME = '2017-07-14T02:40:00.257Z'
  const rest = async (answer: Promise<RestAnswer>) => {
    const { status, response, msg } = await answer
    expect([status, msg]).toEqual([200, expect.any(String)])
    return response
  }
  const form = (name: string, content: string, fields: Record<string, string>, last = false) => {
    const made = new FormData()
    if (!last) for (const [key, value] of Object.entries(fields)) made.append(key, value)
    made.append('file', new File([content], name))
    if (last) for (const [key, value] of Object.entries(fields)) made.append(key, value)
    return made
  }

  it('is kept when the file is copied, moved, deleted and restored, and by each version', async () => {
    const path = fresh('a')
    const [folder = ''] = path.split('/')
    await put(path, 'one', '1500000000.257')
    const to = (destination: string) => ({ headers: { destination: `/dav/files/${destination}` } })
    expect((await dav('COPY', `/files/${path}`, to(`${folder}/b`))).status).toBe(201)
    expect((await dav('MOVE', `/files/${path}`, to(`${folder}/c`))).status).toBe(201)
    await rest(
      alice.rest('POST', '/api/copies', {
        json: { entries: [folder], folder: `${folder}-copies` },
      }),
    )
    await dav('DELETE', `/files/${folder}/c`)
    const trash = await rest(alice.rest('GET', '/api/trash'))
    await rest(alice.rest('POST', '/api/trash/restore', { json: { items: [trash.items[0].id] } }))
    for (const at of [`${folder}/b`, `${folder}/c`, `${folder}-copies/${folder}/b`])
      expect(await timeOf(at)).toBe(TIME)
    // Content without a time has the time of its upload, in its copies as well.
    await put(`${folder}/c`, 'two')
    const { modifiedAt } = await fileAt(`${folder}/c`)
    expect((await dav('COPY', `/files/${folder}/c`, to(`${folder}/d`))).status).toBe(201)
    expect(await timeOf(`${folder}/d`)).toBe(modifiedAt)
    const [version] = (await fileAt(`${folder}/c`)).versions.nodes
    expect(version.modifiedAt).toBe(TIME)
    await rest(alice.rest('POST', `/api/files/versions/${version.id}/restore`))
    const restored = await fileAt(`${folder}/c`)
    expect([restored.modifiedAt, restored.versions.nodes[0].modifiedAt]).toEqual([TIME, modifiedAt])
  })

  it('can be set in uploads by REST, before or after the file, and in parts', async () => {
    const folder = fresh('').slice(0, -1)
    const given = { folder, modified_at: '2017-07-14T04:40:00.257+02:00' }
    const first = await rest(
      alice.rest('POST', '/api/files/upload', { form: form('a', 'a', given) }),
    )
    expect(first.file.modified_at).toBe(TIME)
    const after = await rest(
      alice.rest('POST', '/api/files/upload', { form: form('b', 'b', given, true) }),
    )
    expect(after.file.modified_at).toBe(TIME)
    const json = { filename: 'c', size: 1, folder, modified_at: TIME }
    const { upload_id: id } = await rest(alice.rest('POST', '/api/files/uploads', { json }))
    await rest(alice.rest('PUT', `/api/files/uploads/${id}/parts/1`, { body: 'c' } as never))
    const { file } = await rest(alice.rest('POST', `/api/files/uploads/${id}/complete`))
    expect(file.modified_at).toBe(TIME)
    for (const name of ['a', 'b', 'c']) expect(await timeOf(`${folder}/${name}`)).toBe(TIME)
    for (const time of [
      'yesterday',
      '1500000000',
      '1899-12-31T23:59:59Z',
      '2200-01-01T00:00:00Z',
      '2017-99-01T00:00:00Z',
      '2017-07-14',
      'July 14, 2017',
    ])
      for (const last of [false, true]) {
        const fields = { folder, modified_at: time }
        const { status, response } = await alice.rest('POST', '/api/files/upload', {
          form: form('d', 'd', fields, last),
        })
        expect([time, last, status, response.code, response.field]).toEqual([
          time,
          last,
          400,
          'INVALID_INPUT',
          'modified_at',
        ])
      }
    const refused = await alice.rest('POST', '/api/files/uploads', {
      json: { ...json, modified_at: '2200-01-01T00:00:00Z' },
    })
    expect([refused.status, refused.response.field]).toEqual([400, 'modified_at'])
    expect(await fileAt(`${folder}/d`)).toBeNull()
  })

  it('can be set in uploads by GraphQL', async () => {
    const folder = fresh('').slice(0, -1)
    const upload =
      'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { modifiedAt } } }'
    const input = { file: null, folder: { at: { path: folder } }, modifiedAt: TIME }
    const { uploadFile } = await ask(alice, upload, { input }, new File(['a'], 'a'))
    expect(uploadFile.file.modifiedAt).toBe(TIME)
    const start =
      'mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { id } } }'
    const begun = { folder, fileName: 'b', size: 0, modifiedAt: TIME }
    const { startUpload } = await ask(alice, start, { input: begun })
    const complete =
      'mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { file { modifiedAt } } }'
    const { completeUpload } = await ask(alice, complete, {
      input: { uploadSession: startUpload.uploadSession.id },
    })
    expect(completeUpload.file.modifiedAt).toBe(TIME)
    const { code, errors } = await alice.graphql(start, {
      input: { ...begun, modifiedAt: '2200-01-01T00:00:00Z' },
    })
    expect([code, errors?.[0]?.extensions.field]).toEqual(['INVALID_INPUT', 'input.modifiedAt'])
  })

  it('can be set in uploads by tus and to file requests', async () => {
    const folder = fresh('').slice(0, -1)
    const metadata = (values: Record<string, string>) => metadataOf({ folder, ...values })
    const cases: [string, Record<string, string>, string | null][] = [
      ['a', { mtime: '1500000000.257' }, TIME],
      ['b', { lastModified: '1500000000257' }, TIME],
      ['c', { mtime: TIME, lastModified: '0' }, TIME],
      ['d', { mtime: 'yesterday' }, null],
      ['e', { lastModified: '99999999999999999' }, null],
      ['f', { lastModified: 'null' }, null],
    ]
    for (const [filename, given, time] of cases) {
      const before = new Date().toISOString()
      const headers = { 'upload-length': '1', 'upload-metadata': metadata({ filename, ...given }) }
      const body = { 'content-type': 'application/offset+octet-stream' }
      const { status } = await tusOfPerson(t.url, alice)(
        'POST',
        '/',
        { ...headers, ...body },
        filename,
      )
      expect(status).toBe(201)
      const found = await timeOf(`${folder}/${filename}`)
      if (time === null) expect(found >= before).toBe(true)
      else expect([filename, found]).toEqual([filename, time])
    }
    const { token } = await rest(
      alice.rest('POST', '/api/file_requests', { json: { folder, label: 'Send' } }),
    )
    for (const last of [false, true]) {
      const sent = form(`sent ${last}`, 'x', { modified_at: TIME }, last)
      await rest(t.anonymous.rest('POST', `/api/request/${token}/upload`, { form: sent }))
      expect(await timeOf(`${folder}/sent ${last}`)).toBe(TIME)
    }
    const json = { filename: 'parts', size: 1, modified_at: TIME }
    const { upload_id: id, sender } = await rest(
      t.anonymous.rest('POST', `/api/request/${token}/uploads`, { json }),
    )
    const headers = { 'x-sender-token': sender }
    const uploads = `/api/request/${token}/uploads/${id}`
    await rest(t.anonymous.rest('PUT', `${uploads}/parts/1`, { body: 'x', headers }))
    await rest(t.anonymous.rest('POST', `${uploads}/complete`, { headers }))
    expect(await timeOf(`${folder}/parts`)).toBe(TIME)
    // Archives have the time, too.
    const { url } = await rest(
      alice.rest('POST', '/api/files/zip', { json: { entries: [`${folder}/parts`] } }),
    )
    const archive = new Uint8Array(await (await fetch(url)).arrayBuffer())
    expect((await readZip(archive)).get('parts')?.at).toBe(1_500_000_000)
  })

  it('is kept when a shared file is saved', async () => {
    const path = fresh()
    await put(path, 'x', '1500000000.257')
    const bob = await t.signIn('bob')
    const link =
      'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token } } }'
    const { createLink } = await ask(alice, link, { input: { entries: { at: { path } } } })
    const { token } = createLink.share
    await rest(bob.rest('POST', `/api/share/save/${token}`, { json: { name: 'saved' } }))
    expect(await timeOf('saved', bob)).toBe(TIME)
  })

  it('sorts a picture without a camera time', async () => {
    const path = fresh('p.png')
    await put(path, '', undefined)
    await dav('PUT', `/files/${path}`, {
      body: picture,
      headers: { 'content-type': 'image/png', 'x-oc-mtime': '1500000000' },
    })
    const sorted = async (month: string) => {
      const { pictureMonths } = (
        await ask(alice, '{ me { drive { pictureMonths { month count } } } }')
      ).me.drive
      return pictureMonths.find((one: { month: string }) => one.month === month)?.count ?? 0
    }
    expect(await sorted('2017-07')).toBe(1)
    await patch(path, setTo('2011-03-05T00:00:00Z'))
    expect([await sorted('2017-07'), await sorted('2011-03')]).toEqual([0, 1])
    await dav('COPY', `/files/${path}`, { headers: { destination: `/dav/files/${path}2` } })
    expect(await sorted('2011-03')).toBe(2)
    await t.settle()
    expect(await findingsOf(t.app)).toEqual([])
  })
})
