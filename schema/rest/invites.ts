import type { InviteView, MyInvite } from '../../src/services/workspaces/invite.ts'
import { area } from '../plugins/rest.ts'
import { namedWorkspace } from './arguments.ts'
import { builder } from './builder.ts'
import { BOB, INVITE_TOKEN, ROLE } from './examples.ts'
import { Workspace } from './workspaces.ts'

const rest = area('invites', 'Invites to workspaces.')

const OwnInvite = builder.objectRef<MyInvite>('OwnInvite').implement({
  description: 'An invite for the caller.',
  fields: t => ({
    email: t.exposeString('email', { example: BOB }),
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    id: t.exposeID('id'),
    role: t.exposeString('role', { example: ROLE }),
    token: t.exposeString('token', { example: INVITE_TOKEN }),
    workspace_id: t.exposeID('workspaceId'),
    workspace_name: t.exposeString('workspaceName', { example: 'Garden' }),
    workspace_slug: t.exposeString('workspaceSlug', { example: 'garden' }),
  }),
})

builder.queryField('myInvites', t =>
  t.withAuth({ session: true }).field({
    type: [OwnInvite],
    description: 'The pending invites for the verified e-mail address of the caller.',
    rest: rest({
      route: 'GET /api/workspaces/invites/mine',
      statuses: [401],
    }),
    resolve: (_root, _args, { services, caller }) => services.invites.mine(caller),
  }),
)

const Invite = builder.objectRef<InviteView>('Invite').implement({
  description: 'A pending invite, without its token.',
  fields: t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    email: t.exposeString('email', { example: BOB }),
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    id: t.exposeID('id'),
    invited_by: t.exposeID('invitedBy'),
    role: t.exposeString('role', { example: ROLE }),
    workspace_id: t.exposeID('workspaceId'),
  }),
})

builder.queryField('workspaceInvites', t =>
  t.withAuth({ workspace: 'invite' }).field({
    type: [Invite],
    description: 'The pending invites of a workspace, oldest first.',
    rest: rest({
      route: 'GET /api/workspaces/invites',
      statuses: [400, 401, 403],
    }),
    args: {
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: (_root, _args, { services, workspace }) => services.invites.list(workspace),
  }),
)

builder.mutationField('acceptInvite', t =>
  t.withAuth({ session: true }).field({
    type: Workspace,
    description: 'Accepts an invite: the caller becomes a member of the workspace.',
    rest: rest({
      route: 'POST /api/workspaces/invites/accept',
      statuses: [400, 401, 403, 404],
      fails: ['QUOTA_EXCEEDED', 'ALREADY_A_MEMBER', 'INVITE_EXPIRED', 'INVITE_NOT_FOR_YOU', 'INVITE_NOT_FOUND'],
      wrap: 'workspace',
    }),
    args: {
      token: t.arg.string({ required: true, example: INVITE_TOKEN }),
    },
    resolve: (_root, { token }, { services, caller }) => services.invites.accept(caller, token),
  }),
)

builder.mutationField('createInvite', t =>
  // The scope stands here once more, so that it is asked before the offer is read.
  t.withAuth({ workspaces: 'workspaces:invites:manage', workspace: 'invite' }).field({
    type: Invite,
    description:
      'Invites an e-mail address to a workspace and sends a mail with the link; inviting it again renews the invite.',
    rest: rest({
      route: 'POST /api/workspaces/invites/create',
      statuses: [400, 401, 403, 429],
      fails: ['QUOTA_EXCEEDED', 'ALREADY_A_MEMBER'],
    }),
    rateLimit: 'invites',
    args: {
      email: t.arg.string({ required: true, example: BOB }),
      role: t.arg.string({ required: true, description: 'admin, editor or viewer', example: ROLE }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: (_root, { workspace_id: workspaceId, ...offer }, { services }) => {
      // An offer that no role could make is refused before roles are looked at.
      services.invites.offerOf(offer)
      return { workspaceId }
    },
    resolve: (_root, { workspace_id: _id, ...offer }, { services, caller, workspace }) =>
      services.invites.create(caller, workspace, offer),
  }),
)

const DeletedInvite = builder.objectRef<{ inviteId: string }>('DeletedInvite').implement({
  fields: t => ({
    invite_id: t.exposeID('inviteId'),
  }),
})

builder.mutationField('deleteInvite', t =>
  t.withAuth({ workspace: 'invite' }).field({
    type: DeletedInvite,
    description: 'Withdraws an invite.',
    rest: rest({
      route: 'DELETE /api/workspaces/invites/delete',
      statuses: [400, 401, 403],
      fails: ['INVITE_NOT_FOUND'],
    }),
    args: {
      invite_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { invite_id: inviteId }, { services, workspace, caller }) => {
      await services.invites.remove(workspace, inviteId, caller)
      return { inviteId }
    },
  }),
)

builder.mutationField('rejectInvite', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description: 'Declines an invite.',
    rest: rest({
      route: 'DELETE /api/workspaces/invites/reject',
      statuses: [400, 401, 403, 404],
      fails: ['INVITE_NOT_FOR_YOU', 'INVITE_NOT_FOUND'],
    }),
    args: {
      token: t.arg.string({ required: true, example: INVITE_TOKEN }),
    },
    resolve: async (_root, { token }, { services, caller }) => {
      await services.invites.reject(caller, token)
      return null
    },
  }),
)
