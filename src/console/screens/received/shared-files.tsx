import './shared-files.css'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { hasUnsaved } from '../../edit/open.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { useLookAgain } from '../../graphql/look-again.ts'
import { mutate } from '../../graphql/run.ts'
import { formatRelative } from '../../i18n/times.ts'
import { LinkButton } from '../../parts/button.tsx'
import { ChevronLeft, Inbox, Lock } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { nameOf } from '../../sharing/facts.ts'
import { useUploadPlace } from '../../uploads/place.ts'
import { Files } from '../files/files.tsx'
import { MARK_SEEN, RECEIVED_ONE, type ReceivedShare } from './documents.ts'
import { text } from './text.ts'
import { SharedDrive, useSharedEntries } from './use-shared-entries.ts'

/** Polling interval for changed permissions. */
const LOOK_MS = 5000

/** A folder shared by another person, shown like the own files, with the person's permissions. */
export function SharedFiles() {
  const { share: id = '' } = useParams({ strict: false })
  const [{ data, error }, ask] = useKeptQuery({
    query: RECEIVED_ONE,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const again = () => ask({ requestPolicy: 'network-only' })
  useLookAgain(again, LOOK_MS)
  const isUnsaved = hasUnsaved.use()
  const share = data?.node?.__typename === 'DirectShare' ? data.node : null
  // Keeps the share's name for the time after it was revoked.
  const before = useRef<ReceivedShare | null>(null)
  if (share) before.current = share
  // A text with unsaved changes stays open. Saving it says that the share has ended.
  const last = share ?? (isUnsaved && before.current?.id === id ? before.current : null)
  if (last && data) return <Folder key={id} share={last} ownDrive={data.me.drive.id} />
  return (
    <>
      <div className="screen-head">
        <h1>{text('title')}</h1>
      </div>
      {error ? (
        <ErrorState error={error} retry={again} />
      ) : data ? (
        <Ended key={id} id={id} before={before.current?.id === id ? before.current : null} />
      ) : (
        <Skeleton />
      )}
    </>
  )
}

/**
 * A share that was revoked, or never shared with this person. Uploads are disabled, so that files
 * do not end up elsewhere.
 */
function Ended({ id, before }: { id: string; before: ReceivedShare | null }) {
  useUploadPlace({ drive: id, folder: '', label: '', mayUpload: false })
  useTitle(text('title'))
  return (
    <EmptyState
      icon={Inbox}
      title={before ? text('endedOne', { name: nameOf(before) }) : text('ended')}
      hint={
        before
          ? text(before.mayEdit ? 'endedEdit' : 'endedWhy', { who: personName(before.sharedBy) })
          : text('endedHint')
      }
    >
      <LinkButton href="/shared">{text('title')}</LinkButton>
    </EmptyState>
  )
}

function Folder({ share, ownDrive }: { share: ReceivedShare; ownDrive: string }) {
  const { id, token, mayEdit, sharedBy, expiresAt, url } = share
  const fileName = nameOf(share)
  const owner = personName(sharedBy)
  const lost = useLost(mayEdit)
  const isNew = !share.seen
  useEffect(() => {
    // If this request fails, the share stays new until it is opened again.
    if (isNew) mutate(MARK_SEEN, { input: { share: { id } } }).catch(() => {})
  }, [id, isNew])
  const shared = useMemo(() => {
    const rights = { canWrite: mayEdit, canDelete: mayEdit, canShare: false, trashDays: 0 }
    return { drive: { id, ...rights, share: { token, owner, ownDrive } }, title: fileName }
  }, [id, token, mayEdit, fileName, owner, ownDrive])
  // The share page asks for the password, and shows files that may not be downloaded.
  const isOnPage = share.passwordProtected || !share.allowDownload || share.entryKind === 'FILE'
  return (
    <>
      <div className="shared-head">
        <Link to="/shared" className="shared-back">
          <ChevronLeft aria-hidden />
          {text('title')}
        </Link>
        <p className="facts-line soft">
          <span dir="auto">{text('fromWho', { who: owner })}</span>
          <span>{text(mayEdit ? 'mayEdit' : share.allowDownload ? 'mayDownload' : 'mayView')}</span>
          {expiresAt !== null && <span>{text('until', { when: formatRelative(expiresAt) })}</span>}
        </p>
      </div>
      <div role="status">
        {lost && <p className="shared-lost">{text('lostEdit', { who: owner })}</p>}
      </div>
      {isOnPage ? (
        <>
          <div className="screen-head">
            <h1 dir="auto">{fileName}</h1>
          </div>
          <EmptyState icon={Lock} title={text('onPageTitle')} hint={text('onPageHint')}>
            <LinkButton href={url}>{text('onPage')}</LinkButton>
          </EmptyState>
        </>
      ) : (
        <SharedDrive value={shared}>
          <Files useEntries={useSharedEntries} />
        </SharedDrive>
      )}
    </>
  )
}

/** Whether a permission that the person had on this screen was revoked. */
function useLost(has: boolean): boolean {
  const [had, setHad] = useState(has)
  useEffect(() => {
    if (has) setHad(true)
  }, [has])
  return had && !has
}
