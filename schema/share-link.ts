import { FILE } from '../db/models/entry.ts'
import type { ShareInfo } from '../src/services/sharing/share-info.ts'
import type { SharedEntry as Entry, SharedLevel } from '../src/services/sharing/share-listing.ts'
import { figure, MAX_NAME_PART, MAX_ZIPPED } from '../src/values/limits.ts'
import { joinPath } from '../src/values/paths.ts'
import { builder } from './builder.ts'
import { Download } from './download.ts'
import { Disposition, EntryKind } from './enums.ts'
import { EntryOrder, isScan } from './folder.ts'
import { mutation } from './mutation.ts'
import { DEFAULT_FIRST, MAX_FIRST, readPage, SCAN_COST } from './paging.ts'

const SharePreview = builder.objectRef<ShareInfo>('SharePreview').implement({
  description: 'The details of a share for everyone with its link.',
  fields: t => ({
    entryKind: t.expose('kind', {
      type: EntryKind,
      description: 'Whether it is a file or a folder; FOLDER for several entries.',
    }),
    entryCount: t.exposeInt('entryCount', {
      description: 'The number of shared files and folders, without the content of folders.',
    }),
    fileName: t.exposeString('fileName', {
      description: 'The name of the file or folder; several have a name like "a.txt and 2 more".',
    }),
    contentType: t.exposeString('fileType', {
      description: 'The media type of the file; empty for a folder.',
    }),
    size: t.expose('size', {
      type: 'Bytes',
      description: 'The bytes of the file, or of all files in the folder.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the share expires; null if it does not.',
    }),
    allowDownload: t.exposeBoolean('allowDownload', {
      description: 'Whether the file may be downloaded, not only viewed on the page of the share.',
    }),
    passwordProtected: t.exposeBoolean('passwordProtected', {
      description: 'Whether it asks for a password.',
    }),
  }),
})

builder.queryField('share', t =>
  t.withAuth({ public: true }).field({
    type: SharePreview,
    description: 'The details of a share, for everyone with its link.',
    args: { token: t.arg.string({ required: true, description: 'The token of the share.' }) },
    resolve: (_root, { token }, context) => context.services.shareLinks.info(token, context),
  }),
)

/** With the URL of the page of the share; null if the share has a password. */
type Shown = Entry & { page: string | null }

const SharedEntry = builder.objectRef<Shown>('SharedEntry').implement({
  description: 'A file or folder in a shared folder, as shown to everyone who may use the share.',
  fields: t => ({
    kind: t.expose('kind', { type: EntryKind, description: 'Its kind.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    path: t.exposeString('path', { description: 'Its path, beginning at the shared folder.' }),
    size: t.expose('size', {
      type: 'Bytes',
      description: 'Its size in bytes; for a folder, that of all files below it.',
    }),
    contentType: t.string({
      nullable: true,
      description: 'The media type of a file.',
      resolve: ({ kind, fileType }) => (kind === FILE ? fileType : null),
    }),
    md5: t.string({
      nullable: true,
      description: 'MD5 of the bytes of a file, in hex.',
      resolve: ({ kind, md5 }) => (kind === FILE ? md5 : null),
    }),
    revision: t.exposeInt('revision', {
      description:
        'Grows with each change of its content, name or place. Editors send it as `expectedRevision`.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it was last changed: created, moved, renamed or replaced.',
    }),
    modifiedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the content of a file was last modified, as reported by the client; otherwise, when it was uploaded.',
      resolve: ({ kind, modifiedAt }) => (kind === FILE ? modifiedAt : null),
    }),
    thumbnail: t.field({
      type: 'URL',
      nullable: true,
      description:
        'A small picture of it, for everyone who may use the share without a password. Null where there is none, or none yet, and where the share limits its downloads.',
      resolve: ({ picture, path, page }) =>
        picture === null || page === null
          ? null
          : `${page}/preview?${new URLSearchParams({ path, small: picture })}`,
    }),
  }),
})

