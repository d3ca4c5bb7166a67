import { once } from 'node:events'
import { FOLDER } from '../../db/models/entry.ts'
import { inParts } from '../../db/queries/sql.ts'
import { write as answer } from '../http/write.ts'
import { AppError } from '../runtime/errors.ts'
import { covering, type Lock } from '../services/tree/dav-lock.ts'
import type { Properties, PropertyName } from '../services/tree/dav-property.ts'
import { MAX_DAV_ASKED } from '../values/limits.ts'
import { hrefIn, hrefOf } from './address.ts'
import { depthOf, type Exchange, hrefOfLock } from './exchange.ts'
import { lettersOf, READ_ONLY } from './letters.ts'
import type { Place, Readable } from './place.ts'
import { type Asked, asksQuota, type Described, isLive, propertyWriter } from './properties.ts'
import type { Resource } from './reading.ts'
import { DavError } from './refusal.ts'
import {
  childOf,
  type Element,
  elementsOf,
  isDav,
  MULTISTATUS,
  OWNCLOUD,
  readXml,
  responseOf,
  XML_START,
  XML_TYPE,
} from './xml.ts'

/** The number of entries that are read and written at a time. */
const PAGE = 1000
/** The number of entries whose dead properties are read at a time. */
const WITH_DEAD = 200
/** The approximate size, in characters, of the chunks of a response. */
const PART = 64 * 1024
const END = '</d:multistatus>\n'
const NONE: Properties = new Map()
const NO_ONES = new Map<string, Properties>()
const NO_IDS: ReadonlySet<string> = new Set()
const NO_TYPES: ReadonlyMap<string, string> = new Map()

/**
 * The properties that the body requests. Without a body, all (RFC 4918, section 9.1).
 * @throws INVALID_INPUT
 */
async function readAsked({ incoming: { req } }: Exchange): Promise<Asked> {
  const body = await readXml(req)
  if (!body) return { kind: 'all', also: [] }
  if (!isDav(body, 'propfind')) throw new DavError(400, 'The body is not a propfind element.')
  if (childOf(body, 'propname')) return { kind: 'names' }
  const prop = childOf(body, 'prop')
  if (prop) return { kind: 'some', properties: propertiesIn(prop) }
  if (!childOf(body, 'allprop'))
    throw new DavError(400, 'The body requests nothing. Send allprop, propname or prop.')
  const include = childOf(body, 'include')
  return { kind: 'all', also: include ? propertiesIn(include) : [] }
}

/**
 * The distinct names.
 * @throws DavError 400 for more properties than a resource can have
 */
export function propertiesIn(element: Element): PropertyName[] {
  const names = [
    ...new Map(
      elementsOf(element).map(({ ns, name }) => [`${ns}\n${name}`, { ns, name }]),
    ).values(),
  ]
  if (names.length > MAX_DAV_ASKED)
    throw new DavError(400, `Ask for up to ${MAX_DAV_ASKED} properties at once.`)
  return names
}

/**
 * Handles PROPFIND for a resource and, with a depth of 1, for the entries in it, one page at a
 * time.
 */
export async function propfind(exchange: Exchange): Promise<void> {
  const { place } = exchange
  const depth = depthOf(exchange, ['0', '1', 'infinity'], 'infinity')
  if (depth === 'infinity')
    throw new DavError(
      403,
      'Use a Depth of 0 or 1. This service does not list a folder with all its subfolders at once.',
      {
        condition: 'propfind-finite-depth',
      },
    )
  const asked = await readAsked(exchange)
  const write = propertyWriter(asked)
  if (!place.reading) return send(exchange, virtual(exchange, place, depth === '1', write))
  const found = await place.reading.find(place.names)
  if (!found) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  return send(exchange, described(exchange, place, found, { depth, asked, write }))
}

