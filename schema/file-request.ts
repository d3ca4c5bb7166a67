import type { ReceiptRow } from '../db/queries/file-request-upload.ts'
import { Drive as DriveValue } from '../src/access/drive.ts'
import type { FileRequestView } from '../src/services/sharing/file-request.ts'
import type { RequestInfo } from '../src/services/sharing/file-request-link.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { MAX_KINDS } from '../src/values/limits.ts'
import { findDrive, findDriveOf } from './access.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import { entryOf } from './entry.ts'
import { FileRequestState } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { Drive, File, Folder } from './refs.ts'
import { Viewer } from './viewer.ts'

type ReceiptNode = ReceiptRow & { bucketId: string }

const Receipt = builder.objectRef<ReceiptNode>('FileRequestReceipt').implement({
  description: 'A file that a file request has received.',
  fields: t => ({
    fileName: t.exposeString('fileName', {
      description: 'Its name as it was sent; in the folder it may have another.',
    }),
    size: t.expose('bytes', { type: 'Bytes', description: 'Its bytes.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it had arrived.' }),
    senderName: t.exposeString('senderName', {
      description: 'The name that its sender has given: a claim. Empty where none was asked for.',
    }),
    network: t.exposeString('network', {
      description: 'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    client: t.exposeString('client', { description: 'What the client calls itself, such as "Firefox on Linux".' }),
    file: t.withAuth({ signedIn: true }).field({
      type: File,
      nullable: true,
      description: 'The file as it is now; null for a key that may not read there, and when it is gone.',
      resolve: async ({ entryId, bucketId }, _args, context) => {
        const drive = entryId === null ? null : await findDrive(context, context.caller, bucketId)
        return drive && !drive.refusal('read') && entryId !== null ? entryOf(context, drive, entryId) : null
      },
    }),
  }),
})

const ReceiptConnection = connectionOf('FileRequestReceipt', Receipt)

const receiptsOf = batchPages<ReceiptRow, [string], [boolean]>(({ services }, ids, limit, after, newestFirst) =>
  services.fileRequests.receipts(ids, { limit, after: after?.[0] ?? null, newestFirst }),
)

export const FileRequest = builder.objectRef<FileRequestView>('FileRequest').implement({
  description: 'A link with which everybody who has it sends files into one folder. Only its maker sees it.',
  interfaces: [Node],
  fields: t => ({
    token: t.exposeString('token', { description: 'Opens the request; a part of its URL.' }),
    url: t.expose('link', { type: 'URL', description: 'The page for senders.' }),
    label: t.exposeString('label', { description: 'What is asked for.' }),
    message: t.exposeString('message', { description: 'What senders are told beside.' }),
    state: t.expose('state', { type: FileRequestState, description: 'Whether it takes files.' }),
    path: t.exposeString('folder', {
      nullable: true,
      description: 'Path of its folder; null while the folder is in the trash.',
    }),
    folder: t.withAuth({ signedIn: true }).field({
      type: Folder,
      nullable: true,
      description: 'The folder that files go into; null for a key that may not read there, and when it is gone.',
      resolve: async ({ bucketId, folderId }, _args, context) => {
        const drive = await findDrive(context, context.caller, bucketId)
        return drive && !drive.refusal('read') ? entryOf(context, drive, folderId) : null
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null when it does not.',
    }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true, description: 'When its maker has closed it.' }),
    passwordProtected: t.exposeBoolean('passwordProtected', { description: 'Whether it asks for a password.' }),
    asksName: t.exposeBoolean('asksName', { description: 'Whether senders have to give a name.' }),
    notifies: t.exposeBoolean('notifies', {
      description: 'Whether its maker is told of new files by mail, at most once an hour.',
    }),
    maxFiles: t.exposeInt('maxFiles', { nullable: true, description: 'How many files it takes; null for any number.' }),
    maxFileSize: t.expose('maxFileBytes', {
      type: 'Bytes',
      nullable: true,
      description: 'Bytes that one file may have; null where only the plan bounds them.',
    }),
    maxBytes: t.expose('maxBytes', {
      type: 'Bytes',
      nullable: true,
      description: 'Bytes that all files may have; null where only the drive bounds them.',
    }),
    kinds: t.exposeStringList('kinds', {
      description: 'The extensions and media types that it takes, such as ".pdf" and "image/*"; all when empty.',
      listSize: MAX_KINDS,
    }),
    fileCount: t.exposeInt('files', { description: 'How many files it has received.' }),
    size: t.expose('bytes', { type: 'Bytes', description: 'Their bytes, as they were received.' }),
    arrivingCount: t.exposeInt('reservedFiles', { description: 'How many files are arriving.' }),
    receipts: t.withAuth({ signedIn: true }).field({
      type: ReceiptConnection,
      description: 'What it has received, oldest first.',
      args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
      resolve: ({ id, bucketId }, { newestFirst, ...page }, context) =>
        forwardConnection(page, byId, async (limit, after) => {
          const { rows, ...more } = await receiptsOf(context, id, limit, after, newestFirst ?? false)
          return { ...more, rows: rows.map(row => ({ ...row, bucketId })) }
        }),
    }),
  }),
})

const requestsOf = batchSeen(async ({ fileRequests }, caller, ids) => keyById(await fileRequests.among(caller, ids)))

findable('file_request', 'FileRequest', async (context, caller, id) => {
  const request = await requestsOf(context, id)
  const drive = request && (await findDriveOf(context, caller, 'fileRequest', id))
  drive?.open('request')
  return drive ? request : null
})

const FileRequestConnection = connectionOf('FileRequest', FileRequest)

builder.objectField(Drive, 'fileRequests', t =>
  t.withAuth({ drive: 'request' }).field({
    type: FileRequestConnection,
    description: 'The file requests that the caller has made for folders of it and not closed, oldest first.',
    args: {
      folder: t.arg.id({ description: 'Only those for the folder with this id.' }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: ({ id }, { folder, newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.fileRequests.list(caller, {
          ...{ bucketId: id, folderId: folder ?? null, newestFirst: newestFirst ?? false },
          ...{ limit, after: after?.[0] ?? null },
        }),
      ),
  }),
)

builder.objectField(Viewer, 'fileRequests', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: FileRequestConnection,
    description:
      'All file requests that the caller has made and not closed, oldest first; for a key those for the own drive.',
    args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
    resolve: (_viewer, { newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.fileRequests.list(caller, {
          bucketId: caller.via === 'session' ? null : DriveValue.own(caller).id,
          ...{ newestFirst: newestFirst ?? false, limit, after: after?.[0] ?? null },
        }),
      ),
  }),
)

const FileRequestInfo = builder.objectRef<RequestInfo>('FileRequestInfo').implement({
  description: 'What everyone with the link of a file request may know.',
  fields: t => ({
    label: t.exposeString('label', { description: 'What is asked for.' }),
    message: t.exposeString('message', { description: 'What its maker tells senders.' }),
    askedBy: t.exposeString('askedBy', { description: 'The name of its maker.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends, if it does.' }),
    passwordProtected: t.exposeBoolean('passwordProtected', { description: 'Whether it asks for a password.' }),
    asksName: t.exposeBoolean('asksName', { description: 'Whether senders have to give a name.' }),
    kinds: t.exposeStringList('kinds', {
      description: 'The extensions and media types that it takes; all when empty.',
      listSize: MAX_KINDS,
    }),
    maxFileSize: t.expose('maxFileBytes', { type: 'Bytes', description: 'Bytes that one file may have.' }),
    isFull: t.exposeBoolean('isFull', { description: 'Whether as much as was asked for has arrived.' }),
  }),
})

builder.queryField('fileRequest', t =>
  t.withAuth({ public: true }).field({
    type: FileRequestInfo,
    description: 'What a file request asks for. For everybody who has its link; files are sent by REST.',
    args: { token: t.arg.string({ required: true, description: 'The token of the file request.' }) },
    resolve: (_root, { token }, { services }) => services.fileRequestLinks.info(token),
  }),
)
