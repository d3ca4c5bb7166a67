import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { type LocalWatch, watchLocal } from '../../src/cli/two-way/watch-local.ts'
import { eventually } from '../support/until.ts'

let root: string
let watched: LocalWatch
let taken: Set<string> | null
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'satchel-watch-'))
  mkdirSync(join(root, 'f'))
  watched = watchLocal(
    root,
    () => {},
    error => {
      throw error
    },
  )
  watched.onFolder(root, '')
  watched.onFolder(join(root, 'f'), 'f')
  taken = new Set()
})
afterEach(() => {
  watched.close()
  rmSync(root, { recursive: true, force: true })
})

/** Waits until the watch reports these folders. */
const tells = (expected: string[] | null) =>
  eventually(async () => {
    const more = watched.take()
    taken = more && taken && new Set([...taken, ...more])
    expect(taken && [...taken].sort()).toEqual(expected)
  })

it('A watch reports the changed folders, and the replacement of its own folder', async () => {
  writeFileSync(join(root, 'f/a'), 'a')
  await tells(['f'])
  renameSync(join(root, 'f/a'), join(root, 'a'))
  await tells(['', 'f'])
  taken = new Set()
  renameSync(root, `${root}-away`)
  mkdirSync(root)
  await tells([''])
  rmSync(`${root}-away`, { recursive: true })
})

it('A watch reports an overflow after more events than the system keeps', async () => {
  for (let i = 0; i < 10_000; i++) writeFileSync(join(root, 'f', i % 2 ? 'a' : 'b'), String(i))
  await tells(null)
  expect(watched.take()).not.toBeNull()
})
