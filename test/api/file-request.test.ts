import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let garden: string

beforeAll(async () => {
  // Behind a proxy, so that senders can have several addresses.
  t = await startApp({ TRUST_PROXY: 'loopback' })
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  await alice.upload('inbox/old.txt', 'old')
  garden = await found(alice)
  await join(t, garden, bob, 'editor')
  await put(alice, garden, 'inbox/old.txt')
})
afterAll(() => t.stop())

const aToken = expect.stringMatching(/^[\w-]{43}$/)
const statusAndCode = ({ status, response }: RestAnswer) => [status, response?.code]

const create = (json: object, person = alice, base = '/api') =>
  person.rest('POST', `${base}/file_requests`, {
    json: { folder: 'inbox', label: 'Pictures', ...json },
  })
/** Creates a file request for a folder of alice. Returns its token and id. */
async function request(
  json: object = {},
  person = alice,
  base = '/api',
): Promise<{ id: string; token: string }> {
  const { status, response, text } = await create(json, person, base)
  if (status !== 200) throw new Error(text)
  return response
}
const info = (token: string, headers: Record<string, string> = {}) =>
  t.anonymous.rest('GET', `/api/request/${token}`, { headers })
const send = (
  token: string,
  name: string,
  bytes: string | Uint8Array = 'x',
  headers: Record<string, string> = {},
) => {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return t.anonymous.rest('POST', `/api/request/${token}/upload`, { form, headers })
}
const start = (token: string, json: object, headers: Record<string, string> = {}) =>
  t.anonymous.rest('POST', `/api/request/${token}/uploads`, { json, headers })
const as = (sender: string) => ({ 'x-sender-token': sender })
const namesIn = async (folder = 'inbox') => {
  const { response } = await alice.rest('GET', `/api/files/tree?path=${encodeURIComponent(folder)}`)
  return response.files.map((file: { name: string }) => file.name)
}
const row = async (id: string) => {
  const [found] = await t.app.db.rows<Record<string, number>>(
    'SELECT files, bytes, reserved_files AS reservedFiles, reserved_bytes AS reservedBytes FROM file_request WHERE id = ?',
    [id],
  )
  return found
}

