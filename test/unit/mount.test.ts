import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { countPending } from '../../src/cli/mount/rclone.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mount-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('Pending uploads of a mount', () => {
  it('are counted in all folders, and are none without a cache', async () => {
    expect(await countPending(folder)).toBe(0)
    const meta = join(folder, 'cache/vfsMeta/satchel/sub')
    mkdirSync(meta, { recursive: true })
    writeFileSync(join(meta, 'a'), '{"Dirty": true}')
    writeFileSync(join(meta, 'b'), '{"Dirty": false}')
    writeFileSync(join(meta, '../c'), '{"Dirty":true}')
    expect(await countPending(folder)).toBe(2)
  })

  it('are never reported as none when they cannot be counted', async () => {
    mkdirSync(join(folder, 'cache'))
    writeFileSync(join(folder, 'cache/vfsMeta'), '')
    await expect(countPending(folder)).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})
