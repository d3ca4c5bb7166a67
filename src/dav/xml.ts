import type { IncomingMessage } from 'node:http'
import { SaxesParser } from 'saxes'
import { readWhole } from '../http/body.ts'
import type { Answer } from '../http/envelope.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'

export const DAV = 'DAV:'
/**
 * The namespaces of ownCloud's and Nextcloud's properties, which rclone and other clients request.
 */
export const OWNCLOUD = 'http://owncloud.org/ns'
export const NEXTCLOUD = 'http://nextcloud.org/ns'

/**
 * The prefixes of the namespaces that a multistatus declares. The names are those of Nextcloud,
 * because its app for iOS looks for elements by prefix.
 */
const prefixes: Record<string, string> = {
  [DAV]: 'd',
  [OWNCLOUD]: 'oc',
  [NEXTCLOUD]: 'nc',
  'http://open-collaboration-services.org/ns': 'x1',
  'http://open-cloud-mesh.org/ns': 'x2',
}

/** The start tag of a multistatus. */
export const MULTISTATUS = `<d:multistatus ${Object.entries(prefixes)
  .map(([ns, prefix]) => `xmlns:${prefix}="${ns}"`)
  .join(' ')}>`

/** A response in a multistatus. */
export const responseOf = (href: string, properties: string): string =>
  `<d:response><d:href>${escapeXml(href)}</d:href>${properties}</d:response>\n`

/** A short multistatus in one piece. Listings are streamed (src/dav/propfind.ts). */
export const multistatus = (responses: readonly string[]): Answer => ({
  status: 207,
  headers: { 'content-type': XML_TYPE, 'cache-control': 'no-store' },
  body: `${XML_START}${MULTISTATUS}\n${responses.join('')}</d:multistatus>\n`,
})

/** The tag of a name in a multistatus, and the declaration that it needs there, if any. */
export function tagIn({ ns, name }: { ns: string; name: string }): [tag: string, needs: string] {
  if (ns === '') return [name, '']
  const prefix = Object.hasOwn(prefixes, ns) ? prefixes[ns] : undefined
  return prefix ? [`${prefix}:${name}`, ''] : [`p:${name}`, ` xmlns:p="${escapeXml(ns)}"`]
}
const XMLNS = 'http://www.w3.org/2000/xmlns/'

/** An element of a body. */
export interface Element {
  ns: string
  name: string
  /** The name with its prefix, as sent. */
  tag: string
  /** The attributes with prefixes, without namespace declarations. */
  attributes: [name: string, value: string][]
  /**
   * The namespace of each prefix in scope; the default namespace has the empty key. Own properties
   * are the element's declarations, and others are inherited through the prototype, so that no
   * element copies them.
   */
  namespaces: Record<string, string>
  children: (Element | string)[]
}

/** WebDAV clients send less: properties are small. */
export const MAX_XML_BYTES = 128 * 1024
const MAX_DEPTH = 32
const MAX_ELEMENTS = 2000
const MAX_ATTRIBUTES = 100
/**
 * Limits the prefixes in scope, and the characters of a namespace, because each is written with
 * every property that uses it.
 */
const MAX_NAMESPACES = 32
const MAX_NAMESPACE = 1024

const isElement = (child: Element | string): child is Element => typeof child !== 'string'

export const isDav = ({ ns, name }: Element, ...names: string[]): boolean =>
  ns === DAV && names.includes(name)
export const elementsOf = ({ children }: Element): Element[] => children.filter(isElement)
export const textOf = ({ children }: Element): string =>
  children.filter(child => !isElement(child)).join('')
export const childOf = (element: Element, ...names: string[]): Element | undefined =>
  elementsOf(element).find(child => isDav(child, ...names))

const malformed = (why: string) =>
  new InvalidInput('body', `The body is not the XML that this method expects: ${why}`)

/**
 * Reads the XML body; undefined without one. Refuses document type declarations, so only the
 * predefined entities exist, and nothing external is read (RFC 4918, section 20.6).
 * @throws INVALID_INPUT
 */
export async function readXml(req: IncomingMessage): Promise<Element | undefined> {
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared === 0 && req.headers['transfer-encoding'] === undefined) return undefined
  const tooLarge = () =>
    new AppError('FILE_TOO_LARGE', 'The XML of a request may have up to 128 KiB.')
  if (declared > MAX_XML_BYTES) throw tooLarge()
  const broken = (cause: unknown) =>
    new AppError(
      'INVALID_INPUT',
      'The body ended before it was complete.',
      { field: 'body' },
      cause,
    )
  const bytes = await readWhole(req, MAX_XML_BYTES, { tooLarge, broken })
  return bytes.length === 0 ? undefined : parseXml(decode(bytes))
}

/** RFC 4918, section 19: UTF-8, or UTF-16 with a byte order mark. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xfe && second === 0xff
      ? 'utf-16be'
      : first === 0xff && second === 0xfe
        ? 'utf-16le'
        : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw malformed('it is neither UTF-8 nor UTF-16.')
  }
}

/**
 * The namespaces in scope of an element, including its own declarations.
 * @throws INVALID_INPUT
 */
