import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from '@jest/globals'

/** Folders that may be on another file system than temporary files. */
const disk = ['/dev/shm', '/tmp', process.cwd()].find(folder => {
  const there = statSync(folder, { throwIfNoEntry: false })
  return there !== undefined && there.dev !== statSync(tmpdir()).dev
})

/** The missing part is named in the list of skipped tests. */
export const withTwoDisks = disk === undefined ? it.skip : it

/** A folder on another file system than that of temporary files. */
export const otherDisk = (): string => mkdtempSync(join(disk ?? '', 'satchel-disk-'))
