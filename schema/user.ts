import { joinPath } from '../src/paths.ts'
import type { FileView } from '../src/services/listing.ts'
import type { BucketUsage as BucketUsageView } from '../src/services/subscription.ts'
import type { PlanView, Usage, UserView } from '../src/services/user.ts'
import { builder } from './builder.ts'
import { Folder, rootOf } from './folder.ts'

export const Plan = builder.objectRef<PlanView>('Plan').implement({
  description: 'The limits of an account and of the workspaces that it owns. Null means unlimited.',
  fields: t => ({
    id: t.exposeID('id', { restField: { name: 'plan_id' } }),
    name: t.exposeString('name', { restField: { name: 'plan_name' } }),
    maxFileSizeBytes: t.expose('maxFileSizeBytes', { type: 'Long' }),
    maxTotalStorageBytes: t.expose('maxTotalStorageBytes', { type: 'Long' }),
    maxFiles: t.expose('maxFiles', { type: 'Long', nullable: true }),
    maxUserWorkspaces: t.expose('maxUserWorkspaces', { type: 'Long' }),
    maxFilesWorkspace: t.expose('maxFilesWorkspace', { type: 'Long', nullable: true }),
    maxTotalStorageBytesWorkspace: t.expose('maxTotalStorageBytesWorkspace', { type: 'Long' }),
    maxUsersWorkspace: t.expose('maxUsersWorkspace', { type: 'Long' }),
    maxWorkspaceFolders: t.expose('maxWorkspaceFolders', { type: 'Long', nullable: true }),
    maxPrivateApiKeys: t.expose('maxPrivateApiKeys', { type: 'Long' }),
    maxWorkspaceApiKeys: t.expose('maxWorkspaceApiKeys', { type: 'Long' }),
    maxFolders: t.expose('maxFolders', { type: 'Long', nullable: true, description: 'Of the own files.' }),
    maxPublicLinks: t.expose('maxPublicLinks', { type: 'Long', nullable: true, description: 'That live at a time.' }),
    maxPendingInvites: t.expose('maxPendingInvites', {
      type: 'Long',
      nullable: true,
      description: 'Of each workspace.',
    }),
    maxNotes: t.expose('maxNotes', { type: 'Long', nullable: true }),
  }),
})

export const User = builder.objectRef<UserView>('User').implement({
  description: 'The account of the caller.',
  fields: t => ({
    id: t.exposeID('id', { restField: { name: 'user_id' } }),
    email: t.exposeString('email'),
    name: t.exposeString('name'),
    givenName: t.exposeString('givenName'),
    familyName: t.exposeString('familyName'),
    picture: t.exposeString('picture'),
    locale: t.exposeString('locale'),
    provider: t.exposeString('provider', { description: 'The provider of the first sign-in.' }),
    providerUserId: t.exposeString('providerUserId'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    plan: t.expose('plan', { type: Plan, restField: { spread: true } }),
  }),
})

builder.queryField('me', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: User,
    description: 'The account of the caller, with the limits of its plan.',
    rest: { route: 'GET /api/user/data', errors: [401], wrap: 'user_data' },
    resolve: (_root, _args, { services, caller }) => services.users.read(caller),
  }),
)

const BucketUsage = builder.objectRef<BucketUsageView>('BucketUsage').implement({
  description: 'What a storage area holds, and what it may. Null means unlimited.',
  fields: t => ({
    usedBytes: t.expose('usedBytes', { type: 'Long' }),
    fileCount: t.expose('fileCount', { type: 'Long' }),
    folderCount: t.expose('folderCount', { type: 'Long' }),
    maxTotalStorageBytes: t.expose('maxTotalStorageBytes', { type: 'Long' }),
    maxFiles: t.expose('maxFiles', { type: 'Long', nullable: true }),
  }),
})

builder.objectFields(User, t => ({
  usage: t.withAuth({ privateFiles: 'read' }).field({
    type: BucketUsage,
    restField: false,
    description: 'What the files of the caller take up.',
    resolve: async (_user, _args, { services, caller }) => ({
      ...(await services.users.usage(caller.bucket)),
      ...caller.limits,
    }),
  }),
  rootFolder: t.withAuth({ privateFiles: 'read' }).field({
    type: Folder,
    restField: false,
    description: 'The folder that all files of the caller are in.',
    resolve: (_user, _args, { services, caller }) => rootOf(caller, services),
  }),
}))

builder.subscriptionField('bucketChanged', t =>
  t
    .withAuth((_root, { workspaceId }) => (workspaceId ? { workspaces: 'workspaces:read' } : { privateFiles: 'read' }))
    .field({
      type: BucketUsage,
      description:
        'What the files of the caller, or of a workspace of theirs, take up, whenever that changes; a few times a second at most.',
      args: { workspaceId: t.arg.id() },
      subscribe: (_root, { workspaceId }, context) => {
        const { subscriptions } = context.services
        return workspaceId ? subscriptions.workspaceChanges(context, workspaceId) : subscriptions.bucketChanges(context)
      },
      resolve: usage => usage,
    }),
)

interface BucketView extends Usage {
  maxTotalStorageBytes: number
  objects: FileView[]
  nextCursor: string | null
}

const BucketObject = builder.objectRef<FileView & { bucket: string }>('BucketObject').implement({
  description: 'A file, as an object of the storage area.',
  fields: t => ({
    name: t.string({ description: 'Full path.', resolve: file => joinPath(file.names) }),
    contentType: t.exposeString('fileType'),
    size: t.expose('size', { type: 'Long' }),
    md5: t.exposeString('md5'),
    dateCreated: t.expose('createdAt', { type: 'DateTime' }),
    dateUpdated: t.expose('updatedAt', { type: 'DateTime' }),
    bucket: t.exposeString('bucket'),
  }),
})

const Bucket = builder.objectRef<BucketView>('Bucket').implement({
  description: 'The storage area of the caller.',
  fields: t => ({
    bucketName: t.exposeString('id'),
    storageClass: t.string({ resolve: () => 'STANDARD' }),
    timeCreated: t.expose('createdAt', { type: 'DateTime' }),
    labels: t.field({ type: 'Labels', resolve: () => ({}) }),
    usedBytes: t.expose('usedBytes', { type: 'Long' }),
    fileCount: t.expose('fileCount', { type: 'Long' }),
    folderCount: t.expose('folderCount', { type: 'Long' }),
    maxTotalStorageBytes: t.expose('maxTotalStorageBytes', { type: 'Long' }),
    objects: t.field({
      type: [BucketObject],
      resolve: ({ id, objects }) => objects.map(file => ({ ...file, bucket: id })),
    }),
    nextCursor: t.exposeString('nextCursor', { nullable: true }),
  }),
})

builder.queryField('bucket', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Bucket,
    description: 'The storage area of the caller: its usage, and all its files, oldest first.',
    rest: { route: 'GET /api/user/bucket', errors: [401], wrap: 'bucket_data' },
    args: { limit: t.arg.int(), cursor: t.arg.string() },
    resolve: async (_root, page, { services, caller }) => {
      const [usage, { files, nextCursor }] = await Promise.all([
        services.users.usage(caller.bucket),
        services.listings.listAll(caller.bucket, page),
      ])
      return { ...usage, maxTotalStorageBytes: caller.limits.maxTotalStorageBytes, objects: files, nextCursor }
    },
  }),
)
