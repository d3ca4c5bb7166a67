import { logSecurityEvent } from '../../src/access/audit-log.ts'
import { isRole, type Role } from '../../src/access/roles.ts'
import { InvalidInput } from '../../src/runtime/errors.ts'
import type { MemberView } from '../../src/services/workspaces/member.ts'
import { objectOf } from './builder.ts'
import { BOB, ROLE } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('members', 'Members of workspaces and their roles.')

const Member = objectOf<MemberView>('Member', 'A member of a workspace.', t => ({
  email: t.exposeString('email', { example: BOB }),
  joined_at: t.expose('joinedAt', { type: 'DateTime' }),
  name: t.exposeString('name', { example: 'Bob Example' }),
  role: t.exposeString('role', { example: ROLE }),
  user_id: t.exposeID('userId'),
}))

operation('GET /api/workspaces/members', 'workspaceMembers', {
  description: 'The members of a workspace, in the order of joining.',
  auth: { workspace: 'seeMembers' },
  statuses: [400, 401, 403],
  type: [Member],
  resolve: (_args, { services, workspace }) => services.members.list(workspace),
})

const MemberRole = objectOf<{ userId: string; role: string }>('MemberRole', t => ({
  role: t.exposeString('role', { example: ROLE }),
  user_id: t.exposeID('userId'),
}))

function parseRole(text: string): Role {
  if (!isRole(text))
    throw new InvalidInput('role', 'The role must be one of owner, admin, editor, viewer.')
  return text
}

operation('PATCH /api/workspaces/members/role', 'changeMemberRole', {
  description: 'Changes the role of a member.',
  // The scope is also declared here, so that it is checked before the role is read.
  auth: { workspaces: 'workspaces:members:manage', workspace: 'changeRoles' },
  statuses: [400, 401, 403, 404],
  fails: ['LAST_OWNER', 'MEMBER_NOT_FOUND'],
  args: arg => ({
    role: arg.string({
      required: true,
      description: 'owner, admin, editor or viewer',
      example: ROLE,
    }),
    user_id: arg.id({ required: true }),
  }),
  on: ({ workspace_id: workspaceId, role }) => {
    // An invalid role is refused before the caller's permission is checked.
    parseRole(role)
    return { workspaceId }
  },
  type: MemberRole,
  resolve: async ({ user_id: userId, role }, context) => {
    const { services, caller, workspace } = context
    const changed = await services.members.changeRole(caller, workspace, userId, parseRole(role))
    const subject = { workspace_id: workspace.id, user_id: changed.userId, role: changed.role }
    logSecurityEvent(context, 'role_changed', subject)
    return changed
  },
})

operation('DELETE /api/workspaces/members/remove', 'removeMember', {
  description: 'Removes a member. Members may remove themselves.',
  auth: { workspace: 'removeMembers' },
  statuses: [400, 401, 403, 404],
  fails: ['LAST_OWNER', 'MEMBER_NOT_FOUND'],
  args: arg => ({
    user_id: arg.id({ required: true }),
  }),
  resolve: async ({ workspace_id: workspaceId, user_id: userId }, context) => {
    await context.services.members.remove(context.caller, context.workspace, userId)
    logSecurityEvent(context, 'member_removed', { workspace_id: workspaceId, user_id: userId })
  },
})
