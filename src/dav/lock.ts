import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../runtime/errors.ts'
import { type Lock, ofAnotherPerson } from '../services/tree/dav-lock.ts'
import { MAX_DAV_OWNER_BYTES } from '../values/limits.ts'
import { joinPath } from '../values/paths.ts'
import { Upload } from '../values/upload.ts'
import { lockIdOf } from './conditions.ts'
import { depthOf, type Exchange, hrefOfLock, sendEmpty } from './exchange.ts'
import { requireParent } from './files.ts'
import { type InDrive, requireDrive } from './place.ts'
import { activeLocks } from './properties.ts'
import { DavError } from './refusal.ts'
import { isSystemFile } from './system-files.ts'
import { childOf, type Element, isDav, readXml, writeElement, XML_START, XML_TYPE } from './xml.ts'

/**
 * A lock expires after this time unless refreshed, so that a crashed client does not lock others
 * out for long.
 */
const LONGEST_SECONDS = 3600

/** The requested timeout (RFC 4918, section 10.7), bounded. */
function secondsOf({ incoming: { req } }: Exchange): number {
  const asked = /\bSecond-(\d{1,10})\b/i.exec(String(req.headers.timeout ?? ''))?.[1]
  return asked === undefined
    ? LONGEST_SECONDS
    : Math.min(Math.max(Number(asked), 1), LONGEST_SECONDS)
}

/**
 * Parses the requested lock from a body.
 * @throws DavError 400
 */
function termsOf(body: Element): Pick<Lock, 'isShared' | 'owner'> {
  const scope = childOf(body, 'lockscope')
  const type = childOf(body, 'locktype')
  const [isExclusive, isShared] = ['exclusive', 'shared'].map(
    name => scope && childOf(scope, name) !== undefined,
  )
  if (!isDav(body, 'lockinfo') || isExclusive === isShared || !type || !childOf(type, 'write'))
    throw new DavError(400, 'The body is not a lockinfo element with a scope and the type write.')
  const owner = childOf(body, 'owner')
  const full = () => new DavError(413, 'The owner of a lock may have up to 1 KiB of XML.')
  const said = owner ? writeElement(owner, { bytes: MAX_DAV_OWNER_BYTES, full }) : ''
  return { isShared: Boolean(isShared), owner: said }
}

/**
 * Creates an empty file at an unmapped URL, so that it can be locked (RFC 4918, section 7.3).
 * @returns whether it has created the file
 */
async function makeEmpty(
  exchange: Exchange,
  { drive, names }: InDrive,
  isShared: boolean,
): Promise<boolean> {
  const { services, caller, submitted, refusesSystemFiles, isFolderUrl } = exchange
  const { tree, limits } = drive.open('write')
  const looked = await services.davLocks.look(tree, names)
  if (looked.node) return false
  const folderId = requireParent(looked)
  const filename = names.at(-1) ?? ''
  if (isFolderUrl || (refusesSystemFiles && isSystemFile(filename)))
    throw new DavError(isFolderUrl ? 409 : 403, 'No file of this name can be created here.')
  // A lock that cannot be granted must not leave an empty file behind.
  await services.davLocks.requireRoomAt(tree, names, { isShared, userId: caller.userId })
  const nothing = (async function* (): AsyncGenerator<Uint8Array> {})()
  const guarded = services.davLocks.guarded(tree, [{ names, how: 'member' }], submitted)
  const to = { folder: joinPath(names.slice(0, -1)) }
  const empty = new Upload({ filename, mimetype: '', source: nothing, bound: 0 })
  await services.files.upload(
    guarded,
    empty,
    { to, folderId, decide: () => 'fail', limits },
    caller,
  )
  return true
}

/** Handles LOCK (RFC 4918, section 9.10): creates a lock, or refreshes one if there is no body. */
export async function lock(exchange: Exchange): Promise<void> {
  const { incoming, services, caller, submitted } = exchange
  const place = requireDrive(exchange.place)
  const { drive, names } = place
  const { tree } = drive.open('write')
  const isDeep = depthOf(exchange, ['0', 'infinity'], 'infinity') === 'infinity'
  const seconds = secondsOf(exchange)
  const body = await readXml(incoming.req)
  if (!body) {
    if (submitted.tokens.size === 0)
      throw new DavError(
        400,
        'A LOCK without a body refreshes a lock: name its token in an If header.',
      )
    const refreshed = await services.davLocks.refresh(
      tree,
      names,
      { tokens: submitted.tokens, seconds },
      caller,
    )
    if (!refreshed) throw new AppError('REVISION_MISMATCH', 'You no longer have this lock here.')
    return answer(exchange, place, refreshed, 200)
  }
  const terms = termsOf(body)
  const isNew = await makeEmpty(exchange, place, terms.isShared)
  const made = await services.davLocks.make(tree, names, { ...terms, isDeep, seconds }, caller)
  await answer(exchange, place, made, isNew ? 201 : 200, { 'lock-token': `<urn:uuid:${made.id}>` })
}

async function answer(
  { incoming: { res }, services, face }: Exchange,
  place: InDrive,
  made: Lock,
  status: number,
  headers: Record<string, string> = {},
): Promise<void> {
  const { node, chain } = await services.davLocks.look(place.drive.open('write').tree, place.names)
  const root = hrefOfLock(face, place, chain, made.entryId, node?.kind === FOLDER)
  const content = `<d:lockdiscovery>${activeLocks([{ lock: made, root }])}</d:lockdiscovery>`
  const body = `${XML_START}<d:prop xmlns:d="DAV:">${content}</d:prop>\n`
  res
    .writeHead(status, {
      'content-type': XML_TYPE,
      'content-length': Buffer.byteLength(body),
      ...headers,
    })
    .end(body)
}

/** Handles UNLOCK (RFC 4918, section 9.11). */
export async function unlock(exchange: Exchange): Promise<void> {
  const { incoming, services, caller } = exchange
  const { drive, names } = requireDrive(exchange.place)
  const header = incoming.req.headers['lock-token']
  // RFC 4918, section 10.5, requires angle brackets, but some clients omit them.
  const id = lockIdOf(String(header ?? '').replace(/^\s*<([^<>]*)>\s*$/, '$1'))
  const { tree } = drive.open('write')
  if (header === undefined) throw new DavError(400, 'Name the lock in a Lock-Token header.')
  const { mayEndLocks: mayEndAny } = drive
  const ended =
    id === undefined
      ? undefined
      : await services.davLocks.end(tree, { token: id, names, mayEndAny }, caller)
  if (ended === null) throw ofAnotherPerson()
  if (!ended)
    throw new DavError(409, 'There is no such lock here.', {
      condition: 'lock-token-matches-request-uri',
    })
  sendEmpty(exchange, 204)
}
