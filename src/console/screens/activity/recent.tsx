import { screenOf } from '../../drive/place.ts'
import { LinkButton } from '../../parts/button.tsx'
import { EventList } from './event-list.tsx'
import { text } from './text.ts'
import { useLatestEvents } from './use-events.ts'

/**
 * The latest activity of a drive, in short.
 *
 * @param slug of the workspace; null for the own drive
 */
export function RecentActivity({ slug }: { slug: string | null }) {
  const { entries, me, workspace, hasMore } = useLatestEvents(slug)
  if (entries.length === 0) return null
  return (
    <section className="recent-activity">
      <h3>{text('title')}</h3>
      <EventList
        events={entries}
        me={me}
        workspace={workspace}
        level="h4"
        hasMore={hasMore}
        most={5}
      />
      <LinkButton href={screenOf({ workspace: slug }, 'activity')}>{text('all')}</LinkButton>
    </section>
  )
}
