import './requests.css'
import { useState } from 'react'
import { useQuery } from 'urql'
import { Dialog } from '../parts/dialog.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { RECEIPTS } from './documents.ts'
import { Received } from './received.tsx'
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
  <Dialog title={text('receipts')} isOpen onClose={onClose} size="wide">
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
      <Received label={text('receipts')} receipts={receipts.nodes} isFull />
      {receipts.pageInfo.hasNextPage &&
        (isMore ? (
          <Page id={id} after={receipts.pageInfo.endCursor} />
        ) : (
          <ShowMore hasMore more={() => setMore(true)} look="ghost" />
        ))}
    </>
  )
}
