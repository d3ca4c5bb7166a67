/** What the address says: which shares are listed. */
export interface LinksSearch {
  kind?: 'link' | 'direct'
  ended?: true
}

/** Reads the search of an address. What it does not know, it drops. */
export function readSearch({ kind, ended }: Record<string, unknown>): LinksSearch {
  return {
    kind: kind === 'link' || kind === 'direct' ? kind : undefined,
    ended: ended === true || ended === 'true' ? true : undefined,
  }
}
