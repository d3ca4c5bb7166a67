import { useState } from 'react'
import { useQuery } from 'urql'
import { formatBytes, formatExact } from '../i18n/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { RECEIPTS } from './documents.ts'
import { text } from './text.ts'

const PAGE = 100

/** The received files: sender and time, newest first. */
export const Receipts = ({
  id,
  label,
  onClose,
}: {
  id: string
  label: string
  onClose: () => void
}) => (
  <Dialog title={text('receipts')} isOpen onClose={onClose}>
    <p className="soft" dir="auto">
      {label}
    </p>
    <Page id={id} after={null} />
  </Dialog>
)

/** One page of receipts, and a button for the next. */
function Page({ id, after }: { id: string; after: string | null }) {
  const [isMore, setMore] = useState(false)
  const [{ data, error }, again] = useQuery({
    query: RECEIPTS,
    variables: { id, first: PAGE, after },
    requestPolicy: 'cache-and-network',
  })
  if (error)
    return <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
  const receipts = data?.node?.__typename === 'FileRequest' ? data.node.receipts : undefined
  if (!receipts) return <Skeleton rows={3} />
  if (receipts.nodes.length === 0 && after === null)
    return <p className="soft">{text('noReceipts')}</p>
  return (
    <>
      <ul className="rows share-uses" aria-label={text('receipts')}>
        {receipts.nodes.map(({ fileName, size, receivedAt, senderName, network, client }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: receipts have no id, and the list only grows at its other end
          <li key={at}>
            <EntryIcon contentType="" />
            <div className="grow">
              <div dir="auto">{fileName}</div>
              <div className="facts-line soft">
                {senderName !== '' && <span dir="auto">{text('from', { name: senderName })}</span>}
                <span>{formatBytes(size)}</span>
                <span>{formatExact(receivedAt)}</span>
                <span dir="auto">{client}</span>
                <span>{network}</span>
              </div>
            </div>
          </li>
        ))}
      </ul>
      {receipts.pageInfo.hasNextPage &&
        (isMore ? (
          <Page id={id} after={receipts.pageInfo.endCursor} />
        ) : (
          <ShowMore hasMore more={() => setMore(true)} look="ghost" />
        ))}
    </>
  )
}
