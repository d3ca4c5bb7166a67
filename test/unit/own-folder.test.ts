import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { isOwnFolder } from '../../src/cli/sync/local-tree.ts'
import { ownFolder } from '../../src/cli/two-way/own-folder.ts'

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

describe('The folder of satchel in a synchronized folder', () => {
  it('keeps all that is discarded, also a file where a folder was', async () => {
    const own = ownFolder(root, 'key', 0)
    for (const text of ['one', 'two']) {
      writeFileSync(at('a'), text)
      await own.discard('a', at('a'))
    }
    mkdirSync(at('a'))
    writeFileSync(at('a/b'), 'three')
    await own.discard('a/b', at('a/b'))
    expect(textsIn('.satchel/trash')).toEqual(['one', 'three', 'two'])
  })

  it('moves to where nothing is, and leaves no copy', async () => {
    const own = ownFolder(root, 'key', 0)
    writeFileSync(at('a'), 'a')
    writeFileSync(at('b'), 'b')
    expect(await own.move('a', at('a'), at('b'))).toBe(false)
    expect(await own.move('a', at('a'), at('c'))).toBe(true)
    mkdirSync(at('d/e'), { recursive: true })
    expect(await own.move('d', at('d'), at('f'))).toBe(true)
    expect(readdirSync(root).sort()).toEqual(['.satchel', 'b', 'c', 'f'])
    expect(textsIn('.satchel')).toEqual([])
  })

  it('keeps for 30 days what is discarded by a process that runs for longer', async () => {
    const start = Date.parse('2026-01-01')
    const clock = jest.spyOn(Date, 'now').mockReturnValue(start)
    const own = ownFolder(root, 'key', start)
    clock.mockReturnValue(start + 40 * DAY)
    await own.tidy()
    writeFileSync(at('a'), 'a')
    await own.discard('a', at('a'))
    clock.mockReturnValue(start + 41 * DAY)
    await ownFolder(root, 'key', start + 41 * DAY).tidy()
    expect(textsIn('.satchel/trash')).toEqual(['a'])
    clock.mockReturnValue(start + 71 * DAY)
    await ownFolder(root, 'key', start + 71 * DAY).tidy()
    expect(textsIn('.satchel/trash')).toEqual([])
  })

  it('is known by all names that a file system may take for it', () => {
    const names = ['.satchel', '.SATCHEL', '.\u017fatchel', '.sat\u200cchel', 'SATCHE~1', '.satchelignore', 'satchel']
    expect(names.filter(isOwnFolder)).toEqual(names.slice(0, 5))
  })
})
