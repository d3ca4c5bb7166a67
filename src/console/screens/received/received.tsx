import './received.css'
import '../../tags/chips.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { hrefOf } from '../../drive/place.ts'
import { ADD_FAVOURITES, REMOVE_FAVOURITES } from '../../favourites/documents.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { useSeen } from '../../graphql/seen.ts'
import { formatBytes, formatExact } from '../../i18n/format.ts'
import { formatRelative } from '../../i18n/times.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Choices } from '../../parts/choices.tsx'
import { Download, FileUp, FolderInput, Inbox, Lock, Star } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { ShowMore } from '../../parts/show-more.tsx'
import { SmallPicture } from '../../parts/small-picture.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { toastError } from '../../parts/toasts.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { nameOf } from '../../sharing/facts.ts'
import { RECEIVED, type ReceivedShare } from './documents.ts'
import { type Purpose, useOpening } from './opening.ts'
import { PasswordDialog } from './password-dialog.tsx'
import type { ReceivedSearch } from './search.ts'
import { text } from './text.ts'

const Picker = lazy(() =>
  import('../../drive/picker.tsx').then(({ Picker }) => ({ default: Picker })),
)
const Look = lazy(() => import('./look.tsx').then(({ Look }) => ({ default: Look })))

interface Uses {
  open: (share: ReceivedShare, purpose: Purpose) => void
  /** Asks for the folder that the copy goes to. */
  keep: (share: ReceivedShare, drive: string) => void
}

/** Shares received from others, newest first. */
export function Received() {
  const { unseen }: ReceivedSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [shown, setShown] = useState<{ share: ReceivedShare; url: string } | null>(null)
  const { locked, open, unlock, cancel } = useOpening((share, purpose, url) => {
    if (purpose === 'look') setShown({ share, url })
    else location.assign(url)
  })
  const [keeping, keep] = useState<{ share: ReceivedShare; drive: string } | null>(null)
  const uses: Uses = {
    open: (share, purpose) => void open(share, purpose),
    keep: (share, drive) => keep({ share, drive }),
  }
  useTitle(text('title'))
  return (
    <>
      <div className="screen-head">
        <h1>{text('title')}</h1>
        <Choices
          label={text('state')}
          value={unseen ? 'unseen' : 'all'}
          options={{ all: text('all'), unseen: text('unseen') }}
          onChoose={chosen =>
            void navigate({
              to: '/shared',
              search: (chosen === 'unseen' ? { unseen: true } : {}) as never,
              replace: true,
            })
          }
        />
      </div>
      <div className="screen-body">
        <Page key={String(unseen)} seen={unseen ? false : null} after={null} {...uses} />
      </div>
      {shown && (
        <Suspense>
          <Look
            {...shown}
            onDownload={() => void open(shown.share, 'save')}
            onSaved={() => void open(shown.share, 'look')}
            onClose={() => setShown(null)}
          />
        </Suspense>
      )}
      {keeping && (
        <Suspense>
          <Picker
            drive={keeping.drive}
            anyDrive
            title={text('keepOne', { name: nameOf(keeping.share) })}
            doing="save"
            label={text('keepHere')}
            root={text('root')}
            start=""
            onPick={(folder, drive, name) => void open(keeping.share, { drive, folder, name })}
            onClose={() => keep(null)}
          />
        </Suspense>
      )}
      {locked && (
        <PasswordDialog
          locked={locked}
          onSend={password => unlock(locked, password)}
          onClose={cancel}
        />
      )}
    </>
  )
}

/** One page of the list, and a button for the next. */
function Page({ seen, after, ...uses }: { seen: false | null; after: string | null } & Uses) {
  const [isMore, setMore] = useState(false)
  const [{ data, error }, ask] = useKeptQuery({
    query: RECEIVED,
    variables: { seen, after },
    requestPolicy: 'cache-and-network',
  })
  const again = () => ask({ requestPolicy: 'network-only' })
  useSeen(again)
  if (error) return <ErrorState error={error} retry={again} />
  if (!data) return <Skeleton />
  const { drive, receivedShares } = data.me
  const { nodes, pageInfo } = receivedShares
  if (nodes.length === 0 && after === null)
    return (
      <EmptyState
        icon={Inbox}
        title={text(seen === false ? 'noneUnseen' : 'none')}
        hint={text('noneHint')}
      />
    )
  return (
    <>
      <ul className="rows" aria-label={text('title')}>
        {nodes.map(share => (
          <Row key={share.id} share={share} drive={drive.id} refresh={again} {...uses} />
        ))}
      </ul>
      {pageInfo.hasNextPage &&
        (isMore ? (
          <Page seen={seen} after={pageInfo.endCursor} {...uses} />
        ) : (
          <ShowMore hasMore more={() => setMore(true)} />
        ))}
    </>
  )
}

