import type { Db, Tx } from '../index.ts'
import { Blob } from '../models/blob.ts'
import { notHeld } from './deletion-hold.ts'
import { besideKeys, inParts, insertion, insertionUnless, placeholders } from './sql.ts'

/** An object in the ledger. Sizes are in bytes, times in milliseconds since 1970. */
type NewBlob = Pick<Blob, 'id' | 'bucketId' | 'state' | 'leaseUntil' | 'store'> &
  Partial<Pick<Blob, 'reservedBytes' | 'size'>>

const rowOf = (blob: NewBlob) => ({ reservedBytes: 0, size: 0, ...blob, createdAt: Date.now() })

export async function insertBlob(db: Db, blob: NewBlob, tx: Tx): Promise<void> {
  await db.run(...insertion(Blob, [rowOf(blob)]), tx)
}

/**
 * Records an object before its bytes are written.
 * @param newest the newest store that the instance knows
 * @returns false if blobs are being moved, or were moved, to a store that the instance does not
 * know, because instances could not find each other's blobs
 */
export function announceBlob(db: Db, blob: NewBlob, newest: number, tx: Tx): Promise<boolean> {
  const [sql, values] = insertionUnless(
    Blob,
    rowOf(blob),
    'SELECT number FROM store_move WHERE number > ?',
  )
  return db.changed(sql, [...values, newest], tx)
}

export const isKnown = (db: Db, id: string, tx: Tx): Promise<boolean> =>
  db.exists('SELECT id FROM blobs WHERE id = ?', [id], tx)

/** Sets the leases of running uploads and copies. */
export async function setLeases(db: Db, ids: string[], until: number, tx?: Tx): Promise<void> {
  await db.run(
    `UPDATE blobs${db.byKey}
     SET lease_until = ?
     WHERE ${besideKeys('state')} IN ('staged', 'copied')
       AND id IN (${placeholders(ids)})`,
    [until, ...ids],
    tx,
  )
}

/** Extends the lease of a staged blob to at least this time. @returns whether it is still staged */
export const extendLease = (db: Db, id: string, until: number, tx?: Tx): Promise<boolean> =>
  db.changed(
    `UPDATE blobs${db.byKey}
     SET lease_until = CASE WHEN lease_until < ? THEN ? ELSE lease_until END
     WHERE id = ?
       AND state = 'staged'`,
    [until, until, id],
    tx,
  )

/**
 * Locks a staged blob.
 * @returns its reserved bytes; undefined if it is not staged
 */
export async function lockReservation(db: Db, id: string, tx: Tx): Promise<number | undefined> {
  const staged = await db.row<{ bytes: number }>(
    `SELECT reserved_bytes AS bytes
     FROM blobs${db.byKey}
     WHERE id = ?
       AND state = 'staged'${db.forUpdate}`,
    [id],
    tx,
  )
  return staged && Number(staged.bytes)
}

/** @returns whether the blob is still staged */
export const setReservation = (db: Db, id: string, bytes: number, tx: Tx): Promise<boolean> =>
  db.changed(
    `UPDATE blobs${db.byKey} SET reserved_bytes = ? WHERE id = ? AND state = 'staged'`,
    [bytes, id],
    tx,
  )

/**
 * Makes a blob live if it is in the given state.
 * @param crc32 in lower-case hex, if known
 * @returns whether it was in that state
 */
export const makeLive = (
  db: Db,
  { id, size, crc32 }: { id: string; size: number; crc32: string | undefined },
  from: 'staged' | 'copied',
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE blobs${db.byKey}
     SET state = 'live', size = ?, crc32 = ?, reserved_bytes = 0, lease_until = 0
     WHERE id = ?
       AND state = ?`,
    [size, crc32 ?? null, id, from],
    tx,
  )

/**
 * Locks a staged blob whose lease has expired by this time.
 * @returns its reservation in bytes; undefined if there is no such blob
 */
export async function lockOverdue(
  db: Db,
  id: string,
  at: number,
  tx: Tx,
): Promise<number | undefined> {
  const staged = await db.row<{ bytes: number }>(
    `SELECT reserved_bytes AS bytes
     FROM blobs${db.byKey}
     WHERE id = ?
       AND state = 'staged'
       AND lease_until < ?${db.forUpdate}`,
    [id, at],
    tx,
  )
  return staged?.bytes
}

/**
 * Marks a blob in one of the two upload states for deletion from a given time.
 * @returns whether it was in that state
 */
export const markForDeletion = (
  db: Db,
  id: string,
  from: 'staged' | 'copied',
  at: number,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE blobs${db.byKey}
     SET state = 'deleting', reserved_bytes = 0, lease_until = ?
     WHERE id = ?
       AND state = ?`,
    [at, id, from],
    tx,
  )

/** The number of references that one statement changes. */
const REFERENCES_AT_ONCE = 500

/**
 * Counts references per blob, sorted in the order in which every transaction locks blobs, so that
 * two transactions cannot deadlock.
 */
