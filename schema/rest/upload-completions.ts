import type { Drive } from '../../src/access/drive.ts'
import { parsePrefer } from '../../src/http/prefer.ts'
import { AppError, EarlierError } from '../../src/runtime/errors.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import type { CompletionView } from '../../src/services/uploads/background-completion.ts'
import type { OnConflict } from '../../src/values/on-conflict.ts'
import { slashed } from '../../src/values/paths.ts'
import { ifMatch, prefer } from './arguments.ts'
import { type Argument, type DriveContext, type Given, objectOf } from './builder.ts'
import { named } from './changes.ts'
import {
  ALICE,
  BYTES,
  CRC32,
  FILE_PATH,
  MD5,
  MEDIA_TYPE,
  MODIFIED,
  WORKSPACE_FILE_PATH,
} from './examples.ts'
import { File } from './files.ts'
import { declareForOwners } from './owners.ts'
import { operation } from './uploads.ts'

/** The arguments of a completion. */
const completion = (arg: Argument) => ({
  if_match: arg.string(ifMatch),
  crc32: arg.string({ description: 'Expected CRC-32 of the whole file, in hex.', example: CRC32 }),
  filename: arg.string({ description: 'A different name for the file.', example: 'report.pdf' }),
  folder: arg.string({ description: 'A different folder.', example: 'docs' }),
  md5: arg.string({ description: 'Expected MD5 of the whole file, in hex.', example: MD5 }),
  prefer: arg.string(prefer),
  sha256: arg.string({
    description: 'Expected SHA-256 of the whole file, in hex.',
    example: 'd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d08ba9a3a5a08b5',
  }),
  upload_id: arg.id({ required: true }),
})

const WorkspaceFile = objectOf<FileView & { drive: Drive }>(
  'WorkspaceFile',
  'A file of a workspace.',
  t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
    folder: t.string({
      description: 'Path of its folder.',
      example: '/docs',
      resolve: file => slashed(file.names.slice(0, -1)),
    }),
    id: t.exposeID('id'),
    md5_checksum: t.exposeString('md5', {
      description: 'MD5 of the bytes, lower-case hex.',
      example: MD5,
    }),
    name: t.string({ example: 'report.pdf', resolve: file => file.names.at(-1) ?? '' }),
    path: t.string({
      description: 'Full path.',
      example: WORKSPACE_FILE_PATH,
      resolve: file => slashed(file.names),
    }),
    modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
    updated_at: t.expose('updatedAt', { type: 'DateTime' }),
    uploaded_by: t.exposeID('createdBy', { nullable: true }),
    uploaded_by_email: t.string({
      nullable: true,
      example: ALICE,
      resolve: async ({ createdBy }, _args, { services }) =>
        (await services.listings.emailsOf([createdBy])).get(createdBy ?? '') ?? null,
    }),
    workspace_id: t.id({ resolve: ({ drive }) => drive.workspace?.id ?? '' }),
  }),
)

/** The result of a completion, and its file as it is now. The file may have been replaced since. */
interface Completed {
  uploadId: string
  file: FileView
  md5: string
  size: number
  drive: Drive
}

const completed = (name: string, type: typeof File | typeof WorkspaceFile, path: string) =>
  objectOf<Completed>(name, t => ({
    file: t.field({ type, resolve: ({ file, drive }) => ({ ...file, drive }) }),
    file_name: t.string({
      description: 'Full path.',
      example: path,
      resolve: ({ file, drive }) => drive.pathOf(file.names),
    }),
    md5_checksum: t.exposeString('md5', {
      description: 'MD5 of the whole upload, computed from the stored bytes.',
      example: MD5,
    }),
    size: t.expose('size', {
      type: 'Long',
      description: 'Bytes of the whole upload.',
      example: BYTES,
    }),
    upload_id: t.exposeID('uploadId'),
  }))

