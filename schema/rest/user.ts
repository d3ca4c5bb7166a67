import type { Limits } from '../../db/models/plan.ts'
import type { Usage } from '../../db/queries/bucket.ts'
import { logIdentityRemoved, logSecurityEvent } from '../../src/access/audit-log.ts'
import type { EndedAccount } from '../../src/services/accounts/account-end.ts'
import type { UserStats } from '../../src/services/accounts/statistic.ts'
import type { IdentityView, UserView } from '../../src/services/accounts/user.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import { joinPath } from '../../src/values/paths.ts'
import { paged } from './arguments.ts'
import { objectOf } from './builder.ts'
import { ALICE, BYTES, CURSOR, FILE_PATH, ID, MD5, MEDIA_TYPE, PICTURE } from './examples.ts'
import { operationsOf } from './operation.ts'

/** Sessions belong to this area, too. */
export const operation = operationsOf('user', 'The account of the caller.')

interface BucketView extends Usage {
  maxTotalStorageBytes: number
  objects: FileView[]
  nextCursor: string | null
}

const BucketObject = objectOf<FileView & { bucket: string }>(
  'BucketObject',
  'A file as an object of the storage area.',
  t => ({
    bucket: t.exposeString('bucket', { example: ID }),
    content_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
    date_created: t.expose('createdAt', { type: 'DateTime' }),
    date_updated: t.expose('updatedAt', { type: 'DateTime' }),
    md5: t.exposeString('md5', { example: MD5 }),
    name: t.string({
      description: 'Full path.',
      example: FILE_PATH,
      resolve: file => joinPath(file.names),
    }),
    size: t.expose('size', { type: 'Long', example: BYTES }),
  }),
)

