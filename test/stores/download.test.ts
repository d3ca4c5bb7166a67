import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parse } from 'content-disposition'
import { createTokens } from '../../src/runtime/tokens.ts'
import { altered } from '../support/altered.ts'
import {
  type Person,
  type RestAnswer,
  type RestOptions,
  rest,
  startApp,
  type TestApp,
} from '../support/harness.ts'
import { aTime, at } from '../support/shapes.ts'

const SECRET_KEY = randomBytes(32).toString('base64url')
const PASSWORD = 'päss wörd 🦊'
let t: TestApp
let alice: Person
let bob: Person

beforeAll(async () => {
  t = await startApp({ SECRET_KEY })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('docs/a.txt', 'hello', 'text/plain')
})
afterAll(() => t.stop())

/** Shares a file by a public link. Returns the token. */
async function share(object: string, more: object = {}, person = alice): Promise<string> {
  const { status, response } = await person.rest('POST', '/api/files/quick_share', {
    json: { object, ...more },
  })
  expect(status).toBe(200)
  return response.sharing_token
}
const download = (token: string, options: RestOptions = {}, method = 'GET') =>
  t.anonymous.rest(method, `/api/d/${token}`, options)
const statusAndCode = ({ status, response }: RestAnswer) => [status, response.code]
const downloadsOf = async (name: string) => {
  const [row] = await t.app.db.rows<{ downloads: number }>(
    'SELECT s.downloads FROM share s JOIN entry e ON e.id = s.entry_id WHERE e.name = ? ORDER BY s.id DESC LIMIT 1',
    [name],
  )
  return row?.downloads
}
const utf8Header = (text: string) => Buffer.from(text).toString('latin1')

/** The response at the address of a redirect. */
async function follow(answer: RestAnswer) {
  expect([answer.status, answer.text]).toEqual([302, ''])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const delivered = await fetch(answer.headers.get('location') ?? '')
  const disposition = parse(delivered.headers.get('content-disposition') ?? '')
  return {
    status: delivered.status,
    text: await delivered.text(),
    type: delivered.headers.get('content-type'),
    disposition: disposition.type,
    name: disposition.parameters.filename,
  }
}

