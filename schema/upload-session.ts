import type { InputShapeFromFields } from '@pothos/core'
import { completionStates } from '../db/models/upload-session.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import { AppError } from '../src/runtime/errors.ts'
import type {
  CompletionView,
  CompletionFailure as Failure,
} from '../src/services/uploads/background-completion.ts'
import type { Completion } from '../src/services/uploads/upload-completion.ts'
import type { UploadSessionView } from '../src/services/uploads/upload-session-view.ts'
import { findDriveOf } from './access.ts'
import { batchSeen } from './batch.ts'
import { builder, type InputFields } from './builder.ts'
import { findInDrive, folderField, modifiedAtInput } from './entry.ts'
import { madeEntry } from './entry-change.ts'
import { ErrorCode, enumOf, OnConflict } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Drive, File } from './refs.ts'

const UploadPart = builder.objectRef<{ partNumber: number; url: string }>('UploadPart').implement({
  description: 'The destination of a part of a direct upload.',
  fields: t => ({
    number: t.exposeInt('partNumber', { description: 'From 1 on.' }),
    url: t.expose('url', {
      type: 'URL',
      description: 'Signed URL of the blob store: PUT the raw bytes of the part there.',
    }),
  }),
})

/** The cost of the list of its parts, which has no pages. */
const COUNTED_PARTS = 2000

const CompletionState = enumOf('CompletionState', 'The state of a completion.', completionStates)

