import { AppError, EarlierError } from '../../src/errors.ts'
import { parsePrefer } from '../../src/http/prefer.ts'
import type { OnConflict } from '../../src/on-conflict.ts'
import { joinPath } from '../../src/paths.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import type { CompletionView } from '../../src/services/uploads/background-completion.ts'
import { ifMatch, prefer } from './arguments.ts'
import { type Argument, type DriveContext, type Given, type ObjectFields, objectOf } from './builder.ts'
import { BYTES, FILE_PATH, MD5 } from './examples.ts'
import { File, named } from './files.ts'
import { operation } from './uploads.ts'

/** What completes an upload. */
export const completion = (arg: Argument) => ({
  if_match: arg.string(ifMatch),
  filename: arg.string({ description: 'Another name than planned.', example: 'report.pdf' }),
  folder: arg.string({ description: 'Another folder than planned.', example: 'docs' }),
  md5: arg.string({ description: 'Expected MD5 of the whole file, in hex.', example: MD5 }),
  prefer: arg.string(prefer),
  sha256: arg.string({
    description: 'Expected SHA-256 of the whole file, in hex.',
    example: 'd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d08ba9a3a5a08b5',
  }),
  upload_id: arg.id({ required: true }),
})

/** What a completion has stored, and its file as it is now: it may have been replaced since. */
export interface Stored {
  file: FileView
  md5: string
  size: number
}

type Completed = Stored & { uploadId: string }

/** What a completed upload shows beside its file. */
export const completedFields = (
  t: ObjectFields<Completed>,
  { pathOf, example }: { pathOf: (names: string[]) => string; example: string },
) => ({
  file_name: t.string({ description: 'Full path.', example, resolve: ({ file }) => pathOf(file.names) }),
  md5_checksum: t.exposeString('md5', {
    description: 'MD5 of the whole upload, computed from the stored bytes.',
    example: MD5,
  }),
  size: t.expose('size', { type: 'Long', description: 'Bytes of the whole upload.', example: BYTES }),
  upload_id: t.exposeID('uploadId'),
})

const CompletedUpload = objectOf<Completed>('CompletedUpload', t => ({
  file: t.field({ type: File, resolve: ({ file }) => file }),
  ...completedFields(t, { pathOf: joinPath, example: FILE_PATH }),
}))

/** What an upload has stored; null, and 202, while it is being completed in the background. */
export async function completeUpload(
  context: DriveContext,
  id: string,
  { if_match: expected, prefer, ...changes }: Omit<Given<typeof completion>, 'upload_id'>,
): Promise<Stored | null> {
  const { services, drive, tree, caller } = context
  const completion = { ...changes, expected, decide: (choice: OnConflict) => drive.onConflict(choice) }
  const { respondAsync, wait } = parsePrefer(prefer)
  if (!respondAsync) {
    const file = named(context, await services.uploadCompletions.complete(tree, id, caller, completion))
    return { file, md5: file.md5, size: file.size }
  }
  return outcomeOf(context, await services.backgroundCompletions.begin(tree, id, caller, completion, wait))
}

/** The outcome of a completion in the background, as `completeUpload` has it. */
export async function findOutcome(
  context: DriveContext,
  id: string,
  preferred: string | null | undefined,
): Promise<Stored | null> {
  const { services, tree, caller } = context
  const { wait = 0 } = parsePrefer(preferred)
  return outcomeOf(context, await services.backgroundCompletions.wait(tree, id, caller.userId, wait))
}

async function outcomeOf(context: DriveContext, view: CompletionView): Promise<Stored | null> {
  const { services, drive, tree, shared } = context
  const { id, state, size, checked, fileId, md5, failure } = view
  if (failure) throw new EarlierError(failure)
  if (state === 'completing') {
    const base = drive.workspace ? `/api/workspaces/${drive.workspace.id}` : '/api'
    shared.accepted = {
      location: `${base}/files/uploads/${id}/completion`,
      value: { upload_id: id, size, checked },
    }
    return null
  }
  const file = fileId === null ? null : await services.listings.byId(tree, fileId)
  // It was deleted meanwhile.
  if (!file || md5 === null) throw new AppError('UPLOAD_NOT_FOUND', 'The file of this upload has been deleted.')
  return { file: named(context, file), md5, size }
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

/** Those of its outcome, asked for later: the credential of that request is not the one of this. */
export const OUTCOME_FAILS = [...COMPLETION_FAILS, 'FORBIDDEN', 'REVISION_MISMATCH'] as const

export const OUTCOME =
  'What became of a completion that was asked to respond asynchronously: the answer that it would have given itself. 202 while it goes on; the file is told for a day, an error until the upload ends.'

export const outcomeArguments = (arg: Argument) => ({
  prefer: arg.string(prefer),
  upload_id: arg.id({ required: true }),
})

operation('POST /api/files/uploads/{upload_id}/complete', 'completeUpload', {
  description: 'Completes an upload whose parts have all arrived: verifies and creates the file.',
  auth: { drive: 'write' },
  statuses: [400, 401, 404, 409],
  fails: COMPLETION_FAILS,
  defers: true,
  args: completion,
  type: CompletedUpload,
  resolve: async ({ upload_id: uploadId, ...changes }, context) => {
    const stored = await completeUpload(context, uploadId, changes)
    return stored && { ...stored, uploadId }
  },
})

operation('GET /api/files/uploads/{upload_id}/completion', 'uploadCompletion', {
  description: OUTCOME,
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409, 412],
  fails: OUTCOME_FAILS,
  defers: true,
  args: outcomeArguments,
  type: CompletedUpload,
  resolve: async ({ upload_id: uploadId, prefer: preferred }, context) => {
    const stored = await findOutcome(context, uploadId, preferred)
    return stored && { ...stored, uploadId }
  },
})
