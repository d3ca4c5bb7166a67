import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import writeFileAtomic from 'write-file-atomic'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import { type Holder, nameOf, withLock } from '../lock.ts'

export type Mounter = 'rclone' | 'davfs2'

/** A mounted drive or folder. It contains no secret. */
export interface Mounted {
  id: string
  /** The local folder. */
  directory: string
  /** The mounted path, as users type it. */
  path: string
  /** URL of the service. */
  service: string
  with: Mounter
  readOnly: boolean
  /** Process id of the mount; null if the program reports none. */
  pid: number | null
  /** An API key issued for this mount, which is deleted with it. */
  madeKey: string | null
  /** Whether the local folder was created for this mount. */
  madeDirectory: boolean
}

/**
 * The same path at the same local folder always has the same id, so that a later mount finds files
 * that were not uploaded yet.
 */
export const mountId = (service: string, path: string, directory: string): string =>
  createHash('sha256')
    .update(JSON.stringify([service, path, directory]))
    .digest('hex')
    .slice(0, 16)

/** The folder of a mount: its record, log, and files that were not uploaded yet. */
export async function folderOf(id: string): Promise<string> {
  const folder = join((await findFolders()).mounts, id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

/**
 * Runs `work` while no other process mounts or unmounts at a local folder.
 *
 * @param waitMs how long to wait for the lock
 * @throws MOUNT_BUSY
 */
export async function aloneAt<T>(
  directory: string,
  work: () => Promise<T>,
  waitMs = 0,
): Promise<T> {
  const { mounts } = await findFolders()
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  let busy: Failure | undefined
  const isBusy = (holder: Holder) => {
    const sentence = `${nameOf(holder)} is mounting or unmounting ${directory}. Wait until it is done.`
    busy = new Failure('MOUNT_BUSY', sentence, { ...holder })
    return busy
  }
  for (const until = Date.now() + waitMs; ; await sleep(100))
    try {
      return await withLock(join(mounts, `${name}.lock`), isBusy, work)
    } catch (error) {
      if (error !== busy || Date.now() >= until) throw error
    }
}

const FILE = 'mount.json'

export async function keep(mounted: Mounted): Promise<void> {
  const file = join(await folderOf(mounted.id), FILE)
  await writeFileAtomic(file, `${JSON.stringify(mounted)}\n`, { mode: 0o600 })
}

/** @param keepsFiles whether files wait for the next mount of this path at this folder */
export async function forget({ id }: Pick<Mounted, 'id'>, keepsFiles: boolean): Promise<void> {
  const folder = await folderOf(id)
  await rm(keepsFiles ? join(folder, FILE) : folder, { recursive: true, force: true })
}

/** Whether a mount is on record, so that `satchel unmount` did not end it. */
export const isKept = async ({ id }: Pick<Mounted, 'id'>): Promise<boolean> =>
  (await readMounts()).some(one => one.id === id)

/** All mounts on record, whether or not they are still active. */
export async function readMounts(): Promise<Mounted[]> {
  const { mounts } = await findFolders()
  const ids = await readdir(mounts).catch(() => [])
  const found = await Promise.all(
    ids.map(async id => {
      const text = await readFile(join(mounts, id, FILE), 'utf8').catch(() => null)
      return text === null ? [] : [JSON.parse(text) as Mounted]
    }),
  )
  return found.flat()
}
