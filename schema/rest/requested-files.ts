import type { ReceiptRow } from '../../db/queries/file-request-upload.ts'
import type { RequestInfo, SenderVisit } from '../../src/services/sharing/file-request-link.ts'
import type { SentFile } from '../../src/services/sharing/file-request-upload.ts'
import type { UploadSessionView } from '../../src/services/uploads/upload-session-view.ts'
import { MAX_SENDER_NAME } from '../../src/values/limits.ts'
import type { Context } from '../context.ts'
import { modifiedAt } from './arguments.ts'
import { type Argument, objectOf } from './builder.ts'
import {
  BYTES,
  CRC32,
  FILE_REQUEST_TOKEN,
  MD5,
  MEDIA_TYPE,
  PASSWORD,
  SENDER_TOKEN,
} from './examples.ts'
import { operation } from './file-requests.ts'
import { ReceivedPart } from './uploads.ts'

const SENDER = 'header x-sender-token'

/** The arguments of every sender's request. */
const place = (arg: Argument) => ({
  token: arg.string({ required: true, example: FILE_REQUEST_TOKEN }),
  sender: arg.string({
    description: 'The `sender` of an earlier response, to continue as the same sender.',
    example: SENDER_TOKEN,
  }),
})

const visitOf = (
  { caller, address, client, log, from }: Context,
  sender: string | null | undefined,
): SenderVisit => ({
  caller,
  address,
  client,
  log,
  sender,
  from,
})

const FAILS = ['FILE_REQUEST_NOT_FOUND', 'FILE_REQUEST_CLOSED', 'PASSWORD_REQUIRED'] as const
const UPLOAD_FAILS = [...FAILS, 'FILE_REQUEST_FULL', 'INVALID_PATH', 'FILE_TOO_LARGE'] as const

const Sent = objectOf<ReceiptRow>('SentFile', 'A file that this sender has sent.', t => ({
  file_name: t.exposeString('fileName', { example: 'report.pdf' }),
  size: t.expose('bytes', { type: 'Long', description: 'Bytes.', example: BYTES }),
  received_at: t.expose('receivedAt', { type: 'DateTime' }),
  upload_id: t.exposeID('id', { description: 'The id of an upload in parts.' }),
}))

const FileRequestInfo = objectOf<RequestInfo & { sent: ReceiptRow[] }>(
  'FileRequestInfo',
  'The details for everyone with the link.',
  t => ({
    label: t.exposeString('label', {
      description: 'What the request asks for.',
      example: 'Holiday pictures',
    }),
    message: t.exposeString('message', { example: 'Please send the large ones.' }),
    asked_by: t.exposeString('askedBy', {
      description: 'The name of its maker.',
      example: 'Alice',
    }),
    expires_at: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    password_protected: t.exposeBoolean('passwordProtected'),
    asks_name: t.exposeBoolean('asksName'),
    kinds: t.exposeStringList('kinds', {
      description: 'All kinds if empty.',
      example: ['.pdf', 'image/*'],
    }),
    max_file_size: t.expose('maxFileBytes', {
      type: 'Long',
      description: 'Bytes.',
      example: BYTES,
    }),
    is_full: t.exposeBoolean('isFull', {
      description: 'Whether a limit of the request is reached.',
    }),
    sent: t.field({
      type: [Sent],
      description: 'The files of this sender, newest first; empty without a sender token.',
      resolve: page => page.sent,
    }),
  }),
)

operation('GET /api/request/{token}', 'requestInfo', {
  description: 'The details of a file request, and the files of this sender.',
  auth: { public: true },
  statuses: [403, 404],
  fails: ['FILE_REQUEST_NOT_FOUND', 'FILE_REQUEST_CLOSED'],
  from: { sender: SENDER },
  args: place,
  type: FileRequestInfo,
  resolve: async ({ token, sender }, { services }) => {
    const { info, sent } = await services.fileRequestLinks.page(token, sender)
    return { ...info, sent }
  },
})

