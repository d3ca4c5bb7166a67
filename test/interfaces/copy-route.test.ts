import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import type { CopyState } from '../../db/models/entry-copy.ts'
import { restSchema } from '../../schema/rest/index.ts'
import { clamp } from '../../src/http/envelope.ts'
import { exampleError } from '../../src/openapi/errors.ts'
import { routesOf } from '../../src/rest/routes.ts'
import { type ErrorCode, naturalStatus } from '../../src/runtime/errors.ts'
import { driveOf, found, ROOMY, UNHURRIED } from '../support/builders.ts'
import { plantForest } from '../support/forest.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person
let garden: string

beforeAll(async () => {
  t = await startApp(UNHURRIED)
  await t.limit({ ...ROOMY, maxFiles: 100_000, maxFolders: 100_000, maxTotalStorageBytes: 1e9 })
  alice = await t.signIn('alice')
  garden = await found(alice)
})
afterAll(() => t.stop())

describe('A copy of many entries, by REST', () => {
  it('is 202 until it has ended, also of a share', async () => {
    const { files, folders, bytes } = await plantForest(alice, 'forest')
    const begun = { entry_count: files + folders, size: bytes, copy_id: expect.any(String) }
    const copy = { entries: ['forest'], folder: 'copies' }
    const { sharing_token } = (
      await alice.rest('POST', '/api/folders/quick_share', { json: { path: 'forest' } })
    ).response
    for (const [path, json] of [
      ['/api/copies', copy],
      [`/api/share/save/${sharing_token}`, { folder: 'saved' }],
    ] as const) {
      const { status, response, headers } = await alice.rest('POST', path, { json })
      expect([status, response]).toEqual([202, expect.objectContaining(begun)])
      const location = `/api/copies/${response.copy_id}`
      expect(headers.get('location')).toBe(location)
      expect((await alice.rest('GET', location)).status).toBe(202)
      await t.app.worker.idle()
      expect((await alice.rest('GET', location)).response).toEqual({
        copies: [{ id: expect.any(String), path: `${json.folder}/forest` }],
      })
    }
  })
})

/** The error of a failed copy, with the details that the document promises. */
function failureOf(code: ErrorCode) {
  const { msg: message, response } = exampleError(400, [code]) as RestAnswer
  const { code: _code, ...details } = response
  return { code, message, details }
}

it('A copy that fails later reports the same details as one that fails at once', async () => {
  const copy = { entries: ['forest'], folder: 'taken' }
  const { response } = await alice.rest('POST', '/api/copies', { json: copy })
  await alice.upload('taken/forest', 'a file of this name')
  await t.app.worker.idle()
  const later = await alice.rest('GET', `/api/copies/${response.copy_id}`)
  expect([later.status, later.response]).toEqual([
    409,
    { code: 'PATH_EXISTS', path: 'taken/forest' },
  ])
  const { status, response: now } = await alice.rest('POST', '/api/copies', { json: copy })
  expect([status, now]).toEqual([later.status, later.response])
})

describe.each(['/api', '/api/workspaces/{workspace_id}'])('GET %s/copies/{copy_id}', base => {
  const route = routesOf(restSchema).find(
    ({ method, path }) => method === 'GET' && path === `${base}/copies/{copy_id}`,
  )
  const statuses = route?.statuses ?? []

  /** A background copy in this state. */
  async function look(state: CopyState, code?: ErrorCode) {
    const [id, now] = [newId(), Date.now()]
    const failure = code && JSON.stringify(failureOf(code))
    const bucketId = await driveOf(alice, base === '/api' ? undefined : garden)
    await t.app.db.run(
      "INSERT INTO entry_copy (id, user_id, bucket_id, state, plan, failure, created_at, ended_at) VALUES (?, ?, ?, ?, '{}', ?, ?, ?)",
      [id, alice.userId, bucketId, state, failure ?? null, now, state === 'copying' ? null : now],
    )
    return alice.rest('GET', `${base.replace('{workspace_id}', garden)}/copies/${id}`)
  }

  it('is 202 while the copy runs', async () => {
    expect((await look('copying')).status).toBe(202)
  })

  it.each(route?.fails ?? [])('returns %s if the copy failed with it', async code => {
    const { status, response } = await look('failed', code)
    const { details } = failureOf(code)
    expect(response).toEqual({ code, ...details })
    expect(status).toBe(clamp(naturalStatus[code], code, statuses))
  })
})
