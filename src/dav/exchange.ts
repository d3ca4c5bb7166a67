import { FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { Incoming } from '../http/incoming.ts'
import { AppError } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import type { Lock, Submitted } from '../services/tree/dav-lock.ts'
import { hrefOf, pathOf } from './address.ts'
import { type IfList, isTrue, parseIf, type State } from './conditions.ts'
import type { Face } from './face.ts'
import { type Asker, type InDrive, type Place, requireDrive } from './place.ts'
import { DavError } from './refusal.ts'

/** A request of an authenticated caller, with everything needed to handle it. */
export interface Exchange {
  incoming: Incoming
  face: Face
  services: Services
  caller: Caller
  /** The caller in the form that shares need. */
  asker: Asker
  /** The resolved request URL. */
  place: Place
  /** Whether the URL ends with a slash, like a folder's URL. */
  isFolderUrl: boolean
  publicUrl: string
  /** Whether to refuse files that operating systems leave behind. */
  refusesSystemFiles: boolean
  /** The lock tokens that the request submits. */
  submitted: Submitted
  /** The revision of the target that the If header requires. */
  ifExpected: number | undefined
}

/** Sends a response without a body. */
export function sendEmpty(
  { incoming: { res } }: Exchange,
  status: number,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'content-length': 0 }) }).end()
}

/**
 * Reads the Depth header (RFC 4918, section 10.2).
 * @throws DavError 400 for a depth that the method does not support
 */
export function depthOf<D extends string>(
  { incoming: { req } }: Exchange,
  allowed: readonly D[],
  usual: D,
): D {
  const { depth } = req.headers
  if (depth === undefined) return usual
  const given = allowed.find(one => one === String(depth).trim().toLowerCase())
  if (given === undefined)
    throw new DavError(400, `The Depth of this method must be ${allowed.join(' or ')}.`)
  return given
}

/**
 * Parses the If header.
 * @throws DavError 400
 */
export function readIf({ req }: Pick<Incoming, 'req'>): IfList[] {
  const header = req.headers.if
  return header === undefined
    ? []
    : parseIf(Buffer.from(header.toString(), 'latin1').toString('utf8'))
}

/**
 * Evaluates the If header (RFC 4918, section 10.4.4): at least one list must be true.
 * @returns the revision that the change requires, if the header names an ETag of the target
 * @throws REVISION_MISMATCH
 */
export async function requireIf(exchange: Exchange, lists: IfList[]): Promise<number | undefined> {
  if (lists.length === 0) return undefined
  const { incoming, services, asker, publicUrl, place, face } = exchange
  const states = new Map<string | null, State>()
  const locks = new Map<string, Promise<Lock[]>>()
  for (const list of lists) {
    const { resource } = list
    let state = states.get(resource)
    if (!state) {
      state =
        resource === null
          ? await stateOf(services, place, locks)
          : await stateAt({ services, asker, face, locks }, () =>
              pathOf(resource, incoming.req, publicUrl),
            )
      states.set(resource, state)
    }
    if (isTrue(list, state)) {
      if (!list.conditions.some(({ etag, not }) => etag !== undefined && !not)) return undefined
      // Clients of ownCloud name the target although it is that of the request.
      const target = resource === null ? state : await stateOf(services, place, locks)
      return target.found?.id === state.found?.id ? (state.found?.revision ?? undefined) : undefined
    }
  }
  throw new AppError(
    'REVISION_MISMATCH',
    'No list of the If header is true. Read the resource again.',
  )
}

const nothing: State = { found: undefined, locks: new Set() }

/** @param known a cache of the locks of each drive */
async function stateOf(
  services: Services,
  place: Place,
  known: Map<string, Promise<Lock[]>>,
): Promise<State> {
  if (!place.reading || !place.drive) return nothing
  const { tree } = openAny(requireDrive(place))
  const locks = known.get(tree.bucketId) ?? services.davLocks.inForce(tree)
  known.set(tree.bucketId, locks)
  const { node, covering } = await services.davLocks.look(tree, place.names, await locks)
  return { found: node, locks: new Set(covering.map(({ id }) => id)) }
}

/**
 * The state of a named resource. If it does not exist or belongs to another user, no condition is
 * true.
 */
async function stateAt(
  {
    services,
    asker,
    face,
    locks,
  }: Pick<Exchange, 'services' | 'asker' | 'face'> & { locks: Map<string, Promise<Lock[]>> },
  path: () => string,
): Promise<State> {
  try {
    return await stateOf(
      services,
      await face.placeOf(services, asker, face.segmentsOf(path())),
      locks,
    )
  } catch (error) {
    if (error instanceof DavError || (error instanceof AppError && error.status < 500))
      return nothing
    throw error
  }
}

/** Opens a drive with any right of the caller. A change does not require the right to read. */
function openAny({ drive }: InDrive) {
  return drive.refusal('write') ? drive.open('read') : drive.open('write')
}

/** The URL of the entry with this id, which is a place or one of its parents. */
export function hrefOfLock(
  { prefix }: Face,
  { base, names }: Pick<InDrive, 'base' | 'names'>,
  chain: readonly string[],
  entryId: string,
  isFolder: boolean,
): string {
  const depth = chain.indexOf(entryId)
  // The parents of a shared folder have no URL here.
  const down =
    depth < 0 ? names : names.slice(0, Math.max(0, depth - (chain.length - 1 - names.length)))
  return hrefOf(prefix, [...base, ...down], down.length < names.length || isFolder)
}

/** The URL of an entry in the drive of a place; undefined if it has no URL there. */
export async function hrefOfEntry(
  { services, place, face }: Exchange,
  entryId: string,
): Promise<string | undefined> {
  if (!place.reading || !place.drive) return undefined
  const { base, drive } = place
  const entries = await services.entryLists.byIds([
    entryId,
    ...(drive.sharedId === null ? [] : [drive.sharedId]),
  ])
  const entry = entries.get(entryId)
  const top = drive.sharedId === null ? [] : entries.get(drive.sharedId)?.names
  if (entry?.bucketId !== drive.id || !top?.every((name, i) => entry.names[i] === name))
    return undefined
  return hrefOf(face.prefix, [...base, ...entry.names.slice(top.length)], entry.kind === FOLDER)
}
