import { setTimeout as sleep } from 'node:timers/promises'
import { v4 as newId } from 'uuid'
import type { Db } from '../../db/index.ts'
import {
  claimMove,
  countUnmoved,
  finishMove,
  insertMove,
  lastMove,
  releaseMove,
  setStores,
  type Unmoved,
  unmovedAfter,
} from '../../db/queries/store-move.ts'
import { BlobUnreadable, copyBlobs, digestOfBlob, eachAtOnce, type Outcome } from '../backup/copy.ts'
import { type Hold, holdDeletions } from '../backup/hold.ts'
import { BackupError } from '../backup/problem.ts'
import type { Progress } from '../backup/progress.ts'
import type { BlobStore } from '../storage/store.ts'

/** Blobs whose new place is noted together: so many are copied again after a kill. */
const AT_A_TIME = { count: 256, bytes: 256 * 1024 ** 2 }
/** For so long no blob is deleted for good; then the sweeper gets its turn. */
const HOLD_MS = 5 * 60_000
const TURN_MS = 20_000
const CLAIM_MS = 15_000
/** Between two looks for what has been uploaded meanwhile. */
const PAUSE_MS = 1000
/** Blobs that are looked for before a move begins: not every store has a label that tells a wrong one. */
const SAMPLE = 100

export interface Moving {
  db: Db
  from: BlobStore
  to: BlobStore
  /** Of the second store. */
  number: number
}

interface MoveOptions {
  /** Blobs that are copied at once. */
  atOnce: number
  /** The most bytes that are copied in a second; undefined for all that is possible. */
  bytesPerSecond?: number | undefined
  /** For how long it waits for uploads that began in the first store, in milliseconds. */
  waitMs: number
  progress: Progress
}

export interface Moved {
  count: number
  bytes: number
  /** In neither store. */
  missing: number
  /** Moved as they are, which is not as they were uploaded. */
  damaged: number
  /** Still in the first store, because it cannot read them. */
  unreadable: number
  left: Unmoved
  isFinished: boolean
}

type Blob = Awaited<ReturnType<typeof unmovedAfter>>[number]

/**
 * Begins a move, after which new blobs go to the second store. One that has begun goes on.
 * @throws BackupError if the first store is not the one that has the blobs
 */
export async function beginMove({ db, from, to, number }: Moving): Promise<void> {
  const last = await lastMove(db)
  if (last?.number === number) return
  const some = await unmovedAfter(db, number, '', SAMPLE)
  const found = await eachAtOnce(some, ({ id }) => from.look(id))
  if (some.length > 0 && found.every(there => there === null))
    throw new BackupError(
      `${from.label} has none of the files that were looked for, such as the blob ${some[0]?.id}. Correct the settings that begin with MOVE_FROM_. If these files are lost, delete them first: "npm run doctor" names them.`,
    )
  const labels = { source: from.label.slice(0, 500), target: to.label.slice(0, 500) }
  await insertMove(db, { number, ...labels, startedAt: Date.now(), finishedAt: null })
}

/** Runs work that no other process does at the same time. @param work is given what throws when another one may have begun */
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
      throw new BackupError('Another process is moving the blobs. Wait until it has ended, or end it.')
    progress.step('Waiting for another process that is moving the blobs, or has been killed')
  }
  // It notices in time that it could not.
  const timer = setInterval(() => renew().catch(() => {}), CLAIM_MS / 5)
  try {
    return await work(() => {
      if (Date.now() > until)
        throw new Error('The database could not be reached for some time. Run the command again: it continues.')
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

/**
 * Copies all blobs to the second store, and those that come meanwhile; each is read back before the ledger says that it is there. Killed, it is
 * run again and continues. Ends when all have been moved, or when only uploads under way are left, for which it has waited.
 * @throws BackupError
 */
export function moveBlobs(moving: Moving, options: MoveOptions): Promise<Moved> {
  const { db, from, to, number } = moving
  const { progress, atOnce, waitMs, bytesPerSecond } = options
  const copying = { atOnce, ...paceOf(bytesPerSecond) }
  const moved = { count: 0, bytes: 0, missing: 0, damaged: 0, unreadable: 0 }
  const unreadable = new Set<string>()

  /** What became of a blob whose bytes were not copied. @returns whether there is nothing left to move */
  async function explain({ id, size }: Blob, outcome: Error | undefined): Promise<boolean> {
    if (outcome instanceof BlobUnreadable) {
      if (!unreadable.has(id))
        progress.warn(
          `The blob ${id} cannot be read in the old store (${outcome.code}). It stays there: run the command again.`,
        )
      unreadable.add(id)
      return false
    }
    if ((await to.look(id))?.size === size) return true
    if (await from.look(id))
      throw new Error(`The old store did not give the blob ${id}, but has it. Run the command again.`)
    moved.missing += 1
    progress.warn(`The blob ${id} is in neither store. See "npm run doctor".`)
    return true
  }

  /** @returns whether the second store has the blob as the first one has it */
  async function verify(blob: Blob, outcome: Outcome | undefined): Promise<boolean> {
    if (!outcome || outcome instanceof Error) return explain(blob, outcome)
    const { id, size, crc32 } = blob
    const read = await digestOfBlob(to, id)
    if (read !== outcome.sha256)
      throw new Error(`The new store does not give back what was written to it: the blob ${id} differs.`)
    moved.count += 1
    moved.bytes += outcome.size
    if (outcome.size !== size || (crc32 !== null && crc32 !== outcome.crc32)) {
      // What was only read wrongly must not replace what is intact.
      if ((await digestOfBlob(from, id)) !== outcome.sha256)
        throw new Error(`The old store does not give the same bytes twice: the blob ${id}. Run the command again.`)
      moved.damaged += 1
      progress.warn(`The blob ${id} is not what was uploaded: the old store had damaged it. It was moved as it is.`)
    }
    return true
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

  /** Moves what there is, for as long as deletions may wait. @returns the last id, from which to go on; '' if nothing is left */
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

  async function passes(check: () => void): Promise<Moved> {
    let waitedSince: number | undefined
    const { files, bytes } = await countUnmoved(db, number)
    progress.step('Moving files', { items: files, bytes })
    for (let after = ''; ; ) {
      const began = Date.now()
      const hold = await holdDeletions(db)
      try {
        after = await pass(after, check, hold)
      } finally {
        await hold
          .end()
          .catch(() => progress.warn('The database could not be reached: deletions of files go on in five minutes.'))
      }
      check()
      if (after !== '') {
        await sleep(TURN_MS)
        continue
      }
      const isFinished = await finishMove(db, number, Date.now())
      const left = await countUnmoved(db, number)
      const result = { ...moved, unreadable: unreadable.size, left, isFinished }
      if (isFinished) return result
      if (left.files <= unreadable.size) {
        waitedSince ??= Date.now()
        progress.step(`Waiting for ${left.uploads} uploads that began in the old store`)
        if (left.uploads === 0 || Date.now() - waitedSince >= waitMs) return result
      }
      // Looking reads the whole ledger.
      await sleep(Math.max(PAUSE_MS, 10 * (Date.now() - began)))
    }
  }

  return alone(moving, progress, passes)
}
