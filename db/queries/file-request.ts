import type { Db, Tx } from '../index.ts'
import { FileRequest } from '../models/file-request.ts'
import { treeOf, USER_MAY_WRITE } from './caller.ts'
import { type DriveLimits, driveLimitOf, withDriveLimits } from './limit.ts'
import { type Page, pageOf } from './page.ts'
import { besideKeys, insertion, placeholders, selection } from './sql.ts'
import { endMail } from './use-mail.ts'

/** A request with its maker, and the drive that it leads into. */
export interface RequestRow extends FileRequest {
  makerName: string
  rootId: string
  /** Null for a drive of its maker. */
  workspaceId: string | null
  /** Whether its maker may write there now. */
  mayWrite: number
}

/** Also the limits of that drive. */
export type LinkedRequest = RequestRow &
  Pick<DriveLimits, 'maxFileSizeBytes' | 'maxTotalStorageBytes' | 'maxFolders'> & {
    maxDriveFiles: number | null
  }

const columns = `${selection(FileRequest, 'r')}, u.name AS makerName, t.root_id AS rootId, t.workspace_id AS workspaceId,
  CASE WHEN ${USER_MAY_WRITE} THEN 1 ELSE 0 END AS mayWrite`
const tables = `file_request r JOIN user u ON u.id = r.user_id ${treeOf('r')}`

/** A request, open or not. */
export const findRequest = (db: Db, id: string): Promise<LinkedRequest | undefined> =>
  db.row(
    `SELECT ${columns}, ${driveLimitOf('maxFileSizeBytes', 't')} AS maxFileSizeBytes,
       ${driveLimitOf('maxTotalStorageBytes', 't')} AS maxTotalStorageBytes, ${driveLimitOf('maxFiles', 't')} AS maxDriveFiles,
       ${driveLimitOf('maxFolders', 't')} AS maxFolders
     FROM ${tables} ${withDriveLimits('t')} WHERE r.id = ?`,
    [id],
  )

/** The requests of a user among these ids, open or not. */
export const requestsAmong = (db: Db, userId: string, ids: string[]): Promise<RequestRow[]> =>
  db.rows(
    `SELECT ${columns} FROM ${tables} WHERE ${besideKeys('r.user_id')} = ? AND r.id IN (${placeholders(ids)})`,
    [userId, ...ids],
  )

/** Which of the requests of a user. */
export interface RequestFilter {
  /** Those that lead into this drive. */
  bucketId?: string | null
  folderId?: string | null
  /** Also those that are closed. */
  closed?: boolean
  newestFirst?: boolean
  after: string | null
  limit: number
}

/**
 * A page of the requests of a user: those that are not closed, expired ones among them, and none of
 * a workspace that they have left.
 */
export async function listRequests(
  db: Db,
  userId: string,
  {
    bucketId = null,
    folderId = null,
    closed = false,
    newestFirst = false,
    after,
    limit,
  }: RequestFilter,
): Promise<Page<RequestRow>> {
  const more = [
    ...(bucketId === null ? [] : [['r.bucket_id = ?', bucketId]]),
    ...(folderId === null ? [] : [['r.folder_id = ?', folderId]]),
    ...(after === null ? [] : [[`r.id ${newestFirst ? '<' : '>'} ?`, after]]),
  ] as [string, string][]
  const rows = await db.rows<RequestRow>(
    `SELECT ${columns} FROM ${tables} WHERE r.user_id = ?${closed ? '' : ' AND r.closed_at IS NULL'} AND (t.user_id = u.id OR m.user_id IS NOT NULL)${more.map(([sql]) => ` AND ${sql}`).join('')}
     ORDER BY r.id${newestFirst ? ' DESC' : ''} LIMIT ${limit + 1}`,
    [userId, ...more.map(([, value]) => value)],
  )
  return pageOf(rows, limit)
}

export async function insertRequest(
  db: Db,
  request: Omit<
    FileRequest,
    'files' | 'bytes' | 'reservedFiles' | 'reservedBytes' | 'closedAt' | 'notifiedAt' | 'mailWaits'
  >,
  tx: Tx,
): Promise<void> {
  await db.run(...insertion(FileRequest, [{ ...request, mailWaits: false }]), tx)
}

/** Closes a request for good. @returns whether it was not closed before */
export const closeRequest = (db: Db, id: string, at: number, tx: Tx): Promise<boolean> =>
  db.changed(
    'UPDATE file_request SET closed_at = ? WHERE id = ? AND closed_at IS NULL',
    [at, id],
    tx,
  )

/** The number of requests of a user that are not closed and have not expired. */
export async function countRequests(db: Db, userId: string, tx: Tx): Promise<number> {
  const row = await db.row<{ n: number }>(
    'SELECT COUNT(*) AS n FROM file_request WHERE user_id = ? AND closed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)',
    [userId, Date.now()],
    tx,
  )
  return Number(row?.n)
}

/** What a mail about a request is to tell. */
export interface Arrivals {
  label: string
  /** The verified e-mail address of its maker; null without one, and while they are suspended. */
  address: string | null
  count: number
  bytes: number
}

/** What a request has received since the last mail to its maker, which is sent now. */
export async function takeArrivals(db: Db, id: string, tx: Tx): Promise<Arrivals | undefined> {
  const found = await db.row<Omit<Arrivals, 'count' | 'bytes'> & { since: number }>(
    `SELECT r.label, r.notified_at AS since, CASE WHEN u.status = 'active' THEN u.verified_email END AS address
     FROM file_request r JOIN user u ON u.id = r.user_id WHERE r.id = ?${db.forUpdate}`,
    [id],
    tx,
  )
  if (!found) return undefined
  const { since, ...request } = found
  // Read with the request locked: what was received before is committed.
  const at = Date.now()
  const sum = await db.row<{ count: number; bytes: number | null }>(
    'SELECT COUNT(*) AS count, SUM(bytes) AS bytes FROM file_request_upload WHERE request_id = ? AND received_at > ? AND received_at <= ?',
    [id, since, at],
    tx,
  )
  await endMail(db, 'file_request', id, at, tx)
  return { ...request, count: Number(sum?.count), bytes: Number(sum?.bytes ?? 0) }
}
