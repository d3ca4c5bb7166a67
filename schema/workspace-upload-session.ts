import type { FileView } from '../src/services/listing.ts'
import { builder } from './builder.ts'
import { completion, declaration, part, ReceivedPart, StartedUpload, UploadSession } from './upload-session.ts'
import { slashed, WorkspaceFile } from './workspace-entry.ts'

const CompletedWorkspaceUpload = builder
  .objectRef<{ uploadId: string; workspaceId: string; file: FileView }>('CompletedWorkspaceUpload')
  .implement({
    fields: t => ({
      uploadId: t.exposeID('uploadId'),
      fileName: t.string({ description: 'Full path.', resolve: ({ file }) => slashed(file.names) }),
      md5Checksum: t.string({
        description: 'MD5 of the whole, computed of what the store holds.',
        resolve: ({ file }) => file.md5,
      }),
      size: t.field({ type: 'Long', description: 'Bytes.', resolve: ({ file }) => file.size }),
      file: t.field({ type: WorkspaceFile, resolve: ({ file, workspaceId }) => ({ ...file, workspaceId }) }),
    }),
  })

const StartWorkspaceUploadInput = builder.inputType('StartWorkspaceUploadInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), ...declaration(t) }),
})

builder.mutationField('startWorkspaceUpload', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: StartedUpload,
    description: 'Begins an upload in parts into a workspace, which survives broken connections and restarts.',
    rest: { route: 'POST /api/workspaces/{workspace_id}/files/uploads', errors: [400, 401, 403, 409] },
    args: { input: t.arg({ type: StartWorkspaceUploadInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, ...upload } }, { services, caller }) => {
      const { tree, limits } = await services.workspaces.enter(caller, workspaceId, 'write')
      return services.uploadSessions.start(tree, upload, limits, caller.userId)
    },
  }),
)

const UploadWorkspacePartInput = builder.inputType('UploadWorkspacePartInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), ...part(t) }),
})

builder.mutationField('uploadWorkspacePart', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: ReceivedPart,
    description: 'Takes one part of an upload into a workspace in. The same number again replaces it.',
    rest: {
      route: 'PUT /api/workspaces/{workspace_id}/files/uploads/{upload_id}/parts/{part_number}',
      also: 'POST',
      errors: [400, 401, 403, 404, 409],
      from: { part: 'raw', content_md5: 'header content-md5' },
    },
    args: { input: t.arg({ type: UploadWorkspacePartInput, required: true }) },
    resolve: async (
      _root,
      { input: { workspaceId, uploadId, partNumber, part, contentMd5 } },
      { services, caller },
    ) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      return services.uploadSessions.addPart(tree, uploadId, caller.userId, partNumber, await part, contentMd5)
    },
  }),
)

builder.queryField('workspaceUpload', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: UploadSession,
    description: 'An upload in parts into a workspace, of the caller: what has arrived, and until when it can go on.',
    rest: {
      route: 'GET /api/workspaces/{workspace_id}/files/uploads/{upload_id}',
      errors: [401, 403, 404],
      names: { id: 'upload_id' },
    },
    args: { workspaceId: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
    resolve: async (_root, { workspaceId, id }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      return services.uploadSessions.find(tree, id, caller.userId)
    },
  }),
)

const CompleteWorkspaceUploadInput = builder.inputType('CompleteWorkspaceUploadInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), ...completion(t) }),
})

builder.mutationField('completeWorkspaceUpload', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: CompletedWorkspaceUpload,
    description: 'Makes the file of an upload into a workspace whose parts have all arrived, and verifies it.',
    rest: {
      route: 'POST /api/workspaces/{workspace_id}/files/uploads/{upload_id}/complete',
      errors: [400, 401, 403, 404, 409],
    },
    args: { input: t.arg({ type: CompleteWorkspaceUploadInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, uploadId, ...completion } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      const file = await services.uploadCompletions.complete(tree, uploadId, caller, completion)
      return { uploadId, workspaceId, file }
    },
  }),
)

const AbortWorkspaceUploadInput = builder.inputType('AbortWorkspaceUploadInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), uploadId: t.id({ required: true }) }),
})

builder.mutationField('abortWorkspaceUpload', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: 'Void',
    nullable: true,
    description: 'Ends an upload into a workspace that is not wanted any more.',
    rest: { route: 'DELETE /api/workspaces/{workspace_id}/files/uploads/{upload_id}', errors: [401, 403, 404] },
    args: { input: t.arg({ type: AbortWorkspaceUploadInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, uploadId } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      await services.uploadSessions.abort(tree, uploadId, caller.userId)
      return null
    },
  }),
)