const CompletionFailure = builder.objectRef<Failure>('CompletionFailure').implement({
  description:
    'Why an upload could not be completed. The upload can continue and be completed again.',
  fields: t => ({
    code: t.field({ type: ErrorCode, description: 'For programs.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'An explanation that says what to do.' }),
    missing: t.intList({
      nullable: true,
      description: 'With UPLOAD_INCOMPLETE: numbers of parts that have not arrived, up to 1,000.',
      listSize: 1000,
      resolve: ({ details: { missing } }) => (Array.isArray(missing) ? missing : null),
    }),
  }),
})

type CompletionNode = CompletionView & { drive: DriveValue }

const UploadCompletion = builder.objectRef<CompletionNode>('UploadCompletion').implement({
  description: 'A completion that continues after its request.',
  fields: t => ({
    state: t.expose('state', { type: CompletionState, description: 'Its state.' }),
    checked: t.expose('checked', {
      type: 'Bytes',
      description: 'Bytes that were read again so far, if that is needed.',
    }),
    failure: t.expose('failure', {
      type: CompletionFailure,
      nullable: true,
      description: 'Why it failed.',
    }),
    md5: t.exposeString('md5', {
      nullable: true,
      description:
        'MD5 of the stored bytes in lower-case hex; null until the completion has ended. Compare this one: `file` may have been replaced since.',
    }),
    file: t.field({
      type: File,
      nullable: true,
      description:
        'The new file, or the existing file with its new content; null until the completion has ended, and after the file was deleted.',
      resolve: async ({ fileId, drive }, _args, context) => {
        const found = fileId === null ? null : await findInDrive(context, drive, fileId)
        return found && { ...found, drive }
      },
    }),
  }),
})

type UploadSessionNode = UploadSessionView & {
  drive: DriveValue
  completion?: CompletionView | null
}

const UploadSession = builder.objectRef<UploadSessionNode>('UploadSession').implement({
  description:
    'An unfinished multipart upload. Parts may be sent in any order, several at a time, to any instance.',
  interfaces: [Node],
  fields: t => ({
    drive: t.expose('drive', { type: Drive, description: 'The destination drive.' }),
    fileName: t.string({
      description: 'The name of the new file.',
      resolve: ({ names }) => names.at(-1) ?? '',
    }),
    folder: t.exposeString('folder', { description: 'Path of the destination folder.' }),
    size: t.expose('size', { type: 'Bytes', description: 'Declared size of the file in bytes.' }),
    chunkSize: t.exposeInt('partSize', {
      description: 'Size of every part in bytes, except the last one.',
    }),
    partCount: t.exposeInt('partCount', {
      description: 'How many parts there are; an empty file has one, which is empty.',
    }),
    received: t.intList({
      description: 'Numbers of the parts that have arrived.',
      listSize: COUNTED_PARTS,
      resolve: (upload, _args, { services }) => services.uploadSessions.received(upload),
    }),
    direct: t.exposeBoolean('direct', {
      description: 'Whether its parts are sent directly to the blob store.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description:
        'When it expires and releases its reservation: a day after its last part; for a direct upload, a day after its beginning.',
    }),
    completion: t.field({
      type: UploadCompletion,
      nullable: true,
      description:
        'Its completion by beginCompletion; null if there is none. Available for a day after it has ended.',
      resolve: async ({ id, drive, maker, completion }, _args, { services }) => {
        const found =
          completion ?? (await services.backgroundCompletions.findIfAny(drive.id, id, maker))
        return found && { ...found, drive }
      },
    }),
    parts: t.field({
      type: [UploadPart],
      nullable: true,
      description: 'The destinations of the parts of a direct upload; null for others.',
      listSize: COUNTED_PARTS,
      resolve: (upload, _args, { services }) => services.uploadSessions.addressesOf(upload),
    }),
  }),
})

const startedUploads = batchSeen(({ uploadSessions }, caller, ids) =>
  uploadSessions.startedAmong(caller.userId, ids),
)

findable('upload_session', 'UploadSession', async (context, caller, id) => {
  const drive = await findDriveOf(context, caller, 'upload', id)
  if (!drive) return null
  const { tree } = drive.open('write')
  const started = await startedUploads(context, id)
  const session = started
    ? context.services.uploadSessions.inTree(tree, caller.userId, started)
    : null
  return session && { ...session, drive }
})

mutation('startUpload', {
  description: 'Starts a multipart upload, which survives broken connections and restarts.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'FOLDER_NOT_FOUND',
    'PATH_EXISTS',
    'FILE_TOO_LARGE',
    'QUOTA_EXCEEDED',
    'SHARE_FULL',
  ],
  places: { filename: 'fileName', modified_at: 'modifiedAt' },
  input: t => ({
    drive: t.id({
      description:
        "The id of the drive, or of a share that the caller may edit; by default the caller's own drive.",
    }),
    folder: t.string({
      description: 'Path of the folder; missing folders are created when the upload is completed.',
    }),
    fileName: t.string({ required: true, description: 'The name of the new file.' }),
    size: t.field({
      type: 'Bytes',
      required: true,
      description: 'Size of the file in bytes; reserved at once.',
    }),
    contentType: t.string({ description: 'Its media type.' }),
    modifiedAt: modifiedAtInput(t),
    direct: t.boolean({
      description: 'Whether to send the parts directly to the blob store, to signed URLs.',
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What to do if the name is taken at the end; by default FAIL.',
    }),
  }),
  on: ({ drive }) => ({ driveId: drive, orShare: true }),
  resolve: async (
    { drive: _id, fileName: filename, ...upload },
    { services, drive, tree, limits, caller },
  ) => {
    const declared = { ...upload, filename, onConflict: drive.onConflict(upload.onConflict) }
    const session = await services.uploadSessions.start(tree, declared, limits, caller.userId)
    return { uploadSession: { ...session, drive } }
  },
  payload: t => ({
    uploadSession: t.expose('uploadSession', { type: UploadSession, description: 'The upload.' }),
  }),
})

mutation('uploadPart', {
  description: 'Receives one part of an upload. Sending the same number again replaces the part.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_BUSY',
    'UPLOAD_INCOMPLETE',
    'CHECKSUM_MISMATCH',
  ],
  places: { part_number: 'number', content_md5: 'md5', file: 'part' },
  input: t => ({
    uploadSession: t.id({ required: true, description: 'The id of the upload.' }),
    number: t.int({ required: true, description: 'From 1 on.' }),
    part: t.field({
      type: 'Upload',
      required: true,
      description: 'The bytes of the part.',
    }),
    md5: t.string({ description: 'MD5 of the part, in base64 (RFC 1864).' }),
  }),
  on: ({ uploadSession }) => ({ upload: uploadSession }),
  resolve: async ({ uploadSession: id, number, part, md5 }, { services, drive, tree, caller }) => {
    const { uploadSessions } = services
    const { size, crc32 } = await uploadSessions.addPart(tree, {
      id,
      by: caller.userId,
      number,
      part: await part,
      contentMd5: md5,
    })
    return { drive, id, number, size, crc32 }
  },
  payload: t => ({
    uploadSession: t.withAuth({ drive: 'write' }).field({
      type: UploadSession,
      description: 'The upload.',
      resolve: async ({ id, drive }, _args, { services, tree, caller }) => ({
        ...(await services.uploadSessions.find(tree, id, caller.userId)),
        drive,
      }),
    }),
    number: t.exposeInt('number', { description: 'The number of the part.' }),
    size: t.expose('size', { type: 'Bytes', description: 'Its bytes.' }),
    crc32: t.exposeString('crc32', {
      description:
        'CRC-32 of the stored bytes in hex, as in gzip: compare it with that of the sent bytes.',
    }),
  }),
})

