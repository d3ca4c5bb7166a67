import { z } from 'zod'
import { FILE, FOLDER } from '../../db/models/entry.ts'
import { entryNotFound, openDrive, type Subject } from '../../schema/access.ts'
import { findInDrive } from '../../schema/entry.ts'
import type { Drive, OpenDrive } from '../access/drive.ts'
import type { DriveLevel } from '../access/policies.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import type { PlacedEntry } from '../services/tree/entry-list.ts'
import { folderNotFound, pathIn } from '../services/tree/entry-path.ts'
import { limits, parsePath } from '../values/paths.ts'
import type { Call } from './tool.ts'

export const entryId = z.uuid().describe('The id of a file or folder, from another result.')
export const path = z
  .string()
  .max(limits.pathBytes)
  .describe('A path: names from the root of the drive, joined by slashes.')
export const driveId = z
  .uuid()
  .describe('The id of a drive, from list_drives. By default the own drive.')

/** The arguments that name a file or a folder: by id, or by path. */
export const reference = {
  id: entryId.optional(),
  path: path.optional().describe('Instead of the id: the path of the file or folder.'),
  drive: driveId.optional().describe('With a path: the id of its drive. By default the own drive.'),
}

export interface Reference {
  id?: string | undefined
  path?: string | undefined
  drive?: string | undefined
}

export const entryShape = {
  id: z.string(),
  kind: z.enum(['file', 'folder']),
  name: z.string().describe('Empty for the root of a drive.'),
  path: z.string(),
  drive: z.string().describe('The id of its drive.'),
  size: z.number().describe('Bytes. For a folder, those of all files below it.'),
  content_type: z.string().nullable().describe('The media type of a file.'),
  modified_at: z.string().describe('When its content was last changed (RFC 3339, UTC).'),
  revision: z.number().describe('Grows with each change. Pass it as expected_revision.'),
}
export const entryOutput = z.object(entryShape)
export type EntryOutput = z.infer<typeof entryOutput>

/** The parts of an entry that a tool returns. */
type Shown = Pick<
  PlacedEntry,
  'id' | 'kind' | 'name' | 'size' | 'contentType' | 'modifiedAt' | 'revision'
>

export const shown = (entry: Shown, drive: Drive, names: readonly string[]): EntryOutput => ({
  id: entry.id,
  kind: entry.kind === FOLDER ? 'folder' : 'file',
  name: entry.name,
  path: drive.pathOf(names),
  drive: drive.id,
  size: entry.size,
  content_type: entry.kind === FILE ? entry.contentType : null,
  modified_at: new Date(entry.modifiedAt).toISOString(),
  revision: entry.revision,
})

/** The drive that a caller means without naming one: their own, or the one of a workspace key. */
const driveSubject = ({ caller }: Call, drive: string | undefined): Subject =>
  drive === undefined && caller.workspaceId !== null
    ? { workspaceId: caller.workspaceId }
    : { driveId: drive ?? null }

/** Opens a drive by its id. @throws FORBIDDEN, INSUFFICIENT_SCOPE, KEY_OUT_OF_BOUNDS */
export const openNamed = (
  call: Call,
  drive: string | undefined,
  level: DriveLevel,
): Promise<OpenDrive> => openDrive(call.context, call.caller, driveSubject(call, drive), level)

/** @throws INVALID_INPUT unless exactly one of id and path is given */
function requireOne({ id, path: at, drive }: Reference): void {
  if ((id === undefined) === (at === undefined))
    throw new InvalidInput('id', 'Give either an id or a path.')
  if (id !== undefined && drive !== undefined)
    throw new InvalidInput('drive', 'An id needs no drive. Leave it out.')
}

/**
 * Opens the drive of an entry at a level, and finds the entry.
 * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT, and the errors of opening a drive
 */
export async function locate(
  call: Call,
  given: Reference,
  level: DriveLevel,
): Promise<OpenDrive & { entry: PlacedEntry }> {
  requireOne(given)
  const { context, caller } = call
  const { id } = given
  const open =
    id === undefined
      ? await openNamed(call, given.drive, level)
      : await openDrive(context, caller, { entries: [{ id }] }, level)
  const entry =
    id === undefined
      ? await context.services.entryLists.at(open.tree, parsePath(given.path ?? ''))
      : await findInDrive(context, open.drive, id)
  if (!entry) throw id === undefined ? nothingAt(given.path ?? '') : entryNotFound(id)
  return { ...open, entry }
}

const nothingAt = (at: string) =>
  new AppError('FILE_NOT_FOUND', 'There is no file or folder at this path. Check the path.', {
    path: at,
  })

/** Like `locate`, but requires a file. */
export async function locateFile(call: Call, given: Reference, level: DriveLevel) {
  const found = await locate(call, given, level)
  if (found.entry.kind !== FILE)
    throw new InvalidInput('id', 'This is a folder. Name a file, or list the folder.')
  return found
}

/** Like `locate`, but requires a folder; without a name, the root of the drive. */
export async function locateFolder(call: Call, given: Reference, level: DriveLevel) {
  const isRoot = given.id === undefined && given.path === undefined
  const found = await locate(call, isRoot ? { ...given, path: '' } : given, level)
  if (found.entry.kind !== FOLDER) throw folderNotFound(found.tree, found.entry.names)
  return found
}

/** The place of a new or changed entry, without what a key without the right to read may see. */
export const placed = (drive: Drive, id: string, names: readonly string[]) => ({
  id,
  path: pathIn(drive.workspace ? { front: '/' } : {}, names),
  drive: drive.id,
})
