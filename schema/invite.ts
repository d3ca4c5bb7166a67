import { may } from '../src/auth/roles.ts'
import type { InviteView, MyInvite } from '../src/services/invite.ts'
import { builder } from './builder.ts'
import { batchPages, byId, forwardConnection } from './connection.ts'
import { User } from './user.ts'
import { Workspace } from './workspace.ts'

const Invite = builder.objectRef<InviteView>('Invite').implement({
  description: 'A pending invite, without its token.',
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    email: t.exposeString('email'),
    role: t.exposeString('role'),
    invitedBy: t.exposeID('invitedBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

const invitesOf = batchPages<InviteView>(({ services }, workspaceIds, limit, after) =>
  services.invites.pagesOf(workspaceIds, limit, after?.[0] ?? null),
)

builder.objectField(Workspace, 'invites', t =>
  t.withAuth({ workspaces: 'workspaces:invites:manage' }).connection(
    {
      type: Invite,
      nullable: true,
      restField: false,
      description: 'Its pending invites, oldest first; null for a role that may not see them.',
      resolve: ({ id, role }, args, context) =>
        may(role, 'manage')
          ? forwardConnection(args, byId, (limit, after) => invitesOf(context, id, limit, after))
          : null,
    },
    { name: 'InviteConnection' },
    { name: 'InviteEdge' },
  ),
)

builder.queryField('workspaceInvites', t =>
  t.withAuth({ workspaces: 'workspaces:invites:manage' }).field({
    type: [Invite],
    description: 'The pending invites of a workspace, oldest first.',
    rest: { route: 'GET /api/workspaces/invites', errors: [400, 401, 403] },
    args: { workspaceId: t.arg.id({ required: true }) },
    resolve: (_root, { workspaceId }, { services, caller }) => services.invites.list(caller, workspaceId),
  }),
)

const CreateInviteInput = builder.inputType('CreateInviteInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    email: t.string({ required: true }),
    role: t.string({ required: true, description: 'admin, editor or viewer' }),
  }),
})

builder.mutationField('createInvite', t =>
  t.withAuth({ workspaces: 'workspaces:invites:manage' }).field({
    type: Invite,
    description:
      'Invites an address to a workspace and sends a mail with the link; inviting it again renews the invite.',
    rest: { route: 'POST /api/workspaces/invites/create', errors: [400, 401, 403, 429] },
    rateLimit: 'invites',
    args: { input: t.arg({ type: CreateInviteInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.invites.create(caller, input),
  }),
)

const AcceptInviteInput = builder.inputType('AcceptInviteInput', {
  fields: t => ({ token: t.string({ required: true }) }),
})

builder.mutationField('acceptInvite', t =>
  t.withAuth({ session: true }).field({
    type: Workspace,
    description: 'Makes the caller a member of the workspace that they are invited to, once.',
    rest: { route: 'POST /api/workspaces/invites/accept', errors: [400, 401, 403, 404], wrap: 'workspace' },
    args: { input: t.arg({ type: AcceptInviteInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.invites.accept(caller, input.token),
  }),
)

const DeletedInvite = builder.objectRef<{ inviteId: string }>('DeletedInvite').implement({
  fields: t => ({ inviteId: t.exposeID('inviteId') }),
})

const DeleteInviteInput = builder.inputType('DeleteInviteInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), inviteId: t.id({ required: true }) }),
})

builder.mutationField('deleteInvite', t =>
  t.withAuth({ workspaces: 'workspaces:invites:manage' }).field({
    type: DeletedInvite,
    description: 'Withdraws an invite.',
    rest: { route: 'DELETE /api/workspaces/invites/delete', errors: [400, 401, 403] },
    args: { input: t.arg({ type: DeleteInviteInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, inviteId } }, { services, caller }) => {
      await services.invites.remove(caller, workspaceId, inviteId)
      return { inviteId }
    },
  }),
)

const OwnInvite = builder.objectRef<MyInvite>('OwnInvite').implement({
  description: 'An invite that is made out to the caller.',
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    workspaceName: t.exposeString('workspaceName'),
    workspaceSlug: t.exposeString('workspaceSlug'),
    email: t.exposeString('email'),
    token: t.exposeString('token'),
    role: t.exposeString('role'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

builder.objectField(User, 'invites', t =>
  t.withAuth({ session: true }).connection(
    {
      type: OwnInvite,
      nullable: true,
      restField: false,
      description: 'The pending invites that are made out to the verified address of the caller. For a session only.',
      resolve: (_user, args, { services, caller }) =>
        forwardConnection(args, byId, (limit, after) => services.invites.pageOfMine(caller, limit, after?.[0] ?? null)),
    },
    { name: 'OwnInviteConnection' },
    { name: 'OwnInviteEdge' },
  ),
)

builder.subscriptionField('inviteReceived', t =>
  t.withAuth({ session: true }).field({
    type: OwnInvite,
    description: 'An invite that was just made out to the caller, or renewed.',
    subscribe: (_root, _args, context) => context.services.subscriptions.invitesReceived(context),
    resolve: invite => invite,
  }),
)

builder.queryField('myInvites', t =>
  t.withAuth({ session: true }).field({
    type: [OwnInvite],
    description: 'The pending invites that are made out to the verified address of the caller.',
    rest: { route: 'GET /api/workspaces/invites/mine', errors: [401] },
    resolve: (_root, _args, { services, caller }) => services.invites.mine(caller),
  }),
)

const RejectInviteInput = builder.inputType('RejectInviteInput', {
  fields: t => ({ token: t.string({ required: true }) }),
})

builder.mutationField('rejectInvite', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description: 'Declines an invite.',
    rest: { route: 'DELETE /api/workspaces/invites/reject', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: RejectInviteInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => {
      await services.invites.reject(caller, input.token)
      return null
    },
  }),
)
