import './home.css'
import { Link } from '@tanstack/react-router'
import { hrefOf, parentOf, trim } from '../../drive/place.ts'
import { addressOf } from '../../favourites/address.ts'
import { Favourites } from '../../favourites/list.tsx'
import { useKeptQuery } from '../../graphql/kept.ts'
import { useLive } from '../../graphql/live.ts'
import { formatMoment } from '../../i18n/format.ts'
import { LinkButton } from '../../parts/button.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { CircleAlert, Clock } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { Screen, Section } from '../../parts/screen.tsx'
import { SmallPicture } from '../../parts/small-picture.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { type BulkWork, type Gathered, gather } from '../activity/bulk.ts'
import { sentenceOfBulk } from '../activity/words.ts'
import { noticesOf } from './attention.ts'
import { HOME, type HomeData } from './documents.ts'
import { text } from './text.ts'

type Recent = HomeData['recent']['nodes'][number]
type Received = HomeData['receivedShares']['nodes'][number]

/** The past action, by the suffix of the event kind. */
const done = [
  [/_COPIED$/, 'COPIED'],
  [/_MOVED$/, 'MOVED'],
  [/_RENAMED$/, 'RENAMED'],
  [/_RESTORED$/, 'RESTORED'],
  [/_REPLACED$/, 'REPLACED'],
  [/^SHARE_/, 'SHARED'],
  [/^NOTE_/, 'NOTED'],
  [/^FOLDER_CREATED$/, 'FOLDER_CREATED'],
] as const

const wordOf = (kind: string) =>
  text(done.find(([kinds]) => kinds.test(kind))?.[1] ?? 'FILE_CREATED')

/** The home screen: notices, recent files, and new shares from others. */
export function Home() {
  const [{ data, error }, reload] = useKeptQuery({
    query: HOME,
    requestPolicy: 'cache-and-network',
  })
  const again = () => reload({ requestPolicy: 'network-only' })
  useLive(data?.me.drive.id, again)
  if (error && !data) return <ErrorState error={error} retry={again} />
  const me = data?.me
  const notices = me ? noticesOf(me) : []
  return (
    <Screen title={text('title')}>
      {!me ? (
        <Skeleton rows={8} />
      ) : (
        <>
          {notices.length > 0 && (
            <Section title={text('attention')}>
              <ul className="rows">
                {notices.map(({ id, message, to }) => (
                  <li key={id}>
                    <CircleAlert aria-hidden className="notice-icon" />
                    <Link to={to} className="link grow" dir="auto">
                      {message}
                    </Link>
                  </li>
                ))}
              </ul>
            </Section>
          )}
          <Favourites />
          <Section title={text('recent')} hint={text('recentHint')}>
            {me.recent.nodes.length === 0 ? (
              <EmptyState
                icon={Clock}
                title={text('nothing')}
                hint={text('nothingHint')}
                level="h3"
              >
                <LinkButton href="/files">{text('toFiles')}</LinkButton>
              </EmptyState>
            ) : (
              <ul className="rows">
                {gather(me.recent.nodes, whereOf, me.recent.pageInfo.hasNextPage)
                  .slice(0, MOST_LINES)
                  .map(({ work, events, isCut }) =>
                    work ? (
                      <BulkRow key={events[0].entry.id} work={work} events={events} isCut={isCut} />
                    ) : (
                      events.map(one => <RecentRow key={one.entry.id} {...one} />)
                    ),
                  )}
              </ul>
            )}
          </Section>
          {me.receivedShares.nodes.length > 0 && (
            <Section title={text('shared')}>
              <ul className="rows">
                {me.receivedShares.nodes.map(share => (
                  <ReceivedRow key={share.id} {...share} />
                ))}
              </ul>
            </Section>
          )}
        </>
      )}
    </Screen>
  )
}

/** The most lines of recent work. */
const MOST_LINES = 12

/** The drive and folder of an entry. */
const whereOf = ({ entry }: Recent) => `${entry.drive.id}/${parentOf(trim(entry.path))}`

const driveName = ({ owner }: Recent['entry']['drive']) =>
  owner.__typename === 'Workspace' ? owner.name : text('myFiles')

const pathShown = ({ drive, path }: Recent['entry']) =>
  [driveName(drive), ...parentOf(trim(path)).split('/').filter(Boolean)].join(' / ')

/** Work on many items in one folder, as one line. */
function BulkRow({ work, events, isCut }: Gathered<Recent> & { work: BulkWork }) {
  const [{ entry, happenedAt }] = events
  const { owner } = entry.drive
  const workspace = owner.__typename === 'Workspace' ? owner.slug : null
  return (
    <li>
      <EntryIcon contentType={null} />
      <span className="grow">
        <Link
          to={hrefOf({ workspace, path: parentOf(trim(entry.path)) })}
          className="link"
          dir="auto"
        >
          {sentenceOfBulk(work, {
            who: null,
            paths: events.map(({ entry }) => entry.path),
            isCut,
            root: driveName(entry.drive),
          })}
        </Link>
        <span className="soft where" dir="auto">
          {pathShown(entry)}
        </span>
      </span>
      <span className="soft when">{formatMoment(happenedAt)}</span>
    </li>
  )
}

function RecentRow({ entry, kind, happenedAt }: Recent) {
  const { to, search } = addressOf(entry)
  return (
    <li>
      {entry.__typename === 'File' ? (
        <SmallPicture url={entry.preview?.small} contentType={entry.contentType} />
      ) : (
        <EntryIcon contentType={null} />
      )}
      <span className="grow">
        <Link to={to} search={search as never} className="link" dir="auto">
          {entry.name}
        </Link>
        <span className="soft where" dir="auto">
          {pathShown(entry)}
        </span>
      </span>
      <span className="soft when">
        {wordOf(kind)} · {formatMoment(happenedAt)}
      </span>
    </li>
  )
}

function ReceivedRow({
  id,
  fileName,
  entryKind,
  contentType,
  thumbnail,
  createdAt,
  sharedBy,
}: Received) {
  const to = entryKind === 'FOLDER' ? hrefOf({ workspace: null, share: id, path: '' }) : '/shared'
  return (
    <li>
      <SmallPicture url={thumbnail} contentType={entryKind === 'FOLDER' ? null : contentType} />
      <span className="grow">
        <Link to={to} className="link" dir="auto">
          {fileName}
        </Link>
        <span className="soft where" dir="auto">
          {text('from', { who: personName(sharedBy) })}
        </span>
      </span>
      <span className="soft when">{formatMoment(createdAt)}</span>
    </li>
  )
}
