import type { OnConflict } from '../../src/on-conflict.ts'
import { joinPath } from '../../src/paths.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import type { UploadSessionView } from '../../src/services/uploads/upload-session.ts'
import { area } from '../plugins/rest.ts'
import { ifMatch, ifMatchHeader, onConflict, ownDrive } from './arguments.ts'
import { type Argument, builder, type DriveContext, type Given, type ObjectFields } from './builder.ts'
import { BYTES, FILE_PATH, MD5, MEDIA_TYPE, SIGNED_URL } from './examples.ts'
import { File, named } from './files.ts'
import { declareForOwners } from './owners.ts'

/** Uploads into workspaces belong to this area, too. */
export const rest = area('uploads', 'Resumable uploads, in parts.')

/** What is declared of a file that is to come. */
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
  on_conflict: arg.string(onConflict),
  size: arg({ type: 'Long', required: true, description: 'Bytes; reserved at once.', example: BYTES }),
})

/** What completes an upload. */
export const completion = (arg: Argument) => ({
  if_match: arg.string(ifMatch),
  filename: arg.string({ description: 'Another name than planned.', example: 'report.pdf' }),
  folder: arg.string({ description: 'Another folder than planned.', example: 'docs' }),
  md5: arg.string({ description: 'Expected MD5 of the whole file, in hex.', example: MD5 }),
  sha256: arg.string({
    description: 'Expected SHA-256 of the whole file, in hex.',
    example: 'd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d08ba9a3a5a08b5',
  }),
  upload_id: arg.id({ required: true }),
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

const SESSION = 'An upload in parts that is under way. Parts may come in any order, several at once, to any instance.'

const sessionFields = (t: ObjectFields<UploadSessionView>) => ({
  chunk_size: t.exposeInt('partSize', {
    description: 'Bytes of every part but the last, which holds the remainder.',
    example: BYTES,
  }),
  expires_at: t.expose('expiresAt', {
    type: 'DateTime',
    description: 'When the upload expires: a day after its last part; a direct upload, a day after its start.',
  }),
})

const UploadSession = builder.objectRef<UploadSessionView>('UploadSession').implement({
  description: SESSION,
  fields: t => ({
    ...sessionFields(t),
    filename: t.string({ example: 'report.pdf', resolve: upload => upload.names.at(-1) ?? '' }),
    folder: t.exposeString('folder', { description: 'Path of the folder of the file.', example: 'docs' }),
    upload_id: t.exposeID('id'),
    received: t.intList({
      description: 'Numbers of the parts that have arrived.',
      resolve: (upload, _args, { services }) => services.uploadSessions.received(upload),
    }),
    size: t.expose('size', { type: 'Long', description: 'Declared bytes of the whole file.', example: BYTES }),
  }),
})

interface Completed {
  uploadId: string
  file: FileView
}

/** What a completed upload shows beside its file. */
export const completedFields = (
  t: ObjectFields<Completed>,
  { pathOf, example }: { pathOf: (names: string[]) => string; example: string },
) => ({
  file_name: t.string({ description: 'Full path.', example, resolve: ({ file }) => pathOf(file.names) }),
  md5_checksum: t.string({
    description: 'MD5 of the whole file, computed from the stored bytes.',
    example: MD5,
    resolve: ({ file }) => file.md5,
  }),
  size: t.field({ type: 'Long', description: 'Bytes.', example: BYTES, resolve: ({ file }) => file.size }),
  upload_id: t.exposeID('uploadId'),
})

const CompletedUpload = builder.objectRef<Completed>('CompletedUpload').implement({
  fields: t => ({
    file: t.field({ type: File, resolve: ({ file }) => file }),
    ...completedFields(t, { pathOf: joinPath, example: FILE_PATH }),
  }),
})

export async function completeUpload(
  context: DriveContext,
  id: string,
  { if_match: expected, ...changes }: Omit<Given<typeof completion>, 'upload_id'>,
): Promise<FileView> {
  const { services, drive, tree, caller } = context
  const decide = (choice: OnConflict) => drive.onConflict(choice)
  return named(context, await services.uploadCompletions.complete(tree, id, caller, { ...changes, expected, decide }))
}

export const COMPLETION_FAILS = [
  'INVALID_PATH',
  'QUOTA_EXCEEDED',
  'UPLOAD_INCOMPLETE',
  'CHECKSUM_MISMATCH',
  'FOLDER_NOT_FOUND',
  'UPLOAD_NOT_FOUND',
  'PATH_EXISTS',
  'UPLOAD_BUSY',
] as const

builder.mutationField('completeUpload', t =>
  t.withAuth({ drive: 'write' }).field({
    type: CompletedUpload,
    description: 'Completes an upload whose parts have all arrived: verifies and creates the file.',
    rest: rest({
      route: 'POST /api/files/uploads/{upload_id}/complete',
      statuses: [400, 401, 404, 409],
      fails: COMPLETION_FAILS,
      from: ifMatchHeader,
    }),
    args: completion(t.arg),
    on: ownDrive,
    resolve: async (_root, { upload_id: uploadId, ...changes }, context) => ({
      uploadId,
      file: await completeUpload(context, uploadId, changes),
    }),
  }),
)

const UploadPart = builder.objectRef<{ partNumber: number; url: string }>('UploadPart').implement({
  description: 'A part of a direct upload.',
  fields: t => ({
    part_number: t.exposeInt('partNumber', { description: 'From 1 on.' }),
    url: t.exposeString('url', {
      description: 'Signed URL of the blob store: PUT the raw bytes of the part there.',
      example: SIGNED_URL,
    }),
  }),
})

const StartedUpload = builder.objectRef<UploadSessionView>('StartedUpload').implement({
  description: SESSION,
  fields: t => ({
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
  }),
})

const ReceivedPart = builder.objectRef<{ partNumber: number; size: number }>('ReceivedPart').implement({
  fields: t => ({
    part_number: t.exposeInt('partNumber'),
    size: t.exposeInt('size', { description: 'Bytes.', example: BYTES }),
  }),
})

declareForOwners(
  rest,
  ({ whose, base, rest, name, place, on, denied }) => {
    const uploads = `${base}/files/uploads` as const
    builder.queryField(name('', 'Upload'), t =>
      t.withAuth({ drive: 'write' }).field({
        type: UploadSession,
        description: `An upload in parts that the caller has started, to the files of ${whose}: which parts have arrived, and when it expires.`,
        rest: rest({
          route: `GET ${uploads}/{upload_id}`,
          statuses: [401, ...denied, 404],
          fails: ['UPLOAD_NOT_FOUND'],
        }),
        args: { upload_id: t.arg.id({ required: true }), ...place(t.arg) },
        on,
        resolve: (_root, { upload_id: id }, { services, caller, tree }) =>
          services.uploadSessions.find(tree, id, caller.userId),
      }),
    )

    builder.mutationField(name('abort', 'Upload'), t =>
      t.withAuth({ drive: 'write' }).field({
        type: 'Void',
        nullable: true,
        description: `Aborts an upload to the files of ${whose}, and releases its reservation.`,
        rest: rest({
          route: `DELETE ${uploads}/{upload_id}`,
          statuses: [401, ...denied, 404],
          fails: ['UPLOAD_NOT_FOUND'],
        }),
        args: { upload_id: t.arg.id({ required: true }), ...place(t.arg) },
        on,
        resolve: async (_root, { upload_id: id }, { services, caller, tree }) => {
          await services.uploadSessions.abort(tree, id, caller.userId)
          return null
        },
      }),
    )

    builder.mutationField(name('start', 'Upload'), t =>
      t.withAuth({ drive: 'write' }).field({
        type: StartedUpload,
        description: `Starts an upload in parts to the files of ${whose}, which survives broken connections and restarts.`,
        rest: rest({
          route: `POST ${uploads}`,
          statuses: [400, 401, ...denied, 409],
          fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
        }),
        args: { ...declaration(t.arg), ...place(t.arg) },
        on,
        resolve: (_root, { content_type: contentType, on_conflict: choice, ...upload }, context) => {
          const { services, caller, drive, tree, limits } = context
          const onConflict = drive.onConflict(choice)
          return services.uploadSessions.start(tree, { ...upload, contentType, onConflict }, limits, caller.userId)
        },
      }),
    )

    builder.mutationField(name('upload', 'Part'), t =>
      t.withAuth({ drive: 'write' }).field({
        type: ReceivedPart,
        description: `Stores one part of an upload to the files of ${whose}. Sending the same number again replaces it.`,
        rest: rest({
          route: `PUT ${uploads}/{upload_id}/parts/{part_number}`,
          also: 'POST',
          statuses: [400, 401, ...denied, 404, 409],
          fails: ['UPLOAD_INCOMPLETE', 'CHECKSUM_MISMATCH', 'UPLOAD_NOT_FOUND', 'UPLOAD_BUSY'],
          from: { part: 'raw', content_md5: 'header content-md5' },
        }),
        args: { ...part(t.arg), ...place(t.arg) },
        on,
        resolve: async (_root, { upload_id: id, part_number: number, part, content_md5: md5 }, context) => {
          const { services, caller, tree } = context
          const by = caller.userId
          return services.uploadSessions.addPart(tree, { id, by, number, part: await part, contentMd5: md5 })
        },
      }),
    )
  },
  rest,
)
