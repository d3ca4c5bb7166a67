import type { InviteView, MyInvite } from '../../src/services/workspaces/invite.ts'
import { mailMessage } from './arguments.ts'
import { objectOf } from './builder.ts'
import { BOB, INVITE_TOKEN, ROLE } from './examples.ts'
import { operationsOf } from './operation.ts'
import { Workspace } from './workspaces.ts'

const operation = operationsOf('invites', 'Invites to workspaces.')

const OwnInvite = objectOf<MyInvite>('OwnInvite', 'An invite for the caller.', t => ({
  email: t.exposeString('email', { example: BOB }),
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  id: t.exposeID('id'),
  role: t.exposeString('role', { example: ROLE }),
  token: t.exposeString('token', { example: INVITE_TOKEN }),
  workspace_id: t.exposeID('workspaceId'),
  workspace_name: t.exposeString('workspaceName', { example: 'Garden' }),
  workspace_slug: t.exposeString('workspaceSlug', { example: 'garden' }),
}))

operation('GET /api/workspaces/invites/mine', 'myInvites', {
  description: 'The pending invites for the verified e-mail address of the caller.',
  auth: { session: true },
  statuses: [401],
  type: [OwnInvite],
  resolve: (_args, { services, caller }) => services.invites.mine(caller),
})

const Invite = objectOf<InviteView>('Invite', 'A pending invite, without its token.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  email: t.exposeString('email', { example: BOB }),
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  id: t.exposeID('id'),
  invited_by: t.exposeID('invitedBy'),
  role: t.exposeString('role', { example: ROLE }),
  workspace_id: t.exposeID('workspaceId'),
}))

operation('GET /api/workspaces/invites', 'workspaceInvites', {
  description: 'The pending invites of a workspace, oldest first.',
  auth: { workspace: 'invite' },
  statuses: [400, 401, 403],
  type: [Invite],
  resolve: (_args, { services, workspace }) => services.invites.list(workspace),
})

operation('POST /api/workspaces/invites/accept', 'acceptInvite', {
  description: 'Accepts an invite: the caller becomes a member of the workspace.',
  auth: { session: true },
  statuses: [400, 401, 403, 404],
  fails: [
    'QUOTA_EXCEEDED',
    'ALREADY_A_MEMBER',
    'INVITE_EXPIRED',
    'INVITE_NOT_FOR_YOU',
    'INVITE_NOT_FOUND',
  ],
  wrap: 'workspace',
  args: arg => ({
    token: arg.string({ required: true, example: INVITE_TOKEN }),
  }),
  type: Workspace,
  resolve: ({ token }, { services, caller }) => services.invites.accept(caller, token),
})

operation('POST /api/workspaces/invites/create', 'createInvite', {
  description:
    'Invites an e-mail address to a workspace and sends a mail with the link; inviting it again renews the invite.',
  // The scope is also declared here, so that it is checked before the offer is read.
  auth: { workspaces: 'workspaces:invites:manage', workspace: 'invite' },
  statuses: [400, 401, 403, 429],
  fails: ['QUOTA_EXCEEDED', 'ALREADY_A_MEMBER'],
  rateLimit: 'invites',
  args: arg => ({
    email: arg.string({ required: true, example: BOB }),
    message: arg.string(mailMessage),
    role: arg.string({ required: true, description: 'admin, editor or viewer', example: ROLE }),
  }),
  on: ({ workspace_id: workspaceId, ...offer }, { services }) => {
    // An offer that no role may make is refused before the caller's role is checked.
    services.invites.offerOf(offer)
    return { workspaceId }
  },
  type: Invite,
  resolve: ({ workspace_id: _id, ...offer }, { services, caller, workspace }) =>
    services.invites.create(caller, workspace, offer),
})

const DeletedInvite = objectOf<{ inviteId: string }>('DeletedInvite', t => ({
  invite_id: t.exposeID('inviteId'),
}))

operation('DELETE /api/workspaces/invites/delete', 'deleteInvite', {
  description: 'Withdraws an invite.',
  auth: { workspace: 'invite' },
  statuses: [400, 401, 403],
  fails: ['INVITE_NOT_FOUND'],
  args: arg => ({
    invite_id: arg.id({ required: true }),
  }),
  type: DeletedInvite,
  resolve: async ({ invite_id: inviteId }, { services, workspace, caller }) => {
    await services.invites.remove(workspace, inviteId, caller)
    return { inviteId }
  },
})

operation('DELETE /api/workspaces/invites/reject', 'rejectInvite', {
  description: 'Declines an invite.',
  auth: { session: true },
  statuses: [400, 401, 403, 404],
  fails: ['INVITE_NOT_FOR_YOU', 'INVITE_NOT_FOUND'],
  args: arg => ({
    token: arg.string({ required: true, example: INVITE_TOKEN }),
  }),
  resolve: async ({ token }, { services, caller }) => {
    await services.invites.reject(caller, token)
  },
})
