/** The URL parameters: which shares are listed. */
export interface LinksSearch {
  kind?: 'link' | 'direct'
  ended?: true
  /** Part of a name, a label, a title or an address. */
  find?: string
  /** The e-mail address of a recipient. */
  with?: string
}

const given = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Parses the URL parameters, and drops unknown values. */
export function readSearch(search: Record<string, unknown>): LinksSearch {
  const { kind, ended } = search
  return {
    kind: kind === 'link' || kind === 'direct' ? kind : undefined,
    ended: ended === true || ended === 'true' ? true : undefined,
    find: given(search.find),
    with: given(search.with),
  }
}