describe('GET /api/d/{token}', () => {
  it('302 redirects anyone to the bytes, as an attachment under its own name', async () => {
    const token = await share('docs/a.txt')
    expect(await follow(await download(token))).toEqual({
      status: 200,
      text: 'hello',
      type: 'text/plain',
      disposition: 'attachment',
      name: 'a.txt',
    })
    expect(await downloadsOf('a.txt')).toBe(1)
  })

  const octets = 'application/octet-stream'
  it.each([
    ['photo.png', 'image/png', 'inline', 'image/png'],
    ['paper.pdf', 'application/pdf', 'inline', 'application/pdf'],
    ['film.mp4', 'video/mp4', 'inline', 'video/mp4'],
    ['song.mp3', 'audio/mpeg', 'inline', 'audio/mpeg'],
    ['note.txt', 'text/plain', 'inline', 'text/plain; charset=utf-8'],
    ['evil.svg', 'image/svg+xml', 'attachment', 'image/svg+xml'],
    ['page.html', 'text/html', 'attachment', octets],
    ['page.xhtml', 'application/xhtml+xml', 'attachment', octets],
    ['liar.png', 'text/html', 'attachment', octets],
    ['liar.jpg', 'image/svg+xml', 'attachment', 'image/svg+xml'],
    ['code.js', 'text/javascript', 'attachment', octets],
    ['feed.xml', 'application/xml', 'attachment', octets],
    ['data.json', 'application/json', 'attachment', 'application/json'],
    ['thing', '', 'attachment', octets],
  ])(
    '302 with mode=inline shows %s of type %s as %s, typed %s',
    async (name, sent, disposition, type) => {
      await alice.upload(`modes/${name}`, '<script>alert(1)</script>', sent)
      const token = await share(`modes/${name}`)
      const delivered = await follow(await t.anonymous.rest('GET', `/api/d/${token}?mode=inline`))
      expect(delivered).toMatchObject({ status: 200, disposition, type, name })
      const attached = await follow(await t.anonymous.rest('GET', `/api/d/${token}?mode=download`))
      expect(attached.disposition).toBe('attachment')
    },
  )

  it.each([
    'Schön 🦊.txt',
    'ни́же.pdf',
    "it's; a=b, c.txt",
    'say "hi".txt',
    '100%41.txt',
    '.hidden',
    `${'x'.repeat(251)}.txt`,
  ])('302 sends a file under the name %j', async name => {
    await alice.upload('names/plain', 'named')
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'names/plain', destination: `names/${name}` },
    })
    const token = await share(`names/${name}`)
    for (const mode of ['download', 'inline'])
      expect(
        (await follow(await t.anonymous.rest('GET', `/api/d/${token}?mode=${mode}`))).name,
      ).toBe(name.normalize('NFC'))
  })

  it('302 for HEAD, which is not counted as a download', async () => {
    await alice.upload('head/head.txt', 'once')
    const token = await share('head/head.txt', { max_downloads: 1 })
    for (let i = 0; i < 3; i++) {
      const head = await download(token, {}, 'HEAD')
      expect([head.status, head.text]).toEqual([302, ''])
      // A working address for HEAD would bypass the download limit.
      expect(head.headers.get('location')).toBeNull()
    }
    expect(await downloadsOf('head.txt')).toBe(0)
    expect((await follow(await download(token))).text).toBe('once')
    const refused = await download(token, {}, 'HEAD')
    expect([refused.status, refused.text]).toEqual([403, ''])
    expect(statusAndCode(await download(token))).toEqual([403, 'SHARE_USED_UP'])
  })

  it('401 without the password, 403 with a wrong password, 302 with the right one in the header', async () => {
    const token = await share('docs/a.txt', { password: PASSWORD })
    expect(statusAndCode(await download(token))).toEqual([401, 'PASSWORD_REQUIRED'])
    const send = (text: string) => download(token, { headers: { 'x-share-password': text } })
    expect(statusAndCode(await send(''))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect(statusAndCode(await send('wrong'))).toEqual([403, 'WRONG_PASSWORD'])
    expect((await send(utf8Header(PASSWORD))).status).toBe(302)
    const latin = await share('docs/a.txt', { password: 'pässwörd' })
    const asLatin = await download(latin, { headers: { 'x-share-password': 'pässwörd' } })
    expect(asLatin.status).toBe(302)
  })

  it.each([
    ['an unknown mode', '?mode=evil', 'INVALID_MODE', 'mode'],
    ['a repeated mode', '?mode=inline&mode=inline', 'INVALID_INPUT', 'mode'],
    ['a password in the address', '?password=secret', 'INVALID_INPUT', 'password'],
  ])('400 for %s', async (_what, query, code, field) => {
    const { status, response } = await t.anonymous.rest(
      'GET',
      `/api/d/${await share('docs/a.txt')}${query}`,
    )
    expect([status, response]).toEqual([400, { code, field }])
  })

  it('403 for an expired link', async () => {
    const token = await share('docs/a.txt')
    await t.app.db.run('UPDATE share SET expires_at = ?', [Date.now() - 1])
    expect(statusAndCode(await download(token))).toEqual([403, 'SHARE_EXPIRED'])
  })

  it('404 for an invalid token', async () => {
    const { response } = await alice.rest(
      'POST',
      '/api/user/private/download_token?file=docs/a.txt',
    )
    for (const token of ['nothing', 'private', response.private_download_token])
      expect(statusAndCode(await download(token))).toEqual([404, 'SHARE_NOT_FOUND'])
  })
})

const MAKE = '/api/user/private/download_token'
describe.each(['POST', 'GET'])('%s /api/user/private/download_token', method => {
  it('200 creates a token for an hour', async () => {
    const { status, msg, response } = await alice.rest(method, `${MAKE}?file=/docs/a.txt`)
    expect([status, msg]).toEqual([200, 'ok'])
    expect(response).toEqual({
      private_download_token: expect.stringMatching(/^[\w-]{60,}$/),
      expires_at: aTime,
    })
    expect(Math.abs(at(response.expires_at) - Date.now() - 3600_000)).toBeLessThan(30_000)
  })

  it.each([
    ['no file', '', { code: 'INVALID_INPUT', field: 'file' }],
    ['the root', '?file=/', { code: 'INVALID_PATH', field: 'file' }],
    ['an invalid path', '?file=..', { code: 'INVALID_PATH', field: 'file' }],
    ['a repeated file', '?file=a&file=b', { code: 'INVALID_INPUT', field: 'file' }],
    ['a folder', '?file=docs', { code: 'FILE_NOT_FOUND', path: 'docs' }],
    ['a missing file', '?file=docs/none', { code: 'FILE_NOT_FOUND', path: 'docs/none' }],
  ])('400 for %s', async (_what, query, refusal) => {
    const { status, response } = await alice.rest(method, `${MAKE}${query}`)
    expect([status, response]).toEqual([400, refusal])
  })

  it('400 for another user’s file, like for a missing one', async () => {
    const { status, response } = await bob.rest(method, `${MAKE}?file=docs/a.txt`)
    expect([status, response]).toEqual([400, { code: 'FILE_NOT_FOUND', path: 'docs/a.txt' }])
  })
})

