import { FOLDER } from '../../db/models/entry.ts'
import type { Lock } from '../services/tree/dav-lock.ts'
import { type Properties, type PropertyName, propertyHash } from '../services/tree/dav-property.ts'
import { entryNumber } from '../values/entry-number.ts'
import { MAX_DAV_ASKED_BYTES } from '../values/limits.ts'
import { etagOf, type Tagged, tagOf } from './place.ts'
import type { Resource } from './reading.ts'
import { DavError } from './refusal.ts'
import { DAV, escapeXml, NEXTCLOUD, OWNCLOUD, parseXml, tagIn } from './xml.ts'

/** The data from which a resource's properties are computed. */
export interface Described {
  /** Undefined for a virtual collection, which is not a folder of a drive. */
  resource: Resource | undefined
  /** The display name. */
  title: string
  createdAt: number
  /** The locks that apply to the resource, with the URLs of their roots. */
  locks: readonly { lock: Lock; root: string }[]
  dead: Properties
  /** The drive's quota in bytes; null if it is not requested. */
  quota: { used: number; available: number } | null
  /** The rights of the caller, in the letters of `oc:permissions`. */
  letters: string
  /** Whether it is a favourite of the caller. */
  isFavourite: boolean
  /** How the caller shares it, as XML in the form of ownCloud. */
  shareTypes?: string | undefined
  /** Further live properties: their XML content, by namespace and name separated by a newline. */
  extra?: ReadonlyMap<string, string> | undefined
  /** Whether files of this type and size have previews. */
  hasPreview: (file: Resource) => boolean
}

const isFile = ({ resource }: Described): boolean =>
  resource !== undefined && resource.kind !== FOLDER

const SCOPES = ['exclusive', 'shared']
  .map(
    scope =>
      `<d:lockentry><d:lockscope><d:${scope}/></d:lockscope><d:locktype><d:write/></d:locktype></d:lockentry>`,
  )
  .join('')

/** The value of the lockdiscovery property (RFC 4918, section 15.8). */
export const activeLocks = (locks: Described['locks']): string =>
  locks
    .map(({ lock: { id, isShared, isDeep, owner, expiresAt }, root }) => {
      const seconds = Math.max(0, Math.ceil((expiresAt - Date.now()) / 1000))
      return `<d:activelock><d:locktype><d:write/></d:locktype><d:lockscope><d:${isShared ? 'shared' : 'exclusive'}/></d:lockscope><d:depth>${isDeep ? 'infinity' : '0'}</d:depth>${owner}<d:timeout>Second-${seconds}</d:timeout><d:locktoken><d:href>urn:uuid:${id}</d:href></d:locktoken><d:lockroot><d:href>${escapeXml(root)}</d:href></d:lockroot></d:activelock>`
    })
    .join('')

/**
 * Formats dates from a cached day, which most entries of a listing share, and the time of day. This
 * takes a third of the time.
 */
function dateFormat(dayOf: (ms: number) => string, after: (ms: number) => string) {
  let known = Number.NaN
  let day = ''
  return (ms: number): string => {
    const number = Math.floor(ms / DAY_MS)
    if (number !== known) {
      known = number
      day = dayOf(number * DAY_MS)
    }
    const seconds = Math.floor((ms - number * DAY_MS) / 1000)
    const time = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
    return day + time + after(ms)
  }
}

const DAY_MS = 86_400_000
const two = (n: number): string => (n < 10 ? `0${n}` : String(n))

/** RFC 9110, section 5.6.7: `Thu, 26 Nov 2026 20:15:00 GMT`. */
export const httpDate = dateFormat(
  ms => new Date(ms).toUTCString().slice(0, -12),
  () => ' GMT',
)
/** RFC 3339: `2026-11-26T20:15:00.000Z`. */
export const rfc3339 = dateFormat(
  ms => new Date(ms).toISOString().slice(0, -13),
  ms => `.${String(ms % 1000).padStart(3, '0')}Z`,
)

/**
 * The live properties (RFC 4918, section 15; RFC 4331) with their XML content; null if a resource
 * lacks the property.
 */
