import { FOLDER } from '../db/models/entry.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { PlacedEntry } from '../src/services/tree/entry-list.ts'
import { findDriveOf } from './access.ts'
import { batch } from './batch.ts'
import type { InputFields, ObjectFields } from './builder.ts'
import { connectionOf } from './connection.ts'
import type { Context } from './context.ts'
import { Permission } from './enums.ts'
import { findable, Node } from './node.ts'
import { Person, personOf } from './person.ts'
import { Drive, Entry, type EntryNode, Folder } from './refs.ts'

const typeOf = ({ kind }: EntryNode) => (kind === FOLDER ? 'Folder' : 'File')

/**
 * An entry in a drive of the caller. A key that may not read sees only the place of an entry that
 * it did not create itself. The values of the other details are errors, so the fields that show
 * them fail. A check at each field of each entry of a page would cost far more.
 */
export function inDrive(entry: PlacedEntry, drive: DriveValue): EntryNode {
  const refusal = drive.refusal('read')
  if (!refusal) return { ...entry, drive }
  // Untyped, because only a field may use it as a value.
  const hidden = refusal as never
  return {
    ...entry,
    drive,
    contentType: hidden,
    size: hidden,
    md5: hidden,
    createdAt: hidden,
    updatedAt: hidden,
    revision: hidden,
  }
}

const entriesById = batch(({ services }, ids) => services.entryLists.byIds(ids))

/**
 * An entry as seen through a share: the shared folder, an entry in it, or the shared file.
 */
function belowShared(entry: PlacedEntry, root: PlacedEntry | undefined): PlacedEntry | null {
  if (!root?.names.every((name, i) => entry.names[i] === name)) return null
  const above = root.kind === FOLDER ? root.names.length : root.names.length - 1
  return { ...entry, names: entry.names.slice(above) }
}

/** An entry of a drive by its id, with all its details; null when it no longer exists. */
export async function findInDrive(
  context: Context,
  drive: DriveValue,
  id: string,
): Promise<PlacedEntry | null> {
  const { sharedId } = drive
  // One statement reads both, so that one is certainly below the other.
  const [entry, root] = await Promise.all([
    entriesById(context, id),
    sharedId === null ? undefined : entriesById(context, sharedId),
  ])
  if (entry?.bucketId !== drive.id) return null
  return sharedId === null ? entry : belowShared(entry, root)
}

/** Like `findInDrive`, with the details that the caller may see. */
export async function entryOf(
  context: Context,
  drive: DriveValue,
  id: string,
): Promise<EntryNode | null> {
  const entry = await findInDrive(context, drive, id)
  return entry && inDrive(entry, drive)
}

export const isFolder = <E extends { kind: number }>(entry: E | null): entry is E =>
  entry?.kind === FOLDER

/** Several entries of a drive, without those that no longer exist. */
export async function entriesOf(
  context: Context,
  drive: DriveValue,
  ids: readonly string[],
): Promise<EntryNode[]> {
  const found = await Promise.all(ids.map(id => entryOf(context, drive, id)))
  return found.filter(entry => entry !== null)
}

Entry.implement({
  description: 'A file or a folder of a drive.',
  interfaces: [Node],
  resolveType: typeOf,
  fields: t => ({
    name: t.exposeString('name', {
      description: 'Its name, the last part of its path; empty for the root.',
    }),
    path: t.string({
      description:
        'All names from the root down, joined by slashes; in the drive of a workspace with a leading slash.',
      resolve: ({ drive, names }) => drive.pathOf(names),
    }),
    parent: t.withAuth({ drive: 'read' }).field({
      type: Folder,
      nullable: true,
      description: 'The folder that contains it; null for the root.',
      resolve: ({ parentId, drive }, _args, context) =>
        parentId ? entryOf(context, drive, parentId) : null,
    }),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
    size: t.expose('size', {
      type: 'Bytes',
      description: 'Its size in bytes; for a folder, that of all files below it.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it was uploaded or created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it was last changed: created, moved, renamed or replaced.',
    }),
    createdBy: t.field({
      type: Person,
      nullable: true,
      description: 'Who uploaded or created it; null if their account was deleted.',
      check: ({ drive }) => void drive.open('read'),
      resolve: ({ createdBy }, _args, context) => personOf(context, createdBy),
    }),
    revision: t.exposeInt('revision', {
      description:
        'Grows with each change of its content, name or place. Mutations compare it with `expectedRevision`.',
    }),
    permissions: t.field({
      type: [Permission],
      description: 'What the caller may do with it.',
      listSize: 4,
      // The root cannot be moved or shared.
      resolve: ({ drive, parentId }) =>
        drive.permissions.filter(
          level => parentId !== null || !(level === 'share' || level === 'delete'),
        ),
    }),
  }),
})

export const EntryConnection = connectionOf('Entry', Entry)

findable('entry', typeOf, async (context, caller, id) => {
  const drive = await findDriveOf(context, caller, 'entry', id)
  return drive && entryOf(context, drive.open('read').drive, id)
})

/** The payload field with the folder of a new entry. @param made the new entry */
export const folderField = <Payload extends object>(
  t: ObjectFields<Payload>,
  made: (payload: Payload) => EntryNode,
) =>
  t.withAuth({ drive: 'read' }).field({
    type: Folder,
    nullable: true,
    description: 'The folder that contains it.',
    resolve: (payload, _args, context) => {
      const { parentId, drive } = made(payload)
      return parentId ? entryOf(context, drive, parentId) : null
    },
  })

/** When an uploaded file was last modified. */
export const modifiedAtInput = (t: InputFields) =>
  t.field({
    type: 'DateTime',
    description:
      'When the file was last modified on its computer; by default, the time of its upload.',
  })
