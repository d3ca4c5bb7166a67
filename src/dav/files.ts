import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import fresh from 'fresh'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import { readRaw } from '../http/body.ts'
import { sendBytes } from '../http/bytes.ts'
import { write } from '../http/write.ts'
import { AppError } from '../runtime/errors.ts'
import { type Looked, requireTokens } from '../services/tree/dav-lock.ts'
import type { UploadLimits } from '../services/tree/quota.ts'
import { fromSeconds } from '../values/modified-at.ts'
import { joinPath } from '../values/paths.ts'
import { Upload } from '../values/upload.ts'
import { expectationsOf, verified } from './checksums.ts'
import { isInFuture, lastModified, requirePreconditions } from './conditions.ts'
import { depthOf, type Exchange, sendEmpty } from './exchange.ts'
import { etagOf, type InDrive, requireDrive, requireEntry } from './place.ts'
import { httpDate, identityOf, remoteId } from './properties.ts'
import { DavError } from './refusal.ts'
import { isSystemFile } from './system-files.ts'

/** The text for people who open a folder's URL in a browser. */
const HINT =
  'This is a folder for WebDAV. Connect to its URL with a file manager or another WebDAV client.\n'

/**
 * Handles GET and HEAD: sends a file from the store, with ranges and conditions (RFC 9110, sections
 * 13 and 14).
 */
export async function get({ incoming, place }: Exchange): Promise<void> {
  const { req, res, address, signal } = incoming
  const found = place.reading ? await place.reading.find(place.names) : undefined
  if (found === null) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  if (!place.reading || !found || found.kind === FOLDER) {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
    return write(res, req, { status: 200, headers, body: HINT })
  }
  requirePreconditions(req, found, found)
  const etag = etagOf(found)
  res.setHeader('last-modified', httpDate(lastModified(found)))
  // Checked before the bytes are opened, which a share may count as a download. New content may
  // have an older modification time, so the upload time counts.
  if (isUnchanged(req.headers, { etag, 'last-modified': httpDate(found.updatedAt) }))
    return void res.writeHead(304, { etag, 'cache-control': 'private, no-cache' }).end()
  const delivery = await place.reading.deliver(found, place.names, req.method === 'GET')
  await sendBytes({ req, res, address, signal }, { ...delivery, etag: etag.slice(1, -1) })
}

/** RFC 9110, section 13.2.2: If-Modified-Since counts only without If-None-Match. */
function isUnchanged(
  { 'if-none-match': tags, 'if-modified-since': since }: IncomingHttpHeaders,
  now: { etag: string; 'last-modified': string },
): boolean {
  if (tags !== undefined) return fresh({ 'if-none-match': tags }, now)
  return since !== undefined && !isInFuture(since) && fresh({ 'if-modified-since': since }, now)
}

/** Looks up the target of a change, and checks the request's locks and conditions. */
export async function lookAt(
  { incoming: { req }, services, submitted }: Exchange,
  { drive, names }: InDrive,
  level: 'write' | 'delete',
): Promise<Looked & { expected: number | undefined }> {
  const { tree } = drive.open(level)
  const looked = await services.davLocks.look(tree, names)
  // Reading dates costs a statement, and only this header needs them.
  const isDated = looked.node !== undefined && req.headers['if-unmodified-since'] !== undefined
  const dated = isDated ? await services.entryLists.at(tree, names) : null
  const expected = requirePreconditions(req, looked.node, dated ?? undefined)
  requireTokens(looked.covering, submitted)
  return { ...looked, expected }
}

/** @throws DavError 409 if the parent folder is missing (RFC 4918, sections 9.3.1 and 9.7.1) */
export function requireParent({ parentId }: Pick<Looked, 'parentId'>): string {
  if (parentId === null)
    throw new DavError(409, 'The parent folder does not exist. Create it first.')
  return parentId
}

/** Handles PUT: streams the body into a new file, or into a new version of an existing one. */
export async function put(exchange: Exchange): Promise<void> {
  const { status, headers } = await store(exchange, exchange.incoming.req)
  sendEmpty(exchange, status, headers)
}

/** The bytes of a file and their declared type. */
interface Bytes extends Pick<ReturnType<typeof readRaw>, 'source' | 'bound' | 'mimetype'> {
  /** Releases the space that the bytes take elsewhere, as their upload reserves it. */
  before?: UploadLimits['before']
}

/**
 * Stores bytes as the file at the URL of an exchange, under the headers of its request.
 * @param from the request with the bytes as its body, or the bytes themselves
 * @returns the response to send
 */
