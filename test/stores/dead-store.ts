import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { expectConsistent, findingsOf } from '../support/consistency.ts'
import { type Person, rest, startApp, type TestApp } from '../support/harness.ts'
import {
  expectRecovery,
  expectUnavailable,
  expectUnavailableByGraphql,
  expectUnready,
  folderAt,
  halfUpload,
  inParts,
  isStaged,
  LIMIT,
  PART,
  timed,
  UPLOAD,
} from '../support/outages.ts'
import { until } from '../support/until.ts'

const MiB = 1024 * 1024

/** A store that can die and restart with its data. */
export interface Mortal {
  /** The settings of a service that uses it. */
  settings: Record<string, string>
  pid(): number
  end(): Promise<void>
  begin(): Promise<void>
  /** Removes it for good. */
  stop(): Promise<void>
}

/** The behaviour of a service during an outage of its store, for every kind of store. */
export function describeDeadStore(start: () => Promise<Mortal>): void {
  let store: Mortal
  let t: TestApp
  let alice: Person

  beforeAll(async () => {
    store = await start()
    t = await startApp({
      ...store.settings,
      TRASH_DAYS: '0',
      LEASE_SECONDS: '2',
      UPLOAD_PART_BYTES: String(PART),
      DOWNLOADS: 'proxy',
    })
    alice = await t.signIn('alice')
  })
  afterAll(async () => {
    await t.stop()
    await store.stop()
  })

  /** Operations that need the bytes fail, and all others succeed. */
  async function expectNoBytes(): Promise<void> {
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'before/a.txt' },
    })
    await Promise.all([
      expectUnready(t, 'blob_store'),
      expectUnavailable(alice.upload('never.txt', 'never')),
      expectUnavailableByGraphql(
        alice.graphql(UPLOAD, { input: { file: null } }, new File(['never'], 'never.txt')),
      ),
      expectUnavailable(rest(t.url, 'GET', `/api/d/${response.sharing_token}`)),
    ])
    expect((await alice.rest('GET', '/api/files/tree?path=before')).response.files).toHaveLength(2)
    expect((await folderAt(alice, `while-away-${randomBytes(4).toString('hex')}`)).status).toBe(200)
    const { response: bucket } = await alice.rest('GET', '/api/user/bucket')
    expect(bucket.bucket_data.used_bytes).toBe(6)
  }

  it('that is down causes a quick 503 by REST and GraphQL, and recovers', async () => {
    await alice.upload('before/a.txt', 'abc')
    await alice.upload('before/b.txt', 'abc')
    await store.end()
    await expectNoBytes()
    await expectUnavailable(alice.upload('never-large', randomBytes(9 * MiB)))
    // A deletion does not need the store: the bytes are deleted when the store is back.
    expect((await alice.rest('DELETE', '/api/files/delete?file=before/b.txt')).status).toBe(200)
    await t.settle()
    await store.begin()
    await expectRecovery(t, alice)
    await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'deleting'")
    await expectConsistent(t)
  })

  it('that dies during an upload causes a 503, and leaves nothing behind', async () => {
    const upload = await halfUpload(t, alice, 'never-half', randomBytes(20 * MiB))
    await until(isStaged(t))
    await store.end()
    await upload.rest()
    const { answer, ms } = await timed(upload.answer())
    expect([answer?.status, answer?.response.code]).toEqual([503, 'UNAVAILABLE'])
    expect(ms).toBeLessThan(LIMIT)
    await store.begin()
    await expectRecovery(t, alice)
    await expectConsistent(t)
    expect((await alice.rest('GET', '/api/files/tree')).response.files).toEqual([])
  })

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['is gone', () => store.end(), () => store.begin()],
    [
      'hangs',
      async () => process.kill(store.pid(), 'SIGSTOP'),
      async () => process.kill(store.pid(), 'SIGCONT'),
    ],
  ])(
    'that %s causes a 503 for a multipart upload, which can be resumed',
    async (_how, die, revive) => {
      const upload = await inParts(t, alice)
      await die()
      try {
        await Promise.all([expectUnavailable(upload.part(2)), expectUnavailable(upload.complete())])
        // Creating and aborting another upload does not need the store.
        const { response } = await alice.rest('POST', '/api/files/uploads', {
          json: { filename: 'other', size: 5 },
        })
        expect(
          (await alice.rest('DELETE', `/api/files/uploads/${response.upload_id}`)).status,
        ).toBe(200)
      } finally {
        await revive()
      }
      await expectRecovery(t, alice)
      for (const n of [2, 3]) expect((await upload.part(n)).status).toBe(200)
      await upload.finish()
    },
  )

  it('that hangs causes a quick 503 for small files and downloads, and recovers', async () => {
    await alice.upload('before/b.txt', 'abc')
    await alice.rest('DELETE', '/api/folders?path=recovered&recursive=true')
    process.kill(store.pid(), 'SIGSTOP')
    try {
      await expectNoBytes()
    } finally {
      process.kill(store.pid(), 'SIGCONT')
    }
    await expectRecovery(t, alice)
    // A request that hung may still arrive after its caller has given up.
    await sleep(300)
    await t.settle()
    // The blob exists without a row, which the doctor reports.
    await findingsOf(t.app, { repair: true })
    await expectConsistent(t)
  })
}
