import { mkdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import limitTo, { type LimitFunction } from 'p-limit'
import type { Failure } from './failure.ts'

/** Queues within this process, by lock. */
const turns = new Map<string, LimitFunction>()

/** The process that holds a lock, as far as known. */
export interface Holder {
  pid?: number
  /** The computer, if it is another one. */
  host?: string
}

/**
 * Runs `work` while holding a lock. Other processes fail; callers within this process queue. The
 * lock is a SQLite file lock: the system releases it when the process ends for any reason, and it
 * works across computers if their file system supports locks.
 *
 * @param busy the failure if another process has the lock
 */
export async function withLock<T>(
  lock: string,
  busy: (holder: Holder) => Failure,
  work: () => Promise<T>,
): Promise<T> {
  const turn = turns.get(lock) ?? limitTo(1)
  turns.set(lock, turn)
  return turn(async () => {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
    const held = await acquire(lock)
    if (!held) throw busy(await readHolder(lock))
    try {
      await writeFile(holderFile(lock), JSON.stringify({ pid: process.pid, host: hostname() }), {
        mode: 0o600,
      })
      return await work()
    } finally {
      await rm(holderFile(lock), { force: true })
      held.close()
    }
  })
}

/** Names the other process in messages. */
export const nameOf = ({ pid, host }: Holder): string => {
  const where = host === undefined ? '' : ` on ${host}`
  return pid === undefined ? 'Another satchel' : `Another satchel (process ${pid}${where})`
}

/** SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY = [5, 6]
const SQLITE_NOTADB = 26

/**
 * Returns null if another process has the lock. The lock file is never deleted: another process may
 * have opened it, and would then lock the deleted file.
 */
async function acquire(lock: string): Promise<DatabaseSync | null> {
  const { DatabaseSync } = await import('node:sqlite')
  const now = new Date()
  const db = new DatabaseSync(lock)
  try {
    db.exec('BEGIN EXCLUSIVE')
    // Marks the lock file as in use, so that it is not cleaned up.
    await utimes(lock, now, now)
    return db
  } catch (error) {
    db.close()
    const { errcode = 0 } = error as { errcode?: number }
    if (BUSY.includes(errcode)) return null
    if (errcode !== SQLITE_NOTADB) throw error
    // Nobody can hold a lock on a damaged file.
    await truncate(lock)
    return acquire(lock)
  }
}

/** A separate file, because other processes cannot read the lock file while it is locked. */
const holderFile = (lock: string) => `${lock}.holder`

async function readHolder(lock: string): Promise<Holder> {
  try {
    const { pid, host } = JSON.parse(await readFile(holderFile(lock), 'utf8'))
    return { pid: Number(pid), ...(host === hostname() ? {} : { host: String(host) }) }
  } catch {
    // The holder has just started or ended.
    return {}
  }
}
