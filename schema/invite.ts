import { mapPage } from '../db/queries/page.ts'
import { allows, openWorkspace } from '../src/access/drive.ts'
import { AppError } from '../src/runtime/errors.ts'
import type { InviteView, MyInvite } from '../src/services/workspaces/invite.ts'
import type { WorkspaceView } from '../src/services/workspaces/workspace.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { findWorkspace } from './access.ts'
import { batch, batchSeen } from './batch.ts'
import { builder, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { Role } from './enums.ts'
import { mailMessage } from './mail-message.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'
import { Workspace } from './refs.ts'
import { Viewer, viewerField } from './viewer.ts'
import { workspaceField } from './workspace.ts'

type InviteNode = Omit<MyInvite, 'token'> & { token: string | null }

/** An invite as the managers of the workspace see it. */
const toNode = (workspace: WorkspaceView, invite: InviteView): InviteNode => ({
  ...invite,
  workspaceName: workspace.name,
  workspaceSlug: workspace.slug,
  token: null,
})

const Invite = builder.objectRef<InviteNode>('Invite').implement({
  description: 'A pending invite to a workspace.',
  interfaces: [Node],
  fields: t => ({
    email: t.exposeString('email', { description: 'The invited e-mail address.' }),
    role: t.expose('role', { type: Role, description: 'The offered role.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it was created or renewed.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
    invitedBy: personField(t, 'Who sent it.', ({ invitedBy }) => invitedBy),
    workspaceId: t.exposeID('workspaceId', {
      description: 'The id of the workspace, visible to the invited person, too.',
    }),
    workspaceName: t.exposeString('workspaceName', { description: 'The name of the workspace.' }),
    workspaceSlug: t.exposeString('workspaceSlug', { description: 'The slug of the workspace.' }),
    workspace: workspaceField(t),
    token: t.exposeString('token', {
      nullable: true,
      description:
        'The token for accepting or rejecting, for the invited person. Null for everyone else.',
    }),
  }),
})

const InviteConnection = connectionOf('Invite', Invite)

const pagesOf = batchPages<InviteView>(({ services }, workspaceIds, limit, after) =>
  services.invites.pagesOf(workspaceIds, limit, after?.[0] ?? null),
)

builder.objectField(Workspace, 'invites', t =>
  t.withAuth({ workspaces: 'workspaces:invites:manage' }).field({
    type: InviteConnection,
    nullable: true,
    description:
      'Its pending invites, oldest first. Null for a role or a key that may not see them.',
    args: pageArgs(t.arg),
    resolve: (workspace, args, context) =>
      allows(workspace, 'invite')
        ? forwardConnection(args, byId, async (limit, after) =>
            mapPage(await pagesOf(context, workspace.id, limit, after), invite =>
              toNode(workspace, invite),
            ),
          )
        : null,
  }),
)

builder.objectField(Viewer, 'invites', t =>
  t.withAuth({ session: true }).field({
    type: InviteConnection,
    nullable: true,
    description:
      'The pending invites to the verified address of the caller, oldest first. For a session only.',
    args: pageArgs(t.arg),
    resolve: (_viewer, args, { services, caller }) =>
      forwardConnection(args, byId, (limit, after) =>
        services.invites.pageOfMine(caller, limit, after?.[0] ?? null),
      ),
  }),
)

const received = batchSeen(async ({ invites }, caller, ids) =>
  keyById(await invites.mineAmong(caller, ids)),
)
const workspaceIds = batchSeen(({ workspaces }, caller, ids) =>
  workspaces.idsOfInvites(caller, ids),
)
const pending = batch(async ({ services }, ids) =>
  keyById(await services.invites.pendingAmong(ids)),
)

findable('invite', 'Invite', async (context, caller, id) => {
  const mine = caller.via === 'session' ? await received(context, id) : null
  if (mine) return mine
  const workspaceId = await workspaceIds(context, id)
  const workspace =
    workspaceId === undefined ? null : await findWorkspace(context, caller, workspaceId)
  if (!workspace || !allows(workspace, 'invite')) return null
  openWorkspace(caller, workspace, 'invite')
  const invite = await pending(context, id)
  return invite && toNode(workspace, invite)
})

builder.subscriptionField('inviteReceived', t =>
  t.withAuth({ session: true }).field({
    type: Invite,
    description: 'Sends each invite that the caller receives, or that is renewed.',
    subscribe: (_root, _args, context) => context.services.subscriptions.invitesReceived(context),
    resolve: invite => invite,
  }),
)

mutation('createInvite', {
  description:
    'Invites an address to a workspace and sends a mail with the link. Inviting it again renews the invite.',
  auth: { workspace: 'invite' },
  fails: ['INVALID_INPUT', 'ALREADY_A_MEMBER', 'QUOTA_EXCEEDED', 'RATE_LIMITED'],
  rateLimit: 'invites',
  input: t => ({
    workspace: t.id({ required: true, description: 'The id of the workspace.' }),
    email: t.string({
      required: true,
      description: 'The person with this verified address may accept.',
    }),
    role: t.field({ type: Role, required: true, description: 'The offered role; not OWNER.' }),
    message: t.string(mailMessage),
  }),
  on: ({ workspace }) => ({ workspaceId: workspace }),
  resolve: async ({ workspace: _id, ...offer }, { services, caller, workspace }) => ({
    invite: toNode(workspace, await services.invites.create(caller, workspace, offer)),
    workspaceId: workspace.id,
  }),
  payload: t => ({
    invite: t.expose('invite', { type: Invite, description: 'The pending invite.' }),
    workspace: workspaceField(t),
  }),
})

mutation('revokeInvite', {
  description: 'Withdraws an invite.',
  auth: { workspace: 'invite' },
  fails: ['INVITE_NOT_FOUND'],
  input: t => ({ invite: t.id({ required: true, description: 'Its id.' }) }),
  on: async ({ invite }, context) => {
    signedIn(context)
    const workspaceId = await workspaceIds(context, invite)
    if (workspaceId === undefined)
      throw new AppError('INVITE_NOT_FOUND', 'There is no such invite.')
    return { workspaceId }
  },
  resolve: async ({ invite }, { services, workspace, caller }) => {
    await services.invites.remove(workspace, invite, caller)
    return { revokedId: invite, workspaceId: workspace.id }
  },
  payload: t => ({
    revokedId: t.exposeID('revokedId', { description: 'The id of the invite.' }),
    workspace: workspaceField(t),
  }),
})

mutation('acceptInvite', {
  description: 'Accepts an invite: makes the caller a member of the workspace.',
  auth: { session: true },
  fails: [
    'INVITE_NOT_FOUND',
    'INVITE_NOT_FOR_YOU',
    'INVITE_EXPIRED',
    'ALREADY_A_MEMBER',
    'QUOTA_EXCEEDED',
  ],
  input: t => ({ token: t.string({ required: true, description: 'The token of the invite.' }) }),
  resolve: async ({ token }, { services, caller }) => ({
    workspace: await services.invites.accept(caller, token),
    acceptedId: services.invites.idOf(token),
  }),
  payload: t => ({
    acceptedId: t.exposeID('acceptedId', {
      nullable: true,
      description: 'The id of the accepted invite.',
    }),
    workspace: t.expose('workspace', {
      type: Workspace,
      description: "The workspace, with the caller's new role.",
    }),
    viewer: viewerField(t),
  }),
})

mutation('rejectInvite', {
  description: 'Declines an invite.',
  auth: { session: true },
  fails: ['INVITE_NOT_FOUND', 'INVITE_NOT_FOR_YOU'],
  input: t => ({ token: t.string({ required: true, description: 'The token of the invite.' }) }),
  resolve: async ({ token }, { services, caller }) => {
    await services.invites.reject(caller, token)
    return { rejectedId: services.invites.idOf(token) }
  },
  payload: t => ({
    rejectedId: t.exposeID('rejectedId', { nullable: true, description: 'The id of the invite.' }),
    viewer: viewerField(t),
  }),
})
