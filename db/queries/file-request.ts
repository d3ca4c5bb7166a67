import type { Db, Tx } from '../index.ts'
import { FileRequest } from '../models/file-request.ts'
import { treeOf, USER_MAY_WRITE } from './caller.ts'
import { type DriveLimits, driveLimitOf, withDriveLimits } from './limit.ts'
import { type Page, pageOf } from './page.ts'
import { besideKeys, insertion, placeholders, selection } from './sql.ts'
import { endMail } from './use-mail.ts'

/** A request with its creator and its drive. */
export interface RequestRow extends FileRequest {
  makerName: string
  rootId: string
  /** Null for a drive of the creator. */
  workspaceId: string | null
  /** Whether the creator may write there now. */
  mayWrite: number
}

/** A request with the limits of its drive. */
export type LinkedRequest = RequestRow &
  Pick<DriveLimits, 'maxFileSizeBytes' | 'maxTotalStorageBytes' | 'maxFolders'> & {
    maxDriveFiles: number | null
  }

const columns = `${selection(FileRequest, 'r')}, u.name AS makerName, t.root_id AS rootId, t.workspace_id AS workspaceId,
  CASE WHEN ${USER_MAY_WRITE} THEN 1 ELSE 0 END AS mayWrite`
const tables = `file_request r JOIN user u ON u.id = r.user_id ${treeOf('r')}`

/** A request, open or closed. */
export const findRequest = (db: Db, id: string): Promise<LinkedRequest | undefined> =>
  db.row(
    `SELECT ${columns}, ${driveLimitOf('maxFileSizeBytes', 't')} AS maxFileSizeBytes,
       ${driveLimitOf('maxTotalStorageBytes', 't')} AS maxTotalStorageBytes,
       ${driveLimitOf('maxFiles', 't')} AS maxDriveFiles,
       ${driveLimitOf('maxFolders', 't')} AS maxFolders
     FROM ${tables}
     ${withDriveLimits('t')}
     WHERE r.id = ?`,
    [id],
  )

/** The requests of a user among these ids, open or closed. */
export const requestsAmong = (db: Db, userId: string, ids: string[]): Promise<RequestRow[]> =>
  db.rows(
    `SELECT ${columns}
     FROM ${tables}
     WHERE ${besideKeys('r.user_id')} = ?
       AND r.id IN (${placeholders(ids)})`,
    [userId, ...ids],
  )

/** Filters the requests of a user. */
export interface RequestFilter {
  /** Only requests for this drive. */
  bucketId?: string | null
  folderId?: string | null
  /** Includes closed requests. */
  closed?: boolean
  newestFirst?: boolean
  after: string | null
  limit: number
}

/**
 * A page of the open requests of a user, including expired ones, without those of workspaces that
 * the user has left.
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
    `SELECT ${columns}
     FROM ${tables}
     WHERE r.user_id = ?${closed ? '' : ' AND r.closed_at IS NULL'}
       AND (t.user_id = u.id OR m.user_id IS NOT NULL)${more.map(([sql]) => ` AND ${sql}`).join('')}
     ORDER BY r.id${newestFirst ? ' DESC' : ''}
     LIMIT ${limit + 1}`,
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

/**
 * Closes a request permanently.
 * @returns whether it was open
 */
export const closeRequest = (db: Db, id: string, at: number, tx: Tx): Promise<boolean> =>
  db.changed(
    'UPDATE file_request SET closed_at = ? WHERE id = ? AND closed_at IS NULL',
    [at, id],
    tx,
  )

/** The number of a user's open, unexpired requests. */
export async function countRequests(db: Db, userId: string, tx: Tx): Promise<number> {
  const row = await db.row<{ n: number }>(
    `SELECT COUNT(*) AS n
     FROM file_request
     WHERE user_id = ?
       AND closed_at IS NULL
       AND (expires_at IS NULL OR expires_at > ?)`,
    [userId, Date.now()],
    tx,
  )
  return Number(row?.n)
}

/** The content of a mail about a request. */
export interface Arrivals {
  label: string
  /**
   * The creator's verified e-mail address. Null without one, and while the creator is suspended.
   */
  address: string | null
  count: number
  bytes: number
}

/**
 * The files received since the last mail to the creator. Records that the next mail is sent now.
 */
export async function takeArrivals(db: Db, id: string, tx: Tx): Promise<Arrivals | undefined> {
  const found = await db.row<Omit<Arrivals, 'count' | 'bytes'> & { since: number }>(
    `SELECT r.label, r.notified_at AS since,
       CASE WHEN u.status = 'active' THEN u.verified_email END AS address
     FROM file_request r
     JOIN user u ON u.id = r.user_id
     WHERE r.id = ?${db.forUpdate}`,
    [id],
    tx,
  )
  if (!found) return undefined
  const { since, ...request } = found
  // The request is locked, so everything received before is committed.
  const at = Date.now()
  const sum = await db.row<{ count: number; bytes: number | null }>(
    `SELECT COUNT(*) AS count, SUM(bytes) AS bytes
     FROM file_request_upload
     WHERE request_id = ?
       AND received_at > ?
       AND received_at <= ?`,
    [id, since, at],
    tx,
  )
  await endMail(db, 'file_request', id, at, tx)
  return { ...request, count: Number(sum?.count), bytes: Number(sum?.bytes ?? 0) }
}
