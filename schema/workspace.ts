import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { Caller } from '../src/access/caller.ts'
import { allows, mayIn, openWorkspace } from '../src/access/drive.ts'
import type { WorkspaceRight } from '../src/access/policies.ts'
import { InvalidInput } from '../src/runtime/errors.ts'
import { MAX_WORKSPACE_NAME } from '../src/values/limits.ts'
import { findDriveOfWorkspace, findWorkspace } from './access.ts'
import { batch } from './batch.ts'
import { builder, type ObjectFields, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { Role, WorkspacePermission } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { byId, forwardConnection } from './paging.ts'
import { existingPerson, Person } from './person.ts'
import { Drive, Workspace } from './refs.ts'
import { Viewer, viewerField } from './viewer.ts'

const quotas = batch(({ services }, ids) => services.workspaces.quotasOf(ids))

/** Actions that no key may perform, whatever its scopes. */
const ofSessions = ['manageKeys', 'manageWebhooks'] as const
const permissions = [
  'rename',
  'remove',
  'seeMembers',
  'changeRoles',
  'invite',
  ...ofSessions,
] as const

Workspace.implement({
  description: 'A workspace that the caller is a member of: people who share a drive.',
  interfaces: [Node],
  fields: t => {
    const seen = t.withAuth({ workspace: 'see' })
    const count = (
      of: 'memberCount' | 'apiKeyCount' | 'maxUsersWorkspace' | 'maxWorkspaceApiKeys',
      description: string,
    ) =>
      seen.int({
        nullable: true,
        description: `${description} Null for a key without the scope WORKSPACES_READ.`,
        resolve: async ({ id }, _args, context) => (await quotas(context, id))?.[of] ?? null,
      })
    return {
      name: seen.exposeString('name', { description: 'Its name.' }),
      slug: seen.exposeString('slug', { description: 'Its unique name in URLs.' }),
      createdAt: seen.expose('createdAt', {
        type: 'DateTime',
        description: 'When it was created.',
      }),
      role: seen.expose('role', { type: Role, description: 'The role of the caller.' }),
      permissions: seen.field({
        type: [WorkspacePermission],
        description: 'What the caller may do with it.',
        listSize: permissions.length,
        resolve: (workspace, _args, { caller }) =>
          permissions.filter(
            right =>
              mayIn(caller, workspace, right) &&
              (caller.via === 'session' || !ofSessions.some(of => of === right)),
          ),
      }),
      owner: seen.field({
        type: Person,
        description: 'The owner, whose plan limits the workspace.',
        resolve: ({ ownerId }, _args, context) => existingPerson(context, ownerId),
      }),
      drive: t.withAuth({ workspace: 'enter' }).field({
        type: Drive,
        nullable: true,
        description: 'Its files.',
        resolve: ({ id }, _args, context) => findDriveOfWorkspace(context, context.caller, id),
      }),
      memberCount: count('memberCount', 'How many members it has.'),
      maxMembers: count('maxUsersWorkspace', 'Maximum number of members.'),
      apiKeyCount: count('apiKeyCount', 'How many API keys it has.'),
      maxApiKeys: count('maxWorkspaceApiKeys', 'Maximum number of API keys.'),
    }
  },
})

findable('workspace', 'Workspace', async (context, caller, id) => {
  const workspace = await findWorkspace(context, caller, id)
  return workspace && openWorkspace(caller, workspace, 'enter')
})

/**
 * Whether the caller may see something that is their own, or that belongs to a workspace where they
 * have this right.
 */
export async function maySee(
  context: Context,
  caller: Caller,
  { workspaceId }: { workspaceId: string | null },
  right: WorkspaceRight,
): Promise<boolean> {
  if (workspaceId === null) return true
  const workspace = await findWorkspace(context, caller, workspaceId)
  return workspace !== null && allows(workspace, right)
}

/** The payload field with the current workspace. */
export const workspaceField = <Payload extends { workspaceId: string | null }>(
  t: ObjectFields<Payload>,
) =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: Workspace,
    nullable: true,
    description: 'The workspace as it is now. Null when the caller is not a member of it.',
    resolve: ({ workspaceId }: Payload, _args: object, context: Context & { caller: Caller }) =>
      workspaceId === null ? null : findWorkspace(context, context.caller, workspaceId),
  })

