import { randomUUID } from 'node:crypto'
import {
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure } from '../failure.ts'
import { OWN_FOLDER } from '../sync/local-tree.ts'

/** The hidden folder of satchel in a synchronized folder: what was deleted or replaced here, unfinished downloads, and a marker. */
export interface OwnFolder {
  /** Of unfinished downloads. */
  parts: string
  /** Requires the marker of the last run, or makes one for the first. @throws SYNC_ROOT_LOST */
  check(marker: string | null): Promise<string>
  /** Moves a file there; what is in its place stays. */
  discard(path: string, file: string): Promise<void>
  /** Deletes what has been there for longer than it is kept. */
  tidy(): Promise<void>
}

/** How long local files can be restored. */
export const KEPT_DAYS = 30

/**
 * @param key of the pair of folders: a local folder may be synchronized with several remote ones, one after the other
 * @param latest the latest time that the service has told: what was kept while the clock of this computer was slow is kept no shorter
 */
export function ownFolder(root: string, key: string, latest: number): OwnFolder {
  const folder = join(root, OWN_FOLDER)
  const trash = join(folder, 'trash')
  const marked = join(folder, `sync-${key.slice(0, 16)}`)
  const run = new Date(Math.max(Date.now(), latest)).toISOString().replaceAll(':', '-').slice(0, 19)

  return {
    parts: join(folder, 'parts'),

    async check(marker) {
      const there = await readFile(marked, 'utf8').catch(() => null)
      if (marker !== null && there?.trim() !== marker)
        throw new Failure(
          'SYNC_ROOT_LOST',
          `${root} is not the folder that was synchronized before: ${marked} is missing. If its disk is not mounted, mount it. To merge both sides anew, without deleting anything, add --reset.`,
          { path: root },
        )
      if (there !== null) return there.trim()
      const made = randomUUID()
      await mkdir(folder, { recursive: true })
      await writeFile(marked, `${made}\n`, { flush: true })
      return made
    },

    async discard(path, file) {
      for (let n = 1; ; n++) {
        const to = join(trash, n === 1 ? run : `${run} ${n}`, path)
        await mkdir(dirname(to), { recursive: true })
        if (await isMoved(file, to)) return
      }
    },

    async tidy() {
      // A clock that is fast must not end it early.
      const oldest = Math.min(Date.now(), latest) - KEPT_DAYS * 86_400_000
      for (const name of await readdir(trash).catch(() => [])) {
        const time = Date.parse(name.slice(0, 19).replace(/T(\d\d)-(\d\d)-(\d\d)$/, 'T$1:$2:$3Z'))
        if (time < oldest) await rm(join(trash, name), { recursive: true, force: true })
      }
      for (const name of await readdir(join(folder, 'parts')).catch(() => [])) {
        const part = join(folder, 'parts', name)
        const { mtimeMs } = await lstat(part).catch(() => ({ mtimeMs: Date.now() }))
        if (mtimeMs < oldest) await rm(part, { force: true })
      }
    },
  }
}

/** Moves a file to where nothing is. @returns whether nothing was there */
export async function isMoved(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (await lstat(to).catch(() => null)) return false
    if (code === 'EXDEV') await copyFile(from, to, constants.COPYFILE_EXCL)
    else {
      // Some file systems have no hard links.
      await rename(from, to)
      return true
    }
  }
  await unlink(from)
  return true
}
