import { useLive } from '../../graphql/live.ts'
import { type PagedList, usePages } from '../../graphql/use-pages.ts'
import { TRASH, type TrashData, type TrashItem } from './documents.ts'

export interface TrashHere extends Omit<PagedList<TrashItem, TrashData>, 'data'> {
  drive: { id: string; canWrite: boolean; canDelete: boolean; trashDays: number } | undefined
  /** The workspace of the trash; null for the own drive. */
  workspace: { name: string } | null
}

const driveOf = (data: TrashData | undefined) =>
  data?.me?.drive ?? data?.workspace?.drive ?? undefined

/**
 * The trash of a drive, live.
 *
 * @param slug of the workspace; null for the own drive
 */
export function useTrash(slug: string | null): TrashHere {
  const { data, ...listed } = usePages({
    document: TRASH,
    variables: { own: slug === null, slug },
    connectionOf: (data: TrashData | undefined) => driveOf(data)?.trash,
    first: 100,
    next: 1000,
  })
  const drive = driveOf(data)
  useLive(drive?.id, listed.refresh)
  return {
    ...listed,
    drive: drive && {
      id: drive.id,
      trashDays: drive.trashDays,
      canWrite: drive.permissions.includes('WRITE'),
      canDelete: drive.permissions.includes('DELETE'),
    },
    workspace: data?.workspace ?? null,
  }
}
