import { createHash, randomBytes } from 'node:crypto'
import { expect } from '@jest/globals'
import { expectConsistent } from './consistency.ts'
import { type Person, type RestAnswer, rest, type TestApp } from './harness.ts'
import { until } from './until.ts'
import { BOUNDARY, file, form, formType, head, openWire } from './wire.ts'

/** The time limit for every response, whatever is down. */
export const LIMIT = 15_000

export const CREATE_FOLDER =
  'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }'
/** The variables of CREATE_FOLDER. */
export const folderInput = (path: string) => ({ input: { at: { path } } })

export const UPLOAD =
  'mutation ($input: UploadFileInput!) { uploadFile(input: $input) { file { id } } }'

/** The outcome and the duration of a request. */
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
  // 503 if the outage is detected before the operation begins: docs/contract.md, section 6.
  expect([200, 503]).toContain(answer.status)
  expect(answer.code).toBe(code)
  expect(answer.errors?.[0]?.extensions.retry_after).toBeGreaterThan(0)
  expect(ms).toBeLessThan(LIMIT)
}

/** /readyz names the failed part, and /healthz stays healthy. */
export async function expectUnready(t: TestApp, part: 'database' | 'blob_store'): Promise<void> {
  // A result of /readyz is cached for half a second.
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

/** Expects that the service recovers by itself within a few seconds. */
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

/** An upload that sends its second half when the test calls for it. */
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

/** A multipart upload of three parts. The first part has arrived. */
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
    /**
     * Resumes the upload with the parts that were not accepted, and checks that nothing was lost.
     */
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
