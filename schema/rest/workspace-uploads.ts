import { slashed } from '../../src/paths.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import { type DriveContext, objectOf } from './builder.ts'
import { ALICE, BYTES, MD5, MEDIA_TYPE, WORKSPACE_FILE_PATH } from './examples.ts'
import {
  COMPLETION_FAILS,
  completedFields,
  completeUpload,
  completion,
  findOutcome,
  OUTCOME,
  OUTCOME_FAILS,
  outcomeArguments,
  type Stored,
} from './upload-completions.ts'
import { operation } from './uploads.ts'

interface UploadedFile extends FileView {
  workspaceId: string
  byEmail: string | null
}

const WorkspaceFile = objectOf<UploadedFile>('WorkspaceFile', 'A file of a workspace.', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  file_type: t.exposeString('fileType', { description: 'Media type.', example: MEDIA_TYPE }),
  folder: t.string({
    description: 'Path of its folder.',
    example: '/docs',
    resolve: file => slashed(file.names.slice(0, -1)),
  }),
  id: t.exposeID('id'),
  md5_checksum: t.exposeString('md5', { description: 'MD5 of the bytes, lower-case hex.', example: MD5 }),
  name: t.string({ example: 'report.pdf', resolve: file => file.names.at(-1) ?? '' }),
  path: t.string({ description: 'Full path.', example: WORKSPACE_FILE_PATH, resolve: file => slashed(file.names) }),
  size: t.expose('size', { type: 'Long', description: 'Bytes.', example: BYTES }),
  updated_at: t.expose('updatedAt', { type: 'DateTime' }),
  uploaded_by: t.exposeID('createdBy', { nullable: true }),
  uploaded_by_email: t.exposeString('byEmail', { nullable: true, example: ALICE }),
  workspace_id: t.exposeID('workspaceId'),
}))

const CompletedWorkspaceUpload = objectOf<Stored & { uploadId: string; file: UploadedFile }>(
  'CompletedWorkspaceUpload',
  t => ({
    file: t.field({ type: WorkspaceFile, resolve: ({ file }) => file }),
    ...completedFields(t, { pathOf: slashed, example: WORKSPACE_FILE_PATH }),
  }),
)

async function completed(context: DriveContext, workspaceId: string, uploadId: string, stored: Stored | null) {
  if (!stored) return null
  const { file } = stored
  const emails = await context.services.listings.emailsOf([file.createdBy])
  return { ...stored, uploadId, file: { ...file, workspaceId, byEmail: emails.get(file.createdBy ?? '') ?? null } }
}

operation('POST /api/workspaces/{workspace_id}/files/uploads/{upload_id}/complete', 'completeWorkspaceUpload', {
  description: 'Completes an upload into a workspace whose parts have all arrived: verifies and creates the file.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: COMPLETION_FAILS,
  defers: true,
  args: completion,
  type: CompletedWorkspaceUpload,
  resolve: async ({ workspace_id: workspaceId, upload_id: id, ...changes }, context) =>
    completed(context, workspaceId, id, await completeUpload(context, id, changes)),
})

operation('GET /api/workspaces/{workspace_id}/files/uploads/{upload_id}/completion', 'workspaceUploadCompletion', {
  description: OUTCOME,
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409, 412],
  fails: OUTCOME_FAILS,
  defers: true,
  args: outcomeArguments,
  type: CompletedWorkspaceUpload,
  resolve: async ({ workspace_id: workspaceId, upload_id: id, prefer: preferred }, context) =>
    completed(context, workspaceId, id, await findOutcome(context, id, preferred)),
})