const Entered = objectOf<{ sender: string }>('EnteredFileRequest', t => ({
  sender: t.exposeString('sender', {
    description:
      'Send it as the header X-Sender-Token with the other requests; it is valid for seven days.',
    example: SENDER_TOKEN,
  }),
}))

operation('POST /api/request/{token}/enter', 'enterRequest', {
  description: 'Sends the password and the name that a file request asks for.',
  goesOn: 'checks a password, and stores nothing',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: [...FAILS, 'WRONG_PASSWORD', 'TOO_MANY_ATTEMPTS'],
  from: { sender: SENDER },
  args: arg => ({
    ...place(arg),
    password: arg.string({ example: PASSWORD }),
    name: arg.string({ description: `Up to ${MAX_SENDER_NAME} characters.`, example: 'Carol' }),
  }),
  type: Entered,
  resolve: async ({ token, sender, password, name }, context) => ({
    sender: await context.services.fileRequestLinks.enter(token, {
      ...visitOf(context, sender),
      password,
      name,
    }),
  }),
})

const Received = objectOf<SentFile>(
  'ReceivedFile',
  'A received file, under the name given by its sender.',
  t => ({
    file_name: t.exposeString('fileName', { example: 'report.pdf' }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
    md5_checksum: t.exposeString('md5', { description: 'MD5 of the stored bytes.', example: MD5 }),
    sender: t.exposeString('sender', { description: 'See `enter`.', example: SENDER_TOKEN }),
  }),
)

operation('POST /api/request/{token}/upload', 'sendRequestedFile', {
  description: 'Sends a whole file to a file request. It never replaces another file.',
  auth: { public: true },
  statuses: [400, 401, 403, 404, 429],
  fails: UPLOAD_FAILS,
  rateLimit: 'file_request_uploads',
  from: { sender: SENDER, file: 'form', modified_at: 'form' },
  args: arg => ({
    ...place(arg),
    file: arg({ type: 'Upload', required: true, description: 'The file.' }),
    modified_at: modifiedAt(arg),
  }),
  type: Received,
  resolve: async ({ token, sender, file, modified_at: time }, context) =>
    context.services.fileRequestUploads.upload(token, visitOf(context, sender), await file, time),
})

const Started = objectOf<UploadSessionView & { sender: string }>('StartedRequestedUpload', t => ({
  upload_id: t.exposeID('id'),
  chunk_size: t.exposeInt('partSize', {
    description: 'Bytes of every part except the last.',
    example: BYTES,
  }),
  part_count: t.exposeInt('partCount', {
    description: 'Number of parts; an empty file has one, which is empty.',
  }),
  expires_at: t.expose('expiresAt', {
    type: 'DateTime',
    description:
      'The upload expires a quarter of an hour after its start, and an hour after its last part.',
  }),
  sender: t.exposeString('sender', {
    description: 'See `enter`: needed to continue.',
    example: SENDER_TOKEN,
  }),
}))

operation('POST /api/request/{token}/uploads', 'startRequestedUpload', {
  description: 'Starts an upload in parts to a file request.',
  auth: { public: true },
  statuses: [400, 401, 403, 404, 429],
  fails: UPLOAD_FAILS,
  rateLimit: 'file_request_uploads',
  from: { sender: SENDER },
  args: arg => ({
    ...place(arg),
    content_type: arg.string({ description: 'Media type.', example: MEDIA_TYPE }),
    filename: arg.string({ required: true, example: 'report.pdf' }),
    modified_at: modifiedAt(arg),
    size: arg({
      type: 'Long',
      required: true,
      description: 'Bytes; reserved at once.',
      example: BYTES,
    }),
  }),
  type: Started,
  resolve: (
    { token, sender, content_type: contentType, modified_at: modifiedAt, filename, size },
    context,
  ) => {
    const declared = { filename, size, contentType, modifiedAt }
    return context.services.fileRequestUploads.start(token, visitOf(context, sender), declared)
  },
})

const upload = (arg: Argument) => ({ ...place(arg), upload_id: arg.id({ required: true }) })

const RequestedUpload = objectOf<UploadSessionView>('RequestedUpload', t => ({
  upload_id: t.exposeID('id'),
  filename: t.string({ example: 'report.pdf', resolve: ({ names }) => names.at(-1) ?? '' }),
  size: t.expose('size', { type: 'Long', description: 'Declared bytes.', example: BYTES }),
  chunk_size: t.exposeInt('partSize', {
    description: 'Bytes of every part except the last.',
    example: BYTES,
  }),
  expires_at: t.expose('expiresAt', { type: 'DateTime' }),
  received: t.intList({
    description: 'Numbers of the parts that have arrived.',
    resolve: (session, _args, { services }) => services.uploadSessions.received(session),
  }),
}))

operation('GET /api/request/{token}/uploads/{upload_id}', 'requestedUpload', {
  description: 'An upload in parts that this sender has started.',
  auth: { public: true },
  statuses: [401, 403, 404],
  fails: [...FAILS, 'UPLOAD_NOT_FOUND'],
  from: { sender: SENDER },
  args: upload,
  type: RequestedUpload,
  resolve: ({ token, sender, upload_id: id }, context) =>
    context.services.fileRequestUploads.find(token, visitOf(context, sender), id),
})

operation('PUT /api/request/{token}/uploads/{upload_id}/parts/{part_number}', 'sendRequestedPart', {
  description:
    'Stores one part of an upload to a file request. Sending the same number again replaces it.',
  auth: { public: true },
  statuses: [400, 401, 403, 404, 409],
  fails: [...FAILS, 'FILE_REQUEST_FULL', 'CHECKSUM_MISMATCH', 'UPLOAD_NOT_FOUND', 'UPLOAD_BUSY'],
  from: { sender: SENDER, part: 'raw', content_md5: 'header content-md5' },
  args: arg => ({
    ...upload(arg),
    content_md5: arg.string({
      description: 'MD5 of the part, in base64 (RFC 1864).',
      example: 'nhB9nTcrtoJr2B01QqQZ1g==',
    }),
    part: arg({ type: 'Upload', required: true, description: 'The bytes of the part.' }),
    part_number: arg.int({ required: true, description: 'From 1 on.' }),
  }),
  type: ReceivedPart,
  resolve: async (
    { token, sender, upload_id: id, part_number: number, part, content_md5: contentMd5 },
    context,
  ) => {
    const { fileRequestUploads } = context.services
    return fileRequestUploads.addPart(token, visitOf(context, sender), {
      id,
      number,
      part: await part,
      contentMd5,
    })
  },
})

operation('POST /api/request/{token}/uploads/{upload_id}/complete', 'completeRequestedUpload', {
  description: 'Completes an upload to a file request whose parts have all arrived.',
  auth: { public: true },
  statuses: [400, 401, 403, 404, 409],
  // The size was checked at the start.
  fails: [
    ...UPLOAD_FAILS.filter(code => code !== 'FILE_TOO_LARGE'),
    'UPLOAD_INCOMPLETE',
    'CHECKSUM_MISMATCH',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_BUSY',
  ],
  from: { sender: SENDER },
  args: arg => ({
    ...upload(arg),
    md5: arg.string({ description: 'Expected MD5 of the whole file, in hex.', example: MD5 }),
    crc32: arg.string({
      description: 'Expected CRC-32 of the whole file, in hex.',
      example: CRC32,
    }),
  }),
  type: Received,
  resolve: ({ token, sender, upload_id: id, ...digests }, context) =>
    context.services.fileRequestUploads.complete(token, visitOf(context, sender), id, digests),
})

operation('DELETE /api/request/{token}/uploads/{upload_id}', 'abortRequestedUpload', {
  description: 'Aborts an upload to a file request, and releases its reservation.',
  auth: { public: true },
  statuses: [400, 401, 403, 404],
  fails: [...FAILS, 'UPLOAD_NOT_FOUND'],
  from: { sender: SENDER },
  args: upload,
  resolve: ({ token, sender, upload_id: id }, context) =>
    context.services.fileRequestUploads.abort(token, visitOf(context, sender), id),
})
