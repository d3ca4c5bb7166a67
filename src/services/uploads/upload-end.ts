import type { Db, Tx } from '../../../db/index.ts'
import { markForDeletion, setDeletion } from '../../../db/queries/blob.ts'
import {
  deleteSession,
  type EndingSession,
  sessionById,
  sessionsInto,
} from '../../../db/queries/upload-session.ts'
import { endPiecesOf, findJoinedTo, findStream } from '../../../db/queries/upload-stream.ts'
import { releaseStaged } from '../tree/ledger.ts'
import { uploadNotFound } from './upload-error.ts'

/**
 * A request that started before its signed URL expired may finish afterwards, and clocks differ.
 */
const LATE_MS = 900_000

/**
 * Releases the reservation of an upload and leaves its parts to the sweeper. Also ends the uploads
 * joined to it, and the upload that it is joined to.
 * @returns false if it had ended already
 */
export async function endSession(
  db: Db,
  bucketId: string,
  session: EndingSession,
  tx: Tx,
  overAt?: number,
): Promise<boolean> {
  const { id } = session
  const stream = await findStream(db, id, tx)
  if (!(await endAlone(db, bucketId, session, tx, overAt))) return false
  const final = stream?.kind === 'partial' ? await findJoinedTo(db, bucketId, id, tx) : undefined
  for (const part of [
    ...(stream?.parts?.split(',') ?? []),
    ...(final?.parts.split(',') ?? []),
    ...(final ? [final.id] : []),
  ])
    await endAlone(db, bucketId, { id: part, writableUntil: 0 }, tx)
  return true
}

async function endAlone(
  db: Db,
  bucketId: string,
  session: EndingSession,
  tx: Tx,
  overAt?: number,
): Promise<boolean> {
  const { id, writableUntil } = session
  if (!(await releaseStaged(db, bucketId, id, tx, overAt))) return false
  await endPiecesOf(db, id, tx)
  await deleteSession(db, id, tx)
  if (writableUntil > 0) await setDeletion(db, id, writableUntil + LATE_MS, tx)
  return true
}

/**
 * Ends the uploads joined to one that becomes a file. The file has taken over their reservations.
 */
export async function endJoined(db: Db, bucketId: string, id: string, tx: Tx): Promise<void> {
  const parts = (await findStream(db, id, tx))?.parts?.split(',') ?? []
  for (const part of parts) await endAlone(db, bucketId, { id: part, writableUntil: 0 }, tx)
}

/** Ends an upload whose lease has expired, in one request or in parts. */
export async function endOverdue(
  db: Db,
  bucketId: string,
  id: string,
  tx: Tx,
  at: number,
): Promise<void> {
  const session = await sessionById(db, id, tx)
  await (session
    ? endSession(db, bucketId, session, tx, at)
    : releaseStaged(db, bucketId, id, tx, at))
}

/** Ends all uploads into a deleted tree. */
export async function endUploadSessions(db: Db, bucketId: string): Promise<void> {
  const sessions = await sessionsInto(db, bucketId)
  for (const session of sessions) await db.transaction(tx => endSession(db, bucketId, session, tx))
}

/**
 * Marks the parts of a copied upload for deletion once their signed URLs have expired. Their
 * reservation now belongs to the copy.
 */
export async function markPartsForDeletion(db: Db, session: EndingSession, tx: Tx): Promise<void> {
  if (!(await markForDeletion(db, session.id, 'staged', session.writableUntil + LATE_MS, tx)))
    throw uploadNotFound()
}
