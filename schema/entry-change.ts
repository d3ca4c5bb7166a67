import type { Drive as DriveValue } from '../src/access/drive.ts'
import { AppError, InvalidInput } from '../src/runtime/errors.ts'
import { figure, MAX_CHANGED, MAX_NOTE } from '../src/values/limits.ts'
import { joinPath } from '../src/values/paths.ts'
import { entryNotFound, type EntryRef as Ref } from './access.ts'
import type { ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import {
  entriesOf,
  entryOf,
  findInDrive,
  folderField,
  inDrive,
  isFolder,
  modifiedAtInput,
} from './entry.ts'
import { DrivePath, EntryRef, nameOf } from './entry-ref.ts'
import { OnConflict } from './enums.ts'
import { mutation } from './mutation.ts'
import { Drive, Entry, type EntryNode, File, Folder } from './refs.ts'
import { TrashItem, trashItemsOf } from './trash-item.ts'

/** The result of a change. It is read again, because clients may select any of its fields. */
export async function madeEntry(
  context: Context,
  drive: DriveValue,
  id: string,
): Promise<EntryNode> {
  const entry = await findInDrive(context, drive, id)
  if (!entry) throw entryNotFound(id)
  return { ...entry, drive }
}

/** The path of a destination folder. @throws FOLDER_NOT_FOUND */
async function folderPath(context: Context, drive: DriveValue, { id, at }: Ref): Promise<string> {
  if (typeof id !== 'string') return at?.path ?? ''
  const folder = await entryOf(context, drive, id)
  if (!isFolder(folder))
    throw new AppError(
      'FOLDER_NOT_FOUND',
      'There is no folder with this id. Use an id from a listing.',
      { id },
    )
  return joinPath(folder.names)
}

/** The list is as long as the list of named entries. */
const sizedByEntries = { listSize: MAX_CHANGED, sizedBy: 'input.entries' }

const leftFolders = <Left extends { drive: DriveValue; leftIds: string[] }>(
  t: ObjectFields<Left>,
) =>
  t.withAuth({ drive: 'read' }).field({
    type: [Folder],
    nullable: true,
    description: 'The folders that they were in; null for a key without a scope to read.',
    ...sizedByEntries,
    resolve: async ({ drive, leftIds }: Left, _args: object, context: Context) =>
      (await entriesOf(context, drive, leftIds)).filter(isFolder),
  })

mutation('uploadFile', {
  description: 'Streams a file into a folder.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'PATH_EXISTS',
    'FILE_TOO_LARGE',
    'QUOTA_EXCEEDED',
    'SHARE_FULL',
    'FILE_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'REVISION_MISMATCH',
  ],
  places: { modified_at: 'modifiedAt' },
  input: t => ({
    file: t.field({ type: 'Upload', required: true, description: 'Its bytes and its name.' }),
    folder: t.field({
      type: EntryRef,
      description:
        "The destination folder; missing folders of a path are created. By default the root of the caller's own drive.",
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What to do if the name is taken; by default FAIL.',
    }),
    modifiedAt: modifiedAtInput(t),
    expectedRevision: t.int({
      description:
        'The expected revision of the existing file; fails with REVISION_MISMATCH if it has another one.',
    }),
  }),
  on: ({ folder }) => (folder ? { entries: [folder], orShare: true } : { driveId: null }),
  resolve: async (
    { file, folder, onConflict, modifiedAt, expectedRevision: expected },
    context,
  ) => {
    const { services, drive, tree, limits, caller } = context
    const decide = () => drive.onConflict(onConflict)
    decide()
    const to = { folder: folder ? await folderPath(context, drive, folder) : '', modifiedAt }
    const { id } = await services.files.upload(
      tree,
      await file,
      { to, expected, decide, limits },
      caller,
    )
    return { drive, file: await madeEntry(context, drive, id) }
  },
  payload: t => ({
    file: t.expose('file', {
      type: File,
      description: 'The new file, or the existing file with its new content.',
    }),
    folder: folderField(t, payload => payload.file),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
  }),
})

mutation('createFolder', {
  description: 'Creates a folder, with missing parents.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_PATH',
    'FOLDER_NOT_FOUND',
    'PATH_EXISTS',
    'QUOTA_EXCEEDED',
    'SHARE_FULL',
    'RATE_LIMITED',
  ],
  places: { path: 'at.path' },
  rateLimit: 'folders',
  input: t => ({ at: t.field({ type: DrivePath, required: true, description: 'Its place.' }) }),
  on: ({ at }) => ({ driveId: at.drive, orShare: true }),
  resolve: async ({ at }, context) => {
    const { services, drive, tree, caller } = context
    const { id } = await services.folders.create(tree, at.path, caller)
    return { drive, folder: await madeEntry(context, drive, id) }
  },
  payload: t => ({
    folder: t.expose('folder', { type: Folder, description: 'The new folder.' }),
    parent: folderField(t, payload => payload.folder),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
  }),
})

