import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pLimit from 'p-limit'
import { expel, found, join } from '../support/builders.ts'
import { expectConsistent, outlive, quiet } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { restUploader, type Uploader } from '../support/uploader.ts'
import { head, openWire, type Wire } from '../support/wire.ts'

const PART = 1024
const SIZE = 2 * PART

let t: TestApp
let people = 0

beforeAll(async () => {
  t = await startApp({ UPLOAD_PART_BYTES: String(PART) })
})
afterAll(() => t.stop())

const somebody = () => t.signIn(`person${++people}`)

/**
 * An upload whose first part is stored, and whose second part is in flight. Sent one after the
 * other, so that the statements of each are known.
 */
const underWay: typeof begin = (...upload) => oneByOne(() => begin(...upload))
const oneByOne = pLimit(1)

async function begin(who: Person, { workspace = '', direct = false } = {}) {
  const up = restUploader(who, workspace || undefined)
  const { value } = await up.start({ filename: randomBytes(4).toString('hex'), size: SIZE, direct })
  await up.part(value.upload_id, 1, { bytes: randomBytes(PART) })
  const base = workspace ? `/api/workspaces/${workspace}/files/uploads` : '/api/files/uploads'
  t.statements()
  const wire = await openWire(t.url)
  await wire.send(head(who, `PUT ${base}/${value.upload_id}/parts/2`, { 'content-length': PART }))
  await wire.send(randomBytes(PART / 2))
  await until(() => t.statements().some(sql => sql.includes('FROM upload_session')))
  // The service responds to one request before the next is sent.
  await t.app.db.rows('SELECT id FROM plan')
  return { up, id: value.upload_id as string, wire }
}

/** Sends the rest of a part. Returns the outcome. */
async function arrive(wire: Wire): Promise<string | undefined> {
  await wire.send(randomBytes(PART / 2))
  const answer = await wire.answer()
  wire.cut()
  return answer?.response?.code ?? `${answer?.status}`
}

const callsOf = async (up: Uploader, id: string) => [
  (await up.look(id)).code,
  (await up.part(id, 2, { bytes: randomBytes(PART) })).code,
  (await up.complete(id)).code,
  (await up.abort(id)).code,
]

const reservedIn = async (workspace: string) => {
  const [row] = await t.app.db.rows<{ bytes: number; files: number }>(
    'SELECT reserved_bytes AS bytes, reserved_files AS files FROM bucket WHERE workspace_id = ?',
    [workspace],
  )
  return row
}

async function expectNothingLeft(): Promise<void> {
  await quiet(t)
  await expectConsistent(t)
  await outlive(t)
  await expectConsistent(t)
  expect(await t.app.db.rows("SELECT id FROM blobs WHERE state <> 'live'")).toEqual([])
  expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
  expect(
    await t.app.db.rows('SELECT id FROM bucket WHERE reserved_bytes <> 0 OR reserved_files <> 0'),
  ).toEqual([])
  expect(t.failures()).toEqual([])
}

describe('Uploads in progress', () => {
  it('are removed with their workspace', async () => {
    const [alice, bob] = [await somebody(), await somebody()]
    const workspace = await found(alice)
    await join(t, workspace, bob, 'editor')
    const uploads = await Promise.all(
      [alice, bob].flatMap(who =>
        [false, true].map(direct => underWay(who, { workspace, direct })),
      ),
    )
    await alice.rest('DELETE', `/api/workspaces/delete?workspace_id=${workspace}`)
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
    for (const { up, id, wire } of uploads) {
      expect(await arrive(wire)).toBe('UPLOAD_NOT_FOUND')
      expect(await callsOf(up, id)).toEqual(Array(4).fill('FORBIDDEN'))
    }
    await expectNothingLeft()
  })

  it('are removed with their account', async () => {
    const alice = await somebody()
    const uploads = [await underWay(alice), await underWay(alice, { direct: true })]
    await alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } })
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
    for (const { up, id, wire } of uploads) {
      expect(await arrive(wire)).toBe('UPLOAD_NOT_FOUND')
      expect(await callsOf(up, id)).toEqual(Array(4).fill('UNAUTHENTICATED'))
    }
    await expectNothingLeft()
  })

  it('of an account whose files are kept cannot be resumed, and are removed within a day', async () => {
    const alice = await somebody()
    const uploads = [await underWay(alice), await underWay(alice, { direct: true })]
    await alice.upload('kept.txt', 'kept')
    await alice.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: false } })
    await t.settle()
    for (const { wire } of uploads) expect(await arrive(wire)).toBe('200')
    const again = await t.signIn(alice.email)
    expect((await again.rest('GET', '/api/files/tree')).response.files).toHaveLength(1)
    for (const { id } of uploads)
      expect(await callsOf(restUploader(again), id)).toEqual(Array(4).fill('UPLOAD_NOT_FOUND'))
    expect((await again.upload('more.txt', 'more')).status).toBe(200)
    await expectNothingLeft()
    expect((await again.rest('GET', '/api/user/bucket')).response.bucket_data.used_bytes).toBe(8)
  })

  it.each<[string, (workspace: string, who: Person) => Promise<unknown>]>([
    ['was removed', (workspace, who) => expel(t, workspace, who)],
    [
      'has no account any more',
      (_workspace, who) =>
        who.rest('DELETE', '/api/user/account/delete', { json: { delete_user_data: true } }),
    ],
  ])(
    'of a member who %s hold their place in the workspace for a day at most',
    async (_how, end) => {
      const [alice, bob] = [await somebody(), await somebody()]
      const workspace = await found(alice)
      await join(t, workspace, bob, 'editor')
      for (const direct of [false, true]) (await underWay(bob, { workspace, direct })).wire.cut()
      await end(workspace, bob)
      await quiet(t)
      await expectConsistent(t)
      expect(await reservedIn(workspace)).toEqual({ bytes: 2 * SIZE, files: 2 })
      await expectNothingLeft()
      expect(await reservedIn(workspace)).toEqual({ bytes: 0, files: 0 })
    },
  )
})
