import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Dav, davPerson } from '../support/dav-client.ts'
import { startApp, type TestApp } from '../support/harness.ts'

/*
 * Requests as these programs are known to send. They are written by hand, because no recordings of
 * the programs were available, and none of the programs has sent these here.
 */

let t: TestApp
let dav: Dav
beforeAll(async () => {
  t = await startApp()
  ;({ dav } = await davPerson(t, 'alice'))
})
afterAll(() => t.stop())

const chunked = (text: string) =>
  new ReadableStream({
    start(stream) {
      for (const one of text) stream.enqueue(Buffer.from(one))
      stream.close()
    },
  })

const lockBody = (owner: string) =>
  `<?xml version="1.0" encoding="utf-8" ?><d:lockinfo xmlns:d="DAV:"><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype><d:owner><d:href>${owner}</d:href></d:owner></d:lockinfo>`

const tokenOf = (headers: Headers) => headers.get('lock-token') ?? ''

describe('macOS Finder', () => {
  const agent = { 'user-agent': 'WebDAVFS/3.0.0 (03008000) Darwin/23.0.0 (arm64)' }

  it('asks for free space, writes an empty file, locks it, sends chunks, and unlocks', async () => {
    const quota = `<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:"><d:prop><d:quota-available-bytes/><d:quota-used-bytes/><d:quota/><d:quotaused/></d:prop></d:propfind>`
    const space = await dav('PROPFIND', '/files/', {
      headers: { ...agent, depth: '0', 'content-type': 'text/xml' },
      body: quota,
    })
    expect(space.status).toBe(207)
    expect(space.text).toMatch(/<d:quota-available-bytes>\d+</)
    for (const name of ['._note.txt', 'note.txt'])
      expect(
        (await dav('PROPFIND', `/files/${name}`, { headers: { ...agent, depth: '0' } })).status,
      ).toBe(404)
    expect((await dav('PUT', '/files/note.txt', { headers: agent, body: '' })).status).toBe(201)
    const locked = await dav('LOCK', '/files/note.txt', {
      headers: {
        ...agent,
        depth: '0',
        timeout: 'Second-600',
        'content-type': 'text/xml; charset="utf-8"',
      },
      body: lockBody('http://www.apple.com/webdav_fs/'),
    })
    expect(locked.status).toBe(200)
    const held = { ...agent, if: `(${tokenOf(locked.headers)})` }
    const put = await dav('PUT', '/files/note.txt', {
      headers: { ...held, 'x-expected-entity-length': '5' },
      body: chunked('hello'),
    })
    expect(put.status).toBe(204)
    expect(
      (
        await dav('UNLOCK', '/files/note.txt', {
          headers: { 'lock-token': tokenOf(locked.headers) },
        })
      ).status,
    ).toBe(204)
    expect((await dav('GET', '/files/note.txt', { headers: agent })).text).toBe('hello')
    expect(
      (await dav('PUT', '/files/._note.txt', { headers: agent, body: 'resources' })).status,
    ).toBe(201)
    expect((await dav('DELETE', '/files/._note.txt', { headers: agent })).status).toBe(204)
  })
})

describe('Windows Explorer', () => {
  const agent = { 'user-agent': 'Microsoft-WebDAV-MiniRedir/10.0.19045', translate: 'f' }

  it('probes without a body, writes under a lock, sets its own times, and renames', async () => {
    expect((await dav('OPTIONS', '/', { headers: agent })).headers.get('ms-author-via')).toBe('DAV')
    for (const path of ['', '/files', '/files/desktop.ini']) {
      const { status, text } = await dav('PROPFIND', path, {
        headers: { ...agent, depth: '0', 'content-length': '0' },
      })
      expect([path, status]).toEqual([path, path.endsWith('ini') ? 404 : 207])
      if (status === 207) expect(text).toContain('<d:collection/>')
    }
    expect((await dav('PUT', '/files/New%20Text.txt', { headers: agent, body: '' })).status).toBe(
      201,
    )
    const locked = await dav('LOCK', '/files/New%20Text.txt', {
      headers: { ...agent, timeout: 'Second-3600' },
      body: lockBody('DESKTOP\\alice'),
    })
    const held = { ...agent, if: `(${tokenOf(locked.headers)})` }
    const times = `<?xml version="1.0" encoding="utf-8" ?><d:propertyupdate xmlns:d="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><d:set><d:prop><Z:Win32CreationTime>Thu, 26 Nov 2026 12:00:00 GMT</Z:Win32CreationTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></d:prop></d:set></d:propertyupdate>`
    const patched = await dav('PROPPATCH', '/files/New%20Text.txt', { headers: held, body: times })
    expect([patched.status, patched.text.includes('200 OK')]).toEqual([207, true])
    expect((await dav('HEAD', '/files/New%20Text.txt', { headers: agent })).status).toBe(200)
    expect(
      (await dav('PUT', '/files/New%20Text.txt', { headers: held, body: 'text' })).status,
    ).toBe(204)
    const unlock = { ...agent, 'lock-token': tokenOf(locked.headers) }
    expect((await dav('UNLOCK', '/files/New%20Text.txt', { headers: unlock })).status).toBe(204)
    const destination = `${t.url}/dav/files/Renamed%20%C3%BC.txt`
    const moved = await dav('MOVE', '/files/New%20Text.txt', {
      headers: { ...agent, destination, overwrite: 'F' },
    })
    expect(moved.status).toBe(201)
    const all = await dav('PROPFIND', '/files', {
      headers: { ...agent, depth: '1', 'content-length': '0' },
    })
    expect(all.text).toContain('Renamed%20%C3%BC.txt')
    expect(all.text).toContain('Win32FileAttributes')
  })
})

