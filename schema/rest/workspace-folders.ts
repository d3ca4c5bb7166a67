import { slashed } from '../../src/paths.ts'
import { ifMatch, ifMatchHeader, namedWorkspace, onConflict } from './arguments.ts'
import { builder } from './builder.ts'
import { WORKSPACE_FOLDER_PATH } from './examples.ts'
import { named } from './files.ts'
import { rest } from './workspace-files.ts'

interface CreatedFolder {
  id: string
  workspaceId: string
  names: string[]
  createdBy: string
  createdAt: number
}

const CreatedWorkspaceFolder = builder.objectRef<CreatedFolder>('CreatedWorkspaceFolder').implement({
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    created_by: t.exposeID('createdBy'),
    id: t.exposeID('id'),
    name: t.string({ example: '2026', resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({
      description: 'Its parent.',
      example: '/docs',
      resolve: folder => slashed(folder.names.slice(0, -1)),
    }),
    workspace_id: t.exposeID('workspaceId'),
  }),
})

builder.mutationField('createWorkspaceFolder', t =>
  t.withAuth({ drive: 'write' }).field({
    type: CreatedWorkspaceFolder,
    description: 'Creates a folder in a workspace.',
    rest: rest({
      route: 'POST /api/workspaces/{workspace_id}/files/mkdir',
      statuses: [400, 401, 403, 404, 409],
      fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
    }),
    rateLimit: 'folders',
    args: {
      folder_name: t.arg.string({ required: true, example: '2026' }),
      parent_path: t.arg.string({ description: 'The root by default; it must exist.', example: '/docs' }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { workspace_id: workspaceId, folder_name: name, parent_path: parent }, context) => {
      const { services, caller, tree } = context
      const made = named(context, await services.folders.createIn(tree, parent ?? '', name, caller))
      return { ...made, workspaceId, createdBy: caller.userId }
    },
  }),
)

const DeletedWorkspaceFolder = builder
  .objectRef<{ names: string[]; filesDeleted: number }>('DeletedWorkspaceFolder')
  .implement({
    fields: t => ({
      files_deleted: t.expose('filesDeleted', { type: 'Long' }),
      folder_deleted: t.string({ example: WORKSPACE_FOLDER_PATH, resolve: deleted => slashed(deleted.names) }),
    }),
  })

builder.mutationField('deleteWorkspaceFolder', t =>
  t.withAuth({ drive: 'delete' }).field({
    type: DeletedWorkspaceFolder,
    description: 'Deletes a folder of a workspace and everything in it.',
    rest: rest({
      route: 'DELETE /api/workspaces/{workspace_id}/files/folder/delete',
      statuses: [400, 401, 403, 404],
      fails: ['INVALID_PATH', 'FOLDER_NOT_FOUND'],
      from: ifMatchHeader,
    }),
    args: {
      if_match: t.arg.string(ifMatch),
      path: t.arg.string({ required: true, example: WORKSPACE_FOLDER_PATH }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: (_root, { path, if_match: expected }, { services, tree, caller }) =>
      services.folders.remove(tree, path, { recursive: true, expected }, caller),
  }),
)

const MovedWorkspaceFolder = builder
  .objectRef<{ source: string[]; destination: string[]; filesMoved: number }>('MovedWorkspaceFolder')
  .implement({
    fields: t => ({
      destination: t.string({ example: '/archive/2026', resolve: moved => slashed(moved.destination) }),
      source: t.string({ example: WORKSPACE_FOLDER_PATH, resolve: moved => slashed(moved.source) }),
      updated: t.expose('filesMoved', { type: 'Long', description: 'Files whose path has changed.' }),
    }),
  })

builder.mutationField('moveWorkspaceFolder', t =>
  t.withAuth({ drive: 'write' }).field({
    type: MovedWorkspaceFolder,
    description: 'Moves a folder of a workspace and everything in it.',
    rest: rest({
      route: 'PATCH /api/workspaces/{workspace_id}/files/folder/move',
      statuses: [400, 401, 403, 404, 409],
      fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
      from: ifMatchHeader,
    }),
    args: {
      if_match: t.arg.string(ifMatch),
      on_conflict: t.arg.string(onConflict),
      destination: t.arg.string({
        required: true,
        description: 'Full path, with the new name.',
        example: '/archive/2026',
      }),
      source: t.arg.string({ required: true, description: 'Full path.', example: WORKSPACE_FOLDER_PATH }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { source, destination, on_conflict: choice, if_match: expected }, context) => {
      const { services, caller, drive, tree } = context
      const how = { onConflict: drive.onConflict(choice), expected }
      return named(context, await services.folders.move(tree, source, destination, how, caller))
    },
  }),
)
