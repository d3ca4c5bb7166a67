import { useDriveEvents, useLive } from '../../graphql/live.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { ENTRY_EVENTS, type EntryEventsData, EVENTS, type EventsData } from './documents.ts'

const driveOf = (data: EventsData | undefined) =>
  data?.me.drive ?? data?.workspace?.drive ?? undefined

/**
 * What happened in a drive, the newest first, live.
 * @param slug of the workspace; null for the own drive
 * @param first how many at first
 * @param useChanges says when to look again
 */
function useEvents(slug: string | null, first: number, useChanges: typeof useLive) {
  const { data, ...listed } = usePages({
    document: EVENTS,
    variables: { own: slug === null, slug },
    connectionOf: (data: EventsData | undefined) => driveOf(data)?.events,
    first,
    next: 100,
  })
  useChanges(driveOf(data)?.id, listed.refresh)
  return {
    ...listed,
    /** The id of the person. */
    me: data?.me.person.id,
    workspace: data?.workspace ?? null,
  }
}

/** All that happened, whatever it was. */
export const useAllEvents = (slug: string | null) => useEvents(slug, 50, useDriveEvents)

/**
 * What happened lately, looked at again when files change: their list listens for that as well. A
 * browser has six connections to a service at most, of which each thing that is listened for takes
 * one.
 */
export const useLatestEvents = (slug: string | null) => useEvents(slug, 5, useLive)

const entryIn = ({ node }: EntryEventsData) =>
  node?.__typename === 'File' || node?.__typename === 'Folder' ? node : undefined

/**
 * What happened to a file or a folder, the newest first, live.
 * @param drive the id of its drive
 * @param first how many at first
 */
export function useEntryEvents(id: string, drive: string, first: number) {
  const { data, ...listed } = usePages({
    document: ENTRY_EVENTS,
    variables: { id },
    connectionOf: (data: EntryEventsData | undefined) => data && entryIn(data)?.events,
    first,
    next: 100,
  })
  useLive(drive, listed.refresh)
  return { ...listed, me: data?.me.person.id }
}
