/**
 * What a share is called: by its entry, or by the first of several. @param count how many it is of
 * now; null for one alone
 */
export const shareTitle = (first: string, count: number | null): string =>
  count === null || count < 2 ? first : `${first} and ${count - 1} more`
