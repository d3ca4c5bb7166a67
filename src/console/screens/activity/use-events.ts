import { useDriveEvents, useLive } from '../../graphql/live.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { ENTRY_EVENTS, type EntryEventsData, EVENTS, type EventsData } from './documents.ts'

const driveOf = (data: EventsData | undefined) =>
  data?.me.drive ?? data?.workspace?.drive ?? undefined

/**
 * The events of a drive, newest first, live.
 *
 * @param slug of the workspace; null for the own drive
 * @param first size of the first page
 * @param useChanges calls back when to refetch
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
    /** Id of the person. */
    me: data?.me.person.id,
    workspace: data?.workspace ?? null,
  }
}

/** All events of a drive. */
export const useAllEvents = (slug: string | null) => useEvents(slug, 50, useDriveEvents)

/**
 * The latest events, refetched when files change. It shares the subscription of the file list,
 * because browsers allow only six connections per origin and every subscription uses one.
 */
export const useLatestEvents = (slug: string | null) => useEvents(slug, 50, useLive)

const entryIn = ({ node }: EntryEventsData) =>
  node?.__typename === 'File' || node?.__typename === 'Folder' ? node : undefined

/**
 * The events of a file or folder, newest first, live.
 *
 * @param drive id of its drive
 * @param first size of the first page
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
