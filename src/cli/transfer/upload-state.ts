import { createHash } from 'node:crypto'
import { link, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import limitTo, { type LimitFunction } from 'p-limit'
import writeFileAtomic from 'write-file-atomic'
import type { SessionStore, StoredSession } from '../../upload-engine/job.ts'
import { findFolders } from '../config.ts'
import { Failure } from '../failure.ts'
import type { Place } from '../place.ts'

/** The persistent state of an upload in parts. */
interface UploadState extends StoredSession {
  url: string
  workspaceId: string
  /** The local file. */
  path: string
}

/** Stores the state of an upload: one file per local file and place. */
export interface UploadStates extends SessionStore {
  /** Runs `work` under a lock for this file and place. @throws UPLOAD_BUSY */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export async function uploadStateOf(
  path: string,
  { client: { url }, workspaceId }: Place,
  replaces: boolean,
): Promise<UploadStates> {
  const { uploads } = await findFolders()
  const local = await realpath(path)
  const key = createHash('sha256')
    // An upload says at its start whether it replaces.
    .update(JSON.stringify([url, workspaceId, local, ...(replaces ? ['replace'] : [])]))
    .digest('hex')
  const file = join(uploads, `${key}.json`)
  return {
    alone: work => alone(join(uploads, `${key}.lock`), local, work),
    async read() {
      const state = await readState(file)
      return state && state.url === url && state.workspaceId === workspaceId && state.path === local ? state : null
    },
    async write(session) {
      const state: UploadState = { ...session, url, workspaceId, path: local }
      await writeFileAtomic(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
      await forgetExpired(uploads)
    },
    remove: () => rm(file, { force: true }),
  }
}

/** Queues within this process, by lock. */
const turns = new Map<string, LimitFunction>()

async function alone<T>(lock: string, local: string, work: () => Promise<T>): Promise<T> {
  const turn = turns.get(lock) ?? limitTo(1)
  turns.set(lock, turn)
  return turn(async () => {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
    await acquire(lock, local)
    try {
      return await work()
    } finally {
      await rm(lock, { force: true })
    }
  })
}

/**
 * Acquires a lock file that holds the id of its process; the lock of a dead process is removed. If two processes do that at the same
 * moment, both continue one upload, which the service tolerates.
 */
async function acquire(lock: string, local: string): Promise<void> {
  const own = `${lock}.${process.pid}`
  // Written before it is linked, so that a lock is never empty.
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
            `Another satchel (process ${pid}) is uploading ${local}. Wait until it ends. If there is no such process, remove ${lock}`,
            { pid },
          )
        await rm(lock, { force: true })
      }
  } finally {
    await rm(own, { force: true })
  }
}

/** Whether the process exists, even of another user. A lock with the own id is stale. */
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
    // Missing or corrupt: the upload starts over.
    return null
  }
}

/** Removes the state of uploads that expired more than a day ago. */
async function forgetExpired(folder: string): Promise<void> {
  const yesterday = Date.now() - 86_400_000
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue
    const state = await readState(join(folder, name))
    if (!state || Date.parse(state.expiresAt) < yesterday) await rm(join(folder, name), { force: true })
  }
}