const CompletedUpload = completed('CompletedUpload', File, FILE_PATH)
const CompletedWorkspaceUpload = completed(
  'CompletedWorkspaceUpload',
  WorkspaceFile,
  WORKSPACE_FILE_PATH,
)

/** The result of an upload; null with status 202 while it is completed in the background. */
async function completeUpload(
  context: DriveContext,
  id: string,
  { if_match: expected, prefer, ...changes }: Omit<Given<typeof completion>, 'upload_id'>,
): Promise<Completed | null> {
  const { services, drive, tree, caller } = context
  const completion = {
    ...changes,
    expected,
    decide: (choice: OnConflict) => drive.onConflict(choice),
  }
  const { respondAsync, wait } = parsePrefer(prefer)
  if (!respondAsync) {
    const file = named(
      context,
      await services.uploadCompletions.complete(
        tree,
        { id, by: caller.userId },
        caller,
        completion,
      ),
    )
    return { uploadId: id, file, md5: file.md5, size: file.size, drive }
  }
  return outcomeOf(
    context,
    await services.backgroundCompletions.begin(tree, id, caller, completion, wait),
  )
}

async function outcomeOf(context: DriveContext, view: CompletionView): Promise<Completed | null> {
  const { services, drive, tree, shared } = context
  const { id, state, size, checked, fileId, md5, failure } = view
  if (failure) throw new EarlierError(failure)
  if (state === 'completing') {
    const base = drive.workspace ? `/api/workspaces/${drive.workspace.id}` : '/api'
    shared.accepted = {
      location: `${base}/files/uploads/${id}/completion`,
      value: { upload_id: id, size, checked },
      isPreferred: true,
    }
    return null
  }
  const file = fileId === null ? null : await services.listings.byId(tree, fileId)
  // It was deleted meanwhile.
  if (!file || md5 === null)
    throw new AppError('UPLOAD_NOT_FOUND', 'The file of this upload was deleted.')
  return { uploadId: id, file: named(context, file), md5, size, drive }
}

const FAILS = [
  'INVALID_PATH',
  'QUOTA_EXCEEDED',
  'UPLOAD_INCOMPLETE',
  'CHECKSUM_MISMATCH',
  'FOLDER_NOT_FOUND',
  'UPLOAD_NOT_FOUND',
  'PATH_EXISTS',
  'UPLOAD_BUSY',
] as const

declareForOwners(
  operation,
  ({ base, operation, name, denied, of }) => {
    const upload = `${base}/files/uploads/{upload_id}` as const
    const type = of(CompletedUpload, CompletedWorkspaceUpload)

    operation(`POST ${upload}/complete`, name('complete', 'Upload'), {
      description: `Completes an upload${of('', ' into a workspace')} whose parts have all arrived: verifies and creates the file.`,
      auth: { drive: 'write' },
      statuses: [400, 401, ...denied, 404, 409],
      fails: FAILS,
      defers: true,
      args: completion,
      type,
      resolve: ({ upload_id: id, ...changes }, context) => completeUpload(context, id, changes),
    })

    operation(`GET ${upload}/completion`, name('', 'UploadCompletion'), {
      description:
        'The result of an asynchronous completion: the response of a synchronous completion, or 202 while it runs. A file is reported for a day, an error until the upload ends.',
      auth: { drive: 'write' },
      statuses: [400, 401, 403, 404, 409, 412],
      // The credential of this request may differ from that of the completion, which was not busy.
      fails: [...FAILS.filter(code => code !== 'UPLOAD_BUSY'), 'FORBIDDEN', 'REVISION_MISMATCH'],
      defers: true,
      args: arg => ({
        prefer: arg.string(prefer),
        upload_id: arg.id({ required: true }),
      }),
      type,
      resolve: async ({ upload_id: id, prefer: preferred }, context) => {
        const { services, tree, caller } = context
        const { wait = 0 } = parsePrefer(preferred)
        return outcomeOf(
          context,
          await services.backgroundCompletions.wait(tree, id, caller.userId, wait),
        )
      },
    })
  },
  operation,
)
