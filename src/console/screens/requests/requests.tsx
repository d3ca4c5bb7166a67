import '../../sharing/sharing.css'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useKeptQuery } from '../../graphql/kept.ts'
import { useLookAgain } from '../../graphql/look-again.ts'
import { Button } from '../../parts/button.tsx'
import { FileUp, Plus } from '../../parts/icons.ts'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { MY_REQUESTS } from '../../requests/documents.ts'
import { RequestRow } from '../../requests/row.tsx'
import { text } from './text.ts'

const RequestForm = lazy(() =>
  import('../../requests/form.tsx').then(({ RequestForm }) => ({ default: RequestForm })),
)

/** Polling interval, because no subscription reports received files. */
const LOOK_MS = 5000

/** The person's file requests and the received files. */
export function Requests() {
  const [isNew, setNew] = useState(false)
  const [{ data }, reload] = useKeptQuery({
    query: MY_REQUESTS,
    variables: { after: null },
    requestPolicy: 'cache-first',
  })
  const drive = data?.me.drive.id
  useTitle(text('title'))
  return (
    <>
      <div className="screen-head">
        <h1>{text('title')}</h1>
        <Link to="/links">{text('toLinks')}</Link>
        <Button look="primary" isDisabled={drive === undefined} onPress={() => setNew(true)}>
          <Plus />
          {text('new')}
        </Button>
      </div>
      <div className="screen-body">
        <p className="hint">{text('hint')}</p>
        <Page after={null} />
      </div>
      {isNew && drive !== undefined && (
        <Suspense>
          <RequestForm
            of={{ drive }}
            onClose={() => {
              setNew(false)
              reload({ requestPolicy: 'network-only' })
            }}
          />
        </Suspense>
      )}
    </>
  )
}

/** One page of the list, and a button for the next. */
function Page({ after }: { after: string | null }) {
  const navigate = useNavigate()
  const [isMore, setMore] = useState(false)
  const [{ data, error }, reload] = useKeptQuery({
    query: MY_REQUESTS,
    variables: { after },
    requestPolicy: 'cache-and-network',
  })
  const again = () => reload({ requestPolicy: 'network-only' })
  useLookAgain(again, LOOK_MS)
  if (error) return <ErrorState error={error} retry={again} />
  if (!data) return <Skeleton />
  const { nodes, pageInfo } = data.me.fileRequests
  if (nodes.length === 0 && after === null)
    return <EmptyState icon={FileUp} title={text('none')} hint={text('noneHint')} />
  return (
    <>
      <ul className="rows" aria-label={text('title')}>
        {nodes.map(request => (
          <RequestRow
            key={request.id}
            request={request}
            onShow={to => void navigate({ to })}
            onClosed={again}
          />
        ))}
      </ul>
      {pageInfo.hasNextPage &&
        (isMore ? (
          <Page after={pageInfo.endCursor} />
        ) : (
          <ShowMore hasMore more={() => setMore(true)} />
        ))}
    </>
  )
}
