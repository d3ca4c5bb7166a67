import { logSecurityEvent } from '../../src/access/audit-log.ts'
import { notAMember } from '../../src/access/drive.ts'
import type {
  WorkspaceQuota as WorkspaceQuotaView,
  WorkspaceView,
} from '../../src/services/workspaces/workspace.ts'
import { MAX_WORKSPACE_NAME } from '../../src/values/limits.ts'
import { objectOf } from './builder.ts'
import { BYTES, ROLE } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('workspaces', 'Shared storage for several people.')

const WorkspaceQuota = objectOf<WorkspaceQuotaView>(
  'WorkspaceQuota',
  'Usage and limits of a workspace. Null means unlimited.',
  t => ({
    api_key_count: t.expose('apiKeyCount', { type: 'Long' }),
    file_count: t.expose('fileCount', { type: 'Long' }),
    folder_count: t.expose('folderCount', { type: 'Long' }),
    max_files_workspace: t.expose('maxFilesWorkspace', { type: 'Long', nullable: true }),
    max_total_storage_bytes_workspace: t.expose('maxTotalStorageBytesWorkspace', {
      type: 'Long',
      example: BYTES,
    }),
    max_users_workspace: t.expose('maxUsersWorkspace', { type: 'Long' }),
    max_workspace_api_keys: t.expose('maxWorkspaceApiKeys', { type: 'Long' }),
    max_workspace_folders: t.expose('maxWorkspaceFolders', { type: 'Long', nullable: true }),
    member_count: t.expose('memberCount', { type: 'Long' }),
    total_bytes: t.expose('totalBytes', { type: 'Long', example: BYTES }),
  }),
)

operation('GET /api/workspaces/{workspace_id}/quota', 'workspaceQuota', {
  description: 'Usage and limits of a workspace.',
  auth: { workspace: 'see' },
  statuses: [401, 403],
  type: WorkspaceQuota,
  resolve: async (_args, { services, workspace: { id } }) => {
    const quota = (await services.workspaces.quotasOf([id])).get(id)
    if (!quota) throw notAMember('see')
    return quota
  },
})

export const Workspace = objectOf<WorkspaceView>(
  'Workspace',
  'A workspace that the caller is a member of.',
  t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    name: t.exposeString('name', { example: 'Garden' }),
    owner_id: t.exposeID('ownerId'),
    role: t.exposeString('role', {
      description: 'The role of the caller: owner, admin, editor or viewer.',
      example: ROLE,
    }),
    slug: t.exposeString('slug', { example: 'garden' }),
    workspace_id: t.exposeID('id'),
  }),
)

operation('GET /api/workspaces/list', 'workspaces', {
  description: 'The workspaces of the caller, oldest first; for a workspace key, its own.',
  auth: { workspaces: 'workspaces:read' },
  statuses: [401],
  type: [Workspace],
  resolve: (_args, { services, caller }) => services.workspaces.list(caller),
})

operation('POST /api/workspaces/create', 'createWorkspace', {
  description: 'Creates a workspace that the caller owns.',
  auth: { session: true },
  statuses: [400, 401, 429],
  fails: ['QUOTA_EXCEEDED', 'SLUG_TAKEN'],
  wrap: 'workspace',
  rateLimit: 'workspaces',
  args: arg => ({
    name: arg.string({
      required: true,
      description: `1 to ${MAX_WORKSPACE_NAME} characters.`,
      example: 'Garden',
    }),
    slug: arg.string({
      description: '1 to 48 of a-z, 0-9 and -; derived from the name by default.',
      example: 'garden',
    }),
  }),
  type: Workspace,
  resolve: (args, { services, caller }) => services.workspaces.create(caller, args),
})

const DeletedWorkspace = objectOf<{ workspaceId: string }>('DeletedWorkspace', t => ({
  workspace_id: t.exposeID('workspaceId'),
}))

operation('DELETE /api/workspaces/delete', 'deleteWorkspace', {
  description: 'Deletes a workspace and everything in it.',
  auth: { workspaceTree: 'remove' },
  statuses: [400, 401, 403, 404],
  fails: ['WORKSPACE_NOT_FOUND'],
  on: ({ workspace_id: workspaceId }) => ({ workspaceId, tellsAbsence: true }),
  type: DeletedWorkspace,
  resolve: async ({ workspace_id: workspaceId }, context) => {
    await context.services.workspaces.remove(context.workspace, context.caller)
    logSecurityEvent(context, 'workspace_deleted', { workspace_id: workspaceId })
    return { workspaceId }
  },
})

operation('PATCH /api/workspaces/rename', 'renameWorkspace', {
  description: 'Renames a workspace, and changes its slug.',
  auth: { workspace: 'rename' },
  statuses: [400, 401, 403],
  fails: ['SLUG_TAKEN'],
  args: arg => ({
    name: arg.string({
      required: true,
      description: `1 to ${MAX_WORKSPACE_NAME} characters.`,
      example: 'Garden',
    }),
    slug: arg.string({ description: 'Unchanged by default.', example: 'garden' }),
  }),
  type: Workspace,
  resolve: ({ workspace_id: _id, ...names }, { services, workspace, caller }) =>
    services.workspaces.rename(workspace, names, caller),
})
