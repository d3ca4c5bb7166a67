import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  expel,
  found,
  join,
  privateKey,
  ROOMY,
  UNHURRIED,
  workspaceKey,
} from '../support/builders.ts'
import { expectConsistent, outlive } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import {
  checksumOf,
  countedOf,
  createUpload,
  metadataOf,
  offsetOf,
  patch,
  storedBytes,
  type Tus,
  tusOf,
  tusOfPerson,
} from '../support/tus-client.ts'
import { until } from '../support/until.ts'

const PART = 64 * 1024
const APP = 'https://app.example.com'
const CHUNK = { 'content-type': 'application/offset+octet-stream' }

let t: TestApp
let alice: Person
let tus: Tus
beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, UPLOAD_PART_BYTES: String(PART), CORS_ORIGINS: APP })
  await t.limit(ROOMY)
  alice = await t.signIn('alice')
  tus = tusOfPerson(t.url, alice)
})
afterAll(() => t.stop())

const named = () => `${randomUUID()}.bin`
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

const stored = (person: Person, path: string) => storedBytes(t.url, person, path)
const counted = (person: Person) => countedOf(t, person)

/** The number of blobs that belong to no file and are not being deleted. */
const unfinished = () =>
  t.app.db.rows<{ id: string; state: string }>(
    "SELECT id, state FROM blobs WHERE state IN ('staged', 'copied')",
  )

describe('A tus upload', () => {
  it('announces its extensions without a sign-in', async () => {
    const { status, headers } = await tusOf(t.url)('OPTIONS', '')
    expect(status).toBe(204)
    expect(headers.get('tus-resumable')).toBe('1.0.0')
    expect(headers.get('tus-version')).toBe('1.0.0')
    expect(headers.get('tus-extension')?.split(',')).toEqual(
      expect.arrayContaining([
        'creation',
        'creation-with-upload',
        'expiration',
        'checksum',
        'termination',
        'concatenation',
      ]),
    )
    expect(Number(headers.get('tus-max-size'))).toBeGreaterThan(0)
    expect(headers.get('tus-checksum-algorithm')?.split(',')).toEqual(
      expect.arrayContaining(['sha1', 'sha256', 'md5']),
    )
    const own = await tus('OPTIONS', '')
    expect(Number(own.headers.get('tus-max-size'))).toBeLessThanOrEqual(
      Number(headers.get('tus-max-size')),
    )
  })

  it('can be created with its first bytes, complete, empty, or by method override', async () => {
    const bytes = randomBytes(2 * PART)
    const first = named()
    const metadata = (filename: string) => ({ 'upload-metadata': metadataOf({ filename }) })
    const made = await tus(
      'POST',
      '',
      { ...CHUNK, 'upload-length': String(bytes.length), ...metadata(first) },
      bytes,
    )
    expect([made.status, offsetOf(made)]).toEqual([201, bytes.length])
    expect(made.headers.get('satchel-file-id')).toMatch(/-/)
    expect(await stored(alice, first)).toEqual(bytes)

    const empty = named()
    const nothing = await tus('POST', '', { 'upload-length': '0', ...metadata(empty) })
    expect([nothing.status, offsetOf(nothing)]).toEqual([201, 0])
    expect((await stored(alice, empty)).length).toBe(0)

    const part = named()
    const begun = await tus(
      'POST',
      '',
      { ...CHUNK, 'upload-length': '10', ...metadata(part) },
      'hello',
    )
    expect([begun.status, offsetOf(begun)]).toEqual([201, 5])
    const url = begun.headers.get('location') ?? ''
    const override = { ...CHUNK, 'upload-offset': '5', 'x-http-method-override': 'PATCH' }
    expect((await tus('POST', url, override, 'world')).status).toBe(204)
    expect((await stored(alice, part)).toString()).toBe('helloworld')
  })

  it.each([1, PART])('of %i bytes in one request stores no part', async size => {
    const bytes = randomBytes(size)
    const before = await counted(alice)
    const file = named()
    const url = await createUpload(tus, size, { filename: file })
    const id = url.split('/').at(-1) ?? ''
    const staged: string[] = []
    const { stagePart } = t.app.store
    t.app.store.stagePart = async (...given) => {
      staged.push(given[0])
      return stagePart(...given)
    }
    try {
      const sent = await patch(tus, url, 0, bytes)
      expect([sent.status, offsetOf(sent)]).toEqual([204, size])
      expect(sent.headers.get('satchel-file-id')).toMatch(/-/)
      expect(sent.headers.get('upload-expires')).toBeNull()
    } finally {
      t.app.store.stagePart = stagePart
    }
    expect(staged).toEqual([])
    expect(await stored(alice, file)).toEqual(bytes)
    const after = await counted(alice)
    expect(after).toEqual({
      used: (before?.used ?? 0) + size,
      reserved: before?.reserved,
      files: (before?.files ?? 0) + 1,
    })
    // The outcome is reported later, too, and nothing changes it.
    await t.settle()
    expect(offsetOf(await tus('HEAD', url))).toBe(size)
    expect((await patch(tus, url, 0, bytes)).status).toBe(409)
    expect((await patch(tus, url, size, '')).status).toBe(204)
    const complete = await alice.rest('POST', `/api/files/uploads/${id}/complete`)
    expect(complete.status).toBe(404)
    expect(await counted(alice)).toEqual(after)
    await expectConsistent(t)
  })

  it('can be terminated, which frees its bytes', async () => {
    const before = await counted(alice)
    const url = await createUpload(tus, 5 * PART, { filename: named() })
    await patch(tus, url, 0, randomBytes(PART + 5))
    expect(await counted(alice)).not.toEqual(before)
    expect((await tus('DELETE', url)).status).toBe(204)
    expect(await counted(alice)).toEqual(before)
    expect((await tus('HEAD', url)).status).toBe(404)
    await expectConsistent(t)
  })

  it('expires', async () => {
    const url = await createUpload(tus, PART, { filename: named() })
    await patch(tus, url, 0, 'some')
    await t.app.db.run("UPDATE blobs SET lease_until = 1 WHERE state = 'staged'")
    for (const method of ['HEAD', 'DELETE']) expect((await tus(method, url)).status).toBe(410)
    expect((await patch(tus, url, 4, 'more')).status).toBe(410)
    await outlive(t)
    expect((await tus('HEAD', url)).status).toBe(404)
    expect(await unfinished()).toEqual([])
    await expectConsistent(t)
  })
})

