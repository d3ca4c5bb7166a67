import { useLive } from '../../graphql/live.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { ENTRY_EVENTS, type EntryEventsData, EVENTS, type EventsData } from './documents.ts'

const driveOf = (data: EventsData | undefined) => data?.me.drive ?? data?.workspace?.drive ?? undefined

/**
 * What happened in a drive, the newest first, live.
 * @param slug of the workspace; null for the own drive
 * @param first how many at first
 */
export function useEvents(slug: string | null, first: number) {
  const { data, ...listed } = usePages({
    document: EVENTS,
    variables: { own: slug === null, slug },
    connectionOf: (data: EventsData | undefined) => driveOf(data)?.events,
    first,
    next: 100,
  })
  useLive(driveOf(data)?.id, listed.refresh)
  return {
    ...listed,
    /** The id of the person. */
    me: data?.me.person.id,
    workspace: data?.workspace ?? null,
  }
}

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
