import { joinPath } from '../src/paths.ts'
import type { Download } from '../src/services/download.ts'
import type { PublicShare, ShareView } from '../src/services/share.ts'
import type { ShareInfo } from '../src/services/share-link.ts'
import { builder } from './builder.ts'
import { byId, forwardConnection } from './connection.ts'
import { Node } from './node.ts'

export const DownloadLink = builder.objectRef<Download>('DownloadLink').implement({
  description: 'A signed address that lives for a short while.',
  fields: t => ({ url: t.exposeString('url'), fileName: t.exposeString('fileName') }),
})

const CreatedShare = builder.objectRef<PublicShare>('CreatedShare').implement({
  fields: t => ({
    sharingToken: t.exposeString('token'),
    sharingLink: t.exposeString('link'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

const CreatePublicShareInput = builder.inputType('CreatePublicShareInput', {
  fields: t => ({
    object: t.string({ required: true, description: 'Full path of the file.' }),
    duration: t.string({ description: 'How long the link lives: 30m, 24h, 7d, 2w, 1mo, 1y; 24h by default.' }),
    password: t.string({ description: '1 to 128 characters.' }),
    maxDownloads: t.field({ type: 'Long' }),
  }),
})

builder.mutationField('createPublicShare', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: CreatedShare,
    description: 'Makes a link with which anybody may download one file of the caller.',
    rest: { route: 'POST /api/files/quick_share', errors: [400, 401] },
    rateLimit: 'links',
    args: { input: t.arg({ type: CreatePublicShareInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }, info) => {
      // Each password costs a hash, which all callers share the processor for.
      if (input.password) await services.rateLimits.hit('protected_links', caller.userId, info)
      return services.shares.createPublic(caller, input)
    },
  }),
)

const Info = builder.objectRef<ShareInfo>('ShareInfo').implement({
  description: 'What whoever has the link may know before downloading.',
  fields: t => ({
    fileName: t.exposeString('fileName'),
    fileType: t.exposeString('fileType'),
    size: t.expose('size', { type: 'Long' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    passwordProtected: t.exposeBoolean('passwordProtected'),
  }),
})

builder.queryField('shareInfo', t =>
  t.withAuth({ public: true }).field({
    type: Info,
    description: 'What is behind a link.',
    rest: { route: 'GET /api/share/info/{token}', errors: [403, 404] },
    args: { token: t.arg.string({ required: true }) },
    resolve: (_root, { token }, { services }) => services.shareLinks.info(token),
  }),
)

const ResolveShareInput = builder.inputType('ResolveShareInput', {
  fields: t => ({
    token: t.string({ required: true }),
    mode: t.string({ description: 'download (default) or inline' }),
    password: t.string(),
  }),
})

builder.mutationField('resolveShare', t =>
  t.withAuth({ public: true }).field({
    type: DownloadLink,
    description:
      'A signed address for a shared file. Counts as one download. What is shared with one person opens for them and the sharer only.',
    rest: { route: 'POST /api/share/resolve/{token}', errors: [400, 401, 403, 404], from: { mode: 'query' } },
    args: { input: t.arg({ type: ResolveShareInput, required: true }) },
    resolve: (_root, { input }, { services, caller, address, log }) =>
      services.shareLinks.open(input.token, {
        caller,
        address,
        log,
        password: input.password,
        mode: input.mode,
        counts: true,
      }),
  }),
)

builder.queryField('sharedDownload', t =>
  t.withAuth({ public: true }).field({
    type: DownloadLink,
    description:
      'A signed address for a shared file. Counts as one download. What is shared with one person opens for them and the sharer only.',
    rest: {
      route: 'GET /api/d/{token}',
      errors: [400, 401, 403, 404],
      redirect: true,
      page: '/share/{token}',
      from: { password: 'header x-share-password' },
    },
    args: { token: t.arg.string({ required: true }), mode: t.arg.string(), password: t.arg.string() },
    resolve: (_root, { token, mode, password }, { services, caller, address, log, looksOnly }) =>
      services.shareLinks.open(token, { caller, address, log, password, mode, counts: !looksOnly }),
  }),
)

const RevokedShare = builder.objectRef<{ tokenRevoked: string }>('RevokedShare').implement({
  fields: t => ({ tokenRevoked: t.exposeString('tokenRevoked') }),
})

const RevokeShareInput = builder.inputType('RevokeShareInput', {
  fields: t => ({ token: t.string({ required: true }) }),
})

builder.mutationField('revokeShare', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: RevokedShare,
    description: 'Ends a share of the caller for good.',
    rest: { route: 'POST /api/share/revoke/{token}', errors: [401, 403, 404] },
    args: { input: t.arg({ type: RevokeShareInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => ({
      tokenRevoked: await services.shares.revoke(caller, input.token),
    }),
  }),
)

export const Share = builder.objectRef<ShareView>('Share')

Share.implement({
  description: 'A share that the caller has made or received.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id', { restField: false }),
    sharingToken: t.exposeString('token'),
    sharingLink: t.exposeString('link'),
    fileId: t.exposeID('fileId'),
    fileName: t.string({ description: 'Full path.', resolve: share => joinPath(share.names) }),
    fileType: t.exposeString('fileType'),
    size: t.expose('size', { type: 'Long' }),
    md5Checksum: t.exposeString('md5'),
    sharedBy: t.exposeString('sharedBy', { description: 'E-mail address.' }),
    sharedFor: t.exposeString('sharedFor', { description: 'E-mail address; empty for a public share.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    seen: t.exposeBoolean('seen'),
    passwordProtected: t.exposeBoolean('passwordProtected'),
    downloads: t.expose('downloads', { type: 'Long' }),
    maxDownloads: t.expose('maxDownloads', { type: 'Long', nullable: true }),
  }),
})

export const ShareConnection = builder.connectionObject({ type: Share, name: 'ShareConnection' }, { name: 'ShareEdge' })

builder.queryField('shares', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: ShareConnection,
    description: 'The live shares that the caller has made, oldest first.',
    args: t.arg.connectionArgs(),
    resolve: (_root, args, { services, caller }) =>
      forwardConnection(args, byId, (limit, after) => services.shares.sentBy(caller, limit, after?.[0] ?? null)),
  }),
)

const CreatedDownloadToken = builder.objectRef<{ token: string; expiresAt: number }>('CreatedDownloadToken').implement({
  fields: t => ({
    privateDownloadToken: t.exposeString('token'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

const CreateDownloadTokenInput = builder.inputType('CreateDownloadTokenInput', {
  fields: t => ({ file: t.string({ required: true, description: 'Full path.' }) }),
})

builder.mutationField('createDownloadToken', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: CreatedDownloadToken,
    description: 'A token with which the caller, and nobody else, may download one of their own files.',
    rest: { route: 'POST /api/user/private/download_token', also: 'GET', errors: [400, 401], from: { file: 'query' } },
    args: { input: t.arg({ type: CreateDownloadTokenInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) => services.downloads.createToken(caller, input.file),
  }),
)

builder.queryField('privateDownload', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: DownloadLink,
    description: 'A signed address for one of the own files of the caller.',
    rest: { route: 'GET /api/d/private/{token}', errors: [401, 403, 404], redirect: true },
    args: { token: t.arg.string({ required: true }), mode: t.arg.string() },
    resolve: (_root, { token, mode }, { services, caller }) => services.downloads.openToken(caller, token, mode),
  }),
)
