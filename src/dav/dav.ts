import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { createGuessLimiter } from '../access/guessing.ts'
import type { Config } from '../config/config.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { BodyKind } from '../http/body.ts'
import { nobody } from '../http/callers.ts'
import type { Incoming } from '../http/incoming.ts'
import { type DoorPlan, type Passage, passage } from '../http/threshold.ts'
import { AppError } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { EntryLocked, LockConflict } from '../services/tree/dav-lock.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type IfList, tokensOf } from './conditions.ts'
import { copy, move } from './copy-move.ts'
import { type Exchange, hrefOfEntry, readIf, requireIf } from './exchange.ts'
import { type Face, ownFace } from './face.ts'
import { get, mkcol, put, remove } from './files.ts'
import { lock, unlock } from './lock.ts'
import { propfind } from './propfind.ts'
import { proppatch } from './proppatch.ts'
import { DavError, refusalOf } from './refusal.ts'
import { type DavSignIn, davSignIn, type SignInDeps } from './sign-in.ts'

interface Deps extends Pick<SignInDeps, 'findCaller'> {
  services: Services
  coordination: Coordination
  telemetry: Telemetry
  config: Pick<Config, 'webdavSystemFiles'>
  publicUrl: () => string
}

interface Method {
  handle(exchange: Exchange): Promise<void>
  /** Whether the method is refused during maintenance. */
  writes: boolean
  /** How its body is read. */
  body: BodyKind
}

const reads = (handle: Method['handle']): Method => ({ handle, writes: false, body: 'whole' })
const writes = (handle: Method['handle'], body: BodyKind = 'whole'): Method => ({
  handle,
  writes: true,
  body,
})

const methods: Record<string, Method> = {
  GET: reads(get),
  HEAD: reads(get),
  PROPFIND: reads(propfind),
  PUT: writes(put, 'upload'),
  MKCOL: writes(mkcol),
  DELETE: writes(remove),
  COPY: writes(copy),
  MOVE: writes(move),
  PROPPATCH: writes(proppatch),
  LOCK: writes(lock),
  UNLOCK: writes(unlock),
}

/**
 * LibreOffice 7.4 forgets the token of a file whose name has non-ASCII letters, and then saves
 * without the If header.
 */
const forgetfulOwnerOf = ({ method, headers }: IncomingMessage): string | undefined =>
  method === 'PUT' && headers.if === undefined && headers['user-agent']?.startsWith('LibreOffice ')
    ? 'LibreOffice - '
    : undefined

const ALLOW = ['OPTIONS', ...Object.keys(methods)].join(', ')

/** Clients send OPTIONS before they sign in. */
const options = (route: string): Passage<null> => ({
  route,
  guards: 'nothing',
  caller: nobody,
  writes: false,
  handle({ res }) {
    const headers = {
      allow: ALLOW,
      dav: '1, 2, 3',
      'ms-author-via': 'DAV',
      'accept-ranges': 'bytes',
    }
    res.writeHead(200, { ...headers, 'cache-control': 'no-store', 'content-length': 0 }).end()
  },
})

/** The dependencies of the WebDAV methods. */
export interface DavDeps extends Deps {
  signIn: DavSignIn
}

/** Authenticates requests of WebDAV and of the protocols that build on it. */
export const createDavSignIn = ({ coordination, telemetry, findCaller }: Deps): DavSignIn =>
  davSignIn({
    findCaller,
    guesses: createGuessLimiter(coordination, { prefix: 'satchel:webdav' }, telemetry),
  })

/** A request for the entry at a path of a face. */
interface Aimed {
  incoming: Incoming
  caller: Caller
  face: Face
  path: string
}

async function exchangeAt(
  { services, config, publicUrl }: DavDeps,
  { incoming, caller, face, path }: Aimed,
  lists: IfList[],
): Promise<Exchange> {
  const { req, address, log } = incoming
  const asker = { caller, address, client: req.headers['user-agent'], log }
  return {
    incoming,
    face,
    services,
    caller,
    asker,
    isFolderUrl: path.endsWith('/'),
    publicUrl: publicUrl(),
    place: await face.placeOf(services, asker, face.segmentsOf(path)),
    refusesSystemFiles: config.webdavSystemFiles === 'refuse',
    submitted: {
      userId: caller.userId,
      tokens: tokensOf(lists),
      forgetfulOwner: forgetfulOwnerOf(req),
    },
    ifExpected: undefined,
  }
}

