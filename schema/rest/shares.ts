import { FILE, FOLDER } from '../../db/models/entry.ts'
import { InvalidInput } from '../../src/runtime/errors.ts'
import type { Download } from '../../src/services/sharing/download.ts'
import type { ShareInfo as ShareInfoView } from '../../src/services/sharing/share-info.ts'
import type { ShareView } from '../../src/services/sharing/share-list.ts'
import type { SharedEntry, SharedLevel } from '../../src/services/sharing/share-listing.ts'
import type { ShareInput } from '../../src/services/sharing/share-term.ts'
import {
  figure,
  MAX_LABEL,
  MAX_MESSAGE,
  MAX_NAME_PART,
  MAX_PASSWORD,
  MAX_SHARED_FILES,
  MAX_ZIPPED,
} from '../../src/values/limits.ts'
import { joinPath, parseFilePath } from '../../src/values/paths.ts'
import { mode, paged } from './arguments.ts'
import { type Argument, type Given, objectOf } from './builder.ts'
import { belowFolder, OPENING_FAILS } from './downloads.ts'
import {
  BYTES,
  CURSOR,
  FILE_PATH,
  FOLDER_PATH,
  MD5,
  MEDIA_TYPE,
  MODIFIED,
  PASSWORD,
  SHARE_LINK,
  SHARE_TOKEN,
  SIGNED_URL,
} from './examples.ts'
import { operationsOf } from './operation.ts'

/** Direct shares, and the lists of shares, belong to this area, too. */
export const operation = operationsOf(
  'shares',
  'Shares of files and folders, with one person or by a link.',
)

/**
 * The media type of a shared file. Folders have the usual media type of directories, so that
 * clients recognize them.
 */
export const typeOf = ({ kind, fileType }: { kind: number; fileType: string }) =>
  kind === FOLDER ? 'inode/directory' : fileType

export const expiry = {
  type: 'DateTime',
  nullable: true,
  description: 'Null for a share that never expires.',
} as const

const ShareInfo = objectOf<ShareInfoView>(
  'ShareInfo',
  'The details of a shared file before its download.',
  t => ({
    allow_download: t.exposeBoolean('allowDownload', {
      description: 'Whether the file may be downloaded, not only viewed on the page of the share.',
    }),
    expires_at: t.expose('expiresAt', expiry),
    file_name: t.exposeString('fileName', { example: 'report.pdf' }),
    file_type: t.string({
      description: 'inode/directory for a folder',
      example: MEDIA_TYPE,
      resolve: typeOf,
    }),
    password_protected: t.exposeBoolean('passwordProtected'),
    size: t.expose('size', { type: 'Long', example: BYTES }),
  }),
)

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

const SharedFolder = objectOf<SharedEntry>('SharedFolder', 'A folder in a shared folder.', t => ({
  file_count: t.expose('fileCount', { type: 'Long' }),
  name: t.exposeString('name', { example: '2026' }),
  path: t.exposeString('path', {
    description: 'Its path, beginning at the shared folder.',
    example: '2026',
  }),
  size: t.expose('size', { type: 'Long', example: BYTES }),
}))

const SharedFile = objectOf<SharedEntry>('SharedFile', 'A file in a shared folder.', t => ({
  file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
  md5_checksum: t.exposeString('md5', { example: MD5 }),
  modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
  name: t.exposeString('name', { example: 'report.pdf' }),
  path: t.exposeString('path', {
    description: 'Its path, beginning at the shared folder.',
    example: 'report.pdf',
  }),
  size: t.expose('size', { type: 'Long', example: BYTES }),
  updated_at: t.expose('updatedAt', { type: 'DateTime' }),
}))

const SharedEntries = objectOf<SharedLevel>('SharedEntries', t => ({
  files: t.field({
    type: [SharedFile],
    resolve: ({ entries }) => entries.filter(({ kind }) => kind === FILE),
  }),
  folders: t.field({
    type: [SharedFolder],
    resolve: ({ entries }) => entries.filter(({ kind }) => kind === FOLDER),
  }),
  next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  path: t.string({ example: '', resolve: level => joinPath(level.names) }),
}))

/** The sort fields of shared folders, by their names on the wire. */
const sorts = { name: 'name', size: 'size', updated_at: 'updatedAt' } as const
const directions = ['asc', 'desc']

