import type { Db, Tx } from '../index.ts'
import { type CompletionState, UploadSession } from '../models/upload-session.ts'
import type { StreamKind } from '../models/upload-stream.ts'
import { MAKER_MAY_WRITE } from './caller.ts'
import { insertion, placeholders } from './sql.ts'

/** A row of an unfinished upload in parts. */
export interface SessionRow
  extends Pick<
    UploadSession,
    | 'id'
    | 'bucketId'
    | 'shareId'
    | 'path'
    | 'fileType'
    | 'size'
    | 'partSize'
    | 'onConflict'
    | 'writableUntil'
    | 'claimUntil'
    | 'modifiedAt'
    | 'createdAt'
  > {
  direct: number | boolean
  /**
   * The end of its blob's lease. After a background completion, the time when its outcome is
   * deleted.
   */
  expiresAt: number
  state: CompletionState | null
  /** The kind of stream, if its bytes arrive in order. */
  stream: StreamKind | null
}

const columns = `s.id, s.bucket_id AS bucketId, s.share_id AS shareId, s.path,
    s.file_type AS fileType, s.size, s.part_size AS partSize, s.direct,
    s.on_conflict AS onConflict, s.writable_until AS writableUntil, s.claim_until AS claimUntil,
    s.modified_at AS modifiedAt, s.created_at AS createdAt, s.state,
    (SELECT t.kind FROM upload_stream t WHERE t.id = s.id) AS stream`
/** The unfinished uploads of a user. Its values are the user id and the current time. */
const unfinished = `SELECT ${columns}, b.lease_until AS expiresAt
  FROM upload_session s
  JOIN blobs b ON b.id = s.id
  WHERE s.user_id = ?
    AND b.state = 'staged'
    AND b.lease_until > ?`

/**
 * @param maker the user who started it
 * @param writable only if that user may still write there
 */
export const findSession = (
  db: Db,
  {
    id,
    bucketId,
    maker,
    writable,
  }: { id: string; bucketId: string; maker: string; writable: boolean },
  now: number,
): Promise<SessionRow | undefined> =>
  db.row(
    `${unfinished} AND s.id = ? AND s.bucket_id = ?${writable ? ` AND ${MAKER_MAY_WRITE}` : ''}`,
    [...[maker, now, id, bucketId], ...(writable ? [now] : [])],
  )

/** The uploads among these that are unfinished or were completed in the background. */
export const sessionsAmong = (db: Db, maker: string, ids: string[]): Promise<SessionRow[]> =>
  db.rows(
    `SELECT ${columns},
       CASE WHEN s.state = 'completed' THEN s.claim_until ELSE b.lease_until END AS expiresAt
     FROM upload_session s
     JOIN blobs b ON b.id = s.id
     WHERE s.user_id = ?
       AND (s.state = 'completed' OR b.state = 'staged' AND b.lease_until > ?)
       AND s.id IN (${placeholders(ids)})`,
    [maker, Date.now(), ...ids],
  )

export async function insertSession(
  db: Db,
  session: Omit<SessionRow, 'claimUntil' | 'expiresAt' | 'state' | 'stream'> & {
    bucketId: string
    userId: string
  },
  tx: Tx,
): Promise<void> {
  await db.run(
    ...insertion(UploadSession, [{ ...session, direct: Boolean(session.direct), claimUntil: 0 }]),
    tx,
  )
}

/** The columns needed to end a session. */
export type EndingSession = Pick<UploadSession, 'id' | 'writableUntil'>

const ending = 'SELECT id, writable_until AS writableUntil FROM upload_session'

export const sessionById = (db: Db, id: string, tx: Tx): Promise<EndingSession | undefined> =>
  db.row(`${ending} WHERE id = ?`, [id], tx)

export const sessionsInto = (db: Db, bucketId: string): Promise<EndingSession[]> =>
  db.rows(`${ending} WHERE bucket_id = ?`, [bucketId])

export const sessionExists = (db: Db, id: string): Promise<boolean> =>
  db.exists('SELECT id FROM upload_session WHERE id = ?', [id])

export async function deleteSession(db: Db, id: string, tx: Tx): Promise<void> {
  await db.run('DELETE FROM upload_session WHERE id = ?', [id], tx)
}

/**
 * Deletes a session that is still claimed with this token.
 * @returns whether it was deleted
 */
export const deleteClaimed = (db: Db, id: string, claim: string, tx: Tx): Promise<boolean> =>
  db.changed('DELETE FROM upload_session WHERE id = ? AND claim = ?', [id, claim], tx)

/**
 * Claims a session unless another request has claimed it.
 * @param completion the plan for the background; null for a completion that ends with its request
 * @returns whether it was claimed
 */
export const claimSession = (
  db: Db,
  {
    id,
    claim,
    until,
    completion,
  }: { id: string; claim: string; until: number; completion: string | null },
): Promise<boolean> =>
  db.changed(
    `UPDATE upload_session
     SET claim = ?, claim_until = ?, state = ?, completion = ?, failure = NULL, checked = 0
     WHERE id = ?
       AND claim_until <= ?
       AND (state IS NULL OR state <> 'completed')`,
    [claim, until, completion === null ? null : 'completing', completion, id, Date.now()],
  )

/**
 * Claims a session whose completion another instance abandoned.
 * @param before the abandoned completion
 * @param completion the same, as a completion of this instance
 * @returns whether it still had this abandoned completion
 */
