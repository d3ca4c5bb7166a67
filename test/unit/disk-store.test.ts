import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from '@jest/globals'
import { createDiskStore } from '../../src/storage/disk.ts'
import type { BlobStore } from '../../src/storage/store.ts'
import { describeContract } from '../storage/contract.ts'

const root = mkdtempSync(join(tmpdir(), 'satchel-disk-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function started(dir: string): Promise<BlobStore> {
  const store = createDiskStore({ dir })
  await store.prepare()
  await store.bind('a test', false)
  return store
}

describe('The disk store', () => {
  const dir = join(root, 'contract')
  let others = 0
  describeContract(async () => ({
    store: await started(dir),
    isOnDisk: true,
    another: () => started(join(root, `other-${others++}`)),
    async leftovers(key) {
      const there = await stat(join(dir, 'drafts', key)).catch(() => undefined)
      return there?.isDirectory() ? (await readdir(join(dir, 'drafts', key))).length : there ? 1 : 0
    },
  }))
})
