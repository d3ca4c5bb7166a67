import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export const sorts = ['name', 'updated', 'size', 'created'] as const
export type Sort = (typeof sorts)[number]

/** What the graph sorts by. */
export const fields = {
  name: 'NAME',
  updated: 'UPDATED_AT',
  size: 'SIZE',
  created: 'CREATED_AT',
} as const satisfies Record<Sort, string>

/**
 * What the address says about the screen besides the folder. What is missing is as people expect
 * it.
 */
export interface FilesSearch {
  view?: 'grid'
  sort?: Sort
  desc?: true
  /** Ids of tags that what is shown has; empty while they are chosen. */
  tags?: string
  /** Whether the details are shown. */
  details?: true
  /** The id of the file that is shown large. */
  open?: string
  /** Ids of the selected entries, as long as they are few. */
  sel?: string
  /** Files that the system has shared were not kept (worker/arrived.ts). */
  unshared?: true
}

/** Reads the search of an address. What it does not know, it drops. */
export function readSearch(search: Record<string, unknown>): FilesSearch {
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value))
  const flag = (value: unknown) => (value === true || value === 'true' ? true : undefined)
  return {
    view: search.view === 'grid' ? 'grid' : undefined,
    sort: sorts.find(sort => sort === search.sort),
    desc: flag(search.desc),
    tags: typeof search.tags === 'string' ? search.tags : undefined,
    details: flag(search.details),
    open: text(search.open),
    sel: text(search.sel),
    unshared: flag(search.unshared),
  }
}

/** The tags by whose ids a list is bounded. */
export const tagsOf = ({ tags }: FilesSearch): string[] => (tags ? tags.split('.') : [])

/** What the address says, and a way to change it. */
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
