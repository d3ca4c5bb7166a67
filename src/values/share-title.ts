/**
 * The title of a share: its entry, or the first of several.
 * @param count the number of entries; null for a single one
 */
export const shareTitle = (first: string, count: number | null): string =>
  count === null || count < 2 ? first : `${first} and ${count - 1} more`
