import { persist } from '../upload-engine/retry.ts'
import type { Place } from './place.ts'

/** The fields of an event that this program reads. */
export interface WireEvent {
  kind: string
  happened_at: string
  subject_id: string | null
  cursor: string
  details: Record<'path' | 'from' | 'name' | 'recipient', string | null>
}

export interface EventPage {
  events: WireEvent[]
  cursor: string
  has_more: boolean
}

/**
 * The events of a drive after a cursor.
 *
 * @throws CURSOR_EXPIRED
 */
export function readEvents({ client, key: workspaceId }: Place, after: string): Promise<EventPage> {
  const route = workspaceId ? `/api/workspaces/${workspaceId}/events` : '/api/events'
  const query = new URLSearchParams({ after })
  return persist(() => client.rest<EventPage>(`${route}?${query}`), 'repeatable', client.patience)
}

/** Like `readEvents`, but reads all events up to now. */
export async function readAllEvents(
  place: Place,
  after: string,
): Promise<Pick<EventPage, 'events' | 'cursor'>> {
  const events: WireEvent[] = []
  for (let cursor = after; ; ) {
    const page = await readEvents(place, cursor)
    events.push(...page.events)
    cursor = page.cursor
    if (!page.has_more) return { events, cursor }
  }
}
