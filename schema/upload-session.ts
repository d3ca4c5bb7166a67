import { joinPath } from '../src/paths.ts'
import type { FileView } from '../src/services/listing.ts'
import type { UploadSessionView } from '../src/services/upload-session.ts'
import { builder, type InputFields } from './builder.ts'
import { File } from './file.ts'

const UploadPart = builder.objectRef<{ partNumber: number; url: string }>('UploadPart').implement({
  description: 'Where a part of a direct upload goes.',
  fields: t => ({
    partNumber: t.exposeInt('partNumber', { description: 'From 1 on.' }),
    url: t.exposeString('url', {
      description: 'Signed address of the blob store: PUT the raw bytes of the part there.',
    }),
  }),
})

/** What the list of its parts counts as: it has no pages. */
const COUNTED_PARTS = 2000

/** What REST shows of an upload depends on the route; GraphQL shows all of it everywhere. */
function implementSession(name: string, shown: { progress: boolean }) {
  const hidden = { restField: false } as const
  const [atTheStart, whileUnderWay] = shown.progress ? [hidden, {}] : [{}, hidden]
  return builder.objectRef<UploadSessionView>(name).implement({
    description: 'An upload in parts that is under way. Parts may come in any order, several at once, to any instance.',
    fields: t => ({
      id: t.exposeID('id', { restField: { name: 'upload_id' } }),
      filename: t.string({
        ...whileUnderWay,
        resolve: upload => upload.names.at(-1) ?? '',
      }),
      folder: t.exposeString('folder', {
        description: 'Path of the folder that the file is to be in.',
        ...whileUnderWay,
      }),
      size: t.expose('size', {
        type: 'Long',
        description: 'Bytes of the whole, as declared.',
        ...whileUnderWay,
      }),
      chunkSize: t.exposeInt('partSize', { description: 'Bytes of every part but the last, which has the rest.' }),
      partCount: t.exposeInt('partCount', {
        description: 'How many parts there are; an empty file has one, which is empty.',
        ...atTheStart,
      }),
      received: t.intList({
        description: 'Numbers of the parts that have arrived.',
        ...whileUnderWay,
        resolve: (upload, _args, { services }) => services.uploadSessions.received(upload),
      }),
      expiresAt: t.expose('expiresAt', {
        type: 'DateTime',
        description:
          'When it ends and gives everything back: a day after its last part; of a direct upload, after its beginning.',
      }),
      direct: t.exposeBoolean('direct', {
        description: 'Whether its parts go straight to the blob store.',
        restField: false,
      }),
      parts: t.field({
        type: [UploadPart],
        nullable: true,
        description: 'Where the parts of a direct upload go; null for others.',
        extensions: { listSize: COUNTED_PARTS },
        ...atTheStart,
        resolve: (upload, _args, { services }) => services.uploadSessions.addressesOf(upload),
      }),
    }),
  })
}

export const StartedUpload = implementSession('StartedUpload', { progress: false })
export const UploadSession = implementSession('UploadSession', { progress: true })

export const ReceivedPart = builder.objectRef<{ partNumber: number; size: number }>('ReceivedPart').implement({
  fields: t => ({
    partNumber: t.exposeInt('partNumber'),
    size: t.exposeInt('size', { description: 'Bytes.' }),
  }),
})

const CompletedUpload = builder.objectRef<{ uploadId: string; file: FileView }>('CompletedUpload').implement({
  fields: t => ({
    uploadId: t.exposeID('uploadId'),
    fileName: t.string({ description: 'Full path.', resolve: ({ file }) => joinPath(file.names) }),
    md5Checksum: t.string({
      description: 'MD5 of the whole, computed of what the store holds.',
      resolve: ({ file }) => file.md5,
    }),
    size: t.field({ type: 'Long', description: 'Bytes.', resolve: ({ file }) => file.size }),
    file: t.field({ type: File, resolve: ({ file }) => file }),
  }),
})