const completionInput = (t: InputFields) => ({
  uploadSession: t.id({ required: true, description: 'The id of the upload.' }),
  fileName: t.string({ description: 'A different name for the file.' }),
  folder: t.string({ description: 'Path of a different folder.' }),
  md5: t.string({ description: 'MD5 of the whole file in hex, to verify.' }),
  crc32: t.string({ description: 'CRC-32 of the whole file in hex, to verify.' }),
  sha256: t.string({ description: 'SHA-256 of the whole file in hex, to verify.' }),
  expectedRevision: t.int({
    description:
      'The expected revision of the existing file; fails with REVISION_MISMATCH if it has another one.',
  }),
})

const completionOf = (
  {
    fileName: filename,
    expectedRevision: expected,
    ...given
  }: Omit<InputShapeFromFields<ReturnType<typeof completionInput>>, 'uploadSession'>,
  drive: DriveValue,
): Completion => ({ ...given, filename, expected, decide: choice => drive.onConflict(choice) })

mutation('completeUpload', {
  description:
    'Completes an upload after all parts have arrived: creates the file and verifies it.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'FOLDER_NOT_FOUND',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_BUSY',
    'UPLOAD_INCOMPLETE',
    'CHECKSUM_MISMATCH',
    'PATH_EXISTS',
    'QUOTA_EXCEEDED',
    'SHARE_FULL',
    'REVISION_MISMATCH',
  ],
  places: { filename: 'fileName' },
  input: completionInput,
  on: ({ uploadSession }) => ({ upload: uploadSession }),
  resolve: async ({ uploadSession: completedId, ...input }, context) => {
    const { services, drive, tree, caller } = context
    const given = completionOf(input, drive)
    const upload = { id: completedId, by: caller.userId }
    const { id } = await services.uploadCompletions.complete(tree, upload, caller, given)
    return { drive, completedId, file: await madeEntry(context, drive, id) }
  },
  payload: t => ({
    file: t.expose('file', {
      type: File,
      description: 'The new file, or the existing file with its new content.',
    }),
    folder: folderField(t, payload => payload.file),
    drive: t.expose('drive', { type: Drive, description: 'Its drive.' }),
    completedId: t.exposeID('completedId', {
      description: 'The id of the aborted upload.',
    }),
  }),
})

mutation('beginCompletion', {
  description:
    'Completes an upload like completeUpload, but in the background. A completion that is running or done is not started again. See `completion` of the upload for the result.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_BUSY',
    'PATH_EXISTS',
    'REVISION_MISMATCH',
  ],
  places: { filename: 'fileName' },
  input: t => ({
    ...completionInput(t),
    wait: t.int({ description: 'Seconds to wait for the completion, 0 to 10; by default 2.' }),
  }),
  on: ({ uploadSession }) => ({ upload: uploadSession }),
  resolve: async ({ uploadSession: id, wait, ...input }, context) => {
    const { services, drive, tree, caller } = context
    const given = completionOf(input, drive)
    const completion = await services.backgroundCompletions.begin(tree, id, caller, given, wait)
    const started = await startedUploads(context, id)
    const session = started ? services.uploadSessions.inTree(tree, caller.userId, started) : null
    if (!session) throw new AppError('UPLOAD_NOT_FOUND', 'This upload has ended meanwhile.')
    return { uploadSession: { ...session, drive, completion } }
  },
  payload: t => ({
    uploadSession: t.expose('uploadSession', { type: UploadSession, description: 'The upload.' }),
  }),
})

mutation('abortUpload', {
  description: 'Aborts an upload and releases its reservation.',
  auth: { drive: 'write' },
  fails: ['UPLOAD_NOT_FOUND'],
  input: t => ({ uploadSession: t.id({ required: true, description: 'The id of the upload.' }) }),
  on: ({ uploadSession }) => ({ upload: uploadSession }),
  resolve: async ({ uploadSession: abortedId }, { services, drive, tree, caller }) => {
    await services.uploadSessions.abort(tree, abortedId, caller.userId)
    return { abortedId, drive }
  },
  payload: t => ({
    abortedId: t.exposeID('abortedId', { description: 'The id of the aborted upload.' }),
    drive: t.expose('drive', { type: Drive, description: 'The destination drive.' }),
  }),
})
