import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals'
import { expel, found, join, privateKey, put } from '../../support/builders.ts'
import { expectConsistent, outlive, quiet } from '../../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { stagePart } from '../../support/stage-part.ts'
import { until } from '../../support/until.ts'
import { faces, restUploader, type Said, type Uploader } from '../../support/uploader.ts'
import {
  exchange,
  field,
  file,
  form,
  formType,
  head,
  openWire,
  type Wire,
} from '../../support/wire.ts'

const PART = 1024
const MiB = 1024 * 1024

let t: TestApp
let alice: Person
let bob: Person
let garden: string
let orchard: string

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART), LEASE_SECONDS: '2' })
  ;[alice, bob] = [await t.signIn('alice'), await t.signIn('bob')]
  ;[garden, orchard] = [await found(alice), await found(alice, 'Orchard')]
  await join(t, garden, bob, 'editor')
})
afterAll(() => t.stop())

/**
 * Expects that nothing is left of refused and abandoned uploads: after they expire, quota, ledger
 * and store agree, and no upload is in progress.
 */
const leavesNothing = () =>
  afterAll(async () => {
    await expectConsistent(t)
    await outlive(t)
    await expectConsistent(t)
    expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
    expect(
      await t.app.db.rows('SELECT id FROM bucket WHERE reserved_bytes <> 0 OR reserved_files <> 0'),
    ).toEqual([])
    expect(t.failures()).toEqual([])
  })

const hash = (algorithm: string, bytes: Uint8Array) =>
  createHash(algorithm).update(bytes).digest('hex')
const partOf = (bytes: Buffer, n: number) => bytes.subarray((n - 1) * PART, n * PART)
const md5InBase64 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('base64')
const codes = (answers: Said[]) => answers.map(({ code }) => code ?? 'done').sort()
let files = 0
const newName = () => `file-${++files}.bin`

interface Beginning extends Record<string, unknown> {
  sent?: number[]
}

/** Starts an upload, and sends some of its parts. */
async function begun(up: Uploader, bytes: Buffer, { sent = [], ...input }: Beginning = {}) {
  const filename = newName()
  const { value, msg } = await up.start({ filename, size: bytes.length, ...input })
  if (!value) throw new Error(msg)
  for (const n of sent) await up.part(value.upload_id, n, { bytes: partOf(bytes, n) })
  return { id: value.upload_id as string, filename }
}

/** Sends requests that should be refused, one after the other, and returns their outcomes. */
async function tried<T>(
  cases: readonly T[],
  call: (of: T) => Promise<Said>,
): Promise<[T, string | undefined][]> {
  const answers: [T, string | undefined][] = []
  for (const each of cases) answers.push([each, (await call(each)).code])
  return answers
}
const all = <T>(cases: readonly T[], code: string) => cases.map(each => [each, code])

/** Completes an upload and verifies its digest. */
async function expectFinished(up: Uploader, id: string, bytes: Buffer): Promise<void> {
  expect(await up.complete(id)).toMatchObject({
    value: { md5_checksum: hash('md5', bytes), size: bytes.length },
  })
}

