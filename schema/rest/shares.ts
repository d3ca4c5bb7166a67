import { MAX_PASSWORD } from '../../src/limits.ts'
import type { Download } from '../../src/services/sharing/download.ts'
import type { PublicShare } from '../../src/services/sharing/share.ts'
import type { ShareInfo as ShareInfoView } from '../../src/services/sharing/share-link.ts'
import { mode } from './arguments.ts'
import { objectOf } from './builder.ts'
import { OPENING_FAILS } from './downloads.ts'
import { BYTES, FILE_PATH, MEDIA_TYPE, PASSWORD, SHARE_LINK, SHARE_TOKEN, SIGNED_URL } from './examples.ts'
import { operationsOf } from './operation.ts'

/** Direct shares, and the lists of shares, belong to this area, too. */
export const operation = operationsOf('shares', 'Links to files, for one person or for anybody.')

const ShareInfo = objectOf<ShareInfoView>('ShareInfo', 'What is known of a shared file before its download.', t => ({
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  file_name: t.exposeString('fileName', { example: 'report.pdf' }),
  file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
  password_protected: t.exposeBoolean('passwordProtected'),
  size: t.expose('size', { type: 'Long', example: BYTES }),
}))

operation('GET /api/share/info/{token}', 'shareInfo', {
  description: 'Describes a shared file, without its bytes.',
  auth: { public: true },
  statuses: [403, 404],
  fails: ['SHARE_EXPIRED', 'SHARE_USED_UP', 'SHARE_NOT_FOUND'],
  args: arg => ({
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: ShareInfo,
  resolve: ({ token }, context) => context.services.shareLinks.info(token, context),
})

const CreatedShare = objectOf<PublicShare>('CreatedShare', t => ({
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  sharing_link: t.exposeString('link', { example: SHARE_LINK }),
  sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
}))

operation('POST /api/files/quick_share', 'createPublicShare', {
  description: 'Creates a link with which anyone can download one file of the caller.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND'],
  rateLimit: 'links',
  args: arg => ({
    duration: arg.string({
      description: 'How long the link lives: 30m, 24h, 7d, 2w, 1mo, 1y; 24h by default.',
      example: '7d',
    }),
    max_downloads: arg({ type: 'Long', example: 3 }),
    object: arg.string({ required: true, description: 'Full path of the file.', example: FILE_PATH }),
    password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
  }),
  type: CreatedShare,
  resolve: async ({ max_downloads: maxDownloads, ...share }, { services, caller }, info) => {
    // Each password costs a hash, which all callers share the processor for.
    if (share.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    return services.shares.createPublic(caller, { ...share, maxDownloads })
  },
})

const DownloadLink = objectOf<Download>('DownloadLink', 'A signed URL that expires after a short while.', t => ({
  file_name: t.exposeString('fileName', { example: 'report.pdf' }),
  url: t.exposeString('url', { example: SIGNED_URL }),
}))

operation('POST /api/share/resolve/{token}', 'resolveShare', {
  description:
    'Returns a signed URL of a shared file, and counts as a download. A direct share opens only for its recipient and its sharer.',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: OPENING_FAILS,
  from: { mode: 'query' },
  args: arg => ({
    mode: arg.string({ ...mode, description: 'download (default) or inline' }),
    password: arg.string({ example: PASSWORD }),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: DownloadLink,
  resolve: ({ token, mode, password }, { services, caller, address, client, log }) =>
    services.shareLinks.open(token, { caller, address, client, log, password, mode, counts: true }),
})

const RevokedShare = objectOf<{ tokenRevoked: string }>('RevokedShare', t => ({
  token_revoked: t.exposeString('tokenRevoked', { example: SHARE_TOKEN }),
}))

operation('POST /api/share/revoke/{token}', 'revokeShare', {
  description: 'Revokes a share of the caller.',
  auth: { privateFiles: 'share' },
  statuses: [401, 403, 404],
  fails: ['SHARE_NOT_FOUND'],
  args: arg => ({
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: RevokedShare,
  resolve: async ({ token }, { services, caller }) => {
    await services.shares.end(caller, token)
    return { tokenRevoked: token }
  },
})