/**
 * Handles a request for the entry at a path, once the If header holds.
 * @throws the errors of WebDAV
 */
export async function handleAt(
  deps: DavDeps,
  aimed: Aimed,
  handle: Method['handle'],
): Promise<void> {
  const { method } = aimed.incoming.req
  let exchange: Exchange | undefined
  try {
    const lists = readIf(aimed.incoming)
    exchange = await exchangeAt(deps, aimed, lists)
    // For a LOCK without a body, the header names the lock to refresh (RFC 4918, section 9.10.2).
    const ifExpected = method === 'LOCK' ? undefined : await requireIf(exchange, lists)
    await handle({ ...exchange, ifExpected })
  } catch (error) {
    const href =
      error instanceof EntryLocked && exchange
        ? await hrefOfEntry(exchange, error.entryId)
        : undefined
    throw refusedAs(error, method, href)
  }
}

/**
 * The gateway passages of the WebDAV methods, for a face.
 * @param faceOf throws if the caller has no access to the URL
 * @param route the path pattern, for metrics
 */
export function davPassages(
  deps: DavDeps,
  route: string,
  faceOf: (incoming: Incoming, caller: Caller) => Face,
): Map<string, Passage<Caller | null>> {
  const passages = new Map<string, Passage<Caller | null>>([['OPTIONS', options(route)]])
  for (const [name, method] of Object.entries(methods))
    passages.set(
      name,
      passage({
        route,
        // Cookies are not accepted.
        guards: 'nothing',
        caller: deps.signIn,
        body: method.body,
        writes: method.writes,
        handle: (incoming, caller) =>
          handleAt(
            deps,
            { incoming, caller, face: faceOf(incoming, caller), path: incoming.path },
            method.handle,
          ),
      }),
    )
  return passages
}

/** @throws DavError 405 */
export function passageFor(
  passages: ReadonlyMap<string, Passage>,
  { req }: Pick<Incoming, 'req'>,
): Passage {
  const found = passages.get(req.method ?? '')
  if (found) return found
  const allow = [...passages.keys()].join(', ')
  throw new DavError(405, `This URL accepts only ${allow}.`, { headers: { allow } })
}

/**
 * WebDAV (RFC 4918, classes 1, 2 and 3) at /dav/: docs/decisions/webdav.md. It translates requests,
 * and the services decide.
 */
export function createDav(deps: DavDeps): DoorPlan {
  const { prefix } = ownFace
  const passages = davPassages(deps, prefix, () => ownFace)
  return {
    prefix,
    options: true,
    find: incoming => passageFor(passages, incoming),
    refuse: refusalOf,
  }
}

/** Translates an error of the services for WebDAV. */
function refusedAs(error: unknown, method: string | undefined, href: string | undefined): unknown {
  if (error instanceof EntryLocked) {
    const condition = error instanceof LockConflict ? 'no-conflicting-lock' : 'lock-token-submitted'
    // RFC 4918, section 16: the response names the locked resource.
    return new DavError(423, error.message, href === undefined ? {} : { condition, hrefs: [href] })
  }
  if (!(error instanceof AppError)) return error
  const { code, message } = error
  const isRead = method === 'GET' || method === 'HEAD' || method === 'PROPFIND'
  // An invalid name cannot exist.
  if (code === 'INVALID_PATH' && isRead) return new DavError(404, message)
  // The target folder was deleted meanwhile, or an entry of this name was created there.
  if (code === 'FOLDER_NOT_FOUND' && (method === 'PUT' || method === 'MKCOL'))
    return new DavError(409, message)
  if (code === 'PATH_EXISTS') return new DavError(method === 'MKCOL' ? 405 : 412, message)
  return error
}
