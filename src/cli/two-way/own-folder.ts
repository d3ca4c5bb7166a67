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
 * The hidden folder of satchel in a synchronized folder: what was deleted or replaced here,
 * unfinished downloads, and a marker.
 */
export interface OwnFolder {
  /** Of unfinished downloads. */
  parts: string
  /** Requires the marker of the last run, or makes one for the first. @throws SYNC_ROOT_LOST */
  check(marker: string | null): Promise<string>
  /**
   * Runs `work` while no other process synchronizes this folder, be it of another user or on
   * another computer.
   * @param marker of the last run: where it is missing, nothing is made, and the check refuses
   * @throws SYNC_BUSY
   */
  alone<T>(marker: string | null, work: () => Promise<T>): Promise<T>
  /** Moves a file there, where nothing is overwritten. Resolves to where it is. */
  discard(path: string, file: string): Promise<string>
  /**
   * Moves a file or a folder to where nothing is. What a program puts in its place meanwhile stays.
   * @returns whether nothing was there
   */
  move(path: string, from: string, to: string): Promise<boolean>
  /**
   * Deletes what has been there for longer than it is kept. What comes from now on is kept from now
   * on.
   */
  tidy(): Promise<void>
}

/** How long local files can be restored. */
export const KEPT_DAYS = 30

/**
 * @param key of the pair of folders: a local folder may be synchronized with several remote ones,
 * one after the other
 * @param latest tells the latest time that the service has told: what was kept while the clock of
 * this computer was slow is kept no shorter
 */
export function ownFolder(root: string, key: string, latest: () => number): OwnFolder {
  const folder = join(root, OWN_FOLDER)
  const trash = join(folder, 'trash')
  const marked = join(folder, `sync-${key.slice(0, 16)}`)
  const timeNow = () => Math.max(Date.now(), latest())
  let at = timeNow()

  async function discard(path: string, file: string): Promise<string> {
    // The first look may tell a later time.
    if (latest() > at) at = timeNow()
    const time = new Date(at).toISOString().replaceAll(':', '-').slice(0, 19)
    // Below it, another name is found for whatever is in the way.
    await mkdir(trash, { recursive: true, mode: 0o700 })
    for (let n = 1; ; n++) {
      const to = join(trash, n === 1 ? time : `${time} ${n}`, path)
      if (!(await hasRoomFor(to))) continue
      // A rename, so that nothing is deleted that a program has put there at this very moment.
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
      // What is in private folders comes here, too.
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
        // Folders, and files where there are no hard links. Between two file systems it fails, and
        // is left to a copy and a deletion.
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
            // It stays with what was discarded.
          },
        )
      return true
    },

    async tidy() {
      at = timeNow()
      // A clock that is fast must not end it early.
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

/** Of a file that a program goes on writing. */
const MAX_COPIES = 3

/**
 * Moves a file to another file system. It goes by a rename to a name where programs put nothing: if
 * it is not what was copied, because a new version has come in its place, that is copied.
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
        // Otherwise it stays, and the next look tells of it.
        if (!(await lstat(file).catch(() => null))) await rename(aside, file)
      },
    )
    throw error
  }
  await unlink(aside)
}

/**
 * Makes the folders for a path. @returns whether nothing is there; false also if a file is where a
 * folder would be
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
