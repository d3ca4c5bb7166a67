import type { IncomingMessage } from 'node:http'
import { DavError } from './refusal.ts'

export const PREFIX = '/dav'

/**
 * The names in the path of a URL.
 * @throws DavError 400
 */
export function segmentsOf(path: string): string[] {
  // A fragment is none of a request (RFC 9112, section 3.2): what is meant is unknown.
  if (path.includes('#'))
    throw new DavError(400, 'A URL of a request has no fragment. Write # as %23.')
  const encoded = path
    .slice(PREFIX.length)
    .split('/')
    .filter(part => part !== '')
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

/** The path of a URL; that of a folder ends with a slash (RFC 4918, section 5.2). */
export const hrefOf = (names: readonly string[], isFolder: boolean): string =>
  [PREFIX, ...names.map(encode)].join('/') + (isFolder ? '/' : '')

/** The same for what is in a folder. */
export const hrefIn = (folder: string, name: string, isFolder: boolean): string =>
  `${folder}${encode(name)}${isFolder ? '/' : ''}`

/**
 * The path of a URL of this service that a header names: an absolute path, or with a scheme and a
 * host. The scheme does not count, since a proxy may end TLS, nor does what a proxy has before the
 * path, which it takes away from requests.
 * @throws DavError 400, 502 for another server
 */
export function pathOf(text: string, req: IncomingMessage, publicUrl: string): string {
  // Header bytes come as Latin-1: some clients send UTF-8 as it is.
  const url = Buffer.from(text.trim(), 'latin1').toString('utf8')
  const [, host, rest] = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)$/i.exec(url) ?? []
  if (rest === undefined) throw new DavError(400, 'This is no URL of a file or folder.')
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
  const at = `${rest}/`.indexOf(`${PREFIX}/`)
  if (at < 0) throw new DavError(502, `The destination is not below ${PREFIX}/.`)
  return rest.slice(at)
}

/** With a port or without: that of a proxy is not always told. */
const isSame = (host: string, given: string): boolean =>
  host === given || host.replace(/:\d+$/, '') === given
