import { FOLDER } from '../../db/models/entry.ts'
import { AppError } from '../runtime/errors.ts'
import { type LockUse, type Looked, requireTokens } from '../services/tree/dav-lock.ts'
import { joinPath } from '../values/paths.ts'
import { pathOf } from './address.ts'
import { requirePreconditions } from './conditions.ts'
import { depthOf, type Exchange, sendEmpty } from './exchange.ts'
import { lookAt, requireParent } from './files.ts'
import { type InDrive, requireEntry } from './place.ts'
import { identityOf } from './properties.ts'
import { DavError } from './refusal.ts'
import { isSystemFile } from './system-files.ts'

/**
 * Resolves the Destination header (RFC 4918, section 10.3), and whether an existing target may be
 * replaced (10.6).
 */
async function destinationOf({
  incoming: { req },
  services,
  asker,
  face,
  publicUrl,
  ...rest
}: Exchange) {
  const { destination, overwrite = 'T' } = req.headers
  if (destination === undefined)
    throw new DavError(400, 'Send the URL of the copy in a Destination header.')
  const choice = String(overwrite).trim().toUpperCase()
  if (choice !== 'T' && choice !== 'F') throw new DavError(400, 'Overwrite must be T or F.')
  const segments = face.segmentsOf(pathOf(String(destination), req, publicUrl))
  const to = requireEntry(await face.placeOf(services, asker, segments))
  if (rest.refusesSystemFiles && isSystemFile(to.names.at(-1) ?? ''))
    throw new DavError(403, 'The operator of this service does not allow files with this name.')
  return { to, overwrites: choice === 'T' }
}

/**
 * Compares ids, because two shares may lead to one drive under different names, and one may be
 * inside the other.
 * @throws DavError 403 if source and destination are the same or contain each other
 */
function requireApart(from: Looked, to: Looked, isShallow: boolean): void {
  const source = from.node?.id ?? ''
  const isSame = to.node?.id === source
  const isInside = to.chain.includes(source) && !isShallow
  if (isSame || isInside || (to.node && from.chain.includes(to.node.id)))
    throw new DavError(
      403,
      'The source and the destination are the same, or one contains the other.',
    )
}

/** Looks up the destination, and checks that it is free or may be replaced. */
async function prepare(
  { services, submitted }: Exchange,
  {
    from,
    to,
    overwrites,
    isShallow,
  }: { from: Looked; to: InDrive; overwrites: boolean; isShallow: boolean },
) {
  const { tree, limits } = to.drive.open('write')
  const looked = await services.davLocks.look(tree, to.names)
  requireApart(from, looked, isShallow)
  if (looked.node && !overwrites)
    throw new AppError(
      'REVISION_MISMATCH',
      'Something exists at the destination, and Overwrite is F.',
    )
  const parentId = requireParent(looked)
  requireTokens(looked.covering, submitted)
  const onConflict = overwrites && (looked.node || !to.drive.refusal('delete')) ? 'replace' : 'fail'
  return {
    tree,
    limits,
    isThere: looked.node !== undefined,
    to: { folder: { id: parentId }, name: to.names.at(-1) ?? '' },
    onConflict: to.drive.onConflict(onConflict),
    use: { names: to.names, how: 'whole' } as LockUse,
  }
}

/** Handles COPY (RFC 4918, section 9.8): copies by reference, including dead properties. */
export async function copy(exchange: Exchange): Promise<void> {
  const { services, caller, submitted, incoming } = exchange
  const isShallow = depthOf(exchange, ['0', 'infinity'], 'infinity') === '0'
  const from = requireEntry(exchange.place)
  const { to, overwrites } = await destinationOf(exchange)
  const { tree: source } = from.drive.open('read')
  const found = await services.entryLists.at(source, from.names)
  if (!found) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  requirePreconditions(incoming.req, found, found)
  const looked = await services.davLocks.look(source, from.names)
  const prepared = await prepare(exchange, { from: looked, to, overwrites, isShallow })
  const { tree, limits, isThere, onConflict, use, to: place } = prepared
  const guarded = services.davLocks.guarded(tree, [use], submitted, source)
  const options = {
    ...place,
    tree: guarded,
    limits,
    onConflict,
    replacesFolders: true,
    isShallow: isShallow && found.kind === FOLDER,
  }
  const { copyId } = await services.entryCopies.copy(
    { tree: source, named: [{ id: found.id }] },
    options,
    caller,
  )
  // The copy of a large folder is still in progress: RFC 9110, section 15.3.3.
  sendEmpty(exchange, copyId ? 202 : isThere ? 204 : 201)
}

