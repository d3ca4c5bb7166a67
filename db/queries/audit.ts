import type { Db, Value } from '../index.ts'
import { Event, type EventKind } from '../models/event.ts'
import { placeholders, selection } from './sql.ts'

/** What is looked for in the events of all logs; an empty filter finds all. */
export interface AuditFilter {
  /** Who has acted, as themselves or as an operator. */
  personId?: string | null
  /** The account, workspace, file or folder that it is about, by its id. */
  aboutId?: string | null
  kinds?: readonly EventKind[]
  /** The session, key, link or file request by which it was done. */
  credentialId?: string | null
  address?: string | null
  /** Inclusive, and exclusive. */
  since?: number | null
  until?: number | null
}

/** Where an event is in the order of the trail: the newest first. */
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
            '(log_id = ? OR entry_id = ? OR log_id IN (SELECT id FROM bucket WHERE workspace_id = ? OR user_id = ?))',
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

/** Events of all logs, the newest first. */
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
    `SELECT ${selection(Event)} FROM event ${where} ORDER BY at DESC, log_id DESC, seq DESC LIMIT ${limit}`,
    conditions.flatMap(([, values]) => values),
  )
}
