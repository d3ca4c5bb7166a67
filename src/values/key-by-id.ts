/** Maps items by id. */
export const keyById = <T extends { id: string }>(found: readonly T[]): Map<string, T> =>
  new Map(found.map(one => [one.id, one]))
