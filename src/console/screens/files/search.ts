import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export const sorts = ['name', 'updated', 'size', 'created'] as const
export type Sort = (typeof sorts)[number]

/** The sort fields of the graph. */
export const fields = {
  name: 'NAME',
  updated: 'UPDATED_AT',
  size: 'SIZE',
  created: 'CREATED_AT',
} as const satisfies Record<Sort, string>

/** The URL parameters of the screen besides the folder. Missing ones have the usual defaults. */
export interface FilesSearch {
  view?: 'grid'
  sort?: Sort
  desc?: true
  /** Ids of the tags that the list filters by. Empty while the person is choosing. */
  tags?: string
  /** Whether the details panel is open, and the section that it begins with. */
  details?: true | 'versions' | 'activity'
  /** Id of the file in the viewer. */
  open?: string
  /** Ids of the selected entries, if there are few. */
  sel?: string
  /** Some files shared with the console by the system could not be kept (worker/arrived.ts). */
  unshared?: true
}

const sections = ['versions', 'activity'] as const

/** Parses the URL parameters, and drops unknown values. */
export function readSearch(search: Record<string, unknown>): FilesSearch {
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value))
  const flag = (value: unknown) => (value === true || value === 'true' ? true : undefined)
  return {
    view: search.view === 'grid' ? 'grid' : undefined,
    sort: sorts.find(sort => sort === search.sort),
    desc: flag(search.desc),
    tags: typeof search.tags === 'string' ? search.tags : undefined,
    details: flag(search.details) ?? sections.find(name => name === search.details),
    open: text(search.open),
    sel: text(search.sel),
    unshared: flag(search.unshared),
  }
}

/** The ids of the tags that the list filters by. */
export const tagsOf = ({ tags }: FilesSearch): string[] => (tags ? tags.split('.') : [])

/** The URL parameters and a setter. */
export function useFilesSearch(): [
  FilesSearch,
  (change: FilesSearch, options?: { push?: boolean }) => void,
] {
  const search: FilesSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (next: FilesSearch, { push = false }: { push?: boolean } = {}) =>
      void navigate({
        to: '.',
        search: (now: FilesSearch) => ({ ...now, ...next }),
        replace: !push,
        resetScroll: false,
      }),
    [navigate],
  )
  return [search, change]
}
