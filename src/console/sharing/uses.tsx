import { useRef, useState } from 'react'
import { useQuery } from 'urql'
import { formatExact } from '../i18n/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Download, Eye, type LucideIcon, ShieldX } from '../parts/icons.ts'
import { personName } from '../parts/person-name.ts'
import { ShowMore } from '../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { USES } from './documents.ts'
import { text } from './text.ts'
import { UseChart } from './use-chart.tsx'

const kinds = {
  OPENED: { icon: Eye, message: 'opened' },
  DOWNLOADED: { icon: Download, message: 'downloaded' },
  REFUSED: { icon: ShieldX, message: 'refused' },
} as const satisfies Record<string, { icon: LucideIcon; message: string }>

/** Page size, and the most that the service returns. */
const PAGE = 100
const MOST = 1000

/** The uses of a share: who, when and how, newest first. */
export function Uses({ id, onClose }: { id: string; onClose: () => void }) {
  const [first, setFirst] = useState(PAGE)
  const [{ data, error }, again] = useQuery({
    query: USES,
    // Days start at local midnight.
    variables: { id, first, utcOffset: -new Date().getTimezoneOffset() },
    requestPolicy: 'cache-and-network',
  })
  // Keeps the current list while more is loading.
  const kept = useRef(data)
  kept.current = data ?? kept.current
  const node = kept.current?.node
  const uses = node && 'events' in node ? node.events : null
  const usage = node && 'usage' in node ? node.usage : null
  const days = node && 'dailyUsage' in node ? node.dailyUsage : null
  return (
    <Dialog title={text('showUses')} isOpen onClose={onClose}>
      {error ? (
        <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      ) : !node ? (
        <Skeleton rows={3} />
      ) : !uses || uses.nodes.length === 0 ? (
        <p className="soft">{text('noUses')}</p>
      ) : (
        <>
          {usage && (
            <p>{text('useSums', { opened: usage.openCount, downloaded: usage.downloadCount })}</p>
          )}
          {days && <UseChart days={days} />}
          <ul className="rows share-uses">
            {uses.nodes.map(({ kind, happenedAt, client, network, person }, at) => {
              const { icon: Icon, message } = kinds[kind]
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: uses have no id, and the list only grows at its other end
                <li key={at} className={kind === 'REFUSED' ? 'refused' : ''}>
                  <Icon aria-hidden />
                  <div className="grow">
                    <div>
                      {text(message)}
                      {person && (
                        <>
                          {' · '}
                          <span dir="auto">{personName(person)}</span>
                        </>
                      )}
                    </div>
                    <div className="facts-line soft">
                      <span>{formatExact(happenedAt)}</span>
                      <span dir="auto">{client}</span>
                      <span>{network}</span>
                    </div>
                  </div>
                </li>
              )
            })}
          </ul>
          <ShowMore
            hasMore={uses.pageInfo.hasNextPage && first < MOST}
            more={() => setFirst(MOST)}
            look="ghost"
          />
          {uses.pageInfo.hasNextPage && first === MOST && (
            <p className="soft">{text('lastUses', { count: uses.nodes.length })}</p>
          )}
        </>
      )}
      <p className="soft">{text('usesHint')}</p>
    </Dialog>
  )
}