describe('Upload-Checksum', () => {
  it.each(['sha1', 'sha256', 'sha512', 'md5'])(
    'verifies %s, and discards a chunk that differs',
    async algorithm => {
      const bytes = randomBytes(2 * PART + 77)
      const url = await createUpload(tus, bytes.length, { filename: named() })
      expect(
        (
          await patch(
            tus,
            url,
            0,
            bytes.subarray(0, 10),
            checksumOf(algorithm, bytes.subarray(0, 10)),
          )
        ).status,
      ).toBe(204)
      const rest = bytes.subarray(10)
      const wrong = await patch(tus, url, 10, randomBytes(rest.length), checksumOf(algorithm, rest))
      expect([wrong.status, wrong.body.response.code]).toEqual([460, 'CHECKSUM_MISMATCH'])
      expect(offsetOf(await tus('HEAD', url))).toBe(10)
      const right = await patch(tus, url, 10, rest, checksumOf(algorithm, rest))
      expect(right.status).toBe(204)
      const file = await alice.rest(
        'GET',
        `/api/files/info?file_id=${right.headers.get('satchel-file-id')}`,
      )
      expect([file.status, file.response.md5_checksum]).toEqual([200, md5(bytes)])
      await expectConsistent(t)
    },
  )

  it('rejects unknown algorithms', async () => {
    const url = await createUpload(tus, 4, { filename: named() })
    for (const given of ['crc32 AAAA', 'md5', 'md5 ???'])
      expect((await patch(tus, url, 0, 'abcd', { 'upload-checksum': given })).status).toBe(400)
    expect(offsetOf(await tus('HEAD', url))).toBe(0)
  })
})

