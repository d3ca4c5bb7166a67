/** What a client prefers (RFC 7240), as far as it is known here. */
export interface Preferences {
  respondAsync: boolean
  /** Seconds that it would wait for an answer. */
  wait: number | undefined
}

/**
 * Reads a `Prefer` header. What cannot be understood is ignored, as section 2 asks; a comma or
 * semicolon within quotes ends a preference, too.
 */
export function parsePrefer(header: string | null | undefined): Preferences {
  const values = new Map<string, string>()
  for (const preference of header?.split(',') ?? []) {
    // What follows the semicolon are parameters, of which none is known.
    const [said = ''] = preference.split(';')
    const [name = '', value = ''] = said.split('=').map(part => part.trim())
    // The first of a name counts.
    if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value)
  }
  const [, wait] = /^"?(\d{1,9})"?$/.exec(values.get('wait') ?? '') ?? []
  return {
    respondAsync: values.has('respond-async'),
    wait: wait === undefined ? undefined : Number(wait),
  }
}
