import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatBytes, formatNumber } from '../../../i18n/format.ts'
import { formatToTheSecond } from '../../../i18n/times.ts'
import { Figures } from '../../../parts/figures.tsx'
import { personName } from '../../../parts/person-name.ts'
import { roleName } from '../../workspaces/roles.ts'
import { limitLabel, limitText } from '../limits.tsx'
import type { Entry } from './documents.ts'
import { kinds } from './kinds.ts'
import type { AuditSearch } from './search.ts'
import { text } from './text.ts'

/** An entry of the audit trail. Person, IP address and key link to their other entries. */
export function AuditEntry({ entry, search }: { entry: Entry; search: AuditSearch }) {
  const { kind, happenedAt, concerned, details } = entry
  const when = formatToTheSecond(happenedAt)
  const isOther = concerned && concerned.id !== entry.actorId
  const what = details.path ?? details.name ?? details.plan ?? details.recipient
  return (
    <li className="audit-entry">
      <div className="grow">
        <p className="title">
          {kinds[kind]} {what && <bdi>{what}</bdi>}
          {isOther && (
            <span className="soft">{text('concerns', { name: personName(concerned) })}</span>
          )}
        </p>
        <div className="facts-line soft">
          <time dateTime={happenedAt}>{when}</time>
          <Who entry={entry} search={search} />
          <Means entry={entry} search={search} />
          {entry.address && (
            <Only search={{ ...search, address: entry.address }}>
              <span dir="ltr">{entry.address}</span>
            </Only>
          )}
        </div>
        {entry.agent && (
          <p className="sub" dir="auto">
            {entry.agent}
          </p>
        )}
        <details>
          <summary aria-label={text('detailsOf', { kind: kinds[kind], when })}>
            {text('details')}
          </summary>
          <Figures of={factsOf(entry)} />
        </details>
      </div>
    </li>
  )
}

/** Links to the entries with the same value. */
const Only = ({ search, children }: { search: AuditSearch; children: ReactNode }) => (
  <span>
    <Link to="/admin/audit" search={search}>
      {children}
    </Link>
  </span>
)

function Who({
  entry: { actor, actorId, operator, via },
  search,
}: {
  entry: Entry
  search: AuditSearch
}) {
  if (actor)
    return (
      <Only search={{ ...search, person: actor.id }}>
        <bdi>{personName(actor)}</bdi>
      </Only>
    )
  if (operator)
    return (
      <Only search={{ ...search, person: operator.id }}>
        {text('operator', { name: personName(operator) })}
      </Only>
    )
  if (actorId)
    return <Only search={{ ...search, person: actorId }}>{text('gone', { id: actorId })}</Only>
  return <span>{text(via === 'OPERATOR' ? 'commandLine' : 'service')}</span>
}

function Means({
  entry: { via, credentialId, credentialName },
  search,
}: {
  entry: Entry
  search: AuditSearch
}) {
  if (!credentialId) return null
  const words =
    via === 'SESSION'
      ? text('withSession')
      : via === 'LINK'
        ? text('withLink')
        : credentialName === null
          ? text('withDeletedKey')
          : text('withKey', { name: credentialName })
  return <Only search={{ ...search, credential: credentialId }}>{words}</Only>
}

function limitOf({
  name,
  value,
  unlimited,
}: NonNullable<Entry['details']['limits']>[number]): string {
  const isOfPlan = value === null && !unlimited
  return text('limitIs', {
    name: limitLabel(name),
    value: isOfPlan ? text('byPlan') : limitText({ name, value }),
  })
}

/** The details of an entry that its row does not show. */
function factsOf(entry: Entry): [label: string, value: ReactNode][] {
  const { path, from, size, files, recipient, name, role, plan, provider, ...more } = entry.details
  const { limits, count, refusal, device, network, sender, tool, code: failure } = more
  const code = (value: string) => <code dir="ltr">{value}</code>
  const known: [label: string, value: ReactNode][] = [
    [text('path'), path],
    [text('from'), from],
    [text('name'), name],
    [text('recipient'), recipient],
    [text('sender'), sender],
    [text('size'), size === null ? null : formatBytes(size)],
    [text('files'), files === null ? null : formatNumber(files)],
    [text('role'), role && roleName(role)],
    [text('plan'), plan],
    [text('limits'), limits?.map(limitOf).join(', ') ?? null],
    [text('count'), count === null ? null : formatNumber(count)],
    [text('provider'), provider],
    [text('refusal'), refusal],
    [text('device'), device],
    [text('network'), network && code(network)],
    [text('tool'), tool && code(tool)],
    [text('failure'), failure && code(failure)],
    [text('client'), entry.agent],
    [text('actorId'), entry.actorId && code(entry.actorId)],
    [text('credentialId'), entry.credentialId && code(entry.credentialId)],
    [text('subjectId'), entry.subjectId && code(entry.subjectId)],
    [text('entryNumber'), code(entry.id)],
  ]
  return known.filter(([, value]) => value !== null)
}
