import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { deleteMarked, endCopies } from '../../db/queries/blob.ts'
import { isHeld } from '../../db/queries/deletion-hold.ts'
import { deleteEndedSession, endedSessionsAfter, recount } from '../../db/queries/doctor.ts'
import {
  bucketsOfVersions,
  filesOfBlob,
  isNamed,
  isUsed,
  type LedgerRow,
  ledgerAfter,
  ledgerOf,
  recountReferences,
  setSize,
} from '../../db/queries/doctor-ledger.ts'
import { miscountedRequestsAfter, recountRequest } from '../../db/queries/doctor-requests.ts'
import { removePreviewOf } from '../../db/queries/preview.ts'
import { endOverdue } from '../services/uploads/upload-end.ts'
import { type Installation, type Problem, rowsOf } from './check.ts'
import { inBucket, inBuckets, retotal } from './repair.ts'

const PAGE = 1000

interface StoredObject {
  key: string
  size: number
  createdAt: Date
}

/**
 * Walks through ledger and store in parallel, both in key order. They are read at different times,
 * so every difference is checked again before it is reported.
 */
export async function* compareLedgerWithStore(installation: Installation): AsyncGenerator<Problem> {
  const rows = rowsOf(after => ledgerAfter(installation.db, after, PAGE))
  const objects = installation.store.list()[Symbol.asyncIterator]()
  const next = async <T>(from: AsyncIterator<T>) => {
    const { done, value } = await from.next()
    return done ? undefined : value
  }
  let row = await next(rows)
  let object = await next(objects)
  while (row || object) {
    if (object && (!row || object.key < row.id)) {
      yield* judgeUnknown(installation, object)
      object = await next(objects)
    } else if (row) {
      const itsObject = object?.key === row.id ? object : undefined
      yield* judgeRow(installation, row, itsObject)
      row = await next(rows)
      if (itsObject) object = await next(objects)
    }
  }
}

/**
 * Judges an object without a ledger row. The row is written before the object, so an old object
 * without a row is left over.
 */
async function* judgeUnknown(
  { db, store, graceMs }: Installation,
  { key, createdAt }: StoredObject,
): AsyncGenerator<Problem> {
  if (createdAt.getTime() > Date.now() - graceMs) return
  if (await isNamed(db, key)) return
  const problem = { kind: 'object-unknown', id: key } as const
  if (!isUuid(key)) {
    yield {
      ...problem,
      message:
        'This object does not belong to this service. Remove it yourself if nothing else needs it.',
    }
    return
  }
  yield {
    ...problem,
    message: 'The store has this object, but the database does not.',
    repair: () => store.remove([key]),
  }
}

async function* judgeRow(
  installation: Installation,
  row: LedgerRow,
  object: StoredObject | undefined,
): AsyncGenerator<Problem> {
  const { db, store, graceMs } = installation
  const { id, bucketId, state } = row
  const overdue = row.leaseUntil < Date.now() - graceMs
  if (state === 'staged' && overdue)
    yield {
      kind: 'upload-overdue',
      id,
      message: 'This upload has died, but its reservation remains.',
      repair: () => db.transaction(tx => endOverdue(db, bucketId, id, tx, Date.now() - graceMs)),
    }
  if (state === 'copied' && overdue)
    yield {
      kind: 'copy-overdue',
      id,
      message: 'These bytes were copied for an upload that is no longer being completed.',
      repair: () => endCopies(db, { before: row.leaseUntil + 1, id }),
    }
  // A running backup still needs the object.
  if (state === 'deleting' && overdue && !(await isHeld(db, Date.now())))
    yield {
      kind: 'removal-overdue',
      id,
      message: 'This object should have been removed.',
      repair: async () => {
        if ((await isUsed(db, id)) || (await isHeld(db, Date.now()))) return false
        await store.remove([id])
        return deleteMarked(db, [id])
      },
    }
  if (state !== 'live') return
  if (row.named !== row.refCount || row.named === 0) yield miscounted(db, row)
  if (row.named > 0 && (object?.size !== row.size || object.size !== namerOf(row).size))
    yield* judgeBytes(installation, row)
}

