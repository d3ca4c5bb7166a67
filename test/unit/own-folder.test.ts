import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { isOwnFolder, ownNameBeside } from '../../src/cli/sync/local-tree.ts'
import { ownFolder } from '../../src/cli/two-way/own-folder.ts'
import { otherDisk, withTwoDisks } from '../support/two-disks.ts'

const DAY = 86_400_000
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'own-folder-'))
})
afterEach(() => {
  jest.restoreAllMocks()
  rmSync(root, { recursive: true })
})

const at = (path: string) => join(root, path)
const textsIn = (folder: string) =>
  readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .sort()

describe('The folder of satchel in a synced folder', () => {
  it('keeps everything discarded, even a file in the place of a folder', async () => {
    const own = ownFolder(root, 'key', () => 0)
    for (const text of ['one', 'two']) {
      writeFileSync(at('a'), text)
      await own.discard('a', at('a'))
    }
    mkdirSync(at('a'))
    writeFileSync(at('a/b'), 'three')
    await own.discard('a/b', at('a/b'))
    expect(textsIn('.satchel/trash')).toEqual(['one', 'three', 'two'])
  })

  it('moves files to a free name, and leaves no copy', async () => {
    const own = ownFolder(root, 'key', () => 0)
    writeFileSync(at('a'), 'a')
    writeFileSync(at('b'), 'b')
    expect(await own.move('a', at('a'), at('b'))).toBe(false)
    expect(await own.move('a', at('a'), at('c'))).toBe(true)
    mkdirSync(at('d/e'), { recursive: true })
    expect(await own.move('d', at('d'), at('f'))).toBe(true)
    expect(readdirSync(root).sort()).toEqual(['.satchel', 'b', 'c', 'f'])
    expect(textsIn('.satchel')).toEqual([])
  })

  it('keeps files for 30 days that a long-running process discards', async () => {
    const start = Date.parse('2026-01-01')
    const clock = jest.spyOn(Date, 'now').mockReturnValue(start)
    const own = ownFolder(root, 'key', () => start)
    clock.mockReturnValue(start + 40 * DAY)
    await own.tidy()
    writeFileSync(at('a'), 'a')
    await own.discard('a', at('a'))
    clock.mockReturnValue(start + 41 * DAY)
    await ownFolder(root, 'key', () => start + 41 * DAY).tidy()
    expect(textsIn('.satchel/trash')).toEqual(['a'])
    clock.mockReturnValue(start + 71 * DAY)
    await ownFolder(root, 'key', () => start + 71 * DAY).tidy()
    expect(textsIn('.satchel/trash')).toEqual([])
  })

  it('asks the service for the time again, so that a slow clock shortens no retention', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0)
    let latest = 0
    const own = ownFolder(root, 'key', () => latest)
    latest = Date.parse('2026-01-01')
    writeFileSync(at('a'), 'a')
    await own.discard('a', at('a'))
    clock.mockReturnValue(latest + 40 * DAY)
    await own.tidy()
    expect(textsIn('.satchel/trash')).toEqual(['a'])
    latest += 40 * DAY
    await own.tidy()
    expect(textsIn('.satchel/trash')).toEqual([])
  })

  it('reports a file in the place of its trash', async () => {
    mkdirSync(at('.satchel'))
    writeFileSync(at('.satchel/trash'), '')
    writeFileSync(at('a'), 'a')
    await expect(ownFolder(root, 'key', () => 0).discard('a', at('a'))).rejects.toMatchObject({
      code: 'EEXIST',
    })
    expect(readFileSync(at('a'), 'utf8')).toBe('a')
  })

  withTwoDisks(
    'keeps a file written by a program in place of a file being copied from another disk',
    async () => {
      const disk = otherDisk()
      try {
        const file = join(disk, 'a')
        writeFileSync(file, Buffer.alloc(32 << 20))
        writeFileSync(join(disk, 'saved'), 'new')
        const own = ownFolder(root, 'key', () => 0)
        const done = own.discard('a', file)
        const isCopied = () =>
          existsSync(at('.satchel/trash')) && textsIn('.satchel/trash').length > 0
        while (!isCopied()) await setImmediate()
        renameSync(join(disk, 'saved'), file)
        await done
        const texts = [
          ...textsIn('.satchel/trash'),
          ...readdirSync(disk).map(name => readFileSync(join(disk, name), 'utf8')),
        ]
        expect(texts.filter(text => text === 'new')).toHaveLength(1)
        writeFileSync(join(disk, 'b'), 'b')
        await own.discard('b', join(disk, 'b'))
        expect(existsSync(join(disk, 'b'))).toBe(false)
        expect(textsIn('.satchel/trash')).toContain('b')
        expect(readdirSync(disk).filter(isOwnFolder)).toEqual([])
      } finally {
        rmSync(disk, { recursive: true })
      }
    },
  )

  it('is recognised under all names that a file system may use for it', () => {
    const names = ['.satchel', '.SATCHEL', '.\u017fatchel', '.sat\u200cchel', 'SATCHE~1']
    const beside = basename(ownNameBeside('a'))
    const others = ['.satchelignore', 'satchel', '.satchel-notes']
    const own = [...names, beside, beside.toUpperCase()]
    expect([...own, ...others].filter(isOwnFolder)).toEqual(own)
  })
})
