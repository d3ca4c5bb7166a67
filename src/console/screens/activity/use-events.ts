import { useMemo, useSyncExternalStore } from 'react'
import { useLive } from '../../graphql/live.ts'
import { Pages } from '../../graphql/pages.ts'
import { EVENTS, type EventsData } from './documents.ts'

const driveOf = (data: EventsData | undefined) => data?.me.drive ?? data?.workspace?.drive ?? undefined

/**
 * What happened in a drive, the newest first, live.
 * @param slug of the workspace; null for the own drive
 * @param first how many at first
 */
export function useEvents(slug: string | null, first: number) {
  const pages = useMemo(
    () =>
      new Pages({
        document: EVENTS,
        variables: { own: slug === null, slug },
        connectionOf: (data: EventsData | undefined) => driveOf(data)?.events,
        first,
        next: 100,
      }),
    [slug, first],
  )
  const { data, ...listed } = useSyncExternalStore(pages.subscribe, pages.read)
  useLive(driveOf(data)?.id, () => pages.refresh())
  return {
    ...listed,
    /** The id of the person. */
    me: data?.me.person.id,
    workspace: data?.workspace ?? null,
    more: () => pages.more(),
    refresh: () => pages.refresh(),
  }
}
