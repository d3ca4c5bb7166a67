import { logSecurityEvent } from '../src/audit-log.ts'
import type { WorkspaceQuota, WorkspaceView } from '../src/services/workspace.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { byId, forwardConnection } from './connection.ts'
import { Node } from './node.ts'
import { User } from './user.ts'

export const Workspace = builder.objectRef<WorkspaceView>('Workspace').implement({
  description: 'A workspace of which the caller is a member.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id', { restField: false }),
    workspaceId: t.exposeID('id'),
    name: t.exposeString('name'),
    slug: t.exposeString('slug'),
    ownerId: t.exposeID('ownerId'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    role: t.exposeString('role', { description: "The caller's: owner, admin, editor or viewer." }),
  }),
})

builder.queryField('workspaces', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: [Workspace],
    description: 'The workspaces of the caller, oldest first; for a workspace key, its own.',
    rest: { route: 'GET /api/workspaces/list', errors: [401] },
    resolve: (_root, _args, { services, caller }) => services.workspaces.list(caller),
  }),
)

builder.queryField('workspace', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: Workspace,
    nullable: true,
    description:
      'A workspace of the caller. FORBIDDEN for one that they are not a member of, and for one that does not exist.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { services, caller }) => services.workspaces.enter(caller, id, 'see'),
  }),
)

builder.objectField(User, 'workspaces', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).connection(
    {
      type: Workspace,
      nullable: true,
      restField: false,
      description: 'The workspaces of the caller, oldest first. Not for private keys.',
      resolve: (_user, args, { services, caller }) =>
        forwardConnection(args, byId, (limit, after) => services.workspaces.page(caller, limit, after?.[0] ?? null)),
    },
    { name: 'WorkspaceConnection' },
    { name: 'WorkspaceEdge' },
  ),
)

const CreateWorkspaceInput = builder.inputType('CreateWorkspaceInput', {
  fields: t => ({
    name: t.string({ required: true, description: '1 to 64 characters.' }),
    slug: t.string({ description: '1 to 48 of a-z, 0-9 and -; made from the name when it is missing.' }),
  }),
})

builder.mutationField('createWorkspace', t =>
  t.withAuth({ session: true }).field({
    type: Workspace,
    description: 'Makes a workspace, owned by the caller.',
    rest: { route: 'POST /api/workspaces/create', errors: [400, 401, 429], wrap: 'workspace' },
    rateLimit: 'workspaces',
    args: { input: t.arg({ type: CreateWorkspaceInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.workspaces.create(caller, input),
  }),
)

const RenameWorkspaceInput = builder.inputType('RenameWorkspaceInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    name: t.string({ required: true, description: '1 to 64 characters.' }),
    slug: t.string({ description: 'Stays as it is when it is missing.' }),
  }),
})

builder.mutationField('renameWorkspace', t =>
  t.withAuth({ workspaces: 'workspaces:write' }).field({
    type: Workspace,
    description: 'Gives a workspace another name, and another slug.',
    rest: { route: 'PATCH /api/workspaces/rename', errors: [400, 401, 403] },
    args: { input: t.arg({ type: RenameWorkspaceInput, required: true }) },
    resolve: (_root, { input: { workspaceId, ...input } }, { services, caller }) =>
      services.workspaces.rename(caller, workspaceId, input),
  }),
)

const DeletedWorkspace = builder.objectRef<{ workspaceId: string }>('DeletedWorkspace').implement({
  fields: t => ({ workspaceId: t.exposeID('workspaceId') }),
})

const DeleteWorkspaceInput = builder.inputType('DeleteWorkspaceInput', {
  fields: t => ({ workspaceId: t.id({ required: true }) }),
})

builder.mutationField('deleteWorkspace', t =>
  t.withAuth({ workspaces: 'workspaces:delete' }).field({
    type: DeletedWorkspace,
    description: 'Deletes a workspace with all that is in it.',
    rest: { route: 'DELETE /api/workspaces/delete', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: DeleteWorkspaceInput, required: true }) },
    resolve: async (_root, { input: { workspaceId } }, context) => {
      await context.services.workspaces.remove(context.caller, workspaceId)
      logSecurityEvent(context, 'workspace_deleted', { workspace_id: workspaceId })
      return { workspaceId }
    },
  }),
)

const Quota = builder.objectRef<WorkspaceQuota>('WorkspaceQuota').implement({
  description: 'What a workspace holds, and what it may. Null means unlimited.',
  fields: t => ({
    fileCount: t.expose('fileCount', { type: 'Long' }),
    totalBytes: t.expose('totalBytes', { type: 'Long' }),
    folderCount: t.expose('folderCount', { type: 'Long' }),
    memberCount: t.expose('memberCount', { type: 'Long' }),
    apiKeyCount: t.expose('apiKeyCount', { type: 'Long' }),
    maxFilesWorkspace: t.expose('maxFilesWorkspace', { type: 'Long', nullable: true }),
    maxTotalStorageBytesWorkspace: t.expose('maxTotalStorageBytesWorkspace', { type: 'Long' }),
    maxWorkspaceFolders: t.expose('maxWorkspaceFolders', { type: 'Long', nullable: true }),
    maxUsersWorkspace: t.expose('maxUsersWorkspace', { type: 'Long' }),
    maxWorkspaceApiKeys: t.expose('maxWorkspaceApiKeys', { type: 'Long' }),
  }),
})

const quotaOf = batch(({ services }, workspaceIds) => services.workspaces.quotasOf(workspaceIds))

builder.objectField(Workspace, 'quota', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: Quota,
    nullable: true,
    restField: false,
    description: 'What it holds, and what it may.',
    resolve: async ({ id }, _args, context) => (await quotaOf(context, id)) ?? null,
  }),
)

builder.queryField('workspaceQuota', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: Quota,
    description: 'What a workspace holds, and what it may.',
    rest: { route: 'GET /api/workspaces/{workspace_id}/quota', errors: [401, 403] },
    args: { workspaceId: t.arg.id({ required: true }) },
    resolve: (_root, { workspaceId }, { services, caller }) => services.workspaces.quota(caller, workspaceId),
  }),
)
