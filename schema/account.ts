import { logSecurityEvent } from '../src/audit-log.ts'
import type { EndedAccount } from '../src/services/account-end.ts'
import type { UserStats } from '../src/services/statistic.ts'
import type { IdentityView } from '../src/services/user.ts'
import { builder } from './builder.ts'
import { User } from './user.ts'

const Identity = builder.objectRef<IdentityView>('Identity').implement({
  description: 'A way in which the caller can sign in.',
  fields: t => ({
    id: t.exposeID('id'),
    userId: t.exposeID('userId'),
    provider: t.exposeString('provider'),
    providerUserId: t.exposeString('providerUserId'),
    email: t.exposeString('email'),
    emailVerified: t.exposeBoolean('emailVerified'),
    name: t.exposeString('name'),
    avatarUrl: t.exposeString('avatarUrl'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const Identities = builder.objectRef<{ identities: IdentityView[] }>('Identities').implement({
  fields: t => ({
    identities: t.expose('identities', { type: [Identity] }),
    hasPasswordIdentity: t.boolean({
      description: 'Always false: Satchel keeps no passwords of accounts.',
      resolve: () => false,
    }),
  }),
})

builder.objectField(User, 'identities', t =>
  t.withAuth({ session: true }).field({
    type: [Identity],
    nullable: true,
    restField: false,
    description: 'The identities of the caller, the first one first. For a session only.',
    resolve: (_user, _args, { services, caller }) => services.users.identities(caller),
  }),
)

builder.queryField('identities', t =>
  t.withAuth({ session: true }).field({
    type: Identities,
    description: 'The identities of the caller, the first one first.',
    rest: { route: 'GET /api/user/identities', errors: [401] },
    resolve: async (_root, _args, { services, caller }) => ({ identities: await services.users.identities(caller) }),
  }),
)

const RemoveIdentityInput = builder.inputType('RemoveIdentityInput', {
  fields: t => ({ identityId: t.id({ required: true }) }),
})

builder.mutationField('removeIdentity', t =>
  t.withAuth({ session: true }).field({
    type: 'Void',
    nullable: true,
    description:
      'Takes a way to sign in away from the account of the caller, and ends its other sessions. The last one stays.',
    rest: { route: 'DELETE /api/user/identities', errors: [400, 401, 404] },
    args: { input: t.arg({ type: RemoveIdentityInput, required: true }) },
    resolve: async (_root, { input }, { services, caller, log }) => {
      await services.identities.remove(caller, input.identityId)
      logSecurityEvent({ log, caller }, 'identity_removed', { identity_id: input.identityId })
      return null
    },
  }),
)

const DailyUploads = builder.objectRef<UserStats['dailyUploads'][number]>('DailyUploads').implement({
  fields: t => ({ day: t.exposeString('day'), uploads: t.exposeInt('count') }),
})

const DailyShares = builder.objectRef<UserStats['dailyShares'][number]>('DailyShares').implement({
  fields: t => ({ day: t.exposeString('day'), shares: t.exposeInt('count') }),
})

const Stats = builder.objectRef<UserStats>('UserStats').implement({
  description: 'What the caller has stored and shared.',
  fields: t => ({
    totalFiles: t.expose('totalFiles', { type: 'Long' }),
    totalBytes: t.expose('totalBytes', { type: 'Long' }),
    filesToday: t.expose('filesToday', { type: 'Long' }),
    filesLast7d: t.expose('filesLast7d', { type: 'Long', restField: { name: 'files_last_7d' } }),
    filesLast30d: t.expose('filesLast30d', { type: 'Long', restField: { name: 'files_last_30d' } }),
    totalSharesSent: t.expose('totalSharesSent', { type: 'Long' }),
    sharesToday: t.expose('sharesToday', { type: 'Long' }),
    targetedShares: t.expose('targetedShares', { type: 'Long' }),
    publicShares: t.expose('publicShares', { type: 'Long' }),
    activeShares: t.expose('activeShares', { type: 'Long' }),
    totalReceived: t.expose('totalReceived', { type: 'Long' }),
    ownedWorkspaces: t.expose('ownedWorkspaces', { type: 'Long' }),
    workspaceApiKeys: t.expose('workspaceApiKeys', { type: 'Long' }),
    dailyUploads: t.expose('dailyUploads', { type: [DailyUploads] }),
    dailyShares: t.expose('dailyShares', { type: [DailyShares] }),
  }),
})

builder.queryField('userStats', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Stats,
    description: 'What the caller has stored and shared; days are in UTC.',
    rest: { route: 'GET /api/user/stats', errors: [401] },
    resolve: (_root, _args, { services, caller }) => services.statistics.read(caller),
  }),
)

const EndedBucket = builder.objectRef<EndedAccount>('EndedBucket').implement({
  fields: t => ({ name: t.exposeString('bucketName'), deleted: t.exposeBoolean('bucketDeleted') }),
})

const EndedUser = builder.objectRef<EndedAccount>('EndedUser').implement({
  fields: t => ({ id: t.exposeID('id'), email: t.exposeString('email'), userName: t.exposeString('userName') }),
})

const Ended = builder.objectRef<EndedAccount>('DeletedAccount').implement({
  fields: t => ({
    bucket: t.field({ type: EndedBucket, resolve: ended => ended }),
    accountDeleted: t.field({ type: EndedUser, resolve: ended => ended }),
  }),
})

const DeleteAccountInput = builder.inputType('DeleteAccountInput', {
  fields: t => ({
    deleteUserData: t.boolean({
      required: true,
      description: 'true: the files go at once; false: they wait for the same verified address to sign in again.',
    }),
  }),
})

builder.mutationField('deleteAccount', t =>
  t.withAuth({ session: true }).field({
    type: Ended,
    description: 'Deletes the account of the caller.',
    rest: { route: 'DELETE /api/user/account/delete', errors: [400, 401], from: { delete_user_data: 'body' } },
    args: { input: t.arg({ type: DeleteAccountInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const ended = await context.services.accountEnd.end(context.caller, input.deleteUserData)
      logSecurityEvent(context, 'account_deleted', { user_id: ended.id, data_deleted: ended.bucketDeleted })
      return ended
    },
  }),
)
