import { auditKinds } from '../../db/models/event.ts'
import { sendAttachment } from '../http/attachment.ts'
import { Forbidden, InvalidInput, Unauthenticated } from '../runtime/errors.ts'
import { isAuditFormat } from '../services/history/audit-wire.ts'
import type { Services } from '../services/index.ts'
import type { Reply, Visit } from './visit.ts'

const idOf = (given: string | null): string | null => given?.replace(/^account:/, '') || null

/** @throws INVALID_INPUT */
function readKind(name: string) {
  const kind = auditKinds.find(
    one => one === name || one.toUpperCase().replaceAll('.', '_') === name,
  )
  if (!kind)
    throw new InvalidInput('kind', 'There is no such kind of event. Use one of the list of kinds.')
  return kind
}

/** @throws INVALID_INPUT */
function readTime(given: string | null, field: string): number | null {
  if (!given) return null
  const time = Date.parse(given)
  if (Number.isNaN(time))
    throw new InvalidInput(field, 'This is no time. Write it as 2026-12-01T10:00Z.')
  return time
}

/**
 * `/audit/export`: the results of the console's audit screen as a file. It is streamed, whatever
 * its size.
 *
 * @throws UNAUTHENTICATED, INVALID_INPUT, and FORBIDDEN for anyone but operators
 */
export function auditExport({ appointments, audits }: Services) {
  return async (visit: Visit): Promise<Reply> => {
    const { req, res, query, signal, log } = visit
    const caller = await visit.caller()
    if (!caller) throw new Unauthenticated()
    if (!(await appointments.isOperator(caller)))
      throw new Forbidden('Only operators of the service may do this.')
    const format = query.get('format') ?? 'csv'
    if (!isAuditFormat(format))
      throw new InvalidInput('format', 'The trail is exported as csv or ndjson.')
    const filter = {
      personId: idOf(query.get('person')),
      aboutId: idOf(query.get('about')),
      kinds: query.getAll('kind').map(readKind),
      credentialId: query.get('credential'),
      address: query.get('address'),
      since: readTime(query.get('since'), 'since'),
      until: readTime(query.get('until'), 'until'),
    }
    const isStill = async () => {
      const now = await visit.callerNow()
      return now !== null && appointments.isOperator(now)
    }
    await sendAttachment({ req, res, signal, log }, audits.export(filter, caller, format, isStill))
    return undefined
  }
}