const live: Record<string, (of: Described) => string | null> = {
  resourcetype: of => (isFile(of) ? '' : '<d:collection/>'),
  displayname: ({ title }) => escapeXml(title),
  getcontentlength: of => (isFile(of) ? String(of.resource?.size ?? 0) : null),
  getcontenttype: of =>
    isFile(of) ? escapeXml(of.resource?.contentType || 'application/octet-stream') : null,
  getetag: ({ resource }) => {
    const state = resource?.kind === FOLDER ? resource.changeStamp : resource?.contentRevision
    return resource && state != null ? `&quot;${tagOf(resource)}&quot;` : null
  },
  getlastmodified: of =>
    of.resource ? httpDate(isFile(of) ? of.resource.modifiedAt : of.resource.updatedAt) : null,
  creationdate: ({ createdAt }) => (createdAt > 0 ? rfc3339(createdAt) : null),
  supportedlock: ({ resource }) => (resource ? SCOPES : ''),
  lockdiscovery: ({ locks }) => activeLocks(locks),
  'quota-available-bytes': ({ quota }) => (quota ? String(quota.available) : null),
  'quota-used-bytes': ({ quota }) => (quota ? String(quota.used) : null),
}

/** The namespace of the properties that Windows sets on each file. */
const WINDOWS = 'urn:schemas-microsoft-com:'

/** The id of an entry in the form that ownCloud clients expect. */
export const remoteId = ({ id }: { id: string }): string => `${entryNumber(id)}satchel`

/** The ETag and the id of an entry as headers. */
export const identityOf = (entry: Tagged): Record<string, string> => ({
  etag: etagOf(entry),
  'oc-etag': etagOf(entry),
  'oc-fileid': remoteId(entry),
})

/** Live properties from outside the RFCs. They are only returned when requested by name. */
const foreign: Record<string, (of: Described) => string | null> = {
  // The name and format of ownCloud and rclone, in seconds since 1970.
  [`${DAV}\nlastmodified`]: of =>
    isFile(of) ? String(Math.floor((of.resource?.modifiedAt ?? 0) / 1000)) : null,
  [`${WINDOWS}\nWin32LastModifiedTime`]: of =>
    isFile(of) ? httpDate(of.resource?.modifiedAt ?? 0) : null,
  [`${OWNCLOUD}\nid`]: ({ resource }) => (resource ? remoteId(resource) : null),
  [`${OWNCLOUD}\nfileid`]: ({ resource }) => (resource ? entryNumber(resource.id) : null),
  [`${OWNCLOUD}\nsize`]: ({ resource }) => (resource ? String(resource.size) : null),
  [`${OWNCLOUD}\npermissions`]: ({ letters }) => letters,
  [`${OWNCLOUD}\nshare-types`]: ({ shareTypes = '' }) => shareTypes,
  [`${OWNCLOUD}\nfavorite`]: ({ isFavourite }) => (isFavourite ? '1' : '0'),
  [`${NEXTCLOUD}\nhas-preview`]: of =>
    of.resource ? String(isFile(of) && of.hasPreview(of.resource)) : null,
  [`${OWNCLOUD}\nchecksums`]: of =>
    isFile(of) && of.resource?.md5 ? `<oc:checksum>MD5:${of.resource.md5}</oc:checksum>` : null,
}

/**
 * Properties of ownCloud and Nextcloud that clients request for each entry and this service does
 * not have. Clients cannot set them, so they are not looked for among the stored properties.
 */
const absent = new Set([
  ...namesOf(
    OWNCLOUD,
    `downloadURL dDC owner-id owner-display-name comments-unread data-fingerprint tags
     privatelink`,
  ),
  ...namesOf(
    NEXTCLOUD,
    `is-encrypted mount-type note sharees rich-workspace creation_time upload_time lock lock-owner
     lock-owner-type lock-owner-displayname lock-owner-editor lock-time lock-timeout lock-token
     system-tags hidden metadata-photos-size metadata-photos-gps metadata-photos-exif
     metadata-photos-original_date_time metadata-files-live-photo`,
  ),
])

/** The key of a property in the tables above. */
const keyOf = ({ ns, name }: PropertyName): string => `${ns}\n${name}`

function namesOf(ns: string, names: string): string[] {
  return names.split(/\s+/).map(name => `${ns}\n${name}`)
}

const QUOTA = ['quota-available-bytes', 'quota-used-bytes']
/** RFC 4331, section 2: allprop excludes the quota properties. */
const usual = Object.keys(live).filter(name => !QUOTA.includes(name))

const nothing = () => null

/** The reader of a live property; undefined for a dead property. */
function readerOf({ ns, name }: PropertyName): ((of: Described) => string | null) | undefined {
  if (ns === DAV && Object.hasOwn(live, name)) return live[name]
  const key = keyOf({ ns, name })
  if (absent.has(key)) return nothing
  return Object.hasOwn(foreign, key) ? foreign[key] : undefined
}

