import type { IncomingMessage } from 'node:http'
import { Forbidden } from '../runtime/errors.ts'
import { SESSION_COOKIE } from './credential.ts'

/**
 * Whether browser headers show that a page of another origin caused the request. Other clients send
 * no such headers and are trusted, because they only have their own cookies.
 * @param own origins whose pages may act for their visitors: the public origin and the configured
 * ones
 */
export function isFromElsewhere({ headers }: IncomingMessage, own: string[]): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return false
  const source = headers.origin ?? headers.referer
  if (source === undefined) return site !== undefined
  return !URL.canParse(source) || !own.includes(new URL(source).origin)
}

/**
 * Whether browser headers show that a page of this service caused the request. Missing headers are
 * not enough, because a page can make browsers omit them over plain http.
 */
export function isFromOwnPage({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const source = headers.origin ?? headers.referer
  return source !== undefined && URL.canParse(source) && new URL(source).origin === publicUrl
}

/**
 * Whether a browser sent the request without a header that names its page, as can happen over plain
 * http. All browsers identify as Mozilla.
 */
export function isSilentBrowser({ headers }: IncomingMessage): boolean {
  const said = headers['sec-fetch-site'] ?? headers.origin ?? headers.referer
  return said === undefined && /^Mozilla\//.test(headers['user-agent'] ?? '')
}

/**
 * Whether a browser opens the response as a top-level page, for example after a click on a link.
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  return (
    headers['sec-fetch-mode'] === 'navigate' &&
    (headers['sec-fetch-dest'] ?? 'document') === 'document'
  )
}

/**
 * Refuses a browser's write with the session cookie from a page of another origin:
 * docs/contract.md, "Credentials".
 * @throws FORBIDDEN
 */
export function refuseForeignWrites(req: IncomingMessage, own: string[]): void {
  if (req.method === 'GET' || req.method === 'HEAD' || req.headers['x-api-key'] !== undefined)
    return
  if (!req.headers.cookie?.includes(SESSION_COOKIE)) return
  if (isFromElsewhere(req, own))
    throw new Forbidden(
      'This request comes from a page of another origin. Open the page of this service instead.',
    )
}
