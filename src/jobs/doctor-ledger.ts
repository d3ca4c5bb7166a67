import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { markBlobsForDeletion } from '../services/ledger.ts'
import { endOverdue } from '../services/upload-session.ts'
import { type Installation, type Problem, pages } from './doctor-check.ts'
import { lockBucket, retotal } from './doctor-repair.ts'

const PAGE = 1000

interface LedgerRow {
  id: string
  bucketId: string
  state: 'staged' | 'copied' | 'live' | 'deleting'
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
 * Walks along ledger and store in parallel, both in the order of their keys. The two are read at different times, so every difference
 * is checked again before it is reported.
 */
export async function* compareLedgerWithStore(installation: Installation): AsyncGenerator<Problem> {
  const rows = ledger(installation.db)
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

/** An object without a row in the ledger. The row is written before the object, so an old object without a row is left over. */
async function* judgeUnknown(
  { db, store, graceMs }: Installation,
  { key, createdAt }: StoredObject,
): AsyncGenerator<Problem> {
  if (createdAt.getTime() > Date.now() - graceMs) return
  const known = await db.rows('SELECT id FROM blobs WHERE id = ? UNION ALL SELECT id FROM entry WHERE blob_id = ?', [
    key,
    key,
  ])
  if (known.length > 0) return
  const problem = { kind: 'object-unknown', id: key } as const
  if (!isUuid(key)) {
    yield { ...problem, message: 'This object is none of ours. Remove it by hand, if nobody else needs it.' }
    return
  }
  yield {
    ...problem,
    message: 'The store holds this object, and nothing remembers it.',
    repair: async () => {
      await store.remove([key])
      return true
    },
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
      message: 'This upload has died, and still holds its reservation.',
      repair: async () => {
        await db.transaction(tx => endOverdue(db, bucketId, id, tx, Date.now() - graceMs))
        return true
      },
    }
  if (state === 'copied' && overdue)
    yield {
      kind: 'copy-overdue',
      id,
      message: 'These bytes were copied for an upload that nobody is completing any more.',
      repair: async () => {
        await db.run("UPDATE blobs SET state = 'deleting' WHERE id = ? AND state = 'copied' AND lease_until <= ?", [
          id,
          row.leaseUntil,
        ])
        return true
      },
    }
  if (state === 'deleting' && overdue)
    yield {
      kind: 'removal-overdue',
      id,
      message: 'This object should have been removed.',
      repair: async () => {
        const [named] = await db.rows('SELECT id FROM entry WHERE blob_id = ?', [id])
        if (named) return false
        await store.remove([id])
        await db.run("DELETE FROM blobs WHERE id = ? AND state = 'deleting'", [id])
        return true
      },
    }
  if (state !== 'live') return
  if (row.entryId === null) yield unnamed(db, row)
  else if (object?.size !== row.size || object.size !== row.entrySize) yield* judgeBytes(installation, row)
}

function unnamed(db: Db, { id, bucketId }: LedgerRow): Problem {
  return {
    kind: 'blob-unnamed',
    id,
    message: 'The ledger says that this object lives, and no file names it.',
    repair: () =>
      db.transaction(async tx => {
        await lockBucket(db, bucketId, tx)
        const named = await db.rows('SELECT id FROM entry WHERE blob_id = ?', [id], tx)
        if (named.length === 0) await markBlobsForDeletion(db, [id], tx)
        return true
      }),
  }
}

/** The object of a file is missing, or of another size than recorded: checks the row and this object again. */
async function* judgeBytes({ db, store }: Installation, { id }: LedgerRow): AsyncGenerator<Problem> {
  const object = await store.look(id)
  const [row] = await db.rows<LedgerRow>(
    `SELECT ${columns} FROM blobs b LEFT JOIN entry e ON e.blob_id = b.id WHERE b.id = ?`,
    [id],
  )
  if (row?.state !== 'live' || row.entryId === null || row.entrySize === null) return
  const { entryId, bucketId, size, entrySize } = row
  if (!object) {
    yield {
      kind: 'object-missing',
      id,
      message: `The bytes of the file ${entryId} are not in the store. Bring them back from a backup under this key.`,
    }
    return
  }
  if (object.size === size && size === entrySize) return
  const problem = {
    kind: 'size-differs',
    id,
    message: `The store holds ${object.size} bytes, the ledger says ${size}, and the file ${entryId} says ${entrySize}.`,
  } as const
  // Two of three agree, the store among them: then the third is wrong. Otherwise it may be the bytes.
  if (object.size !== size && object.size !== entrySize) yield problem
  else
    yield {
      ...problem,
      repair: () =>
        db.transaction(async tx => {
          await lockBucket(db, bucketId, tx)
          await db.run("UPDATE blobs SET size = ? WHERE id = ? AND state = 'live'", [object.size, id], tx)
          await db.run('UPDATE entry SET total_bytes = ? WHERE id = ? AND blob_id = ?', [object.size, entryId, id], tx)
          await retotal(db, entryId, tx)
          return true
        }),
    }
}

/** An upload in parts exists as long as its blob is staged; both end in one transaction. */
export async function* checkUploads({ db }: Installation): AsyncGenerator<Problem> {
  const page = (last: { id: string } | undefined) =>
    db.rows<{ id: string }>(
      `SELECT s.id FROM upload_session s LEFT JOIN blobs b ON b.id = s.id AND b.state = 'staged'
       WHERE s.id > ? AND b.id IS NULL ORDER BY s.id LIMIT ${PAGE}`,
      [last?.id ?? ''],
    )
  for await (const rows of pages(page))
    for (const { id } of rows)
      yield {
        kind: 'upload-ended',
        id,
        message: 'This upload in parts has ended, and is remembered still.',
        repair: async () => {
          await db.run(
            "DELETE FROM upload_session WHERE id = ? AND NOT EXISTS (SELECT 1 FROM blobs WHERE id = ? AND state = 'staged')",
            [id, id],
          )
          return true
        },
      }
}
