import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { EndedAccount } from '../src/services/accounts/account-end.ts'
import type { IdentityView } from '../src/services/accounts/user.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Viewer, viewerField } from './viewer.ts'

const Identity = builder.objectRef<IdentityView>('Identity').implement({
  description: 'A way in which the caller can sign in.',
  interfaces: [Node],
  fields: t => ({
    provider: t.exposeString('provider', { description: 'Who vouches for it.' }),
    providerUserId: t.exposeString('providerUserId', { description: 'Names the caller there.' }),
    email: t.exposeString('email', { description: 'The address that the provider knows.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'Whether the provider vouches for the address.' }),
    name: t.exposeString('name', { description: 'The name that the provider knows.' }),
    picture: t.field({
      type: 'URL',
      nullable: true,
      description: 'The picture that the provider knows.',
      resolve: ({ avatarUrl }) => avatarUrl || null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
})

builder.objectField(Viewer, 'identities', t =>
  t.withAuth({ session: true }).field({
    type: [Identity],
    nullable: true,
    description: 'The identities of the caller, the first one first. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.users.identities(caller),
  }),
)

const identities = batchSeen(async ({ users }, caller) => keyById(await users.identities(caller)))

findable('identity', 'Identity', async (context, caller, id) =>
  caller.via === 'session' ? identities(context, id) : null,
)

mutation('removeIdentity', {
  description:
    'Takes a way to sign in away from the account of the caller, and ends its other sessions. The last one stays.',
  auth: { session: true },
  fails: ['IDENTITY_NOT_FOUND', 'LAST_IDENTITY'],
  input: t => ({ identity: t.id({ required: true, description: 'Its id.' }) }),
  resolve: async ({ identity }, context) => {
    await context.services.identities.remove(context.caller, identity)
    logSecurityEvent(context, 'identity_removed', { identity_id: identity })
    return { removedId: identity }
  },
  payload: t => ({
    removedId: t.exposeID('removedId', { description: 'The id of the identity.' }),
    viewer: viewerField(t),
  }),
})

mutation('deleteAccount', {
  description:
    'Deletes the account of the caller. Workspaces without another member go with it; the others need another owner.',
  auth: { session: true },
  fails: ['LAST_OWNER'],
  input: t => ({
    deleteUserData: t.boolean({
      required: true,
      description: 'true: the files go at once; false: they wait for the same verified address to sign in again.',
    }),
  }),
  resolve: async ({ deleteUserData }, context): Promise<EndedAccount> => {
    const ended = await context.services.accountEnd.end(context.caller, deleteUserData)
    logSecurityEvent(context, 'account_deleted', { user_id: ended.id, data_deleted: ended.bucketDeleted })
    return ended
  },
  payload: t => ({
    deletedId: t.exposeID('id', { description: 'The id of the person.' }),
    email: t.exposeString('email', { description: 'The address that the account had.' }),
    name: t.exposeString('userName', { description: 'The name that the account had.' }),
    driveId: t.exposeID('bucketName', { description: 'The id of the drive.' }),
    driveDeleted: t.exposeBoolean('bucketDeleted', { description: 'Whether the files are gone; else they wait.' }),
  }),
})
