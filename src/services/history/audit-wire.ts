import type { Event } from '../../../db/models/event.ts'
import type { EventDetails } from './event.ts'

/** An event as operators see it. */
export interface AuditRecord extends Omit<Event, 'details'> {
  details: EventDetails
}

/** An exported entry of the audit trail, with the names of REST. */
export const onWire = (r: AuditRecord) => ({
  happened_at: new Date(r.at).toISOString(),
  kind: r.kind,
  via: r.via,
  actor_id: r.actorId,
  operator_id: r.operatorId,
  credential_id: r.viaId,
  address: r.address,
  agent: r.agent,
  log_id: r.logId,
  number: r.seq,
  subject_id: r.subjectId,
  entry_id: r.entryId,
  details: r.details,
})

/**
 * A value in a line of CSV (RFC 4180). Neutralizes values that spreadsheet programs would run as
 * formulas.
 */
function csvOf(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : `${value}`
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

const columns = Object.keys(
  onWire({
    at: 0,
    kind: 'file.created',
    via: 'system',
    actorId: null,
    operatorId: null,
    viaId: null,
    address: null,
    agent: null,
    logId: '',
    seq: 0,
    subjectId: null,
    entryId: null,
    details: {},
  }),
)

/** The export formats of the audit trail. */
export const auditFormats = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: `${columns.join(',')}\r\n`,
    line: (r: AuditRecord) => `${Object.values(onWire(r)).map(csvOf).join(',')}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    line: (r: AuditRecord) => `${JSON.stringify(onWire(r))}\n`,
  },
}

export type AuditFormat = keyof typeof auditFormats

export const isAuditFormat = (name: string): name is AuditFormat =>
  Object.hasOwn(auditFormats, name)
