/** Sources from which pages may load content. All others are blocked. */
const sources = [
  'script-src',
  'style-src',
  'img-src',
  'media-src',
  'object-src',
  'frame-src',
  'connect-src',
  'form-action',
]

/** @param more sources by directive, besides the service's own origin */
export const policyOf = (more: Record<string, string> = {}): string =>
  [
    "default-src 'none'",
    ...sources.map(what => `${what} 'self'${more[what] ? ` ${more[what]}` : ''}`),
    ...Object.entries(more).flatMap(([what, from]) =>
      sources.includes(what) ? [] : [`${what} ${from}`],
    ),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(),
  // Previews override this before anything can fail.
  'x-frame-options': 'DENY',
  // The URLs of shares and invites are secrets, and the other pages are for one user.
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
}
