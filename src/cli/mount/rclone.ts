import { spawn } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { environmentWith } from '../config.ts'
import { inParallel } from '../each.ts'
import { Failure } from '../failure.ts'
import { untilMounted } from './mount-point.ts'
import type { Target } from './webdav.ts'

/** A mount to create. */
export interface Plan {
  program: string
  target: Target
  directory: string
  /** The folder for the log of the mount and its files that were not uploaded yet. */
  folder: string
  readOnly: boolean
  /** The PEM file of the certificate authorities to trust; undefined for those of the system. */
  authorities: string | undefined
}

/** An active mount. */
export interface Serving {
  pid: number | null
  /** Resolves when its process ends. */
  ended: Promise<void>
}

const START_MS = 30_000

const cacheIn = (folder: string) => join(folder, 'cache')

/** The arguments contain no secret, because other users can read them. */
export const rcloneArguments = ({
  directory,
  folder,
  readOnly,
  authorities,
}: Pick<Plan, 'directory' | 'folder' | 'readOnly' | 'authorities'>) => [
  ...['mount', 'satchel:', directory],
  // Programs may write anywhere in a file, but the service takes whole files.
  ...['--vfs-cache-mode', 'writes', '--cache-dir', cacheIn(folder)],
  // How long changes by others may stay invisible.
  ...['--dir-cache-time', '15s'],
  // Keeps the total retry time at its default, although the pauses start shorter.
  ...['--low-level-retries', '13'],
  ...['--config', devNull, '--log-file', join(folder, 'log'), '--log-level', 'NOTICE'],
  ...(readOnly ? ['--read-only'] : []),
  ...(authorities === undefined ? [] : ['--ca-cert', authorities]),
]

/** Only its own user can read the environment of a process, as with the file of the login. */
export const rcloneSettings = ({ url, key }: Pick<Target, 'url' | 'key'>) => ({
  RCLONE_CONFIG_SATCHEL_TYPE: 'webdav',
  RCLONE_CONFIG_SATCHEL_URL: url,
  // This vendor makes rclone preserve modification times and verify uploads.
  RCLONE_CONFIG_SATCHEL_VENDOR: 'owncloud',
  RCLONE_CONFIG_SATCHEL_BEARER_TOKEN: key,
  // Satchel rejects names with a backslash, or with a space at either end. rclone encodes these
  // characters, and decodes them in listings.
  RCLONE_CONFIG_SATCHEL_ENCODING: 'Slash,LeftSpace,RightSpace,BackSlash,Ctl,Del,InvalidUtf8,Dot',
  // The default of rclone 1.63 and later allows one request per 10 ms, however many files are open.
  RCLONE_CONFIG_SATCHEL_PACER_MIN_SLEEP: '1ms',
})

/** @throws MOUNT_FAILED */
export async function mountByRclone(plan: Plan): Promise<Serving> {
  const { program, target, directory, folder } = plan
  const log = await open(join(folder, 'log'), 'w', 0o600)
  await log.close()
  // Ctrl-C in a terminal must only reach this command, which unmounts cleanly.
  const child = spawn(program, rcloneArguments(plan), {
    env: environmentWith(rcloneSettings(target)),
    stdio: 'ignore',
    detached: true,
  })
  let isOver = false
  const ended = new Promise<void>(resolve => {
    const end = () => {
      isOver = true
      resolve()
    }
    child.once('exit', end)
    child.once('error', end)
  })
  child.unref()
  if (await untilMounted(directory, true, { timeoutMs: START_MS, isOver: () => isOver }))
    return { pid: child.pid ?? null, ended }
  if (!isOver) child.kill()
  throw new Failure(
    'MOUNT_FAILED',
    `rclone could not mount ${directory}: ${await lastLine(join(folder, 'log'))}`,
  )
}

async function lastLine(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '')
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^[\d/]+ [\d:]+ /, '') || 'it says nothing. Try --foreground.'
}

/**
 * The number of files that were not uploaded yet.
 *
 * @throws if it cannot be determined, because uploaded files are deleted
 */
export async function countPending(folder: string): Promise<number> {
  let pending = 0
  await inParallel(TOGETHER, await filesBelow(join(cacheIn(folder), 'vfsMeta')), async file => {
    if (/"Dirty":\s*true/.test(await readFile(file, 'utf8').catch(unlessGone('')))) pending++
  })
  return pending
}

/** Concurrent reads, because a cache may have more files than a process may open. */
const TOGETHER = 16

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(unlessGone([]))
  const files: string[] = []
  for (const entry of found) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) for (const file of await filesBelow(path)) files.push(file)
    else if (entry.isFile()) files.push(path)
  }
  return files
}

/** rclone deletes uploaded files meanwhile. */
const unlessGone =
  <T>(nothing: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return nothing
    throw error
  }
