import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { hrefOf, type Place, trim } from '../../drive/place.ts'
import type { Entry } from './documents.ts'
import type { FilesSearch } from './search.ts'

/** Opens a folder, or a file in the viewer. */
export function useOpen(
  { workspace, share }: Place,
  { view, sort, desc, details }: FilesSearch,
  setSearch: (change: FilesSearch, options?: { push?: boolean }) => void,
) {
  const navigate = useNavigate()
  return useCallback(
    (entry: Entry) => {
      if (entry.__typename === 'File')
        return setSearch({ open: entry.id, sel: entry.id }, { push: true })
      // Keeps the view settings, but not the filters and selection.
      const kept = { view, sort, desc, details } satisfies FilesSearch
      void navigate({
        to: hrefOf({ workspace, share, path: trim(entry.path) }),
        search: kept as never,
      })
    },
    [navigate, workspace, share, view, sort, desc, details, setSearch],
  )
}
