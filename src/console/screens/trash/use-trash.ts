import { useMemo, useSyncExternalStore } from 'react'
import { useLive } from '../../graphql/live.ts'
import { type Listed, Pages } from '../../graphql/pages.ts'
import { TRASH, type TrashData, type TrashItem } from './documents.ts'

export interface TrashHere extends Omit<Listed<TrashItem, TrashData>, 'data'> {
  drive: { id: string; canWrite: boolean; canDelete: boolean; trashDays: number } | undefined
  /** The workspace that it is of. */
  workspace: { slug: string; name: string } | null
  more(): void
  refresh(): void
}

const driveOf = (data: TrashData | undefined) => data?.me?.drive ?? data?.workspace?.drive ?? undefined

/** The trash of a drive, live. @param slug of the workspace; null for the own drive */
export function useTrash(slug: string | null): TrashHere {
  const pages = useMemo(
    () =>
      new Pages({
        document: TRASH,
        variables: { own: slug === null, slug },
        connectionOf: (data: TrashData | undefined) => driveOf(data)?.trash,
        first: 100,
        next: 1000,
      }),
    [slug],
  )
  const { data, ...listed } = useSyncExternalStore(pages.subscribe, pages.read)
  const drive = driveOf(data)
  useLive(drive?.id, () => pages.refresh())
  return {
    ...listed,
    drive: drive && {
      id: drive.id,
      trashDays: drive.trashDays,
      canWrite: drive.permissions.includes('WRITE'),
      canDelete: drive.permissions.includes('DELETE'),
    },
    workspace: data?.workspace ?? null,
    more: () => pages.more(),
    refresh: () => pages.refresh(),
  }
}
