import type { Db } from '../../db/index.ts'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import type { Totals } from '../../db/queries/bucket.ts'
import {
  type BucketCounts,
  bucketCountsAfter,
  detachedAfter,
  type EntryReferences,
  emptyTrashItemsAfter,
  entriesAfter,
  isDetached,
  isEnding,
  isTop,
  purgesAmong,
  recount,
  totalsOfFolders,
  troubledJobsAfter,
} from '../../db/queries/doctor.ts'
import { stagesAmong } from '../../db/queries/entry-copy.ts'
import { GIVEN_UP } from '../../db/queries/job.ts'
import { deleteTrashItems } from '../../db/queries/trash-item.ts'
import { enqueue } from '../services/job.ts'
import { purgeFolderJob } from '../services/tree/purge.ts'
import { type Installation, type Problem, pages, rowsOf } from './check.ts'
import { climb, inBucket, reattach, retotal, reviveBlob, same } from './repair.ts'

const PAGE = 500
const BUCKETS = 100
/**
 * The number of failed tries from which a job is reported. By then it has failed for more than a
 * minute.
 */
const MANY_TRIES = 5

const say = ({ bytes, files, folders }: Totals) =>
  `${files} files, ${folders} folders and ${bytes} bytes`

/**
 * Checks that every entry has a parent or is a root, every file has a live blob, and every folder
 * has correct totals.
 */
export async function* checkEntries(installation: Installation): AsyncGenerator<Problem> {
  const { db } = installation
  const page = (after: string) => entriesAfter(db, after, PAGE)
  for await (const rows of pages(page, row => row.id)) {
    for (const row of rows) yield* judgeEntry(installation, row)
    yield* judgeTotals(
      db,
      rows.filter(row => row.kind === FOLDER && row.parentId !== null),
    )
  }
}

async function* judgeEntry(
  { db, store }: Installation,
  row: EntryReferences,
): AsyncGenerator<Problem> {
  const { id, bucketId, parentId, kind, blobId } = row
  const [what, deleted] = [
    kind === FILE ? 'file' : 'folder',
    parentId === null && kind === FOLDER && row.name !== '',
  ]
  if (row.rootId === null && !(await isBelowDeleted(db, id)))
    yield {
      kind: 'bucket-missing',
      id,
      message: `The storage area of this ${what} does not exist.`,
    }
  const detached = deleted || (parentId === null && row.trashId !== null)
  if (row.parent === null && id !== row.rootId && !detached && row.rootId !== null)
    yield {
      kind: 'parent-missing',
      id,
      message: `The folder of this ${what} does not exist, so it cannot be opened.`,
      repair: () => db.transaction(tx => reattach(db, id, bucketId, tx)),
    }
  if (kind !== FILE || row.blobState === 'live') return
  yield {
    kind: 'file-without-blob',
    id,
    message: `This file names the object ${blobId ?? '(none)'}, which ${row.blobState ? `is ${row.blobState}` : 'has no row in the ledger'}.`,
    repair: async () => blobId !== null && reviveBlob({ db, store }, bucketId, blobId),
  }
}

/** The purge of a workspace deletes its bucket while other purges in it may still run. */
async function isBelowDeleted(db: Db, id: string): Promise<boolean> {
  const { top } = await climb(db, id)
  return top?.parentId === null && (await isDetached(db, top.id))
}

async function* judgeTotals(db: Db, folders: EntryReferences[]): AsyncGenerator<Problem> {
  if (folders.length === 0) return
  const totals = await totalsOfFolders(
    db,
    folders.map(f => f.id),
  )
  for (const { id, counted, there } of totals) {
    if (same(counted, there)) continue
    const { top, chain } = await climb(db, id)
    if (chain.length === 0) continue
    if (!top)
      yield {
        kind: 'folder-loop',
        id,
        message: 'This folder is inside itself, so it cannot be opened.',
      }
    else if (top.parentId === null && (await isKept(db, top.id, top.bucketId)))
      yield {
        kind: 'folder-totals',
        id,
        message: `The totals of this folder are ${say(counted)}; it contains ${say(there)}.`,
        repair: () => inBucket(db, top.bucketId, tx => retotal(db, id, tx)),
      }
  }
}

