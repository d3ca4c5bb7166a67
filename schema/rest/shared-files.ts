import { FOLDER } from '../../db/models/entry.ts'
import { joinPath, parsePath } from '../../src/values/paths.ts'
import { ifMatch, modifiedAt, move, onConflict } from './arguments.ts'
import { type Argument, objectOf } from './builder.ts'
import { moveFile, moveFolder, named } from './changes.ts'
import { FILE_PATH, FOLDER_PATH, SHARE_TOKEN } from './examples.ts'
import { File, MovedPath, uploadFile } from './files.ts'
import { Folder } from './folders.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('shared files', 'Shares that the caller may edit.')

const token = (arg: Argument) =>
  arg.string({ required: true, description: 'The token of the share.', example: SHARE_TOKEN })

operation('POST /api/shared/{token}/upload', 'uploadSharedFile', {
  description:
    'Streams a file into a shared folder that the caller may edit. If a single file is shared, its content is replaced; on_conflict must then be replace.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'SHARE_FULL', 'SHARE_NOT_FOUND', 'PATH_EXISTS'],
  wrap: 'file',
  from: { file: 'form', folder: 'form', modified_at: 'form', on_conflict: 'form' },
  args: arg => ({
    file: arg({ type: 'Upload', required: true }),
    folder: arg.string({
      description: 'From the shared folder; missing ones are created.',
      example: FOLDER_PATH,
    }),
    if_match: arg.string(ifMatch),
    modified_at: modifiedAt(arg),
    on_conflict: arg.string(onConflict),
    token: token(arg),
  }),
  on: ({ token }) => ({ shareToken: token }),
  type: File,
  resolve: async (
    { file, folder, on_conflict: choice, modified_at: time, if_match: expected },
    context,
  ) => uploadFile(context, await file, { folder, onConflict: choice, modifiedAt: time }, expected),
})

operation('POST /api/shared/{token}/folders', 'createSharedFolder', {
  description: 'Creates a folder in a shared folder that the caller may edit.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: ['INVALID_PATH', 'SHARE_FULL', 'SHARE_NOT_FOUND', 'PATH_EXISTS'],
  wrap: 'folder',
  rateLimit: 'folders',
  args: arg => ({
    path: arg.string({
      required: true,
      description: 'From the shared folder; missing parent folders are created.',
      example: FOLDER_PATH,
    }),
    token: token(arg),
  }),
  on: ({ token }) => ({ shareToken: token }),
  type: Folder,
  resolve: async ({ path }, context) => {
    const { services, caller, tree } = context
    return named(context, await services.folders.create(tree, path, caller))
  },
})

operation('POST /api/shared/{token}/move', 'moveSharedEntry', {
  description: 'Moves or renames a file or folder within a shared folder that the caller may edit.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: [
    'INVALID_PATH',
    'SHARE_FULL',
    'SHARE_NOT_FOUND',
    'FILE_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'PATH_EXISTS',
  ],
  args: arg => ({
    ...move(arg, { source: FILE_PATH, destination: 'archive/report.pdf' }),
    token: token(arg),
  }),
  on: ({ token }) => ({ shareToken: token }),
  type: MovedPath,
  resolve: async (args, context) => {
    const { services, tree } = context
    const found = await services.listings.byPath(tree, args.source)
    return found?.kind === FOLDER ? moveFolder(args, context) : moveFile(args, context)
  },
})

const DeletedEntry = objectOf<{ path: string; filesDeleted: number }>('DeletedEntry', t => ({
  files_deleted: t.expose('filesDeleted', {
    type: 'Long',
    description: 'Including those in a folder.',
  }),
  path_deleted: t.exposeString('path', { example: FILE_PATH }),
}))

operation('DELETE /api/shared/{token}/entries', 'deleteSharedEntry', {
  description:
    'Deletes a file or folder within a shared folder that the caller may edit. It goes to the trash of its drive.',
  auth: { drive: 'delete' },
  statuses: [400, 401, 403, 404],
  fails: ['INVALID_PATH', 'FOLDER_NOT_EMPTY', 'SHARE_NOT_FOUND', 'FILE_NOT_FOUND'],
  args: arg => ({
    if_match: arg.string(ifMatch),
    path: arg.string({
      required: true,
      description: 'Its path, beginning at the shared folder.',
      example: FILE_PATH,
    }),
    recursive: arg.boolean({
      description: 'By default, only an empty folder is deleted.',
      example: true,
    }),
    token: token(arg),
  }),
  on: ({ token }) => ({ shareToken: token }),
  type: DeletedEntry,
  resolve: async ({ path, recursive, if_match: expected }, { services, caller, tree }) => {
    const how = { recursive: recursive ?? false, expected }
    const { filesDeleted } = await services.entryChanges.remove(tree, [{ path }], how, caller)
    return { path: joinPath(parsePath(path)), filesDeleted }
  },
})
