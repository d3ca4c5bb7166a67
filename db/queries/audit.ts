import type { Db, Value } from '../index.ts'
import { Event, type EventKind } from '../models/event.ts'
import { placeholders, selection } from './sql.ts'

/** Filters the events of all logs. An empty filter matches all. */
export interface AuditFilter {
  /** The actor, as a person or as an operator. */
  personId?: string | null
  /** The id of the account, workspace, file or folder that the event concerns. */
  aboutId?: string | null
  kinds?: readonly EventKind[]
  /** The session, key, link or file request behind the event. */
  credentialId?: string | null
  address?: string | null
  /** The start is inclusive, the end exclusive. */
  since?: number | null
  until?: number | null
}

/** The position of an event in the trail, newest first. */
export type AuditKey = [at: number, logId: string, seq: number]

function conditionsOf({
  personId,
  aboutId,
  kinds = [],
  credentialId,
  address,
  since,
  until,
}: AuditFilter): [string, Value[]][] {
  return [
    ...(personId
      ? [['(actor_id = ? OR operator_id = ?)', [personId, personId]] as [string, Value[]]]
      : []),
    ...(aboutId
      ? [
          [
            `(log_id = ?
               OR entry_id = ?
               OR log_id IN (SELECT id FROM bucket WHERE workspace_id = ? OR user_id = ?))`,
            [aboutId, aboutId, aboutId, aboutId],
          ] as [string, Value[]],
        ]
      : []),
    ...(kinds.length > 0
      ? [[`kind IN (${placeholders(kinds)})`, [...kinds]] as [string, Value[]]]
      : []),
    ...(credentialId ? [['via_id = ?', [credentialId]] as [string, Value[]]] : []),
    ...(address ? [['address = ?', [address]] as [string, Value[]]] : []),
    ...(since ? [['at >= ?', [since]] as [string, Value[]]] : []),
    ...(until ? [['at < ?', [until]] as [string, Value[]]] : []),
  ]
}

/** Events of all logs, newest first. */
export function auditEvents(
  db: Db,
  filter: AuditFilter,
  limit: number,
  after: AuditKey | null,
): Promise<Event[]> {
  const conditions = conditionsOf(filter)
  if (after) {
    const [at, logId, seq] = after
    conditions.push([
      'at <= ? AND (at < ? OR log_id < ? OR (log_id = ? AND seq < ?))',
      [at, at, logId, logId, seq],
    ])
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}` : ''
  return db.rows<Event>(
    `SELECT ${selection(Event)}
     FROM event
     ${where}
     ORDER BY at DESC, log_id DESC, seq DESC
     LIMIT ${limit}`,
    conditions.flatMap(([, values]) => values),
  )
}