describe('GET /api/d/private/{token}', () => {
  const tokenOf = async (path: string, person = alice): Promise<string> =>
    (await person.rest('POST', `${MAKE}?file=${encodeURIComponent(path)}`)).response
      .private_download_token
  const open = (token: string, query = '', person = alice, method = 'GET') =>
    person.rest(method, `/api/d/private/${token}${query}`)

  it('302 redirects the owner to the bytes, without a limit', async () => {
    const token = await tokenOf('docs/a.txt')
    for (let i = 0; i < 2; i++)
      expect(await follow(await open(token))).toMatchObject({
        text: 'hello',
        disposition: 'attachment',
        name: 'a.txt',
      })
    expect((await open(token, '', alice, 'HEAD')).status).toBe(302)
  })

  it.each([
    ['?mode=inline', 'inline'],
    ['?mode=download', 'attachment'],
    ['?mode=evil', 'attachment'],
    ['?mode=', 'attachment'],
    ['?mode=inline&mode=download', 'inline'],
    ['?password=needless', 'attachment'],
  ])('302 for %s: %s', async (query, disposition) => {
    expect((await follow(await open(await tokenOf('docs/a.txt'), query))).disposition).toBe(
      disposition,
    )
  })

  it('302 after the file and its parent folder have moved', async () => {
    await alice.upload('wander/here/a.txt', 'on its way')
    const token = await tokenOf('wander/here/a.txt')
    await alice.rest('POST', '/api/files/move', {
      json: { source: 'wander/here/a.txt', destination: 'wander/b.txt' },
    })
    await alice.rest('POST', '/api/folders/move', {
      json: { source: 'wander', destination: 'far/away' },
    })
    expect(await follow(await open(token))).toMatchObject({ text: 'on its way', name: 'b.txt' })
  })

  it('403 for an expired token', async () => {
    const { response } = await alice.upload('docs/expired.txt', 'x')
    const payload = { fileId: response.file.id, userId: alice.userId }
    const seal = (seconds: number) =>
      createTokens(SECRET_KEY).seal('private-download', payload, seconds)
    expect((await open(seal(10))).status).toBe(302)
    expect(statusAndCode(await open(seal(-1)))).toEqual([403, 'SHARE_EXPIRED'])
    expect(statusAndCode(await open(seal(-1), '', bob))).toEqual([403, 'FORBIDDEN'])
  })

  it('404 for an unknown token', async () => {
    const token = await tokenOf('docs/a.txt')
    expect(statusAndCode(await open('nothing', '', bob))).toEqual([404, 'TOKEN_NOT_FOUND'])
    expect(statusAndCode(await open(altered(token)))).toEqual([404, 'TOKEN_NOT_FOUND'])
    expect(statusAndCode(await open(await share('docs/a.txt')))).toEqual([404, 'TOKEN_NOT_FOUND'])
  })

  it('404 once the file or a parent folder is deleted', async () => {
    for (const remove of [
      '/api/files/delete?file=doomed/a.txt',
      '/api/folders?path=doomed&recursive=true',
    ]) {
      await alice.upload('doomed/a.txt', 'deleting')
      const token = await tokenOf('doomed/a.txt')
      expect((await alice.rest('DELETE', remove)).status).toBe(200)
      expect(statusAndCode(await open(token))).toEqual([404, 'TOKEN_NOT_FOUND'])
    }
  })
})