describe.each(faces)('$face', ({ by, front }) => {
  leavesNothing()
  const mine = () => by(alice, garden)
  const bytes = randomBytes(2 * PART + 7)
  const three = [1, 2, 3]

  describe('A part', () => {
    it('400 with a number out of range', async () => {
      const up = mine()
      const { id } = await begun(up, bytes)
      const numbers = [0, -1, 4, 5, 10_001, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53]
      const sent = { bytes: partOf(bytes, 1) }
      expect(await tried(numbers, n => up.part(id, n, sent))).toEqual(all(numbers, 'INVALID_INPUT'))
      expect((await up.look(id)).value.received).toEqual([])
    })

    it('400 with a wrong length', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: [2] })
      const wrong = [
        ...[0, 1, PART - 1, PART + 1, bytes.length, 9 * MiB].map(length => [1, length] as const),
        ...[0, 6, 8, PART].map(length => [3, length] as const),
      ]
      const answers = await tried(wrong, ([n, length]) =>
        up.part(id, n, { bytes: Buffer.alloc(length) }),
      )
      expect(answers).toEqual(all(wrong, 'INVALID_INPUT'))
      expect((await up.look(id)).value.received).toEqual([2])
    })

    it('replaces an earlier part', async () => {
      const up = mine()
      const { id } = await begun(up, randomBytes(bytes.length), { sent: three })
      for (const n of three)
        expect((await up.part(id, n, { bytes: partOf(bytes, n) })).code).toBeUndefined()
      await expectFinished(up, id, bytes)
    })

    it('replaces an earlier part that was already assembled', async () => {
      const up = mine()
      const { id } = await begun(up, randomBytes(bytes.length), { sent: three })
      expect((await up.complete(id, { md5: hash('md5', bytes) })).code).toBe('CHECKSUM_MISMATCH')
      for (const n of three) await up.part(id, n, { bytes: partOf(bytes, n) })
      expect((await up.look(id)).value.received).toEqual(three)
      await expectFinished(up, id, bytes)
    })

    /** An instance accepts two concurrent uploads of one part. The others have to be sent again. */
    const expectTwoOrMore = (outcomes: string[]) => {
      expect(outcomes.filter(outcome => outcome !== 'done' && outcome !== 'UNAVAILABLE')).toEqual(
        [],
      )
      expect(outcomes.filter(outcome => outcome === 'done').length).toBeGreaterThanOrEqual(2)
    }

    it('may arrive many times at once', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: [2, 3] })
      const same = await Promise.all(
        Array.from({ length: 8 }, () => up.part(id, 1, { bytes: partOf(bytes, 1) })),
      )
      expectTwoOrMore(codes(same))
      await expectFinished(up, id, bytes)
    })

    it('that is sent at once with different bytes is stored as one of the versions, intact', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: [2, 3] })
      const ways = Array.from({ length: 8 }, () => randomBytes(PART))
      expectTwoOrMore(codes(await Promise.all(ways.map(way => up.part(id, 1, { bytes: way })))))
      const { value } = await up.complete(id)
      const possible = ways.map(way => hash('md5', Buffer.concat([way, bytes.subarray(PART)])))
      expect(possible).toContain(value.md5_checksum)
    })

    it('400 with the Content-MD5 of other bytes; the earlier part remains', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: three })
      const wrong = { bytes: randomBytes(PART), contentMd5: md5InBase64(partOf(bytes, 1)) }
      expect(await up.part(id, 1, wrong)).toMatchObject({ code: 'CHECKSUM_MISMATCH' })
      await expectFinished(up, id, bytes)
    })

    it('400 with a malformed Content-MD5', async () => {
      const up = mine()
      const { id } = await begun(up, bytes)
      const texts = [
        'x',
        hash('md5', partOf(bytes, 1)),
        `${'A'.repeat(22)}=`,
        `${'A'.repeat(23)}=`,
        '\u00e9'.repeat(24),
      ]
      const answers = await tried(texts, contentMd5 =>
        up.part(id, 1, { bytes: partOf(bytes, 1), contentMd5 }),
      )
      expect(answers).toEqual(all(texts, 'INVALID_INPUT'))
      expect((await up.look(id)).value.received).toEqual([])
    })
  })

  describe('An upload', () => {
    const everyCall = async (up: Uploader, id: string) =>
      codes([
        await up.part(id, 1, { bytes: partOf(bytes, 1) }),
        await up.part(id, 0, { bytes: '' }),
        await up.look(id),
        await up.complete(id),
        await up.complete(id, { md5: hash('md5', bytes), filename: 'another' }),
        await up.abort(id),
      ])
    const unknown = Array(6).fill('UPLOAD_NOT_FOUND')

    it('404 after its completion', async () => {
      const { id } = await begun(mine(), bytes, { sent: three })
      await expectFinished(mine(), id, bytes)
      expect(await everyCall(mine(), id)).toEqual(unknown)
    })

    it('404 after it was cancelled', async () => {
      const { id } = await begun(mine(), bytes, { sent: three })
      await mine().abort(id)
      expect(await everyCall(mine(), id)).toEqual(unknown)
    })

    it('404 after it expired, swept or not', async () => {
      const { id } = await begun(mine(), bytes, { sent: three })
      await t.app.db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [Date.now() - 1, id])
      expect(await everyCall(mine(), id)).toEqual(unknown)
      await t.settle()
      expect(await everyCall(mine(), id)).toEqual(unknown)
    })

    it('404 for other users, whatever their role', async () => {
      const { id } = await begun(mine(), bytes, { sent: three })
      expect(await everyCall(by(bob, garden), id)).toEqual(unknown)
      await expectFinished(mine(), id, bytes)
    })

    it('404 in every other drive', async () => {
      const { id } = await begun(mine(), bytes, { sent: three })
      // GraphQL names an upload by its id only.
      const elsewhere = front
        ? [restUploader(alice, orchard), restUploader(alice)]
        : [restUploader(alice, garden), restUploader(alice, orchard)]
      for (const up of elsewhere) expect(await everyCall(up, id)).toEqual(unknown)
      await expectFinished(mine(), id, bytes)
    })

    it('404 with a malformed id', async () => {
      const odd = [
        'x',
        randomUUID(),
        "' OR 1=1 --",
        '%',
        '\u{1f600}',
        'x'.repeat(3000),
        '0'.repeat(36),
      ]
      for (const id of odd) expect([id, await everyCall(mine(), id)]).toEqual([id, unknown])
    })

    it('expires a day after its last part', async () => {
      const { id } = await begun(mine(), bytes)
      const soon = Date.now() + 60_000
      await t.app.db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [soon, id])
      expect(Date.parse((await mine().look(id)).value.expires_at)).toBe(soon)
      await mine().part(id, 1, { bytes: partOf(bytes, 1) })
      const left = Date.parse((await mine().look(id)).value.expires_at) - Date.now()
      expect(Math.round(left / 60_000)).toBe(24 * 60)
    })
  })

  describe('A completion', () => {
    it('400 with the numbers of the missing parts, and succeeds once they arrive', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: [2] })
      const { msg, code, value } = await up.complete(id)
      expect([code, msg]).toEqual(['UPLOAD_INCOMPLETE', expect.stringContaining('1, 3')])
      if (value) expect(value).toMatchObject({ missing: [1, 3], missing_count: 2 })
      for (const n of [1, 3]) await up.part(id, n, { bytes: partOf(bytes, n) })
      await expectFinished(up, id, bytes)
    })

    it('creates one file when it is requested many times at once', async () => {
      const up = mine()
      const { id, filename } = await begun(up, bytes, { sent: three })
      const names = [filename, filename, ...Array.from({ length: 6 }, newName)]
      const answers = await Promise.all(names.map(name => up.complete(id, { filename: name })))
      const [done, ...others] = answers.sort(a => (a.code ? 1 : -1))
      expect(done?.value).toMatchObject({ md5_checksum: hash('md5', bytes) })
      for (const { code } of others)
        expect(['UPLOAD_BUSY', 'UPLOAD_NOT_FOUND', 'PATH_EXISTS']).toContain(code)
      const blobs = await t.app.db.rows('SELECT id FROM blobs WHERE id = ?', [id])
      expect(blobs).toHaveLength(1)
      const entries = await t.app.db.rows('SELECT id FROM entry WHERE blob_id = ?', [id])
      expect(entries).toHaveLength(1)
    })

    it('400 with a wrong or malformed digest, and succeeds with the right one', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: three })
      const other = { md5: '0'.repeat(32), sha256: '0'.repeat(64) }
      const wrong = [
        { md5: other.md5 },
        { sha256: other.sha256 },
        { md5: hash('md5', bytes), sha256: other.sha256 },
        { md5: other.md5, sha256: hash('sha256', bytes) },
      ]
      expect(await tried(wrong, given => up.complete(id, given))).toEqual(
        all(wrong, 'CHECKSUM_MISMATCH'),
      )
      const none = [
        ...[
          '0'.repeat(31),
          '0'.repeat(33),
          '0'.repeat(64),
          'g'.repeat(32),
          md5InBase64(bytes),
          ` ${other.md5}`,
        ],
      ].map(md5 => ({ md5 }))
      expect(await tried(none, given => up.complete(id, given))).toEqual(all(none, 'INVALID_INPUT'))
      const neither = ['0'.repeat(32), `${'0'.repeat(63)}\n`, hash('sha256', bytes).slice(1)].map(
        sha256 => ({
          sha256,
        }),
      )
      expect(await tried(neither, given => up.complete(id, given))).toEqual(
        all(neither, 'INVALID_INPUT'),
      )
      expect((await up.look(id)).value.received).toEqual(three)
      const right = {
        md5: hash('md5', bytes).toUpperCase(),
        sha256: hash('sha256', bytes).toUpperCase(),
      }
      expect((await up.complete(id, right)).value).toMatchObject({
        md5_checksum: hash('md5', bytes),
      })
    })

    it('400 with an invalid path', async () => {
      const up = mine()
      const { id } = await begun(up, bytes, { sent: three })
      const places = [
        { filename: 'a/b' },
        { filename: '..' },
        { folder: 'a/../b' },
        { folder: 'x'.repeat(256) },
      ]
      expect(await tried(places, place => up.complete(id, place))).toEqual(
        all(places, 'INVALID_PATH'),
      )
      await expectFinished(up, id, bytes)
    })

    it('409 where an entry appeared meanwhile; the upload continues under another name', async () => {
      const up = mine()
      const { id, filename } = await begun(up, bytes, { sent: three, folder: 'taken' })
      const other = await begun(up, bytes, { sent: three, folder: 'taken', filename })
      await expectFinished(up, other.id, bytes)
      expect((await up.complete(id)).code).toBe('PATH_EXISTS')
      expect((await up.look(id)).value.received).toEqual(three)
      expect((await up.complete(id, { filename, folder: `taken/${filename}/deeper` })).code).toBe(
        'PATH_EXISTS',
      )
      expect((await up.look(id)).value.received).toEqual(three)
      const again = newName()
      expect(await up.complete(id, { filename: again, folder: 'new/place' })).toMatchObject({
        value: { file_name: `${front}new/place/${again}`, md5_checksum: hash('md5', bytes) },
      })
    })

    it('accepts an empty folder as none, and a slash as the root', async () => {
      const up = mine()
      const planned = await begun(up, bytes, { sent: three, folder: 'planned' })
      expect((await up.complete(planned.id, { folder: '' })).value.file_name).toBe(
        `${front}planned/${planned.filename}`,
      )
      const root = await begun(up, bytes, { sent: three, folder: 'planned' })
      expect((await up.complete(root.id, { folder: '/' })).value.file_name).toBe(
        front + root.filename,
      )
    })

    it('409 where an entry appears at the same time', async () => {
      const up = mine()
      const filename = newName()
      const uploads = [
        await begun(up, bytes, { sent: three, filename }),
        await begun(up, bytes, { sent: three, filename }),
        await begun(up, bytes, { sent: three, filename }),
      ]
      const answers = await Promise.all(uploads.map(({ id }) => up.complete(id)))
      expect(codes(answers)).toEqual(['PATH_EXISTS', 'PATH_EXISTS', 'done'])
      for (const { id } of uploads.filter((_, i) => answers[i]?.code))
        expect((await up.complete(id, { filename: newName() })).code).toBeUndefined()
    })

    it('and a cancellation at the same time: exactly one of the two succeeds', async () => {
      const up = mine()
      for (let round = 0; round < 4; round++) {
        const { id } = await begun(up, bytes, { sent: three })
        const [done, ended, late] = await Promise.all([
          up.complete(id),
          up.abort(id),
          up.part(id, 1, { bytes: partOf(bytes, 1) }),
        ])
        const oneOfTwo = [done?.code, ended?.code].filter(code => code === undefined)
        expect(oneOfTwo).toHaveLength(1)
        expect([undefined, 'UPLOAD_BUSY', 'UPLOAD_NOT_FOUND']).toContain(late?.code)
        const entries = await t.app.db.rows('SELECT id FROM entry WHERE blob_id = ?', [id])
        expect(entries).toHaveLength(done?.code ? 0 : 1)
        expect((await up.look(id)).code).toBe('UPLOAD_NOT_FOUND')
      }
    })
  })

  describe('The start of an upload', () => {
    it('400 with a size that is invalid or beyond the plan', async () => {
      const start = (size: unknown) => mine().start({ filename: newName(), size })
      const none = [-1, -(2 ** 53), 1.5, 2 ** 53, 1e300, '5', '', null, true, [5], { size: 5 }]
      expect(await tried(none, start)).toEqual(all(none, 'INVALID_INPUT'))
      const large = [2 * 1024 ** 3 + 1, 2 ** 40, Number.MAX_SAFE_INTEGER]
      expect(await tried(large, start)).toEqual(all(large, 'FILE_TOO_LARGE'))
    })

    it('400 with an invalid path or option', async () => {
      const start = (input: object) => mine().start({ filename: newName(), size: 5, ...input })
      const places = [
        ...['', 'a/b', '..', 'x'.repeat(256), 'a\u0000'].map(filename => ({ filename })),
        ...['../up', Array(33).fill('a').join('/'), Array(5).fill('x'.repeat(250)).join('/')].map(
          f => ({ folder: f }),
        ),
      ]
      expect(await tried(places, start)).toEqual(all(places, 'INVALID_PATH'))
      const words = [
        { filename: 7 },
        { folder: ['a'] },
        { direct: 'yes' },
        { content_type: 7 },
        { chunk_size: 7 },
      ]
      expect(await tried(words, start)).toEqual(all(words, 'INVALID_INPUT'))
    })

    it('409 where a file or a folder exists', async () => {
      const up = mine()
      const { id, filename } = await begun(up, bytes, { sent: three, folder: 'here' })
      await expectFinished(up, id, bytes)
      expect(await up.start({ filename, size: 5, folder: 'here' })).toMatchObject({
        code: 'PATH_EXISTS',
      })
      expect(await up.start({ filename: 'here', size: 5 })).toMatchObject({ code: 'PATH_EXISTS' })
    })

    it('derives the type from the name when the given type is invalid', async () => {
      const up = mine()
      const filename = `${newName()}.png`
      const { value } = await up.start({
        filename,
        size: 0,
        content_type: 'text/html\r\nx-evil: 1',
      })
      expect((await up.complete(value.upload_id)).value.file.file_type).toBe('image/png')
    })
  })
})