/** Asks for new content for a file. The owner keeps the old content. */
const replace = ({ id, token, fileName }: ReceivedShare): void =>
  void import('../../uploads/pick-and-add.ts').then(({ pickAndReplace }) =>
    pickAndReplace({ drive: id, share: token, folder: '' }, { fileName, revision: 'any' }),
  )

interface RowProps extends Uses {
  share: ReceivedShare
  drive: string
  /** Refetches the list. */
  refresh: () => void
}

function Row({ share, drive, refresh, open, keep }: RowProps) {
  const fileName = nameOf(share)
  const {
    entryKind,
    contentType,
    size,
    url,
    sharedBy,
    createdAt,
    expiresAt,
    passwordProtected,
    seen,
  } = share
  const isFolder = entryKind === 'FOLDER'
  // The share page handles files that may not be downloaded, and folders with a password.
  const isOnPage = !share.allowDownload || (isFolder && passwordProtected)
  const mark = async () => {
    const input = { shares: [share.id] }
    await (share.isFavourite
      ? mutate(REMOVE_FAVOURITES, { input })
      : mutate(ADD_FAVOURITES, { input }))
    refresh()
  }
  return (
    <li className={`received${seen ? '' : ' unseen'}`}>
      <SmallPicture url={share.thumbnail} contentType={isFolder ? null : contentType} />
      <div className="grow">
        <div className="received-name">
          {isOnPage ? (
            <a className="link" dir="auto" href={url}>
              {fileName}
            </a>
          ) : isFolder ? (
            <Link
              className="link"
              dir="auto"
              to={hrefOf({ workspace: null, share: share.id, path: '' })}
            >
              {fileName}
            </Link>
          ) : (
            <button type="button" className="link" dir="auto" onClick={() => open(share, 'look')}>
              {fileName}
            </button>
          )}
          {passwordProtected && (
            <span className="received-lock" title={text('protected')}>
              <Lock aria-hidden />
              <span className="sr">{text('protected')}</span>
            </span>
          )}
          {!seen && <span className="badge">{text('new')}</span>}
        </div>
        <div className="facts-line soft">
          {share.mayEdit && <span>{text('mayEdit')}</span>}
          <span>{formatBytes(size)}</span>
          <span title={formatExact(createdAt)}>{formatRelative(createdAt)}</span>
          {expiresAt !== null && <span>{text('until', { when: formatRelative(expiresAt) })}</span>}
        </div>
      </div>
      <div className="received-from">
        <Avatar name={sharedBy.name} email={sharedBy.email} />
        <span className="received-who" title={sharedBy.email}>
          <span className="sr">{text('from')} </span>
          <span dir="auto">{personName(sharedBy)}</span>
        </span>
      </div>
      <div className="received-actions">
        <Button
          look="icon"
          aria-label={text('star', { name: fileName })}
          aria-pressed={share.isFavourite}
          onPress={() => void mark().catch(toastError)}
        >
          <Star className={share.isFavourite ? 'star' : undefined} />
        </Button>
        {share.mayEdit && !isFolder && (
          <Button
            look="icon"
            aria-label={text('replaceOne', { name: fileName })}
            onPress={() => replace(share)}
          >
            <FileUp />
          </Button>
        )}
        {share.allowDownload && (
          <>
            <Button
              look="icon"
              aria-label={text('keepOne', { name: fileName })}
              onPress={() => keep(share, drive)}
            >
              <FolderInput />
            </Button>
            <Button
              look="icon"
              aria-label={text('downloadOne', { name: fileName })}
              onPress={() => open(share, 'save')}
            >
              <Download />
            </Button>
          </>
        )}
      </div>
    </li>
  )
}