function miscounted(db: Db, { id, named, refCount }: LedgerRow): Problem {
  const repair = () => db.transaction(tx => recountReferences(db, id, tx))
  if (named > 0)
    return {
      kind: 'blob-references',
      id,
      message: `The ledger counts ${refCount} files and versions with these bytes, but there are ${named}.`,
      repair,
    }
  return {
    kind: 'blob-unnamed',
    id,
    message: 'The ledger lists this object as live, but no file or version names it.',
    repair,
  }
}

/** A file or version that names an object, preferably one whose size differs from the ledger. */
function namerOf({ entryId, entrySize, versionId, versionSize, previewId, size }: LedgerRow): {
  name: string
  size: number | null
} {
  if (previewId !== null) return { name: `preview ${previewId}`, size }
  return entryId === null || (entrySize === size && versionSize !== null && versionSize !== size)
    ? { name: `version ${versionId}`, size: versionSize }
    : { name: `file ${entryId}`, size: entrySize }
}

/**
 * The object of a file or version is missing, or its size differs from the recorded one. Checks the
 * row and this object again.
 */
async function* judgeBytes(
  { db, store }: Installation,
  { id }: LedgerRow,
): AsyncGenerator<Problem> {
  const object = await store.look(id)
  const row = await ledgerOf(db, id)
  if (row?.state !== 'live' || row.named === 0) return
  const { size } = row
  const { name: named, size: namedSize } = namerOf(row)
  if (row.previewId !== null && object?.size !== size) {
    yield {
      kind: object ? 'size-differs' : 'object-missing',
      id,
      message: `The bytes of the ${named} are not what was stored. It is made again when it is next asked for.`,
      repair: () => db.transaction(tx => removePreviewOf(db, id, tx)),
    }
    return
  }
  if (!object) {
    yield {
      kind: 'object-missing',
      id,
      message: `The bytes of the ${named} are not in the store. Restore them from a backup under this key.`,
    }
    return
  }
  if (object.size === size && size === namedSize) return
  const problem = {
    kind: 'size-differs',
    id,
    message: `The store has ${object.size} bytes, the ledger says ${size}, and the ${named} says ${namedSize}.`,
  } as const
  // If two of three sizes agree, including the store's, the third is wrong. Otherwise the bytes may
  // be damaged.
  if (object.size !== size && object.size !== namedSize) yield problem
  else
    yield {
      ...problem,
      repair: () => correctSize(db, { id, size: object.size }),
    }
}

/** Corrects the size of an object, and the totals of the files and versions that use it. */
async function correctSize(db: Db, blob: { id: string; size: number }): Promise<void> {
  const files = await filesOfBlob(db, blob.id)
  const buckets = [...files.map(file => file.bucketId), ...(await bucketsOfVersions(db, blob.id))]
  await inBuckets(db, buckets, async tx => {
    await setSize(db, blob, tx)
    for (const { id } of files) await retotal(db, id, tx)
    for (const id of new Set(buckets)) await recount(db, id, tx)
  })
}

/** Checks that every multipart upload has a staged blob. Both end in one transaction. */
export async function* checkUploads({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id } of rowsOf(after => endedSessionsAfter(db, after, PAGE)))
    yield {
      kind: 'upload-ended',
      id,
      message: 'This upload in parts has ended, but its row remains.',
      repair: () => deleteEndedSession(db, id),
    }
}

/**
 * Checks that file requests reserve the size of their incoming uploads. Both end in one
 * transaction.
 */
export async function* checkFileRequests({ db }: Installation): AsyncGenerator<Problem> {
  for await (const { id, bucketId } of rowsOf(after => miscountedRequestsAfter(db, after, PAGE)))
    yield {
      kind: 'request-counts',
      id,
      message: 'The reservation of this file request differs from its unfinished uploads.',
      repair: () => inBucket(db, bucketId, tx => recountRequest(db, id, tx)),
    }
}
