import { mode } from './arguments.ts'
import { objectOf } from './builder.ts'
import { DOWNLOAD_TOKEN, FILE_PATH, PASSWORD, SHARE_TOKEN } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('downloads', 'The bytes of files.')

operation('GET /api/d/private/{token}', 'privateDownload', {
  description: 'Downloads a file of the caller with a download token.',
  auth: { privateFiles: 'read' },
  statuses: [401, 403, 404],
  fails: ['FORBIDDEN', 'SHARE_EXPIRED', 'TOKEN_NOT_FOUND'],
  args: arg => ({
    mode: arg.string(mode),
    token: arg.string({ required: true, example: DOWNLOAD_TOKEN }),
  }),
  type: 'Download',
  resolve: ({ token, mode }, { services, caller }) =>
    services.downloads.openToken(caller, token, mode),
})

/** The error codes of opening a share. */
export const OPENING_FAILS = [
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
] as const

/** The argument that names an entry in a shared folder. */
export const belowFolder = {
  description: 'In a shared folder: the path of a file or folder; by default the whole folder.',
  example: 'report.pdf',
}

operation('GET /api/d/{token}', 'sharedDownload', {
  description:
    'Downloads a shared file, or a shared folder as a ZIP archive. A direct share opens only for its recipient and its sharer.',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: ['FORBIDDEN', ...OPENING_FAILS, 'FILE_NOT_FOUND', 'INVALID_PATH'],
  page: '/share/{token}',
  from: { password: 'header x-share-password' },
  args: arg => ({
    mode: arg.string(mode),
    password: arg.string({ example: PASSWORD }),
    path: arg.string(belowFolder),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: 'Download',
  resolve: (
    { token, mode, password, path },
    { services, caller, address, client, log, looksOnly },
  ) =>
    services.shareLinks.open(token, {
      caller,
      address,
      client,
      log,
      password,
      path,
      mode,
      counts: !looksOnly,
    }),
})

const CreatedDownloadToken = objectOf<{ token: string; expiresAt: number }>(
  'CreatedDownloadToken',
  t => ({
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    private_download_token: t.exposeString('token', { example: DOWNLOAD_TOKEN }),
  }),
)

operation('POST /api/user/private/download_token', 'createDownloadToken', {
  description: 'Creates a token with which only the caller can download one of their files.',
  goesOn: 'only creates a URL for a download',
  auth: { privateFiles: 'read' },
  also: 'GET',
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'FILE_NOT_FOUND'],
  from: { file: 'query' },
  args: arg => ({
    file: arg.string({ required: true, description: 'Full path.', example: FILE_PATH }),
  }),
  type: CreatedDownloadToken,
  resolve: ({ file }, { services, caller }) => services.downloads.createToken(caller, file),
})