export const reclaimSession = (
  db: Db,
  {
    id,
    claim,
    until,
    before,
    completion,
  }: { id: string; claim: string; until: number; before: string; completion: string },
): Promise<boolean> =>
  db.changed(
    `UPDATE upload_session
     SET claim = ?, claim_until = ?, completion = ?, checked = 0
     WHERE id = ?
       AND claim_until <= ?
       AND state = 'completing'
       AND completion = ?`,
    [claim, until, completion, id, Date.now(), before],
  )

/** @returns whether the session is still claimed with this token */
export async function extendClaim(
  db: Db,
  id: string,
  claim: string,
  until: number,
): Promise<boolean> {
  await db.run('UPDATE upload_session SET claim_until = ? WHERE id = ? AND claim = ?', [
    until,
    id,
    claim,
  ])
  const held = await db.rows('SELECT id FROM upload_session WHERE id = ? AND claim = ?', [
    id,
    claim,
  ])
  return held.length === 1
}

export async function releaseClaim(db: Db, id: string, claim: string): Promise<void> {
  await db.run(
    'UPDATE upload_session SET claim = NULL, claim_until = 0 WHERE id = ? AND claim = ?',
    [id, claim],
  )
}

/** A completion in the background, as the API shows it. */
export type CompletionRow = Pick<
  UploadSession,
  'id' | 'size' | 'failure' | 'checked' | 'fileId' | 'md5'
> & {
  state: CompletionState
}

/** @param maker the user who started the upload */
export const findCompletion = (
  db: Db,
  { id, bucketId, maker }: { id: string; bucketId: string; maker: string },
): Promise<CompletionRow | undefined> =>
  db.row(
    `SELECT id, size, state, failure, checked, file_id AS fileId, md5
     FROM upload_session
     WHERE id = ?
       AND bucket_id = ?
       AND user_id = ?
       AND state IS NOT NULL`,
    [id, bucketId, maker],
  )

/** A completion in the background that no instance is working on. */
export type DueCompletion = Pick<UploadSession, 'id' | 'bucketId' | 'shareId' | 'userId'> & {
  completion: string
}

/** Background completions whose claim has not expired. */
export const claimedCompletions = (
  db: Db,
): Promise<{ id: string; claim: string; completion: string }[]> =>
  db.rows(
    `SELECT id, claim, completion
     FROM upload_session
     WHERE state = 'completing'
       AND claim_until > ?
       AND claim IS NOT NULL`,
    [Date.now()],
  )

/** Some abandoned completions. */
export const dueCompletions = (db: Db, limit: number): Promise<DueCompletion[]> =>
  db.rows(
    `SELECT id, bucket_id AS bucketId, share_id AS shareId, user_id AS userId, completion
     FROM upload_session
     WHERE state = 'completing'
       AND claim_until <= ?
     ORDER BY claim_until
     LIMIT ${limit}`,
    [Date.now()],
  )

/** Stores the progress of a completion that is still claimed with this token. */
export async function setChecked(
  db: Db,
  id: string,
  claim: string,
  checked: number,
): Promise<void> {
  await db.run('UPDATE upload_session SET checked = ? WHERE id = ? AND claim = ?', [
    checked,
    id,
    claim,
  ])
}

/**
 * Ends a session that is still claimed with this token, but keeps its row until a time.
 * @returns whether it was claimed
 */
export const setCompleted = (
  db: Db,
  id: string,
  claim: string,
  until: number,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE upload_session
     SET claim = NULL, claim_until = ?, state = 'completed', completion = NULL, checked = size
     WHERE id = ?
       AND claim = ?`,
    [until, id, claim],
    tx,
  )

/**
 * Completes a session that no other request has claimed.
 * @param until when the row is deleted
 * @returns whether it was completed
 */
export const completeUnclaimed = (
  db: Db,
  id: string,
  file: { id: string; md5: string },
  until: number,
  tx: Tx,
): Promise<boolean> =>
  db.changed(
    `UPDATE upload_session
     SET state = 'completed', claim = NULL, claim_until = ?, failure = NULL, checked = size,
       file_id = ?, md5 = ?
     WHERE id = ?
       AND claim_until <= ?
       AND (state IS NULL OR state = 'failed')`,
    [until, file.id, file.md5, id, Date.now()],
    tx,
  )

export async function setCompletedFile(
  db: Db,
  id: string,
  file: { id: string; md5: string },
  tx: Tx,
): Promise<void> {
  await db.run(
    'UPDATE upload_session SET file_id = ?, md5 = ? WHERE id = ?',
    [file.id, file.md5, id],
    tx,
  )
}

/** Releases the claim of a background completion that will be retried from a time on. */
export async function postpone(db: Db, id: string, claim: string, until: number): Promise<void> {
  await db.run(
    'UPDATE upload_session SET claim = NULL, claim_until = ? WHERE id = ? AND claim = ?',
    [until, id, claim],
  )
}

/** Releases the claim of a failed background completion. */
export async function setFailed(db: Db, id: string, claim: string, failure: string): Promise<void> {
  const sql = `UPDATE upload_session
    SET claim = NULL, claim_until = 0, state = 'failed', completion = NULL, failure = ?
    WHERE id = ?
      AND claim = ?`
  await db.run(sql, [failure, id, claim])
}
