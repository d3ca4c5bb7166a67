import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { hrefOf, type Place, trim } from '../../drive/place.ts'
import type { Entry } from './documents.ts'
import type { FilesSearch } from './search.ts'

/** Opens a folder, or a file in the viewer. */
export function useOpen(
  { workspace, share }: Place,
  { details }: FilesSearch,
  setSearch: (change: FilesSearch, options?: { push?: boolean }) => void,
) {
  const navigate = useNavigate()
  return useCallback(
    (entry: Entry) => {
      if (entry.__typename === 'File')
        return setSearch({ open: entry.id, sel: entry.id }, { push: true })
      void navigate({
        to: hrefOf({ workspace, share, path: trim(entry.path) }),
        // Without the filters and the selection.
        search: { details } as never,
      })
    },
    [navigate, workspace, share, details, setSearch],
  )
}