/**
 * Whether this is a folder time that Windows sets. The service does not interpret it, and stores it
 * as a dead property.
 */
const mayBeDead = ({ ns }: PropertyName): boolean => ns === WINDOWS

/** Whether the service computes this property, for any resource. */
export const isLive = (property: PropertyName): boolean =>
  readerOf(property) !== undefined && !mayBeDead(property)

export const isChecksums = ({ ns, name }: PropertyName): boolean =>
  ns === OWNCLOUD && name === 'checksums'

export const isFavouriteMark = ({ ns, name }: PropertyName): boolean =>
  ns === OWNCLOUD && name === 'favorite'

/** Whether this is a file's modification time, which clients may set. */
export const isTime = ({ ns, name }: PropertyName): boolean =>
  ns === DAV
    ? ['lastmodified', 'getlastmodified'].includes(name)
    : ns === WINDOWS && name === 'Win32LastModifiedTime'

/** The properties that a PROPFIND requests. */
export type Asked =
  | { kind: 'names' }
  | { kind: 'all'; also: PropertyName[] }
  | { kind: 'some'; properties: PropertyName[] }

export const asksQuota = (asked: Asked): boolean =>
  asked.kind !== 'names' &&
  (asked.kind === 'all' ? asked.also : asked.properties).some(
    ({ ns, name }) => ns === DAV && QUOTA.includes(name),
  )

/** The name of a property as an empty element of a multistatus. */
export function emptyElement(property: PropertyName): string {
  const [tag, needs] = tagIn(property)
  return `<${tag}${needs}/>`
}

const filled = (property: PropertyName, content: string): string => {
  if (content === '') return emptyElement(property)
  const [tag, needs] = tagIn(property)
  return `<${tag}${needs}>${content}</${tag}>`
}

const propstat = (props: string, status: string): string =>
  `<d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`

/**
 * Returns a function that writes the requested properties of a resource as one part of a response.
 * @throws DavError 400 if the names alone are too long
 */
export function propertyWriter(asked: Asked): (of: Described) => string {
  if (asked.kind === 'names')
    return of => {
      const own = usual.filter(name => live[name]?.(of) !== null).map(name => `<d:${name}/>`)
      const dead = [...of.dead.values()].map(content => emptyElement(parseXml(content)))
      return propstat([...own, ...dead].join(''), '200 OK')
    }
  if (asked.kind === 'all') {
    const also = asked.also
      .filter(({ ns, name }) => ns === DAV && QUOTA.includes(name))
      .map(({ name }) => name)
    const wanted = [...usual, ...also].flatMap(name =>
      live[name] ? [{ name, read: live[name] }] : [],
    )
    return of => {
      let found = ''
      for (const { name, read } of wanted) {
        const content = read(of)
        if (content !== null) found += filled({ ns: DAV, name }, content)
      }
      for (const content of of.dead.values()) found += content
      return propstat(found, '200 OK')
    }
  }
  // Listing entries may lack most of the requested properties.
  const names = asked.properties.map(emptyElement)
  if (names.reduce((sum, name) => sum + Buffer.byteLength(name), 0) > MAX_DAV_ASKED_BYTES)
    throw new DavError(400, 'The names of the properties are too long. Ask for fewer at once.')
  // Prepared once for all resources of a listing.
  const [never = [], known = []] = [true, false].map(isAbsent =>
    asked.properties.filter(property => absent.has(keyOf(property)) === isAbsent),
  )
  const absentHere = never.map(emptyElement).join('')
  const wanted = known.map(property => {
    const [tag, needs] = tagIn(property)
    return {
      start: `<${tag}${needs}>`,
      end: `</${tag}>`,
      key: keyOf(property),
      read: readerOf(property),
      hash: propertyHash(property),
      missing: emptyElement(property),
    }
  })
  return of => {
    let found = ''
    let missing = absentHere
    for (const { start, end, key, read, hash, missing: element } of wanted) {
      const content = read?.(of) ?? of.extra?.get(key) ?? null
      const dead = content === null ? of.dead.get(hash) : undefined
      if (content !== null) found += content === '' ? element : start + content + end
      else if (dead !== undefined) found += dead
      else missing += element
    }
    const ok = found !== '' || missing === '' ? propstat(found, '200 OK') : ''
    return ok + (missing === '' ? '' : propstat(missing, '404 Not Found'))
  }
}
