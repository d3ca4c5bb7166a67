import { slashed } from '../../src/paths.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import { ifMatchHeader, namedWorkspace } from './arguments.ts'
import { builder } from './builder.ts'
import { ALICE, BYTES, MD5, MEDIA_TYPE, WORKSPACE_FILE_PATH } from './examples.ts'
import { COMPLETION_FAILS, completedFields, completeUpload, completion, rest } from './uploads.ts'

interface UploadedFile extends FileView {
  workspaceId: string
  byEmail: string | null
}

const WorkspaceFile = builder.objectRef<UploadedFile>('WorkspaceFile').implement({
  description: 'A file of a workspace.',
  fields: t => ({
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
  }),
})

const CompletedWorkspaceUpload = builder
  .objectRef<{ uploadId: string; file: UploadedFile }>('CompletedWorkspaceUpload')
  .implement({
    fields: t => ({
      file: t.field({ type: WorkspaceFile, resolve: ({ file }) => file }),
      ...completedFields(t, { pathOf: slashed, example: WORKSPACE_FILE_PATH }),
    }),
  })

builder.mutationField('completeWorkspaceUpload', t =>
  t.withAuth({ drive: 'write' }).field({
    type: CompletedWorkspaceUpload,
    description: 'Completes an upload into a workspace whose parts have all arrived: verifies and creates the file.',
    rest: rest({
      route: 'POST /api/workspaces/{workspace_id}/files/uploads/{upload_id}/complete',
      statuses: [400, 401, 403, 404, 409],
      fails: COMPLETION_FAILS,
      from: ifMatchHeader,
    }),
    args: {
      ...completion(t.arg),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: async (_root, { workspace_id: workspaceId, upload_id: uploadId, ...changes }, context) => {
      const file = await completeUpload(context, uploadId, changes)
      const emails = await context.services.listings.emailsOf([file.createdBy])
      return { uploadId, file: { ...file, workspaceId, byEmail: emails.get(file.createdBy ?? '') ?? null } }
    },
  }),
)