export async function store(
  exchange: Exchange,
  from: IncomingMessage | Bytes,
): Promise<{ status: number; headers: Record<string, string> }> {
  const { incoming, services, caller, submitted, ifExpected } = exchange
  const { req, signal } = incoming
  const place = requireDrive(exchange.place)
  const { drive, names, title } = place
  // The share may consist of one file.
  const isShared = drive.share?.isFile === true
  if (!isShared) requireEntry(place)
  // RFC 9110, section 14.5: a partial body must not replace the whole file.
  if (req.headers['content-range'] !== undefined)
    throw new DavError(400, 'PUT does not accept Content-Range. Send the whole file.')
  if (exchange.isFolderUrl) throw new DavError(409, 'The URL of a file does not end with a slash.')
  const name = names.at(-1) ?? title
  if (exchange.refusesSystemFiles && isSystemFile(name))
    throw new DavError(403, `The operator of this service does not allow files named ${name}.`)
  const looked = await lookAt(exchange, place, 'write')
  const { node } = looked
  const folder = isShared ? {} : { folderId: requireParent(looked) }
  if (node?.kind === FOLDER)
    throw new DavError(405, 'A folder of this name exists already.', {
      headers: { allow: 'PROPFIND' },
    })
  const { tree, limits } = drive.open('write')
  const mustBeNew =
    req.headers['if-none-match']?.trim() === '*' || req.headers.overwrite?.toString().trim() === 'F'
  const replaces = !mustBeNew && (node !== undefined || !drive.refusal('delete'))
  const use = { names, how: 'content' } as const
  const { source, bound, mimetype, before }: Bytes = 'source' in from ? from : readRaw(from)
  const expected = expectationsOf(req.headers, bound)
  const modifiedAt = fromSeconds(req.headers['x-oc-mtime']?.toString() ?? '')
  const file = await services.files.upload(
    services.davLocks.guarded(tree, [use], submitted),
    new Upload({ filename: name, mimetype, source: verified(source, expected), bound, signal }),
    {
      to: {
        folder: joinPath(names.slice(0, -1)),
        onConflict: replaces ? 'replace' : 'fail',
        modifiedAt,
      },
      ...folder,
      expected: looked.expected ?? ifExpected,
      decide: choice => drive.onConflict(choice),
      limits: { ...limits, ...(before ? { before } : {}) },
      isSeen: true,
    },
    caller,
  )
  const accepted = modifiedAt === undefined ? {} : { 'x-oc-mtime': 'accepted' }
  const identity = identityOf({ ...file, kind: FILE, changeStamp: null })
  return { status: node ? 204 : 201, headers: { ...identity, ...accepted } }
}

/** Handles MKCOL (RFC 4918, section 9.3). */
export async function mkcol(exchange: Exchange): Promise<void> {
  const { incoming, services, caller, submitted } = exchange
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.req.headers
  if (Number(length ?? 0) > 0 || encoding !== undefined)
    throw new DavError(415, 'MKCOL does not accept a body here.')
  const place = requireDrive(exchange.place)
  const { drive, names } = place
  const { tree } = drive.open('write')
  const exists = () =>
    new DavError(405, 'Something exists at this URL already.', { headers: { allow: 'PROPFIND' } })
  if (names.length === 0) throw exists()
  const looked = await lookAt(exchange, place, 'write')
  if (looked.node) throw exists()
  requireParent(looked)
  const guarded = services.davLocks.guarded(tree, [{ names, how: 'member' }], submitted)
  const folder = joinPath(names.slice(0, -1))
  const made = await services.folders.createIn(guarded, folder, names.at(-1) ?? '', caller)
  sendEmpty(exchange, 201, { 'oc-fileid': remoteId(made) })
}

/** Handles DELETE (RFC 4918, section 9.6): moves the entry and everything in it into the trash. */
export async function remove(exchange: Exchange): Promise<void> {
  const { services, caller, submitted, ifExpected } = exchange
  depthOf(exchange, ['infinity', '0'], 'infinity')
  const place = requireEntry(exchange.place)
  const { drive, names } = place
  const looked = await lookAt(exchange, place, 'delete')
  if (!looked.node) {
    // git-annex deletes folders that may already be gone, and considers a 404 a failure.
    if (/^(?:git-annex|hDav)/.test(exchange.incoming.req.headers['user-agent'] ?? ''))
      return sendEmpty(exchange, 204)
    throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  }
  const guarded = services.davLocks.guarded(
    drive.open('delete').tree,
    [{ names, how: 'whole' }],
    submitted,
  )
  const named = [{ path: joinPath(names) }]
  await services.entryChanges.remove(
    guarded,
    named,
    { recursive: true, expected: looked.expected ?? ifExpected },
    caller,
  )
  sendEmpty(exchange, 204)
}
