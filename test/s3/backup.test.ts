import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { createS3Store } from '../../src/storage/s3.ts'
import { backUp, newPlace, type Place, randomFile, restoreInto } from '../backup-world.ts'
import { findingsOf } from '../consistency.ts'
import { newDatabase, startApp, type TestApp } from '../harness.ts'
import { serverOf } from './server.ts'

let dir: string
let t: TestApp
const places: Place[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-backups-'))
  t = await startApp()
})
afterAll(async () => {
  await t.stop()
  for (const place of places) await place.drop()
  rmSync(dir, { recursive: true, force: true })
})

it('A backup of a bucket is restored into a folder and into another bucket', async () => {
  const alice = await t.signIn('alice')
  for (const [path, bytes] of [
    ['empty', Buffer.alloc(0)],
    ['small', Buffer.from('small')],
    ['large', randomFile(9_000_000)],
  ] as const)
    expect((await alice.upload(path, bytes)).status).toBe(200)
  const { folder, name, manifest } = await backUp(t, join(dir, 'backup'))
  expect(manifest.blobs).toMatchObject({ count: 3, copied: 3, bytes: 9_000_005, missing: 0, damaged: 0 })

  const onDisk = await newPlace(await newDatabase())
  places.push(onDisk)
  expect(await restoreInto(onDisk, folder, name)).toMatchObject({ copied: 3, lost: 0, warnings: [] })
  expect(await findingsOf(onDisk)).toEqual([])

  const place = await newPlace(await newDatabase())
  places.push(place)
  const store = createS3Store({
    ...serverOf(),
    ...{ bucket: `b${Date.now()}`, region: 'us-east-1', pathStyle: true, publicUrl: '' },
  })
  const other = Object.assign(place, { store })
  await store.prepare()
  const stranger = '01980000-0000-7000-8000-000000000000'
  await store.put(stranger, (async function* () {})(), { contentType: 'text/plain', admit: async () => {} })
  await expect(restoreInto(other, folder, name, { deleteExisting: true })).rejects.toThrow('files of unknown origin')
  await store.remove([stranger])
  expect(await restoreInto(other, folder, name)).toMatchObject({ copied: 3, lost: 0, warnings: [] })
  expect(await findingsOf(other)).toEqual([])
}, 60_000)
