import type { Db, Tx } from '../../../db/index.ts'
import { entriesOf } from '../../../db/queries/entry.ts'
import { type Node, upFrom } from '../../../db/queries/entry-path.ts'
import { lockSharer } from '../../../db/queries/share.ts'
import { lockEditable } from '../../../db/queries/shared-drive.ts'
import type { Writer } from '../../access/caller.ts'
import { Forbidden } from '../../runtime/errors.ts'
import { keyById } from '../../values/key-by-id.ts'
import type { SharedRoot, Tree } from '../../values/tree.ts'
import type { EventDetails } from '../history/event.ts'
import { chainOf, pathIn } from './entry-path.ts'

/**
 * The folders from the root of a drive to the root of a tree that is a part of it. Their totals
 * change with every change in the tree.
 */
export interface Trunk {
  /**
   * The names from the root of the drive down to the folder at which the paths of the tree start.
   */
  names: string[]
  /** The folders with these names, including the last one. */
  folders: Node[]
  /** The file, if the tree consists of a single file. */
  file: { node: Node; name: string } | null
}

/** The trunk of a tree that is a whole drive. */
export const noTrunk: Trunk = { names: [], folders: [], file: null }

export const onlyReplaced = () =>
  new Forbidden(
    'Only this file is shared with you: you may replace its content, but not change anything else.',
  )

export const shareEnded = () =>
  new Forbidden('Your right to edit this share has ended. Ask the person who shared it.')

/**
 * Locks a shared tree until the transaction ends: the drive, its sharer, and the share, whose
 * recipient must still be allowed to edit.
 * @returns the current place of the shared entry
 * @throws FORBIDDEN
 */
export async function lockShared(
  db: Db,
  { bucketId, rootId }: Tree,
  { id, sharerId, isFile, drive }: SharedRoot,
  writer: Writer,
  tx: Tx,
): Promise<Trunk> {
  const recipient = writer.via === 'file_request' ? null : writer.verifiedEmail
  if (recipient === null || !(await lockSharer(db, sharerId, bucketId, tx))) throw shareEnded()
  if (!(await lockEditable(db, { id, entryId: rootId, recipient }, tx))) throw shareEnded()
  const place = chainOf(drive.rootId, await upFrom(db, [rootId], tx), rootId)
  if (!place) throw shareEnded()
  const nodes = keyById(await entriesOf(db, bucketId, [...place.ids, rootId], tx))
  const root = nodes.get(rootId)
  if (!root) throw shareEnded()
  const above = place.ids.flatMap(id => nodes.get(id) ?? [])
  if (!isFile) return { names: place.names, folders: [...above, root], file: null }
  return {
    names: place.names.slice(0, -1),
    folders: above,
    file: { node: root, name: place.names.at(-1) ?? '' },
  }
}

/** Converts the details of an event in a shared tree to paths of the whole drive. */
export function inWholeDrive(
  { share }: Tree,
  { names }: Trunk,
  details: EventDetails,
): EventDetails {
  if (!share) return details
  const whole = (path: string) => pathIn(share.drive, [...names, path])
  const { path, from } = details
  return {
    ...details,
    ...(path === undefined ? {} : { path: whole(path) }),
    ...(from === undefined ? {} : { from: whole(from) }),
  }
}