const Bucket = objectOf<BucketView>('Bucket', 'The storage area of the caller.', t => ({
  bucket_name: t.exposeString('id', { example: ID }),
  file_count: t.expose('fileCount', { type: 'Long' }),
  folder_count: t.expose('folderCount', { type: 'Long' }),
  labels: t.field({ type: 'Labels', resolve: () => ({}) }),
  max_total_storage_bytes: t.expose('maxTotalStorageBytes', { type: 'Long', example: BYTES }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  objects: t.field({
    type: [BucketObject],
    resolve: ({ id, objects }) => objects.map(file => ({ ...file, bucket: id })),
  }),
  storage_class: t.string({ example: 'STANDARD', resolve: () => 'STANDARD' }),
  time_created: t.expose('createdAt', { type: 'DateTime' }),
  used_bytes: t.expose('usedBytes', { type: 'Long', example: BYTES }),
}))

operation('GET /api/user/bucket', 'bucket', {
  description: 'The storage area of the caller: its usage, and all its files, oldest first.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  wrap: 'bucket_data',
  args: paged,
  type: Bucket,
  resolve: async (page, { services, caller }) => {
    const [usage, { files, nextCursor }] = await Promise.all([
      services.users.usage(caller.bucket),
      services.listings.listAll(caller.bucket, page),
    ])
    return {
      ...usage,
      maxTotalStorageBytes: caller.limits.maxTotalStorageBytes,
      objects: files,
      nextCursor,
    }
  },
})

const Identity = objectOf<IdentityView>(
  'Identity',
  'An identity with which the caller can sign in.',
  t => ({
    avatar_url: t.exposeString('avatarUrl', { example: PICTURE }),
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    email: t.exposeString('email', { example: ALICE }),
    email_verified: t.exposeBoolean('emailVerified'),
    id: t.exposeID('id'),
    name: t.exposeString('name', { example: 'Alice Example' }),
    provider: t.exposeString('provider', { example: 'google' }),
    provider_user_id: t.exposeString('providerUserId', { example: '104729' }),
    user_id: t.exposeID('userId'),
  }),
)

const Identities = objectOf<{ identities: IdentityView[] }>('Identities', t => ({
  has_password_identity: t.boolean({
    description: 'Always false: Satchel keeps no passwords of accounts.',
    resolve: () => false,
  }),
  identities: t.expose('identities', { type: [Identity] }),
}))

operation('GET /api/user/identities', 'identities', {
  description: 'The identities of the caller, oldest first.',
  auth: { session: true },
  statuses: [401],
  type: Identities,
  resolve: async (_args, { services, caller }) => ({
    identities: await services.users.identities(caller),
  }),
})

const User = objectOf<UserView & Limits>('User', 'The account of the caller.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  email: t.exposeString('email', { example: ALICE }),
  family_name: t.exposeString('familyName', { example: 'Example' }),
  given_name: t.exposeString('givenName', { example: 'Alice' }),
  user_id: t.exposeID('id'),
  locale: t.exposeString('locale', { example: 'en' }),
  name: t.exposeString('name', { example: 'Alice Example' }),
  picture: t.exposeString('picture', { example: PICTURE }),
  plan_id: t.id({ resolve: user => user.plan.id }),
  max_file_size_bytes: t.expose('maxFileSizeBytes', { type: 'Long', example: BYTES }),
  max_files: t.expose('maxFiles', { type: 'Long', nullable: true }),
  max_files_workspace: t.expose('maxFilesWorkspace', { type: 'Long', nullable: true }),
  max_folders: t.expose('maxFolders', {
    type: 'Long',
    nullable: true,
    description: 'In the personal storage.',
  }),
  max_notes: t.expose('maxNotes', { type: 'Long', nullable: true }),
  max_pending_invites: t.expose('maxPendingInvites', {
    type: 'Long',
    nullable: true,
    description: 'For each workspace.',
  }),
  max_private_api_keys: t.expose('maxPrivateApiKeys', { type: 'Long' }),
  max_public_links: t.expose('maxPublicLinks', {
    type: 'Long',
    nullable: true,
    description: 'Limits at any one time.',
  }),
  max_total_storage_bytes: t.expose('maxTotalStorageBytes', { type: 'Long', example: BYTES }),
  max_total_storage_bytes_workspace: t.expose('maxTotalStorageBytesWorkspace', {
    type: 'Long',
    example: BYTES,
  }),
  max_user_workspaces: t.expose('maxUserWorkspaces', { type: 'Long' }),
  max_users_workspace: t.expose('maxUsersWorkspace', { type: 'Long' }),
  max_workspace_api_keys: t.expose('maxWorkspaceApiKeys', { type: 'Long' }),
  max_workspace_folders: t.expose('maxWorkspaceFolders', { type: 'Long', nullable: true }),
  plan_name: t.string({ example: 'free', resolve: user => user.plan.name }),
  provider: t.exposeString('provider', {
    description: 'The provider of the first sign-in.',
    example: 'google',
  }),
  provider_user_id: t.exposeString('providerUserId', { example: '104729' }),
}))

operation('GET /api/user/data', 'me', {
  description: 'The account of the caller, with its limits.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  wrap: 'user_data',
  type: User,
  resolve: async (_args, { services, caller }) => {
    const user = await services.users.read(caller)
    return { ...user.limits, ...user }
  },
})

operation('GET /api/user/export', 'accountExport', {
  description:
    'Everything that the service knows about the caller, as one JSON file; without the bytes of their files.',
  auth: { session: true, drive: 'read' },
  statuses: [401, 429],
  rateLimit: 'exports',
  type: 'Attachment',
  resolve: async (_args, context) => {
    if (!context.looksOnly) {
      logSecurityEvent(context, 'data_exported')
      await context.services.audits.note(context.caller, 'account.exported', context.caller.userId)
    }
    const isIn = async () => (await context.callerNow()) !== null
    return context.services.accountExports.make(context.caller, context.drive, isIn)
  },
})

const DailyShares = objectOf<UserStats['dailyShares'][number]>('DailyShares', t => ({
  day: t.exposeString('day', { example: '2026-01-31' }),
  shares: t.exposeInt('count'),
}))

