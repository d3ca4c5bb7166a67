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
import type { Happened } from './documents.ts'
import { text } from './text.ts'
import { sentenceOf } from './words.ts'

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
}

/** Events grouped by day. */
export function EventList({ events, me, workspace, level: Heading = 'h2' }: EventListProps) {
  const days = Map.groupBy(events, ({ happenedAt }) => new Date(happenedAt).toDateString())
  const root = workspace?.name ?? text('root')
  return [...days].map(([day, events]) => (
    <section key={day} className="activity-day">
      <Heading>{formatDay(events[0]?.happenedAt ?? day)}</Heading>
      <ul>
        {events.map(event => {
          const [, Icon] = icons.find(([kinds]) => kinds.test(event.kind)) ?? [null, History]
          const sentence = sentenceOf(event, me, root)
          return (
            <li key={event.id} className="activity-event">
              <Icon aria-hidden />
              <span className="grow">
                {event.entry ? (
                  <Link
                    to={hrefOf({
                      workspace: workspace?.slug ?? null,
                      path: parentOf(trim(event.entry.path)),
                    })}
                    search={{ sel: event.entry.id } as never}
                  >
                    {sentence}
                  </Link>
                ) : (
                  sentence
                )}
                {event.via === 'KEY' && <span className="soft"> · {text('byKey')}</span>}
              </span>
              <time dateTime={event.happenedAt} title={formatExact(event.happenedAt)}>
                {formatTime(event.happenedAt)}
              </time>
            </li>
          )
        })}
      </ul>
    </section>
  ))
}