/** Waits until a request is being served. */
const arrived = () => until(() => t.app.gateway.running > 0)

describe('The raw route', () => {
  leavesNothing()
  const bytes = randomBytes(2 * PART)
  const up = () => restUploader(alice)
  const partPath = (id: string, number: number | string) =>
    `/api/files/uploads/${id}/parts/${number}`

  it('400 for an invalid number', async () => {
    const { id } = await begun(up(), bytes)
    const odd = [
      'x',
      '1.5',
      '1e0',
      '0x1',
      '+1',
      '%201',
      '1%20',
      'Infinity',
      '%00',
      '1%2F2',
      'true',
      '\uff11',
      '9'.repeat(30),
    ]
    for (const number of odd) {
      const { status, response } = await alice.rest('PUT', partPath(id, number), {
        body: partOf(bytes, 1),
      })
      expect([number, status, response.field]).toEqual([number, 400, 'part_number'])
    }
  })

  it.each(['PUT', 'POST'])('accepts a part by %s', async method => {
    const { id } = await begun(up(), bytes)
    for (const n of [1, 2])
      expect((await alice.rest(method, partPath(id, n), { body: partOf(bytes, n) })).status).toBe(
        200,
      )
    await expectFinished(up(), id, bytes)
  })

  it.each<[string, Record<string, string | number>, (part: Buffer) => Uint8Array | string, string]>(
    [
      ['no bytes, with that length', { 'content-length': 0 }, () => '', 'part'],
      ['nothing', {}, () => '', 'part'],
      ['nothing in chunks', { 'transfer-encoding': 'chunked' }, () => '0\r\n\r\n', 'part'],
      [
        'too few bytes, with that length',
        { 'content-length': 5 },
        part => part.subarray(0, 5),
        'part',
      ],
      [
        'too little in chunks',
        { 'transfer-encoding': 'chunked' },
        part =>
          Buffer.concat([Buffer.from('5\r\n'), part.subarray(0, 5), Buffer.from('\r\n0\r\n\r\n')]),
        'part',
      ],
      [
        'too much in chunks',
        { 'transfer-encoding': 'chunked' },
        part => Buffer.concat([Buffer.from('401\r\n'), part, Buffer.from('x\r\n0\r\n\r\n')]),
        'part',
      ],
      [
        'a compressed body',
        { 'content-length': PART, 'content-encoding': 'gzip' },
        part => part,
        'content-encoding',
      ],
      [
        'a form',
        { 'content-length': PART, 'content-type': formType },
        part => part,
        'content-type',
      ],
    ],
  )('400 for a request with %s', async (_what, headers, body, field) => {
    const { id } = await begun(up(), bytes)
    const start = head(alice, `PUT ${partPath(id, 1)}`, headers)
    const answer = await exchange(
      t.url,
      Buffer.concat([Buffer.from(start), Buffer.from(body(partOf(bytes, 1)))]),
    )
    expect([answer?.status, answer?.response.code, answer?.response.field]).toEqual([
      400,
      'INVALID_INPUT',
      field,
    ])
    expect((await up().look(id)).value.received).toEqual([])
  })

  it('400 for a form instead of the raw part', async () => {
    const { id } = await begun(up(), bytes)
    const body = form([file('part', partOf(bytes, 1))])
    const { status, response } = await alice.rest('PUT', partPath(id, 1), {
      body,
      headers: { 'content-type': formType },
    })
    expect([status, response.field]).toEqual([400, 'content-type'])
  })

  it.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed',
    ';;',
  ])('accepts bytes of any declared type: %s', async type => {
    const { id } = await begun(up(), bytes, { sent: [2] })
    const sent = {
      body: partOf(bytes, 1),
      headers: { 'content-type': type, 'content-encoding': 'identity' },
    }
    expect((await alice.rest('PUT', partPath(id, 1), sent)).status).toBe(200)
    await expectFinished(up(), id, bytes)
  })

  it('accepts a chunked part, and one that waits for 100-continue', async () => {
    const { id } = await begun(up(), bytes)
    const chunks = new Blob([new Uint8Array(partOf(bytes, 1))]).stream()
    expect((await alice.rest('PUT', partPath(id, 1), { body: chunks })).status).toBe(200)
    const wire = await openWire(t.url)
    await wire.send(
      head(alice, `PUT ${partPath(id, 2)}`, { 'content-length': PART, expect: '100-continue' }),
    )
    expect((await wire.answer())?.status).toBe(100)
    await wire.send(partOf(bytes, 2))
    expect((await wire.answer())?.status).toBe(200)
    wire.cut()
    await expectFinished(up(), id, bytes)
  })

  it.each([0, 1, PART / 2, PART - 1])(
    'keeps nothing of a part whose sender disconnects after %i bytes',
    async sent => {
      const { id } = await begun(up(), bytes, { sent: [2] })
      for (const framing of [{ 'content-length': PART }, { 'transfer-encoding': 'chunked' }]) {
        const wire = await openWire(t.url)
        await wire.send(head(alice, `PUT ${partPath(id, 1)}`, framing))
        const chunk = 'content-length' in framing ? '' : `${PART.toString(16)}\r\n`
        await wire.send(Buffer.concat([Buffer.from(chunk), partOf(bytes, 1).subarray(0, sent)]))
        await arrived()
        wire.cut()
        await quiet(t)
      }
      expect((await up().look(id)).value.received).toEqual([2])
      await up().part(id, 1, { bytes: partOf(bytes, 1) })
      await expectFinished(up(), id, bytes)
    },
  )

  it.each([0, 1, PART - 1])(
    'keeps nothing of a GraphQL part whose sender disconnects after %i bytes',
    async sent => {
      const { id } = await begun(up(), bytes, { sent: [2] })
      const operations = JSON.stringify({
        query: 'mutation($input: UploadPartInput!) { uploadPart(input: $input) { size } }',
        variables: { input: { uploadSession: id, number: 1, part: null } },
      })
      const fields = [
        field('operations', operations),
        field('map', '{"0":["variables.input.part"]}'),
      ]
      const whole = form([...fields, file('part', partOf(bytes, 1), '0')])
      const body = whole.subarray(0, whole.indexOf(partOf(bytes, 1)) + sent)
      const wire = await openWire(t.url)
      await wire.send(
        head(alice, 'POST /graphql', { 'content-type': formType, 'content-length': whole.length }),
      )
      await wire.send(body)
      await arrived()
      wire.cut()
      await quiet(t)
      expect((await up().look(id)).value.received).toEqual([2])
    },
  )

  /** Sends half of the first part of an upload, so that the service waits for the rest. */
  async function halfPart(id: string): Promise<Wire> {
    t.statements()
    const wire = await openWire(t.url)
    await wire.send(head(alice, `PUT ${partPath(id, 1)}`, { 'content-length': PART }))
    await wire.send(randomBytes(PART / 2))
    await until(() => t.statements().some(sql => sql.includes('FROM upload_session')))
    // This query returns after the earlier queries of the connection.
    await t.app.db.rows('SELECT id FROM plan')
    return wire
  }

  it('a part in flight does not delay a completion, and arrives too late for it', async () => {
    const { id } = await begun(up(), bytes, { sent: [1, 2] })
    const wire = await halfPart(id)
    const { value } = await up().complete(id)
    expect(value.md5_checksum).toBe(hash('md5', bytes))
    await wire.send(randomBytes(PART / 2))
    expect(await wire.answer()).toMatchObject({
      status: 404,
      response: { code: 'UPLOAD_NOT_FOUND' },
    })
    wire.cut()
    expect(Buffer.concat(await (await t.app.store.open(id)).toArray()).equals(bytes)).toBe(true)
  })

  it('a part in flight is not counted, and leaves no bytes when the upload is cancelled first', async () => {
    const { id } = await begun(up(), bytes, { sent: [2] })
    const wire = await halfPart(id)
    expect((await up().complete(id)).value).toMatchObject({
      code: 'UPLOAD_INCOMPLETE',
      missing: [1],
    })
    await up().abort(id)
    await t.settle()
    await wire.send(randomBytes(PART / 2))
    expect((await wire.answer())?.status).toBe(404)
    wire.cut()
    await t.settle()
    const keys: string[] = []
    for await (const { key } of t.app.store.list()) keys.push(key)
    expect(keys).not.toContain(id)
  })

  it('404 for unusual requests where the route documents no 400', async () => {
    const { id } = await begun(up(), bytes)
    const path = `/api/files/uploads/${id}`
    const odd = ['?upload_id=x&upload_id=y', '?a[b]=c&=&&x', '?limit=-1']
    for (const query of odd)
      expect((await alice.rest('GET', path + query)).response.upload_id).toBe(id)
    for (const text of [
      `${id}%00`,
      '%FF',
      '..%2f',
      `${id}x`,
      id.toUpperCase().replaceAll('-', ''),
      '{}',
    ])
      for (const method of ['GET', 'DELETE']) {
        const { status, response } = await alice.rest(method, `/api/files/uploads/${text}`)
        expect([method, text, status]).toEqual([method, text, 404])
        expect(response.code).toMatch(/^(UPLOAD|ROUTE)_NOT_FOUND$/)
      }
    const body = { body: '{ no JSON', headers: { 'content-type': 'text/plain' } }
    expect((await alice.rest('DELETE', `${path}?x=1`, body)).status).toBe(200)
    expect((await alice.rest('DELETE', `${path}?x=1`, body)).status).toBe(404)
  })

  it('401 without a credential, before a byte is read', async () => {
    const { id } = await begun(up(), bytes)
    const wire = await openWire(t.url)
    await wire.send(head(t.anonymous, `PUT ${partPath(id, 1)}`, { 'content-length': PART }))
    expect((await wire.answer())?.status).toBe(401)
    wire.cut()
  })

  it('401 for a key without the scope', async () => {
    const { id } = await begun(up(), bytes)
    const reads = await privateKey(t, alice, ['private_files:read', 'private_files:delete'])
    for (const answer of [
      await restUploader(reads.caller).start({ filename: 'x', size: 1 }),
      await restUploader(reads.caller).part(id, 1, { bytes: partOf(bytes, 1) }),
      await restUploader(reads.caller).look(id),
      await restUploader(reads.caller).complete(id),
      await restUploader(reads.caller).abort(id),
    ])
      expect([answer.status, answer.code]).toEqual([401, 'INSUFFICIENT_SCOPE'])
  })
})

