import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { lstat, lutimes, readlink, rename, symlink, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../runtime/errors.ts'
import { codeOf, ifThere, uniqueName } from './files.ts'

/**
 * A live owner refreshes its lock this often. An owner that has not done so for long, by the clock
 * of the waiting process, is dead.
 */
const refreshMs = 2000
const staleMs = 15_000
const patienceMs = 20_000

/**
 * Identifies where a process id is unique: one boot of one machine, and one PID namespace, since
 * each container numbers from 1.
 */
const space = (() => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return hostname()
  }
})()
const instance = randomUUID()

/** Whether the owner's process is visibly gone, so that waiting for its lock is needless. */
function isDead(owner: string): boolean {
  const [where, pid, run] = owner.split('/')
  if (where !== space) return false
  if (Number(pid) === process.pid) return run !== instance
  try {
    return !process.kill(Number(pid), 0)
  } catch (error) {
    return (error as { code?: unknown }).code === 'ESRCH'
  }
}

/** Creates the link. Resolves to false if one exists. */
const make = (owner: string, path: string): Promise<boolean> =>
  symlink(owner, path).then(
    () => true,
    error => {
      if (codeOf(error) !== 'EEXIST') throw error
      return false
    },
  )

/**
 * Takes a lock from a dead owner. Moves the lock first: if it belongs to another owner by now, that
 * owner gets it back.
 */
async function takeFrom(owner: string, path: string): Promise<void> {
  const aside = `${path}.${uniqueName()}`
  if (!(await ifThere(rename(path, aside).then(() => true)))) return
  const found = await readlink(aside)
  if (found !== owner) await make(found, path)
  await unlink(aside)
}

async function acquire(owner: string, path: string): Promise<void> {
  let seen = ''
  let since = 0
  for (const end = performance.now() + patienceMs; !(await make(owner, path)); await sleep(10)) {
    const now = performance.now()
    if (now > end)
      throw new Unavailable(
        'blob store',
        new Error('A lock in the blob store was held for too long.'),
      )
    const holder = await ifThere(readlink(path))
    const refreshed = (await ifThere(lstat(path)))?.mtimeMs
    // It has just been released.
    if (holder === undefined || refreshed === undefined) continue
    const sign = `${holder} ${refreshed}`
    if (sign !== seen) [seen, since] = [sign, now]
    if (isDead(holder) || now - since > staleMs) await takeFrom(holder, path)
  }
}

const turns = new Map<string, Promise<unknown>>()

/** Runs work with the same name in sequence, within this process. */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(name)
  const turn = (async () => {
    await before?.catch(() => {})
    return work()
  })()
  turns.set(name, turn)
  try {
    return await turn
  } finally {
    if (turns.get(name) === turn) turns.delete(name)
  }
}

/**
 * Runs short work while this path is locked. Turns exclude the rest of this process. A symbolic
 * link, created atomically with its owner's name, excludes all other processes on this file system.
 * @param work receives a check that the lock has not been taken away, for example after a long
 * pause of the process
 */
export const locked = <T>(
  path: string,
  work: (held: () => Promise<void>) => Promise<T>,
): Promise<T> =>
  inTurn(path, async () => {
    const owner = `${space}/${process.pid}/${instance}/${randomUUID()}`
    await acquire(owner, path)
    const isMine = async () => (await ifThere(readlink(path))) === owner
    const refresh = () => lutimes(path, new Date(), new Date()).catch(() => {})
    const refreshing = setInterval(refresh, refreshMs)
    try {
      return await work(async () => {
        if (!(await isMine()))
          throw new Unavailable('blob store', new Error('A lock in the blob store was lost.'))
      })
    } finally {
      clearInterval(refreshing)
      if (await isMine().catch(() => false)) await unlink(path).catch(() => {})
    }
  })
