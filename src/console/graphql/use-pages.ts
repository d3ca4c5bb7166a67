import { useMemo, useSyncExternalStore } from 'react'
import { type Listed, Pages, type PageVariables, type Source } from './pages.ts'

export interface PagedList<Item, Data> extends Listed<Item, Data> {
  /** Loads the next page. */
  more: () => void
  /** Asks the service again for everything that is loaded. */
  refresh: () => void
}

/** A list that is read page by page. With other variables it is another list. */
export function usePages<Item extends { id: string }, Data, Variables extends PageVariables>(
  source: Source<Item, Data, Variables>,
): PagedList<Item, Data> {
  const { document, first, next } = source
  // biome-ignore lint/correctness/useExhaustiveDependencies: the variables by what they say; where the list is, follows from the document
  const pages = useMemo(() => new Pages(source), [document, first, next, JSON.stringify(source.variables)])
  const listed = useSyncExternalStore(pages.subscribe, pages.read)
  return { ...listed, more: pages.more, refresh: pages.refresh }
}
