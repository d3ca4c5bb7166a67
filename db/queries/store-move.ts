import type { Db, Tx } from '../index.ts'
import type { Blob } from '../models/blob.ts'
import type { StoreMove } from '../models/store-move.ts'
import { besideKeys, placeholders } from './sql.ts'

/** The latest move, or undefined if blobs were never moved. */
export const lastMove = (
  db: Db,
  tx?: Tx,
): Promise<Omit<StoreMove, 'claim' | 'claimUntil'> | undefined> =>
  db.row(
    `SELECT number, source, target, started_at AS startedAt, finished_at AS finishedAt
     FROM store_move
     ORDER BY number DESC
     LIMIT 1`,
    [],
    tx,
  )

/** Starts a move. Fails if its number is taken. */
export const insertMove = (
  db: Db,
  { number, source, target, startedAt, finishedAt }: Omit<StoreMove, 'claim' | 'claimUntil'>,
  tx?: Tx,
): Promise<number> =>
  db.run(
    `INSERT INTO store_move (number, source, target, started_at, finished_at, claim_until)
     VALUES (?, ?, ?, ?, ?, 0)`,
    [number, source, target, startedAt, finishedAt],
    tx,
  )

/**
 * Claims the copying of a move, or extends the claim of the same token.
 * @returns whether the claim is held
 */
export const claimMove = (
  db: Db,
  number: number,
  claim: string,
  now: number,
  until: number,
): Promise<boolean> =>
  db.changed(
    `UPDATE store_move
     SET claim = ?, claim_until = ?
     WHERE number = ?
       AND (claim = ? OR claim_until < ?)`,
    [...[claim, until, number], ...[claim, now]],
  )

export const releaseMove = (db: Db, number: number, claim: string): Promise<number> =>
  db.run('UPDATE store_move SET claim = NULL, claim_until = 0 WHERE number = ? AND claim = ?', [
    number,
    claim,
  ])

/**
 * Ends a move if earlier stores contain only objects marked for deletion.
 * @param behind the ids of blobs that may remain
 * @returns whether it ended
 */
export const finishMove = (
  db: Db,
  number: number,
  at: number,
  behind: readonly string[] = [],
): Promise<boolean> =>
  db.transaction(async tx => {
    // Transactions that record an object meanwhile wait for this row, and this statement waits for
    // earlier ones (`isLeft`).
    await db.rows(`SELECT number FROM store_move WHERE number = ?${db.forUpdate}`, [number], tx)
    const left = `SELECT id
      FROM blobs
      WHERE store < ?
        AND state <> 'deleting'
      LIMIT ${behind.length + 1}`
    const mayStay = new Set(behind)
    if ((await db.rows<{ id: string }>(left, [number], tx)).some(({ id }) => !mayStay.has(id)))
      return false
    await db.run(
      'UPDATE store_move SET finished_at = ? WHERE number = ? AND finished_at IS NULL',
      [at, number],
      tx,
    )
    return true
  })

/**
 * Whether all blobs have left the store with a number. Until the transaction ends, no move ends.
 */
export async function isLeft(db: Db, number: number, tx: Tx): Promise<boolean> {
  const moves = `SELECT number, finished_at AS finishedAt
    FROM store_move
    WHERE number > ?${db.forUpdate}`
  const rows = await db.rows<{ number: number; finishedAt: number | null }>(moves, [number], tx)
  await db.touch(
    'store_move',
    rows.map(row => row.number),
    tx,
  )
  return rows.some(row => row.finishedAt !== null)
}

/** Live blobs in earlier stores than this number, sorted by id. */
export const unmovedAfter = (
  db: Db,
  number: number,
  id: string,
  limit: number,
): Promise<Pick<Blob, 'id' | 'size' | 'crc32'>[]> =>
  db.rows(
    `SELECT id, size, crc32
     FROM blobs
     WHERE id > ?
       AND ${besideKeys('state')} = 'live'
       AND store < ?
     ORDER BY id
     LIMIT ${limit}`,
    [id, number],
  )

/** Records the number of the store of some live blobs. */
export const setStores = (db: Db, ids: string[], number: number): Promise<number> =>
  db.run(
    `UPDATE blobs
     SET store = ?
     WHERE ${besideKeys('state')} = 'live'
       AND store < ?
       AND id IN (${placeholders(ids)})`,
    [number, number, ...ids],
  )

/** Records that all blobs are in the store with a number. */
export const setAllStores = (db: Db, number: number): Promise<number> =>
  db.run('UPDATE blobs SET store = ?', [number])

export const deleteMoves = (db: Db): Promise<number> => db.run('DELETE FROM store_move')

/** The store numbers of some blobs by id, without blobs marked for deletion. */
export async function storesOf(db: Db, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const sql = `SELECT id, store
    FROM blobs
    WHERE ${besideKeys('state')} <> 'deleting'
      AND id IN (${placeholders(ids)})`
  return new Map(
    (await db.rows<{ id: string; store: number }>(sql, ids)).map(({ id, store }) => [
      id,
      Number(store),
    ]),
  )
}

/**
 * The stores and sizes of some live blobs by id, and the stores of active uploads, without blobs
 * marked for deletion.
 */
export async function movedSizes(
  db: Db,
  ids: string[],
): Promise<Map<string, Pick<Blob, 'store' | 'size'>>> {
  const sql = `SELECT id, store, size
    FROM blobs
    WHERE ${besideKeys('state')} <> 'deleting'
      AND id IN (${placeholders(ids)})`
  const rows = await db.rows<Pick<Blob, 'id' | 'store' | 'size'>>(sql, ids)
  return new Map(
    rows.map(({ id, store, size }) => [id, { store: Number(store), size: Number(size) }]),
  )
}

/** The contents of earlier stores than a number, without objects marked for deletion. */
export interface Unmoved {
  files: number
  bytes: number
  /**
   * Active uploads, and the time until which the last of them waits for its next part, in
   * milliseconds since 1970.
   */
  uploads: number
  uploadsUntil: number
}

export async function countUnmoved(db: Db, number: number): Promise<Unmoved> {
  const rows = await db.rows<{ state: string; count: number; bytes: number; until: number }>(
    `SELECT state, COUNT(*) AS count, SUM(size) AS bytes, MAX(lease_until) AS until
     FROM blobs
     WHERE store < ?
       AND state <> 'deleting'
     GROUP BY state`,
    [number],
  )
  const found: Unmoved = { files: 0, bytes: 0, uploads: 0, uploadsUntil: 0 }
  for (const { state, count, bytes, until } of rows)
    if (state === 'live') Object.assign(found, { files: Number(count), bytes: Number(bytes) })
    else {
      found.uploads += Number(count)
      found.uploadsUntil = Math.max(found.uploadsUntil, Number(until))
    }
  return found
}

/** Uploads whose parts are in earlier stores than a number. */
export const unmovedSessions = (
  db: Db,
  number: number,
): Promise<{ id: string; bucketId: string }[]> =>
  db.rows(
    `SELECT b.id, b.bucket_id AS bucketId
     FROM blobs b
     JOIN upload_session s ON s.id = b.id
     WHERE b.state = 'staged'
       AND b.store < ?`,
    [number],
  )
