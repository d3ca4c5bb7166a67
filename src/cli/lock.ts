import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import limitTo, { type LimitFunction } from 'p-limit'
import { isRunning } from '../runtime/is-running.ts'
import { Failure } from './failure.ts'

/** Queues within this process, by lock. */
const turns = new Map<string, LimitFunction>()

/**
 * Runs `work` while no other process of this user does what has the same lock file; within this process one comes after the other.
 * @param busy the failure if another process has the lock
 */
export async function withLock<T>(lock: string, busy: (pid: number) => Failure, work: () => Promise<T>): Promise<T> {
  const turn = turns.get(lock) ?? limitTo(1)
  turns.set(lock, turn)
  return turn(async () => {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
    await acquire(lock, busy)
    try {
      return await work()
    } finally {
      await rm(lock, { force: true })
    }
  })
}

/**
 * Acquires a lock file that holds the id of its process; the lock of a dead process is removed. If two processes do that at the same
 * moment, both continue: the service tolerates that.
 */
async function acquire(lock: string, busy: (pid: number) => Failure): Promise<void> {
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
        // With the own id it is stale.
        if (pid !== process.pid && isRunning(pid)) {
          const { code, message, details } = busy(pid)
          const hint = `Wait until it ends. If there is no such process, remove ${lock}`
          throw new Failure(code, `${message} ${hint}`, details)
        }
        await rm(lock, { force: true })
      }
  } finally {
    await rm(own, { force: true })
  }
}
