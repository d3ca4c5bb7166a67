import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { doomBlobs } from '../services/ledger.ts'
import { endOverdue } from '../services/upload-session.ts'
import { type Patient, type Problem, pages } from './doctor-check.ts'
import { lockBucket, retotal } from './doctor-mend.ts'

const PAGE = 1000

interface LedgerRow {
  id: string
  bucketId: string
  state: 'staged' | 'copied' | 'live' | 'doomed'
  size: number
  leaseUntil: number
  entryId: string | null
  entrySize: number | null
}

interface StoredObject {
  key: string
  size: number
  createdAt: Date
}

const columns =
  'b.id, b.bucket_id AS bucketId, b.state, b.size, b.lease_until AS leaseUntil, e.id AS entryId, e.total_bytes AS entrySize'

async function* ledger(db: Db): AsyncGenerator<LedgerRow> {
  const page = (last: LedgerRow | undefined) =>
    db.rows<LedgerRow>(
      `SELECT ${columns} FROM blobs b LEFT JOIN entry e ON e.blob_id = b.id WHERE b.id > ? ORDER BY b.id LIMIT ${PAGE}`,
      [last?.id ?? ''],
    )
  for await (const rows of pages(page)) yield* rows
}

/**
 * Walks along ledger and store at once, both in the order of their keys. The two are read at different times, so whatever differs
 * is looked at again before it is told.
 */
export async function* compareLedgerWithStore(patient: Patient): AsyncGenerator<Problem> {
  const rows = ledger(patient.db)
  const objects = patient.store.list()[Symbol.asyncIterator]()
  const next = async <T>(from: AsyncIterator<T>) => {
    const { done, value } = await from.next()
    return done ? undefined : value
  }
  let row = await next(rows)
  let object = await next(objects)
  while (row || object) {
    if (object && (!row || object.key < row.id)) {
      yield* judgeStranger(patient, object)
      object = await next(objects)
    } else if (row) {
      const itsObject = object?.key === row.id ? object : undefined
      yield* judgeRow(patient, row, itsObject)
      row = await next(rows)
      if (itsObject) object = await next(objects)
    }
  }
}

/** An object that the ledger did not know. The row comes before the object: what has none, and is of some age, is left over. */
async function* judgeStranger(
  { db, store, graceMs }: Patient,
  { key, createdAt }: StoredObject,
): AsyncGenerator<Problem> {
  if (createdAt.getTime() > Date.now() - graceMs) return
  const known = await db.rows('SELECT id FROM blobs WHERE id = ? UNION ALL SELECT id FROM entry WHERE blob_id = ?', [
    key,
    key,
  ])
  if (known.length > 0) return
  const problem = { ailment: 'object-unknown', id: key } as const
  if (!isUuid(key)) {
    yield { ...problem, says: 'This object is none of ours. Remove it by hand, if nobody else needs it.' }
    return
  }
  yield {
    ...problem,
    says: 'The store holds this object, and nothing remembers it.',
    mend: async () => {
      await store.remove([key])
      return true
    },
  }
}

async function* judgeRow(patient: Patient, row: LedgerRow, object: StoredObject | undefined): AsyncGenerator<Problem> {
  const { db, store, graceMs } = patient
  const { id, bucketId, state } = row
  const overdue = row.leaseUntil < Date.now() - graceMs
  if (state === 'staged' && overdue)
    yield {
      ailment: 'upload-overdue',
      id,
      says: 'This upload has died, and still holds its reservation.',
      mend: async () => {
        await db.transaction(tx => endOverdue(db, bucketId, id, tx, Date.now() - graceMs))
        return true
      },
    }
  if (state === 'copied' && overdue)
    yield {
      ailment: 'copy-overdue',
      id,
      says: 'These bytes were copied for an upload that nobody is completing any more.',
      mend: async () => {
        await db.run("UPDATE blobs SET state = 'doomed' WHERE id = ? AND state = 'copied' AND lease_until <= ?", [
          id,
          row.leaseUntil,
        ])
        return true
      },
    }
  if (state === 'doomed' && overdue)
    yield {
      ailment: 'removal-overdue',
      id,
      says: 'This object should have been removed.',
      mend: async () => {
        const [named] = await db.rows('SELECT id FROM entry WHERE blob_id = ?', [id])
        if (named) return false
        await store.remove([id])
        await db.run("DELETE FROM blobs WHERE id = ? AND state = 'doomed'", [id])
        return true
      },
    }
  if (state !== 'live') return
  if (row.entryId === null) yield unnamed(db, row)
  else if (object?.size !== row.size || object.size !== row.entrySize) yield* judgeBytes(patient, row)
}

