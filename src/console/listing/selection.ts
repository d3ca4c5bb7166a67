/** The selection of a list, the anchor of the range and the keyboard cursor. */
export interface Selection {
  ids: ReadonlySet<string>
  anchor: string | null
  cursor: string | null
}

export const nothing: Selection = { ids: new Set(), anchor: null, cursor: null }

export const only = (id: string): Selection => ({ ids: new Set([id]), anchor: id, cursor: id })

export const all = (order: readonly string[], { cursor }: Selection): Selection => ({
  ids: new Set(order),
  anchor: order[0] ?? null,
  cursor: cursor ?? order[0] ?? null,
})

export function toggle({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id, cursor: id }
}

/** Selects the range from the anchor to this item. */
export function extend(order: readonly string[], { anchor }: Selection, id: string): Selection {
  const to = order.indexOf(id)
  const from = anchor === null ? to : order.indexOf(anchor)
  if (to < 0) return nothing
  const [low, high] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)]
  return { ids: new Set(order.slice(low, high + 1)), anchor: from < 0 ? id : anchor, cursor: id }
}

/** Moves only the cursor. */
export const point = (selection: Selection, id: string): Selection => ({ ...selection, cursor: id })

/** Drops items that are no longer in the list. */
export function within(
  { ids, anchor, cursor }: Selection,
  has: (id: string) => boolean,
): Selection {
  const kept = [...ids].filter(has)
  if (kept.length === ids.size && (cursor === null || has(cursor))) return { ids, anchor, cursor }
  return {
    ids: new Set(kept),
    anchor: anchor !== null && has(anchor) ? anchor : null,
    cursor: cursor !== null && has(cursor) ? cursor : null,
  }
}

/**
 * The selection after a mouse click: Shift selects a range, Ctrl toggles one item, otherwise only
 * this item is selected.
 */
export function press(
  order: () => readonly string[],
  selection: Selection,
  id: string,
  { shiftKey, ctrlKey, metaKey }: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean },
): Selection {
  if (shiftKey) return extend(order(), selection, id)
  return ctrlKey || metaKey ? toggle(selection, id) : only(id)
}
