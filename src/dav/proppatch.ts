import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../runtime/errors.ts'
import { type PropertyChange, propertiesTooLarge } from '../services/tree/dav-property.ts'
import { MAX_DAV_PROPERTY_BYTES } from '../values/limits.ts'
import { hrefOf } from './address.ts'
import type { Exchange } from './exchange.ts'
import { lookAt } from './files.ts'
import { requireDrive } from './place.ts'
import { emptyElement, isLive } from './properties.ts'
import { DavError } from './refusal.ts'
import { childOf, type Element, elementsOf, isDav, readXml, writeElement, XML_START, XML_TYPE } from './xml.ts'

/** The changes that a body asks for, in their order (RFC 4918, section 9.2). @throws INVALID_INPUT, QUOTA_EXCEEDED, DavError 400 */
async function readChanges({ incoming: { req } }: Exchange): Promise<PropertyChange[]> {
  const body = await readXml(req)
  if (!body || !isDav(body, 'propertyupdate')) throw new DavError(400, 'The body is no propertyupdate element.')
  let bytes = MAX_DAV_PROPERTY_BYTES
  const written = (element: Element): string => {
    const content = writeElement(element, { bytes, full: propertiesTooLarge })
    bytes -= Buffer.byteLength(content)
    return content
  }
  const changes = elementsOf(body).flatMap(step => {
    if (!isDav(step, 'set', 'remove')) return []
    const prop = childOf(step, 'prop')
    return (prop ? elementsOf(prop) : []).map(element => ({
      ...{ ns: element.ns, name: element.name },
      content: step.name === 'set' ? written(element) : null,
    }))
  })
  if (changes.length === 0) throw new DavError(400, 'The body names no property.')
  return changes
}

/** Answers PROPPATCH: all changes are made, or none. */
export async function proppatch(exchange: Exchange): Promise<void> {
  const { incoming, services, caller, submitted } = exchange
  const place = requireDrive(exchange.place)
  const { drive, base, names } = place
  const { node } = await lookAt(exchange, place, 'write')
  if (!node) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  const changes = await readChanges(exchange)
  const isProtected = changes.some(isLive)
  if (!isProtected) {
    const guarded = services.davLocks.guarded(drive.open('write').tree, [{ names, how: 'content' }], submitted)
    await services.davProperties.change(guarded, names, changes, caller)
  }
  const props = new Map(changes.map(change => [emptyElement(change), change]))
  const group = (elements: string[], status: string, more = '') =>
    elements.length === 0
      ? ''
      : `<D:propstat><D:prop>${elements.join('')}</D:prop><D:status>HTTP/1.1 ${status}</D:status>${more}</D:propstat>`
  const [refused, others] = [true, false].map(one =>
    [...props].filter(([, change]) => isLive(change) === one).map(([element]) => element),
  ) as [string[], string[]]
  const condition = '<D:error><D:cannot-modify-protected-property/></D:error>'
  const parts = isProtected
    ? group(refused, '403 Forbidden', condition) + group(others, '424 Failed Dependency')
    : group(others, '200 OK')
  const href = hrefOf([...base, ...names], node.kind === FOLDER)
  const body = `${XML_START}<D:multistatus xmlns:D="DAV:"><D:response><D:href>${href}</D:href>${parts}</D:response></D:multistatus>\n`
  incoming.res.writeHead(207, { 'content-type': XML_TYPE, 'content-length': Buffer.byteLength(body) }).end(body)
}
