import { logSecurityEvent } from '../src/audit-log.ts'
import type { MemberView } from '../src/services/member.ts'
import { builder } from './builder.ts'
import { batchPages, forwardConnection, type Sorting } from './connection.ts'
import { Workspace } from './workspace.ts'

const Member = builder.objectRef<MemberView>('Member').implement({
  description: 'A member of a workspace.',
  fields: t => ({
    userId: t.exposeID('userId'),
    email: t.exposeString('email'),
    name: t.exposeString('name'),
    role: t.exposeString('role'),
    joinedAt: t.expose('joinedAt', { type: 'DateTime' }),
  }),
})

const membersOf = batchPages<MemberView, [number, string]>(({ services }, workspaceIds, limit, after) =>
  services.members.pagesOf(workspaceIds, limit, after),
)

const byJoining: Sorting<MemberView, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: member => [member.joinedAt, member.userId],
}

builder.objectField(Workspace, 'members', t =>
  t.withAuth({ workspaces: 'workspaces:members:read' }).connection(
    {
      type: Member,
      nullable: true,
      restField: false,
      description: 'Its members, in the order in which they joined.',
      resolve: ({ id }, args, context) =>
        forwardConnection(args, byJoining, (limit, after) => membersOf(context, id, limit, after)),
    },
    { name: 'MemberConnection' },
    { name: 'MemberEdge' },
  ),
)

builder.queryField('workspaceMembers', t =>
  t.withAuth({ workspaces: 'workspaces:members:read' }).field({
    type: [Member],
    description: 'The members of a workspace, in the order in which they joined.',
    rest: { route: 'GET /api/workspaces/members', errors: [400, 401, 403] },
    args: { workspaceId: t.arg.id({ required: true }) },
    resolve: (_root, { workspaceId }, { services, caller }) => services.members.list(caller, workspaceId),
  }),
)

const MemberRole = builder.objectRef<{ userId: string; role: string }>('MemberRole').implement({
  fields: t => ({ userId: t.exposeID('userId'), role: t.exposeString('role') }),
})

const ChangeMemberRoleInput = builder.inputType('ChangeMemberRoleInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    userId: t.id({ required: true }),
    role: t.string({ required: true, description: 'owner, admin, editor or viewer' }),
  }),
})

builder.mutationField('changeMemberRole', t =>
  t.withAuth({ workspaces: 'workspaces:members:manage' }).field({
    type: MemberRole,
    description: 'Gives a member another role.',
    rest: { route: 'PATCH /api/workspaces/members/role', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: ChangeMemberRoleInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, ...input } }, context) => {
      const changed = await context.services.members.changeRole(context.caller, workspaceId, input.userId, input.role)
      const subject = { workspace_id: workspaceId, user_id: changed.userId, role: changed.role }
      logSecurityEvent(context, 'role_changed', subject)
      return changed
    },
  }),
)

const RemoveMemberInput = builder.inputType('RemoveMemberInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), userId: t.id({ required: true }) }),
})

builder.mutationField('removeMember', t =>
  t.withAuth({ workspaces: 'workspaces:members:manage' }).field({
    type: 'Void',
    nullable: true,
    description: 'Removes a member; everybody may remove themselves.',
    rest: { route: 'DELETE /api/workspaces/members/remove', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: RemoveMemberInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, userId } }, context) => {
      await context.services.members.remove(context.caller, workspaceId, userId)
      logSecurityEvent(context, 'member_removed', { workspace_id: workspaceId, user_id: userId })
      return null
    },
  }),
)
