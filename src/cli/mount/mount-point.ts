import { constants } from 'node:fs'
import { access, mkdir, readdir, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { searchPath } from '../config.ts'
import { Failure } from '../failure.ts'

/** The path of an installed program; undefined if it is missing. */
export async function findProgram(name: string): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  // Programs that mount are often in folders outside of the user's path.
  const folders = [...searchPath().split(delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin']
  for (const folder of folders) {
    if (folder === '') continue
    const found = join(folder, file)
    if (await isUsable(found, constants.X_OK)) return found
  }
  return undefined
}

export const isUsable = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

/**
 * Whether something is mounted at a folder: its device differs from that of its parent, or its
 * process is gone.
 */
export async function isMounted(directory: string): Promise<boolean> {
  try {
    const [own, above] = await Promise.all([stat(directory), stat(dirname(directory))])
    return own.dev !== above.dev
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTCONN' || code === 'EIO'
  }
}

/**
 * Waits until the folder is mounted or unmounted.
 *
 * @returns whether that happened in time
 */
export async function untilMounted(
  directory: string,
  wanted: boolean,
  { timeoutMs, isOver = () => false }: { timeoutMs: number; isOver?: () => boolean },
): Promise<boolean> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(100)) {
    if ((await isMounted(directory)) === wanted) return true
    if (isOver()) break
  }
  return (await isMounted(directory)) === wanted
}

/**
 * Creates the mount point.
 *
 * @returns whether it was missing
 * @throws TARGET_EXISTS
 */
export async function prepareDirectory(directory: string): Promise<boolean> {
  // On Windows, rclone creates the folder itself and refuses an existing one.
  if (process.platform === 'win32') return false
  if (await isMounted(directory))
    throw new Failure(
      'TARGET_EXISTS',
      `Something is mounted at ${directory} already. satchel unmount ends it.`,
    )
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (names === null) await mkdir(directory, { recursive: true })
  if (names && names.length > 0)
    throw new Failure(
      'TARGET_EXISTS',
      `${directory} is not empty. Choose an empty folder, or one that does not exist.`,
    )
  return names === null
}
