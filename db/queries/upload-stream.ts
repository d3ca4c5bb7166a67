import type { Db, Tx } from '../index.ts'
import { UploadPiece } from '../models/upload-piece.ts'
import { UploadStream } from '../models/upload-stream.ts'
import { insertion, placeholders } from './sql.ts'

/** A row of a stream. */
export type StreamRow = Pick<UploadStream, 'kind' | 'arrived' | 'metadata' | 'parts' | 'isDeferred'>

export async function insertStream(
  db: Db,
  stream: Pick<UploadStream, 'id' | 'kind' | 'metadata' | 'parts' | 'isDeferred'>,
  tx: Tx,
): Promise<void> {
  const fresh = { arrived: 0, writer: null, writerUntil: 0, isWanted: false }
  await db.run(...insertion(UploadStream, [{ ...stream, ...fresh }]), tx)
}

export async function findStream(db: Db, id: string, tx?: Tx): Promise<StreamRow | undefined> {
  const row = await db.row<StreamRow>(
    `SELECT kind, arrived, metadata, parts, is_deferred AS isDeferred
     FROM upload_stream
     WHERE id = ?`,
    [id],
    tx,
  )
  return row && { ...row, isDeferred: Boolean(row.isDeferred) }
}

/**
 * Sets the reservation of an upload, and whether its length is still unknown.
 * @returns like `setArrived`
 */
export async function setStreamSize(
  db: Db,
  {
    id,
    writer,
    size,
    isDeferred,
  }: { id: string; writer: string; size: number; isDeferred: boolean },
  tx: Tx,
): Promise<boolean> {
  if (
    !(await db.changed(
      'UPDATE upload_stream SET is_deferred = ? WHERE id = ? AND writer = ?',
      [isDeferred, id, writer],
      tx,
    ))
  )
    return false
  await db.run('UPDATE upload_session SET size = ? WHERE id = ?', [size, id], tx)
  return true
}

/** Whether a user had an upload that has ended, while its id is remembered. */
export const isStreamOver = (db: Db, id: string, maker: string): Promise<boolean> =>
  db.exists(
    `SELECT s.id
     FROM upload_session s
     JOIN upload_stream t ON t.id = s.id
     WHERE s.id = ?
       AND s.user_id = ?`,
    [id, maker],
  )

/**
 * Lets one request write.
 * @returns false if another request is writing
 */
export const takeStream = (
  db: Db,
  { id, writer, until }: { id: string; writer: string; until: number },
) =>
  db.changed(
    `UPDATE upload_stream
     SET writer = ?, writer_until = ?, is_wanted = ?
     WHERE id = ?
       AND (writer IS NULL OR writer_until <= ?)`,
    [writer, until, false, id, Date.now()],
  )

/**
 * Asks the writing request to stop.
 * @returns whether there is one
 */
export const wantStream = (db: Db, id: string): Promise<boolean> =>
  db.changed(
    `UPDATE upload_stream
     SET is_wanted = ?
     WHERE id = ?
       AND writer IS NOT NULL
       AND writer_until > ?`,
    [true, id, Date.now()],
  )

/** @returns whether this request is still the writer */
export const keepStream = (
  db: Db,
  { id, writer, until }: { id: string; writer: string; until: number },
) =>
  db.changed('UPDATE upload_stream SET writer_until = ? WHERE id = ? AND writer = ?', [
    until,
    id,
    writer,
  ])

/** Whether another request waits for the writer to stop. */
export const isStreamWanted = (db: Db, id: string): Promise<boolean> =>
  db.exists('SELECT id FROM upload_stream WHERE id = ? AND is_wanted = ?', [id, true])

export async function releaseStream(db: Db, id: string, writer: string): Promise<void> {
  await db.run(
    'UPDATE upload_stream SET writer = NULL, writer_until = 0 WHERE id = ? AND writer = ?',
    [id, writer],
  )
}

/**
 * Records durable bytes.
 * @returns whether this request is still the writer
 */
export const setArrived = (
  db: Db,
  { id, writer, arrived }: { id: string; writer: string; arrived: number },
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    'UPDATE upload_stream SET arrived = ? WHERE id = ? AND writer = ?',
    [arrived, id, writer],
    tx,
  )

/** The pieces after the last whole part, in file order. */
export const piecesOf = (db: Db, uploadId: string): Promise<Pick<UploadPiece, 'id' | 'size'>[]> =>
  db.rows('SELECT id, size FROM upload_piece WHERE upload_id = ? ORDER BY position', [uploadId])

export async function insertPiece(db: Db, piece: UploadPiece, tx: Tx): Promise<void> {
  await db.run(...insertion(UploadPiece, [piece]), tx)
}

/** Deletes the rows of pieces whose bytes are deleted next. */
export async function endPieces(db: Db, ids: string[], tx: Tx): Promise<void> {
  if (ids.length === 0) return
  await db.run(
    `UPDATE blobs
     SET state = 'deleting', lease_until = ?
     WHERE state = 'copied'
       AND id IN (${placeholders(ids)})`,
    [Date.now(), ...ids],
    tx,
  )
  await db.run(`DELETE FROM upload_piece WHERE id IN (${placeholders(ids)})`, ids, tx)
}

/** Deletes the rows of all pieces of an upload that ends. */
export async function endPiecesOf(db: Db, uploadId: string, tx: Tx): Promise<void> {
  await db.run(
    `UPDATE blobs
     SET state = 'deleting', lease_until = ?
     WHERE state = 'copied'
       AND id IN (SELECT id FROM upload_piece WHERE upload_id = ?)`,
    [Date.now(), uploadId],
    tx,
  )
}

/** The upload that joins this one, with all uploads that it joins. */
export const findJoinedTo = (
  db: Db,
  bucketId: string,
  part: string,
  tx: Tx,
): Promise<{ id: string; parts: string } | undefined> =>
  db.row(
    `SELECT t.id, t.parts
     FROM upload_session s
     JOIN upload_stream t ON t.id = s.id
     WHERE s.bucket_id = ?
       AND t.kind = 'joined'
       AND t.parts LIKE ?`,
    [bucketId, `%${part}%`],
    tx,
  )

/** The upload of a user that joins these uploads in this order. */
export async function findJoined(
  db: Db,
  { bucketId, maker, parts }: { bucketId: string; maker: string; parts: string },
): Promise<string | undefined> {
  const found = await db.row<{ id: string }>(
    `SELECT t.id
     FROM upload_session s
     JOIN upload_stream t ON t.id = s.id
     WHERE s.bucket_id = ?
       AND s.user_id = ?
       AND t.parts = ?`,
    [bucketId, maker, parts],
  )
  return found?.id
}
