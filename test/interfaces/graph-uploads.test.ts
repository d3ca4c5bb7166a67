import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import { StoreRefusal } from '../../src/storage/store.ts'
import { driveOf, found, join, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent, outlive } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'
import { gateOf, type StoreGate } from '../support/store-gate.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Anything = any

const PART = 1024
const LIMITS = {
  ...ROOMY,
  maxFileSizeBytes: 1024 ** 2,
  maxTotalStorageBytes: 1024 ** 3,
  maxTotalStorageBytesWorkspace: 1024 ** 3,
  maxFolders: 1000,
  maxWorkspaceFolders: 1000,
}

let t: TestApp
let alice: Person
let bob: Person
let carol: Person
let garden: string
let gate: StoreGate

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, UPLOAD_PART_BYTES: String(PART) })
  await t.limit(LIMITS)
  gate = gateOf(t.app.store)
  ;[alice, bob, carol] = await Promise.all([t.signIn('alice'), t.signIn('bob'), t.signIn('carol')])
  garden = await found(alice)
  await join(t, garden, bob, 'editor')
  await join(t, garden, carol, 'viewer')
})
afterAll(async () => {
  await outlive(t)
  await expectConsistent(t)
  await t.stop()
})

const refusal = async (asked: ReturnType<Person['graphql']>) =>
  (await asked).errors?.[0]?.extensions

async function answer(asked: ReturnType<Person['graphql']>): Promise<Anything> {
  const { data, errors } = await asked
  expect(errors).toBeUndefined()
  return data
}

const SESSION = 'id fileName folder size chunkSize partCount received direct expiresAt drive { id }'
const START = `mutation ($input: StartUploadInput!) { startUpload(input: $input) { uploadSession { ${SESSION} parts { number url } } } }`
const SEND = `mutation ($input: UploadPartInput!) { uploadPart(input: $input) { number size uploadSession { ${SESSION} } } }`
const COMPLETE = `mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) {
  completedId file { path size md5 contentType createdBy { id } } folder { path fileCount } drive { id } } }`
const ABORT =
  'mutation ($input: AbortUploadInput!) { abortUpload(input: $input) { abortedId drive { id } } }'
const FIND = `query ($id: ID!) { node(id: $id) { ... on UploadSession { ${SESSION} } } }`

const hash = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')

let files = 0
const newName = () => `file-${++files}.bin`

