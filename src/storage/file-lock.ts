import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { lstat, readlink, symlink, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../errors.ts'
import { codeOf, ifThere } from './files.ts'

/** Locks are held for milliseconds: after this time, the owner must have died. */
const staleMs = 30_000
const patienceMs = 10_000

/** The PID namespace, in which a process id is unique: containers may share a host name. */
const space = (() => {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
  } catch {
    return hostname()
  }
})()
const instance = randomUUID()

function isDead(owner: string): boolean {
  const [where, pid, who] = owner.split('/')
  if (where !== space) return false
  if (Number(pid) === process.pid) return who !== instance
  try {
    return !process.kill(Number(pid), 0)
  } catch (error) {
    return (error as { code?: unknown }).code === 'ESRCH'
  }
}

/** Removes a lock whose owner is gone. @returns whether the lock is held */
export async function isLocked(path: string): Promise<boolean> {
  const owner = await ifThere(readlink(path))
  if (owner === undefined) return false
  const age = Date.now() - ((await ifThere(lstat(path)))?.mtimeMs ?? 0)
  if (age < staleMs && !isDead(owner)) return true
  await ifThere(unlink(path))
  return false
}

/** Polls until the condition holds. @throws Unavailable after 10 seconds */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await holds()); await sleep(10))
    if (Date.now() > end)
      throw new Unavailable('blob store', new Error('A lock in the blob store is held for too long.'))
}

/**
 * Runs short work while this path is locked against all other instances on this file system. A symbolic link is created atomically with
 * its owner's name, so a lock always has an owner, and a lock of a killed process is detected immediately on the same machine.
 * @param work receives a check that the lock has not been lost, as by a process that was suspended for long
 */
export async function locked<T>(path: string, work: (held: () => Promise<void>) => Promise<T>): Promise<T> {
  const owner = `${space}/${process.pid}/${instance}/${randomUUID()}`
  const acquire = () =>
    symlink(owner, path).then(
      () => true,
      error => {
        if (codeOf(error) !== 'EEXIST') throw error
        return false
      },
    )
  await eventually(async () => (await acquire()) || (!(await isLocked(path)) && (await acquire())))
  const isMine = async () => (await ifThere(readlink(path))) === owner
  try {
    return await work(async () => {
      if (!(await isMine())) throw new Unavailable('blob store', new Error('A lock in the blob store was lost.'))
    })
  } finally {
    if (await isMine().catch(() => false)) await unlink(path).catch(() => {})
  }
}
