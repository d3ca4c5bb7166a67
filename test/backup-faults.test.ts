import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { restoreUnderWay } from '../db/queries/backup.ts'
import { verifyBackups } from '../src/backup/verify.ts'
import { backUp, blobsIn, newPlace, type Place, restoreInto, silent } from './backup-world.ts'
import type { TestApp } from './harness.ts'

let dir: string
const places: Place[] = []
let source: Place
let t: TestApp

async function place(): Promise<Place> {
  const made = await newPlace()
  places.push(made)
  return made
}

const FILES = 4

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-backups-'))
  source = await place()
  t = await source.start()
  const alice = await t.signIn('alice')
  for (let i = 1; i < FILES; i++) await alice.upload(`small/${i}`, `file ${i}`)
  await alice.upload('large', Buffer.alloc(200_000, 1))
})
afterAll(async () => {
  await t.stop()
  for (const each of places) await each.drop()
  rmSync(dir, { recursive: true, force: true })
})

/** Puts a folder where a file is: reading fails for every user then, also for root. */
function makeUnreadable(path: string): void {
  rmSync(path)
  mkdirSync(path)
}

/** A small blob and the large one, which are read in different ways. */
const someOf = (folder: string) => {
  const all = blobsIn(folder).sort()
  return [all[1] ?? '', all[FILES - 1] ?? '']
}

it('Blobs of a backup that cannot be read are named, and all others are restored', async () => {
  const { folder, name } = await backUp(t, join(dir, 'unreadable'))
  someOf(folder.dir).forEach(makeUnreadable)
  const restored = await restoreInto(await place(), folder, name)
  expect(restored).toMatchObject({ copied: FILES - 2, lost: 2 })
  expect(restored.warnings).toEqual([1, 2].map(() => expect.stringContaining('cannot be read in the backup (EISDIR)')))
  const progress = silent()
  expect(await verifyBackups(folder, progress)).toMatchObject({ blobs: FILES, problems: 2 })
  expect(progress.warnings).toEqual([1, 2].map(() => expect.stringContaining('cannot be read in the backup (EISDIR)')))
})

it('Blobs of the store that cannot be read are named, and the backup has all others', async () => {
  const { folder, name } = await backUp(t, join(dir, 'whole'))
  const broken = await place()
  await restoreInto(broken, folder, name)
  const service = await broken.start()
  try {
    someOf(broken.blobDir).forEach(makeUnreadable)
    const { manifest, warnings } = await backUp(service, join(dir, 'partial'))
    expect(manifest.blobs).toMatchObject({ count: FILES, copied: FILES - 2, missing: 2, damaged: 0 })
    expect(warnings).toEqual([1, 2].map(() => expect.stringContaining('cannot be read in the store (EISDIR)')))
  } finally {
    await service.stop()
  }
})

it('The secret is replaced when the restore has begun, and a restore that continues may replace it', async () => {
  const { folder, name } = await backUp(t, join(dir, 'secret'))
  const target = await place()
  const asked: boolean[] = []
  const prepareSecret = async (mayReplace: boolean) => {
    asked.push(mayReplace)
    return async () => {
      expect(await restoreUnderWay(target.db)).toBe(name)
      if (asked.length === 1) throw new Error('killed')
    }
  }
  await expect(restoreInto(target, folder, name, { prepareSecret })).rejects.toThrow('killed')
  await restoreInto(target, folder, name, { prepareSecret })
  expect(asked).toEqual([false, true])
})
