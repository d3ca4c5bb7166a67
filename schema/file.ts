import { FILE } from '../db/models/entry.ts'
import type { Context } from '../src/context.ts'
import { MAX_DELETED_FILES } from '../src/limits.ts'
import { joinPath } from '../src/paths.ts'
import type { FileView, FolderView } from '../src/services/listing.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { Node } from './node.ts'

export const File = builder.objectRef<FileView>('File')

const noteOf = batch(async ({ services, caller }: Context, checksums) =>
  caller ? services.notes.ofContents(caller, checksums) : new Map<string, string>(),
)

File.implement({
  description: 'A file of the caller.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id'),
    name: t.string({ resolve: file => file.names.at(-1) ?? '' }),
    path: t.string({ description: 'Full path.', resolve: file => joinPath(file.names) }),
    folder: t.string({ description: 'Path of its folder.', resolve: file => joinPath(file.names.slice(0, -1)) }),
    fileType: t.exposeString('fileType', { description: 'Media type.' }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.' }),
    md5Checksum: t.exposeString('md5', { description: 'MD5 of the bytes, lower-case hex; names the file for notes.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    note: t.withAuth({ privateFiles: 'read' }).string({
      description: 'The note on this content; empty when there is none.',
      restField: false,
      resolve: async (file, _args, context) => (await noteOf(context, file.md5)) ?? '',
    }),
  }),
})

