import { slashed } from '../../src/values/paths.ts'
import { ifMatch, move } from './arguments.ts'
import { objectOf } from './builder.ts'
import { deleteFolder, type MovedEntry, moveFolder, named } from './changes.ts'
import { WORKSPACE_FOLDER_PATH } from './examples.ts'
import { ofWorkspaceFiles as operation } from './owners.ts'

interface CreatedFolder {
  id: string
  workspaceId: string
  names: string[]
  createdBy: string
  createdAt: number
}

const CreatedWorkspaceFolder = objectOf<CreatedFolder>('CreatedWorkspaceFolder', t => ({
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
}))

operation('POST /api/workspaces/{workspace_id}/files/mkdir', 'createWorkspaceFolder', {
  description: 'Creates a folder in a workspace.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  rateLimit: 'folders',
  args: arg => ({
    folder_name: arg.string({ required: true, example: '2026' }),
    parent_path: arg.string({
      description: 'The root by default; it must exist.',
      example: '/docs',
    }),
  }),
  type: CreatedWorkspaceFolder,
  resolve: async (
    { workspace_id: workspaceId, folder_name: name, parent_path: parent },
    context,
  ) => {
    const { services, caller, tree } = context
    const made = named(context, await services.folders.createIn(tree, parent ?? '', name, caller))
    return { ...made, workspaceId, createdBy: caller.userId }
  },
})

const DeletedWorkspaceFolder = objectOf<{ names: string[]; filesDeleted: number }>(
  'DeletedWorkspaceFolder',
  t => ({
    files_deleted: t.expose('filesDeleted', { type: 'Long' }),
    folder_deleted: t.string({
      example: WORKSPACE_FOLDER_PATH,
      resolve: deleted => slashed(deleted.names),
    }),
  }),
)

operation('DELETE /api/workspaces/{workspace_id}/files/folder/delete', 'deleteWorkspaceFolder', {
  description: 'Deletes a folder of a workspace and everything in it.',
  auth: { drive: 'delete' },
  statuses: [400, 401, 403, 404],
  fails: ['INVALID_PATH', 'FOLDER_NOT_FOUND'],
  args: arg => ({
    if_match: arg.string(ifMatch),
    path: arg.string({ required: true, example: WORKSPACE_FOLDER_PATH }),
  }),
  type: DeletedWorkspaceFolder,
  resolve: ({ path, if_match: expected }, context) =>
    deleteFolder(path, { recursive: true, expected }, context),
})

const MovedWorkspaceFolder = objectOf<MovedEntry>('MovedWorkspaceFolder', t => ({
  destination: t.string({ example: '/archive/2026', resolve: moved => slashed(moved.destination) }),
  source: t.string({ example: WORKSPACE_FOLDER_PATH, resolve: moved => slashed(moved.source) }),
  updated: t.expose('filesMoved', { type: 'Long', description: 'Files whose path has changed.' }),
}))

operation('PATCH /api/workspaces/{workspace_id}/files/folder/move', 'moveWorkspaceFolder', {
  description: 'Moves a folder of a workspace and everything in it.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  args: arg => move(arg, { source: WORKSPACE_FOLDER_PATH, destination: '/archive/2026' }),
  type: MovedWorkspaceFolder,
  resolve: (args, context) => moveFolder(args, context),
})
