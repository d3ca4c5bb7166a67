import { area } from '../plugins/rest.ts'
import { mode } from './arguments.ts'
import { builder } from './builder.ts'
import { DOWNLOAD_TOKEN, FILE_PATH, PASSWORD, SHARE_TOKEN } from './examples.ts'

const rest = area('downloads', 'The bytes of files.')

builder.queryField('privateDownload', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: 'Download',
    description: 'Downloads a file of the caller, by a token of theirs.',
    rest: rest({
      route: 'GET /api/d/private/{token}',
      statuses: [401, 403, 404],
      fails: ['SHARE_EXPIRED', 'TOKEN_NOT_FOUND'],
    }),
    args: {
      mode: t.arg.string(mode),
      token: t.arg.string({ required: true, example: DOWNLOAD_TOKEN }),
    },
    resolve: (_root, { token, mode }, { services, caller }) => services.downloads.openToken(caller, token, mode),
  }),
)

builder.queryField('sharedDownload', t =>
  t.withAuth({ public: true }).field({
    type: 'Download',
    description: 'Downloads a shared file. A direct share opens only for its recipient and its sharer.',
    rest: rest({
      route: 'GET /api/d/{token}',
      statuses: [400, 401, 403, 404],
      fails: [
        'INVALID_MODE',
        'UNAUTHENTICATED',
        'PASSWORD_REQUIRED',
        'FORBIDDEN',
        'INSUFFICIENT_SCOPE',
        'KEY_OUT_OF_BOUNDS',
        'WRONG_PASSWORD',
        'TOO_MANY_ATTEMPTS',
        'SHARE_EXPIRED',
        'SHARE_USED_UP',
        'SHARE_NOT_FOUND',
      ],
      page: '/share/{token}',
      from: { password: 'header x-share-password' },
    }),
    args: {
      mode: t.arg.string(mode),
      password: t.arg.string({ example: PASSWORD }),
      token: t.arg.string({ required: true, example: SHARE_TOKEN }),
    },
    resolve: (_root, { token, mode, password }, { services, caller, address, client, log, looksOnly }) =>
      services.shareLinks.open(token, { caller, address, client, log, password, mode, counts: !looksOnly }),
  }),
)

const CreatedDownloadToken = builder.objectRef<{ token: string; expiresAt: number }>('CreatedDownloadToken').implement({
  fields: t => ({
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    private_download_token: t.exposeString('token', { example: DOWNLOAD_TOKEN }),
  }),
})

builder.mutationField('createDownloadToken', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: CreatedDownloadToken,
    description: 'Creates a token with which only the caller can download one of their files.',
    rest: rest({
      route: 'POST /api/user/private/download_token',
      also: 'GET',
      statuses: [400, 401],
      fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
      from: { file: 'query' },
    }),
    args: {
      file: t.arg.string({ required: true, description: 'Full path.', example: FILE_PATH }),
    },
    resolve: (_root, { file }, { services, caller }) => services.downloads.createToken(caller, file),
  }),
)
