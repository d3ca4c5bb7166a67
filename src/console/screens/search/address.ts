import { MAX_SEARCH } from '../../parts/limits.ts'

export const orders = ['relevance', 'newest', 'oldest', 'name', 'largest', 'smallest'] as const
export type Order = (typeof orders)[number]

/** What the address says: it can be reloaded, and sent to others. */
export interface SearchSearch {
  /** The text of the search. */
  q?: string
  order?: Exclude<Order, 'relevance'>
  /** The id of the file that is shown large. */
  open?: string
}

/** Reads the search of an address. What it does not know, it drops. */
export function readSearch(search: Record<string, unknown>): SearchSearch {
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value))
  const order = orders.find(one => one === search.order)
  return {
    q: text(search.q)?.slice(0, MAX_SEARCH),
    order: order === 'relevance' ? undefined : order,
    open: text(search.open),
  }
}
