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

/** Blobs whose new place is noted together: so many are copied again after a kill. */
const AT_A_TIME = { count: 256, bytes: 256 * 1024 ** 2 }
/** For so long no blob is deleted for good; then the sweeper gets its turn. */
const HOLD_MS = 5 * 60_000
const TURN_MS = 20_000
const CLAIM_MS = 15_000
/** Between two looks for what has been uploaded meanwhile. */
const PAUSE_MS = 1000
/**
 * A transaction that had recorded a blob before it could see the move has ended by then: its
 * statements have limits.
 */
const SETTLED_MS = 20_000
/** If more blobs cannot be moved, it is not the fault of these. */
const MOST_FAILED = 10_000
/** So many of them are named. */
const NAMED = 20

interface MoveOptions {
  /** Blobs that are copied at once. */
  atOnce: number
  /** The most bytes that are copied in a second; undefined for all that is possible. */
  bytesPerSecond?: number | undefined
  /** For how long it waits for uploads that began in the first store, in milliseconds. */
  waitMs: number
  /** Whether the move ends although some blobs cannot be moved. */
  leaveBehind?: boolean
  /** The age at which a move may end, in milliseconds. */
  settledMs?: number
  progress: Progress
}

export interface Moved {
  count: number
  bytes: number
  /** Moved as they are, which is not as they were uploaded. */
  damaged: number
  /** Those that are still in the first store, or in none. */
  failed: number
  /** Some of them. */
  failures: { id: string; reason: string }[]
  left: Unmoved
  isFinished: boolean
}

type Blob = Awaited<ReturnType<typeof unmovedAfter>>[number]

/**
 * Runs work that no other process does at the same time. @param work is given what throws when
 * another one may have begun
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
        'Another process is moving the blobs. Wait until it has ended, or end it.',
      )
    progress.step('Waiting for another process that is moving the blobs, or has been killed')
  }
  // It notices in time that it could not.
  const timer = setInterval(() => renew().catch(() => {}), CLAIM_MS / 5)
  try {
    return await work(() => {
      if (Date.now() > until)
        throw new Error(
          'The database could not be reached for some time. Run the command again: it continues.',
        )
    })
  } finally {
    clearInterval(timer)
    await releaseMove(db, number, claim).catch(() => {})
  }
}

/** Lets no more bytes pass in a second. */
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

/** What the system says of a store rather than of a blob. */
const ofStore = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'])

const reasonOf = (lost: Lost) => (lost instanceof BlobUnreadable ? lost.code : lost.message)

/** A blob that cannot be moved for now, where others can. */
class Unmovable extends Error {}

/**
 * Copies all blobs to the second store, and those that come meanwhile; each is read back before the
 * ledger says that it is there. One that cannot be moved stays where it is, and is tried again by
 * the next run. Killed, it is run again and continues. Ends when all have been moved, or when only
 * those are left that cannot be moved, and uploads under way, for which it has waited.
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
        `More than ${MOST_FAILED} files cannot be moved, such as the blob ${id} (${reason}). Correct that, and run the command again: it continues.`,
      )
    if (named.has(id) || named.size >= NAMED) return
    named.add(id)
    progress.warn(`The blob ${id} cannot be moved: ${reason}. It stays where it is.`)
  }

  /** Why one blob cannot be moved. @throws the error if it is one of a store */
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

  /** @throws Unmovable unless the second store has a blob that the first one did not give */
  async function requireThere({ id, size, crc32 }: Blob, lost: Error | undefined): Promise<void> {
    if (lost instanceof BlobUnreadable) throw new Unmovable(reasonOf(lost))
    if ((await to.look(id))?.size === size) {
      // What an earlier run wrote and did not get back as it was is there, too.
      if (crc32 === null || (await crc32OfBlob(to, id)) === crc32) return
      throw new Unmovable(
        'the new store has it with other bytes, and the old store did not give it',
      )
    }
    throw new Unmovable(
      (await from.look(id))
        ? 'the old store has it, but did not give it'
        : 'it is in neither store',
    )
  }

  /**
   * Compares what was copied with what was uploaded. @throws Unmovable if what was read, or what
   * was written, cannot be trusted
   */
  async function compare({ id, size, crc32 }: Blob, copied: Copied): Promise<void> {
    if ((await digestOfBlob(to, id)) !== copied.sha256)
      throw new Unmovable('the new store does not give back what was written to it')
    const isDamaged = copied.size !== size || (crc32 !== null && crc32 !== copied.crc32)
    // What was only read wrongly must not replace what is intact.
    if (isDamaged && (await digestOfBlob(from, id)) !== copied.sha256)
      throw new Unmovable('the old store does not give the same bytes twice')
    moved.count += 1
    moved.bytes += copied.size
    if (!isDamaged) return
    moved.damaged += 1
    progress.warn(
      `The blob ${id} is not what was uploaded: the old store had damaged it. It was moved as it is.`,
    )
  }

  /** @returns whether the second store has the blob as the first one has it */
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
   * Moves what there is, for as long as deletions may wait. @returns the last id, from which to go
   * on; '' if nothing is left
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

  /** From the first blob to the last. */
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
              'The database could not be reached: deletions of files go on in five minutes.',
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
      // Only what has failed twice: once may have been a fault of the network.
      const isTried = [...failed.keys()].every(id => failedBefore.has(id))
      const behind = leaveBehind && isTried ? [...failed.keys()] : []
      const isFinished = began >= settledAt && (await finishMove(db, number, Date.now(), behind))
      const left = await countUnmoved(db, number)
      const failures = [...failed].slice(0, NAMED).map(([id, reason]) => ({ id, reason }))
      const result = { ...moved, failed: failed.size, failures, left, isFinished }
      if (isFinished) return result
      // What has failed is tried once more.
      const isSettled = moved.count === before && (isTried || !leaveBehind)
      if (began >= settledAt && left.files <= failed.size && isSettled) {
        if (left.uploads > 0)
          progress.step(`Waiting for ${left.uploads} uploads that began in the old store`)
        waitedSince ??= Date.now()
        if (left.uploads === 0 || Date.now() - waitedSince >= waitMs) return result
      }
      // Looking reads the whole ledger.
      await sleep(Math.max(PAUSE_MS, 10 * (Date.now() - looked), settledAt - Date.now()))
    }
  }

  return alone(moving, progress, rounds)
}
