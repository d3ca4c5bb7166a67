/** Sort orders of search results. Newest and oldest refer to the last change. */
export const searchOrders = [
  'relevance',
  'name',
  'newest',
  'oldest',
  'largest',
  'smallest',
] as const
export type SearchOrder = (typeof searchOrders)[number]

/** The fields in which search words were found. */
export const searchFields = ['name', 'path', 'note', 'tag', 'content'] as const
export type SearchField = (typeof searchFields)[number]
