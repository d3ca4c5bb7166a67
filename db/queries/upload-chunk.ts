import type { Db } from '../index.ts'
import type { UploadStream } from '../models/upload-stream.ts'

/** An unfinished part of a file that a client sends in numbered chunks. */
export interface ChunkRow extends Pick<UploadStream, 'id' | 'arrived'> {
  /** The path under which it was started: a folder for the transfer, and the number. */
  path: string
  size: number
}

/** The chunks that a user has begun to send to a folder, oldest first. */
export const chunksIn = (
  db: Db,
  { bucketId, userId, folder }: { bucketId: string; userId: string; folder: string },
  now: number,
): Promise<ChunkRow[]> =>
  db.rows(
    `SELECT s.id, s.path, s.size, u.arrived
     FROM upload_session s
     JOIN upload_stream u ON u.id = s.id
     JOIN blobs b ON b.id = s.id
     WHERE s.bucket_id = ?
       AND s.user_id = ?
       AND u.kind = 'partial'
       AND s.path >= ?
       AND s.path < ?
       AND b.lease_until > ?
     ORDER BY s.id`,
    // The character after a slash is a zero.
    [bucketId, userId, `${folder}/`, `${folder}0`, now],
  )
