import type { IncomingMessage } from 'node:http'
import { DavError } from './refusal.ts'

/**
 * The names in the part of a URL path below the prefix of a face.
 * @throws DavError 400
 */
export function namesIn(below: string): string[] {
  // A request has no fragment (RFC 9112, section 3.2), so the intended path is unknown.
  if (below.includes('#'))
    throw new DavError(400, 'A request URL cannot have a fragment. Write # as %23.')
  const encoded = below.split('/').filter(part => part !== '')
  return encoded.map(part => {
    let name: string
    try {
      name = decodeURIComponent(part)
    } catch {
      throw new DavError(400, 'The URL is not percent-encoded UTF-8.')
    }
    if (name.includes('/')) throw new DavError(400, 'A name cannot contain a slash.')
    return name
  })
}

const unreserved = /^[\w.~-]*$/

const encode = (name: string): string =>
  unreserved.test(name)
    ? name
    : encodeURIComponent(Buffer.from(name).toString()).replace(
        /[!'()*]/g,
        one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
      )

/**
 * The URL path of an entry below a prefix. A folder's path ends with a slash (RFC 4918, section
 * 5.2).
 */
export const hrefOf = (prefix: string, names: readonly string[], isFolder: boolean): string =>
  [prefix, ...names.map(encode)].join('/') + (isFolder ? '/' : '')

/** The URL path of an entry in a folder. */
export const hrefIn = (folder: string, name: string, isFolder: boolean): string =>
  `${folder}${encode(name)}${isFolder ? '/' : ''}`

/**
 * The path of a URL of this service in a header: an absolute path, or a URL with scheme and host.
 * The scheme is ignored, because a proxy may terminate TLS.
 * @throws DavError 400, 502 for another server
 */
export function pathOf(text: string, req: IncomingMessage, publicUrl: string): string {
  // Headers are decoded as Latin-1, but some clients send raw UTF-8.
  const url = Buffer.from(text.trim(), 'latin1').toString('utf8')
  const [, host, rest] = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)$/i.exec(url) ?? []
  if (rest === undefined) throw new DavError(400, 'This is not the URL of a file or folder.')
  const forwarded = req.headers['x-forwarded-host']
  const own = [
    req.headers.host,
    forwarded?.toString(),
    URL.canParse(publicUrl) ? new URL(publicUrl).host : undefined,
  ]
  const known = own.flatMap(one => (one ? [one.toLowerCase()] : []))
  const bare = host?.toLowerCase().replace(/^[^@]*@/, '')
  if (
    bare !== undefined &&
    ![bare, bare.replace(/:\d+$/, '')].some(one => known.some(is => isSame(is, one)))
  )
    throw new DavError(502, 'The destination is on another server.')
  return rest
}

/** Compares with or without the port, because some proxies do not forward their port. */
const isSame = (host: string, given: string): boolean =>
  host === given || host.replace(/:\d+$/, '') === given
