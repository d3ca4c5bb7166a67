import { notAMember } from '../../src/access/drive.ts'
import { logSecurityEvent } from '../../src/audit-log.ts'
import { MAX_WORKSPACE_NAME } from '../../src/limits.ts'
import type { WorkspaceQuota as WorkspaceQuotaView, WorkspaceView } from '../../src/services/workspaces/workspace.ts'
import { area } from '../plugins/rest.ts'
import { namedWorkspace } from './arguments.ts'
import { builder } from './builder.ts'
import { BYTES, ROLE } from './examples.ts'

const rest = area('workspaces', 'Storage that several people share.')

const WorkspaceQuota = builder.objectRef<WorkspaceQuotaView>('WorkspaceQuota').implement({
  description: 'Usage and limits of a workspace. Null means unlimited.',
  fields: t => ({
    api_key_count: t.expose('apiKeyCount', { type: 'Long' }),
    file_count: t.expose('fileCount', { type: 'Long' }),
    folder_count: t.expose('folderCount', { type: 'Long' }),
    max_files_workspace: t.expose('maxFilesWorkspace', { type: 'Long', nullable: true }),
    max_total_storage_bytes_workspace: t.expose('maxTotalStorageBytesWorkspace', { type: 'Long', example: BYTES }),
    max_users_workspace: t.expose('maxUsersWorkspace', { type: 'Long' }),
    max_workspace_api_keys: t.expose('maxWorkspaceApiKeys', { type: 'Long' }),
    max_workspace_folders: t.expose('maxWorkspaceFolders', { type: 'Long', nullable: true }),
    member_count: t.expose('memberCount', { type: 'Long' }),
    total_bytes: t.expose('totalBytes', { type: 'Long', example: BYTES }),
  }),
})

builder.queryField('workspaceQuota', t =>
  t.withAuth({ workspace: 'see' }).field({
    type: WorkspaceQuota,
    description: 'Usage and limits of a workspace.',
    rest: rest({ route: 'GET /api/workspaces/{workspace_id}/quota', statuses: [401, 403] }),
    args: {
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, _args, { services, workspace: { id } }) => {
      const quota = (await services.workspaces.quotasOf([id])).get(id)
      if (!quota) throw notAMember('see')
      return quota
    },
  }),
)

export const Workspace = builder.objectRef<WorkspaceView>('Workspace').implement({
  description: 'A workspace of which the caller is a member.',
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    name: t.exposeString('name', { example: 'Garden' }),
    owner_id: t.exposeID('ownerId'),
    role: t.exposeString('role', { description: "The caller's: owner, admin, editor or viewer.", example: ROLE }),
    slug: t.exposeString('slug', { example: 'garden' }),
    workspace_id: t.exposeID('id'),
  }),
})

builder.queryField('workspaces', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: [Workspace],
    description: 'The workspaces of the caller, oldest first; for a workspace key, its own.',
    rest: rest({ route: 'GET /api/workspaces/list', statuses: [401] }),
    resolve: (_root, _args, { services, caller }) => services.workspaces.list(caller),
  }),
)

builder.mutationField('createWorkspace', t =>
  t.withAuth({ session: true }).field({
    type: Workspace,
    description: 'Creates a workspace that the caller owns.',
    rest: rest({
      route: 'POST /api/workspaces/create',
      statuses: [400, 401, 429],
      fails: ['QUOTA_EXCEEDED', 'SLUG_TAKEN'],
      wrap: 'workspace',
    }),
    rateLimit: 'workspaces',
    args: {
      name: t.arg.string({ required: true, description: `1 to ${MAX_WORKSPACE_NAME} characters.`, example: 'Garden' }),
      slug: t.arg.string({
        description: '1 to 48 of a-z, 0-9 and -; derived from the name by default.',
        example: 'garden',
      }),
    },
    resolve: (_root, args, { services, caller }) => services.workspaces.create(caller, args),
  }),
)

const DeletedWorkspace = builder.objectRef<{ workspaceId: string }>('DeletedWorkspace').implement({
  fields: t => ({
    workspace_id: t.exposeID('workspaceId'),
  }),
})

builder.mutationField('deleteWorkspace', t =>
  t.withAuth({ workspaceTree: 'remove' }).field({
    type: DeletedWorkspace,
    description: 'Deletes a workspace and everything in it.',
    rest: rest({
      route: 'DELETE /api/workspaces/delete',
      statuses: [400, 401, 403, 404],
      fails: ['WORKSPACE_NOT_FOUND'],
    }),
    args: {
      workspace_id: t.arg.id({ required: true }),
    },
    on: (_root, { workspace_id: workspaceId }) => ({ workspaceId, tellsAbsence: true }),
    resolve: async (_root, { workspace_id: workspaceId }, context) => {
      await context.services.workspaces.remove(context.workspace, context.caller)
      logSecurityEvent(context, 'workspace_deleted', { workspace_id: workspaceId })
      return { workspaceId }
    },
  }),
)

builder.mutationField('renameWorkspace', t =>
  t.withAuth({ workspace: 'rename' }).field({
    type: Workspace,
    description: 'Renames a workspace, and changes its slug.',
    rest: rest({ route: 'PATCH /api/workspaces/rename', statuses: [400, 401, 403], fails: ['SLUG_TAKEN'] }),
    args: {
      name: t.arg.string({ required: true, description: `1 to ${MAX_WORKSPACE_NAME} characters.`, example: 'Garden' }),
      slug: t.arg.string({ description: 'Unchanged by default.', example: 'garden' }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: (_root, { workspace_id: _id, ...names }, { services, workspace, caller }) =>
      services.workspaces.rename(workspace, names, caller),
  }),
)
