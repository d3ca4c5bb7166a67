import '../../sharing/sharing.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { hrefOf, parentOf, trim } from '../../drive/place.ts'
import type { ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { Choices } from '../../parts/choices.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { Link2 } from '../../parts/icons.ts'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import type { Share } from '../../sharing/documents.ts'
import { nameOf } from '../../sharing/facts.ts'
import { ShareRow } from '../../sharing/share-row.tsx'
import { MY_SHARES } from './documents.ts'
import type { LinksSearch } from './search.ts'
import { text } from './text.ts'

const Entries = lazy(() =>
  import('../../sharing/entries.tsx').then(({ Entries }) => ({ default: Entries })),
)
const ShareSheet = lazy(() =>
  import('../../sharing/sheet.tsx').then(({ ShareSheet }) => ({ default: ShareSheet })),
)

type SharedEntry = NonNullable<ResultOf<typeof MY_SHARES>['me']['shares']['nodes'][number]['entry']>

const kinds = { link: 'LINK', direct: 'DIRECT' } as const

/** The person's own shares: recipients and use. */
export function Links() {
  const search: LinksSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [sharing, setSharing] = useState<SharedEntry | null>(null)
  const [listed, setListed] = useState<Share | null>(null)
  const change = (to: LinksSearch) =>
    void navigate({ to: '/links', search: { ...search, ...to } as never, replace: true })
  useTitle(text('title'))
  return (
    <>
      <div className="screen-head">
        <h1>{text('title')}</h1>
        <Link to="/requests">{text('requests')}</Link>
        <Choices
          label={text('kind')}
          value={search.kind ?? 'all'}
          options={{ all: text('all'), link: text('links'), direct: text('people') }}
          onChoose={kind => change({ kind: kind === 'all' ? undefined : kind })}
        />
        <Choices
          label={text('state')}
          value={search.ended ? 'ended' : 'active'}
          options={{ active: text('active'), ended: text('ended') }}
          onChoose={state => change({ ended: state === 'ended' ? true : undefined })}
        />
      </div>
      <div className="screen-body">
        <Page
          key={`${search.kind} ${search.ended}`}
          search={search}
          after={null}
          onShare={setSharing}
          onList={setListed}
        />
      </div>
      {listed && (
        <Suspense>
          <Entries share={listed} onClose={() => setListed(null)} />
        </Suspense>
      )}
      {sharing && (
        <Suspense>
          <ShareSheet files={[sharing]} onClose={() => setSharing(null)} />
        </Suspense>
      )}
    </>
  )
}

interface PageProps {
  search: LinksSearch
  after: string | null
  onShare: (entry: SharedEntry) => void
  /** Lists the entries of a share of several. */
  onList: (share: Share) => void
}

/** One page of the list, and a button for the next. */
function Page({ search: { kind, ended }, after, onShare, onList }: PageProps) {
  const navigate = useNavigate()
  const [isMore, setMore] = useState(false)
  const [{ data, error }, again] = useKeptQuery({
    query: MY_SHARES,
    variables: { kind: kind ? kinds[kind] : null, ended: ended === true, after },
    requestPolicy: 'cache-and-network',
  })
  if (error)
    return <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
  if (!data) return <Skeleton />
  const { nodes, pageInfo } = data.me.shares
  if (nodes.length === 0 && after === null)
    return (
      <EmptyState
        icon={Link2}
        title={text(ended ? 'noneEnded' : 'none')}
        hint={text(ended ? 'noneEndedHint' : 'noneHint')}
      />
    )
  const show = ({ id, path, drive: { owner } }: SharedEntry) => {
    const workspace = owner.__typename === 'Workspace' ? owner.slug : null
    void navigate({
      to: hrefOf({ workspace, path: parentOf(trim(path)) }),
      search: { sel: id } as never,
    })
  }
  return (
    <>
      <ul className="rows" aria-label={text('title')}>
        {nodes.map(({ entry, ...share }) => (
          <ShareRow
            key={share.id}
            share={share}
            file={{
              icon: (
                <EntryIcon contentType={share.entryKind === 'FOLDER' ? null : share.contentType} />
              ),
              name: entry ? (
                <button
                  type="button"
                  className="link"
                  dir="auto"
                  title={nameOf(share)}
                  onClick={() => (share.entryCount > 1 ? onList(share) : onShare(entry))}
                >
                  {nameOf(share)}
                </button>
              ) : (
                <span dir="auto">{nameOf(share)}</span>
              ),
              onShow: entry ? () => show(entry) : undefined,
            }}
          />
        ))}
      </ul>
      {pageInfo.hasNextPage &&
        (isMore ? (
          <Page
            search={{ kind, ended }}
            after={pageInfo.endCursor}
            onShare={onShare}
            onList={onList}
          />
        ) : (
          <ShowMore hasMore more={() => setMore(true)} />
        ))}
    </>
  )
}