const TreeFile = builder.objectRef<FileView>('TreeFile').implement({
  description: 'A file in a listing.',
  fields: t => ({
    name: t.string({ description: 'Full path.', resolve: file => joinPath(file.names) }),
    fileType: t.exposeString('fileType', { description: 'Media type.' }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.' }),
    md5Checksum: t.exposeString('md5'),
    id: t.exposeID('id'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const TreeFolder = builder.objectRef<FolderView>('TreeFolder').implement({
  description: 'A folder in a listing.',
  fields: t => ({
    name: t.exposeString('name'),
    size: t.expose('size', { type: 'Long', description: 'Bytes of all files below it.' }),
    fileCount: t.expose('fileCount', { type: 'Long', description: 'All files below it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was made, moved or renamed.' }),
  }),
})

interface Tree {
  names: string[]
  folders: FolderView[]
  files: FileView[]
  nextCursor: string | null
}

const FileTree = builder.objectRef<Tree>('FileTree').implement({
  description: 'One level of the files of the caller.',
  fields: t => ({
    path: t.string({ resolve: tree => joinPath(tree.names) }),
    folders: t.stringList({ description: 'Names, sorted.', resolve: tree => tree.folders.map(f => f.name) }),
    folderEntries: t.field({
      type: [TreeFolder],
      description: 'The same folders with what they hold.',
      resolve: tree => tree.folders,
    }),
    files: t.field({ type: [TreeFile], description: 'Sorted by name.', resolve: tree => tree.files }),
    nextCursor: t.exposeString('nextCursor', { nullable: true }),
  }),
})

builder.queryField('fileTree', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: FileTree,
    description: 'One level of the files of the caller, folders first. An unknown path is empty.',
    rest: { route: 'GET /api/files/tree', errors: [400, 401] },
    args: { path: t.arg.string(), limit: t.arg.int(), cursor: t.arg.string() },
    resolve: (_root, { path, ...page }, { services, caller }) =>
      services.listings.level(caller.bucket, path ?? '', page),
  }),
)

builder.queryField('file', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: File,
    nullable: true,
    description: 'The file at a path; null when there is none.',
    args: { path: t.arg.string({ required: true }) },
    resolve: async (_root, { path }, { services, caller }) => {
      const found = await services.listings.byPath(caller.bucket, path)
      return found?.kind === FILE ? found : null
    },
  }),
)

const UploadFileInput = builder.inputType('UploadFileInput', {
  fields: t => ({
    file: t.field({ type: 'Upload', required: true }),
    folder: t.string({ description: 'Path of the folder; missing ones are made.' }),
  }),
})

builder.mutationField('uploadFile', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: File,
    description: 'Streams a file into a folder of the caller.',
    rest: {
      route: 'POST /api/files/upload',
      errors: [400, 401, 409],
      wrap: 'file',
      msg: 'file_uploaded',
      from: { file: 'form', folder: 'form' },
    },
    args: { input: t.arg({ type: UploadFileInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) =>
      services.files.upload(caller.bucket, await input.file, input.folder, caller.limits, caller),
  }),
)

const MovePathInput = builder.inputType('MovePathInput', {
  fields: t => ({
    source: t.string({ required: true, description: 'Full path.' }),
    destination: t.string({ required: true, description: 'Full path, with the new name.' }),
  }),
})

const MovedPath = builder.objectRef<{ source: string[]; destination: string[] }>('MovedPath').implement({
  fields: t => ({
    source: t.string({ resolve: moved => joinPath(moved.source) }),
    destination: t.string({ resolve: moved => joinPath(moved.destination) }),
  }),
})

builder.mutationField('moveFile', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: MovedPath,
    description: 'Moves a file of the caller. Costs the same whatever its size.',
    rest: { route: 'POST /api/files/move', errors: [400, 401] },
    args: { input: t.arg({ type: MovePathInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) =>
      services.files.move(caller.bucket, input.source, input.destination, caller.userId),
  }),
)

const MovedFolder = builder
  .objectRef<{ source: string[]; destination: string[]; filesMoved: number }>('MovedFolder')
  .implement({
    fields: t => ({
      source: t.string({ resolve: moved => joinPath(moved.source) }),
      destination: t.string({ resolve: moved => joinPath(moved.destination) }),
      filesMoved: t.expose('filesMoved', { type: 'Long' }),
    }),
  })

builder.mutationField('moveFolder', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: MovedFolder,
    description: 'Moves a folder of the caller with all that is in it. Costs the same whatever that is.',
    rest: { route: 'POST /api/folders/move', errors: [400, 401] },
    args: { input: t.arg({ type: MovePathInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) =>
      services.folders.move(caller.bucket, input.source, input.destination, caller.userId),
  }),
)

const DeletedFile = builder.objectRef<{ fileDeleted: string }>('DeletedFile').implement({
  fields: t => ({ fileDeleted: t.exposeString('fileDeleted', { description: 'Its path.' }) }),
})

const DeleteFileInput = builder.inputType('DeleteFileInput', {
  fields: t => ({ file: t.string({ required: true, description: 'Full path.' }) }),
})

builder.mutationField('deleteFile', t =>
  t.withAuth({ privateFiles: 'delete' }).field({
    type: DeletedFile,
    description: 'Deletes a file of the caller, and its shares with it.',
    rest: { route: 'DELETE /api/files/delete', errors: [400, 401, 404] },
    args: { input: t.arg({ type: DeleteFileInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => ({
      fileDeleted: joinPath(await services.files.remove(caller.bucket, { path: input.file, field: 'file' })),
    }),
  }),
)

const DeletedFiles = builder.objectRef<{ deleted: string[]; failed: string[] }>('DeletedFiles').implement({
  fields: t => ({
    filesDeleted: t.exposeStringList('deleted'),
    filesFailed: t.exposeStringList('failed', { description: 'Those that were not there.' }),
  }),
})

const DeleteFilesInput = builder.inputType('DeleteFilesInput', {
  fields: t => ({
    files: t.stringList({ required: true, maxItems: MAX_DELETED_FILES, description: '1 to 1,000 full paths.' }),
  }),
})

builder.mutationField('deleteFiles', t =>
  t.withAuth({ privateFiles: 'delete' }).field({
    type: DeletedFiles,
    description: 'Deletes those of the named files that are there, in one transaction.',
    rest: { route: 'DELETE /api/files/delete/batch', errors: [400, 401], from: { files: 'body' } },
    args: { input: t.arg({ type: DeleteFilesInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.files.removeMany(caller.bucket, input.files),
  }),
)