/** @throws INVALID_INPUT */
function readOrder(sort: string | null | undefined, direction: string | null | undefined) {
  const by = Object.entries(sorts).find(([name]) => name === (sort ?? 'name'))?.[1]
  if (!by) throw new InvalidInput('sort', `Sort by one of: ${Object.keys(sorts).join(', ')}.`)
  if (!directions.includes(direction ?? 'asc'))
    throw new InvalidInput('direction', 'The direction is asc or desc.')
  return { sort: by, descending: direction === 'desc' }
}

operation('GET /api/share/entries/{token}', 'sharedEntries', {
  description: 'The content of a shared folder, or the results of a search in it.',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: [
    ...OPENING_FAILS.filter(code => code !== 'INVALID_MODE'),
    'FORBIDDEN',
    'INVALID_PATH',
    'FOLDER_NOT_FOUND',
  ],
  from: { password: 'header x-share-password' },
  args: arg => ({
    ...paged(arg),
    password: arg.string({ example: PASSWORD }),
    path: arg.string({
      description:
        'The path of a folder in the shared folder; by default the shared folder itself.',
    }),
    direction: arg.string({
      description: 'The direction of the order; asc by default.',
      example: 'asc',
      bounds: { enum: directions },
    }),
    query: arg.string({
      description: `Searches everything below the folder for part of a name, ignoring case: 1 to ${MAX_NAME_PART} characters.`,
      example: 'report',
    }),
    sort: arg.string({
      description: 'The order of the pages; by default folders first, then files, both by name.',
      example: 'size',
      bounds: { enum: Object.keys(sorts) },
    }),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: SharedEntries,
  resolve(
    { token, path, password, query, sort, direction, ...page },
    { services, caller, address, client, log },
  ) {
    const visitor = { caller, address, client, log, password }
    const order = { ...readOrder(sort, direction), search: query ?? null }
    return services.shareLinks.list(token, visitor, { path: path ?? '', query: order, page })
  },
})

const CreatedShare = objectOf<ShareView>('CreatedShare', t => ({
  expires_at: t.expose('expiresAt', expiry),
  sharing_link: t.exposeString('link', { example: SHARE_LINK }),
  sharing_token: t.exposeString('token', { example: SHARE_TOKEN }),
}))

/** The permissions of a share, and the notices to its sharer. */
export const rights = (arg: Argument) => ({
  allow_download: arg.boolean({
    description: 'Whether the files may be downloaded, not only viewed on the page of the share.',
    example: true,
  }),
  label: arg.string({
    description: `A name for the share that only you see: up to ${MAX_LABEL} characters.`,
    example: 'For the tax adviser',
  }),
  message: arg.string({
    description: `A message on the page of the share and in the mail to the recipient, up to ${figure(MAX_MESSAGE)} characters.`,
    example: 'As discussed on Monday.',
  }),
  notifies: arg.boolean({
    description: 'Whether you get mails about its use, at most once an hour.',
    example: true,
  }),
  title: arg.string({
    description: `The heading of the page, instead of the name of the shared entry: up to ${MAX_LABEL} characters.`,
    example: 'Delivery for Acme',
  }),
})

/** The terms of a link. */
export const terms = (arg: Argument) => ({
  ...rights(arg),
  duration: arg.string({
    description:
      'How long the share is valid from now on: 30m, 24h, 7d, 2w, 1mo, 1y, or never. By default 24h for a new link.',
    example: '7d',
  }),
  max_downloads: arg({ type: 'Long', example: 3 }),
  password: arg.string({ description: `1 to ${MAX_PASSWORD} characters.`, example: PASSWORD }),
})

/** Omits terms that are not given, because null would remove them. */
export const inputOf = (given: Given<typeof terms>): ShareInput => ({
  label: given.label ?? undefined,
  title: given.title ?? undefined,
  message: given.message ?? undefined,
  duration: given.duration,
  password: given.password ?? undefined,
  maxDownloads: given.max_downloads ?? undefined,
  allowDownload: given.allow_download,
  notifies: given.notifies,
})

operation('POST /api/folders/quick_share', 'createFolderShare', {
  description:
    'Creates a link with which anyone can see and download the content of one folder of the caller.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401, 404],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND'],
  rateLimit: 'links',
  args: arg => ({
    ...terms(arg),
    path: arg.string({
      required: true,
      description: 'Full path of the folder.',
      example: FOLDER_PATH,
    }),
  }),
  type: CreatedShare,
  resolve: async ({ path, ...given }, { services, caller }, info) => {
    if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    const linked = { tree: caller.bucket, entries: [{ path }], kind: FOLDER } as const
    return services.shares.create(caller, linked, inputOf(given))
  },
})

operation('POST /api/files/quick_share', 'createPublicShare', {
  description: 'Creates a link with which anyone can download one file of the caller.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND'],
  rateLimit: 'links',
  args: arg => ({
    ...terms(arg),
    object: arg.string({
      required: true,
      description: 'Full path of the file.',
      example: FILE_PATH,
    }),
  }),
  type: CreatedShare,
  resolve: async ({ object, ...given }, { services, caller }, info) => {
    // Hashing a password is expensive, and all callers share the processor.
    if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    const entries = [{ path: joinPath(parseFilePath(object, 'object')) }]
    const linked = { tree: caller.bucket, entries, kind: FILE } as const
    return services.shares.create(caller, linked, inputOf(given))
  },
})

