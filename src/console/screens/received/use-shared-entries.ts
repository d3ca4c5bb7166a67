import { createContext, useContext, useMemo } from 'react'
import type { Place } from '../../drive/place.ts'
import { entryOf, SHARED_FOLDER, type SharedFolderData } from '../../drive/shared.ts'
import { codeOf } from '../../graphql/errors.ts'
import { useLookAgain } from '../../graphql/look-again.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { useHidden } from '../../listing/held-back.ts'
import { useUploaded } from '../../uploads/use-uploaded.ts'
import type { FilesSearch } from '../files/search.ts'
import type { DriveHere, FolderHere } from '../files/use-folder.ts'
import { fields } from '../files/view.ts'

/** The share of a screen: its name and the person's permissions. */
export const SharedDrive = createContext<{ drive: DriveHere; title: string } | null>(null)

/**
 * Polling interval, because no subscription reports changes by others. Long lists are not polled.
 */
const LOOK_MS = 5000
const LOOK_AT_LONG_MS = 60_000
const LONG = 1000

const connectionOf = (data: SharedFolderData | undefined) =>
  data && {
    nodes: data.sharedFolder.entries.map(entryOf),
    pageInfo: {
      hasNextPage: data.sharedFolder.endCursor !== null,
      endCursor: data.sharedFolder.endCursor,
    },
  }

/** The entries of a shared folder. It replaces `useFolder`. */
export function useSharedEntries(
  { path }: Place,
  { sort = 'name', desc }: FilesSearch,
): FolderHere {
  const shared = useContext(SharedDrive)
  const variables = {
    token: shared?.drive.share?.token ?? '',
    path,
    query: null,
    order: { field: fields[sort], direction: desc ? ('DESC' as const) : ('ASC' as const) },
  }
  const { data, ...listed } = usePages({
    document: SHARED_FOLDER,
    variables,
    connectionOf,
    first: 60,
    next: 1000,
  })
  useLookAgain(listed.refresh, listed.entries.length > LONG ? LOOK_AT_LONG_MS : LOOK_MS)
  useUploaded(listed.refresh)
  const hidden = useHidden()
  const entries = useMemo(
    () => listed.entries.filter(({ id }) => !hidden.has(id)),
    [listed.entries, hidden],
  )
  const code = codeOf(listed.error)
  const isMissing = code === 'FOLDER_NOT_FOUND' || code === 'FILE_NOT_FOUND'
  // Folders of a share have no id.
  const folder = { id: '', name: path.split('/').at(-1) ?? '', path, size: 0, fileCount: 0 }
  return {
    ...listed,
    error: isMissing ? undefined : listed.error,
    entries,
    drive: shared?.drive,
    folder: isMissing ? null : data && folder,
    title: shared?.title ?? null,
  }
}
