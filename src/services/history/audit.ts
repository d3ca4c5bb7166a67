import { validate as isUuid } from 'uuid'
import { type Event, SERVICE_LOG, type ServiceEventKind } from '../../../db/models/event.ts'
import { type AuditFilter, type AuditKey, auditEvents } from '../../../db/queries/audit.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'
import { changeRunner, type EventDetails, operatorOf } from './event.ts'

/** An event as operators see it. */
export interface AuditRecord extends Omit<Event, 'details'> {
  details: EventDetails
}

const toRecord = ({ details, seq, at, ...event }: Event): AuditRecord => ({
  ...event,
  seq: Number(seq),
  at: Number(at),
  details: JSON.parse(details),
})

const keyOf = ({ at, logId, seq }: AuditRecord): AuditKey => [at, logId, seq]

/** Rows that an export reads at a time. */
const BATCH = 1000
const LONGEST_ADDRESS = 64

function read({ personId, aboutId, address, ...rest }: AuditFilter): AuditFilter {
  const id = (value: string | null | undefined, field: string) => {
    if (value && !isUuid(value)) throw new InvalidInput(field, 'This is no id of an account, a workspace or an entry.')
    return value?.toLowerCase() ?? null
  }
  if (address && !/^[\x20-\x7e]+$/.test(address))
    throw new InvalidInput('filter.address', 'This is no address of a client.')
  return {
    ...rest,
    personId: id(personId, 'filter.person'),
    aboutId: id(aboutId, 'filter.about'),
    address: address?.slice(0, LONGEST_ADDRESS) ?? null,
  }
}

/** The audit trail: the events of all drives, all people and the service, which operators search. docs/decisions/audit.md */
export function auditService({ db, change = changeRunner({ db }) }: Core<'db'> & Partial<Core<'change'>>) {
  /** Who reads the trail is in it. @param by null for the command line of the service */
  const noteReading = (by: Caller | null) =>
    change(operatorOf(by), async ({ record }) => record(SERVICE_LOG, { kind: 'audit.read', subject: null }))

  return {
    /**
     * A page of the trail, the newest first. Each is noted in the trail, because anyone can write a cursor, and read from there on.
     * @throws INVALID_INPUT
     */
    async page(filter: AuditFilter, by: Caller, limit: number, after: AuditKey | null): Promise<Page<AuditRecord>> {
      const wanted = read(filter)
      await noteReading(by)
      const { rows, more } = pageOf(await auditEvents(db, wanted, limit + 1, after), limit)
      return { rows: rows.map(toRecord), more }
    },

    /** All that a filter finds, a batch at a time, for the command line of the service. @throws INVALID_INPUT */
    async *all(filter: AuditFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<AuditRecord[]> {
      const wanted = read(filter)
      await noteReading(null)
      let after: AuditKey | null = null
      for (let left = limit; left > 0; ) {
        const rows: AuditRecord[] = (await auditEvents(db, wanted, Math.min(BATCH, left), after)).map(toRecord)
        const last = rows.at(-1)
        if (!last) return
        yield rows
        after = keyOf(last)
        left -= rows.length
      }
    },

    /** Notes what concerns no drive and no account that is there. */
    note: (by: Caller, kind: ServiceEventKind, subject: string | null): Promise<void> =>
      change(by, async ({ record }) => record(SERVICE_LOG, { kind, subject })),
  }
}
