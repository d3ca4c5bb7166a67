import { MAX_SHARED_FILES } from '../src/limits.ts'
import { joinPath } from '../src/paths.ts'
import type { DirectShares } from '../src/services/direct-share.ts'
import type { ShareView } from '../src/services/share.ts'
import { builder } from './builder.ts'
import { byId, forwardConnection } from './connection.ts'
import { Share, ShareConnection } from './share.ts'
import { User } from './user.ts'

const SharingInfo = builder.objectRef<DirectShares['shares'][number]>('SharingInfo').implement({
  description: 'A file that was just shared with somebody.',
  fields: t => ({
    file: t.string({ description: 'Full path.', resolve: share => joinPath(share.names) }),
    fileName: t.string({ resolve: share => share.names.at(-1) ?? '' }),
    checksum: t.exposeString('md5', { description: 'MD5 of the bytes.' }),
    sharedFor: t.exposeString('sharedFor', { description: 'E-mail address.' }),
    sharedBy: t.exposeString('sharedBy', { description: 'E-mail address.' }),
    sharingToken: t.exposeString('token'),
    sharingLink: t.exposeString('link'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

const SharedFiles = builder.objectRef<DirectShares>('SharedFiles').implement({
  fields: t => ({
    sharingInfo: t.field({ type: [SharingInfo], resolve: shared => shared.shares }),
    notificationStatus: t.exposeString('notificationStatus', { description: 'not_sent, queued or failed' }),
  }),
})

const ShareFilesInput = builder.inputType('ShareFilesInput', {
  fields: t => ({
    email: t.string({ required: true, description: 'Whoever has this verified address receives the files.' }),
    objects: t.stringList({ required: true, maxItems: MAX_SHARED_FILES, description: '1 to 100 full paths.' }),
    duration: t.string({ description: '7d by default.' }),
    password: t.string({ description: '1 to 128 characters.' }),
    sendEmail: t.boolean({ description: 'Whether to tell the recipient.' }),
  }),
})

builder.mutationField('shareFiles', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: SharedFiles,
    description: 'Shares files of the caller with one person: all of them, or none. Sharing again renews.',
    rest: { route: 'POST /api/files/share', errors: [400, 401, 429] },
    rateLimit: 'sharing',
    args: { input: t.arg({ type: ShareFilesInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.directShares.create(caller, input),
  }),
)

builder.objectFields(User, t => ({
  receivedShares: t.withAuth({ privateFiles: 'read' }).field({
    type: ShareConnection,
    restField: false,
    description: 'The live shares that are made out to the caller, oldest first.',
    args: t.arg.connectionArgs(),
    resolve: (_user, args, { services, caller }) =>
      forwardConnection(args, byId, (limit, after) => services.shares.receivedBy(caller, limit, after?.[0] ?? null)),
  }),
  sentShares: t.withAuth({ privateFiles: 'read' }).field({
    type: ShareConnection,
    restField: false,
    description: 'The live shares that the caller has made, direct and public, oldest first.',
    args: t.arg.connectionArgs(),
    resolve: (_user, args, { services, caller }) =>
      forwardConnection(args, byId, (limit, after) => services.shares.sentBy(caller, limit, after?.[0] ?? null)),
  }),
  unseenShareCount: t.withAuth({ privateFiles: 'read' }).int({
    restField: false,
    description: 'How many received shares the caller has not seen.',
    resolve: (_user, _args, { services, caller }) => services.directShares.countUnseen(caller),
  }),
}))

builder.subscriptionField('shareReceived', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Share,
    description: 'A share that was just made out to the caller, or renewed.',
    subscribe: (_root, _args, context) => context.services.subscriptions.sharesReceived(context),
    resolve: share => share,
  }),
)

const ShareList = builder.objectRef<{ files: ShareView[]; nextCursor: string | null }>('ShareList').implement({
  fields: t => ({
    files: t.field({ type: [Share], resolve: list => list.files }),
    nextCursor: t.exposeString('nextCursor', { nullable: true }),
  }),
})

builder.queryField('receivedShares', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: ShareList,
    description: 'The live shares that are made out to the caller, oldest first.',
    rest: { route: 'GET /api/files/received', errors: [401] },
    args: { limit: t.arg.int(), cursor: t.arg.string() },
    resolve: (_root, page, { services, caller }) => services.shares.page(caller, 'received', page),
  }),
)

builder.queryField('sentShares', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: ShareList,
    description: 'The live shares that the caller has made, direct and public, oldest first.',
    rest: { route: 'GET /api/files/shared_by_user', errors: [401] },
    args: { limit: t.arg.int(), cursor: t.arg.string() },
    resolve: (_root, page, { services, caller }) => services.shares.page(caller, 'sent', page),
  }),
)

const SeenShare = builder
  .objectRef<{ seen: boolean }>('SeenShare')
  .implement({ fields: t => ({ seen: t.exposeBoolean('seen') }) })

const MarkShareSeenInput = builder.inputType('MarkShareSeenInput', {
  fields: t => ({ sharingToken: t.string({ required: true }) }),
})

builder.mutationField('markShareSeen', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: SeenShare,
    description: 'Notes that the caller has seen a received share.',
    rest: { route: 'POST /api/files/received/mark_seen', errors: [400, 401] },
    args: { input: t.arg({ type: MarkShareSeenInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => {
      await services.directShares.markSeen(caller, input.sharingToken)
      return { seen: true }
    },
  }),
)

const UnseenCount = builder
  .objectRef<{ count: number }>('UnseenCount')
  .implement({ fields: t => ({ count: t.exposeInt('count') }) })

builder.queryField('unseenShareCount', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: UnseenCount,
    description: 'How many received shares the caller has not seen.',
    rest: { route: 'GET /api/files/received/unseen_count', errors: [401] },
    resolve: async (_root, _args, { services, caller }) => ({ count: await services.directShares.countUnseen(caller) }),
  }),
)
