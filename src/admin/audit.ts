import { once } from 'node:events'
import type { Db } from '../../db/index.ts'
import { auditKinds, type EventKind } from '../../db/models/event.ts'
import type { AuditFilter } from '../../db/queries/audit.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { wholeNumber } from '../runtime/program.ts'
import { table } from '../runtime/table.ts'
import { auditService } from '../services/history/audit.ts'
import {
  type AuditRecord,
  auditFormats,
  isAuditFormat,
  onWire,
} from '../services/history/audit-wire.ts'
import { readTime } from './maintenance.ts'
import type { Program } from './plan.ts'

function readKind(text: string): EventKind {
  const kind = auditKinds.find(one => one === text)
  if (!kind)
    throw new InvalidInput(
      'kind',
      `There is no kind "${text}". The kinds are: ${auditKinds.join(', ')}.`,
    )
  return kind
}

/** Writes at the pace of the reader. */
async function print(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** The display names of accounts: the e-mail address, or the id of a deleted account. */
async function emailsOf(
  db: Db,
  ids: readonly (string | null)[],
): Promise<(id: string | null) => string> {
  const emails = new Map<string, string>()
  for (const id of new Set(ids)) {
    const user = id && (await db.User.findByPk(id, { attributes: ['email'], raw: true }))
    if (user) emails.set(id, user.email)
  }
  return id => (id ? (emails.get(id) ?? id) : '(command line)')
}

interface Options {
  since?: string
  until?: string
  actor?: string
  about?: string
  kind: string[]
  address?: string
  credential?: string
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
    .option(
      '--kind <kind>',
      'only this kind; may be repeated',
      (kind: string, all: string[]) => [...all, kind],
      [],
    )
    .option('--address <address>', 'only from this address, as LOG_ADDRESSES shows it')
    .option('--credential <id>', 'only by this session, key, link or file request')
    .option('--limit <n>', 'how many at most; 100, or all of them with --format', wholeNumber(1))
    .option('--format <format>', 'csv or ndjson: exports all that is found')
    .addHelpText(
      'after',
      `\nThe kinds: ${auditKinds.join(', ')}.\nReading the trail is noted in it.`,
    )
    .action(({ since, until, actor, about, kind, address, credential, limit, format }: Options) =>
      run(async (operator, { db }) => {
        if (format !== undefined && !isAuditFormat(format))
          throw new InvalidInput('format', `There is no format "${format}". Choose csv or ndjson.`)
        const filter: AuditFilter = {
          since: since === undefined ? null : readTime(since),
          until: until === undefined ? null : readTime(until),
          // Ids are not looked up, because the account may have been deleted.
          personId: actor?.includes('@') ? (await operator.user(actor)).id : (actor ?? null),
          aboutId: about ?? null,
          kinds: kind.map(readKind),
          credentialId: credential ?? null,
          address: address ?? null,
        }
        const trail = auditService({ db })
        if (format !== undefined) {
          const { head, line } = auditFormats[format]
          await print(head)
          for await (const rows of trail.all(filter, limit)) await print(rows.map(line).join(''))
          return null
        }
        const found: AuditRecord[] = []
        for await (const rows of trail.all(filter, limit ?? 100)) found.push(...rows)
        const emails = await emailsOf(
          db,
          found.flatMap(({ actorId, operatorId }) => [actorId, operatorId]),
        )
        const lines = found.map(r => [
          new Date(r.at).toISOString(),
          r.kind,
          r.actorId
            ? emails(r.actorId)
            : r.via === 'operator'
              ? `operator ${emails(r.operatorId)}`
              : '-',
          r.address ?? '-',
          r.details.path ?? r.details.name ?? r.subjectId ?? '',
        ])
        const words =
          lines.length === 0
            ? 'Nothing found.'
            : table([['TIME', 'KIND', 'WHO', 'FROM', 'WHAT'], ...lines])
        return { fact: { events: found.map(onWire) }, words }
      }),
    )
}