async function* virtual(
  { face: { prefix }, services }: Exchange,
  { names, title, children, resource: itself }: Place & { reading?: undefined },
  isDeep: boolean,
  write: (of: Described) => string,
): AsyncGenerator<string> {
  const of = {
    locks: [],
    dead: NONE,
    quota: null,
    letters: READ_ONLY,
    isFavourite: false,
    hasPreview: previewTest(services),
  }
  const top = { ...of, resource: itself, title, createdAt: 0 }
  yield responseOf(hrefOf(prefix, names, true), write(top))
  if (!isDeep) return
  for (const { name, title: called, createdAt, resource, extra } of children) {
    const isFolder = resource === undefined || resource.kind === FOLDER
    yield responseOf(
      hrefOf(prefix, [...names, name], isFolder),
      write({
        ...of,
        resource,
        extra,
        title: called,
        createdAt,
        letters: resource?.letters ?? READ_ONLY,
      }),
    )
  }
}

const previewTest =
  ({ previews }: Exchange['services']) =>
  ({ contentType, size }: Resource): boolean =>
    previews.isFor({ fileType: contentType, size })

/** The locks of a place's drive. A read-only share has none. */
async function locksAt(
  { services }: Exchange,
  place: Readable,
): Promise<{ chain: string[]; all: Lock[] }> {
  const { drive } = place
  // A share is read with its token, and locked with the right to change it.
  if (!drive || (drive.share && drive.refusal('write'))) return { chain: [], all: [] }
  const { tree } = drive.open(drive.share ? 'write' : 'read')
  const all = await services.davLocks.inForce(tree)
  if (all.length === 0) return { chain: [], all }
  const { chain } = await services.davLocks.look(tree, place.names, all)
  return { chain, all }
}

/** The entries of a page in batches, with their dead properties. */
async function* withDead(
  { services }: Exchange,
  page: Resource[],
): AsyncGenerator<{ rows: Resource[]; dead: Map<string, Properties> }> {
  const having = new Set(await services.davProperties.having(page.map(({ id }) => id)))
  for (const rows of having.size > WITH_DEAD ? inParts(page, WITH_DEAD) : [page]) {
    const ids = rows.flatMap(({ id }) => (having.has(id) ? [id] : []))
    yield { rows, dead: ids.length === 0 ? new Map() : await services.davProperties.of(ids) }
  }
}

/** Whether a property of ownCloud is requested by its name. */
const asksFor = (asked: Asked, wanted: string): boolean =>
  asked.kind !== 'names' &&
  (asked.kind === 'all' ? asked.also : asked.properties).some(
    ({ ns, name }) => ns === OWNCLOUD && name === wanted,
  )

/** The quota of the drive, shown only to callers whose drive it is. */
async function quotaOf({ services }: Exchange, { drive }: Readable): Promise<Described['quota']> {
  if (!drive || drive.share) return null
  const usage = (await services.drives.usagesOf([drive.id])).get(drive.id)
  const used = usage?.usedBytes ?? 0
  return { used, available: Math.max(0, drive.open('read').limits.maxTotalStorageBytes - used) }
}

