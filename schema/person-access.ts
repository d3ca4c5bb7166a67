import type { ShareRecipientRow } from '../db/queries/share-list.ts'
import { logSecurityEvent } from '../src/access/audit-log.ts'
import { notAMember, openWorkspace } from '../src/access/drive.ts'
import type { PersonAccess as Access } from '../src/services/sharing/person-access.ts'
import { MAX_PAGE } from '../src/values/limits.ts'
import { findWorkspace } from './access.ts'
import { builder, signedIn } from './builder.ts'
import { pageArgs } from './connection.ts'
import { Member, toNode } from './member.ts'
import { mutation } from './mutation.ts'
import { byId, forwardConnection } from './paging.ts'
import { DirectShareConnection, ShareConnection } from './share.ts'
import { Viewer, viewerField } from './viewer.ts'

/** Workspaces that one call may name. */
const MAX_WORKSPACES = 100

const PersonAccess = builder.objectRef<Access>('PersonAccess').implement({
  description: 'What the owner of an e-mail address can see because of the caller.',
  fields: t => ({
    email: t.exposeString('email', { description: 'The address.' }),
    shares: t.withAuth({ session: true }).field({
      type: ShareConnection,
      description: 'The active shares that the caller has made for the address, newest first.',
      args: pageArgs(t.arg),
      resolve: ({ email }, page, { services, caller }) =>
        forwardConnection(page, byId, (limit, after) =>
          services.shares.sentBy(caller, limit, after?.[0] ?? null, {
            recipient: email,
            newestFirst: true,
          }),
        ),
    }),
    receivedShares: t.withAuth({ session: true }).field({
      type: DirectShareConnection,
      description: 'The active shares that the person has made for the caller, newest first.',
      args: pageArgs(t.arg),
      resolve: ({ email }, page, { services, caller }) =>
        forwardConnection(page, byId, (limit, after) =>
          services.shares.receivedBy(caller, limit, after?.[0] ?? null, {
            sharer: email,
            newestFirst: true,
          }),
        ),
    }),
    members: t.withAuth({ session: true }).field({
      type: [Member],
      listSize: MAX_PAGE,
      description: 'The memberships of the person in workspaces of the caller.',
      resolve: async ({ memberships }, _args, context) => {
        const nodes = await Promise.all(
          memberships.map(async ({ workspaceId, ...member }) => {
            const workspace = await findWorkspace(context, context.caller, workspaceId)
            return workspace && toNode(workspace, member)
          }),
        )
        return nodes.filter(node => node !== null)
      },
    }),
  }),
})

const ShareRecipient = builder.objectRef<ShareRecipientRow>('ShareRecipient').implement({
  description: 'An e-mail address with which the caller shares.',
  fields: t => ({
    email: t.exposeString('email', { description: 'The address.' }),
    shareCount: t.int({
      description: 'The number of active shares with it.',
      resolve: ({ count }) => Number(count),
    }),
  }),
})

builder.objectFields(Viewer, t => ({
  shareRecipients: t.withAuth({ session: true }).field({
    type: [ShareRecipient],
    listSize: MAX_PAGE,
    description: 'The e-mail addresses with which the caller shares now, in alphabetical order.',
    resolve: (_viewer, _args, { services, caller }) => services.shares.recipients(caller, MAX_PAGE),
  }),
  accessOf: t.withAuth({ session: true }).field({
    type: PersonAccess,
    description:
      'What the owner of an e-mail address can see because of the caller: shares and workspaces.',
    args: { email: t.arg.string({ required: true, description: 'The address.' }) },
    resolve: (_viewer, { email }, { services, caller }) =>
      services.personAccess.read(caller, email),
  }),
}))

mutation('endAccess', {
  description:
    'Ends all shares that the caller has made for an e-mail address, and memberships of its owner: all of it, or nothing. Public links keep working.',
  auth: { session: true },
  fails: ['INVALID_INPUT', 'FORBIDDEN', 'MEMBER_NOT_FOUND'],
  input: t => ({
    email: t.string({ required: true, description: 'The address.' }),
    workspaces: t.idList({
      maxItems: MAX_WORKSPACES,
      description: 'The ids of workspaces whose member the person shall no longer be.',
    }),
  }),
  resolve: async ({ email, workspaces }, context) => {
    const { services, caller } = context
    const found = await Promise.all(
      [...new Set(workspaces ?? [])].map(async id => {
        const workspace = await findWorkspace(context, caller, id)
        if (!workspace) throw notAMember('removeMembers')
        return openWorkspace(signedIn(context), workspace, 'removeMembers')
      }),
    )
    const ended = await services.personAccess.end(caller, email, found)
    for (const { workspaceId, userId } of ended.memberships)
      logSecurityEvent(context, 'member_removed', { workspace_id: workspaceId, user_id: userId })
    return {
      revokedIds: ended.shareIds,
      removedCount: ended.memberships.length,
      access: await services.personAccess.read(caller, email),
    }
  },
  payload: t => ({
    revokedIds: t.exposeIDList('revokedIds', {
      description: 'The ids of the shares that ended.',
      listSize: MAX_PAGE,
    }),
    removedCount: t.exposeInt('removedCount', { description: 'How many memberships ended.' }),
    access: t.expose('access', { type: PersonAccess, description: 'What is left.' }),
    viewer: viewerField(t),
  }),
})
