import { slashed } from '../../src/paths.ts'
import type { FileView } from '../../src/services/tree/listing.ts'
import { ifMatchHeader, namedWorkspace } from './arguments.ts'
import { builder } from './builder.ts'
import { ALICE, BYTES, MD5, MEDIA_TYPE, WORKSPACE_FILE_PATH } from './examples.ts'
import {
  abortUpload,
  addPart,
  COMPLETION_FAILS,
  completedFields,
  completeUpload,
  completion,
  declaration,
  findUpload,
  part,
  ReceivedPart,
  rest,
  StartedUpload,
  startUpload,
  UploadSession,
} from './uploads.ts'

builder.queryField('workspaceUpload', t =>
  t.withAuth({ drive: 'write' }).field({
    type: UploadSession,
    description: 'An upload in parts into a workspace, of the caller: which parts have arrived, and when it expires.',
    rest: rest({
      route: 'GET /api/workspaces/{workspace_id}/files/uploads/{upload_id}',
      statuses: [401, 403, 404],
      fails: ['UPLOAD_NOT_FOUND'],
    }),
    args: {
      upload_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: findUpload,
  }),
)

builder.mutationField('abortWorkspaceUpload', t =>
  t.withAuth({ drive: 'write' }).field({
    type: 'Void',
    nullable: true,
    description: 'Aborts an upload into a workspace.',
    rest: rest({
      route: 'DELETE /api/workspaces/{workspace_id}/files/uploads/{upload_id}',
      statuses: [401, 403, 404],
      fails: ['UPLOAD_NOT_FOUND'],
    }),
    args: {
      upload_id: t.arg.id({ required: true }),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: abortUpload,
  }),
)

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

builder.mutationField('startWorkspaceUpload', t =>
  t.withAuth({ drive: 'write' }).field({
    type: StartedUpload,
    description: 'Starts an upload in parts into a workspace, which survives broken connections and restarts.',
    rest: rest({
      route: 'POST /api/workspaces/{workspace_id}/files/uploads',
      statuses: [400, 401, 403, 409],
      fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
    }),
    args: {
      ...declaration(t.arg),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: startUpload,
  }),
)

builder.mutationField('uploadWorkspacePart', t =>
  t.withAuth({ drive: 'write' }).field({
    type: ReceivedPart,
    description: 'Stores one part of an upload into a workspace. Sending the same number again replaces it.',
    rest: rest({
      route: 'PUT /api/workspaces/{workspace_id}/files/uploads/{upload_id}/parts/{part_number}',
      also: 'POST',
      statuses: [400, 401, 403, 404, 409],
      fails: ['UPLOAD_INCOMPLETE', 'CHECKSUM_MISMATCH', 'UPLOAD_NOT_FOUND', 'UPLOAD_BUSY'],
      from: { part: 'raw', content_md5: 'header content-md5' },
    }),
    args: {
      ...part(t.arg),
      workspace_id: t.arg.id({ required: true }),
    },
    on: namedWorkspace,
    resolve: addPart,
  }),
)