async function* described(
  exchange: Exchange,
  place: Readable,
  found: Resource,
  { depth, asked, write }: { depth: string; asked: Asked; write: (of: Described) => string },
): AsyncGenerator<string> {
  const { services } = exchange
  const { base, names, title, reading } = place
  const isFolder = found.kind === FOLDER
  const { chain, all: locks } = await locksAt(exchange, place)
  const own = covering(chain, locks).map(lock => ({
    lock,
    root: hrefOfLock(exchange.face, place, chain, lock.entryId, isFolder),
  }))
  const quota = asksQuota(asked) ? await quotaOf(exchange, place) : null
  const isDead = place.drive !== null && (asked.kind !== 'some' || !asked.properties.every(isLive))
  const href = hrefOf(exchange.face.prefix, [...base, ...names], isFolder)
  const dead = (isDead && (await services.davProperties.of([found.id])).get(found.id)) || NONE
  const favourites = async (ids: string[]): Promise<ReadonlySet<string>> =>
    asksFor(asked, 'favorite') ? services.favourites.entriesAmong(exchange.caller, ids) : NO_IDS
  const shareTypes = (ids: string[]) => shareTypesOf(exchange, place, asked, ids)
  const itself = {
    resource: found,
    title: names.at(-1) ?? title,
    createdAt: found.createdAt,
    locks: own,
    dead,
    quota,
    letters: lettersOf(place, { isFolder, isRoot: names.length === 0 }),
    isFavourite: (await favourites([found.id])).has(found.id),
    shareTypes: (await shareTypes([found.id])).get(found.id),
    hasPreview: previewTest(services),
  }
  yield responseOf(href, write(itself))
  if (depth !== '1' || !isFolder) return
  const below = {
    folder: lettersOf(place, { isFolder: true, isRoot: false }),
    file: lettersOf(place, { isFolder: false, isRoot: false }),
  }
  const deep = own.filter(({ lock }) => lock.isDeep)
  const single = Map.groupBy(locks, ({ entryId }) => entryId)
  const locksOn = (id: string, at: string): Described['locks'] =>
    single.size === 0
      ? deep
      : [...deep, ...(single.get(id) ?? []).map(lock => ({ lock, root: at }))]
  for await (const page of reading.pages(found, names, PAGE))
    for await (const { rows, dead } of isDead
      ? withDead(exchange, page)
      : [{ rows: page, dead: NO_ONES }]) {
      let text = ''
      const ids = rows.map(({ id }) => id)
      const [marked, shared] = [await favourites(ids), await shareTypes(ids)]
      for (const row of rows) {
        const at = hrefIn(href, row.name, row.kind === FOLDER)
        const { id, name: title, createdAt } = row
        text += responseOf(
          at,
          write({
            resource: row,
            title,
            createdAt,
            locks: locksOn(id, at),
            dead: dead.get(id) ?? NONE,
            quota,
            letters: row.letters ?? (row.kind === FOLDER ? below.folder : below.file),
            isFavourite: marked.has(id),
            shareTypes: shared.get(id),
            hasPreview: itself.hasPreview,
          }),
        )
        if (text.length > PART) {
          yield text
          text = ''
        }
      }
      yield text
    }
}

/** The numbers of ownCloud for a share with a person, and for one by a link. */
const SHARE_TYPES = { direct: 0, link: 3 } as const

/** How the caller shares entries of their own drive, if the request asks for it. */
async function shareTypesOf(
  { services, caller }: Exchange,
  { drive }: Readable,
  asked: Asked,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (!drive?.personId || !asksFor(asked, 'share-types')) return NO_TYPES
  const kinds = await services.shares.kindsOf(caller, ids)
  return new Map(
    Array.from(kinds, ([id, of]) => [
      id,
      of.map(kind => `<oc:share-type>${SHARE_TYPES[kind]}</oc:share-type>`).join(''),
    ]),
  )
}

/**
 * Streams a multistatus. Errors before the first chunk can still change the status. A small
 * response is sent in one piece.
 */
async function send(
  { incoming: { req, res, signal } }: Exchange,
  parts: AsyncGenerator<string>,
): Promise<void> {
  const headers = { 'content-type': XML_TYPE, 'cache-control': 'no-store' }
  let text = `${XML_START}${MULTISTATUS}\n`
  while (text.length <= PART) {
    const { done, value } = await parts.next()
    if (done) return answer(res, req, { status: 207, headers, body: text + END })
    text += value
  }
  res.writeHead(207, headers)
  res.write(text)
  try {
    for await (const part of parts) {
      if (res.destroyed || signal.aborted) return
      if (part !== '' && !res.write(part)) await once(res, 'drain', { signal })
    }
  } catch (error) {
    // No error can be sent after the headers, so cut the response off, which makes it invalid.
    res.destroy()
    if (!signal.aborted) throw error
    return
  }
  res.end(END)
}
