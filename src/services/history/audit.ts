import { validate as isUuid } from 'uuid'
import { type Event, SERVICE_LOG, type ServiceEventKind } from '../../../db/models/event.ts'
import { type AuditFilter, type AuditKey, auditEvents } from '../../../db/queries/audit.ts'
import { type Page, pageOf } from '../../../db/queries/page.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput, Unauthenticated } from '../../runtime/errors.ts'
import type { Attachment } from '../accounts/account-export.ts'
import type { Core } from '../core.ts'
import { type AuditFormat, type AuditRecord, auditFormats } from './audit-wire.ts'
import { changeRunner, operatorOf } from './event.ts'

const toRecord = ({ details, seq, at, ...event }: Event): AuditRecord => ({
  ...event,
  seq: Number(seq),
  at: Number(at),
  details: JSON.parse(details),
})

const keyOf = ({ at, logId, seq }: AuditRecord): AuditKey => [at, logId, seq]

/** The number of rows that an export reads at once. */
const BATCH = 1000
const LONGEST_ADDRESS = 64

function read({ personId, aboutId, credentialId, address, ...rest }: AuditFilter): AuditFilter {
  const id = (value: string | null | undefined, field: string) => {
    if (value && !isUuid(value))
      throw new InvalidInput(field, 'This is no id. Use one that the trail shows.')
    return value?.toLowerCase() ?? null
  }
  if (address && !/^[\x20-\x7e]+$/.test(address))
    throw new InvalidInput('filter.address', 'This is no address of a client.')
  return {
    ...rest,
    personId: id(personId, 'filter.person'),
    aboutId: id(aboutId, 'filter.about'),
    credentialId: id(credentialId, 'filter.credential'),
    address: address?.slice(0, LONGEST_ADDRESS) ?? null,
  }
}

/**
 * The audit trail for operators: the events of all drives, all people and the service
 * (docs/decisions/audit.md).
 */
export function auditService({
  db,
  change = changeRunner({ db }),
}: Core<'db'> & Partial<Core<'change'>>) {
  /**
   * Records who reads the trail in the trail itself.
   * @param by null for the command line of the service
   */
  const noteReading = (by: Caller | null) =>
    change(operatorOf(by), async ({ record }) =>
      record(SERVICE_LOG, { kind: 'audit.read', subject: null }),
    )

  /**
   * All matches of a filter, in batches.
   * @param by null for the command line of the service
   * @throws INVALID_INPUT
   */
  async function* all(
    filter: AuditFilter,
    limit = Number.POSITIVE_INFINITY,
    by: Caller | null = null,
  ): AsyncGenerator<AuditRecord[]> {
    const wanted = read(filter)
    await noteReading(by)
    let after: AuditKey | null = null
    for (let left = limit; left > 0; ) {
      const rows: AuditRecord[] = (await auditEvents(db, wanted, Math.min(BATCH, left), after)).map(
        toRecord,
      )
      const last = rows.at(-1)
      if (!last) return
      yield rows
      after = keyOf(last)
      left -= rows.length
    }
  }

  return {
    /**
     * A page of the trail, newest first. Each page is recorded in the trail, because anyone can
     * write a cursor and read from there.
     * @throws INVALID_INPUT
     */
    async page(
      filter: AuditFilter,
      by: Caller,
      limit: number,
      after: AuditKey | null,
    ): Promise<Page<AuditRecord>> {
      const wanted = read(filter)
      await noteReading(by)
      const { rows, more } = pageOf(await auditEvents(db, wanted, limit + 1, after), limit)
      return { rows: rows.map(toRecord), more }
    },

    all,

    /**
     * All matches of a filter as a file, in constant memory.
     * @param mayGoOn whether the caller is still an operator with a session; called after each
     * batch
     * @throws INVALID_INPUT
     */
    export(
      filter: AuditFilter,
      by: Caller,
      format: AuditFormat,
      mayGoOn: () => Promise<boolean>,
    ): Attachment {
      const { type, head, line } = auditFormats[format]
      const wanted = read(filter)
      async function* chunks() {
        yield head
        for await (const rows of all(wanted, Number.POSITIVE_INFINITY, by)) {
          yield rows.map(line).join('')
          if (!(await mayGoOn())) throw new Unauthenticated()
        }
      }
      return {
        name: `satchel-audit-${new Date().toISOString().slice(0, 10)}.${format}`,
        type,
        chunks: chunks(),
      }
    },

    /** The names of keys, by their ids. Does not authorize. */
    async keyNames(ids: string[]): Promise<Map<string, string>> {
      const found = await db.ApiKey.findAll({
        where: { id: ids },
        attributes: ['id', 'name'],
        raw: true,
      })
      return new Map(found.map(({ id, name }) => [id, name]))
    },

    /** Records events that concern no existing drive or account. */
    note: (by: Caller, kind: ServiceEventKind, subject: string | null): Promise<void> =>
      change(by, async ({ record }) => record(SERVICE_LOG, { kind, subject })),
  }
}
