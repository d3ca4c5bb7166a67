import type { ReceivedPart as ReceivedPartView } from '../../src/services/uploads/upload-part.ts'
import type { UploadSessionView } from '../../src/services/uploads/upload-session-view.ts'
import { modifiedAt, onConflict } from './arguments.ts'
import { type Argument, type ObjectFields, objectOf } from './builder.ts'
import { BYTES, CRC32, MEDIA_TYPE, SIGNED_URL } from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

/** Uploads into workspaces belong to this area, too. */
export const operation = operationsOf('uploads', 'Resumable uploads, in parts.')

/** The declared properties of a future file. */
const declaration = (arg: Argument) => ({
  content_type: arg.string({ description: 'Media type.', example: MEDIA_TYPE }),
  direct: arg.boolean({
    description: 'Send the parts to signed URLs of the blob store.',
    example: true,
  }),
  filename: arg.string({ required: true, example: 'report.pdf' }),
  folder: arg.string({
    description: 'Path of the folder; missing ones are created when the upload is completed.',
    example: 'docs',
  }),
  modified_at: modifiedAt(arg),
  on_conflict: arg.string(onConflict),
  size: arg({
    type: 'Long',
    required: true,
    description: 'Bytes; reserved at once.',
    example: BYTES,
  }),
})

/** One part of an upload. */
const part = (arg: Argument) => ({
  content_md5: arg.string({
    description: 'MD5 of the part, in base64 (RFC 1864).',
    example: 'nhB9nTcrtoJr2B01QqQZ1g==',
  }),
  part: arg({ type: 'Upload', required: true, description: 'The bytes of the part.' }),
  part_number: arg.int({ required: true, description: 'From 1 on.' }),
  upload_id: arg.id({ required: true }),
})

const SESSION =
  'An unfinished multipart upload. Parts may be sent in any order, several at a time, to any instance.'

const sessionFields = (t: ObjectFields<UploadSessionView>) => ({
  chunk_size: t.exposeInt('partSize', {
    description: 'Bytes of every part except the last.',
    example: BYTES,
  }),
  expires_at: t.expose('expiresAt', {
    type: 'DateTime',
    description:
      'When the upload expires: a day after its last part; a direct upload, a day after its start.',
  }),
})

const UploadSession = objectOf<UploadSessionView>('UploadSession', SESSION, t => ({
  ...sessionFields(t),
  filename: t.string({ example: 'report.pdf', resolve: upload => upload.names.at(-1) ?? '' }),
  folder: t.exposeString('folder', {
    description: 'Path of the folder of the file.',
    example: 'docs',
  }),
  upload_id: t.exposeID('id'),
  received: t.intList({
    description: 'Numbers of the parts that have arrived.',
    resolve: (upload, _args, { services }) => services.uploadSessions.received(upload),
  }),
  size: t.expose('size', {
    type: 'Long',
    description: 'Declared bytes of the whole file.',
    example: BYTES,
  }),
}))

const UploadPart = objectOf<{ partNumber: number; url: string }>(
  'UploadPart',
  'A part of a direct upload.',
  t => ({
    part_number: t.exposeInt('partNumber', { description: 'From 1 on.' }),
    url: t.exposeString('url', {
      description: 'Signed URL of the blob store: PUT the raw bytes of the part there.',
      example: SIGNED_URL,
    }),
  }),
)

const StartedUpload = objectOf<UploadSessionView>('StartedUpload', SESSION, t => ({
  ...sessionFields(t),
  upload_id: t.exposeID('id'),
  part_count: t.exposeInt('partCount', {
    description: 'Number of parts; an empty file has one, which is empty.',
  }),
  parts: t.field({
    type: [UploadPart],
    nullable: true,
    description: 'The parts of a direct upload; null for others.',
    resolve: (upload, _args, { services }) => services.uploadSessions.addressesOf(upload),
  }),
}))

export const ReceivedPart = objectOf<ReceivedPartView>('ReceivedPart', t => ({
  part_number: t.exposeInt('partNumber'),
  size: t.exposeInt('size', { description: 'Bytes.', example: BYTES }),
  crc32: t.exposeString('crc32', {
    description:
      'CRC-32 of the stored bytes in hex, as in gzip: compare it with that of the sent bytes.',
    example: CRC32,
  }),
}))

declareForOwners(
  operation,
  ({ whose, base, operation, name, denied }) => {
    const uploads = `${base}/files/uploads` as const
    operation(`GET ${uploads}/{upload_id}`, name('', 'Upload'), {
      description: `An upload in parts that the caller has started, to the files of ${whose}: which parts have arrived, and when it expires.`,
      auth: { drive: 'write' },
      statuses: [401, ...denied, 404],
      fails: ['UPLOAD_NOT_FOUND'],
      args: arg => ({ upload_id: arg.id({ required: true }) }),
      type: UploadSession,
      resolve: ({ upload_id: id }, { services, caller, tree }) =>
        services.uploadSessions.find(tree, id, caller.userId),
    })

    operation(`DELETE ${uploads}/{upload_id}`, name('abort', 'Upload'), {
      description: `Aborts an upload to the files of ${whose}, and releases its reservation.`,
      auth: { drive: 'write' },
      statuses: [401, ...denied, 404],
      fails: ['UPLOAD_NOT_FOUND'],
      args: arg => ({ upload_id: arg.id({ required: true }) }),
      resolve: async ({ upload_id: id }, { services, caller, tree }) => {
        await services.uploadSessions.abort(tree, id, caller.userId)
      },
    })

    operation(`POST ${uploads}`, name('start', 'Upload'), {
      description: `Starts an upload in parts to the files of ${whose}, which survives broken connections and restarts.`,
      auth: { drive: 'write' },
      statuses: [400, 401, ...denied, 409],
      fails: [
        'INVALID_PATH',
        'FILE_TOO_LARGE',
        'QUOTA_EXCEEDED',
        'FOLDER_NOT_FOUND',
        'PATH_EXISTS',
      ],
      args: declaration,
      type: StartedUpload,
      resolve: (
        { content_type: contentType, modified_at: modifiedAt, on_conflict: choice, ...upload },
        context,
      ) => {
        const { services, caller, drive, tree, limits } = context
        const declared = {
          ...upload,
          contentType,
          modifiedAt,
          onConflict: drive.onConflict(choice),
        }
        return services.uploadSessions.start(tree, declared, limits, caller.userId)
      },
    })

    operation(`PUT ${uploads}/{upload_id}/parts/{part_number}`, name('upload', 'Part'), {
      description: `Stores one part of an upload to the files of ${whose}. Sending the same number again replaces it.`,
      auth: { drive: 'write' },
      also: 'POST',
      statuses: [400, 401, ...denied, 404, 409],
      fails: ['UPLOAD_INCOMPLETE', 'CHECKSUM_MISMATCH', 'UPLOAD_NOT_FOUND', 'UPLOAD_BUSY'],
      from: { part: 'raw', content_md5: 'header content-md5' },
      args: part,
      type: ReceivedPart,
      resolve: async ({ upload_id: id, part_number: number, part, content_md5: md5 }, context) => {
        const { services, caller, tree } = context
        const by = caller.userId
        return services.uploadSessions.addPart(tree, {
          id,
          by,
          number,
          part: await part,
          contentMd5: md5,
        })
      },
    })
  },
  operation,
)
