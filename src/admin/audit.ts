import { once } from 'node:events'
import { type EventKind, eventKinds, serviceKinds } from '../../db/models/event.ts'
import type { AuditFilter } from '../../db/queries/audit.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { wholeNumber } from '../runtime/program.ts'
import { table } from '../runtime/table.ts'
import { type AuditRecord, auditService } from '../services/history/audit.ts'
import { readTime } from './maintenance.ts'
import type { Program } from './plan.ts'

const kinds: readonly EventKind[] = [...eventKinds, ...serviceKinds]

function readKind(text: string): EventKind {
  const kind = kinds.find(one => one === text)
  if (!kind) throw new InvalidInput('kind', `There is no kind "${text}". The kinds are: ${kinds.join(', ')}.`)
  return kind
}

/** With the names that REST has. */
const onWire = (r: AuditRecord) => ({
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

/** A value of a line of CSV (RFC 4180). Programs for tables would run what begins like a formula. */
function csvOf(value: unknown): string {
  const text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

const columns = Object.keys(
  onWire({
    ...{ at: 0, kind: 'file.created', via: 'system', actorId: null, operatorId: null, viaId: null, address: null },
    ...{ agent: null, logId: '', seq: 0, subjectId: null, entryId: null, details: {} },
  }),
)

const formats = {
  csv: {
    head: `${columns.join(',')}\r\n`,
    line: (r: AuditRecord) => `${Object.values(onWire(r)).map(csvOf).join(',')}\r\n`,
  },
  ndjson: { head: '', line: (r: AuditRecord) => `${JSON.stringify(onWire(r))}\n` },
}

/** Writes as fast as it is read. */
async function print(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

interface Options {
  since?: string
  until?: string
  actor?: string
  about?: string
  kind: string[]
  address?: string
  limit?: number
  format?: string
}

/** Declares the command that searches and exports the audit trail. */
export function auditCommand({ command, run }: Program): void {
  command('audit', 'shows who has done what, when and from where, the newest first')
    .option('--since <time>', 'only from this time on, such as 2026-12-01T10:00Z')
    .option('--until <time>', 'only before this time')
    .option('--actor <user>', 'only what this user has done, as themselves or as an operator')
    .option('--about <id>', 'only what is about this account, workspace, file or folder')
    .option('--kind <kind>', 'only this kind; may be repeated', (kind: string, all: string[]) => [...all, kind], [])
    .option('--address <address>', 'only from this address, as LOG_ADDRESSES shows it')
    .option('--limit <n>', 'how many at most; 100, or all of them with --format', wholeNumber(1))
    .option('--format <format>', 'csv or ndjson: exports all that is found')
    .addHelpText('after', `\nThe kinds: ${kinds.join(', ')}.\nReading the trail is noted in it.`)
    .action(({ since, until, actor, about, kind, address, limit, format }: Options) =>
      run(async (operator, { db }) => {
        if (format !== undefined && !Object.hasOwn(formats, format))
          throw new InvalidInput('format', `There is no format "${format}". Choose csv or ndjson.`)
        const filter: AuditFilter = {
          since: since === undefined ? null : readTime(since),
          until: until === undefined ? null : readTime(until),
          // The account may be gone: an id is taken as it is.
          personId: actor?.includes('@') ? (await operator.user(actor)).id : (actor ?? null),
          aboutId: about ?? null,
          kinds: kind.map(readKind),
          address: address ?? null,
        }
        const trail = auditService({ db })
        if (format !== undefined) {
          const { head, line } = formats[format as keyof typeof formats]
          await print(head)
          for await (const rows of trail.all(filter, limit)) await print(rows.map(line).join(''))
          return null
        }
        const found: AuditRecord[] = []
        for await (const rows of trail.all(filter, limit ?? 100)) found.push(...rows)
        const lines = found.map(r => [
          new Date(r.at).toISOString(),
          r.kind,
          r.actorId ?? (r.via === 'operator' ? `operator ${r.operatorId ?? '(command line)'}` : '-'),
          r.address ?? '-',
          r.details.path ?? r.details.name ?? r.subjectId ?? '',
        ])
        const words = lines.length === 0 ? 'Nothing found.' : table([['TIME', 'KIND', 'WHO', 'FROM', 'WHAT'], ...lines])
        return { fact: { events: found.map(onWire) }, words }
      }),
    )
}
