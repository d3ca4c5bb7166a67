import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { type Listed, Pages, type PageVariables, type Source } from './pages.ts'

export interface PagedList<Item, Data> extends Listed<Item, Data> {
  /** Loads the next page. */
  more: () => void
  /** Refetches all loaded pages. */
  refresh: () => void
}

/** The prefetched list of a screen that is still loading. */
let ahead: { document: unknown; key: string; pages: unknown; stop: () => void } | undefined

const keyOf = ({
  first,
  next,
  variables,
}: Omit<Source<never, never, PageVariables>, 'document' | 'connectionOf'>) =>
  JSON.stringify([first, next, variables])

/** Prefetches a list while its screen is loading. */
export function readAhead<Item extends { id: string }, Data, Variables extends PageVariables>(
  source: Source<Item, Data, Variables>,
): void {
  ahead?.stop()
  const pages = new Pages(source)
  ahead = { document: source.document, key: keyOf(source), pages, stop: pages.subscribe(() => {}) }
}

/** A paginated list. Different variables make a different list. */
export function usePages<Item extends { id: string }, Data, Variables extends PageVariables>(
  source: Source<Item, Data, Variables>,
): PagedList<Item, Data> {
  const { document } = source
  const key = keyOf(source)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the source
  const pages = useMemo(() => {
    const isAhead = ahead?.document === document && ahead.key === key
    return isAhead ? (ahead?.pages as Pages<Item, Data, Variables>) : new Pages(source)
  }, [document, key])
  const listed = useSyncExternalStore(pages.subscribe, pages.read)
  useEffect(() => {
    if (ahead?.pages !== pages) return
    ahead.stop()
    ahead = undefined
  }, [pages])
  return { ...listed, more: pages.more, refresh: pages.refresh }
}