builder.queryField('workspace', t =>
  t.withAuth({ workspace: 'enter' }).field({
    type: Workspace,
    description:
      'A workspace of the caller, by its id or by its slug. A key of a workspace may omit both and gets its own workspace; its scopes decide what it sees. FORBIDDEN if the caller is not a member, or if there is no such workspace.',
    args: {
      id: t.arg.id({ description: 'Its id.' }),
      slug: t.arg.string({ description: 'Its slug, instead of the id.' }),
    },
    on: async (_root, { id, slug }, context) => {
      const caller = signedIn(context)
      if (id && slug)
        throw new InvalidInput('slug', 'Give either the id or the slug of the workspace.')
      if (id) return { workspaceId: id }
      if (slug)
        return { workspaceId: (await context.services.workspaces.idOfSlug(caller, slug)) ?? '' }
      if (caller.via === 'session')
        throw new InvalidInput('id', 'Give the id or the slug of the workspace.')
      // A private key has none, and the rule refuses it.
      return { workspaceId: caller.workspaceId ?? '' }
    },
    resolve: (_root, _args, { workspace }) => workspace,
  }),
)

builder.objectField(Viewer, 'workspaces', t =>
  t.withAuth({ workspaces: 'workspaces:read' }).field({
    type: connectionOf('Workspace', Workspace),
    nullable: true,
    description: 'The workspaces of the caller, oldest first. Not for keys.',
    args: pageArgs(t.arg),
    resolve: (_viewer, args, { services, caller }) =>
      forwardConnection(args, byId, (limit, after) =>
        services.workspaces.page(caller, limit, after?.[0] ?? null),
      ),
  }),
)

mutation('createWorkspace', {
  description: 'Creates a workspace, owned by the caller.',
  auth: { session: true },
  fails: ['INVALID_INPUT', 'SLUG_TAKEN', 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
  rateLimit: 'workspaces',
  input: t => ({
    name: t.string({ required: true, description: `1 to ${MAX_WORKSPACE_NAME} characters.` }),
    slug: t.string({ description: '1 to 48 of a-z, 0-9 and -; by default made from the name.' }),
  }),
  resolve: async (input, { services, caller }) => ({
    workspace: await services.workspaces.create(caller, input),
  }),
  payload: t => ({
    workspace: t.expose('workspace', { type: Workspace, description: 'The new workspace.' }),
    viewer: viewerField(t),
  }),
})

mutation('updateWorkspace', {
  description: 'Changes the name or the slug of a workspace. For owners.',
  auth: { workspace: 'rename' },
  fails: ['INVALID_INPUT', 'SLUG_TAKEN'],
  input: t => ({
    workspace: t.id({ required: true, description: 'Its id.' }),
    name: t.string({ description: `1 to ${MAX_WORKSPACE_NAME} characters. By default unchanged.` }),
    slug: t.string({ description: '1 to 48 of a-z, 0-9 and -. By default unchanged.' }),
  }),
  on: ({ workspace }) => ({ workspaceId: workspace }),
  resolve: async ({ name, slug }, { services, workspace, caller }) => ({
    workspace: await services.workspaces.rename(
      workspace,
      { name: name ?? workspace.name, slug },
      caller,
    ),
  }),
  payload: t => ({
    workspace: t.expose('workspace', {
      type: Workspace,
      description: 'The workspace as it is now.',
    }),
  }),
})

mutation('deleteWorkspace', {
  description: 'Deletes a workspace with everything in it. For owners.',
  auth: { workspaceTree: 'remove' },
  fails: ['WORKSPACE_NOT_FOUND'],
  input: t => ({ workspace: t.id({ required: true, description: 'Its id.' }) }),
  on: ({ workspace }) => ({ workspaceId: workspace }),
  resolve: async (_input, context) => {
    const { id } = context.workspace
    await context.services.workspaces.remove(context.workspace, context.caller)
    logSecurityEvent(context, 'workspace_deleted', { workspace_id: id })
    return { deletedId: id }
  },
  payload: t => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the workspace.' }),
    viewer: viewerField(t),
  }),
})