describe('Refusals of tus uploads', () => {
  const post = (headers: Record<string, string>, client = tus) => client('POST', '', headers)

  it('have the status codes of the protocol', async () => {
    const url = await createUpload(tus, 10, { filename: named() })
    const old = await tus('HEAD', url, { 'tus-resumable': '0.2.2' })
    expect([old.status, old.headers.get('tus-version')]).toEqual([412, '1.0.0'])
    expect(
      (await tus('PATCH', url, { 'content-type': 'text/plain', 'upload-offset': '0' }, 'x')).status,
    ).toBe(415)
    const apart = await patch(tus, url, 3, 'x')
    expect([apart.status, apart.body.response.offset]).toEqual([409, 0])
    expect((await patch(tus, url, 0, 'x'.repeat(11))).status).toBe(413)
    expect((await tus('PATCH', url, CHUNK, 'x')).status).toBe(400)
    expect((await tus('PUT', url)).headers.get('allow')).toBe('HEAD, PATCH, DELETE, OPTIONS')
    expect((await tus('GET', '')).status).toBe(405)
    expect((await tus('HEAD', `/${randomUUID()}`)).status).toBe(404)
    expect((await tus('HEAD', '/nothing')).status).toBe(404)
    expect((await tus('HEAD', '/a/b')).status).toBe(404)
    expect(offsetOf(await tus('HEAD', url))).toBe(0)
    for (const length of ['-1', '1.5', 'many', '9'.repeat(30)])
      expect(
        (await post({ 'upload-length': length, 'upload-metadata': metadataOf({ filename: 'a' }) }))
          .status,
      ).toBe(400)
    for (const metadata of [
      '',
      'filename',
      'filename ????',
      'filename YQ==,filename YQ==',
      'filename /w==',
    ])
      expect((await post({ 'upload-length': '1', 'upload-metadata': metadata })).status).toBe(400)
    const huge = {
      'upload-length': '9007199254740991',
      'upload-metadata': metadataOf({ filename: 'a' }),
    }
    expect((await post(huge)).status).toBe(413)
    for (const concat of ['final', 'final;', 'whole'])
      expect(
        (await post({ 'upload-concat': concat, 'upload-metadata': metadataOf({ filename: 'a' }) }))
          .status,
      ).toBe(400)
  })

  it('return the codes of REST for taken names', async () => {
    const name = named()
    await createUpload(tus, 0, { filename: name })
    const again = await post({
      'upload-length': '3',
      'upload-metadata': metadataOf({ filename: name }),
    })
    expect([again.status, again.body.response.code]).toEqual([409, 'PATH_EXISTS'])
    const beside = await createUpload(tus, 3, { filename: name, on_conflict: 'replace' })
    expect((await patch(tus, beside, 0, 'new')).status).toBe(204)
    expect((await stored(alice, name)).toString()).toBe('new')
    // If the name is taken while the bytes arrive, the bytes are kept for another try, and no
    // client takes the upload for complete.
    const late = named()
    const url = await createUpload(tus, 3, { filename: late })
    await alice.upload(late, 'first')
    const refused = await patch(tus, url, 0, 'abc')
    expect([refused.status, refused.body.response.code]).toEqual([409, 'PATH_EXISTS'])
    expect(offsetOf(await tus('HEAD', url))).toBe(0)
    await tus('DELETE', url)
    await expectConsistent(t)
  })

  it('name the end of a maintenance', async () => {
    const url = await createUpload(tus, 3, { filename: named() })
    await patch(tus, url, 0, 'a')
    const { maintenance } = t.app.services
    await maintenance.start({ endsAt: Date.now() + 60_000 }, null)
    try {
      const refused = [
        await patch(tus, url, 1, 'b'),
        await tus('DELETE', url),
        await post({ 'upload-length': '1', 'upload-metadata': metadataOf({ filename: named() }) }),
      ]
      expect(refused.map(({ status, body }) => [status, body.response.code])).toEqual(
        Array(3).fill([503, 'MAINTENANCE']),
      )
      expect(offsetOf(await tus('HEAD', url))).toBe(1)
      // The received bytes are kept as long as the upload.
      const ends = await t.app.db.rows<{ at: number }>(
        "SELECT lease_until AS at FROM blobs WHERE state IN ('staged', 'copied')",
      )
      expect(Math.min(...ends.map(({ at }) => at))).toBeGreaterThan(Date.now() + 86_000_000)
    } finally {
      await maintenance.end(null)
    }
    expect((await patch(tus, url, 1, 'bc')).status).toBe(204)
  })
})