operation('POST /api/entries/quick_share', 'createEntriesShare', {
  description:
    'Creates one link with which anyone can see and download several files and folders of the caller.',
  auth: { privateFiles: 'share' },
  statuses: [400, 401],
  fails: ['INVALID_PATH', 'INVALID_DURATION', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND'],
  rateLimit: 'links',
  args: arg => ({
    ...terms(arg),
    objects: arg.stringList({
      required: true,
      maxItems: MAX_SHARED_FILES,
      description: `1 to ${figure(MAX_SHARED_FILES)} full paths. Entries inside one of the folders are left out.`,
      example: [FILE_PATH, FOLDER_PATH],
    }),
  }),
  type: CreatedShare,
  resolve: async ({ objects, ...given }, { services, caller }, info) => {
    if (given.password) await services.rateLimits.hit('protected_links', caller.userId, info)
    if (objects.length < 1 || objects.length > MAX_SHARED_FILES)
      throw new InvalidInput('objects', `Name 1 to ${figure(MAX_SHARED_FILES)} files and folders.`)
    const entries = objects.map(text => ({ path: joinPath(parseFilePath(text, 'objects')) }))
    return services.shares.create(caller, { tree: caller.bucket, entries }, inputOf(given))
  },
})

const DownloadLink = objectOf<Download>(
  'DownloadLink',
  'A signed URL that expires after a short while.',
  t => ({
    file_name: t.exposeString('fileName', { example: 'report.pdf' }),
    url: t.exposeString('url', { example: SIGNED_URL }),
  }),
)

operation('POST /api/share/resolve/{token}', 'resolveShare', {
  description:
    'Returns a signed URL of a shared file, or of a ZIP archive of a folder, and counts as a download. A direct share opens only for its recipient and its sharer.',
  goesOn: 'only counts the use, and changes no file',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: ['FORBIDDEN', ...OPENING_FAILS, 'FILE_NOT_FOUND', 'INVALID_PATH'],
  from: { mode: 'query', path: 'query' },
  args: arg => ({
    mode: arg.string({ ...mode, description: 'download (default) or inline' }),
    password: arg.string({ example: PASSWORD }),
    path: arg.string(belowFolder),
    entries: arg.stringList({
      maxItems: MAX_ZIPPED,
      description: `In a shared folder: up to ${MAX_ZIPPED} files and folders, by their paths from there, as one archive.`,
      example: ['report.pdf'],
    }),
    token: arg.string({ required: true, example: SHARE_TOKEN }),
  }),
  type: DownloadLink,
  resolve: (
    { token, mode, password, path, entries: paths },
    { services, caller, address, client, log },
  ) =>
    services.shareLinks.open(token, {
      caller,
      address,
      client,
      log,
      password,
      path,
      paths,
      mode,
      counts: true,
    }),
})

const RevokedShare = objectOf<{ tokenRevoked: string }>('RevokedShare', t => ({
  token_revoked: t.exposeString('tokenRevoked', { example: SHARE_TOKEN }),
}))

operation('POST /api/share/revoke/{token}', 'revokeShare', {
  description: 'Revokes a share of the caller.',
  goesOn: 'stops a link that others may have',
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
