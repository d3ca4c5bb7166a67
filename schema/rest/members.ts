import { isRole, type Role } from '../../src/access/roles.ts'
import { logSecurityEvent } from '../../src/audit-log.ts'
import { InvalidInput } from '../../src/errors.ts'
import type { MemberView } from '../../src/services/workspaces/member.ts'
import { area } from '../plugins/rest.ts'
import { namedWorkspace } from './arguments.ts'
import { builder } from './builder.ts'
import { BOB, ROLE } from './examples.ts'

const rest = area('members', 'Members of workspaces and their roles.')

const Member = builder.objectRef<MemberView>('Member').implement({
  description: 'A member of a workspace.',
  fields: t => ({
    email: t.exposeString('email', { example: BOB }),
    joined_at: t.expose('joinedAt', { type: 'DateTime' }),
    name: t.exposeString('name', { example: 'Bob Example' }),
    role: t.exposeString('role', { example: ROLE }),
    user_id: t.exposeID('userId'),
  }),
})

builder.queryField('workspaceMembers', t =>
  t.withAuth({ workspace: 'seeMembers' }).field({
    type: [Member],
    description: 'The members of a workspace, in the order in which they joined.',
    rest: rest({
      route: 'GET /api/workspaces/members',
      statuses: [400, 401, 403],
    }),
    args: {
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: (_root, _args, { services, workspace }) => services.members.list(workspace),
  }),
)

const MemberRole = builder.objectRef<{ userId: string; role: string }>('MemberRole').implement({
  fields: t => ({
    role: t.exposeString('role', { example: ROLE }),
    user_id: t.exposeID('userId'),
  }),
})

function parseRole(text: string): Role {
  if (!isRole(text)) throw new InvalidInput('role', 'A role is one of owner, admin, editor, viewer.')
  return text
}

builder.mutationField('changeMemberRole', t =>
  // The scope stands here once more, so that it is asked before the role is read.
  t.withAuth({ workspaces: 'workspaces:members:manage', workspace: 'changeRoles' }).field({
    type: MemberRole,
    description: 'Changes the role of a member.',
    rest: rest({
      route: 'PATCH /api/workspaces/members/role',
      statuses: [400, 401, 403, 404],
      fails: ['LAST_OWNER', 'MEMBER_NOT_FOUND'],
    }),
    args: {
      role: t.arg.string({ required: true, description: 'owner, admin, editor or viewer', example: ROLE }),
      user_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: (_root, { workspace_id: workspaceId, role }) => {
      // A word that is no role is refused before it is asked who may.
      parseRole(role)
      return { workspaceId }
    },
    resolve: async (_root, { user_id: userId, role }, context) => {
      const { services, caller, workspace } = context
      const changed = await services.members.changeRole(caller, workspace, userId, parseRole(role))
      const subject = { workspace_id: workspace.id, user_id: changed.userId, role: changed.role }
      logSecurityEvent(context, 'role_changed', subject)
      return changed
    },
  }),
)

builder.mutationField('removeMember', t =>
  t.withAuth({ workspace: 'removeMembers' }).field({
    type: 'Void',
    nullable: true,
    description: 'Removes a member. Members may remove themselves.',
    rest: rest({
      route: 'DELETE /api/workspaces/members/remove',
      statuses: [400, 401, 403, 404],
      fails: ['LAST_OWNER', 'MEMBER_NOT_FOUND'],
    }),
    args: {
      user_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { workspace_id: workspaceId, user_id: userId }, context) => {
      await context.services.members.remove(context.caller, context.workspace, userId)
      logSecurityEvent(context, 'member_removed', { workspace_id: workspaceId, user_id: userId })
      return null
    },
  }),
)