describe('POST /api/file_requests', () => {
  it('200 creates a link, by session and by key', async () => {
    const { status, response } = await create({
      message: 'All of\nthem',
      max_files: 3,
      kinds: ['.PDF', 'image/*'],
    })
    expect([status, response]).toEqual([
      200,
      {
        id: expect.any(String),
        token: aToken,
        link: `${t.url}/request/${response.token}`,
        folder: 'inbox',
        label: 'Pictures',
        message: 'All of\nthem',
        state: 'open',
        created_at: aTime,
        expires_at: aTime,
        password_protected: false,
        asks_name: false,
        notifies: true,
        max_files: 3,
        max_file_size: null,
        max_bytes: null,
        kinds: ['.pdf', 'image/*'],
        files: 0,
        bytes: 0,
      },
    ])
    expect((await create({}, (await privateKey(t, alice)).caller)).status).toBe(200)
    const stored = await t.app.db.rows('SELECT * FROM file_request WHERE id = ?', [response.id])
    expect(JSON.stringify(stored)).not.toContain(response.token)
  })

  it('200 for the root, and without an expiry', async () => {
    const { response } = await create({ folder: undefined, duration: 'never' })
    expect([response.folder, response.expires_at]).toEqual(['', null])
  })

  it.each<[string, object, number, string]>([
    ['no label', { label: '' }, 400, 'INVALID_INPUT'],
    ['a long label', { label: 'x'.repeat(101) }, 400, 'INVALID_INPUT'],
    ['a long message', { message: 'x'.repeat(1001) }, 400, 'INVALID_INPUT'],
    ['no such folder', { folder: 'nowhere' }, 404, 'FOLDER_NOT_FOUND'],
    ['a file', { folder: 'inbox/old.txt' }, 404, 'FOLDER_NOT_FOUND'],
    ['an invalid path', { folder: '../x' }, 400, 'INVALID_PATH'],
    ['a duration without a unit', { duration: '3' }, 400, 'INVALID_DURATION'],
    ['no files', { max_files: 0 }, 400, 'INVALID_INPUT'],
    ['no bytes', { max_bytes: 0 }, 400, 'INVALID_INPUT'],
    ['files without bytes', { max_file_size: -1 }, 400, 'INVALID_INPUT'],
    ['an unknown kind', { kinds: ['pdf'] }, 400, 'INVALID_INPUT'],
    ['a password of 129 characters', { password: 'x'.repeat(129) }, 400, 'INVALID_INPUT'],
    ['an unknown field', { email: 'x' }, 400, 'INVALID_INPUT'],
  ])('refuses %s, also in a workspace', async (_what, json, status, code) => {
    for (const base of ['/api', `/api/workspaces/${garden}`])
      expect(statusAndCode(await create(json, alice, base))).toEqual([status, code])
  })

  it('401 without a credential or scope, 403 in a workspace for viewers and strangers', async () => {
    expect((await create({}, t.anonymous)).status).toBe(401)
    const key = await privateKey(t, alice, [
      'private_files:read',
      'private_files:write',
      'private_files:delete',
    ])
    expect(statusAndCode(await create({}, key.caller))).toEqual([401, 'INSUFFICIENT_SCOPE'])
    const carol = await t.signIn('carol')
    const base = `/api/workspaces/${garden}`
    expect(statusAndCode(await create({}, carol, base))).toEqual([403, 'FORBIDDEN'])
    await join(t, garden, carol, 'viewer')
    expect(statusAndCode(await create({}, carol, base))).toEqual([403, 'FORBIDDEN'])
    expect((await create({}, bob, base)).response.folder).toBe('/inbox')
    expect((await create({}, (await workspaceKey(t, alice, garden)).caller, base)).status).toBe(200)
    const reader = await workspaceKey(t, alice, garden, ['workspaces:files:read'])
    expect(statusAndCode(await create({}, reader.caller, base))).toEqual([
      403,
      'INSUFFICIENT_SCOPE',
    ])
  })

  it('400 QUOTA_EXCEEDED counts file requests with the public links', async () => {
    const dora = await t.signIn('dora')
    await dora.upload('a.txt', 'a')
    await t.limit({ maxPublicLinks: 2 })
    try {
      expect((await create({ folder: '' }, dora)).status).toBe(200)
      const share = () => dora.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt' } })
      expect((await share()).status).toBe(200)
      expect(statusAndCode(await share())).toEqual([400, 'QUOTA_EXCEEDED'])
      const refused = await create({ folder: '' }, dora)
      expect([refused.status, refused.response]).toEqual([
        400,
        { code: 'QUOTA_EXCEEDED', limit: 'max_public_links', max: 2, used: 2 },
      ])
      const shop = await found(dora)
      const inShop = await create({ folder: '' }, dora, `/api/workspaces/${shop}`)
      expect(statusAndCode(inShop)).toEqual([400, 'QUOTA_EXCEEDED'])
    } finally {
      await t.limit({ maxPublicLinks: 1000 })
    }
  })
})

