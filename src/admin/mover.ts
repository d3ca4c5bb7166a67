import { setTimeout as sleep } from 'node:timers/promises'
import { v4 as newId } from 'uuid'
import {
  claimMove,
  countUnmoved,
  finishMove,
  lastMove,
  releaseMove,
  setStores,
  type Unmoved,
  unmovedAfter,
} from '../../db/queries/store-move.ts'
import {
  BlobUnreadable,
  type Copied,
  copyBlobs,
  crc32OfBlob,
  digestOfBlob,
  eachAtOnce,
  type Lost,
  type Outcome,
  orLost,
} from '../backup/copy.ts'
import { type Hold, holdDeletions } from '../backup/hold.ts'
import { BackupError } from '../backup/problem.ts'
import type { Progress } from '../backup/progress.ts'
import { causesOf } from '../runtime/errors.ts'
import type { Moving } from './begin-move.ts'

/** The batch size for recording moved blobs. After a kill, up to this many are copied again. */
const AT_A_TIME = { count: 256, bytes: 256 * 1024 ** 2 }
/** How long deletions stay paused at a time, before the sweeper gets its turn. */
const HOLD_MS = 5 * 60_000
const TURN_MS = 20_000
const CLAIM_MS = 15_000
/** The interval of checks for newly uploaded blobs. */
const PAUSE_MS = 1000
/**
 * By then, every transaction that recorded a blob before it could see the move has ended, because
 * statements have time limits.
 */
const SETTLED_MS = 20_000
/** If more blobs than this fail, the fault is not with the blobs. */
const MOST_FAILED = 10_000
/** The number of failures that are listed. */
const NAMED = 20

interface MoveOptions {
  /** The number of concurrent copies. */
  atOnce: number
  /** The maximum bytes per second; undefined for no limit. */
  bytesPerSecond?: number | undefined
  /** The time to wait for uploads that began in the first store, in milliseconds. */
  waitMs: number
  /** Whether the move finishes although some blobs cannot be moved. */
  leaveBehind?: boolean
  /** The age at which a move may finish, in milliseconds. */
  settledMs?: number
  progress: Progress
}

export interface Moved {
  count: number
  bytes: number
  /** Blobs that were moved although they differ from their upload. */
  damaged: number
  /** Blobs that are still in the first store, or in none. */
  failed: number
  /** Some of the failures. */
  failures: { id: string; reason: string }[]
  left: Unmoved
  isFinished: boolean
}

type Blob = Awaited<ReturnType<typeof unmovedAfter>>[number]

/**
 * Runs work that no other process may run at the same time.
 * @param work receives a check that throws if another process may have started
 */
async function alone<T>(
  { db, number }: Moving,
  progress: Progress,
  work: (check: () => void) => Promise<T>,
): Promise<T> {
  const claim = newId()
  let until = 0
  const renew = async () => {
    const now = Date.now()
    if (!(await claimMove(db, number, claim, now, now + CLAIM_MS))) return false
    until = now + CLAIM_MS
    return true
  }
  for (const end = Date.now() + CLAIM_MS + 5000; !(await renew()); await sleep(500)) {
    if (Date.now() > end)
      throw new BackupError(
        'Another process is moving the blobs. Wait until it has finished, or stop it.',
      )
    progress.step('Waiting for another process that is moving the blobs or has been killed')
  }
  // If renewals fail, the check below throws before the claim expires.
  const timer = setInterval(() => renew().catch(() => {}), CLAIM_MS / 5)
  try {
    return await work(() => {
      if (Date.now() > until)
        throw new Error(
          'The database could not be reached for some time. Run the command again to continue.',
        )
    })
  } finally {
    clearInterval(timer)
    await releaseMove(db, number, claim).catch(() => {})
  }
}

/** Limits the copied bytes per second. */
function paceOf(bytesPerSecond: number | undefined): { pace?: (bytes: number) => Promise<void> } {
  if (bytesPerSecond === undefined) return {}
  let free = 0
  return {
    async pace(bytes) {
      const now = performance.now()
      free = Math.max(free, now) + (bytes / bytesPerSecond) * 1000
      await sleep(Math.max(0, free - now))
    },
  }
}

