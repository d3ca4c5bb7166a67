import { useMemo } from 'react'
import { type Place, type PlaceParams, placeOf } from '../../drive/place.ts'
import { useLive } from '../../graphql/live.ts'
import { type PagedList, readAhead, usePages } from '../../graphql/use-pages.ts'
import { useHidden } from '../../listing/held-back.ts'
import { type Entry, FOLDER, type FolderData } from './documents.ts'
import { type FilesSearch, tagsOf } from './search.ts'
import { fields } from './view.ts'

const driveOf = (data: FolderData | undefined) =>
  data?.me?.drive ?? data?.workspace?.drive ?? undefined

function connectionOf(data: FolderData | undefined) {
  const drive = driveOf(data)
  const folder = drive?.entry?.__typename === 'Folder' ? drive.entry : undefined
  return folder?.entries
}

/** The current drive and the person's permissions. */
export interface DriveHere {
  id: string
  canWrite: boolean
  canDelete: boolean
  canShare: boolean
  /** Days until deleted entries are removed from the trash. With 0, a deletion is permanent. */
  trashDays: number
  /** Set in a share of another person. The trash, versions and history stay with its owner. */
  share?: SharedHere | undefined
  /**
   * Set if the entries belong to several drives or shares. Actions then run for each of them, and
   * `id` is the person's own drive.
   */
  mixed?: { hasShared: boolean } | undefined
}

export interface SharedHere {
  token: string
  /** Display name of the owner. */
  owner: string
  /** Id of the person's own drive, for copies. */
  ownDrive: string
}

export interface FolderHere extends Omit<PagedList<Entry, FolderData>, 'data'> {
  drive: DriveHere | undefined
  /** The folder itself; null if nothing exists at this path. */
  folder:
    | { id: string; name: string; path: string; size: number; fileCount: number }
    | null
    | undefined
  /** Name of the workspace; null for other drives. */
  title: string | null
}

/** The query for the folder and sort order of the URL. */
function sourceOf({ workspace, path }: Place, { sort = 'name', desc, tags }: FilesSearch) {
  const chosen = tagsOf({ tags })
  const variables = {
    own: workspace === null,
    slug: workspace,
    path,
    order: { field: fields[sort], direction: desc ? ('DESC' as const) : ('ASC' as const) },
    filter: chosen.length > 0 ? { tags: chosen } : null,
  }
  // About as many as a large window shows.
  return { document: FOLDER, variables, connectionOf, first: 60, next: 1000 }
}

/** Prefetches the folder of a URL while the screen loads. */
export const readFolderAhead = (params: PlaceParams, search: FilesSearch): void =>
  readAhead(sourceOf(placeOf(params), search))

/** The entries of the folder in the URL, live. */
export function useFolder(place: Place, search: FilesSearch): FolderHere {
  const { data, ...listed } = usePages(sourceOf(place, search))
  const hidden = useHidden()
  const entries = useMemo(
    () => listed.entries.filter(({ id }) => !hidden.has(id)),
    [listed.entries, hidden],
  )

  const drive = driveOf(data)
  const id = drive?.id
  const permissions = drive?.permissions.join(' ')
  const trashDays = drive?.trashDays ?? 0
  const driveHere = useMemo((): DriveHere | undefined => {
    if (id === undefined) return undefined
    const may = (permission: string) => permissions?.split(' ').includes(permission) ?? false
    return {
      id,
      canWrite: may('WRITE'),
      canDelete: may('DELETE'),
      canShare: may('SHARE'),
      trashDays,
    }
  }, [id, permissions, trashDays])
  useLive(id, listed.refresh)

  return {
    ...listed,
    entries,
    drive: driveHere,
    folder: drive ? (drive.entry?.__typename === 'Folder' ? drive.entry : null) : undefined,
    title: data?.workspace?.name ?? null,
  }
}
