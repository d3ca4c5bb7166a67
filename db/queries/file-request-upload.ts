import type { Db, Tx } from '../index.ts'
import { FileRequestUpload } from '../models/file-request-upload.ts'
import { firstOfEach, type Page } from './page.ts'
import { insertion, placeholders } from './sql.ts'

/** How many uploads of a request may be unfinished at a time, and how many of one network. */
export const MAX_UNFINISHED = 1000
export const MAX_UNFINISHED_OF_NETWORK = 200

/**
 * Reserves in an open request. @returns whether it could. One conditional UPDATE, which locks the
 * row, keeps its limits exact.
 */
export const reserveInRequest = (
  db: Db,
  id: string,
  { bytes, files }: { bytes: number; files: number },
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE file_request
     SET reserved_bytes = reserved_bytes + ?, reserved_files = reserved_files + ?
     WHERE id = ?
       AND closed_at IS NULL
       AND (expires_at IS NULL OR expires_at > ?)
       AND reserved_files + ? <= ${MAX_UNFINISHED}
       AND (max_files IS NULL OR files + reserved_files + ? <= max_files)
       AND (max_bytes IS NULL OR bytes + reserved_bytes + ? <= max_bytes)`,
    [bytes, files, id, Date.now(), files, files, bytes],
    tx,
  )

/** The remaining limits of a request. Null means unlimited. */
export interface Left {
  isOpen: boolean
  files: number | null
  bytes: number | null
}

export async function leftInRequest(db: Db, id: string, tx: Tx): Promise<Left> {
  const row = await db.row<{ isOpen: number; files: number | null; bytes: number | null }>(
    `SELECT CASE WHEN closed_at IS NULL AND (expires_at IS NULL OR expires_at > ?) THEN 1 ELSE 0 END AS isOpen,
       max_files - files - reserved_files AS files, max_bytes - bytes - reserved_bytes AS bytes
     FROM file_request
     WHERE id = ?`,
    [Date.now(), id],
    tx,
  )
  return row ? { ...row, isOpen: Boolean(row.isOpen) } : { isOpen: false, files: null, bytes: null }
}

/** The request must be locked. */
export async function unfinishedOfNetwork(
  db: Db,
  requestId: string,
  network: string,
  tx: Tx,
): Promise<number> {
  const row = await db.row<{ n: number }>(
    `SELECT COUNT(*) AS n
     FROM file_request_upload
     WHERE request_id = ?
       AND received_at IS NULL
       AND network = ?`,
    [requestId, network],
    tx,
  )
  return Number(row?.n)
}

export async function insertRequestedUpload(
  db: Db,
  upload: Omit<FileRequestUpload, 'receivedAt' | 'entryId'>,
  tx: Tx,
): Promise<void> {
  await db.run(...insertion(FileRequestUpload, [upload]), tx)
}

/** Increases the reservation of an unfinished upload. */
export async function extendRequestedUpload(
  db: Db,
  id: string,
  bytes: number,
  tx: Tx,
): Promise<void> {
  await db.run('UPDATE file_request_upload SET bytes = bytes + ? WHERE id = ?', [bytes, id], tx)
}

/** Reduces the reservation of an unfinished upload. The bucket must be locked. */
export async function shrinkRequestedUpload(
  db: Db,
  id: string,
  bytes: number,
  tx: Tx,
): Promise<void> {
  const upload = await db.row<{ requestId: string }>(unfinished, [id], tx)
  if (!upload) return
  await db.run(
    'UPDATE file_request SET reserved_bytes = reserved_bytes - ? WHERE id = ?',
    [bytes, upload.requestId],
    tx,
  )
  await db.run('UPDATE file_request_upload SET bytes = bytes - ? WHERE id = ?', [bytes, id], tx)
}

const unfinished = `SELECT request_id AS requestId, bytes
  FROM file_request_upload
  WHERE id = ?
    AND received_at IS NULL`

/**
 * Releases what an ended upload reserved in a request, if it was sent to one. Its bucket must be
 * locked.
 */
export async function releaseRequested(db: Db, id: string, tx: Tx): Promise<void> {
  const upload = await db.row<{ requestId: string; bytes: number }>(unfinished, [id], tx)
  if (!upload) return
  await db.run(
    `UPDATE file_request
     SET reserved_files = reserved_files - 1, reserved_bytes = reserved_bytes - ?
     WHERE id = ?`,
    [upload.bytes, upload.requestId],
    tx,
  )
  await db.run('DELETE FROM file_request_upload WHERE id = ?', [id], tx)
}

/**
 * Counts the reservation of an upload as received by its request.
 * @returns false if the request no longer exists
 */
export async function settleRequested(
  db: Db,
  { blobId, id, size }: { blobId: string; id: string; size: number },
  tx: Tx,
): Promise<boolean> {
  const upload = await db.row<{ requestId: string; bytes: number }>(unfinished, [blobId], tx)
  if (!upload) return false
  await db.run(
    `UPDATE file_request
     SET reserved_files = reserved_files - 1, reserved_bytes = reserved_bytes - ?,
       files = files + 1, bytes = bytes + ?
     WHERE id = ?`,
    [upload.bytes, size, upload.requestId],
    tx,
  )
  await db.run(
    'UPDATE file_request_upload SET received_at = ?, bytes = ?, entry_id = ? WHERE id = ?',
    [Date.now(), size, id, blobId],
    tx,
  )
  return true
}

/** The files and bytes that a request received. */
export interface ReceiptRow
  extends Pick<
    FileRequestUpload,
    'id' | 'senderName' | 'fileName' | 'bytes' | 'network' | 'client' | 'entryId'
  > {
  receivedAt: number
}

const receipt =
  'id, sender_name AS senderName, file_name AS fileName, bytes, network, client, entry_id AS entryId, received_at AS receivedAt'

/** The files that some requests received, by request id. */
export const pagesOfReceipts = (
  db: Db,
  requestIds: string[],
  { after, newestFirst, limit }: { after: string | null; newestFirst: boolean; limit: number },
): Promise<Map<string, Page<ReceiptRow>>> =>
  firstOfEach<ReceiptRow>(
    db,
    `SELECT ${receipt}
     FROM file_request_upload
     WHERE request_id = ?
       AND received_at IS NOT NULL${after === null ? '' : ` AND id ${newestFirst ? '<' : '>'} ?`}`,
    {
      order: newestFirst ? 'id DESC' : 'id',
      owners: requestIds,
      values: after === null ? [] : [after],
      limit,
    },
  )

/** A sender of a request, by the name that they gave. */
export interface SenderRow {
  name: string
  fileCount: number
  lastAt: number
}

/** How many names of senders of one request are read. */
const MAX_NAMES = 1000

/** The names of the senders of some requests, by request id. */
export const sendersOf = (db: Db, requestIds: string[]): Promise<Map<string, Page<SenderRow>>> =>
  firstOfEach<SenderRow>(
    db,
    `SELECT sender_name AS name, COUNT(*) AS fileCount, MAX(received_at) AS lastAt
     FROM file_request_upload
     WHERE request_id = ?
       AND received_at IS NOT NULL
     GROUP BY sender_name`,
    { order: 'name', owners: requestIds, values: [], limit: MAX_NAMES },
  )

/** The names that the senders of some files gave, by the id of the file. */
export async function sendersOfEntries(
  db: Db,
  entryIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.rows<{ entryId: string; name: string }>(
    `SELECT entry_id AS entryId, sender_name AS name
     FROM file_request_upload
     WHERE entry_id IN (${placeholders(entryIds)})
       AND sender_name <> ''`,
    [...entryIds],
  )
  return new Map(rows.map(({ entryId, name }) => [entryId, name]))
}

/** The name under which a file is being sent. */
export async function requestedName(db: Db, id: string): Promise<string | undefined> {
  const row = await db.row<{ fileName: string }>(
    'SELECT file_name AS fileName FROM file_request_upload WHERE id = ?',
    [id],
  )
  return row?.fileName
}

/** The files that one sender sent to a request, newest first. */
export const sentBy = (
  db: Db,
  requestId: string,
  senderId: string,
  limit: number,
): Promise<ReceiptRow[]> =>
  db.rows(
    `SELECT ${receipt}
     FROM file_request_upload
     WHERE request_id = ?
       AND sender_id = ?
       AND received_at IS NOT NULL
     ORDER BY id DESC
     LIMIT ${limit}`,
    [requestId, senderId],
  )
