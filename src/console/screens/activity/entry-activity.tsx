import { useId } from 'react'
import { ShowMore } from '../../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../../parts/states.tsx'
import { EventList } from './event-list.tsx'
import { text } from './text.ts'
import { useEntryEvents } from './use-events.ts'

interface EntryActivityProps {
  id: string
  /** Id of the drive that contains the entry. */
  drive: string
  workspace: { slug: string; name: string } | null
}

/** The activity of one file or folder. */
export function EntryActivity({ id, drive, workspace }: EntryActivityProps) {
  const heading = useId()
  const { entries, hasMore, isLoading, error, me, more, refresh } = useEntryEvents(id, drive, 5)
  // Sentences link to their entry, but this entry is already open.
  const events = entries.map(event => ({ ...event, entry: null }))
  return (
    <section className="recent-activity" aria-labelledby={heading} tabIndex={-1}>
      <h3 id={heading}>{text('title')}</h3>
      {error ? (
        <ErrorState error={error} retry={refresh} />
      ) : isLoading ? (
        <Skeleton rows={2} />
      ) : events.length === 0 ? (
        <p className="soft">{text('entryEmpty')}</p>
      ) : (
        <EventList events={events} me={me} workspace={workspace} level="h4" isOfEntry />
      )}
      <ShowMore hasMore={hasMore} more={more} look="ghost" />
    </section>
  )
}
