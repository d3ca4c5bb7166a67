import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { expectConsistent, outlive } from '../../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

/** The number of uploads that are started and never completed. 10,000 take minutes. */
const STARTS = Number(process.env.FILE_REQUEST_STARTS ?? 300)
const AT_ONCE = 20
const KiB = 1024
const MOST_UNFINISHED = 100

let t: TestApp
let alice: Person

beforeAll(async () => {
  // Behind a proxy, so that senders can have many addresses.
  t = await startApp({ TRUST_PROXY: 'loopback', RATE_FILE_REQUEST_UPLOADS: '1000000' })
  alice = await t.signIn('alice')
  await alice.rest('POST', '/api/folders', { json: { path: 'inbox' } })
})
afterAll(() => t.stop())

const usage = async () => {
  const { used_bytes, file_count, folder_count } = (await alice.rest('GET', '/api/user/bucket'))
    .response.bucket_data
  return { used_bytes, file_count, folder_count }
}

it(`A request under attack by ${STARTS} senders keeps its limits and the exact quota, and is cleaned up`, async () => {
  const made = async (json: object) =>
    (
      await alice.rest('POST', '/api/file_requests', {
        json: { folder: 'inbox', label: 'x', ...json },
      })
    ).response
  const open = await made({ max_bytes: 8 * 1024 * KiB })
  const guarded = await made({ password: 'summit at dawn' })
  await alice.upload('own.txt', 'mine')
  const before = await usage()
  const begun = Date.now()
  const counts = new Map<string, number>()
  const note = (
    what: string,
    { status, response }: { status: number; response?: { code?: string } },
  ) => {
    const key = `${what} ${status} ${response?.code ?? ''}`.trim()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  /**
   * A sender with its own address: starts an upload, and then sends false sizes, path traversals or
   * password guesses.
   */
  async function attack(i: number): Promise<void> {
    const headers = { 'x-forwarded-for': `10.${i >> 8}.${i & 255}.1` }
    const at = (path: string, token = open.token) => `/api/request/${token}/${path}`
    const first = await t.anonymous.rest('POST', at('uploads'), {
      json: { filename: `${i}`, size: 16 * KiB },
      headers,
    })
    note('start', first)
    if (i % 5 === 0 && first.status === 200) {
      const { upload_id, sender } = first.response
      const own = { ...headers, 'x-sender-token': sender }
      const body = 'x'.repeat(17 * KiB)
      note(
        'lie',
        await t.anonymous.rest('PUT', at(`uploads/${upload_id}/parts/1`), { body, headers: own }),
      )
      note(
        'early',
        await t.anonymous.rest('POST', at(`uploads/${upload_id}/complete`), {
          json: {},
          headers: own,
        }),
      )
    }
    if (i % 5 === 1)
      note(
        'climb',
        await t.anonymous.rest('POST', at('uploads'), {
          json: { filename: `../${i}`, size: 1 },
          headers,
        }),
      )
    if (i % 5 === 2) {
      // Many addresses of one network.
      const near = { 'x-forwarded-for': `172.16.0.${i & 255}` }
      const json = { password: `${i}` }
      note(
        'guess',
        await t.anonymous.rest('POST', at('enter', guarded.token), { json, headers: near }),
      )
    }
    if (i % 5 === 3)
      note(
        'start guarded',
        await t.anonymous.rest('POST', at('uploads', guarded.token), {
          json: { filename: 'a', size: 1 },
          headers,
        }),
      )
  }

  for (let from = 0; from < STARTS; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, STARTS - from) }, (_, i) => attack(from + i)),
    )

  const fifth = (rest: number) => Math.floor((STARTS - rest + 4) / 5)
  const of = (what: string) => counts.get(what) ?? 0
  expect(of('start 200')).toBe(Math.min(STARTS, MOST_UNFINISHED))
  expect(of('start 200') + of('start 429 RATE_LIMITED')).toBe(STARTS)
  expect(of('climb 400 INVALID_PATH')).toBe(fifth(1))
  expect(of('guess 403 WRONG_PASSWORD') + of('guess 403 TOO_MANY_ATTEMPTS')).toBe(fifth(2))
  // A network may guess 40 times in a quarter of an hour with any number of addresses, and then
  // once a minute.
  expect(of('guess 403 WRONG_PASSWORD')).toBeLessThanOrEqual(
    40 + Math.ceil((Date.now() - begun) / 15_000),
  )
  expect(of('start guarded 401 PASSWORD_REQUIRED')).toBe(fifth(3))
  expect([...counts.keys()].filter(key => /^(lie|early) 200|5\d\d/.test(key))).toEqual([])

  // The owner can still upload, and the reservation matches the request.
  expect((await alice.upload('own-2.txt', 'mine, too')).status).toBe(200)
  const row = async () => {
    const [found] = await t.app.db.rows<Record<string, number>>(
      `SELECT files, bytes, reserved_files AS "reservedFiles", reserved_bytes AS "reservedBytes" FROM file_request WHERE label = 'x' AND password_hash IS NULL`,
    )
    return found
  }
  const held = Math.min(STARTS, MOST_UNFINISHED)
  expect(await row()).toEqual({
    files: 0,
    bytes: 0,
    reservedFiles: held,
    reservedBytes: held * 16 * KiB,
  })
  await outlive(t)
  expect(await row()).toEqual({ files: 0, bytes: 0, reservedFiles: 0, reservedBytes: 0 })
  expect(await t.app.db.rows('SELECT id FROM file_request_upload')).toEqual([])
  expect(await t.app.db.rows('SELECT id FROM upload_session')).toEqual([])
  await alice.rest('DELETE', '/api/files/delete?file=own-2.txt')
  expect(await usage()).toEqual(before)
  await expectConsistent(t)
}, 1_800_000)
