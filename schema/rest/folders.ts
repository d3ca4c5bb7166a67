import { joinPath } from '../../src/values/paths.ts'
import { ifMatch, move } from './arguments.ts'
import { objectOf } from './builder.ts'
import { deleteFolder, type MovedEntry, moveFolder, named } from './changes.ts'
import { FOLDER_PATH } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('folders', 'Folders of the caller.')

const FolderList = objectOf<{ path: string; folders: string[] }>('FolderList', t => ({
  folders: t.exposeStringList('folders', { description: 'Names, sorted.', example: ['2026'] }),
  path: t.exposeString('path', { example: 'docs' }),
}))

operation('GET /api/folders', 'folders', {
  description: 'The names of the folders in a folder of the caller. An unknown path is empty.',
  auth: { drive: 'read' },
  statuses: [401],
  args: arg => ({
    path: arg.string({ example: FOLDER_PATH }),
  }),
  type: FolderList,
  resolve: ({ path }, { services, tree }) => services.folders.list(tree, path ?? ''),
})

export const Folder = objectOf<{ id: string; names: string[]; createdAt: number }>(
  'Folder',
  'A folder of the caller.',
  t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    id: t.exposeID('id'),
    name: t.string({ example: '2026', resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({ example: FOLDER_PATH, resolve: folder => joinPath(folder.names) }),
  }),
)

operation('POST /api/folders', 'createFolder', {
  description: 'Creates a folder of the caller.',
  auth: { drive: 'write' },
  statuses: [400, 401, 409],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  wrap: 'folder',
  rateLimit: 'folders',
  args: arg => ({
    path: arg.string({
      required: true,
      description: 'Full path; missing parent folders are created.',
      example: FOLDER_PATH,
    }),
  }),
  type: Folder,
  resolve: async ({ path }, context) => {
    const { services, caller, tree } = context
    return named(context, await services.folders.create(tree, path, caller))
  },
})

const DeletedFolder = objectOf<{ names: string[]; filesDeleted: number }>('DeletedFolder', t => ({
  files_deleted: t.expose('filesDeleted', { type: 'Long' }),
  folder_deleted: t.string({
    description: 'Its path.',
    example: FOLDER_PATH,
    resolve: deleted => joinPath(deleted.names),
  }),
}))

operation('DELETE /api/folders', 'deleteFolder', {
  description: 'Deletes a folder of the caller, at a constant cost.',
  auth: { drive: 'delete' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'FOLDER_NOT_EMPTY', 'FOLDER_NOT_FOUND'],
  args: arg => ({
    if_match: arg.string(ifMatch),
    path: arg.string({ required: true, example: FOLDER_PATH }),
    recursive: arg.boolean({
      description: 'By default, only an empty folder is deleted.',
      example: true,
    }),
  }),
  type: DeletedFolder,
  resolve: ({ path, recursive, if_match: expected }, context) =>
    deleteFolder(path, { recursive: recursive ?? false, expected }, context),
})

const MovedFolder = objectOf<MovedEntry>('MovedFolder', t => ({
  destination: t.string({
    example: 'archive/2026',
    resolve: moved => joinPath(moved.destination),
  }),
  files_moved: t.expose('filesMoved', { type: 'Long' }),
  source: t.string({ example: FOLDER_PATH, resolve: moved => joinPath(moved.source) }),
}))

operation('POST /api/folders/move', 'moveFolder', {
  description: 'Moves a folder of the caller and everything in it, at a constant cost.',
  auth: { drive: 'write' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  args: arg => move(arg, { source: FOLDER_PATH, destination: 'archive/2026' }),
  type: MovedFolder,
  resolve: (args, context) => moveFolder(args, context),
})
