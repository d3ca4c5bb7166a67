import type { DirectShares } from '../../src/services/sharing/direct-share.ts'
import type { ShareView } from '../../src/services/sharing/share-list.ts'
import { figure, MAX_PASSWORD, MAX_SHARED_FILES } from '../../src/values/limits.ts'
import { joinPath } from '../../src/values/paths.ts'
import { clearable, paged } from './arguments.ts'
import { objectOf } from './builder.ts'
import {
  ALICE,
  BOB,
  BYTES,
  CURSOR,
  FILE_PATH,
  MD5,
  MEDIA_TYPE,
  PASSWORD,
  SHARE_LINK,
  SHARE_TOKEN,
} from './examples.ts'
import { expiry, inputOf, operation, rights, terms, typeOf } from './shares.ts'

const pathOf = ({ names, workspaceId, entryCount }: ShareView) =>
  `${workspaceId === null || entryCount !== null ? '' : '/'}${joinPath(names)}`

export const Share = objectOf<ShareView>(
  'Share',
  'A share that the caller has created or received.',
  t => ({
    allow_download: t.exposeBoolean('allowDownload', {
      description: 'Whether it may be downloaded, not only viewed.',
    }),
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    downloads: t.expose('downloads', { type: 'Long' }),
    expires_at: t.expose('expiresAt', expiry),
    entry_count: t.int({
      description: 'The number of shared files and folders, without the content of folders.',
      resolve: ({ entryCount }) => entryCount ?? 1,
    }),
    file_id: t.exposeID('entryId', { description: 'The first of several entries.' }),
    file_name: t.string({
      description:
        'Full path, with a leading slash in a workspace; several entries have a name like "a.txt and 2 more".',
      example: FILE_PATH,
      resolve: pathOf,
    }),
    file_type: t.string({
      description: 'inode/directory for a folder, and for several entries',
      example: MEDIA_TYPE,
      resolve: typeOf,
    }),
    label: t.exposeString('label', {
      description: 'A name for the share that only its sharer sees; empty for a received share.',
      example: 'For the tax adviser',
    }),
    may_edit: t.exposeBoolean('mayEdit', { description: 'Whether its recipient may edit.' }),
    max_downloads: t.expose('maxDownloads', { type: 'Long', nullable: true }),
    md5_checksum: t.exposeString('md5', { example: MD5 }),
    password_protected: t.exposeBoolean('passwordProtected'),
    message: t.exposeString('message', {
      description: 'The message to visitors of its page.',
      example: 'As discussed on Monday.',
    }),
    seen: t.exposeBoolean('seen'),
    shared_by: t.exposeString('sharedBy', { description: 'E-mail address.', example: ALICE }),
    shared_for: t.exposeString('sharedFor', {
      description: 'E-mail address; empty for a public share.',
      example: BOB,
    }),
    sharing_link: t.exposeString('link', { example: SHARE_LINK }),
    sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
    size: t.expose('size', { type: 'Long', example: BYTES }),
    title: t.exposeString('title', {
      description:
        'The heading of its page; if empty, the page shows the name of the shared entry.',
      example: 'Delivery for Acme',
    }),
    workspace_id: t.exposeID('workspaceId', {
      nullable: true,
      description: 'Null for a share of a personal file.',
    }),
  }),
)

const mayEdit = {
  description:
    'Whether its recipient may edit: upload, create folders, rename, move, replace and delete.',
  example: true,
}

const clearing = clearable({
  label: 'label',
  max_downloads: 'maxDownloads',
  message: 'message',
  password: 'password',
  title: 'title',
})

operation('PATCH /api/share/{token}', 'updateShare', {
  description:
    'Changes the terms of a share of the caller. Its link stays the same; omitted terms are not changed. An expired share can be renewed for 30 days.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401, 403, 404],
  fails: ['INVALID_DURATION', 'QUOTA_EXCEEDED', 'FORBIDDEN', 'SHARE_NOT_FOUND'],
  rateLimit: 'links',
  args: arg => ({
    ...terms(arg),
    may_edit: arg.boolean(mayEdit),
    clear: clearing.argument(arg),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: Share,
  resolve: async ({ token, clear, ...given }, { services, caller }, info) => {
    if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    return services.shares.update(caller, token, {
      ...inputOf(given),
      mayEdit: given.may_edit,
      ...clearing.read(clear),
    })
  },
})

const ShareList = objectOf<{ files: ShareView[]; nextCursor: string | null }>('ShareList', t => ({
  files: t.field({ type: [Share], resolve: list => list.files }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
}))

operation('GET /api/files/received', 'receivedShares', {
  description: 'The active shares that the caller has received, oldest first.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  args: paged,
  type: ShareList,
  resolve: (page, { services, caller }) => services.shares.page(caller, 'received', page),
})

operation('GET /api/files/shared_by_user', 'sentShares', {
  description: 'The active shares that the caller has created, direct and public, oldest first.',
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
  resolve: async (_args, { services, caller }) => ({
    count: await services.directShares.countUnseen(caller),
  }),
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

const SharingInfo = objectOf<DirectShares['shares'][number]>(
  'SharingInfo',
  'A file that has just been shared.',
  t => ({
    checksum: t.exposeString('md5', { description: 'MD5 of the bytes.', example: MD5 }),
    expires_at: t.expose('expiresAt', expiry),
    file: t.string({
      description: 'Full path.',
      example: FILE_PATH,
      resolve: share => joinPath(share.names),
    }),
    file_name: t.string({ example: 'report.pdf', resolve: share => share.names.at(-1) ?? '' }),
    shared_by: t.exposeString('sharedBy', { description: 'E-mail address.', example: ALICE }),
    shared_for: t.exposeString('sharedFor', { description: 'E-mail address.', example: BOB }),
    sharing_link: t.exposeString('link', { example: SHARE_LINK }),
    sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
  }),
)

const SharedFiles = objectOf<DirectShares>('SharedFiles', t => ({
  notification_status: t.exposeString('notificationStatus', {
    description: 'not_sent, queued or failed',
    example: 'queued',
  }),
  sharing_info: t.field({ type: [SharingInfo], resolve: shared => shared.shares }),
}))

operation('POST /api/files/share', 'shareFiles', {
  description:
    'Shares files of the caller with one person: either all of them, or none. Sharing again renews the shares.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401, 429],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'FILE_NOT_FOUND'],
  rateLimit: 'sharing',
  args: arg => ({
    ...rights(arg),
    may_edit: arg.boolean(mayEdit),
    duration: arg.string({
      description: 'How long the share is valid: 24h, 7d, 1y, or never; 7d by default.',
      example: '7d',
    }),
    email: arg.string({
      required: true,
      description: 'The person with this verified address receives the files.',
      example: BOB,
    }),
    objects: arg.stringList({
      required: true,
      maxItems: MAX_SHARED_FILES,
      description: `1 to ${figure(MAX_SHARED_FILES)} full paths.`,
      example: [FILE_PATH],
    }),
    password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
    send_email: arg.boolean({
      description: 'Whether to notify the recipient by mail.',
      example: true,
    }),
  }),
  type: SharedFiles,
  resolve: (
    { send_email: sendEmail, allow_download: allowDownload, may_edit, ...shares },
    { services, caller },
  ) =>
    services.directShares.create(caller, {
      ...shares,
      sendEmail,
      allowDownload,
      mayEdit: may_edit,
    }),
})
