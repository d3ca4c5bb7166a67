import type { Db, Tx } from '../index.ts'
import { FILE } from '../models/entry.ts'
import { placeholders } from './sql.ts'

/** A file whose stored media type may be wrong. */
export interface TypedFile {
  id: string
  blobId: string
  name: string
  fileType: string
  size: number
}

/** Files with one of these media types, by id. */
export const filesOfTypesAfter = (
  db: Db,
  types: readonly string[],
  id: string,
  limit: number,
): Promise<TypedFile[]> =>
  db.rows(
    `SELECT id, blob_id AS blobId, name, file_type AS fileType, total_bytes AS size
     FROM entry
     WHERE id > ?
       AND kind = ${FILE}
       AND total_bytes > 0
       AND file_type IN (${placeholders(types)})
     ORDER BY id
     LIMIT ${limit}`,
    [id, ...types],
  )

/**
 * Changes the media type of a file.
 * @returns whether it still has the same content
 */
export const setFileType = (
  db: Db,
  { id, blobId }: Pick<TypedFile, 'id' | 'blobId'>,
  fileType: string,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE entry
     SET file_type = ?
     WHERE id = ?
       AND blob_id = ?`,
    [fileType, id, blobId],
    tx,
  )