describe('PATCH and DELETE /api/file_requests/{request_id}', () => {
  it('200 changes given fields, removes cleared ones, and keeps the link', async () => {
    const { id, token } = await request({ password: 'secret', max_files: 5, message: 'hello' })
    const change = (json: object, person = alice) =>
      person.rest('PATCH', `/api/file_requests/${id}`, { json })
    expect(
      (await change({ label: 'Papers', clear: ['password', 'message'] })).response,
    ).toMatchObject({
      id,
      token,
      label: 'Papers',
      message: '',
      max_files: 5,
      password_protected: false,
    })
    expect((await change({ clear: ['max_files'], duration: 'never' })).response).toMatchObject({
      max_files: null,
      expires_at: null,
    })
    // The limit is removed again.
    expect((await change({ clear: ['max_files'] })).status).toBe(200)
    expect(statusAndCode(await change({ clear: ['label'] }))).toEqual([400, 'INVALID_INPUT'])
    expect(statusAndCode(await change({ duration: 'x' }))).toEqual([400, 'INVALID_DURATION'])
    expect(statusAndCode(await change({ label: 'x' }, bob))).toEqual([
      404,
      'FILE_REQUEST_NOT_FOUND',
    ])
    expect((await change({ label: 'x' }, t.anonymous)).status).toBe(401)
    const base = `/api/workspaces/${garden}`
    const { id: inGarden } = await request({}, alice, base)
    const changed = await alice.rest('PATCH', `${base}/file_requests/${inGarden}`, {
      json: { duration: 'x' },
    })
    expect(statusAndCode(changed)).toEqual([400, 'INVALID_DURATION'])
  })

  it('200 closes the request permanently', async () => {
    const { id, token } = await request()
    const close = (person = alice) => person.rest('DELETE', `/api/file_requests/${id}`)
    expect(statusAndCode(await close(bob))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    expect((await close(t.anonymous)).status).toBe(401)
    expect((await close()).response.state).toBe('closed')
    expect((await close()).status).toBe(200)
    expect(statusAndCode(await info(token))).toEqual([403, 'FILE_REQUEST_CLOSED'])
    expect(statusAndCode(await send(token, 'a.txt'))).toEqual([403, 'FILE_REQUEST_CLOSED'])
    const changed = await alice.rest('PATCH', `/api/file_requests/${id}`, { json: { label: 'x' } })
    expect(statusAndCode(changed)).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    const { response } = await alice.rest('GET', '/api/file_requests')
    expect(response.file_requests.map((one: { id: string }) => one.id)).not.toContain(id)
  })

  it('GET lists the caller’s requests in that drive, page by page', async () => {
    const eve = await t.signIn('eve')
    const ids = []
    for (const label of ['a', 'b', 'c']) ids.push((await request({ folder: '', label }, eve)).id)
    const first = (await eve.rest('GET', '/api/file_requests?limit=2')).response
    expect(first.file_requests.map((one: { id: string }) => one.id)).toEqual(ids.slice(0, 2))
    const next = (await eve.rest('GET', `/api/file_requests?limit=2&cursor=${first.next_cursor}`))
      .response
    expect([next.file_requests.map((one: { id: string }) => one.id), next.next_cursor]).toEqual([
      [ids[2]],
      null,
    ])
    const ofGarden = (await bob.rest('GET', `/api/workspaces/${garden}/file_requests`)).response
      .file_requests
    expect(ofGarden.every((one: { folder: string }) => one.folder === '/inbox')).toBe(true)
    expect((await t.anonymous.rest('GET', '/api/file_requests')).status).toBe(401)
    expect(statusAndCode(await eve.rest('GET', '/api/file_requests?limit=0'))).toEqual([
      400,
      'INVALID_INPUT',
    ])
    expect((await eve.rest('GET', `/api/workspaces/${garden}/file_requests`)).status).toBe(403)
    const none = await alice.rest('GET', `/api/workspaces/${garden}/file_requests?limit=0`)
    expect(statusAndCode(none)).toEqual([400, 'INVALID_INPUT'])
  })
})

describe('A sender', () => {
  it('sends a whole file, which never replaces another, and sees only their own files', async () => {
    const { id, token } = await request()
    const mine = await send(token, 'old.txt', 'new')
    expect([mine.status, mine.response]).toEqual([
      200,
      {
        file_name: 'old.txt',
        size: 3,
        md5_checksum: '22af645d1859cb5ca6da0c484f1f37ea',
        sender: expect.any(String),
      },
    ])
    expect(await namesIn()).toEqual(['inbox/old (2).txt', 'inbox/old.txt'])
    const theirs = await send(token, 'other.txt', 'y')
    const seen = async (sender: string) =>
      (await info(token, as(sender))).response.sent.map(
        (file: { file_name: string }) => file.file_name,
      )
    expect(await seen(mine.response.sender)).toEqual(['old.txt'])
    expect(await seen(theirs.response.sender)).toEqual(['other.txt'])
    expect((await info(token)).response.sent).toEqual([])
    expect(await row(id)).toEqual({ files: 2, bytes: 4, reservedFiles: 0, reservedBytes: 0 })
    await expectConsistent(t)
  })

  it('sends a file in parts, and resumes after an interruption', async () => {
    const { id, token } = await request({ max_bytes: 20 })
    const { status, response } = await start(token, { filename: 'big.bin', size: 10 })
    expect([status, response.part_count]).toEqual([200, 1])
    const { upload_id, sender } = response
    const at = `/api/request/${token}/uploads/${upload_id}`
    expect(await row(id)).toEqual({ files: 0, bytes: 0, reservedFiles: 1, reservedBytes: 0 })
    const found = (await t.anonymous.rest('GET', at, { headers: as(sender) })).response
    expect(found).toMatchObject({ filename: 'big.bin', received: [] })
    const part = (body: string, headers = as(sender)) =>
      t.anonymous.rest('PUT', `${at}/parts/1`, { body, headers })
    expect(statusAndCode(await part('x'.repeat(11)))).toEqual([400, 'INVALID_INPUT'])
    expect(statusAndCode(await part('short'))).toEqual([400, 'INVALID_INPUT'])
    // Another sender, and a caller without a sender token.
    const other = (await send(token, 'o.txt')).response.sender
    expect(statusAndCode(await part('0123456789', as(other)))).toEqual([404, 'UPLOAD_NOT_FOUND'])
    expect(statusAndCode(await t.anonymous.rest('GET', at))).toEqual([404, 'UPLOAD_NOT_FOUND'])
    const done = (headers = as(sender)) =>
      t.anonymous.rest('POST', `${at}/complete`, { json: {}, headers })
    expect(statusAndCode(await done())).toEqual([400, 'UPLOAD_INCOMPLETE'])
    expect((await part('0123456789')).response.size).toBe(10)
    expect(statusAndCode(await done(as(other)))).toEqual([404, 'UPLOAD_NOT_FOUND'])
    expect((await done()).response).toMatchObject({ file_name: 'big.bin', size: 10 })
    expect((await info(token, as(sender))).response.sent).toMatchObject([
      { file_name: 'big.bin', size: 10, upload_id },
    ])
    expect(statusAndCode(await done())).toEqual([404, 'UPLOAD_NOT_FOUND'])
    expect(await row(id)).toEqual({ files: 2, bytes: 11, reservedFiles: 0, reservedBytes: 0 })
    // Cancelled.
    const again = (await start(token, { filename: 'more.bin', size: 9 })).response
    const where = `/api/request/${token}/uploads/${again.upload_id}`
    expect(statusAndCode(await start(token, { filename: 'much.bin', size: 12 }))).toEqual([
      403,
      'FILE_REQUEST_FULL',
    ])
    expect((await t.anonymous.rest('DELETE', where, { headers: as(again.sender) })).status).toBe(
      200,
    )
    expect(await row(id)).toEqual({ files: 2, bytes: 11, reservedFiles: 0, reservedBytes: 0 })
    await expectConsistent(t)
  })

  it('must know the password and give a name if required', async () => {
    const { id, token } = await request({ password: 'open sesame', asks_name: true })
    expect((await info(token)).response).toMatchObject({
      password_protected: true,
      asks_name: true,
      asked_by: 'alice',
    })
    expect(statusAndCode(await send(token, 'a.txt'))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect(statusAndCode(await start(token, { filename: 'a', size: 1 }))).toEqual([
      401,
      'PASSWORD_REQUIRED',
    ])
    const enter = (json: object, headers = {}) =>
      t.anonymous.rest('POST', `/api/request/${token}/enter`, { json, headers })
    expect(statusAndCode(await enter({ name: 'Carol' }))).toEqual([401, 'PASSWORD_REQUIRED'])
    expect(statusAndCode(await enter({ name: 'Carol', password: 'wrong' }))).toEqual([
      403,
      'WRONG_PASSWORD',
    ])
    expect(statusAndCode(await enter({ password: 'open sesame' }))).toEqual([400, 'INVALID_INPUT'])
    const { sender } = (await enter({ name: 'Carol\u202e', password: 'open sesame' })).response
    expect((await send(token, 'a.txt', 'x', as(sender))).status).toBe(200)
    const [receipt] = await t.app.db.rows<{ name: string }>(
      'SELECT sender_name AS name FROM file_request_upload WHERE request_id = ?',
      [id],
    )
    expect(receipt?.name).toBe('Carol')
    // A sender token of another request or of an earlier password is invalid.
    const other = await request({ password: 'other' })
    expect(statusAndCode(await send(other.token, 'a.txt', 'x', as(sender)))).toEqual([
      401,
      'PASSWORD_REQUIRED',
    ])
    await alice.rest('PATCH', `/api/file_requests/${id}`, { json: { password: 'changed' } })
    expect(statusAndCode(await send(token, 'b.txt', 'x', as(sender)))).toEqual([
      401,
      'PASSWORD_REQUIRED',
    ])
  })

  it('is limited in password guesses, also together with neighbours', async () => {
    const { token } = await request({ password: 'secret' })
    const guess = (password: string, address: string) =>
      t.anonymous.rest('POST', `/api/request/${token}/enter`, {
        json: { password },
        headers: { 'x-forwarded-for': address },
      })
    for (let i = 0; i < 10; i++)
      expect((await guess(`wrong ${i}`, '203.0.113.7')).response.code).toBe('WRONG_PASSWORD')
    const blocked = await guess('secret', '203.0.113.7')
    expect([...statusAndCode(blocked), blocked.response.retry_after > 0]).toEqual([
      403,
      'TOO_MANY_ATTEMPTS',
      true,
    ])
    expect((await guess('secret', '198.51.100.7')).status).toBe(200)
  })

  it.each<[string, string | undefined]>([
    ['a\\b', 'INVALID_PATH'],
    ['..', 'INVALID_PATH'],
    ['line\u0085break.txt', 'INVALID_PATH'],
    [`${'x'.repeat(256)}`, 'INVALID_PATH'],
    ['.hidden', undefined],
    ['ünïcödé 🦊.txt', undefined],
  ])('cannot leave the folder by the name %j', async (name, code) => {
    const { token } = await request()
    const before = await namesIn('')
    expect((await send(token, name)).response.code).toBe(code)
    expect((await start(token, { filename: name, size: 1 })).response.code).toBe(code)
    expect(await namesIn('')).toEqual(before)
  })

  it.each(['../climbs.txt', '/etc/passwd'])(
    'sends a file named by the path %j under its last name',
    async name => {
      const { token } = await request()
      const before = await namesIn('')
      expect((await send(token, name)).response.code).toBeUndefined()
      const { response } = await start(token, { filename: name, size: 1 })
      expect(response.code).toBe('INVALID_PATH')
      expect(await namesIn('')).toEqual(before)
    },
  )

  it('sends only allowed kinds, determined by name, up to the maximum size', async () => {
    const { token } = await request({ kinds: ['.pdf', 'image/*'], max_file_size: 5 })
    expect((await send(token, 'a.PDF')).status).toBe(200)
    expect((await send(token, 'a.png')).status).toBe(200)
    expect(statusAndCode(await send(token, 'a.txt'))).toEqual([400, 'INVALID_INPUT'])
    expect(statusAndCode(await start(token, { filename: 'a.exe', size: 1 }))).toEqual([
      400,
      'INVALID_INPUT',
    ])
    expect(statusAndCode(await send(token, 'b.pdf', '123456'))).toEqual([400, 'FILE_TOO_LARGE'])
    expect(statusAndCode(await start(token, { filename: 'b.pdf', size: 6 }))).toEqual([
      400,
      'FILE_TOO_LARGE',
    ])
    await expectConsistent(t)
  })

  /** An upload in parts of 10 bytes, by a sender who may continue it. */
  async function begun(terms: object = {}, filename = 'big.bin') {
    const { id, token } = await request(terms)
    const enter = (json: object = { password: 'sesame' }) =>
      t.anonymous.rest('POST', `/api/request/${token}/enter`, { json })
    const entered = as((await enter()).response.sender)
    const { upload_id, sender } = (await start(token, { filename, size: 10 }, entered)).response
    const at = `/api/request/${token}/uploads/${upload_id}`
    const steps = (headers: Record<string, string> = as(sender)) => ({
      look: () => t.anonymous.rest('GET', at, { headers }),
      part: (body = '0123456789', more = {}) =>
        t.anonymous.rest('PUT', `${at}/parts/1`, { body, headers: { ...headers, ...more } }),
      complete: (json: object = {}) =>
        t.anonymous.rest('POST', `${at}/complete`, { json, headers }),
      abort: () => t.anonymous.rest('DELETE', at, { headers }),
    })
    return { id, token, upload_id, sender, enter, steps }
  }

  it('needs the password for every step of an upload in parts', async () => {
    const { steps } = await begun({ password: 'sesame' })
    for (const step of Object.values(steps({})))
      expect(statusAndCode(await step())).toEqual([401, 'PASSWORD_REQUIRED'])
    const { look, part, complete, abort } = steps()
    for (const step of [look, part, complete]) expect((await step()).status).toBe(200)
    for (const step of [look, abort])
      expect(statusAndCode(await step())).toEqual([404, 'UPLOAD_NOT_FOUND'])
  })

  it('can do nothing after the request is closed', async () => {
    const { id, token, enter, sender, steps } = await begun({ password: 'sesame' })
    expect((await alice.rest('DELETE', `/api/file_requests/${id}`)).status).toBe(200)
    const answers = [
      await enter(),
      await start(token, { filename: 'late.txt', size: 1 }, as(sender)),
    ]
    for (const step of Object.values(steps())) answers.push(await step())
    for (const answer of answers)
      expect(statusAndCode(answer)).toEqual([403, 'FILE_REQUEST_CLOSED'])
  })

  it('can do nothing with a link that does not exist', async () => {
    const none = 'x'.repeat(43)
    const at = `/api/request/${none}/uploads/6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44`
    for (const answer of [
      await start(none, { filename: 'a', size: 1 }),
      await t.anonymous.rest('POST', `/api/request/${none}/enter`, { json: {} }),
      await t.anonymous.rest('GET', at),
      await t.anonymous.rest('PUT', `${at}/parts/1`, { body: 'x' }),
      await t.anonymous.rest('POST', `${at}/complete`, { json: {} }),
      await t.anonymous.rest('DELETE', at),
    ])
      expect(statusAndCode(answer)).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
  })

  it('must send intact bytes, and waits while the upload is completed', async () => {
    const { upload_id, steps } = await begun()
    const { part, complete } = steps()
    const wrong = createHash('md5').update('other').digest('base64')
    const differs = [400, 'CHECKSUM_MISMATCH']
    expect(statusAndCode(await part(undefined, { 'content-md5': wrong }))).toEqual(differs)
    expect((await part()).status).toBe(200)
    expect(statusAndCode(await complete({ md5: '0'.repeat(32) }))).toEqual(differs)
    const claim = (until: number) =>
      t.app.db.run('UPDATE upload_session SET claim_until = ? WHERE id = ?', [until, upload_id])
    await claim(Date.now() + 60_000)
    for (const step of [part, complete])
      expect(statusAndCode(await step())).toEqual([409, 'UPLOAD_BUSY'])
    await claim(0)
    expect((await complete()).status).toBe(200)
  })

  it('cannot complete what no longer fits into the request or its folder', async () => {
    const full = await begun({ max_bytes: 15 })
    expect((await send(full.token, 'more.txt', '123456')).status).toBe(200)
    expect(statusAndCode(await full.steps().complete())).toEqual([403, 'FILE_REQUEST_FULL'])
    await alice.rest('POST', '/api/folders', { json: { path: 'outbox' } })
    const { steps } = await begun({ folder: 'outbox' }, 'n'.repeat(250))
    expect((await steps().part()).status).toBe(200)
    const deep = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(200)).join('/')
    await alice.rest('POST', '/api/folders', { json: { path: deep } })
    const json = { source: 'outbox', destination: `${deep}/outbox` }
    expect((await alice.rest('POST', '/api/folders/move', { json })).status).toBe(200)
    expect(statusAndCode(await steps().complete())).toEqual([400, 'INVALID_PATH'])
    expect((await steps().abort()).status).toBe(200)
  })

  it('of one network has few unfinished uploads', async () => {
    const { token } = await request()
    const codes: unknown[] = []
    while (codes.length < 1000 && codes.at(-1) !== '429 RATE_LIMITED') {
      const { status, response } = await start(
        token,
        { filename: `${codes.length}`, size: 1 },
        { 'x-forwarded-for': '192.0.2.1' },
      )
      codes.push(`${status} ${response.code}`)
    }
    expect(codes.at(-1)).toBe('429 RATE_LIMITED')
  })

  it('finds nothing with an invalid token or a token of another kind', async () => {
    expect(statusAndCode(await info('x'))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    const { sharing_token } = (
      await alice.rest('POST', '/api/files/quick_share', { json: { object: 'inbox/old.txt' } })
    ).response
    expect(statusAndCode(await info(sharing_token))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
    expect(statusAndCode(await send('x'.repeat(43), 'a'))).toEqual([404, 'FILE_REQUEST_NOT_FOUND'])
  })
})

describe('GraphQL', () => {
  const LIST = `query ($folder: ID) { me { fileRequests(first: 100) { nodes { id } } drive { fileRequests(folder: $folder) { nodes { id } } } } }`
  const RECEIPTS = `query ($id: ID!) { node(id: $id) { ... on FileRequest { folder { path } receipts { nodes { fileName file { path } } } } } }`
  const UPDATE = `mutation ($input: UpdateFileRequestInput!) { updateFileRequest(input: $input) { fileRequest { passwordProtected } } }`
  const idsOf = (list: { nodes: { id: string }[] }) => list.nodes.map(node => node.id)

  it('shows receipts to a key that may not read, without the resulting files', async () => {
    const { id, token } = await request()
    expect((await send(token, 'plain.txt')).status).toBe(200)
    const { caller } = await privateKey(t, alice, ['private_files:share'])
    expect((await ask(caller, RECEIPTS, { id })).node).toEqual({
      folder: null,
      receipts: { nodes: [{ fileName: 'plain.txt', file: null }] },
    })
    expect((await ask(alice, RECEIPTS, { id })).node.receipts.nodes[0].file).toEqual({
      path: 'inbox/plain.txt',
    })
  })

  it('lists nothing for an invalid folder id', async () => {
    const { me } = await ask(alice, LIST, { folder: 'ü☃' })
    expect(idsOf(me.drive.fileRequests)).toEqual([])
    expect(idsOf(me.fileRequests)).not.toEqual([])
  })

  it('removes a password by null, and never by an empty text', async () => {
    const { id } = await request({ password: 'sesame' })
    expect(await codeOf(alice, UPDATE, { input: { fileRequest: id, password: '' } })).toBe(
      'INVALID_INPUT',
    )
    const update = (input: object) => ask(alice, UPDATE, { input: { fileRequest: id, ...input } })
    expect((await update({ label: 'Still' })).updateFileRequest.fileRequest.passwordProtected).toBe(
      true,
    )
    expect((await update({ password: null })).updateFileRequest.fileRequest.passwordProtected).toBe(
      false,
    )
  })

  it('rejects invalid terms, and names their argument in the error', async () => {
    const CREATE = `mutation ($input: CreateFileRequestInput!) { createFileRequest(input: $input) { fileRequest { id } } }`
    const refusal = async (query: string, input: object) => {
      const { errors } = await alice.graphql(query, { input })
      return [errors?.[0]?.extensions.code, errors?.[0]?.extensions.field]
    }
    const folder = { at: { path: 'inbox' } }
    const { id } = await request()
    for (const [terms, code, field] of [
      [{ label: '' }, 'INVALID_INPUT', 'input.label'],
      [{ maxFiles: 0 }, 'INVALID_INPUT', 'input.maxFiles'],
      [{ duration: 'soon' }, 'INVALID_DURATION', 'input.duration'],
    ] as const) {
      const made = await refusal(CREATE, { folder, label: 'Pictures', ...terms })
      expect([terms, ...made]).toEqual([terms, code, field])
      const changed = await refusal(UPDATE, { fileRequest: id, ...terms })
      expect([terms, ...changed]).toEqual([terms, code, field])
    }
    const above = { folder: { at: { path: '../inbox' } }, label: 'Pictures' }
    expect(await refusal(CREATE, above)).toEqual(['INVALID_PATH', 'input.folder'])
    await t.limit({ maxPublicLinks: 0 })
    try {
      expect((await refusal(CREATE, { folder, label: 'Pictures' }))[0]).toBe('QUOTA_EXCEEDED')
    } finally {
      await t.limit({ maxPublicLinks: 1000 })
    }
  })

  it('shows a former member none of their requests in a workspace', async () => {
    const emil = await t.signIn('emil')
    await join(t, garden, emil, 'editor')
    const { id } = await request({}, emil, `/api/workspaces/${garden}`)
    const seen = async () => idsOf((await ask(emil, LIST)).me.fileRequests)
    expect(await seen()).toEqual([id])
    const left = `workspace_id=${garden}&user_id=${emil.userId}`
    expect((await alice.rest('DELETE', `/api/workspaces/members/remove?${left}`)).status).toBe(200)
    expect(await seen()).toEqual([])
  })
})
