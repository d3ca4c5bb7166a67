import { MAX_SEARCH } from '../../parts/limits.ts'

export const orders = ['relevance', 'newest', 'oldest', 'name', 'largest', 'smallest'] as const
export type Order = (typeof orders)[number]

/** The URL parameters, so that a search can be reloaded and shared. */
export interface SearchSearch {
  /** The query text. */
  q?: string
  order?: Exclude<Order, 'relevance'>
  /** Id of the file in the viewer. */
  open?: string
}

/** Parses the URL parameters, and drops unknown values. */
export function readSearch(search: Record<string, unknown>): SearchSearch {
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value))
  const order = orders.find(one => one === search.order)
  return {
    q: text(search.q)?.slice(0, MAX_SEARCH),
    order: order === 'relevance' ? undefined : order,
    open: text(search.open),
  }
}
