import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSubscription } from 'urql'
import { CHANGED, type Entry, type FolderVariables } from './documents.ts'
import { useHidden } from './held-back.ts'
import { type Listed, Pages } from './pages.ts'
import type { Place } from './place.ts'
import type { FilesSearch, Sort } from './search.ts'

const fields = { name: 'NAME', updated: 'UPDATED_AT', size: 'SIZE', created: 'CREATED_AT' } as const satisfies Record<
  Sort,
  string
>

/** The drive on the screen, and what one may do there. */
export interface DriveHere {
  id: string
  canWrite: boolean
  canDelete: boolean
  canShare: boolean
  /** For how many days what is deleted can be restored; with 0 a deletion is final. */
  trashDays: number
}

export interface FolderHere extends Omit<Listed, 'data'> {
  drive: DriveHere | undefined
  /** The folder itself; null when there is none at this path. */
  folder: { id: string; name: string; path: string; size: number; fileCount: number } | null | undefined
  /** The name of the workspace, for one of those. */
  title: string | null
  more(): void
  refresh(): void
}

/** The entries of the folder in the address, as it wants them, live. */
export function useFolder({ workspace, path }: Place, { sort = 'name', desc, q, here }: FilesSearch): FolderHere {
  const direction = desc ? 'DESC' : 'ASC'
  const everywhere = Boolean(q && !here)
  const pages = useMemo(() => {
    const base: Omit<FolderVariables, 'first' | 'after'> = {
      own: workspace === null,
      slug: workspace,
      path,
      order: { field: fields[sort], direction },
      filter: q && here ? { nameContains: q } : null,
      everywhere,
      query: everywhere ? (q ?? '') : '-',
    }
    return new Pages(base)
  }, [workspace, path, sort, direction, q, here, everywhere])
  const listed = useSyncExternalStore(pages.subscribe, pages.read)
  const hidden = useHidden()
  const entries = useMemo(() => listed.entries.filter(({ id }) => !hidden.has(id)), [listed.entries, hidden])

  const drive = listed.data?.me?.drive ?? listed.data?.workspace?.drive ?? undefined
  const id = drive?.id
  const permissions = drive?.permissions.join(' ')
  const trashDays = drive?.trashDays ?? 0
  const driveHere = useMemo((): DriveHere | undefined => {
    if (id === undefined) return undefined
    const may = (permission: string) => permissions?.split(' ').includes(permission) ?? false
    return { id, canWrite: may('WRITE'), canDelete: may('DELETE'), canShare: may('SHARE'), trashDays }
  }, [id, permissions, trashDays])
  useLive(id, () => pages.refresh())

  return {
    ...listed,
    entries: entries as readonly Entry[],
    drive: driveHere,
    folder: drive ? (drive.entry?.__typename === 'Folder' ? drive.entry : null) : undefined,
    title: listed.data?.workspace?.name ?? null,
    more: () => pages.more(),
    refresh: () => pages.refresh(),
  }
}

/** Calls back when something in the drive has changed. A hidden page lets go of its connection. */
function useLive(drive: string | undefined, onChange: () => void): void {
  const [isSeen, setSeen] = useState(!document.hidden)
  useEffect(() => {
    let timer = 0
    const look = () => {
      clearTimeout(timer)
      if (document.hidden) timer = window.setTimeout(() => setSeen(false), 30_000)
      else
        setSeen(seen => {
          // What happened meanwhile was not heard of.
          if (!seen) onChange()
          return true
        })
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    }
  })
  useSubscription({ query: CHANGED, variables: { drive: drive ?? '' }, pause: !drive || !isSeen }, (_, data) => {
    // This is called while React draws.
    queueMicrotask(onChange)
    return data
  })
}