mutation('moveEntries', {
  description:
    'Moves files and folders within a drive, or renames one: either all of them, or none. The cost does not depend on the content of folders.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'FILE_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'PATH_EXISTS',
    'QUOTA_EXCEEDED',
    'SHARE_FULL',
    'REVISION_MISMATCH',
  ],
  places: { destination: 'to' },
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_CHANGED,
      description: `The entries to move: 1 to ${figure(MAX_CHANGED)} of one drive.`,
    }),
    to: t.field({
      type: EntryRef,
      description:
        'The destination folder; missing folders of a path are created. Without it, they stay in their folders.',
    }),
    name: t.string({ description: 'A new name, for a single entry only.' }),
    onConflict: t.field({
      type: OnConflict,
      description:
        'What to do if the name is taken; by default FAIL. REPLACE does not replace folders.',
    }),
    expectedRevision: t.int({
      description:
        'The expected revision of a single entry; fails with REVISION_MISMATCH if it has another one.',
    }),
  }),
  on: ({ entries, to }) => ({ entries: to ? [...entries, to] : entries, orShare: true }),
  resolve: async ({ entries, to, name, onConflict, expectedRevision: expected }, context) => {
    const { services, drive, tree, caller } = context
    const choice = drive.onConflict(onConflict)
    const place = { to: to ? nameOf(to) : null, name: name ?? null, onConflict: choice, expected }
    const { moved, leftIds, toNames } = await services.entryChanges.move(
      tree,
      entries.map(nameOf),
      place,
      caller,
    )
    const ids = moved.map(({ id }) => id)
    return { drive, tree, leftIds, toNames, entries: await entriesOf(context, drive, ids) }
  },
  payload: t => ({
    entries: t.expose('entries', {
      type: [Entry],
      nullable: true,
      description: 'The entries at their new places.',
      ...sizedByEntries,
    }),
    from: leftFolders(t),
    to: t.withAuth({ drive: 'read' }).field({
      type: Folder,
      nullable: true,
      description: 'The destination folder; null after a rename.',
      resolve: async ({ drive, toNames }, _args, { services, tree }) => {
        const folder = toNames && (await services.entryLists.at(tree, toNames))
        return folder && inDrive(folder, drive)
      },
    }),
    drive: t.expose('drive', { type: Drive, description: 'Their drive.' }),
  }),
})

mutation('deleteEntries', {
  description:
    'Deletes files, and folders with everything in them: either all of them, or none. Shares of the files end.',
  auth: { drive: 'delete' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'FILE_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'FOLDER_NOT_EMPTY',
    'REVISION_MISMATCH',
  ],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      required: true,
      maxItems: MAX_CHANGED,
      description: `The entries to delete: 1 to ${figure(MAX_CHANGED)} of one drive.`,
    }),
    recursive: t.boolean({
      defaultValue: false,
      description: 'Whether to delete folders that are not empty.',
    }),
    expectedRevision: t.int({
      description:
        'The expected revision of a single entry; fails with REVISION_MISMATCH if it has another one.',
    }),
  }),
  on: ({ entries }) => ({ entries, orShare: true }),
  resolve: async (
    { entries, recursive, expectedRevision: expected },
    { services, drive, tree, caller },
  ) => ({
    drive,
    ...(await services.entryChanges.remove(
      tree,
      entries.map(nameOf),
      { recursive: recursive ?? false, expected },
      caller,
    )),
  }),
  payload: t => ({
    deletedIds: t.exposeIDList('deletedIds', {
      description: 'The ids of the named entries.',
      ...sizedByEntries,
    }),
    trashItems: t.withAuth({ drive: 'read' }).field({
      type: [TrashItem],
      nullable: true,
      description:
        'Their items in the trash, for restoring them; empty if the service keeps no trash, null for a key without a scope to read.',
      ...sizedByEntries,
      resolve: ({ drive, trashIds }, _args, context) => trashItemsOf(context, drive, trashIds),
    }),
    filesDeleted: t.exposeInt('filesDeleted', {
      description: 'How many files were deleted, including those in folders.',
    }),
    folders: leftFolders(t),
    drive: t.expose('drive', {
      type: Drive,
      description: 'The drive from which they were deleted.',
    }),
  }),
})

mutation('writeNote', {
  description: "Writes the caller's note on a content.",
  auth: { drive: 'write' },
  fails: ['INVALID_INPUT', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND', 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
  rateLimit: 'notes',
  input: t => ({
    file: t.id({
      description: "The id of a file with this content in the caller's own drive; or:",
    }),
    md5: t.string({ description: 'MD5 of the content, in hex.' }),
    content: t.string({
      required: true,
      description: `Up to ${figure(MAX_NOTE)} characters; an empty one removes the note.`,
    }),
  }),
  on: () => ({ driveId: null }),
  resolve: async ({ file: id, md5, content }, context) => {
    const { services, caller, drive } = context
    if (!id === !md5)
      throw new InvalidInput('file', 'Give either a file with this content, or its md5.')
    const found = id ? await findInDrive(context, drive, id) : null
    if (id && (!found || isFolder(found))) throw entryNotFound(id)
    const checksum = found?.md5 ?? md5 ?? ''
    const file = found && inDrive(found, drive)
    return {
      file,
      md5: file?.md5 ?? checksum.toLowerCase(),
      note: await services.notes.write(caller, checksum, content),
    }
  },
  payload: t => ({
    file: t.expose('file', {
      type: File,
      nullable: true,
      description: 'The file, if the input named one.',
    }),
    md5: t.exposeString('md5', { nullable: true, description: 'MD5 of the content.' }),
    note: t.exposeString('note', { description: 'The new note.' }),
  }),
})
