import { FOLDER } from '../../db/models/entry.ts'
import { mayUsePrivateFiles } from '../access/scopes.ts'
import { write } from '../http/write.ts'
import { AppError, Forbidden } from '../runtime/errors.ts'
import { type PropertyChange, propertiesTooLarge } from '../services/tree/dav-property.ts'
import { MAX_DAV_PROPERTY_BYTES } from '../values/limits.ts'
import { fromDate } from '../values/modified-at.ts'
import { hrefOf } from './address.ts'
import type { Exchange } from './exchange.ts'
import { lookAt } from './files.ts'
import { requireDrive } from './place.ts'
import { emptyElement, isChecksums, isFavouriteMark, isLive, isTime } from './properties.ts'
import type { Resource } from './reading.ts'
import { DavError } from './refusal.ts'
import {
  childOf,
  type Element,
  elementsOf,
  isDav,
  multistatus,
  readXml,
  responseOf,
  textOf,
  writeElement,
} from './xml.ts'

/** A requested change with the element to set; null to remove the property. */
interface Asked extends PropertyChange {
  element: Element | null
}

/**
 * Parses the requested changes in order (RFC 4918, section 9.2).
 * @throws INVALID_INPUT, QUOTA_EXCEEDED, DavError 400
 */
async function readChanges({ incoming: { req } }: Exchange): Promise<Asked[]> {
  const body = await readXml(req)
  if (!body || !isDav(body, 'propertyupdate'))
    throw new DavError(400, 'The body is not a propertyupdate element.')
  let bytes = MAX_DAV_PROPERTY_BYTES
  const written = (element: Element): string => {
    const content = writeElement(element, { bytes, full: propertiesTooLarge })
    bytes -= Buffer.byteLength(content)
    return content
  }
  const changes = elementsOf(body).flatMap(step => {
    if (!isDav(step, 'set', 'remove')) return []
    const prop = childOf(step, 'prop')
    const sets = step.name === 'set'
    return (prop ? elementsOf(prop) : []).map(element => ({
      ns: element.ns,
      name: element.name,
      content: sets ? written(element) : null,
      element: sets ? element : null,
    }))
  })
  if (changes.length === 0) throw new DavError(400, 'The body names no property.')
  return changes
}

/** The outcome of a change: made, refused, or nothing to do. */
type Verdict =
  | { status: '200 OK'; dead?: true; modifiedAt?: number | null }
  | { status: '403 Forbidden' | '409 Conflict' }

/**
 * rclone sends the file's current checksum with its time, because other services forget the
 * checksum then.
 */
const isChecksumOf = (file: Resource | null, element: Element): boolean =>
  file !== null &&
  elementsOf(element).map(textOf).join('').trim().toLowerCase() === `md5:${file.md5}`

/** @param file the current file; null for a folder, or if no checksum needs checking */
function verdictOn(change: Asked, isFile: boolean, file: Resource | null): Verdict {
  const { element } = change
  if (isFile && isTime(change)) {
    const modifiedAt = element && fromDate(textOf(element))
    return modifiedAt === undefined ? { status: '409 Conflict' } : { status: '200 OK', modifiedAt }
  }
  if (!isLive(change)) return { status: '200 OK', dead: true }
  return element && isChecksums(change) && isChecksumOf(file, element)
    ? { status: '200 OK' }
    : { status: '403 Forbidden' }
}

const CONDITION = '<d:error><d:cannot-modify-protected-property/></d:error>'
const NO_TIME =
  '<d:responsedescription>This is no time of a file: a date as HTTP writes it, or seconds since 1970, from 1900 to 2199.</d:responsedescription>'

/**
 * Marks an entry as a favourite of the caller, or removes the mark. The entry does not change, so
 * this requires only the right to read it.
 * @throws FORBIDDEN in a share, INSUFFICIENT_SCOPE, QUOTA_EXCEEDED
 */
async function mark(exchange: Exchange, asked: readonly Asked[]): Promise<void> {
  const { caller, services } = exchange
  const { drive, reading, base, names } = requireDrive(exchange.place)
  if (drive.share)
    throw new Forbidden('Mark the share itself as a favourite in Satchel, not what is in it.')
  const found = await reading.find(names)
  if (!found) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  mayUsePrivateFiles(caller, 'write')
  const last = asked.at(-1)?.element
  const isMarked = last != null && textOf(last).trim() !== '0'
  const marked = { entryIds: [found.id], shareIds: [] }
  if (isMarked) await services.favourites.add(caller, marked, null)
  else await services.favourites.remove(caller, marked)
  answer(exchange, hrefOf(exchange.face.prefix, [...base, ...names], found.kind === FOLDER), [
    `<d:propstat><d:prop><oc:favorite/></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`,
  ])
}

const answer = ({ incoming: { req, res } }: Exchange, href: string, parts: readonly string[]) =>
  write(res, req, multistatus([responseOf(href, parts.join(''))]))

/** Handles PROPPATCH: makes all changes, or none. */
export async function proppatch(exchange: Exchange): Promise<void> {
  const { services, caller, submitted, ifExpected } = exchange
  const place = requireDrive(exchange.place)
  const { drive, reading, base, names } = place
  // Members who may only read a workspace can mark its files.
  const mayOnlyMark = drive.workspace !== null && drive.refusal('write') !== null
  const marks = mayOnlyMark ? await readChanges(exchange) : []
  if (marks.length > 0 && marks.every(isFavouriteMark)) return mark(exchange, marks)
  const { node, expected } = await lookAt(exchange, place, 'write')
  if (!node) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  const asked = await readChanges(exchange)
  if (asked.every(isFavouriteMark)) return mark(exchange, asked)
  const isFile = node.kind !== FOLDER
  const file =
    isFile && asked.some(one => one.element && isChecksums(one)) ? await reading.find(names) : null
  const judged = asked.map(change => ({ change, verdict: verdictOn(change, isFile, file) }))
  const isMade = judged.every(({ verdict }) => verdict.status === '200 OK')
  if (isMade) {
    const changes = judged.flatMap(({ change, verdict }) => ('dead' in verdict ? [change] : []))
    const times = judged.flatMap(({ verdict }) =>
      'modifiedAt' in verdict ? [verdict.modifiedAt] : [],
    )
    const guarded = services.davLocks.guarded(
      drive.open('write').tree,
      [{ names, how: 'content' }],
      submitted,
    )
    const made = {
      changes,
      modifiedAt: times.at(-1),
      expected: expected ?? ifExpected ?? file?.revision,
    }
    await services.davProperties.change(guarded, names, made, caller)
  }
  const statuses = new Map<string, string>()
  for (const { change, verdict } of judged) {
    const element = emptyElement(change)
    const status = isMade || verdict.status !== '200 OK' ? verdict.status : '424 Failed Dependency'
    if (statuses.get(element) === undefined || verdict.status !== '200 OK')
      statuses.set(element, status)
  }
  const parts = [...Map.groupBy(statuses, ([, status]) => status)].map(([status, of]) => {
    const more = status.startsWith('403') ? CONDITION : status.startsWith('409') ? NO_TIME : ''
    const props = of.map(([element]) => element).join('')
    return `<d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 ${status}</d:status>${more}</d:propstat>`
  })
  answer(exchange, hrefOf(exchange.face.prefix, [...base, ...names], node.kind === FOLDER), parts)
}