describe('LibreOffice', () => {
  it('locks an open document, saves it with a tagged If, keeps the lock, and unlocks', async () => {
    await dav('PUT', '/files/letter.odt', { body: 'first' })
    const body = lockBody('LibreOffice - Alice')
    const locked = await dav('LOCK', '/files/letter.odt', {
      headers: { depth: '0', timeout: 'Second-180' },
      body,
    })
    const token = tokenOf(locked.headers)
    expect((await dav('GET', '/files/letter.odt')).text).toBe('first')
    const url = `${t.url}/dav/files/letter.odt`
    for (const text of ['second', 'third'])
      expect(
        (
          await dav('PUT', '/files/letter.odt', {
            headers: { if: `<${url}> (${token})` },
            body: text,
          })
        ).status,
      ).toBe(204)
    const refreshed = await dav('LOCK', '/files/letter.odt', {
      headers: { if: `(${token})`, timeout: 'Second-180' },
    })
    expect(refreshed.status).toBe(200)
    const { text } = await dav('PROPFIND', '/files/letter.odt', {
      headers: { depth: '0' },
      body: '<d:propfind xmlns:d="DAV:"><d:prop><d:lockdiscovery/><d:supportedlock/></d:prop></d:propfind>',
    })
    expect(text).toContain('LibreOffice - Alice')
    expect(
      (await dav('UNLOCK', '/files/letter.odt', { headers: { 'lock-token': token } })).status,
    ).toBe(204)
    expect((await dav('GET', '/files/letter.odt')).text).toBe('third')
  })

  // LibreOffice 7.4 does this when a file name has letters beyond ASCII: it loses the token until
  // it unlocks.
  it('saves its locked document without the token, which no other program or user may do', async () => {
    const agent = { 'user-agent': 'LibreOffice 7.4.7.2 denylistedbackend/7.88.1 GnuTLS/3.7.9' }
    const path = '/files/gr%c3%bc%c3%9fe.odt'
    const put = (by: typeof dav, headers: Record<string, string>) =>
      by('PUT', path, { headers, body: 'saved' })
    const owned = (owner: string) =>
      dav('LOCK', path, { headers: { depth: '0', ...agent }, body: lockBody(owner) })
    const token = tokenOf((await owned('LibreOffice - ')).headers)
    expect((await put(dav, {})).status).toBe(423)
    expect(
      (await put(dav, { ...agent, if: '(<urn:uuid:00000000-0000-4000-8000-000000000000>)' }))
        .status,
    ).toBe(412)
    expect((await put(dav, agent)).status).toBe(204)
    expect((await dav('DELETE', path, { headers: agent })).status).toBe(423)
    expect((await dav('UNLOCK', path, { headers: { 'lock-token': token } })).status).toBe(204)
    const other = tokenOf((await owned('Word')).headers)
    expect((await put(dav, agent)).status).toBe(423)
    expect((await dav('UNLOCK', path, { headers: { 'lock-token': other } })).status).toBe(204)
  })
})

describe('An editor that saves to a temporary name and renames it', () => {
  it('gives the file a new ETag with each save', async () => {
    const tags = new Set<string>()
    for (const text of ['one', 'two', 'three']) {
      await dav('PUT', '/files/save.tmp', { body: text })
      await dav('MOVE', '/files/save.tmp', { headers: { destination: '/dav/files/saved.txt' } })
      const { headers, text: read } = await dav('GET', '/files/saved.txt')
      expect(read).toBe(text)
      tags.add(headers.get('etag') ?? '')
    }
    expect(tags.size).toBe(3)
  })
})