/** What is declared of a file that is to come. */
export const declaration = (t: InputFields) => ({
  filename: t.string({ required: true }),
  size: t.field({ type: 'Long', required: true, description: 'Bytes; reserved at once.' }),
  contentType: t.string({ description: 'Media type.' }),
  folder: t.string({ description: 'Path of the folder; missing ones are made when the upload is completed.' }),
  direct: t.boolean({ description: 'Send the parts straight to the blob store, to signed addresses.' }),
})

/** One part of an upload. */
export const part = (t: InputFields) => ({
  uploadId: t.id({ required: true }),
  partNumber: t.int({ required: true, description: 'From 1 on.' }),
  part: t.field({ type: 'Upload', required: true, description: 'Exactly the bytes of the part.' }),
  contentMd5: t.string({ description: 'MD5 of the part, in base64 (RFC 1864).' }),
})

/** What completes an upload. */
export const completion = (t: InputFields) => ({
  uploadId: t.id({ required: true }),
  md5: t.string({ description: 'MD5 of the whole in hex, to be compared.' }),
  sha256: t.string({ description: 'SHA-256 of the whole in hex, to be compared.' }),
  filename: t.string({ description: 'Another name than planned.' }),
  folder: t.string({ description: 'Another folder than planned.' }),
})

const StartUploadInput = builder.inputType('StartUploadInput', { fields: declaration })

builder.mutationField('startUpload', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: StartedUpload,
    description: 'Begins an upload in parts, which survives broken connections and restarts.',
    rest: { route: 'POST /api/files/uploads', errors: [400, 401, 409] },
    args: { input: t.arg({ type: StartUploadInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) =>
      services.uploadSessions.start(caller.bucket, input, caller.limits, caller.userId),
  }),
)

const UploadPartInput = builder.inputType('UploadPartInput', { fields: part })

builder.mutationField('uploadPart', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: ReceivedPart,
    description: 'Takes one part of an upload in. The same number again replaces it.',
    rest: {
      route: 'PUT /api/files/uploads/{upload_id}/parts/{part_number}',
      also: 'POST',
      errors: [400, 401, 404, 409],
      from: { part: 'raw', content_md5: 'header content-md5' },
    },
    args: { input: t.arg({ type: UploadPartInput, required: true }) },
    resolve: async (_root, { input: { uploadId, partNumber, part, contentMd5 } }, { services, caller }) =>
      services.uploadSessions.addPart(caller.bucket, uploadId, caller.userId, partNumber, await part, contentMd5),
  }),
)

builder.queryField('upload', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: UploadSession,
    description: 'An upload in parts of the caller: what has arrived, and until when it can go on.',
    rest: { route: 'GET /api/files/uploads/{upload_id}', errors: [401, 404], names: { id: 'upload_id' } },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { services, caller }) => services.uploadSessions.find(caller.bucket, id, caller.userId),
  }),
)

const CompleteUploadInput = builder.inputType('CompleteUploadInput', { fields: completion })

builder.mutationField('completeUpload', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: CompletedUpload,
    description: 'Makes the file of an upload whose parts have all arrived, and verifies it.',
    rest: { route: 'POST /api/files/uploads/{upload_id}/complete', errors: [400, 401, 404, 409] },
    args: { input: t.arg({ type: CompleteUploadInput, required: true }) },
    resolve: async (_root, { input: { uploadId, ...completion } }, { services, caller }) => ({
      uploadId,
      file: await services.uploadCompletions.complete(caller.bucket, uploadId, caller, completion),
    }),
  }),
)

const AbortUploadInput = builder.inputType('AbortUploadInput', {
  fields: t => ({ uploadId: t.id({ required: true }) }),
})

builder.mutationField('abortUpload', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: 'Void',
    nullable: true,
    description: 'Ends an upload that is not wanted any more; what it reserved is given back.',
    rest: { route: 'DELETE /api/files/uploads/{upload_id}', errors: [401, 404] },
    args: { input: t.arg({ type: AbortUploadInput, required: true }) },
    resolve: async (_root, { input }, { services, caller }) => {
      await services.uploadSessions.abort(caller.bucket, input.uploadId, caller.userId)
      return null
    },
  }),
)
