import type { ReceiptRow } from '../db/queries/file-request-upload.ts'
import { Drive as DriveValue } from '../src/access/drive.ts'
import type { FileRequestView, RequestSender } from '../src/services/sharing/file-request.ts'
import type { RequestInfo } from '../src/services/sharing/file-request-link.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { MAX_EXPECTED, MAX_KINDS, MAX_SENDERS } from '../src/values/limits.ts'
import { findDrive, findDriveOf } from './access.ts'
import { batch, batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, newestFirst, pageArgs } from './connection.ts'
import { entryOf } from './entry.ts'
import { FileRequestState, SenderPlace } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { Drive, File, Folder } from './refs.ts'
import { Viewer } from './viewer.ts'

type ReceiptNode = ReceiptRow & { bucketId: string }

const Receipt = builder.objectRef<ReceiptNode>('FileRequestReceipt').implement({
  description: 'A file that a file request has received.',
  fields: t => ({
    fileName: t.exposeString('fileName', {
      description: 'Its name as sent; it may have another name in the folder.',
    }),
    size: t.expose('bytes', { type: 'Bytes', description: 'Its bytes.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it arrived.' }),
    senderName: t.exposeString('senderName', {
      description:
        'The name given by its sender, which is not verified. Empty if the request did not ask for one.',
    }),
    network: t.exposeString('network', {
      description:
        'The network of the client: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    client: t.exposeString('client', {
      description: 'What the client calls itself, such as "Firefox on Linux".',
    }),
    file: t.withAuth({ signedIn: true }).field({
      type: File,
      nullable: true,
      description:
        'The file as it is now; null for a key that may not read there, or if it no longer exists.',
      resolve: async ({ entryId, bucketId }, _args, context) => {
        const drive = entryId === null ? null : await findDrive(context, context.caller, bucketId)
        return drive && !drive.refusal('read') && entryId !== null
          ? entryOf(context, drive, entryId)
          : null
      },
    }),
  }),
})

const ReceiptConnection = connectionOf('FileRequestReceipt', Receipt)

const receiptsOf = batchPages<ReceiptRow, [string], [boolean]>(
  ({ services }, ids, limit, after, newestFirst) =>
    services.fileRequests.receipts(ids, { limit, after: after?.[0] ?? null, newestFirst }),
)

const Sender = builder.objectRef<RequestSender>('FileRequestSender').implement({
  description: 'A sender of files, by the name that they gave, which is not verified.',
  fields: t => ({
    name: t.exposeString('name', {
      description: 'The name; empty for all senders of whom the request did not ask for one.',
    }),
    isExpected: t.exposeBoolean('isExpected', {
      description: 'Whether the request expects this name.',
    }),
    fileCount: t.exposeInt('fileCount', { description: 'How many files have arrived.' }),
    lastReceivedAt: t.expose('lastAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last file arrived; null if none has.',
    }),
  }),
})

const senderRows = batch(({ services }, ids) => services.fileRequests.senderRows(ids))

export const FileRequest = builder.objectRef<FileRequestView>('FileRequest').implement({
  description:
    'A link with which everyone who has it can send files into one folder. Only its maker sees the request.',
  interfaces: [Node],
  fields: t => ({
    token: t.exposeString('token', { description: 'The token of the request, part of its URL.' }),
    url: t.expose('link', { type: 'URL', description: 'The page for senders.' }),
    label: t.exposeString('label', { description: 'What the request asks for.' }),
    message: t.exposeString('message', { description: 'The message to the senders.' }),
    state: t.expose('state', { type: FileRequestState, description: 'Whether it accepts files.' }),
    path: t.exposeString('folder', {
      nullable: true,
      description: 'Path of its folder; null while the folder is in the trash.',
    }),
    folder: t.withAuth({ signedIn: true }).field({
      type: Folder,
      nullable: true,
      description:
        'The folder that receives the files; null for a key that may not read there, or if it no longer exists.',
      resolve: async ({ bucketId, folderId }, _args, context) => {
        const drive = await findDrive(context, context.caller, bucketId)
        return drive && !drive.refusal('read') ? entryOf(context, drive, folderId) : null
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if it does not.',
    }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its maker closed it.',
    }),
    passwordProtected: t.exposeBoolean('passwordProtected', {
      description: 'Whether it asks for a password.',
    }),
    asksName: t.exposeBoolean('asksName', { description: 'Whether senders must give a name.' }),
    expected: t.exposeStringList('expected', {
      listSize: MAX_EXPECTED,
      description: 'The names of the expected senders.',
    }),
    senderPlace: t.expose('senderPlace', {
      type: SenderPlace,
      description: 'Where the name of a sender becomes part of the place of a file.',
    }),
    senders: t.withAuth({ signedIn: true }).field({
      type: [Sender],
      listSize: MAX_SENDERS,
      description: `The expected senders in their order, also those of whom nothing has arrived, then others by name: up to ${MAX_SENDERS}.`,
      resolve: async (request, _args, context) =>
        context.services.fileRequests.sendersOf(
          request,
          (await senderRows(context, request.id)) ?? [],
        ),
    }),
    notifies: t.exposeBoolean('notifies', {
      description: 'Whether its maker gets mails about new files, at most once an hour.',
    }),
    maxFiles: t.exposeInt('maxFiles', {
      nullable: true,
      description: 'Maximum number of files; null for no limit.',
    }),
    maxFileSize: t.expose('maxFileBytes', {
      type: 'Bytes',
      nullable: true,
      description: 'Maximum bytes of one file; null if only the plan limits them.',
    }),
    maxBytes: t.expose('maxBytes', {
      type: 'Bytes',
      nullable: true,
      description: 'Maximum bytes of all files; null if only the drive limits them.',
    }),
    kinds: t.exposeStringList('kinds', {
      description:
        'The accepted extensions and media types, such as ".pdf" and "image/*"; all if empty.',
      listSize: MAX_KINDS,
    }),
    fileCount: t.exposeInt('files', { description: 'How many files it has received.' }),
    size: t.expose('bytes', { type: 'Bytes', description: 'The bytes of the received files.' }),
    arrivingCount: t.exposeInt('reservedFiles', {
      description: 'How many files are being received.',
    }),
    receipts: t.withAuth({ signedIn: true }).field({
      type: ReceiptConnection,
      description: 'The files that it has received, oldest first.',
      args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
      resolve: ({ id, bucketId }, { newestFirst, ...page }, context) =>
        forwardConnection(page, byId, async (limit, after) => {
          const { rows, ...more } = await receiptsOf(
            context,
            id,
            limit,
            after,
            newestFirst ?? false,
          )
          return { ...more, rows: rows.map(row => ({ ...row, bucketId })) }
        }),
    }),
  }),
})

