import { mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Unavailable } from '../runtime/errors.ts'
import { createDiskStore } from '../storage/disk.ts'
import { locked } from '../storage/file-lock.ts'
import { codeOf, folderMode, ifThere, isThere } from '../storage/files.ts'
import { type BlobStore, ForeignStore } from '../storage/store.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { BackupError, explained } from './problem.ts'

/** The time in a backup's name, in milliseconds since 1970; NaN for another name. */
export const timeOf = (name: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/.test(name)
    ? Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))
    : Number.NaN

/** The suffix of an unfinished backup's folder. */
export const UNFINISHED = '.unfinished'

/**
 * A folder of backups. They share the blobs in the store `blobs/`, because a blob never changes.
 * All other data of a backup is in `backups/<name>/`.
 */
export interface BackupFolder {
  dir: string
  blobs: BlobStore
  /** The path of a file of a backup. */
  path(backup: string, ...names: string[]): string
  /** The finished backups, oldest first. Renamed ones come last. */
  finished(): Promise<string[]>
  unfinished(): Promise<string[]>
  manifest(backup: string): Promise<Manifest>
  /** Runs work with exclusive use of the folder by one backup or restore. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /**
   * Call it in `alone` before creating or removing anything.
   * @throws Error if another process has taken the folder, for example after a long pause of this
   * one
   */
  requireAlone(): Promise<void>
}

export const TABLES = 'tables'
/** The path of a table's file, or of the list of blobs. */
export const tableFile = (name: string) => `${TABLES}/${name}.jsonl.gz`
export const LIST = 'blobs.jsonl'
export const MANIFEST = 'manifest.json'
export const SECRET = 'secret.key'

/**
 * Opens a folder of backups.
 * @param create the installation of the backups, if the folder may be created
 * @param apart folders that must not contain it
 * @throws BackupError
 */
export async function openBackupFolder(
  given: string,
  { create, apart }: { create?: string; apart: string[] },
): Promise<BackupFolder> {
  const dir = await realOf(resolve(given))
  for (const other of apart) {
    const real = await realOf(resolve(other))
    if (dir === real || dir.startsWith(`${real}/`))
      throw new BackupError(
        `${given} is in the folder of the data, ${other}. Name a folder elsewhere, best on another disk.`,
      )
  }
  try {
    if (create !== undefined) await mkdir(dir, { recursive: true, mode: folderMode })
    const names = (await ifThere(readdir(dir))) ?? []
    if (!names.includes('installation')) {
      if (create === undefined)
        throw new BackupError(
          `There is no backup in ${given}. Name the folder that "backup" was given.`,
        )
      if (names.some(name => name !== 'lost+found' && !name.startsWith('.')))
        throw new BackupError(`${given} has other files. Name a new or empty folder.`)
    }
    const blobs = createDiskStore({ dir })
    let held = async () => {}
    const backups = join(dir, 'backups')
    if (create !== undefined) {
      await blobs.bind(create, false)
      await mkdir(backups, { recursive: true, mode: folderMode })
    }
    const list = async () =>
      ((await ifThere(readdir(backups))) ?? []).filter(name => !name.startsWith('.')).sort()
    const path: BackupFolder['path'] = (backup, ...more) => join(backups, backup, ...more)
    return {
      dir,
      blobs,
      path,
      async finished() {
        const all = (await list()).filter(name => !name.endsWith(UNFINISHED))
        all.sort((a, b) => Number(Number.isNaN(timeOf(a))) - Number(Number.isNaN(timeOf(b))))
        const has = await Promise.all(all.map(name => isThere(path(name, MANIFEST))))
        // A backup without its manifest is still reported, and its blobs are kept.
        return all.filter((name, i) => has[i] || !Number.isNaN(timeOf(name)))
      },
      unfinished: async () => (await list()).filter(name => name.endsWith(UNFINISHED)),
      manifest: backup => readManifest(path(backup, MANIFEST)),
      requireAlone: () =>
        held().catch(cause => {
          throw new Error(
            `Another backup or restore may have used ${dir} meanwhile. Run it again: it continues.`,
            {
              cause,
            },
          )
        }),
      alone: work =>
        alone(dir, async check => {
          held = check
          // Drafts left by a killed backup.
          if (create !== undefined)
            for (const name of await readdir(join(dir, 'drafts')))
              await rm(join(dir, 'drafts', name), { recursive: true, force: true })
          return work()
        }),
    }
  } catch (error) {
    if (error instanceof ForeignStore)
      throw new BackupError(`${given} has backups of another installation. Name another folder.`)
    throw explained(error, dir)
  }
}

async function alone<T>(dir: string, work: (held: () => Promise<void>) => Promise<T>): Promise<T> {
  let began = false
  try {
    return await locked(`${dir}/.lock`, held => {
      began = true
      return work(held)
    })
  } catch (error) {
    // A restore needs no write access. Without write access, a process cannot remove backups
    // either.
    if (!began && ['EROFS', 'EACCES'].includes(codeOf(error) ?? '')) return work(async () => {})
    if (!began && error instanceof Unavailable)
      throw new BackupError(`Another backup or restore uses ${dir}. Wait until it has ended.`)
    throw error
  }
}

/** Resolves symbolic links, also for a path that does not exist yet. */
async function realOf(path: string): Promise<string> {
  const real = await ifThere(realpath(path))
  if (real !== undefined || path === dirname(path)) return real ?? path
  return join(await realOf(dirname(path)), path.slice(dirname(path).length))
}
