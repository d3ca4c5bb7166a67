import type { Db, Tx } from '../index.ts'

/** The active uploads of the request `r`: those with a staged blob. */
const arriving = (value: string) =>
  `(SELECT ${value}
     FROM file_request_upload q
     JOIN blobs b ON b.id = q.id AND b.state = 'staged'
     WHERE q.request_id = r.id
       AND q.received_at IS NULL)`

const differs = `(r.reserved_files <> ${arriving('COUNT(*)')}
    OR r.reserved_bytes <> ${arriving('COALESCE(SUM(q.bytes), 0)')}
    OR EXISTS (SELECT 1
      FROM file_request_upload q
      LEFT JOIN blobs b ON b.id = q.id AND b.state = 'staged'
      WHERE q.request_id = r.id
        AND q.received_at IS NULL
        AND b.id IS NULL))`

/** File requests whose reservation differs from their active uploads. */
export const miscountedRequestsAfter = (
  db: Db,
  id: string,
  limit: number,
): Promise<{ id: string; bucketId: string }[]> =>
  db.rows(
    `SELECT r.id, r.bucket_id AS bucketId
     FROM file_request r
     WHERE r.id > ?
       AND ${differs}
     ORDER BY r.id
     LIMIT ${limit}`,
    [id],
  )

/** Counts the active uploads of a request again. Its bucket must be locked. */
export async function recountRequest(db: Db, id: string, tx: Tx): Promise<void> {
  await db.run(
    `DELETE FROM file_request_upload
     WHERE request_id = ?
       AND received_at IS NULL
       AND NOT EXISTS (SELECT 1
         FROM blobs b
         WHERE b.id = file_request_upload.id
           AND b.state = 'staged')`,
    [id],
    tx,
  )
  const sum = await db.row<{ files: number; bytes: number }>(
    `SELECT COUNT(*) AS files, COALESCE(SUM(bytes), 0) AS bytes
     FROM file_request_upload
     WHERE request_id = ?
       AND received_at IS NULL`,
    [id],
    tx,
  )
  await db.run(
    'UPDATE file_request SET reserved_files = ?, reserved_bytes = ? WHERE id = ?',
    [Number(sum?.files), Number(sum?.bytes), id],
    tx,
  )
}