describe('Access to a tus upload', () => {
  const withKey = (key: string) => tusOf(t.url, { 'x-api-key': key })

  it('depends on sessions, keys, scopes and origins', async () => {
    const url = await createUpload(tus, 10, { filename: named() })
    const bob = tusOfPerson(t.url, await t.signIn('bob'))
    for (const [client, status] of [
      [tusOf(t.url), 401],
      [withKey('satchel_wrong'), 401],
      [bob, 404],
    ] as const) {
      expect((await client('HEAD', url)).status).toBe(status)
      expect((await patch(client, url, 0, 'x')).status).toBe(status)
      expect((await client('DELETE', url)).status).toBe(status)
    }
    const reading = withKey((await privateKey(t, alice, ['private_files:read'])).key)
    const metadata = { 'upload-length': '1', 'upload-metadata': metadataOf({ filename: named() }) }
    expect((await reading('POST', '', metadata)).status).toBe(403)
    expect((await reading('HEAD', url)).status).toBe(403)
    expect((await patch(reading, url, 0, 'x')).status).toBe(403)
    const writing = withKey((await privateKey(t, alice)).key)
    expect((await patch(writing, url, 0, 'hello')).status).toBe(204)
    for (const [origin, status] of [
      ['https://evil.example', 403],
      [APP, 204],
    ] as const)
      expect((await patch(tus, url, 5, '', { origin })).status).toBe(status)
    expect((await patch(tus, url, 5, 'world')).status).toBe(204)
  })

  it('is checked again while bytes arrive', async () => {
    const { id, key } = await privateKey(t, alice)
    const url = await createUpload(withKey(key), 100 * PART, { filename: named() })
    let go = true
    const endless = new ReadableStream({
      async pull(controller) {
        controller.enqueue(randomBytes(1000))
        await new Promise(resolve => setTimeout(resolve, 10))
        if (!go) controller.close()
      },
    })
    const sending = patch(withKey(key), url, 0, endless)
    await until(
      async () =>
        (await t.app.db.rows('SELECT id FROM upload_stream WHERE writer IS NOT NULL')).length > 0,
    )
    expect(
      (await alice.rest('DELETE', '/api/api_keys/private/delete', { json: { api_key_id: id } }))
        .status,
    ).toBe(200)
    const { status } = await sending.catch(() => ({ status: 401 }))
    go = false
    expect(status).toBe(401)
    expect((await withKey(key)('HEAD', url)).status).toBe(401)
    expect((await tus('DELETE', url)).status).toBe(204)
    await expectConsistent(t)
  })

  it('in workspaces follows the role, and workspace keys need not name the workspace', async () => {
    const id = await found(alice)
    const { key } = await workspaceKey(t, alice, id)
    const name = named()
    const made = await createUpload(withKey(key), 4, { filename: name, folder: 'x' })
    expect((await patch(withKey(key), made, 0, 'abcd')).status).toBe(204)
    const listed = await alice.rest('GET', `/api/workspaces/${id}/files/tree?path=x`)
    expect(listed.text).toContain(name)
    const eve = await t.signIn('eve')
    const eves = tusOfPerson(t.url, eve)
    const into = {
      'upload-length': '4',
      'upload-metadata': metadataOf({ filename: named(), workspace: id }),
    }
    expect((await eves('POST', '', into)).status).toBe(403)
    await join(t, id, eve, 'viewer')
    expect((await eves('POST', '', into)).status).toBe(403)
    await join(t, id, eve, 'editor')
    const url = await createUpload(eves, 4, { filename: named(), workspace: id })
    expect((await patch(eves, url, 0, 'ab')).status).toBe(204)
    await expel(t, id, eve)
    expect((await patch(eves, url, 2, 'cd')).status).toBe(403)
    expect((await eves('HEAD', url)).status).toBe(403)
    const other = await found(alice, 'Other')
    const misled = {
      'upload-length': '4',
      'upload-metadata': metadataOf({ filename: named(), workspace: other }),
    }
    expect((await withKey(key)('POST', '', misled)).status).toBe(403)
    // Eve's upload can only expire.
    await outlive(t)
    await expectConsistent(t)
  })
})

