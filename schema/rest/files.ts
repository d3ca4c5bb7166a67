import type { FileView, FolderView, ListedFile } from '../../src/services/tree/listing.ts'
import { figure, MAX_DELETED_FILES } from '../../src/values/limits.ts'
import { joinPath } from '../../src/values/paths.ts'
import type { Upload, UploadFields } from '../../src/values/upload.ts'
import { ifMatch, modifiedAt, move, onConflict, paged } from './arguments.ts'
import { type DriveContext, objectOf } from './builder.ts'
import { deleteFile, deleteFiles, moveFile, named } from './changes.ts'
import { BYTES, CURSOR, FILE_PATH, FOLDER_PATH, MD5, MEDIA_TYPE, MODIFIED } from './examples.ts'
import { operationsOf } from './operation.ts'

export const operation = operationsOf('files', 'Files of the caller.')

export const File = objectOf<FileView>('File', 'A file of the caller.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
  folder: t.string({
    description: 'Path of its folder.',
    example: 'docs',
    resolve: file => joinPath(file.names.slice(0, -1)),
  }),
  id: t.exposeID('id'),
  md5_checksum: t.exposeString('md5', {
    description: 'MD5 of the bytes, lower-case hex; identifies the file for notes.',
    example: MD5,
  }),
  modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
  name: t.string({ example: 'report.pdf', resolve: file => file.names.at(-1) ?? '' }),
  path: t.string({
    description: 'Full path.',
    example: FILE_PATH,
    resolve: file => joinPath(file.names),
  }),
  size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
  updated_at: t.expose('updatedAt', { type: 'DateTime' }),
}))

const TreeFile = objectOf<ListedFile>('TreeFile', 'A file in a listing.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
  id: t.exposeID('id'),
  md5_checksum: t.exposeString('md5', { example: MD5 }),
  modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
  name: t.exposeString('path', { description: 'Full path.', example: FILE_PATH }),
  size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
  updated_at: t.expose('updatedAt', { type: 'DateTime' }),
}))

const TreeFolder = objectOf<FolderView>('TreeFolder', 'A folder in a listing.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  file_count: t.expose('fileCount', { type: 'Long', description: 'Number of all files below it.' }),
  name: t.exposeString('name', { example: '2026' }),
  size: t.expose('size', {
    type: 'Long',
    description: 'Bytes of all files below it.',
    example: BYTES,
  }),
  updated_at: t.expose('updatedAt', {
    type: 'DateTime',
    description: 'When it was created, moved or renamed.',
  }),
}))

interface FileLevel {
  names: string[]
  folders: FolderView[]
  files: ListedFile[]
  nextCursor: string | null
}

const FileTree = objectOf<FileLevel>('FileTree', 'One level of the files of the caller.', t => ({
  files: t.field({ type: [TreeFile], description: 'Sorted by name.', resolve: tree => tree.files }),
  folder_entries: t.field({
    type: [TreeFolder],
    description: 'The same folders with their sizes and numbers of files.',
    resolve: tree => tree.folders,
  }),
  folders: t.stringList({
    description: 'Names, sorted.',
    example: ['2026'],
    resolve: tree => tree.folders.map(f => f.name),
  }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  path: t.string({ example: 'docs', resolve: tree => joinPath(tree.names) }),
}))

operation('GET /api/files/tree', 'fileTree', {
  description: 'One level of the files of the caller, folders first. An unknown path is empty.',
  auth: { drive: 'read' },
  statuses: [400, 401],
  fails: ['INVALID_PATH'],
  args: arg => ({ ...paged(arg), path: arg.string({ example: FOLDER_PATH }) }),
  type: FileTree,
  resolve: ({ path, ...page }, { services, tree }) =>
    services.listings.level(tree, path ?? '', page),
})

const DeletedFile = objectOf<{ names: string[] }>('DeletedFile', t => ({
  file_deleted: t.string({
    description: 'Its path.',
    example: FILE_PATH,
    resolve: deleted => joinPath(deleted.names),
  }),
}))

operation('DELETE /api/files/delete', 'deleteFile', {
  description: 'Deletes a file of the caller and ends its shares.',
  auth: { drive: 'delete' },
  statuses: [400, 401, 404],
  fails: ['INVALID_PATH', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  args: arg => ({
    file: arg.string({ required: true, description: 'Full path.', example: FILE_PATH }),
    if_match: arg.string(ifMatch),
  }),
  type: DeletedFile,
  resolve: ({ file, if_match: expected }, context) =>
    deleteFile({ path: file }, 'file', expected, context),
})

const DeletedFiles = objectOf<{ deleted: string[]; failed: string[] }>('DeletedFiles', t => ({
  files_deleted: t.exposeStringList('deleted', { example: [FILE_PATH] }),
  files_failed: t.exposeStringList('failed', {
    description: 'The paths that do not exist.',
    example: ['docs/missing.txt'],
  }),
}))

operation('DELETE /api/files/delete/batch', 'deleteFiles', {
  description: 'Deletes the named files that exist, in one transaction.',
  auth: { drive: 'delete' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'FOLDER_NOT_FOUND'],
  from: { files: 'body' },
  args: arg => ({
    files: arg.stringList({
      required: true,
      maxItems: MAX_DELETED_FILES,
      description: `1 to ${figure(MAX_DELETED_FILES)} full paths.`,
      example: [FILE_PATH],
    }),
  }),
  type: DeletedFiles,
  resolve: ({ files }, context) => deleteFiles(files, context),
})

export const MovedPath = objectOf<{ source: string[]; destination: string[] }>('MovedPath', t => ({
  destination: t.string({
    example: 'archive/report.pdf',
    resolve: moved => joinPath(moved.destination),
  }),
  source: t.string({ example: FILE_PATH, resolve: moved => joinPath(moved.source) }),
}))

operation('POST /api/files/move', 'moveFile', {
  description: 'Moves a file of the caller, at a constant cost.',
  auth: { drive: 'write' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  args: arg => move(arg, { source: FILE_PATH, destination: 'archive/report.pdf' }),
  type: MovedPath,
  resolve: (args, context) => moveFile(args, context),
})

export async function uploadFile(
  context: DriveContext,
  file: Upload,
  to: UploadFields,
  expected: string | null | undefined,
): Promise<FileView> {
  const { services, drive, tree, limits, caller } = context
  const decide = (choice: string | null | undefined) => drive.onConflict(choice)
  return named(
    context,
    await services.files.upload(tree, file, { to, expected, decide, limits }, caller),
  )
}

operation('POST /api/files/upload', 'uploadFile', {
  description: 'Streams a file into a folder of the caller.',
  auth: { drive: 'write' },
  statuses: [400, 401, 409],
  fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  wrap: 'file',
  msg: 'file_uploaded',
  from: { file: 'form', folder: 'form', modified_at: 'form', on_conflict: 'form' },
  args: arg => ({
    file: arg({ type: 'Upload', required: true }),
    folder: arg.string({
      description: 'Path of the folder; missing ones are created.',
      example: 'docs',
    }),
    if_match: arg.string(ifMatch),
    modified_at: modifiedAt(arg),
    on_conflict: arg.string(onConflict),
  }),
  type: File,
  resolve: async (
    { file, folder, on_conflict: choice, modified_at: time, if_match: expected },
    context,
  ) => uploadFile(context, await file, { folder, onConflict: choice, modifiedAt: time }, expected),
})
