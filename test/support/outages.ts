import { createHash, randomBytes } from 'node:crypto'
import { expect } from '@jest/globals'
import { expectConsistent } from './consistency.ts'
import { type Person, type RestAnswer, rest, type TestApp } from './harness.ts'
import { until } from './until.ts'
import { BOUNDARY, file, form, formType, head, openWire } from './wire.ts'

/** Within which every answer must be there, whatever is dead. */
export const LIMIT = 15_000

export const CREATE_FOLDER =
  'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }'
/** The variables of CREATE_FOLDER. */
export const folderInput = (path: string) => ({ input: { at: { path } } })

export const UPLOAD =
  'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { id } } }'

/** What a request came to, and how long that took. */
export async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - start }
}

export async function expectUnavailable(
  request: Promise<RestAnswer>,
  code = 'UNAVAILABLE',
): Promise<void> {
  const { answer, ms } = await timed(request)
  expect([answer.status, answer.response.code]).toEqual([503, code])
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(ms).toBeLessThan(LIMIT)
}

export async function expectUnavailableByGraphql(
  request: ReturnType<Person['graphql']>,
  code = 'UNAVAILABLE',
): Promise<void> {
  const { answer, ms } = await timed(request)
  // 503 where the outage is found before the operation begins: docs/contract.md, section 6.
  expect([200, 503]).toContain(answer.status)
  expect(answer.code).toBe(code)
  expect(answer.errors?.[0]?.extensions.retry_after).toBeGreaterThan(0)
  expect(ms).toBeLessThan(LIMIT)
}

/** /readyz says which part it is, /healthz does not mind. */
export async function expectUnready(t: TestApp, part: 'database' | 'blob_store'): Promise<void> {
  // An answer serves others for half a second.
  const ready = await until(async () => {
    const asked = await timed(rest(t.url, 'GET', '/readyz'))
    return asked.answer.status === 503 && asked
  })
  expect(ready.answer.response).toEqual({
    code: 'UNAVAILABLE',
    database: 'ok',
    blob_store: 'ok',
    [part]: 'unavailable',
  })
  expect(ready.answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(ready.ms).toBeLessThan(LIMIT)
  expect((await rest(t.url, 'GET', '/healthz')).status).toBe(200)
}

/** The service is well again within some seconds, and no one had to do anything. */
export async function expectRecovery(t: TestApp, person: Person): Promise<void> {
  await until(async () => (await rest(t.url, 'GET', '/readyz')).status === 200, 8000, 50)
  const name = randomBytes(6).toString('hex')
  expect((await person.upload(`recovered/${name}`, name)).status).toBe(200)
  expect(
    (await person.graphql(CREATE_FOLDER, folderInput(`recovered/folder-${name}`))).code,
  ).toBeUndefined()
  expect(
    (await person.rest('GET', '/api/files/tree?path=recovered')).response.files.length,
  ).toBeGreaterThan(0)
}

export const folderAt = (person: Person, path: string) =>
  person.rest('POST', '/api/folders', { json: { path } })

/** An upload of which the second half is sent when the test says so. */
export async function halfUpload(t: TestApp, person: Person, name: string, bytes: Uint8Array) {
  const wire = await openWire(t.url)
  const body = form([file(name, bytes)])
  const start = head(person, 'POST /api/files/upload', {
    'content-type': formType,
    'content-length': body.length,
  })
  await wire.send(start)
  await wire.send(body.subarray(0, body.length / 2))
  return {
    rest: () => wire.send(body.subarray(body.length / 2)),
    answer: () => wire.answer(),
    boundary: BOUNDARY,
  }
}

export const PART = 1024

/** An upload in three parts, of which the first has arrived. */
export async function inParts(t: TestApp, person: Person) {
  const [base, bytes] = ['/api/files/uploads', randomBytes(2 * PART + 1)]
  const filename = randomBytes(6).toString('hex')
  const begun = await person.rest('POST', base, { json: { filename, size: bytes.length } })
  const at = `${base}/${begun.response.upload_id}`
  const part = (n: number) =>
    person.rest('PUT', `${at}/parts/${n}`, { body: bytes.subarray((n - 1) * PART, n * PART) })
  const complete = () => person.rest('POST', `${at}/complete`, { json: {} })
  expect((await part(1)).status).toBe(200)
  return {
    part,
    complete,
    /** Goes on where it was, with what had not been taken; nothing was lost meanwhile. */
    async resume(): Promise<void> {
      const look = async () => (await person.rest('GET', at)).response.received
      expect(await look()).toEqual([1])
      for (const n of [2, 3]) expect((await part(n)).status).toBe(200)
      await this.finish()
    },
    async finish(): Promise<void> {
      const { status, response } = await complete()
      const md5_checksum = createHash('md5').update(bytes).digest('hex')
      expect([status, response]).toMatchObject([200, { file_name: filename, md5_checksum }])
      expect((await person.rest('DELETE', `/api/files/delete?file=${filename}`)).status).toBe(200)
      await expectConsistent(t)
    },
  }
}

export const isStaged = (t: TestApp) => async () =>
  (await t.app.db.rows("SELECT id FROM blobs WHERE state = 'staged'")).length > 0