describe.each([
  { kind: 'one’s own drive', front: '' },
  { kind: 'the drive of a workspace', front: '/' },
])('A multipart upload to $kind', ({ front }) => {
  const isWorkspace = front === '/'
  let drive: string | undefined
  const bytes = randomBytes(PART + 5)

  beforeAll(async () => {
    drive = isWorkspace ? await driveOf(alice, garden) : undefined
  })

  const start = (input: object = {}, person = alice) =>
    person.graphql(START, { input: { drive, fileName: newName(), size: bytes.length, ...input } })
  const begun = async (input: object = {}) => (await answer(start(input))).startUpload.uploadSession
  const send = (
    uploadSession: string,
    number: number,
    { md5, body, person = alice }: Anything = {},
  ) =>
    person.graphql(
      SEND,
      { input: { uploadSession, number, part: null, md5 } },
      new File([body ?? bytes.subarray((number - 1) * PART, number * PART)], 'part'),
    )
  const sent = async (input?: object) => {
    const session = await begun(input)
    for (const number of [1, 2]) await answer(send(session.id, number))
    return session
  }
  const complete = (uploadSession: string, input: object = {}, person = alice) =>
    person.graphql(COMPLETE, { input: { uploadSession, ...input } })
  const abort = (uploadSession: string, person = alice) =>
    person.graphql(ABORT, { input: { uploadSession } })
  const find = async (id: string, person = alice) =>
    (await answer(person.graphql(FIND, { id }))).node

  it('is the same node from its beginning to its end', async () => {
    const fileName = newName()
    const session = await begun({
      fileName,
      folder: 'new/place',
      contentType: 'application/x-thing',
    })
    const { parts, ...shown } = session
    expect([parts, shown]).toEqual([
      null,
      {
        id: expect.any(String),
        fileName,
        folder: `${front}new/place`,
        size: bytes.length,
        chunkSize: PART,
        partCount: 2,
        received: [],
        direct: false,
        expiresAt: aTime,
        drive: { id: drive ?? (await driveOf(alice)) },
      },
    ])
    const { uploadPart } = await answer(send(session.id, 2))
    expect(uploadPart).toEqual({
      number: 2,
      size: 5,
      uploadSession: { ...shown, received: [2], expiresAt: uploadPart.uploadSession.expiresAt },
    })
    await answer(send(session.id, 1))
    expect((await find(session.id)).received).toEqual([1, 2])
    const digests = { md5: hash('md5', bytes), sha256: hash('sha256', bytes) }
    expect((await answer(complete(session.id, digests))).completeUpload).toEqual({
      completedId: session.id,
      file: {
        path: `${front}new/place/${fileName}`,
        size: bytes.length,
        md5: digests.md5,
        contentType: 'application/x-thing',
        createdBy: { id: alice.userId },
      },
      folder: { path: `${front}new/place`, fileCount: expect.any(Number) },
      drive: shown.drive,
    })
    expect(await find(session.id)).toBeNull()
  })

  it('may be completed under another name and in another folder', async () => {
    const { id } = await sent({ folder: 'planned' })
    const fileName = newName()
    const { completeUpload } = await answer(complete(id, { fileName, folder: 'another' }))
    expect(completeUpload.file.path).toBe(`${front}another/${fileName}`)
  })

  it('goes directly to the store on request', async () => {
    const { id, parts, direct } = await begun({ direct: true })
    expect([direct, parts.map(({ number }: { number: number }) => number)]).toEqual([true, [1, 2]])
    for (const { number, url } of parts) {
      const body = bytes.subarray((number - 1) * PART, number * PART)
      expect(
        (await fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> })).status,
      ).toBe(201)
    }
    expect((await answer(complete(id))).completeUpload.file.md5).toBe(hash('md5', bytes))
  })

  it('is refused at the start if it cannot succeed', async () => {
    const taken = (await answer(complete((await sent()).id))).completeUpload.file.path
    expect(await refusal(start({ fileName: taken.replace('/', '') }))).toEqual({
      code: 'PATH_EXISTS',
      path: taken,
    })
    for (const [input, field] of [
      [{ fileName: 'a/b' }, 'input.fileName'],
      [{ fileName: 'back\\slash.txt' }, 'input.fileName'],
      [{ fileName: '..' }, 'input.fileName'],
      [{ folder: 'a//b' }, 'input.folder'],
    ] as const)
      expect(await refusal(start(input))).toEqual({ code: 'INVALID_PATH', field })
    expect(await refusal(start({ size: -1 }))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(start({ size: LIMITS.maxFileSizeBytes + 1 }))).toMatchObject({
      code: 'FILE_TOO_LARGE',
      max: LIMITS.maxFileSizeBytes,
    })
    await t.limit({ maxTotalStorageBytes: 1, maxTotalStorageBytesWorkspace: 1 })
    expect(await refusal(start())).toMatchObject({ code: 'QUOTA_EXCEEDED', max: 1 })
    await t.limit(LIMITS)
  })

  it('accepts only the bytes of its parts', async () => {
    const { id } = await begun()
    for (const number of [0, 3])
      expect((await send(id, number, { body: 'x' })).code).toBe('INVALID_INPUT')
    expect(await refusal(send(id, 2, { body: 'four' }))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.part',
    })
    expect((await send(id, 2, { md5: 'no digest' })).code).toBe('INVALID_INPUT')
    const md5 = createHash('md5').update('else').digest('base64')
    expect((await send(id, 2, { md5 })).code).toBe('CHECKSUM_MISMATCH')
    expect((await find(id)).received).toEqual([])
    await answer(abort(id))
  })

  it('becomes a file only when all conditions hold', async () => {
    const { id } = await begun({ folder: 'right' })
    await answer(send(id, 2))
    expect(await refusal(complete(id))).toMatchObject({ code: 'UPLOAD_INCOMPLETE', missing: [1] })
    await answer(send(id, 1))
    expect((await complete(id, { md5: hash('md5', Buffer.from('else')) })).code).toBe(
      'CHECKSUM_MISMATCH',
    )
    expect(await refusal(complete(id, { sha256: 'x' }))).toEqual({
      code: 'INVALID_INPUT',
      field: 'input.sha256',
    })
    expect(await refusal(complete(id, { folder: '..' }))).toEqual({
      code: 'INVALID_PATH',
      field: 'input.folder',
    })
    const taken = (await answer(complete((await sent()).id))).completeUpload.file.path
    expect(await refusal(complete(id, { folder: '/', fileName: taken.replace('/', '') }))).toEqual({
      code: 'PATH_EXISTS',
      path: taken,
    })
    await t.limit({ maxFolders: 0, maxWorkspaceFolders: 0 })
    expect((await complete(id, { folder: newName() })).code).toBe('QUOTA_EXCEEDED')
    await t.limit(LIMITS)
    expect((await complete(id)).code).toBeUndefined()
  })

  it('reports that the store received other bytes than its parts', async () => {
    const { id } = await begun()
    // Simulates parts whose URLs lead to an external store.
    const writable = (until: number) =>
      t.app.db.run('UPDATE upload_session SET writable_until = ? WHERE id = ?', [until, id])
    await writable(Date.now() + 60_000)
    gate.interfere = kind => {
      if (kind === 'part') throw new StoreRefusal(400, 'blocks of another kind')
    }
    try {
      expect((await send(id, 1)).code).toBe('UPLOAD_INCOMPLETE')
    } finally {
      gate.interfere = () => {}
      await writable(0)
    }
    await answer(abort(id))
  })

  it('is left alone while it is being completed', async () => {
    const { id } = await sent()
    await t.app.db.run("UPDATE upload_session SET claim = 'x', claim_until = ? WHERE id = ?", [
      Date.now() + 60_000,
      id,
    ])
    expect((await complete(id)).code).toBe('UPLOAD_BUSY')
    expect((await send(id, 1)).code).toBe('UPLOAD_BUSY')
    await t.app.db.run('UPDATE upload_session SET claim_until = 0 WHERE id = ?', [id])
    expect((await complete(id)).code).toBeUndefined()
  })

  it('ends when it is cancelled', async () => {
    const { id, drive: where } = await sent()
    expect((await answer(abort(id))).abortUpload).toEqual({ abortedId: id, drive: where })
    for (const gone of [id, newId(), 'nonsense', '🦊']) {
      for (const asked of [send(gone, 1), complete(gone), abort(gone)])
        expect((await asked).code).toBe('UPLOAD_NOT_FOUND')
      expect(await find(gone)).toBeNull()
    }
  })

  it('belongs to its creator, who needs write access', async () => {
    const { id } = await sent()
    for (const [asked, code] of [
      [start({}, t.anonymous), 'UNAUTHENTICATED'],
      [send(id, 1, { person: t.anonymous }), 'UNAUTHENTICATED'],
      [complete(id, {}, t.anonymous), 'UNAUTHENTICATED'],
      [abort(id, t.anonymous), 'UNAUTHENTICATED'],
      [send(id, 1, { person: bob }), 'UPLOAD_NOT_FOUND'],
      [complete(id, {}, bob), 'UPLOAD_NOT_FOUND'],
      [abort(id, bob), 'UPLOAD_NOT_FOUND'],
      [start({}, carol), isWorkspace ? 'FORBIDDEN' : undefined],
      [complete(id, {}, carol), isWorkspace ? 'FORBIDDEN' : 'UPLOAD_NOT_FOUND'],
    ] as const)
      expect((await asked).code).toBe(code)
    expect([await find(id, bob), (await t.anonymous.graphql(FIND, { id })).code]).toEqual([
      null,
      'UNAUTHENTICATED',
    ])
    expect((await complete(id)).code).toBeUndefined()
  })
})