describe('With DOWNLOADS=proxy', () => {
  const text = 'The quick brown fox jumps over the lazy dog'
  const etag = '"9e107d9d372bb6826bd81d3542a419d6"'
  let p: TestApp
  let carol: Person

  beforeAll(async () => {
    p = await startApp({ DOWNLOADS: 'proxy', SECRET_KEY })
    carol = await p.signIn('carol')
    await carol.upload('fox.txt', text, 'text/plain')
  })
  afterAll(() => p.stop())

  /**
   * A way to request the bytes of a file: takes method, headers and mode, and returns the response.
   */
  type Way = (
    file: string,
    headers?: Record<string, string>,
    method?: string,
    mode?: string,
  ) => Promise<RestAnswer>
  const ways: [string, Way][] = [
    [
      'GET /api/d/{token}',
      async (file, headers = {}, method = 'GET', mode = '') =>
        p.anonymous.rest(method, `/api/d/${await share(file, {}, carol)}?mode=${mode}`, {
          headers,
        }),
    ],
    [
      'GET /api/d/private/{token}',
      async (file, headers = {}, method = 'GET', mode = '') => {
        const { response } = await carol.rest('POST', `${MAKE}?file=${file}`)
        return carol.rest(
          method,
          `/api/d/private/${response.private_download_token}?mode=${mode}`,
          { headers },
        )
      },
    ],
    [
      'the url of POST /api/share/resolve/{token}',
      async (file, headers = {}, method = 'GET', mode = '') => {
        const token = await share(file, {}, carol)
        const { response } = await p.anonymous.rest(
          'POST',
          `/api/share/resolve/${token}?mode=${mode}`,
        )
        expect(response.url.startsWith(`${p.url}/`)).toBe(true)
        return rest(p.url, method, response.url.slice(p.url.length), { headers })
      },
    ],
  ]

  describe.each(ways)('%s', (_name, get) => {
    it('200 sends the bytes with headers that isolate them from our origin', async () => {
      const { status, text: body, headers } = await get('fox.txt')
      expect([status, body]).toEqual([200, text])
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/plain',
        'content-length': '43',
        'content-disposition': 'attachment; filename=fox.txt',
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/^sandbox;/),
        etag,
      })
    })

    it('200 for HEAD: the headers of GET, without the bytes', async () => {
      const [get1, head] = [await get('fox.txt'), await get('fox.txt', {}, 'HEAD')]
      const lasting = ([name]: [string, string]) =>
        !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name)
      expect([head.status, head.text]).toEqual([200, ''])
      expect([...head.headers].filter(lasting)).toEqual([...get1.headers].filter(lasting))
    })

    it('200 for HEAD with a range, which applies only to GET', async () => {
      const head = await get('fox.txt', { range: 'bytes=0-3' }, 'HEAD')
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '43'])
    })

    it.each([
      ['bytes=0-3', 0, 3],
      ['bytes=40-', 40, 42],
      ['bytes=-3', 40, 42],
      ['bytes=4-1000', 4, 42],
      ['bytes=0-', 0, 42],
      ['bytes=-1000', 0, 42],
      ['bytes=42-42', 42, 42],
    ])('206 for %s', async (range, start, end) => {
      const { status, text: body, headers } = await get('fox.txt', { range })
      expect([status, body]).toEqual([206, text.slice(start, end + 1)])
      expect(headers.get('content-range')).toBe(`bytes ${start}-${end}/43`)
      expect(headers.get('content-length')).toBe(String(end - start + 1))
      expect([headers.get('etag'), headers.get('content-type')]).toEqual([etag, 'text/plain'])
    })

    it.each(['bytes=0-0,5-5', 'lines=0-1', 'bytes=x-y', 'bytes'])(
      '200 with the whole file for %s',
      async range => {
        const { status, text: body, headers } = await get('fox.txt', { range })
        expect([status, body, headers.get('content-range')]).toEqual([200, text, null])
      },
    )

    it.each(['bytes=43-', 'bytes=100-200'])('416 for %s', async range => {
      const { status, text: body, headers } = await get('fox.txt', { range })
      expect([status, body, headers.get('content-range')]).toEqual([416, '', 'bytes */43'])
    })

    it('206 with If-Range of the current ETag, 200 with any other', async () => {
      const ask = async (ifRange: string) =>
        (await get('fox.txt', { range: 'bytes=4-8', 'if-range': ifRange })).status
      expect(await ask(etag)).toBe(206)
      for (const other of ['"other"', `W/${etag}`, 'Wed, 21 Oct 2099 07:28:00 GMT'])
        expect(await ask(other)).toBe(200)
    })

    it('304 for a client with the current content, 200 for a client with other content', async () => {
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const {
          status,
          text: body,
          headers,
        } = await get('fox.txt', { 'if-none-match': known, range: 'bytes=0-1' })
        expect([status, body, headers.get('etag')]).toEqual([304, '', etag])
      }
      expect((await get('fox.txt', { 'if-none-match': '"other"' })).status).toBe(200)
    })

    it('200 never shows SVG or HTML inline, and shows harmless types', async () => {
      for (const [name, type, sent] of [
        ['evil.svg', 'image/svg+xml', 'image/svg+xml'],
        ['evil.html', 'text/html', 'application/octet-stream'],
      ] as const) {
        await carol.upload(name, '<svg/>', type)
        const { headers } = await get(name, {}, 'GET', 'inline')
        expect([headers.get('content-disposition'), headers.get('content-type')]).toEqual([
          `attachment; filename=${name}`,
          sent,
        ])
        expect(headers.get('content-security-policy')).toMatch(/^sandbox;/)
        // A client shows the file in its own frame.
        expect(headers.get('x-frame-options')).toBeNull()
      }
      const shown = await get('fox.txt', {}, 'GET', 'inline')
      expect(shown.headers.get('content-disposition')).toBe('inline; filename=fox.txt')
      expect(shown.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    })
  })

  it('an empty file has no bytes and no ranges', async () => {
    await carol.upload('empty', '')
    const token = await share('empty', {}, carol)
    const whole = await p.anonymous.rest('GET', `/api/d/${token}`)
    expect([whole.status, whole.text, whole.headers.get('content-length')]).toEqual([200, '', '0'])
    const range = await p.anonymous.rest('GET', `/api/d/${token}`, {
      headers: { range: 'bytes=0-' },
    })
    expect([range.status, range.headers.get('content-range')]).toEqual([416, 'bytes */0'])
  })

  it('a file of several blocks is sent whole and in ranges', async () => {
    const bytes = randomBytes(9 * 1024 * 1024 + 5)
    await carol.upload('large', bytes)
    const url = `${p.url}/api/d/${await share('large', {}, carol)}`
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true)
    const [start, end] = [4 * 1024 * 1024 - 3, 8 * 1024 * 1024 + 3]
    const part = await fetch(url, { headers: { range: `bytes=${start}-${end}` } })
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(start, end + 1))).toBe(true)
  })

  it('GET uses up the download limit, HEAD does not', async () => {
    const token = await share('fox.txt', { max_downloads: 2 }, carol)
    const statuses: number[] = []
    for (const method of ['HEAD', 'GET', 'HEAD', 'GET', 'GET', 'HEAD'])
      statuses.push((await p.anonymous.rest(method, `/api/d/${token}`)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403])
  })

  it('each range counts at the link, and a signed address counts as one download', async () => {
    const parts = ['bytes=0-3', 'bytes=4-8', 'bytes=1-']
    const [one, two] = [
      await share('fox.txt', { max_downloads: 2 }, carol),
      await share('fox.txt', { max_downloads: 1 }, carol),
    ]
    const statuses: number[] = []
    for (const range of parts)
      statuses.push((await p.anonymous.rest('GET', `/api/d/${one}`, { headers: { range } })).status)
    expect(statuses).toEqual([206, 206, 403])
    const { response } = await p.anonymous.rest('POST', `/api/share/resolve/${two}`)
    const got = await Promise.all(
      parts.map(async range => (await fetch(response.url, { headers: { range } })).text()),
    )
    expect(got).toEqual(['The ', 'quick', text.slice(1)])
    expect(statusAndCode(await p.anonymous.rest('GET', `/api/d/${two}`))).toEqual([
      403,
      'SHARE_USED_UP',
    ])
  })

  it('a password, a wrong mode and a missing token are refused with an envelope', async () => {
    const token = await share('fox.txt', { password: PASSWORD }, carol)
    const ask = (path: string, headers = {}) =>
      p.anonymous.rest('GET', `/api/d/${path}`, { headers })
    expect(statusAndCode(await ask(token))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect(statusAndCode(await ask(`${token}?mode=evil`))).toEqual([400, 'INVALID_MODE'])
    expect(statusAndCode(await ask('nothing'))).toEqual([404, 'SHARE_NOT_FOUND'])
    const answer = await ask(token, { 'x-share-password': utf8Header(PASSWORD) })
    expect([answer.status, answer.text]).toEqual([200, text])
  })

  it('404 at a signed address that has expired or was altered', async () => {
    const delivery = {
      blobId: 'x',
      name: 'x',
      fileType: 'text/plain',
      size: 1,
      md5: '',
      mode: 'download',
    }
    const expired = createTokens(SECRET_KEY).seal('bytes', delivery, -1)
    const { response } = await carol.rest('POST', `${MAKE}?file=fox.txt`)
    for (const token of [expired, 'nothing', response.private_download_token]) {
      const answer = await rest(p.url, 'GET', `/api/blobs/${token}`)
      expect(statusAndCode(answer)).toEqual([404, 'TOKEN_NOT_FOUND'])
    }
  })

  it('a signed address opens only its own file', async () => {
    const token = await share('fox.txt', {}, carol)
    const { response } = await p.anonymous.rest('POST', `/api/share/resolve/${token}`)
    expect((await fetch(response.url, { method: 'DELETE' })).status).toBe(405)
  })
})