/** Handles MOVE (RFC 4918, section 9.9) at constant cost. */
export async function move(exchange: Exchange): Promise<void> {
  const { services, caller, submitted, ifExpected } = exchange
  const isShallow = depthOf(exchange, ['infinity', '0'], 'infinity') === '0'
  const from = requireEntry(exchange.place)
  const { to, overwrites } = await destinationOf(exchange)
  const looked = await lookAt(exchange, from, 'write')
  if (!looked.node) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  if (isShallow && looked.node.kind === FOLDER)
    throw new DavError(400, 'A folder can only be moved with all its contents.')
  // Two shares may lead to one drive, and their paths have different roots.
  if (from.drive.id !== to.drive.id || from.drive.sharedId !== to.drive.sharedId) {
    if (exchange.face.movesBetweenDrives)
      return moveBetween(exchange, { from, to, overwrites, looked })
    throw new DavError(
      403,
      'Entries cannot be moved from one drive or share to another. Copy it, then delete it here.',
    )
  }
  const prepared = await prepare(exchange, { from: looked, to, overwrites, isShallow: false })
  const { tree, isThere, onConflict, use, to: place } = prepared
  const guarded = services.davLocks.guarded(
    tree,
    [{ names: from.names, how: 'whole' }, use],
    submitted,
  )
  const how = {
    to: place.folder,
    name: place.name,
    onConflict,
    replacesFolders: true,
    expected: looked.expected ?? ifExpected,
  }
  await services.entryChanges.move(guarded, [{ path: joinPath(from.names) }], how, caller)
  const moved = await services.entryLists.at(from.drive.open('write').tree, to.names)
  sendEmpty(exchange, isThere ? 204 : 201, moved ? identityOf(moved) : {})
}

/**
 * Moves an entry to another drive: copies it, then moves the original into the trash. If the second
 * step fails, the entry is in both drives, and the error says why. Versions, notes and shares stay
 * with the original.
 * @throws FORBIDDEN for a folder that is too large to copy in one transaction
 */
async function moveBetween(
  exchange: Exchange,
  {
    from,
    to,
    overwrites,
    looked,
  }: {
    from: InDrive
    to: InDrive
    overwrites: boolean
    looked: Looked & { expected: number | undefined }
  },
): Promise<void> {
  const { services, caller, submitted, ifExpected } = exchange
  const { tree: source } = from.drive.open('read')
  from.drive.open('delete')
  const found = await services.entryLists.at(source, from.names)
  if (!found) throw new AppError('FILE_NOT_FOUND', 'There is nothing at this URL.')
  const prepared = await prepare(exchange, { from: looked, to, overwrites, isShallow: false })
  const { tree, limits, isThere, onConflict, use, to: place } = prepared
  const guarded = services.davLocks.guarded(tree, [use], submitted, source)
  const options = {
    ...place,
    tree: guarded,
    limits,
    onConflict,
    replacesFolders: true,
    isAtOnce: true,
  }
  await services.entryCopies.copy({ tree: source, named: [{ id: found.id }] }, options, caller)
  // A file that has changed since it was copied stays.
  const expected = found.kind === FOLDER ? undefined : found.revision
  await services.entryChanges.remove(
    services.davLocks.guarded(source, [{ names: from.names, how: 'whole' }], submitted),
    [{ path: joinPath(from.names) }],
    { recursive: true, expected: looked.expected ?? ifExpected ?? expected },
    caller,
  )
  const moved = to.drive.share ? null : await services.entryLists.at(tree, to.names)
  sendEmpty(exchange, isThere ? 204 : 201, moved ? identityOf(moved) : {})
}