const SharedFolder = builder
  .objectRef<SharedLevel & { page: string | null }>('SharedFolder')
  .implement({
    description: 'One page of the content of a shared folder, or of the results of a search in it.',
    fields: t => ({
      path: t.string({
        description: 'The path of the folder; empty for the shared folder itself.',
        resolve: ({ names }) => joinPath(names),
      }),
      entries: t.field({
        type: [SharedEntry],
        description: 'The entries, or the results of the search.',
        listSize: MAX_FIRST,
        resolve: ({ entries, page }) => entries.map(entry => ({ ...entry, page })),
      }),
      endCursor: t.exposeString('nextCursor', {
        nullable: true,
        description: 'The cursor of the next page; null on the last one.',
      }),
    }),
  })

builder.queryField('sharedFolder', t =>
  t.withAuth({ public: true }).field({
    type: SharedFolder,
    description:
      'The content of a shared folder, or the results of a search in it. For everyone with its link, or for the recipient of the share.',
    scanCost: ({ orderBy, query }) =>
      isScan(orderBy) || typeof query === 'string' ? SCAN_COST : 0,
    args: {
      token: t.arg.string({ required: true, description: 'The token of the share.' }),
      password: t.arg.string({ description: 'The password, if the share asks for one.' }),
      path: t.arg.string({
        description:
          'The path of a folder in the shared folder; by default the shared folder itself.',
      }),
      query: t.arg.string({
        description: `Searches everything below the folder for part of a name, ignoring case: 1 to ${MAX_NAME_PART} characters.`,
      }),
      orderBy: t.arg({
        type: EntryOrder,
        defaultValue: { field: 'name', direction: 'asc' },
        description:
          'The order. The results of a search are sorted by name, not folders first, by default.',
      }),
      first: t.arg.int({
        defaultValue: DEFAULT_FIRST,
        description: `Number of entries, 1 to ${figure(MAX_FIRST)}.`,
      }),
      after: t.arg.string({ description: 'The `endCursor` of the previous page.' }),
    },
    resolve: async (
      _root,
      { token, path, first, after, ...given },
      { services, caller, address, client, log },
    ) => {
      const { password, query = null, orderBy } = given
      const sort = orderBy?.field ?? 'name'
      // Checked here, because the service's error would name other arguments.
      const { first: limit } = readPage(
        { first, after },
        services.shareLinks.keyTypes({ sort, search: query }),
      )
      const visitor = { caller, address, client, log, password }
      const order = { sort, descending: orderBy?.direction === 'desc', search: query }
      const level = await services.shareLinks.list(token, visitor, {
        path: path ?? '',
        query: order,
        page: { limit, cursor: after },
      })
      return { ...level, page: password ? null : services.shares.linkOf(token) }
    },
  }),
)

mutation('openShare', {
  description:
    'Creates a signed URL for a shared file, or for a ZIP archive of a shared folder or of entries in it. Counts as one download. A share with one person opens only for this person and the sharer.',
  auth: { public: true },
  goesOn: 'only counts the use, and changes no file',
  fails: [
    'SHARE_NOT_FOUND',
    'SHARE_EXPIRED',
    'SHARE_USED_UP',
    'PASSWORD_REQUIRED',
    'WRONG_PASSWORD',
    'TOO_MANY_ATTEMPTS',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'INSUFFICIENT_SCOPE',
    'KEY_OUT_OF_BOUNDS',
    'FILE_NOT_FOUND',
    'INVALID_PATH',
    'INVALID_INPUT',
  ],
  places: { entries: 'paths' },
  input: t => ({
    token: t.string({ required: true, description: 'The token of the share.' }),
    password: t.string({ description: 'The password, if the share asks for one.' }),
    path: t.string({
      description: 'In a shared folder: the path of a file or folder; by default the whole folder.',
    }),
    paths: t.stringList({
      maxItems: MAX_ZIPPED,
      description: 'In a shared folder: the paths of several files and folders, as one archive.',
    }),
    disposition: t.field({ type: Disposition, description: 'ATTACHMENT by default.' }),
  }),
  resolve: async ({ token, disposition, ...given }, { services, caller, address, client, log }) => {
    const visitor = { caller, address, client, log }
    const request = { ...visitor, ...given, mode: disposition, counts: true }
    return { download: await services.shareLinks.open(token, request) }
  },
  payload: t => ({
    download: t.expose('download', { type: Download, description: 'The signed URL.' }),
  }),
})
