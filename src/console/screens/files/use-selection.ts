import { useCallback, useEffect, useMemo, useState } from 'react'
import { type Selection, within } from '../../listing/selection.ts'
import type { Entry } from './documents.ts'
import type { FilesSearch } from './search.ts'

/** More ids than these make the address unwieldy. */
const IN_ADDRESS = 10

const read = (sel: string | undefined): Selection => {
  const ids = sel?.split('.') ?? []
  return { ids: new Set(ids), anchor: ids[0] ?? null, cursor: ids[0] ?? null }
}

/**
 * What is selected, as the address says it and as long as it is few. Another list begins with what
 * its address says.
 * @param list names the list
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
  // What is gone is no longer selected; while nothing is loaded, everything may still come.
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
