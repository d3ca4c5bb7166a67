/** The URL parameters: which shares are listed. */
export interface LinksSearch {
  kind?: 'link' | 'direct'
  ended?: true
}

/** Parses the URL parameters, and drops unknown values. */
export function readSearch({ kind, ended }: Record<string, unknown>): LinksSearch {
  return {
    kind: kind === 'link' || kind === 'direct' ? kind : undefined,
    ended: ended === true || ended === 'true' ? true : undefined,
  }
}
