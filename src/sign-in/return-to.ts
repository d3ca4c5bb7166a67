const longest = 1024

/**
 * Validates the return path of a sign-in: a path of this service with query and fragment, parsed as
 * browsers parse it.
 * @returns the path in canonical form; null for anything that could lead elsewhere or back into a
 * sign-in
 */
export function readReturnTo(text: string | undefined): string | null {
  // Browsers drop tabs and line breaks from URLs, and treat a backslash as a slash.
  if (!text?.startsWith('/') || /[\p{Cc}\p{Cs}\\]/u.test(text) || text.length > longest) return null
  const base = 'http://satchel.invalid'
  if (!URL.canParse(text, base)) return null
  const { origin, pathname, search, hash } = new URL(text, base)
  const path = decode(pathname)
  if (
    origin !== base ||
    path === null ||
    /^\/[/\\]|[\p{Cc}]/u.test(path) ||
    pathname.startsWith('//')
  )
    return null
  if (/^\/auth(\/|$)/i.test(path)) return null
  const canonical = pathname + search + hash
  return canonical.length <= longest ? canonical : null
}

/**
 * A URL with the reason of a failed sign-in.
 * @param place a result of readReturnTo, or null for the public URL itself
 */
export function withError(publicUrl: string, place: string | null, reason: string): string {
  const url = new URL(place ?? '/', publicUrl)
  url.searchParams.set('error', reason)
  return place === null ? url.href : url.pathname + url.search + url.hash
}

function decode(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return null
  }
}
