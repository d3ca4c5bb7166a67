import { joinPath } from '../../src/paths.ts'
import { area } from '../plugins/rest.ts'
import { ifMatch, ifMatchHeader, onConflict, ownDrive } from './arguments.ts'
import { builder } from './builder.ts'
import { FOLDER_PATH } from './examples.ts'
import { named } from './files.ts'

const rest = area('folders', 'Folders of the caller.')

const FolderList = builder.objectRef<{ path: string; folders: string[] }>('FolderList').implement({
  fields: t => ({
    folders: t.exposeStringList('folders', { description: 'Names, sorted.', example: ['2026'] }),
    path: t.exposeString('path', { example: 'docs' }),
  }),
})

builder.queryField('folders', t =>
  t.withAuth({ drive: 'read' }).field({
    type: FolderList,
    description: 'The names of the folders in a folder of the caller. An unknown path is empty.',
    rest: rest({ route: 'GET /api/folders', statuses: [401] }),
    args: {
      path: t.arg.string({ example: FOLDER_PATH }),
    },
    on: ownDrive,
    resolve: (_root, { path }, { services, tree }) => services.folders.list(tree, path ?? ''),
  }),
)

const Folder = builder.objectRef<{ id: string; names: string[]; createdAt: number }>('Folder').implement({
  description: 'A folder of the caller.',
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    id: t.exposeID('id'),
    name: t.string({ example: '2026', resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({ example: FOLDER_PATH, resolve: folder => joinPath(folder.names) }),
  }),
})

builder.mutationField('createFolder', t =>
  t.withAuth({ drive: 'write' }).field({
    type: Folder,
    description: 'Creates a folder of the caller.',
    rest: rest({
      route: 'POST /api/folders',
      statuses: [400, 401, 409],
      fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
      wrap: 'folder',
    }),
    rateLimit: 'folders',
    args: {
      path: t.arg.string({
        required: true,
        description: 'Full path; missing parent folders are created.',
        example: FOLDER_PATH,
      }),
    },
    on: ownDrive,
    resolve: async (_root, { path }, context) => {
      const { services, caller, tree } = context
      return named(context, await services.folders.create(tree, path, caller))
    },
  }),
)

const DeletedFolder = builder.objectRef<{ names: string[]; filesDeleted: number }>('DeletedFolder').implement({
  fields: t => ({
    files_deleted: t.expose('filesDeleted', { type: 'Long' }),
    folder_deleted: t.string({
      description: 'Its path.',
      example: FOLDER_PATH,
      resolve: deleted => joinPath(deleted.names),
    }),
  }),
})

builder.mutationField('deleteFolder', t =>
  t.withAuth({ drive: 'delete' }).field({
    type: DeletedFolder,
    description: 'Deletes a folder of the caller, at a constant cost.',
    rest: rest({
      route: 'DELETE /api/folders',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'FOLDER_NOT_EMPTY', 'FOLDER_NOT_FOUND'],
      from: ifMatchHeader,
    }),
    args: {
      if_match: t.arg.string(ifMatch),
      path: t.arg.string({ required: true, example: FOLDER_PATH }),
      recursive: t.arg.boolean({ description: 'By default, only an empty folder is deleted.', example: true }),
    },
    on: ownDrive,
    resolve: (_root, { path, recursive, if_match: expected }, { services, caller, tree }) =>
      services.folders.remove(tree, path, { recursive: recursive ?? false, expected }, caller),
  }),
)

const MovedFolder = builder
  .objectRef<{ source: string[]; destination: string[]; filesMoved: number }>('MovedFolder')
  .implement({
    fields: t => ({
      destination: t.string({ example: 'archive/2026', resolve: moved => joinPath(moved.destination) }),
      files_moved: t.expose('filesMoved', { type: 'Long' }),
      source: t.string({ example: FOLDER_PATH, resolve: moved => joinPath(moved.source) }),
    }),
  })

builder.mutationField('moveFolder', t =>
  t.withAuth({ drive: 'write' }).field({
    type: MovedFolder,
    description: 'Moves a folder of the caller and everything in it, at a constant cost.',
    rest: rest({
      route: 'POST /api/folders/move',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
      from: ifMatchHeader,
    }),
    args: {
      if_match: t.arg.string(ifMatch),
      on_conflict: t.arg.string(onConflict),
      destination: t.arg.string({
        required: true,
        description: 'Full path, with the new name.',
        example: 'archive/2026',
      }),
      source: t.arg.string({ required: true, description: 'Full path.', example: FOLDER_PATH }),
    },
    on: ownDrive,
    resolve: async (_root, { source, destination, on_conflict: choice, if_match: expected }, context) => {
      const { services, caller, drive, tree } = context
      const how = { onConflict: drive.onConflict(choice), expected }
      return named(context, await services.folders.move(tree, source, destination, how, caller))
    },
  }),
)
