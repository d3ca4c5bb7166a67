import { logIdentityRemoved, logSecurityEvent } from '../src/access/audit-log.ts'
import type { EndedAccount } from '../src/services/accounts/account-end.ts'
import type { IdentityView } from '../src/services/accounts/user.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Viewer, viewerField } from './viewer.ts'

const Identity = builder.objectRef<IdentityView>('Identity').implement({
  description: 'An identity with which the caller can sign in.',
  interfaces: [Node],
  fields: t => ({
    provider: t.exposeString('provider', { description: 'The sign-in provider.' }),
    providerUserId: t.exposeString('providerUserId', {
      description: 'The user id of the caller at the provider.',
    }),
    email: t.exposeString('email', { description: 'The e-mail address stated by the provider.' }),
    emailVerified: t.exposeBoolean('emailVerified', {
      description: 'Whether the provider vouches for the address.',
    }),
    name: t.exposeString('name', { description: 'The name stated by the provider.' }),
    picture: t.field({
      type: 'URL',
      nullable: true,
      description: 'The picture stated by the provider.',
      resolve: ({ avatarUrl }) => avatarUrl || null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
})

builder.objectField(Viewer, 'identities', t =>
  t.withAuth({ session: true }).field({
    type: [Identity],
    nullable: true,
    description: 'The identities of the caller, oldest first. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.users.identities(caller),
  }),
)

const identities = batchSeen(async ({ users }, caller) => keyById(await users.identities(caller)))

findable('identity', 'Identity', async (context, caller, id) =>
  caller.via === 'session' ? identities(context, id) : null,
)

mutation('removeIdentity', {
  description:
    'Removes an identity from the account of the caller, and ends the other sessions. The last identity cannot be removed.',
  auth: { session: true },
  fails: ['IDENTITY_NOT_FOUND', 'LAST_IDENTITY', 'PROOF_NEEDED'],
  input: t => ({ identity: t.id({ required: true, description: 'Its id.' }) }),
  resolve: async ({ identity }, context) => {
    const workspaces = await context.services.identities.remove(context.caller, identity)
    logIdentityRemoved(context, { identity, workspaces })
    return { removedId: identity }
  },
  payload: t => ({
    removedId: t.exposeID('removedId', { description: 'The id of the identity.' }),
    viewer: viewerField(t),
  }),
})

mutation('deleteAccount', {
  description:
    'Deletes the account of the caller. Workspaces without another member are deleted, too; the others need another owner first.',
  auth: { session: true },
  fails: ['LAST_OWNER', 'PROOF_NEEDED'],
  input: t => ({
    deleteUserData: t.boolean({
      required: true,
      description:
        'true: the files are deleted at once; false: they are kept for a time, until the same verified address signs in again.',
    }),
  }),
  resolve: async ({ deleteUserData }, context): Promise<EndedAccount> => {
    const ended = await context.services.accountEnd.end(context.caller, deleteUserData)
    logSecurityEvent(context, 'account_deleted', {
      user_id: ended.id,
      data_deleted: ended.bucketDeleted,
    })
    return ended
  },
  payload: t => ({
    deletedId: t.exposeID('id', { description: 'The id of the person.' }),
    email: t.exposeString('email', { description: 'The address that the account had.' }),
    name: t.exposeString('userName', { description: 'The name that the account had.' }),
    driveId: t.exposeID('bucketName', { description: 'The id of the drive.' }),
    driveDeleted: t.exposeBoolean('bucketDeleted', {
      description: 'Whether the files were deleted; otherwise they are kept.',
    }),
    driveExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Until when the drive is kept for the same verified address; empty if it was deleted.',
      resolve: ({ keptUntil }) => keptUntil,
    }),
  }),
})
