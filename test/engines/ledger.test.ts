import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { endOverdue } from '../../src/services/uploads/upload-end.ts'
import { type BlobStore, BlobsKept, StoreRefusal } from '../../src/storage/store.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { restUploader } from '../support/uploader.ts'

let t: TestApp
let alice: Person
let store: BlobStore
/** A statement that fails. */
let broken: RegExp | undefined

beforeAll(async () => {
  t = await startApp(
    // Tests replace functions of the store, of which each worker has its own.
    { TRASH_DAYS: '0', WORKERS: '1' },
    {
      onStatement: sql => {
        if (broken?.test(sql.replaceAll(/\s+/g, ' '))) throw new Error('The statement fails.')
      },
    },
  )
  alice = await t.signIn('alice')
  store = { ...t.app.store }
})
beforeEach(() => {
  Object.assign(t.app.store, store)
  broken = undefined
})
afterAll(() => t.stop())

const idsOf = async (state: string) =>
  (await t.app.db.rows<{ id: string }>('SELECT id FROM blobs WHERE state = ?', [state])).map(
    ({ id }) => id,
  )

it('an upload that renews its lease survives while the sweeper handles other uploads', async () => {
  const up = restUploader(alice)
  const { upload_id: id } = (await up.start({ filename: 'renewed', size: 10 })).value
  const seen = Date.now()
  const end = (at: number) =>
    t.app.db.transaction(async tx => {
      const [row] = await t.app.db.rows<{ bucketId: string }>(
        'SELECT bucket_id AS bucketId FROM blobs WHERE id = ?',
        [id],
        tx,
      )
      await endOverdue(t.app.db, row?.bucketId ?? '', id, tx, at)
    })
  await end(seen)
  expect((await up.part(id, 1, { bytes: randomBytes(10) })).status).toBe(200)
  await end(Date.now() + 2 * 86_400_000)
  expect(await up.look(id)).toMatchObject({ status: 404, code: 'UPLOAD_NOT_FOUND' })
  await expectConsistent(t)
})

it('an object that the store cannot delete yet does not keep the rows of other objects', async () => {
  const names = ['a', 'b', 'c']
  for (const name of names) await alice.upload(name, name)
  const [busy = '', ...free] = await idsOf('live')
  t.app.store.remove = async keys => {
    await store.remove(keys.filter(key => key !== busy))
    throw new BlobsKept([busy], new StoreRefusal(409, '409 PendingCopyOperation'))
  }
  await alice.rest('DELETE', '/api/files/delete/batch', { json: { files: names } })
  await t.settle()
  expect(await idsOf('deleting')).toEqual([busy])
  for (const id of free) expect(await store.look(id)).toBeNull()
  expect(t.logs()).toContain('PendingCopyOperation')

  Object.assign(t.app.store, store)
  await t.app.db.run("UPDATE blobs SET lease_until = 0 WHERE state = 'deleting'")
  await expectConsistent(t)
  expect(await idsOf('deleting')).toEqual([])
})

it('an upload that the store refuses releases its reservation, even if its lease cannot be checked', async () => {
  t.app.store.put = async (_key, _source, { admit }) => {
    await admit(5, true)
    broken = /CASE WHEN lease_until/
    throw new StoreRefusal(400, '400 InvalidBlockList')
  }
  expect((await alice.upload('refused', 'hello')).status).toBe(500)
  expect(await idsOf('staged')).toEqual([])
  await expectConsistent(t)
})
