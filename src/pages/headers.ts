/** The sources that pages may load what from; everything else is refused. */
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

/** @param more by directive, what a page allows itself beyond the service's own origin */
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
  // The preview of a file allows itself to be framed before it can fail.
  'x-frame-options': 'DENY',
  // The URLs of shares and invites are secrets, and the other pages are for one user.
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
}
