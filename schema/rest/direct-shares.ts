import { figure, MAX_PASSWORD, MAX_SHARED_FILES } from '../../src/limits.ts'
import { joinPath } from '../../src/paths.ts'
import type { DirectShares } from '../../src/services/sharing/direct-share.ts'
import type { ShareView } from '../../src/services/sharing/share-list.ts'
import { paged } from './arguments.ts'
import { objectOf } from './builder.ts'
import { ALICE, BOB, BYTES, CURSOR, FILE_PATH, MD5, MEDIA_TYPE, PASSWORD, SHARE_LINK, SHARE_TOKEN } from './examples.ts'
import { operation } from './shares.ts'

const Share = objectOf<ShareView>('Share', 'A share that the caller has created or received.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  downloads: t.expose('downloads', { type: 'Long' }),
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  file_id: t.exposeID('fileId'),
  file_name: t.string({ description: 'Full path.', example: FILE_PATH, resolve: share => joinPath(share.names) }),
  file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
  max_downloads: t.expose('maxDownloads', { type: 'Long', nullable: true }),
  md5_checksum: t.exposeString('md5', { example: MD5 }),
  password_protected: t.exposeBoolean('passwordProtected'),
  seen: t.exposeBoolean('seen'),
  shared_by: t.exposeString('sharedBy', { description: 'E-mail address.', example: ALICE }),
  shared_for: t.exposeString('sharedFor', { description: 'E-mail address; empty for a public share.', example: BOB }),
  sharing_link: t.exposeString('link', { example: SHARE_LINK }),
  sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
  size: t.expose('size', { type: 'Long', example: BYTES }),
}))

const ShareList = objectOf<{ files: ShareView[]; nextCursor: string | null }>('ShareList', t => ({
  files: t.field({ type: [Share], resolve: list => list.files }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
}))

operation('GET /api/files/received', 'receivedShares', {
  description: 'The live shares that the caller has received, oldest first.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  args: paged,
  type: ShareList,
  resolve: (page, { services, caller }) => services.shares.page(caller, 'received', page),
})

operation('GET /api/files/shared_by_user', 'sentShares', {
  description: 'The live shares that the caller has created, direct and public, oldest first.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  args: paged,
  type: ShareList,
  resolve: (page, { services, caller }) => services.shares.page(caller, 'sent', page),
})

const UnseenCount = objectOf<{ count: number }>('UnseenCount', t => ({
  count: t.exposeInt('count'),
}))

operation('GET /api/files/received/unseen_count', 'unseenShareCount', {
  description: 'How many received shares the caller has not seen.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  type: UnseenCount,
  resolve: async (_args, { services, caller }) => ({ count: await services.directShares.countUnseen(caller) }),
})

const SeenShare = objectOf<{ seen: boolean }>('SeenShare', t => ({
  seen: t.exposeBoolean('seen'),
}))

operation('POST /api/files/received/mark_seen', 'markShareSeen', {
  description: 'Marks a received share as seen.',
  auth: { privateFiles: 'write' },
  statuses: [400, 401],
  fails: ['SHARE_NOT_FOUND'],
  args: arg => ({
    sharing_token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: SeenShare,
  resolve: async ({ sharing_token: token }, { services, caller }) => {
    await services.directShares.markSeen(caller, token)
    return { seen: true }
  },
})

const SharingInfo = objectOf<DirectShares['shares'][number]>('SharingInfo', 'A file that has just been shared.', t => ({
  checksum: t.exposeString('md5', { description: 'MD5 of the bytes.', example: MD5 }),
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  file: t.string({ description: 'Full path.', example: FILE_PATH, resolve: share => joinPath(share.names) }),
  file_name: t.string({ example: 'report.pdf', resolve: share => share.names.at(-1) ?? '' }),
  shared_by: t.exposeString('sharedBy', { description: 'E-mail address.', example: ALICE }),
  shared_for: t.exposeString('sharedFor', { description: 'E-mail address.', example: BOB }),
  sharing_link: t.exposeString('link', { example: SHARE_LINK }),
  sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
}))

const SharedFiles = objectOf<DirectShares>('SharedFiles', t => ({
  notification_status: t.exposeString('notificationStatus', {
    description: 'not_sent, queued or failed',
    example: 'queued',
  }),
  sharing_info: t.field({ type: [SharingInfo], resolve: shared => shared.shares }),
}))

operation('POST /api/files/share', 'shareFiles', {
  description: 'Shares files of the caller with one person: all of them, or none. Sharing again renews.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401, 429],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'FILE_NOT_FOUND'],
  rateLimit: 'sharing',
  args: arg => ({
    duration: arg.string({ description: '7d by default.', example: '7d' }),
    email: arg.string({
      required: true,
      description: 'The account with this verified address receives the files.',
      example: BOB,
    }),
    objects: arg.stringList({
      required: true,
      maxItems: MAX_SHARED_FILES,
      description: `1 to ${figure(MAX_SHARED_FILES)} full paths.`,
      example: [FILE_PATH],
    }),
    password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
    send_email: arg.boolean({ description: 'Whether to notify the recipient by mail.', example: true }),
  }),
  type: SharedFiles,
  resolve: ({ send_email: sendEmail, ...shares }, { services, caller }) =>
    services.directShares.create(caller, { ...shares, sendEmail }),
})
