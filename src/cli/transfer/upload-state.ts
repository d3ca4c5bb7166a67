import { createHash } from 'node:crypto'
import { link, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import limitTo, { type LimitFunction } from 'p-limit'
import writeFileAtomic from 'write-file-atomic'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import type { Place } from '../place.ts'
import type { Fingerprint } from './local-file.ts'

/** An upload in parts that has begun, as it outlives this process. */
export interface UploadState extends Fingerprint {
  url: string
  workspaceId: string
  /** The local file. */
  path: string
  uploadId: string
  chunkSize: number
  partCount: number
  expiresAt: string
}

/** Where the state of an upload is kept: one file for every local file and place. */
export interface UploadStates {
  /** Does `work` while nobody else uploads the same file to this place. @throws UPLOAD_BUSY */
  alone<T>(work: () => Promise<T>): Promise<T>
  read(): Promise<UploadState | null>
  write(state: UploadState): Promise<void>
  remove(): Promise<void>
}

export async function uploadStateOf(path: string, { client: { url }, workspaceId }: Place): Promise<UploadStates> {
  const { uploads } = await findFolders()
  const local = await realpath(path)
  const key = createHash('sha256')
    .update(JSON.stringify([url, workspaceId, local]))
    .digest('hex')
  const file = join(uploads, `${key}.json`)
  return {
    alone: work => alone(join(uploads, `${key}.lock`), local, work),
    async read() {
      const state = await readState(file)
      return state && state.url === url && state.workspaceId === workspaceId && state.path === local ? state : null
    },
    async write(state) {
      await writeFileAtomic(file, `${JSON.stringify({ ...state, path: local }, null, 2)}\n`, { mode: 0o600 })
      await forgetExpired(uploads)
    },
    remove: () => rm(file, { force: true }),
  }
}

/** Whoever in this process waits for the same lock. */
const turns = new Map<string, LimitFunction>()

async function alone<T>(lock: string, local: string, work: () => Promise<T>): Promise<T> {
  const turn = turns.get(lock) ?? limitTo(1)
  turns.set(lock, turn)
  return turn(async () => {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
    await take(lock, local)
    try {
      return await work()
    } finally {
      await rm(lock, { force: true })
    }
  })
}

/**
 * Takes a lock, which holds the id of its process; one of a process that has died counts for nothing. Should two find such a one in the
 * same moment, both go on with one upload, which the service bears.
 */
async function take(lock: string, local: string): Promise<void> {
  const own = `${lock}.${process.pid}`
  // A lock is never seen without what it holds.
  await writeFile(own, String(process.pid), { mode: 0o600 })
  try {
    for (;;)
      try {
        return await link(own, lock)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
        if (isRunning(pid))
          throw new Failure(
            'UPLOAD_BUSY',
            `Another satchel (process ${pid}) is uploading ${local}. Wait for its end. If there is none, remove ${lock}`,
            { pid },
          )
        await rm(lock, { force: true })
      }
  } finally {
    await rm(own, { force: true })
  }
}

/** Whether there is such a process, be it somebody else's. This one has no lock that it does not know. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function readState(file: string): Promise<UploadState | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as UploadState
  } catch {
    // It is not there, or worth nothing: the upload begins anew.
    return null
  }
}

/** A day after its end, the service does not know an upload any more. */
async function forgetExpired(folder: string): Promise<void> {
  const yesterday = Date.now() - 86_400_000
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue
    const state = await readState(join(folder, name))
    if (!state || Date.parse(state.expiresAt) < yesterday) await rm(join(folder, name), { force: true })
  }
}
