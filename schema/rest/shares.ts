import { MAX_PASSWORD } from '../../src/limits.ts'
import type { Download } from '../../src/services/sharing/download.ts'
import type { PublicShare } from '../../src/services/sharing/share.ts'
import type { ShareInfo as ShareInfoView } from '../../src/services/sharing/share-link.ts'
import { area } from '../plugins/rest.ts'
import { mode } from './arguments.ts'
import { builder } from './builder.ts'
import { BYTES, FILE_PATH, MEDIA_TYPE, PASSWORD, SHARE_LINK, SHARE_TOKEN, SIGNED_URL } from './examples.ts'

/** Direct shares, and the lists of shares, belong to this area, too. */
export const rest = area('shares', 'Links to files, for one person or for anybody.')

const ShareInfo = builder.objectRef<ShareInfoView>('ShareInfo').implement({
  description: 'What is known of a shared file before its download.',
  fields: t => ({
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    file_name: t.exposeString('fileName', { example: 'report.pdf' }),
    file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
    password_protected: t.exposeBoolean('passwordProtected'),
    size: t.expose('size', { type: 'Long', example: BYTES }),
  }),
})

builder.queryField('shareInfo', t =>
  t.withAuth({ public: true }).field({
    type: ShareInfo,
    description: 'Describes a shared file, without its bytes.',
    rest: rest({
      route: 'GET /api/share/info/{token}',
      statuses: [403, 404],
      fails: ['SHARE_EXPIRED', 'SHARE_USED_UP', 'SHARE_NOT_FOUND'],
    }),
    args: {
      token: t.arg.string({ required: true, example: SHARE_TOKEN }),
    },
    resolve: (_root, { token }, context) => context.services.shareLinks.info(token, context),
  }),
)

const CreatedShare = builder.objectRef<PublicShare>('CreatedShare').implement({
  fields: t => ({
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    sharing_link: t.exposeString('link', { example: SHARE_LINK }),
    sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
  }),
})

builder.mutationField('createPublicShare', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: CreatedShare,
    description: 'Creates a link with which anyone can download one file of the caller.',
    rest: rest({
      route: 'POST /api/files/quick_share',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND'],
    }),
    rateLimit: 'links',
    args: {
      duration: t.arg.string({
        description: 'How long the link lives: 30m, 24h, 7d, 2w, 1mo, 1y; 24h by default.',
        example: '7d',
      }),
      max_downloads: t.arg({ type: 'Long', example: 3 }),
      object: t.arg.string({ required: true, description: 'Full path of the file.', example: FILE_PATH }),
      password: t.arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
    },
    resolve: async (_root, { max_downloads: maxDownloads, ...share }, { services, caller }, info) => {
      // Each password costs a hash, which all callers share the processor for.
      if (share.password) await services.rateLimits.hit('protected_links', caller.userId, info)
      return services.shares.createPublic(caller, { ...share, maxDownloads })
    },
  }),
)

const DownloadLink = builder.objectRef<Download>('DownloadLink').implement({
  description: 'A signed URL that expires after a short while.',
  fields: t => ({
    file_name: t.exposeString('fileName', { example: 'report.pdf' }),
    url: t.exposeString('url', { example: SIGNED_URL }),
  }),
})

builder.mutationField('resolveShare', t =>
  t.withAuth({ public: true }).field({
    type: DownloadLink,
    description:
      'Returns a signed URL of a shared file, and counts as a download. A direct share opens only for its recipient and its sharer.',
    rest: rest({
      route: 'POST /api/share/resolve/{token}',
      statuses: [400, 401, 403, 404],
      fails: [
        'INVALID_MODE',
        'UNAUTHENTICATED',
        'PASSWORD_REQUIRED',
        'INSUFFICIENT_SCOPE',
        'KEY_OUT_OF_BOUNDS',
        'WRONG_PASSWORD',
        'TOO_MANY_ATTEMPTS',
        'SHARE_EXPIRED',
        'SHARE_USED_UP',
        'SHARE_NOT_FOUND',
      ],
      from: { mode: 'query' },
    }),
    args: {
      mode: t.arg.string({ ...mode, description: 'download (default) or inline' }),
      password: t.arg.string({ example: PASSWORD }),
      token: t.arg.string({ required: true, example: SHARE_TOKEN }),
    },
    resolve: (_root, { token, mode, password }, { services, caller, address, client, log }) =>
      services.shareLinks.open(token, { caller, address, client, log, password, mode, counts: true }),
  }),
)

const RevokedShare = builder.objectRef<{ tokenRevoked: string }>('RevokedShare').implement({
  fields: t => ({
    token_revoked: t.exposeString('tokenRevoked', { example: SHARE_TOKEN }),
  }),
})

builder.mutationField('revokeShare', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: RevokedShare,
    description: 'Revokes a share of the caller.',
    rest: rest({
      route: 'POST /api/share/revoke/{token}',
      statuses: [401, 403, 404],
      fails: ['SHARE_NOT_FOUND'],
    }),
    args: {
      token: t.arg.string({ required: true, example: SHARE_TOKEN }),
    },
    resolve: async (_root, { token }, { services, caller }) => ({
      tokenRevoked: await services.shares.revoke(caller, token),
    }),
  }),
)