describe('Uploads to a workspace', () => {
  /** What each person may still do with an upload that they began as an editor. */
  const allowed = { POST: 201, HEAD: 200, PATCH: 204, DELETE: 204 }
  const refused = { POST: 403, HEAD: 403, PATCH: 403, DELETE: 403 }
  const unknown = { POST: 401, HEAD: 401, PATCH: 401, DELETE: 401 }
  const foreign = { POST: 201, HEAD: 404, PATCH: 404, DELETE: 404 }
  const writing = ['workspaces:files:read', 'workspaces:files:write']

  it.each([
    { who: 'an editor', may: allowed },
    { who: 'an admin', may: allowed },
    { who: 'a viewer', may: refused },
    { who: 'a former member', may: refused },
    { who: 'another editor', may: foreign },
    { who: 'nobody', may: unknown },
    { who: 'a workspace key', may: allowed },
    { who: 'a workspace key that only reads', may: refused },
    { who: 'a key of another workspace', may: refused },
    { who: 'a private key', may: refused },
    { who: 'a key that was deleted', may: unknown },
  ])('$who', async ({ who, may }) => {
    const id = await found(alice, `W ${who}`)
    const maker = await t.signIn(`maker-${randomUUID().slice(0, 8)}`)
    await join(t, id, maker, 'admin')
    const keyOf = async (made: Promise<{ key: string }>) =>
      tusOf(t.url, { 'x-api-key': (await made).key })
    const clients: Record<string, () => Promise<Tus>> = {
      'another editor': async () => {
        const other = await t.signIn('another-editor')
        await join(t, id, other, 'editor')
        return tusOfPerson(t.url, other)
      },
      nobody: async () => tusOf(t.url),
      'a workspace key': () => keyOf(workspaceKey(t, maker, id, writing)),
      'a workspace key that only reads': () =>
        keyOf(workspaceKey(t, maker, id, ['workspaces:files:read'])),
      'a key of another workspace': async () =>
        keyOf(workspaceKey(t, maker, await found(maker, 'Elsewhere'), writing)),
      'a private key': () => keyOf(privateKey(t, maker)),
      'a key that was deleted': async () => {
        const made = await workspaceKey(t, maker, id, writing)
        await maker.rest('DELETE', `/api/api_keys/${id}/delete`, { json: { api_key_id: made.id } })
        return tusOf(t.url, { 'x-api-key': made.key })
      },
    }
    const url = await createUpload(tusOfPerson(t.url, maker), 9, {
      filename: named(),
      workspace: id,
    })
    const client = (await clients[who]?.()) ?? tusOfPerson(t.url, maker)
    if (who === 'a former member') await expel(t, id, maker)
    else if (clients[who] === undefined)
      await join(t, id, maker, who.replace(/^an? /, '') as 'editor')
    const into = {
      'upload-length': '4',
      'upload-metadata': metadataOf({ filename: named(), workspace: id }),
    }
    expect({
      POST: (await client('POST', '', into)).status,
      HEAD: (await client('HEAD', url)).status,
      PATCH: (await patch(client, url, 0, 'abc')).status,
      DELETE: (await client('DELETE', url)).status,
    }).toEqual(may)
  })
})

describe('Two requests for one upload', () => {
  it('never mix: the newer one ends the older one, whose bytes are kept', async () => {
    const bytes = randomBytes(2 * PART)
    const url = await createUpload(tus, bytes.length, { filename: named() })
    let feed: ReadableStreamDefaultController | undefined
    const slow = new ReadableStream({
      start(controller) {
        feed = controller
        controller.enqueue(bytes.subarray(0, 500))
      },
    })
    const first = patch(tus, url, 0, slow).catch(() => ({ status: 0 }))
    await until(
      async () =>
        (await t.app.db.rows('SELECT id FROM upload_stream WHERE writer IS NOT NULL')).length > 0,
    )
    const seen = offsetOf(await tus('HEAD', url))
    expect(seen).toBe(500)
    const second = await patch(tus, url, 500, bytes.subarray(500))
    expect(second.status).toBe(204)
    expect([0, 423]).toContain((await first).status)
    try {
      feed?.close()
    } catch {}
    await expectConsistent(t)
  })

  it.each([1, 2 * PART + 5])(
    'with all %d bytes of it: the file is made once, and nothing is left',
    async size => {
      const bytes = randomBytes(size)
      const name = named()
      const url = await createUpload(tus, size, { filename: name })
      const answers = await Promise.all([1, 2, 3].map(() => patch(tus, url, 0, bytes)))
      for (const { status } of answers) expect([204, 409, 423]).toContain(status)
      expect(answers.map(({ status }) => status)).toContain(204)
      expect(await stored(alice, name)).toEqual(bytes)
      expect((await t.app.store.partsOf(url.split('/').at(-1) ?? '')).size).toBe(0)
      await expectConsistent(t)
    },
  )

  it('from the same offset at the same time: exactly one wins', async () => {
    const url = await createUpload(tus, 20, { filename: named() })
    const answers = await Promise.all([1, 2, 3].map(n => patch(tus, url, 0, `${n}`.repeat(5))))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409])
    expect(offsetOf(await tus('HEAD', url))).toBe(5)
    await tus('DELETE', url)
    await expectConsistent(t)
  })
})

