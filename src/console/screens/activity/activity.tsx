import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { History } from '../../parts/icons.ts'
import { Screen } from '../../parts/screen.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { EventList, endsInBulk } from './event-list.tsx'
import { text } from './text.ts'
import { useAllEvents } from './use-events.ts'

/** The most events that are loaded without a request. */
const MOST_AT_ONCE = 1000

/** The activity of a drive. */
export function Activity() {
  const { slug = null } = useParams({ strict: false }) as { slug?: string }
  const { entries, hasMore, isLoading, error, me, workspace, more, refresh } = useAllEvents(slug)
  // The number of items in the last line is right only if all of its events are loaded.
  const isCut = hasMore && endsInBulk(entries)
  useEffect(() => {
    if (isCut && entries.length < MOST_AT_ONCE) more()
  }, [isCut, entries.length, more])
  return (
    <Screen title={workspace ? text('titleOf', { name: workspace.name }) : text('title')}>
      {error ? (
        <ErrorState error={error} retry={refresh} />
      ) : isLoading ? (
        <Skeleton />
      ) : entries.length === 0 ? (
        <EmptyState icon={History} title={text('empty')} hint={text('emptyHint')} />
      ) : (
        <>
          <EventList events={entries} me={me} workspace={workspace} hasMore={hasMore} />
          <ShowMore hasMore={hasMore} more={more} />
        </>
      )}
    </Screen>
  )
}
