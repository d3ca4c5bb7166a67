/** The supported preferences of a client (RFC 7240). */
export interface Preferences {
  respondAsync: boolean
  /** How many seconds the client would wait for a response. */
  wait: number | undefined
}

/**
 * Parses a `Prefer` header. Ignores invalid parts, as section 2 requires. A comma or semicolon
 * within quotes also ends a preference.
 */
export function parsePrefer(header: string | null | undefined): Preferences {
  const values = new Map<string, string>()
  for (const preference of header?.split(',') ?? []) {
    // Parameters follow the semicolon. None is supported.
    const [said = ''] = preference.split(';')
    const [name = '', value = ''] = said.split('=').map(part => part.trim())
    // The first value of a name wins.
    if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value)
  }
  const [, wait] = /^"?(\d{1,9})"?$/.exec(values.get('wait') ?? '') ?? []
  return {
    respondAsync: values.has('respond-async'),
    wait: wait === undefined ? undefined : Number(wait),
  }
}
