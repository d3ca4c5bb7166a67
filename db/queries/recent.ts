import type { Db } from '../index.ts'
import type { EventKind } from '../models/event.ts'
import { inParts, placeholders } from './sql.ts'

/** An action of a person. */
export interface ActionRow {
  logId: string
  seq: number
  at: number
  kind: EventKind
  entryId: string | null
}

/**
 * The latest actions of a person in all logs, newest first. Reads a range of an index, however long
 * the logs are.
 */
export const latestActions = (db: Db, userId: string, limit: number): Promise<ActionRow[]> =>
  db.rows(
    `SELECT log_id AS logId, seq, at, kind, entry_id AS entryId
     FROM event
     WHERE actor_id = ?
     ORDER BY at DESC
     LIMIT ${limit}`,
    [userId],
  )

/** The details of some events of one log by their numbers. */
export async function detailsOf(
  db: Db,
  logId: string,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (const some of inParts(seqs, 1000)) {
    const rows = await db.rows<{ seq: number; details: string }>(
      `SELECT seq, details FROM event WHERE log_id = ? AND seq IN (${placeholders(some)})`,
      [logId, ...some],
    )
    for (const { seq, details } of rows) found.set(Number(seq), details)
  }
  return found
}

/** Files of a drive with these contents, up to a number of rows. */
export const filesWithContents = (
  db: Db,
  bucketId: string,
  md5s: readonly string[],
  limit: number,
): Promise<{ id: string; md5: string }[]> =>
  db.rows(
    `SELECT id, md5
     FROM entry
     WHERE bucket_id = ?
       AND md5 IN (${placeholders(md5s)})
     ORDER BY id
     LIMIT ${limit}`,
    [bucketId, ...md5s],
  )
