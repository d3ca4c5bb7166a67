import type { IncomingMessage } from 'node:http'

/**
 * Whether a browser says that a page of somebody else has caused a request. Other clients say nothing, and are believed:
 * they carry no cookie that is not their own.
 * @param own origins whose pages may act for their visitors: the public one and those that are allowed by configuration
 */
export function isFromElsewhere({ headers }: IncomingMessage, own: string[]): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return false
  const source = headers.origin ?? headers.referer
  if (source === undefined) return site !== undefined
  return !URL.canParse(source) || !own.includes(new URL(source).origin)
}

/**
 * Whether a browser says that a page of this very service has caused a request. Silence is not enough: over plain http
 * browsers can be made to send nothing.
 */
export function isFromOwnPage({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const source = headers.origin ?? headers.referer
  return source !== undefined && URL.canParse(source) && new URL(source).origin === publicUrl
}

/** Whether a browser asks and does not say which page has caused it, as over plain http. All of them call themselves Mozilla. */
export function isSilentBrowser({ headers }: IncomingMessage): boolean {
  const said = headers['sec-fetch-site'] ?? headers.origin ?? headers.referer
  return said === undefined && /^Mozilla\//.test(headers['user-agent'] ?? '')
}

/** Whether a browser opens the answer as a page of its own, as it does for a link. */
export function isNavigation({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && (headers['sec-fetch-dest'] ?? 'document') === 'document'
}
