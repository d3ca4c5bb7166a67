import { useNavigate } from '@tanstack/react-router'
import { hrefOf, parentOf } from '../../drive/place.ts'
import type { Commands } from './commands.ts'

/** Goes to the parent folder. Returns whether there is one. */
export function useNavigateUp({
  place,
  search: { view, sort, desc, details },
}: Commands): () => boolean {
  const navigate = useNavigate()
  return () => {
    if (place.path === '') return false
    const to = hrefOf({ ...place, path: parentOf(place.path) })
    void navigate({ to, search: { view, sort, desc, details } as never })
    return true
  }
}