function counted(
  references: string[],
): { ids: string[]; count: string; repeated: (string | number)[] }[] {
  const counts = new Map<string, number>()
  for (const id of references) counts.set(id, (counts.get(id) ?? 0) + 1)
  return inParts([...counts.keys()].sort(), REFERENCES_AT_ONCE).map(ids => {
    const more = ids.flatMap(id => ((counts.get(id) ?? 1) > 1 ? [id, counts.get(id) ?? 1] : []))
    const count =
      more.length === 0 ? '1' : `CASE id ${'WHEN ? THEN ? '.repeat(more.length / 2)}ELSE 1 END`
    return { ids, count, repeated: more }
  })
}

/**
 * Removes references to live blobs, in the transaction that deletes the referring files and
 * versions. Marks blobs without references for deletion.
 * @param references ids of blobs, once per removed reference
 */
export async function releaseBlobs(db: Db, references: string[], tx: Tx): Promise<void> {
  for (const { ids, count, repeated } of counted(references))
    await db.run(
      // MySQL assigns columns one after the other, and the other assignments read the old count.
      `UPDATE blobs
       SET state = CASE WHEN ref_count <= ${count} THEN 'deleting' ELSE state END,
         lease_until = CASE WHEN ref_count <= ${count} THEN ? ELSE lease_until END,
         ref_count = ref_count - ${count}
       WHERE id IN (${placeholders(ids)})`,
      [...repeated, ...repeated, Date.now(), ...repeated, ...ids],
      tx,
    )
}

/**
 * Adds references to live blobs, and locks the blobs until the transaction ends, so that they
 * cannot be marked for deletion meanwhile.
 * @param references ids of blobs, once per new reference
 * @returns whether all of them are live; if not, the transaction must be rolled back
 */
export async function shareBlobs(db: Db, references: string[], tx: Tx): Promise<boolean> {
  for (const { ids, count, repeated } of counted(references)) {
    const changed = await db.run(
      `UPDATE blobs
       SET ref_count = ref_count + ${count}
       WHERE ${besideKeys('state')} = 'live'
         AND id IN (${placeholders(ids)})`,
      [...repeated, ...ids],
      tx,
    )
    if (changed < ids.length) return false
  }
  return true
}

/** Sets when the sweeper may next try to delete a blob. */
export async function setDeletion(db: Db, id: string, at: number, tx: Tx): Promise<void> {
  await db.run('UPDATE blobs SET lease_until = ? WHERE id = ?', [at, id], tx)
}

/**
 * Makes a sweeper that is deleting a blob right now delete it again later.
 * @returns whether the blob is marked for deletion
 */
export const deleteAgain = (db: Db, id: string, tx: Tx): Promise<boolean> =>
  db.changed(
    "UPDATE blobs SET lease_until = lease_until + 1 WHERE id = ? AND state = 'deleting'",
    [id],
    tx,
  )

/** Some uploads whose leases have expired by this time. */
export const overdueUploads = (
  db: Db,
  at: number,
  limit: number,
): Promise<{ id: string; bucketId: string }[]> =>
  db.rows(
    `SELECT id, bucket_id AS bucketId
     FROM blobs
     WHERE state = 'staged'
       AND lease_until < ?
     ORDER BY lease_until
     LIMIT ${limit}`,
    [at],
  )

/**
 * Marks copies for deletion whose leases expired before a time.
 * @param id only this copy
 */
export const endCopies = (
  db: Db,
  { before, id }: { before: number; id?: string },
): Promise<number> =>
  db.run(
    `UPDATE blobs
     SET state = 'deleting'
     WHERE state = 'copied'
       AND lease_until < ?${id === undefined ? '' : ' AND id = ?'}`,
    [before, ...(id === undefined ? [] : [id])],
  )

/**
 * Some blobs to delete now. Empty while a backup holds deletions. This is one statement: if it sees
 * a blob that was marked after the snapshot of a backup, it also sees the hold, which was committed
 * before.
 */
export async function markedBlobs(db: Db, now: number, limit: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `SELECT id
     FROM blobs
     WHERE state = 'deleting'
       AND lease_until <= ?
       AND ${notHeld}
     ORDER BY lease_until
     LIMIT ${limit}`,
    [now, now],
  )
  return rows.map(row => row.id)
}

/** Keeps other sweepers from marked blobs until a time. */
export const leaseMarked = (db: Db, ids: string[], until: number): Promise<number> =>
  db.run(
    `UPDATE blobs
     SET lease_until = ?
     WHERE ${besideKeys('state')} = 'deleting'
       AND id IN (${placeholders(ids)})`,
    [until, ...ids],
  )

/**
 * Deletes the rows of marked blobs.
 * @param leasedUntil only rows whose lease is still this one
 */
export const deleteMarked = (db: Db, ids: string[], leasedUntil?: number): Promise<number> =>
  db.run(
    `DELETE FROM blobs
     WHERE ${besideKeys('state')} = 'deleting'
       AND id IN (${placeholders(ids)})${leasedUntil === undefined ? '' : ' AND lease_until = ?'}`,
    [...ids, ...(leasedUntil === undefined ? [] : [leasedUntil])],
  )

/** The live blobs among these. */
export async function liveAmong(db: Db, ids: string[]): Promise<string[]> {
  const sql = `SELECT id
    FROM blobs
    WHERE ${besideKeys('state')} = 'live'
      AND id IN (${placeholders(ids)})`
  return (await db.rows<{ id: string }>(sql, ids)).map(row => row.id)
}
