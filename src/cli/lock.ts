import { mkdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import limitTo, { type LimitFunction } from 'p-limit'
import type { Failure } from './failure.ts'

/** Queues within this process, by lock. */
const turns = new Map<string, LimitFunction>()

/** The process that has a lock, as far as it is known. */
export interface Holder {
  pid?: number
  /** The computer, if it is another one. */
  host?: string
}

/**
 * Runs `work` while no other process does what has the same lock file; within this process one
 * comes after the other. The lock is one of the operating system (that of SQLite), so it ends with
 * its process, whatever ends that, and holds between computers where their file system has locks.
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

/** Another satchel, for messages. */
export const nameOf = ({ pid, host }: Holder): string => {
  const where = host === undefined ? '' : ` on ${host}`
  return pid === undefined ? 'Another satchel' : `Another satchel (process ${pid}${where})`
}

/** SQLITE_BUSY, and SQLITE_LOCKED. */
const BUSY = [5, 6]
const SQLITE_NOTADB = 26

/**
 * Null if another process has it. The file stays: one that is removed may have been opened by
 * another process, which would lock it then.
 */
async function acquire(lock: string): Promise<DatabaseSync | null> {
  const { DatabaseSync } = await import('node:sqlite')
  const now = new Date()
  const db = new DatabaseSync(lock)
  try {
    db.exec('BEGIN EXCLUSIVE')
    // It is in use, however old it is.
    await utimes(lock, now, now)
    return db
  } catch (error) {
    db.close()
    const { errcode = 0 } = error as { errcode?: number }
    if (BUSY.includes(errcode)) return null
    if (errcode !== SQLITE_NOTADB) throw error
    // Nobody can have the lock of a damaged file.
    await truncate(lock)
    return acquire(lock)
  }
}

/** Beside the lock: while that is held, other processes cannot read it. */
const holderFile = (lock: string) => `${lock}.holder`

async function readHolder(lock: string): Promise<Holder> {
  try {
    const { pid, host } = JSON.parse(await readFile(holderFile(lock), 'utf8'))
    return { pid: Number(pid), ...(host === hostname() ? {} : { host: String(host) }) }
  } catch {
    // It has just begun, or ended.
    return {}
  }
}
