import { figure, MAX_DELETED_FILES } from '../../src/limits.ts'
import { joinPath } from '../../src/paths.ts'
import type { FileView, FolderView } from '../../src/services/tree/listing.ts'
import type { Upload, UploadFields } from '../../src/upload.ts'
import { area } from '../plugins/rest.ts'
import { cursor, ifMatch, ifMatchHeader, limit, onConflict, ownDrive } from './arguments.ts'
import { builder, type DriveContext } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, FOLDER_PATH, MD5, MEDIA_TYPE } from './examples.ts'

export const rest = area('files', 'Files of the caller.')

export const File = builder.objectRef<FileView>('File').implement({
  description: 'A file of the caller.',
  fields: t => ({
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
    name: t.string({ example: 'report.pdf', resolve: file => file.names.at(-1) ?? '' }),
    path: t.string({ description: 'Full path.', example: FILE_PATH, resolve: file => joinPath(file.names) }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
    updated_at: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const TreeFile = builder.objectRef<FileView>('TreeFile').implement({
  description: 'A file in a listing.',
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
    id: t.exposeID('id'),
    md5_checksum: t.exposeString('md5', { example: MD5 }),
    name: t.string({ description: 'Full path.', example: FILE_PATH, resolve: file => joinPath(file.names) }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
    updated_at: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const TreeFolder = builder.objectRef<FolderView>('TreeFolder').implement({
  description: 'A folder in a listing.',
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    file_count: t.expose('fileCount', { type: 'Long', description: 'All files below it.' }),
    name: t.exposeString('name', { example: '2026' }),
    size: t.expose('size', { type: 'Long', description: 'Bytes of all files below it.', example: BYTES }),
    updated_at: t.expose('updatedAt', { type: 'DateTime', description: 'When it was created, moved or renamed.' }),
  }),
})

interface FileLevel {
  names: string[]
  folders: FolderView[]
  files: FileView[]
  nextCursor: string | null
}

const FileTree = builder.objectRef<FileLevel>('FileTree').implement({
  description: 'One level of the files of the caller.',
  fields: t => ({
    files: t.field({ type: [TreeFile], description: 'Sorted by name.', resolve: tree => tree.files }),
    folder_entries: t.field({
      type: [TreeFolder],
      description: 'The same folders with what they hold.',
      resolve: tree => tree.folders,
    }),
    folders: t.stringList({
      description: 'Names, sorted.',
      example: ['2026'],
      resolve: tree => tree.folders.map(f => f.name),
    }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
    path: t.string({ example: 'docs', resolve: tree => joinPath(tree.names) }),
  }),
})

builder.queryField('fileTree', t =>
  t.withAuth({ drive: 'read' }).field({
    type: FileTree,
    description: 'One level of the files of the caller, folders first. An unknown path is empty.',
    rest: rest({
      route: 'GET /api/files/tree',
      statuses: [400, 401],
      fails: ['INVALID_PATH'],
    }),
    args: {
      cursor: t.arg.string(cursor),
      limit: t.arg.int(limit),
      path: t.arg.string({ example: FOLDER_PATH }),
    },
    on: ownDrive,
    resolve: (_root, { path, ...page }, { services, tree }) => services.listings.level(tree, path ?? '', page),
  }),
)

const DeletedFile = builder.objectRef<{ names: string[] }>('DeletedFile').implement({
  fields: t => ({
    file_deleted: t.string({
      description: 'Its path.',
      example: FILE_PATH,
      resolve: deleted => joinPath(deleted.names),
    }),
  }),
})

builder.mutationField('deleteFile', t =>
  t.withAuth({ drive: 'delete' }).field({
    type: DeletedFile,
    description: 'Deletes a file of the caller, and its shares with it.',
    rest: rest({
      route: 'DELETE /api/files/delete',
      statuses: [400, 401, 404],
      fails: ['INVALID_PATH', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
      from: ifMatchHeader,
    }),
    args: {
      file: t.arg.string({ required: true, description: 'Full path.', example: FILE_PATH }),
      if_match: t.arg.string(ifMatch),
    },
    on: ownDrive,
    resolve: async (_root, { file, if_match: expected }, { services, caller, tree }) => ({
      names: await services.files.remove(tree, { path: file, field: 'file' }, expected, caller),
    }),
  }),
)

const DeletedFiles = builder.objectRef<{ deleted: string[]; failed: string[] }>('DeletedFiles').implement({
  fields: t => ({
    files_deleted: t.exposeStringList('deleted', { example: [FILE_PATH] }),
    files_failed: t.exposeStringList('failed', {
      description: 'Those that do not exist.',
      example: ['docs/missing.txt'],
    }),
  }),
})

builder.mutationField('deleteFiles', t =>
  t.withAuth({ drive: 'delete' }).field({
    type: DeletedFiles,
    description: 'Deletes the named files that exist, in one transaction.',
    rest: rest({
      route: 'DELETE /api/files/delete/batch',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'FOLDER_NOT_FOUND'],
      from: { files: 'body' },
    }),
    args: {
      files: t.arg.stringList({
        required: true,
        maxItems: MAX_DELETED_FILES,
        description: `1 to ${figure(MAX_DELETED_FILES)} full paths.`,
        example: [FILE_PATH],
      }),
    },
    on: ownDrive,
    resolve: (_root, { files }, { services, caller, tree }) => services.files.removeMany(tree, files, caller),
  }),
)

const MovedPath = builder.objectRef<{ source: string[]; destination: string[] }>('MovedPath').implement({
  fields: t => ({
    destination: t.string({ example: 'archive/report.pdf', resolve: moved => joinPath(moved.destination) }),
    source: t.string({ example: FILE_PATH, resolve: moved => joinPath(moved.source) }),
  }),
})

builder.mutationField('moveFile', t =>
  t.withAuth({ drive: 'write' }).field({
    type: MovedPath,
    description: 'Moves a file of the caller, at a constant cost.',
    rest: rest({
      route: 'POST /api/files/move',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
      from: ifMatchHeader,
    }),
    args: {
      if_match: t.arg.string(ifMatch),
      on_conflict: t.arg.string(onConflict),
      destination: t.arg.string({
        required: true,
        description: 'Full path, with the new name.',
        example: 'archive/report.pdf',
      }),
      source: t.arg.string({ required: true, description: 'Full path.', example: FILE_PATH }),
    },
    on: ownDrive,
    resolve: async (_root, { source, destination, on_conflict: choice, if_match: expected }, context) => {
      const { services, caller, drive, tree } = context
      const how = { onConflict: drive.onConflict(choice), expected }
      return named(context, await services.files.move(tree, source, destination, how, caller))
    },
  }),
)

/** Answers the ETag of a file. */
export function named<F extends { revision: number }>({ shared }: DriveContext, file: F): F {
  shared.revision = file.revision
  return file
}

export async function uploadFile(
  context: DriveContext,
  file: Upload,
  to: UploadFields,
  expected: string | null | undefined,
): Promise<FileView> {
  const { services, drive, tree, limits, caller } = context
  const decide = (choice: string | null | undefined) => drive.onConflict(choice)
  return named(context, await services.files.upload(tree, file, { to, expected, decide, limits }, caller))
}

builder.mutationField('uploadFile', t =>
  t.withAuth({ drive: 'write' }).field({
    type: File,
    description: 'Streams a file into a folder of the caller.',
    rest: rest({
      route: 'POST /api/files/upload',
      statuses: [400, 401, 409],
      fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
      wrap: 'file',
      msg: 'file_uploaded',
      from: { file: 'form', folder: 'form', on_conflict: 'form', ...ifMatchHeader },
    }),
    args: {
      file: t.arg({ type: 'Upload', required: true }),
      folder: t.arg.string({ description: 'Path of the folder; missing ones are created.', example: 'docs' }),
      if_match: t.arg.string(ifMatch),
      on_conflict: t.arg.string(onConflict),
    },
    on: ownDrive,
    resolve: async (_root, { file, folder, on_conflict: choice, if_match: expected }, context) =>
      uploadFile(context, await file, { folder, onConflict: choice }, expected),
  }),
)