function unnamed(db: Db, { id, bucketId }: LedgerRow): Problem {
  return {
    ailment: 'blob-unnamed',
    id,
    says: 'The ledger says that this object lives, and no file names it.',
    mend: () =>
      db.transaction(async tx => {
        await lockBucket(db, bucketId, tx)
        const named = await db.rows('SELECT id FROM entry WHERE blob_id = ?', [id], tx)
        if (named.length === 0) await doomBlobs(db, [id], tx)
        return true
      }),
  }
}

/** The object of a file is missing, or of another size than remembered: looks again, and asks the store for this one. */
async function* judgeBytes({ db, store }: Patient, { id }: LedgerRow): AsyncGenerator<Problem> {
  const object = await store.look(id)
  const [row] = await db.rows<LedgerRow>(
    `SELECT ${columns} FROM blobs b LEFT JOIN entry e ON e.blob_id = b.id WHERE b.id = ?`,
    [id],
  )
  if (row?.state !== 'live' || row.entryId === null || row.entrySize === null) return
  const { entryId, bucketId, size, entrySize } = row
  if (!object) {
    yield {
      ailment: 'object-missing',
      id,
      says: `The bytes of the file ${entryId} are not in the store. Bring them back from a backup under this key.`,
    }
    return
  }
  if (object.size === size && size === entrySize) return
  const problem = {
    ailment: 'size-differs',
    id,
    says: `The store holds ${object.size} bytes, the ledger says ${size}, and the file ${entryId} says ${entrySize}.`,
  } as const
  // Two of three agree, the store among them: then the third is wrong. Otherwise it may be the bytes.
  if (object.size !== size && object.size !== entrySize) yield problem
  else
    yield {
      ...problem,
      mend: () =>
        db.transaction(async tx => {
          await lockBucket(db, bucketId, tx)
          await db.run("UPDATE blobs SET size = ? WHERE id = ? AND state = 'live'", [object.size, id], tx)
          await db.run('UPDATE entry SET total_bytes = ? WHERE id = ? AND blob_id = ?', [object.size, entryId, id], tx)
          await retotal(db, entryId, tx)
          return true
        }),
    }
}

/** An upload in parts goes on for as long as its blob is staged; both end in one transaction. */
export async function* checkUploads({ db }: Patient): AsyncGenerator<Problem> {
  const page = (last: { id: string } | undefined) =>
    db.rows<{ id: string }>(
      `SELECT s.id FROM upload_session s LEFT JOIN blobs b ON b.id = s.id AND b.state = 'staged'
       WHERE s.id > ? AND b.id IS NULL ORDER BY s.id LIMIT ${PAGE}`,
      [last?.id ?? ''],
    )
  for await (const rows of pages(page))
    for (const { id } of rows)
      yield {
        ailment: 'upload-ended',
        id,
        says: 'This upload in parts has ended, and is remembered still.',
        mend: async () => {
          await db.run(
            "DELETE FROM upload_session WHERE id = ? AND NOT EXISTS (SELECT 1 FROM blobs WHERE id = ? AND state = 'staged')",
            [id, id],
          )
          return true
        },
      }
}
