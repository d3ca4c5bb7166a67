import './activity.css'
import { Link } from '@tanstack/react-router'
import { hrefOf, parentOf, trim } from '../../drive/place.ts'
import { formatExact } from '../../i18n/format.ts'
import { formatDay, formatTime } from '../../i18n/times.ts'
import {
  FilePlus2,
  FolderPlus,
  History,
  KeyRound,
  Link2,
  type LucideIcon,
  MoveRight,
  PencilLine,
  Trash2,
  Undo2,
  UsersRound,
} from '../../parts/icons.ts'
import { type Gathered, gather } from './bulk.ts'
import type { Happened } from './documents.ts'
import { text } from './text.ts'
import { sentenceOf, sentenceOfBulk, whoDid } from './words.ts'

const icons: [kinds: RegExp, icon: LucideIcon][] = [
  [/DELETED|PURGED|REVOKED|REMOVED/, Trash2],
  [/^FILE_REQUEST/, Link2],
  [/^FILE_CREATED/, FilePlus2],
  [/^FOLDER_CREATED/, FolderPlus],
  [/RESTORED/, Undo2],
  [/MOVED/, MoveRight],
  [/RENAMED|NOTE/, PencilLine],
  [/^SHARE/, Link2],
  [/^(MEMBER|INVITE|WORKSPACE)/, UsersRound],
  [/^KEY/, KeyRound],
]

interface EventListProps {
  events: readonly Happened[]
  me: string | undefined
  workspace: { slug: string; name: string } | null
  /** Heading level of the days. */
  level?: 'h2' | 'h4'
  /** Whether there are earlier events. */
  hasMore?: boolean
  /** Shows every event, because they are all about one entry. */
  isOfEntry?: boolean
  /** The most lines to show. */
  most?: number
}

const pathOf = ({ details, entry }: Happened) => details.path ?? entry?.path ?? ''

/** Who did it, by which means, on which day, and where to. */
const whose = ({ actor, via, details, happenedAt, kind, ...event }: Happened) =>
  JSON.stringify([
    actor?.id,
    via,
    details.sender,
    new Date(happenedAt).toDateString(),
    /_MOVED|_COPIED/.test(kind) && parentOf(trim(details.path ?? event.entry?.path ?? '')),
  ])

/** Events grouped by day. Work on many items is one line, which can be opened. */
export function EventList({
  events,
  me,
  workspace,
  level: Heading = 'h2',
  hasMore = false,
  isOfEntry = false,
  most,
}: EventListProps) {
  const lines = isOfEntry
    ? events.map((event): Gathered<Happened> => ({ work: null, events: [event], isCut: false }))
    : gather(events, whose, hasMore)
  const days = Map.groupBy(lines.slice(0, most), ({ events: [{ happenedAt }] }) =>
    new Date(happenedAt).toDateString(),
  )
  const root = workspace?.name ?? text('root')
  return [...days].map(([day, lines]) => (
    <section key={day} className="activity-day">
      <Heading>{formatDay(lines[0]?.events[0].happenedAt ?? day)}</Heading>
      <ul>
        {lines.map(({ work, events, isCut }) =>
          work ? (
            <li key={events.at(-1)?.id} className="activity-event">
              <EventIcon kind={events[0].kind} />
              <details className="grow activity-bulk">
                <summary>
                  {sentenceOfBulk(work, {
                    who: whoDid(events[0], me),
                    paths: events.map(pathOf),
                    isCut,
                    root,
                  })}
                  <ByKey via={events[0].via} />
                </summary>
                <ul>
                  {events.slice(0, MOST_OF_BULK).map(event => (
                    <li key={event.id}>
                      <Said event={event} me={me} root={root} workspace={workspace} />
                    </li>
                  ))}
                </ul>
              </details>
              <Time of={events[0]} />
            </li>
          ) : (
            events.map(event => (
              <li key={event.id} className="activity-event">
                <EventIcon kind={event.kind} />
                <span className="grow">
                  <Said event={event} me={me} root={root} workspace={workspace} />
                  <ByKey via={event.via} />
                </span>
                <Time of={event} />
              </li>
            ))
          ),
        )}
      </ul>
    </section>
  ))
}

/** Whether the last line gathers events, and earlier ones may belong to it. */
export const endsInBulk = (events: readonly Happened[]): boolean =>
  gather(events, whose, true).at(-1)?.isCut ?? false

/** The most events that one line opens to. */
const MOST_OF_BULK = 500

function EventIcon({ kind }: Pick<Happened, 'kind'>) {
  const [, Icon] = icons.find(([kinds]) => kinds.test(kind)) ?? [null, History]
  return <Icon aria-hidden />
}

const ByKey = ({ via }: Pick<Happened, 'via'>) =>
  via === 'KEY' && <span className="soft"> · {text('byKey')}</span>

const Time = ({ of: { happenedAt } }: { of: Happened }) => (
  <time dateTime={happenedAt} title={formatExact(happenedAt)}>
    {formatTime(happenedAt)}
  </time>
)

interface SaidProps extends Pick<EventListProps, 'me' | 'workspace'> {
  event: Happened
  root: string
}

/** An event as a sentence, linked to its entry. */
function Said({ event, me, root, workspace }: SaidProps) {
  const sentence = sentenceOf(event, me, root)
  if (!event.entry) return sentence
  return (
    <Link
      to={hrefOf({
        workspace: workspace?.slug ?? null,
        path: parentOf(trim(event.entry.path)),
      })}
      search={{ sel: event.entry.id } as never}
    >
      {sentence}
    </Link>
  )
}