/**
 * Whether an entry is in the trash or below the root of a bucket that is not being purged. Purged
 * content is no longer counted.
 */
async function isKept(db: Db, topId: string, bucketId: string): Promise<boolean> {
  return (await isTop(db, topId, bucketId)) && !(await isEnding(db, bucketId))
}

/**
 * Checks the bucket totals: the content of its tree, reservations of uploads, the trash, and
 * deleted folders that are not purged yet.
 */
export async function* checkBuckets({ db }: Installation): AsyncGenerator<Problem> {
  for await (const row of rowsOf(after => bucketCountsAfter(db, after, BUCKETS)))
    yield* judgeBucket(db, row)
}

async function* judgeBucket(db: Db, counts: BucketCounts): AsyncGenerator<Problem> {
  const { id, used, there, reserved, held, purging, purges, counted, kept } = counts
  const wrong = [
    same(used, there) ? '' : `counts ${say(used)}, but has ${say(there)}`,
    reserved.bytes === held.bytes && reserved.files === held.files
      ? ''
      : `reserves ${reserved.bytes} bytes for ${reserved.files} files, but its uploads need ${held.bytes} for ${held.files}`,
    purging === purges ? '' : `counts ${purging} folders to be purged, but there are ${purges}`,
    counted.items === kept.items && counted.bytes === kept.bytes
      ? ''
      : `counts ${counted.items} items in its trash and ${counted.bytes} bytes in them and in versions, but there are ${kept.items} and ${kept.bytes}`,
  ].filter(Boolean)
  if (wrong.length === 0 || (await isEnding(db, id))) return
  yield {
    kind: 'bucket-counts',
    id,
    message: `This storage area ${wrong.join('; ')}.`,
    repair: () => inBucket(db, id, tx => recount(db, id, tx)),
  }
}

/** Checks that the entry of every trash item is in no tree. */
export async function* checkTrash({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id, bucketId } of rowsOf(after => emptyTrashItemsAfter(db, after, PAGE)))
    yield {
      kind: 'trash-item-empty',
      id,
      message: 'This item in a trash has no entry to restore.',
      repair: () =>
        inBucket(db, bucketId, async tx => {
          await deleteTrashItems(db, [id], tx)
          await recount(db, bucketId, tx)
        }),
    }
}

/**
 * Checks that every deleted folder has a purge job. The source list of a background copy also waits
 * in a job.
 */
export async function* checkPurges({ db }: Installation): AsyncGenerator<Problem> {
  const page = (after: string) => detachedAfter(db, after, PAGE)
  for await (const rows of pages(page, row => row.name)) {
    const jobs = rows.map(({ id, bucketId }) => ({ folderId: id, bucketId }))
    // Read before the jobs, because the end of an abandoned copy creates a job.
    const stages = await stagesAmong(
      db,
      rows.map(({ id }) => id),
    )
    const known = await purgesAmong(
      db,
      jobs.map(job => JSON.stringify(job)),
    )
    for (const job of jobs) {
      // The row is deleted before its job, so a row without a job was forgotten.
      if (
        stages.has(job.folderId) ||
        known.has(JSON.stringify(job)) ||
        !(await isDetached(db, job.folderId))
      )
        continue
      yield {
        kind: 'purge-forgotten',
        id: job.folderId,
        message: 'This deleted folder waits to be purged, but there is no job for it.',
        repair: () => db.transaction(tx => enqueue(db, purgeFolderJob, job, tx)),
      }
    }
  }
}

/** Reports jobs that fail repeatedly, because they need an operator. */
export async function* checkJobs({ db }: Installation): AsyncGenerator<Problem> {
  const jobs = rowsOf(after => troubledJobsAfter(db, after, MANY_TRIES, PAGE))
  for await (const { id, kind, attempts, dueAt, lastError } of jobs)
    yield dueAt === GIVEN_UP
      ? {
          kind: 'job-given-up',
          id,
          message: `A job "${kind}" was given up after ${attempts === 1 ? '1 try' : `${attempts} tries`}: ${lastError}`,
        }
      : {
          kind: 'job-failing',
          id,
          message: `A job "${kind}" has failed ${attempts} times: ${lastError}`,
        }
}
