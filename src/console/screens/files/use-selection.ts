import { useCallback, useEffect, useMemo, useState } from 'react'
import { type Selection, within } from '../../listing/selection.ts'
import type { Entry } from './documents.ts'
import type { FilesSearch } from './search.ts'

/** More ids would make the URL too long. */
const IN_ADDRESS = 10

const read = (sel: string | undefined): Selection => {
  const ids = sel?.split('.') ?? []
  return { ids: new Set(ids), anchor: ids[0] ?? null, cursor: ids[0] ?? null }
}

/**
 * The selection. A small one is stored in the URL. A new list starts with the selection of its URL.
 *
 * @param list identifies the list
 */
export function useSelection(
  entries: readonly Entry[],
  search: FilesSearch,
  setSearch: (change: FilesSearch) => void,
  list: string,
): [selection: Selection, select: (next: Selection) => void, selected: readonly Entry[]] {
  const [state, setState] = useState(() => ({ list, selection: read(search.sel) }))
  const current = state.list === list ? state.selection : read(search.sel)

  const select = useCallback(
    (selection: Selection) => {
      setState({ list, selection })
      const ids = [...selection.ids]
      setSearch({ sel: ids.length > 0 && ids.length <= IN_ADDRESS ? ids.join('.') : undefined })
    },
    [list, setSearch],
  )

  const byId = useMemo(() => new Map(entries.map(entry => [entry.id, entry])), [entries])
  // Deleted entries leave the selection. While nothing is loaded, all ids are kept.
  const selection = useMemo(
    () => (byId.size > 0 ? within(current, id => byId.has(id)) : current),
    [current, byId],
  )
  const selected = useMemo(
    () => [...selection.ids].flatMap(id => byId.get(id) ?? []),
    [selection.ids, byId],
  )
  useEffect(() => {
    if (state.list !== list) setState({ list, selection: read(search.sel) })
  }, [state.list, list, search.sel])
  return [selection, select, selected]
}
