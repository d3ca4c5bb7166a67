import { useMemo } from 'react'
import { type Place, type PlaceParams, placeOf } from '../../drive/place.ts'
import { useLive } from '../../graphql/live.ts'
import { type PagedList, readAhead, usePages } from '../../graphql/use-pages.ts'
import { useHidden } from '../../listing/held-back.ts'
import { type Entry, FOLDER, type FolderData } from './documents.ts'
import { type FilesSearch, fields, tagsOf } from './search.ts'

const driveOf = (data: FolderData | undefined) =>
  data?.me?.drive ?? data?.workspace?.drive ?? undefined

function connectionOf(data: FolderData | undefined) {
  const drive = driveOf(data)
  const folder = drive?.entry?.__typename === 'Folder' ? drive.entry : undefined
  return folder?.entries
}

/** The drive on the screen, and what one may do there. */
export interface DriveHere {
  id: string
  canWrite: boolean
  canDelete: boolean
  canShare: boolean
  /** For how many days what is deleted can be restored; with 0 a deletion is final. */
  trashDays: number
  /**
   * Where it is what somebody shares with the person, with whom its trash, versions and history
   * stay.
   */
  share?: SharedHere | undefined
  /**
   * Set for entries of several drives and shares, each of which is acted on by itself. The drive is
   * the person's own then.
   */
  mixed?: { hasShared: boolean } | undefined
}

export interface SharedHere {
  token: string
  /** What its owner is called. */
  owner: string
  /** The id of the person's own drive, into which they may save copies. */
  ownDrive: string
}

export interface FolderHere extends Omit<PagedList<Entry, FolderData>, 'data'> {
  drive: DriveHere | undefined
  /** The folder itself; null if there is none at this path. */
  folder:
    | { id: string; name: string; path: string; size: number; fileCount: number }
    | null
    | undefined
  /** The name of the workspace, for one of those. */
  title: string | null
}

/** The list of a folder, as the address wants it. */
function sourceOf({ workspace, path }: Place, { sort = 'name', desc, tags }: FilesSearch) {
  const chosen = tagsOf({ tags })
  const variables = {
    own: workspace === null,
    slug: workspace,
    path,
    order: { field: fields[sort], direction: desc ? ('DESC' as const) : ('ASC' as const) },
    filter: chosen.length > 0 ? { tags: chosen } : null,
  }
  // As many as a large window shows.
  return { document: FOLDER, variables, connectionOf, first: 60, next: 1000 }
}

/** Asks for the folder in an address while the screen is being made. */
export const readFolderAhead = (params: PlaceParams, search: FilesSearch): void =>
  readAhead(sourceOf(placeOf(params), search))

/** The entries of the folder in the address, as it wants them, live. */
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