describe('Concatenation', () => {
  const partial = { 'upload-concat': 'partial' }

  async function sent(size: number): Promise<string> {
    const url = await createUpload(tus, size, {}, partial)
    expect((await patch(tus, url, 0, randomBytes(size))).status).toBe(204)
    return url
  }

  it('creates files from partial uploads, whose bytes count only once', async () => {
    const url = await sent(2 * PART)
    const path = `/api/files/uploads/${url.split('/').at(-1)}/complete`
    const { status, text } = await alice.rest('POST', path, { json: {} })
    expect([status, text]).toEqual([400, expect.stringContaining('INVALID_INPUT')])
    expect((await tus('DELETE', url)).status).toBe(204)
    await expectConsistent(t)
  })

  it('uses another name when the first is taken in the meantime', async () => {
    const urls = [await sent(100 * PART)]
    const final = (filename: string) =>
      tus('POST', '', {
        'upload-concat': `final;${urls[0]}`,
        'upload-metadata': metadataOf({ filename }),
      })
    const [name, other] = [named(), named()]
    const joining = final(name)
    const sql = "SELECT id FROM upload_stream WHERE kind = 'joined' AND writer IS NOT NULL"
    await until(async () => (await t.app.db.rows(sql)).length > 0)
    await alice.upload(name, 'first')
    expect((await joining).status).toBe(409)
    expect((await final(other)).status).toBe(201)
    expect((await stored(alice, other)).length).toBe(100 * PART)
    await expectConsistent(t)
  })

  it('removes the final and the partial uploads when terminated', async () => {
    const before = await counted(alice)
    const urls = [await sent(100 * PART), await sent(1)]
    const headers = {
      'upload-concat': `final;${urls.join(' ')}`,
      'upload-metadata': metadataOf({ filename: named() }),
    }
    const joining = tus('POST', '', headers)
    const ids = () =>
      t.app.db.rows<{ id: string }>(
        "SELECT id FROM upload_stream WHERE kind = 'joined' AND writer IS NOT NULL",
      )
    await until(async () => (await ids()).length > 0)
    const [final] = await ids()
    expect((await tus('DELETE', `/${final?.id}`)).status).toBe(204)
    expect((await joining).status).toBe(404)
    for (const url of urls) expect((await tus('HEAD', url)).status).toBe(404)
    expect(await counted(alice)).toEqual(before)
    await expectConsistent(t)
  })

  it('rejects incomplete, ordinary and foreign uploads', async () => {
    const short = await createUpload(tus, 5, {}, partial)
    const whole = await createUpload(tus, 5, { filename: named() })
    const bob = tusOfPerson(t.url, await t.signIn('bob'))
    const theirs = await createUpload(bob, 0, {}, partial)
    const join = (urls: string[]) =>
      tus('POST', '', {
        'upload-concat': `final;${urls.join(' ')}`,
        'upload-metadata': metadataOf({ filename: named() }),
      })
    expect((await join([short])).status).toBe(400)
    expect((await join([whole])).status).toBe(400)
    expect((await join([theirs])).status).toBe(404)
    expect((await join(['/api/tus/nothing'])).status).toBe(404)
    for (const url of [short, whole]) expect((await tus('DELETE', url)).status).toBe(204)
    expect((await bob('DELETE', theirs)).status).toBe(204)
    await expectConsistent(t)
  })
})