function scopeOf(
  above: Record<string, string> | null,
  declared: Record<string, string>,
): Record<string, string> {
  const uris = Object.values(declared)
  const scope: Record<string, string> = Object.assign(Object.create(above), declared)
  if (uris.length === 0) return scope
  if (uris.some(uri => uri.length > MAX_NAMESPACE) || prefixesIn(scope).length > MAX_NAMESPACES)
    throw malformed('it declares too many namespaces, or too long ones.')
  return scope
}

/** All prefixes in scope, including inherited ones. */
function prefixesIn(namespaces: Record<string, string>): string[] {
  const prefixes: string[] = []
  for (const prefix in namespaces) prefixes.push(prefix)
  return prefixes
}

/** @throws INVALID_INPUT */
export function parseXml(text: string): Element {
  // Responses are XML 1.0, which cannot represent everything of 1.1.
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true })
  const open: Element[] = []
  let root: Element | undefined
  let count = 0
  parser.on('error', error => {
    throw malformed(error.message.slice(0, 200))
  })
  parser.on('doctype', () => {
    throw malformed('document type declarations are not allowed.')
  })
  parser.on('opentag', tag => {
    count++
    if (count > MAX_ELEMENTS || open.length >= MAX_DEPTH)
      throw malformed('it has too many elements.')
    const above = open.at(-1)
    const attributes = Object.values(tag.attributes)
    if (attributes.length > MAX_ATTRIBUTES) throw malformed('an element has too many attributes.')
    const element: Element = {
      ns: tag.uri,
      name: tag.local,
      tag: tag.name,
      attributes: attributes.flatMap(({ name, uri, value }) =>
        uri === XMLNS ? [] : [[name, value]],
      ),
      namespaces: scopeOf(above?.namespaces ?? null, tag.ns),
      children: [],
    }
    if (above) above.children.push(element)
    else root = element
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  const add = (more: string) => void open.at(-1)?.children.push(more)
  parser.on('text', add)
  parser.on('cdata', add)
  parser.write(text).close()
  if (!root) throw malformed('it has no element.')
  return root
}

const replacements: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** Markup, and characters that XML 1.0 does not allow. */
const special = /[&<>"]|[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

/** Matches most texts, which need no escaping, at much less cost. */
const harmless = /^[ !#-%'-;=?-~]*$/

/**
 * Escapes a text for XML. Characters that XML cannot represent, which names may contain, become
 * U+FFFD.
 */
export const escapeXml = (text: string): string =>
  harmless.test(text) ? text : text.replace(special, one => replacements[one] ?? '\uFFFD')

/** A limit for the output, and the error for exceeding it. */
interface Room {
  bytes: number
  full: () => Error
}

/**
 * Serializes an element so that it keeps its meaning elsewhere, with the inherited namespaces that
 * it uses, including in values like `p:name`.
 * @throws the error of `full` as soon as the output is too long
 */
export function writeElement(element: Element, { bytes, full }: Room): string {
  const { namespaces } = element
  const room = { bytes, full }
  const written = write(element, namespaces, room)
  const uses = (prefix: string) =>
    prefix === '' || written.start.includes(`${prefix}:`) || written.rest.includes(`${prefix}:`)
  const needed = prefixesIn(namespaces).filter(
    prefix => Object.hasOwn(namespaces, prefix) || uses(prefix),
  )
  const declared = declarations(
    needed.flatMap(prefix => (namespaces[prefix] ? [[prefix, namespaces[prefix]]] : [])),
  )
  take(declared, room)
  return written.start + declared + written.rest
}

const declarations = (namespaces: [prefix: string, uri: string][]): string =>
  namespaces
    .filter(([prefix]) => prefix !== 'xml' && prefix !== 'xmlns')
    .map(([prefix, uri]) => ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeXml(uri)}"`)
    .join('')

function take(text: string, room: Room): string {
  room.bytes -= Buffer.byteLength(text)
  if (room.bytes < 0) throw room.full()
  return text
}

/**
 * Splits the start tag around the place for further declarations.
 * @param above the namespaces in the surrounding scope
 */
function write(
  { tag, attributes, namespaces, children }: Element,
  above: Record<string, string>,
  room: Room,
): { start: string; rest: string } {
  const own =
    namespaces === above
      ? []
      : Object.entries(namespaces).filter(([prefix, uri]) => (above[prefix] ?? '') !== uri)
  const given = attributes.map(
    ([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;')}"`,
  )
  const start = take(`<${tag}${declarations(own)}`, room)
  const end = children.length === 0 ? '/>' : `</${tag}>`
  let rest = take(`${given.join('')}${children.length === 0 ? '' : '>'}`, room)
  for (const child of children) {
    if (isElement(child)) {
      const inner = write(child, namespaces, room)
      rest += inner.start + inner.rest
    } else rest += take(escapeXml(child), room)
  }
  return { start, rest: rest + take(end, room) }
}

export const XML_TYPE = 'application/xml; charset=utf-8'
export const XML_START = '<?xml version="1.0" encoding="utf-8"?>\n'
