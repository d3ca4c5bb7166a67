import { mapPage } from '../db/queries/page.ts'
import { logSecurityEvent } from '../src/access/audit-log.ts'
import { assignableRoles, mayRemove, openWorkspace } from '../src/access/drive.ts'
import { roles } from '../src/access/roles.ts'
import { AppError } from '../src/runtime/errors.ts'
import type { MemberView } from '../src/services/workspaces/member.ts'
import type { WorkspaceView } from '../src/services/workspaces/workspace.ts'
import { findWorkspace } from './access.ts'
import { batch } from './batch.ts'
import { builder, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { Role } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, forwardConnection, type Sorting } from './paging.ts'
import { Person } from './person.ts'
import { Workspace } from './refs.ts'
import { viewerField } from './viewer.ts'
import { workspaceField } from './workspace.ts'

interface MemberNode extends MemberView {
  id: string
  workspace: WorkspaceView
}

const PREFIX = 'member:'

/** A person may be a member of several workspaces, so the id includes the workspace. */
const idOf = (workspaceId: string, userId: string) => `${PREFIX}${workspaceId}:${userId}`

export const toNode = (workspace: WorkspaceView, member: MemberView): MemberNode => ({
  ...member,
  id: idOf(workspace.id, member.userId),
  workspace,
})

/** The parts of a member's id. */
function readId(id: string): { workspaceId: string; userId: string } {
  const [workspaceId = '', userId = ''] = id.startsWith(PREFIX)
    ? id.slice(PREFIX.length).split(':')
    : []
  return { workspaceId, userId }
}

/**
 * A key that may manage but not see members can read only the role.
 * @throws INSUFFICIENT_SCOPE
 */
function checkSeen({ workspace }: MemberNode, context: Context): void {
  openWorkspace(signedIn(context), workspace, 'seeMembers')
}

export const Member = builder.objectRef<MemberNode>('Member').implement({
  description: 'A member of a workspace.',
  interfaces: [Node],
  fields: t => ({
    person: t.field({
      type: Person,
      description: 'The person.',
      check: checkSeen,
      resolve: ({ userId, name, email, picture }) => ({ id: userId, name, email, picture }),
    }),
    workspace: t.expose('workspace', { type: Workspace, description: 'The workspace.' }),
    role: t.expose('role', { type: Role, description: 'The role of the member.' }),
    assignableRoles: t.field({
      type: [Role],
      description:
        'The roles that the caller may give to the member; empty if the caller may not change the role.',
      listSize: roles.length,
      resolve: ({ workspace, role }, _args, context) =>
        assignableRoles(signedIn(context), workspace, role),
    }),
    isRemovable: t.boolean({
      description:
        "Whether the caller may end the membership: the caller's own, or that of a member whom the caller may change.",
      resolve: (member, _args, context) => mayRemove(signedIn(context), member.workspace, member),
    }),
    joinedAt: t.expose('joinedAt', {
      type: 'DateTime',
      description: 'When they became a member.',
      check: checkSeen,
    }),
  }),
})

const byJoining: Sorting<MemberView, ['number', 'id']> = {
  types: ['number', 'id'],
  keyOf: member => [member.joinedAt, member.userId],
}

const pagesOf = batchPages<MemberView, [number, string]>(
  ({ services }, workspaceIds, limit, after) =>
    services.members.pagesOf(workspaceIds, limit, after),
)

const MemberConnection = connectionOf('Member', Member)

builder.objectField(Workspace, 'members', t =>
  t.withAuth({ workspace: 'seeMembers' }).field({
    type: MemberConnection,
    nullable: true,
    description:
      'Its members, in the order of joining. Null for a key without the scope WORKSPACES_MEMBERS_READ.',
    args: pageArgs(t.arg),
    resolve: (_workspace, args, context) =>
      forwardConnection(args, byJoining, async (limit, after) => {
        const { workspace } = context
        return mapPage(await pagesOf(context, workspace.id, limit, after), member =>
          toNode(workspace, member),
        )
      }),
  }),
)

/** A member of a workspace that the caller may see, by their id. */
const memberOf = batch(async ({ services }, ids) => {
  const members = await services.members.among(ids.map(readId))
  return new Map(
    members.map(({ workspaceId, ...member }) => [idOf(workspaceId, member.userId), member]),
  )
})

findable(PREFIX, 'Member', async (context, caller, rest) => {
  const id = `${PREFIX}${rest}`
  const { workspaceId } = readId(id)
  const workspace = await findWorkspace(context, caller, workspaceId)
  if (!workspace) return null
  openWorkspace(caller, workspace, 'seeMembers')
  const member = await memberOf(context, id)
  return member && toNode(workspace, member)
})

const memberNotFound = () =>
  new AppError('MEMBER_NOT_FOUND', 'This user is not a member of the workspace.')

mutation('changeMemberRole', {
  description:
    'Changes the role of a member. For owners and admins; only owners can grant or change the role OWNER.',
  auth: { workspace: 'changeRoles' },
  fails: ['MEMBER_NOT_FOUND', 'LAST_OWNER'],
  input: t => ({
    member: t.id({ required: true, description: 'The id of the member.' }),
    role: t.field({ type: Role, required: true, description: 'The new role.' }),
  }),
  on: ({ member }) => ({ workspaceId: readId(member).workspaceId }),
  resolve: async ({ member, role }, context) => {
    const { services, caller, workspace } = context
    const { userId } = readId(member)
    await services.members.changeRole(caller, workspace, userId, role)
    logSecurityEvent(context, 'role_changed', { workspace_id: workspace.id, user_id: userId, role })
    const [changed, now] = await Promise.all([
      memberOf(context, member),
      findWorkspace(context, caller, workspace.id),
    ])
    if (!changed || !now) throw memberNotFound()
    return { member: toNode(now, changed), workspaceId: workspace.id }
  },
  payload: t => ({
    member: t.expose('member', {
      type: Member,
      nullable: true,
      description: 'The member with the new role.',
    }),
    workspace: workspaceField(t),
  }),
})

mutation('removeMember', {
  description:
    "Ends a membership, and the member's invites and API keys of the workspace. Every member may leave; owners and admins may remove others.",
  auth: { workspace: 'removeMembers' },
  fails: ['MEMBER_NOT_FOUND', 'LAST_OWNER'],
  input: t => ({ member: t.id({ required: true, description: 'The id of the member.' }) }),
  on: ({ member }) => ({ workspaceId: readId(member).workspaceId }),
  resolve: async ({ member }, context) => {
    const { id } = context.workspace
    const { userId } = readId(member)
    await context.services.members.remove(context.caller, context.workspace, userId)
    logSecurityEvent(context, 'member_removed', { workspace_id: id, user_id: userId })
    return { removedId: member, workspaceId: id }
  },
  payload: t => ({
    removedId: t.exposeID('removedId', { description: 'The id of the member.' }),
    workspace: workspaceField(t),
    viewer: viewerField(t),
  }),
})