/** System errors that concern a store, not a single blob. */
const ofStore = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'])

const reasonOf = (lost: Lost) => (lost instanceof BlobUnreadable ? lost.code : lost.message)

/** Thrown for a blob that cannot be moved now, while others can. */
class Unmovable extends Error {}

/**
 * Copies all blobs to the second store, including new ones. Reads each back before the ledger
 * records it there. A blob that cannot be moved stays in place, and the next run retries it. If it
 * is killed, the next run resumes. Ends when all blobs have been moved, or when only unmovable
 * blobs and timed-out uploads are left.
 * @throws BackupError
 */
export function moveBlobs(moving: Moving, options: MoveOptions): Promise<Moved> {
  const { db, from, to, number } = moving
  const {
    progress,
    atOnce,
    waitMs,
    bytesPerSecond,
    leaveBehind = false,
    settledMs = SETTLED_MS,
  } = options
  const copying = { atOnce, lost: lostOf, ...paceOf(bytesPerSecond) }
  const moved = { count: 0, bytes: 0, damaged: 0 }
  /** Why blobs could not be moved in this round. */
  const failed = new Map<string, string>()
  const named = new Set<string>()

  function fail(id: string, reason: string): void {
    failed.set(id, reason)
    if (failed.size > MOST_FAILED)
      throw new Error(
        `More than ${MOST_FAILED} files cannot be moved, such as the blob ${id} (${reason}). Fix the cause, and run the command again to continue.`,
      )
    if (named.has(id) || named.size >= NAMED) return
    named.add(id)
    progress.warn(`The blob ${id} cannot be moved: ${reason}. It stays where it is.`)
  }

  /**
   * Returns why a blob cannot be moved.
   * @throws the error if it concerns a store
   */
  async function lostOf(error: unknown, id: string): Promise<Lost> {
    try {
      return orLost(error)
    } catch {}
    const causes = [...causesOf(error)]
    if (causes.some(({ code }) => ofStore.has(String(code)))) throw error
    const answers = await Promise.allSettled([from.ping(), to.ping()])
    if (answers.some(({ status }) => status === 'rejected')) throw error
    return new BlobUnreadable(id, String(causes.at(-1)?.message ?? error), { cause: error })
  }

  /** Checks that the second store has a blob that could not be read from the first one.
   * @throws Unmovable */
  async function requireThere({ id, size, crc32 }: Blob, lost: Error | undefined): Promise<void> {
    if (lost instanceof BlobUnreadable) throw new Unmovable(reasonOf(lost))
    if ((await to.look(id))?.size === size) {
      // An earlier run may have left a copy here that failed its verification.
      if (crc32 === null || (await crc32OfBlob(to, id)) === crc32) return
      throw new Unmovable(
        'the new store has it with different bytes, and it cannot be read from the old store',
      )
    }
    throw new Unmovable(
      (await from.look(id))
        ? 'the old store has it, but it cannot be read'
        : 'it is in neither store',
    )
  }

  /**
   * Compares the copy with the upload.
   * @throws Unmovable if the read or written bytes cannot be trusted
   */
  async function compare({ id, size, crc32 }: Blob, copied: Copied): Promise<void> {
    if ((await digestOfBlob(to, id)) !== copied.sha256)
      throw new Unmovable('the new store does not return the bytes that were written')
    const isDamaged = copied.size !== size || (crc32 !== null && crc32 !== copied.crc32)
    // A read error must not replace an intact blob, so read it again.
    if (isDamaged && (await digestOfBlob(from, id)) !== copied.sha256)
      throw new Unmovable('the old store returns different bytes on each read')
    moved.count += 1
    moved.bytes += copied.size
    if (!isDamaged) return
    moved.damaged += 1
    progress.warn(
      `The blob ${id} differs from its upload, because the old store had damaged it. It was moved as it is.`,
    )
  }

  /** @returns whether the second store has the same blob as the first */
  async function verify(blob: Blob, outcome: Outcome | undefined): Promise<boolean> {
    const { id } = blob
    try {
      if (!outcome || outcome instanceof Error) await requireThere(blob, outcome)
      else await compare(blob, outcome)
      return true
    } catch (error) {
      fail(id, error instanceof Unmovable ? error.message : reasonOf(await lostOf(error, id)))
      return false
    }
  }

  async function moveSome(blobs: Blob[], require: () => void): Promise<void> {
    const outcomes = await copyBlobs(from, to, blobs, size => progress.add(1, size), copying)
    const verified = await eachAtOnce(
      blobs,
      async blob => ((await verify(blob, outcomes.get(blob.id))) ? [blob.id] : []),
      atOnce,
    )
    require()
    const ids = verified.flat()
    if (ids.length > 0) await setStores(db, ids, number)
  }

  /**
   * Moves the existing blobs, as long as deletions may wait.
   * @returns the last id, to continue from; '' if nothing is left
   */
  async function pass(after: string, check: () => void, hold: Hold): Promise<string> {
    const end = Date.now() + HOLD_MS
    const require = () => {
      check()
      hold.require()
    }
    for (let last = after; ; ) {
      const page = await unmovedAfter(db, number, last, AT_A_TIME.count)
      let sum = 0
      const cut = page.findIndex(({ size }, i) => {
        sum += size
        return i > 0 && sum > AT_A_TIME.bytes
      })
      const some = cut < 0 ? page : page.slice(0, cut)
      last = some.at(-1)?.id ?? ''
      if (last === '') return ''
      await moveSome(some, require)
      if (Date.now() > end) return last
    }
  }

  /** Makes one pass from the first blob to the last. */
  async function round(check: () => void): Promise<void> {
    for (let after = ''; ; await sleep(TURN_MS)) {
      const hold = await holdDeletions(db)
      try {
        after = await pass(after, check, hold)
      } finally {
        await hold
          .end()
          .catch(() =>
            progress.warn(
              'The database could not be reached. Deletions of files resume in five minutes.',
            ),
          )
      }
      check()
      if (after === '') return
    }
  }

  async function rounds(check: () => void): Promise<Moved> {
    let waitedSince: number | undefined
    const { files, bytes } = await countUnmoved(db, number)
    progress.step('Moving files', { items: files, bytes })
    const settledAt = ((await lastMove(db))?.startedAt ?? 0) + settledMs
    for (let failedBefore = new Set<string>(); ; failedBefore = new Set(failed.keys())) {
      const began = Date.now()
      const before = moved.count
      failed.clear()
      await round(check)
      const looked = Date.now()
      // Count only blobs that failed twice, because a single failure may come from the network.
      const isTried = [...failed.keys()].every(id => failedBefore.has(id))
      const behind = leaveBehind && isTried ? [...failed.keys()] : []
      const isFinished = began >= settledAt && (await finishMove(db, number, Date.now(), behind))
      const left = await countUnmoved(db, number)
      const failures = [...failed].slice(0, NAMED).map(([id, reason]) => ({ id, reason }))
      const result = { ...moved, failed: failed.size, failures, left, isFinished }
      if (isFinished) return result
      // Failed blobs are retried once.
      const isSettled = moved.count === before && (isTried || !leaveBehind)
      if (began >= settledAt && left.files <= failed.size && isSettled) {
        if (left.uploads > 0)
          progress.step(`Waiting for ${left.uploads} uploads that began in the old store`)
        waitedSince ??= Date.now()
        if (left.uploads === 0 || Date.now() - waitedSince >= waitMs) return result
      }
      // Each check reads the whole ledger.
      await sleep(Math.max(PAUSE_MS, 10 * (Date.now() - looked), settledAt - Date.now()))
    }
  }

  return alone(moving, progress, rounds)
}
