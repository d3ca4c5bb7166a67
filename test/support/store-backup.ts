import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { BlobStore } from '../../src/storage/store.ts'
import { backUp, newPlace, type Place, randomFile, restoreInto } from './backup-world.ts'
import { findingsOf } from './consistency.ts'
import { newDatabase, startApp, type TestApp } from './harness.ts'

interface Moved {
  /** A store that has not been created. */
  makeStore(): BlobStore
  /**
   * Checks the restore into a store that contains a blob unknown to the backup.
   * @param restore restores into that store
   */
  expectStranger(
    restore: (options?: { deleteExisting: true }) => ReturnType<typeof restoreInto>,
    removeStranger: () => Promise<unknown>,
  ): Promise<void>
}

/**
 * Tests that a backup of the store under test can be restored into a folder, and into another store
 * of the same kind.
 */
export function testBackupsOf({ makeStore, expectStranger }: Moved): void {
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

  it('A backup is restored into a folder and into another store of the same kind', async () => {
    const alice = await t.signIn('alice')
    for (const [path, bytes] of [
      ['empty', Buffer.alloc(0)],
      ['small', Buffer.from('small')],
      ['large', randomFile(9_000_000)],
    ] as const)
      expect((await alice.upload(path, bytes)).status).toBe(200)
    const { folder, name, manifest } = await backUp(t, join(dir, 'backup'))
    expect(manifest.blobs).toMatchObject({
      count: 3,
      copied: 3,
      bytes: 9_000_005,
      missing: 0,
      damaged: 0,
    })

    const onDisk = await newPlace(await newDatabase())
    places.push(onDisk)
    expect(await restoreInto(onDisk, folder, name)).toMatchObject({
      copied: 3,
      lost: 0,
      warnings: [],
    })
    expect(await findingsOf(onDisk)).toEqual([])

    const place = await newPlace(await newDatabase())
    places.push(place)
    const store = makeStore()
    const other = Object.assign(place, { store })
    await store.prepare()
    const stranger = '01980000-0000-7000-8000-000000000000'
    await store.put(stranger, (async function* () {})(), {
      contentType: 'text/plain',
      admit: async () => {},
    })
    await expectStranger(
      options => restoreInto(other, folder, name, options),
      () => store.remove([stranger]),
    )
    expect(await findingsOf(other)).toEqual([])
  }, 60_000)
}