describe.each(faces.slice(2))('A member who began an upload, $face', ({ face, by }) => {
  leavesNothing()
  const bytes = randomBytes(2 * PART)
  const calls = async (up: Uploader, id: string) =>
    codes([
      await up.part(id, 2, { bytes: partOf(bytes, 2) }),
      await up.look(id),
      await up.complete(id),
      await up.abort(id),
    ])

  it('cannot continue as a viewer or after removal, until the role is restored', async () => {
    const up = by(bob, garden)
    const { id } = await begun(up, bytes, { sent: [1] })
    await join(t, garden, bob, 'viewer')
    expect(await calls(up, id)).toEqual(Array(4).fill('FORBIDDEN'))
    await expel(t, garden, bob)
    // Without a named workspace, its existence is not revealed.
    const refused = face.endsWith('REST') ? 'FORBIDDEN' : 'UPLOAD_NOT_FOUND'
    expect(await calls(up, id)).toEqual(Array(4).fill(refused))
    await join(t, garden, bob, 'editor')
    await up.part(id, 2, { bytes: partOf(bytes, 2) })
    await expectFinished(up, id, bytes)
  })
})

describe('The quota', () => {
  leavesNothing()
  afterEach(() =>
    t.limit({ maxFiles: 10_000, maxFilesWorkspace: 10_000, maxTotalStorageBytes: 5 * 1024 ** 3 }),
  )

  it.each(faces)('refuses one byte or one file too many, $face', async ({ by, front }) => {
    const carol = await t.signIn(`carol-${randomBytes(4).toString('hex')}`)
    const place = await found(carol)
    const up = by(carol, place)
    const suffix = front ? 'Workspace' : ''
    await t.limit({ [`maxTotalStorageBytes${suffix}`]: 3 * PART, [`maxFiles${suffix}`]: 2 })
    const first = await begun(up, randomBytes(2 * PART))
    expect((await up.start({ filename: newName(), size: PART + 1 })).code).toBe('QUOTA_EXCEEDED')
    const second = await begun(up, randomBytes(PART))
    expect((await up.start({ filename: newName(), size: 0 })).code).toBe('QUOTA_EXCEEDED')
    const small = front ? await put(carol, place, 'x', 'x') : await carol.upload('x', 'x')
    expect([small.status, small.response.code]).toEqual([400, 'QUOTA_EXCEEDED'])
    await up.abort(second.id)
    expect((await up.start({ filename: newName(), size: PART + 1 })).code).toBe('QUOTA_EXCEEDED')
    await begun(up, randomBytes(PART))
    await up.abort(first.id)
    await t.limit({
      [`maxTotalStorageBytes${suffix}`]: 5 * 1024 ** 3,
      [`maxFiles${suffix}`]: 10_000,
    })
  })
})

test('An upload of many parts', async () => {
  // Most parts are written into the store directly: uploading them through the service would take a
  // minute.
  const [count, there] = [10_000, 9000]
  const up = restUploader(alice)
  const bytes = randomBytes((count - 1) * PART + 1)
  const { id } = await begun(up, bytes)
  const missing = await up.complete(id)
  expect(missing).toMatchObject({ code: 'UPLOAD_INCOMPLETE', value: { missing_count: count } })
  expect(missing.value.missing).toHaveLength(1000)
  const numbers = Array.from({ length: count }, (_, i) => i + 1).values()
  const work = async () => {
    for (const n of numbers)
      if (n <= there) await stagePart(t.app.store, id, n, partOf(bytes, n))
      else expect((await up.part(id, n, { bytes: partOf(bytes, n) })).code).toBeUndefined()
  }
  await Promise.all(Array.from({ length: 64 }, work))
  const start = performance.now()
  const { value } = await up.look(id)
  expect([value.received.length, value.received.at(-1)]).toEqual([count, count])
  await expectFinished(up, id, bytes)
  // No step of a completion may take time quadratic in the number of parts.
  expect(performance.now() - start).toBeLessThan(45_000)
})
