import { randomUUID } from 'node:crypto'
import {
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
import { withLock } from '../lock.ts'
import { OWN_FOLDER, ownNameBeside } from '../sync/local-tree.ts'
import { fileChanged } from '../sync/push.ts'
import { syncBusy } from '../sync/state.ts'
import { contentLook, copyWhole } from '../transfer/copy-whole.ts'

/**
 * Satchel's hidden folder in a synced folder: deleted and replaced files, unfinished downloads and
 * a marker.
 */
export interface OwnFolder {
  /** Folder for unfinished downloads. */
  parts: string
  /**
   * Checks the marker of the last run, or creates one in the first run.
   *
   * @throws SYNC_ROOT_LOST
   */
  check(marker: string | null): Promise<string>
  /**
   * Runs `work` while no other process syncs this folder, including those of other users or
   * computers.
   *
   * @param marker of the last run; if the folder lacks it, nothing is created and the check fails
   * @throws SYNC_BUSY
   */
  alone<T>(marker: string | null, work: () => Promise<T>): Promise<T>
  /** Moves a file to the kept files without overwriting any. Resolves to its new path. */
  discard(path: string, file: string): Promise<string>
  /**
   * Moves a file or folder to a free path. If a program creates a new file at the old path
   * meanwhile, that file stays.
   *
   * @returns whether the path was free
   */
  move(path: string, from: string, to: string): Promise<boolean>
  /** Deletes files whose retention has ended. */
  tidy(): Promise<void>
}

/** How long local files can be restored. */
export const KEPT_DAYS = 30

/**
 * @param key of the folder pair; a local folder may be synced with several remote folders in turn
 * @param latest returns the latest time reported by the service, which corrects the retention if
 * the clock of this computer is slow
 */
export function ownFolder(root: string, key: string, latest: () => number): OwnFolder {
  const folder = join(root, OWN_FOLDER)
  const trash = join(folder, 'trash')
  const marked = join(folder, `sync-${key.slice(0, 16)}`)
  const timeNow = () => Math.max(Date.now(), latest())
  let at = timeNow()

  async function discard(path: string, file: string): Promise<string> {
    // The first scan may report a later time.
    if (latest() > at) at = timeNow()
    const time = new Date(at).toISOString().replaceAll(':', '-').slice(0, 19)
    // Conflicts below this folder are resolved by numbering.
    await mkdir(trash, { recursive: true, mode: 0o700 })
    for (let n = 1; ; n++) {
      const to = join(trash, n === 1 ? time : `${time} ${n}`, path)
      if (!(await hasRoomFor(to))) continue
      // A rename never deletes a file that a program creates at this very moment.
      await rename(file, to).catch(async error => {
        if (error.code !== 'EXDEV') throw error
        await carry(file, to)
      })
      return to
    }
  }

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
      // Also holds files from private folders, so it is private itself.
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(marked, `${made}\n`, { flush: true })
      return made
    },

    async alone(marker, work) {
      if (marker !== null && (await lstat(marked).catch(() => null)) === null) return work()
      return withLock(join(folder, 'lock'), syncBusy(root), work)
    },

    discard,

    async move(path, from, to) {
      try {
        await link(from, to)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EEXIST' || (await lstat(to).catch(() => null))) return false
        // For folders, and for files without hard links. It fails between two file systems; a copy
        // and a deletion then follow.
        await rename(from, to)
        return true
      }
      const aside = await discard(path, from)
      const [one, other] = await Promise.all([aside, to].map(each => lstat(each, { bigint: true })))
      if (one?.ino === other?.ino && one?.dev === other?.dev) await unlink(aside)
      else
        await link(aside, from).then(
          () => unlink(aside),
          () => {
            // The file stays among the kept ones.
          },
        )
      return true
    },

    async tidy() {
      at = timeNow()
      // A fast clock must not shorten the retention.
      const oldest = Math.min(Date.now(), latest()) - KEPT_DAYS * 86_400_000
      for (const name of await readdir(trash).catch(() => [])) {
        const kept = Date.parse(name.slice(0, 19).replace(/T(\d\d)-(\d\d)-(\d\d)$/, 'T$1:$2:$3Z'))
        if (kept < oldest) await rm(join(trash, name), { recursive: true, force: true })
      }
      for (const name of await readdir(join(folder, 'parts')).catch(() => [])) {
        const part = join(folder, 'parts', name)
        const { mtimeMs } = await lstat(part).catch(() => ({ mtimeMs: Date.now() }))
        if (mtimeMs < oldest) await rm(part, { force: true })
      }
    },
  }
}

/** Attempts for a file that a program keeps writing. */
const MAX_COPIES = 3

/**
 * Moves a file to another file system. The file is first renamed to a name that no program uses. If
 * it then differs from the copy, because a program has replaced it, it is copied again.
 */
async function carry(file: string, to: string): Promise<void> {
  const aside = ownNameBeside(file)
  let copied = await copyWhole(file, to)
  await rename(file, aside)
  try {
    for (let n = 0; copied !== (await contentLook(aside)); n++) {
      if (n === MAX_COPIES) throw fileChanged(file)
      await rm(to)
      copied = await copyWhole(aside, to)
    }
  } catch (error) {
    await link(aside, file).then(
      () => unlink(aside),
      async () => {
        // Otherwise it stays, and the next scan reports it.
        if (!(await lstat(file).catch(() => null))) await rename(aside, file)
      },
    )
    throw error
  }
  await unlink(aside)
}

/**
 * Creates the parent folders of a path.
 *
 * @returns whether the path is free; also false if a parent is a file
 */
async function hasRoomFor(path: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR') return false
    throw error
  }
  return (await lstat(path).catch(() => null)) === null
}
