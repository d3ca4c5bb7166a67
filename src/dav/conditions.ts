import type { IncomingMessage } from 'node:http'
import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../runtime/errors.ts'
import { etagOf, type Tagged } from './place.ts'
import type { Resource } from './reading.ts'
import { DavError } from './refusal.ts'

/** The fields of a resource that date conditions use. */
type Dated = Pick<Resource, 'kind' | 'modifiedAt' | 'updatedAt'>

/**
 * The Last-Modified value of a file, which must not be in the future (RFC 9110, section 8.8.2.1).
 */
export const lastModified = ({ modifiedAt }: Pick<Dated, 'modifiedAt'>): number =>
  Math.min(modifiedAt, Date.now())

/** Listings may contain future dates, which prove nothing about the client's copy. */
export const isInFuture = (date: string): boolean => Date.parse(date) > Date.now()

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000

/**
 * Whether the resource has not changed here since a date, or still has that date as its
 * Last-Modified.
 */
function isUnmodified(dated: Dated, date: string): boolean {
  const since = Date.parse(date)
  if (Number.isNaN(since)) return true
  if (isInFuture(date)) return false
  return (
    wholeSeconds(dated.updatedAt) <= since ||
    (dated.kind !== FOLDER && wholeSeconds(lastModified(dated)) === since)
  )
}

const failed = () =>
  new AppError(
    'REVISION_MISMATCH',
    'This was changed meanwhile, or does not exist as expected. Read it again.',
  )

/**
 * Whether a list of entity tags contains the tag of an entry. A tag without an id matches by the
 * revision alone, as on the other interfaces.
 */
export function namesTag(list: string, found: Tagged, { weak = false } = {}): boolean {
  const tags = [...list.matchAll(/(W\/)?"([^"]*)"/g)]
    .filter(([, isWeak]) => weak || !isWeak)
    .map(([, , tag]) => `"${tag}"`)
  return tags.includes(etagOf(found)) || tags.includes(`"${found.revision}"`)
}

/**
 * Evaluates If-Match, If-Unmodified-Since and, for a change, If-None-Match (RFC 9110, section
 * 13.2.2).
 * @returns the revision that the change requires, if a condition named one
 * @throws REVISION_MISMATCH
 */
export function requirePreconditions(
  { method, headers }: IncomingMessage,
  found: Tagged | undefined,
  dated: Dated | undefined,
): number | undefined {
  const {
    'if-match': ifMatch,
    'if-none-match': ifNoneMatch,
    'if-unmodified-since': since,
  } = headers
  let expected: number | undefined
  if (ifMatch !== undefined) {
    if (!found || (ifMatch.trim() !== '*' && !namesTag(ifMatch, found))) throw failed()
    expected = found.revision ?? undefined
  } else if (since !== undefined && found) {
    if (!dated || !isUnmodified(dated, since)) throw failed()
    expected = found.revision ?? undefined
  }
  if (ifNoneMatch !== undefined && found && method !== 'GET' && method !== 'HEAD')
    if (ifNoneMatch.trim() === '*' || namesTag(ifNoneMatch, found, { weak: true })) throw failed()
  return expected
}

/** One condition of an If header. */
interface Condition {
  not: boolean
  token?: string
  etag?: string
}

/**
 * A list of an If header, with conditions on one resource. Without a named resource it concerns the
 * request URL.
 */
export interface IfList {
  resource: string | null
  conditions: Condition[]
}

const LONGEST = 8 * 1024
/**
 * Limits the work: each list may name another resource, which must be looked up. Clients send
 * fewer.
 */
const MAX_LISTS = 16

/** Reads an If header (RFC 4918, section 10.4.2). @throws DavError 400 */
export function parseIf(header: string): IfList[] {
  const wrong = () => new DavError(400, 'The If header cannot be read.')
  if (header.length > LONGEST) throw wrong()
  const lists: IfList[] = []
  let resource: string | null = null
  let rest = header.trim()
  const take = (pattern: RegExp): string[] | undefined => {
    const found = pattern.exec(rest)
    if (!found) return undefined
    rest = rest.slice(found[0].length).trimStart()
    return [...found]
  }
  while (rest !== '') {
    const tag = take(/^<([^<>]*)>/)
    if (tag) {
      // Either all lists are tagged with a resource, or none.
      if (lists.length > 0 && resource === null) throw wrong()
      resource = tag[1] ?? ''
    }
    if (!take(/^\(/)) throw wrong()
    const conditions: Condition[] = []
    while (!take(/^\)/)) {
      const not = take(/^Not\b/i) !== undefined
      const token = take(/^<([^<>]*)>/)
      const etag = token ? undefined : take(/^\[\s*((?:W\/)?"[^"]*")\s*\]/)
      if (token) conditions.push({ not, token: token[1] ?? '' })
      else if (etag) conditions.push({ not, etag: etag[1] ?? '' })
      else throw wrong()
    }
    if (conditions.length === 0) throw wrong()
    if (lists.length === MAX_LISTS)
      throw new DavError(400, `The If header has up to ${MAX_LISTS} lists.`)
    lists.push({ resource, conditions })
  }
  if (lists.length === 0) throw wrong()
  return lists
}

const LOCK_TOKEN = /^(?:urn:uuid:|opaquelocktoken:)([0-9a-f-]{36})$/i

/** The lock id in a token; undefined for a foreign token. */
export const lockIdOf = (token: string): string | undefined =>
  LOCK_TOKEN.exec(token.trim())?.[1]?.toLowerCase()

/**
 * All tokens of an If header. Each counts as submitted, even if its condition is false (RFC 4918,
 * section 10.4.1).
 */
export const tokensOf = (lists: readonly IfList[]): Set<string> =>
  new Set(
    lists.flatMap(({ conditions }) =>
      conditions.flatMap(({ token }) => lockIdOf(token ?? '') ?? []),
    ),
  )

/** The state that the conditions of an If header are checked against. */
export interface State {
  found: Tagged | undefined
  /** The ids of the locks that apply to the resource. */
  locks: ReadonlySet<string>
}

/** Whether all conditions of a list are true. */
export const isTrue = ({ conditions }: IfList, { found, locks }: State): boolean =>
  conditions.every(({ not, token, etag }) => {
    const id = lockIdOf(token ?? '')
    const holds =
      etag === undefined
        ? id !== undefined && locks.has(id)
        : found !== undefined && namesTag(etag, found)
    return holds !== not
  })