const requestsOf = batchSeen(async ({ fileRequests }, caller, ids) =>
  keyById(await fileRequests.among(caller, ids)),
)

findable('file_request', 'FileRequest', async (context, caller, id) => {
  const request = await requestsOf(context, id)
  const drive = request && (await findDriveOf(context, caller, 'fileRequest', id))
  drive?.open('request')
  return drive ? request : null
})

const senderOf = batch(({ services }, ids) => services.fileRequests.sendersOfEntries(ids))

builder.objectField(File, 'sentBy', t =>
  t.string({
    nullable: true,
    description:
      'The name that its sender gave to the file request that received it, which is not verified. Null for other files.',
    resolve: async ({ id }, _args, context) => (await senderOf(context, id)) ?? null,
  }),
)

const FileRequestConnection = connectionOf('FileRequest', FileRequest)

builder.objectField(Drive, 'fileRequests', t =>
  t.withAuth({ drive: 'request' }).field({
    type: FileRequestConnection,
    description: 'The open file requests of the caller for its folders, oldest first.',
    args: {
      folder: t.arg.id({ description: 'Only requests for the folder with this id.' }),
      newestFirst: newestFirst(t.arg),
      ...pageArgs(t.arg),
    },
    resolve: ({ id }, { folder, newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.fileRequests.list(caller, {
          bucketId: id,
          folderId: folder ?? null,
          newestFirst: newestFirst ?? false,
          limit,
          after: after?.[0] ?? null,
        }),
      ),
  }),
)

builder.objectField(Viewer, 'fileRequests', t =>
  t.withAuth({ privateFiles: 'share' }).field({
    type: FileRequestConnection,
    description:
      "All open file requests of the caller, oldest first; for a key, those for the caller's own drive.",
    args: { newestFirst: newestFirst(t.arg), ...pageArgs(t.arg) },
    resolve: (_viewer, { newestFirst, ...page }, { services, caller }) =>
      forwardConnection(page, byId, (limit, after) =>
        services.fileRequests.list(caller, {
          bucketId: caller.via === 'session' ? null : DriveValue.own(caller).id,
          newestFirst: newestFirst ?? false,
          limit,
          after: after?.[0] ?? null,
        }),
      ),
  }),
)

const FileRequestInfo = builder.objectRef<RequestInfo>('FileRequestInfo').implement({
  description: 'The details of a file request for everyone with its link.',
  fields: t => ({
    label: t.exposeString('label', { description: 'What the request asks for.' }),
    message: t.exposeString('message', { description: 'The message of its maker to senders.' }),
    askedBy: t.exposeString('askedBy', { description: 'The name of its maker.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if it does not.',
    }),
    passwordProtected: t.exposeBoolean('passwordProtected', {
      description: 'Whether it asks for a password.',
    }),
    asksName: t.exposeBoolean('asksName', { description: 'Whether senders must give a name.' }),
    kinds: t.exposeStringList('kinds', {
      description: 'The accepted extensions and media types; all if empty.',
      listSize: MAX_KINDS,
    }),
    maxFileSize: t.expose('maxFileBytes', {
      type: 'Bytes',
      description: 'Maximum bytes of one file.',
    }),
    isFull: t.exposeBoolean('isFull', {
      description: 'Whether a limit of the request is reached.',
    }),
  }),
})

builder.queryField('fileRequest', t =>
  t.withAuth({ public: true }).field({
    type: FileRequestInfo,
    description:
      'The details of a file request, for everyone with its link. Files are sent through REST.',
    args: {
      token: t.arg.string({ required: true, description: 'The token of the file request.' }),
    },
    resolve: (_root, { token }, { services }) => services.fileRequestLinks.info(token),
  }),
)
