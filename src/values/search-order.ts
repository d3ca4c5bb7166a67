/** By what results of a search are sorted: newest and oldest by their last change. */
export const searchOrders = [
  'relevance',
  'name',
  'newest',
  'oldest',
  'largest',
  'smallest',
] as const
export type SearchOrder = (typeof searchOrders)[number]

/** Where the words of a search were found. */
export const searchFields = ['name', 'path', 'note', 'tag', 'content'] as const
export type SearchField = (typeof searchFields)[number]
