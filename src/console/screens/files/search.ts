import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef } from 'react'
import { choose, type FilesView, filesView, type Sort, sorts, withView } from './view.ts'

/** The URL parameters of the screen besides the folder. Missing ones have the usual defaults. */
export interface FilesSearch {
  view?: 'grid' | 'list'
  sort?: Sort
  desc?: true
  /** Ids of the tags that the list filters by. Empty while the person is choosing. */
  tags?: string
  /** Whether the details panel is open, and the section that it begins with. */
  details?: true | 'versions' | 'activity'
  /** Id of the file in the viewer. */
  open?: string
  /** Whether the text of that file is being edited. */
  edit?: true
  /** Ids of the selected entries, if there are few. */
  sel?: string
  /** Some files shared with the console by the system could not be kept (worker/arrived.ts). */
  unshared?: true
}

const views = ['grid', 'list'] as const
const sections = ['versions', 'activity'] as const

/** Parses the URL parameters, and drops unknown values. */
export function readSearch(search: Record<string, unknown>): FilesSearch {
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value))
  const flag = (value: unknown) => (value === true || value === 'true' ? true : undefined)
  return {
    view: views.find(view => view === search.view),
    sort: sorts.find(sort => sort === search.sort),
    desc: flag(search.desc),
    tags: typeof search.tags === 'string' ? search.tags : undefined,
    details: flag(search.details) ?? sections.find(name => name === search.details),
    open: text(search.open),
    edit: flag(search.edit),
    sel: text(search.sel),
    unshared: flag(search.unshared),
  }
}

/** The ids of the tags that the list filters by. */
export const tagsOf = ({ tags }: FilesSearch): string[] => (tags ? tags.split('.') : [])

/** The parameters that the person's view replaces. */
const inView = { view: undefined, sort: undefined, desc: undefined }

/**
 * The URL parameters with the person's view, and a setter. A chosen view is remembered, instead of
 * being in the URL.
 */
export function useFilesSearch(): [
  FilesSearch & FilesView,
  (change: FilesSearch & FilesView, options?: { push?: boolean }) => void,
] {
  const inUrl: FilesSearch = useSearch({ strict: false })
  const view = filesView.use()
  const search = useMemo(() => withView(inUrl, view), [inUrl, view])
  const latest = useRef(search)
  latest.current = search
  const navigate = useNavigate()
  const change = useCallback(
    (next: FilesSearch & FilesView, { push = false }: { push?: boolean } = {}) => {
      const { view, size, sort, desc } = { ...latest.current, ...next }
      const isView = Object.keys(next).some(key => /^(view|size|sort|desc)$/.test(key))
      if (isView) choose({ view, size, sort, desc })
      void navigate({
        to: '.',
        search: (now: FilesSearch) => ({ ...now, ...next, size: undefined, ...(isView && inView) }),
        replace: !push,
        resetScroll: false,
      })
    },
    [navigate],
  )
  return [search, change]
}