const DailyUploads = objectOf<UserStats['dailyUploads'][number]>('DailyUploads', t => ({
  day: t.exposeString('day', { example: '2026-01-31' }),
  uploads: t.exposeInt('count'),
}))

const Stats = objectOf<UserStats>(
  'UserStats',
  "Statistics of the caller's files and shares.",
  t => ({
    active_shares: t.expose('activeShares', { type: 'Long' }),
    daily_shares: t.expose('dailyShares', { type: [DailyShares] }),
    daily_uploads: t.expose('dailyUploads', { type: [DailyUploads] }),
    files_last_7d: t.expose('filesLast7d', { type: 'Long' }),
    files_last_30d: t.expose('filesLast30d', { type: 'Long' }),
    files_today: t.expose('filesToday', { type: 'Long' }),
    owned_workspaces: t.expose('ownedWorkspaces', { type: 'Long' }),
    public_shares: t.expose('publicShares', { type: 'Long' }),
    shares_today: t.expose('sharesToday', { type: 'Long' }),
    targeted_shares: t.expose('targetedShares', { type: 'Long' }),
    total_bytes: t.expose('totalBytes', { type: 'Long', example: BYTES }),
    total_files: t.expose('totalFiles', { type: 'Long' }),
    total_received: t.expose('totalReceived', { type: 'Long' }),
    total_shares_sent: t.expose('totalSharesSent', { type: 'Long' }),
    workspace_api_keys: t.expose('workspaceApiKeys', { type: 'Long' }),
  }),
)

operation('GET /api/user/stats', 'userStats', {
  description: "Statistics of the caller's files and shares; days are in UTC.",
  auth: { privateFiles: 'read' },
  statuses: [401],
  type: Stats,
  resolve: (_args, { services, caller }) => services.statistics.read(caller),
})

const EndedUser = objectOf<EndedAccount>('EndedUser', t => ({
  email: t.exposeString('email', { example: ALICE }),
  id: t.exposeID('id'),
  user_name: t.exposeString('userName', { example: 'Alice Example' }),
}))

const EndedBucket = objectOf<EndedAccount>('EndedBucket', t => ({
  deleted: t.exposeBoolean('bucketDeleted'),
  name: t.exposeString('bucketName', { example: ID }),
}))

const DeletedAccount = objectOf<EndedAccount>('DeletedAccount', t => ({
  account_deleted: t.field({ type: EndedUser, resolve: ended => ended }),
  bucket: t.field({ type: EndedBucket, resolve: ended => ended }),
}))

operation('DELETE /api/user/account/delete', 'deleteAccount', {
  description: 'Deletes the account of the caller.',
  auth: { session: true },
  statuses: [400, 401],
  fails: ['LAST_OWNER', 'PROOF_NEEDED'],
  from: { delete_user_data: 'body' },
  args: arg => ({
    delete_user_data: arg.boolean({
      required: true,
      description:
        'true: the files are deleted at once; false: they are kept until an account with the same verified address signs in again.',
    }),
  }),
  type: DeletedAccount,
  resolve: async ({ delete_user_data: deletesData }, context) => {
    const ended = await context.services.accountEnd.end(context.caller, deletesData)
    logSecurityEvent(context, 'account_deleted', {
      user_id: ended.id,
      data_deleted: ended.bucketDeleted,
    })
    return ended
  },
})

operation('DELETE /api/user/identities', 'removeIdentity', {
  description:
    'Removes an identity from the account of the caller, and ends its other sessions. The last identity cannot be removed.',
  auth: { session: true },
  statuses: [400, 401, 404],
  fails: ['LAST_IDENTITY', 'IDENTITY_NOT_FOUND', 'PROOF_NEEDED'],
  args: arg => ({
    identity_id: arg.id({ required: true }),
  }),
  resolve: async ({ identity_id: id }, context) => {
    const workspaces = await context.services.identities.remove(context.caller, id)
    logIdentityRemoved(context, { identity: id, workspaces })
  },
})
