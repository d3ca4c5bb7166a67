import { InvalidInput } from '../../src/runtime/errors.ts'
import type { FileView, FolderView, ListedFile } from '../../src/services/tree/listing.ts'
import { parseMode } from '../../src/values/media.ts'
import { slashed } from '../../src/values/paths.ts'
import { ifMatch, mode, modifiedAt, onConflict, paged } from './arguments.ts'
import { objectOf } from './builder.ts'
import { deleteFile, moveFile, moveFileInto } from './changes.ts'
import { ALICE, BYTES, CURSOR, MD5, MEDIA_TYPE, MODIFIED, WORKSPACE_FILE_PATH } from './examples.ts'
import { uploadFile } from './files.ts'
import { ofWorkspaceFiles as operation } from './owners.ts'

operation('GET /api/workspaces/{workspace_id}/files/download', 'workspaceDownload', {
  description: 'Downloads a file of a workspace.',
  // The scope is also declared here, so that it is checked before the mode is read.
  auth: { workspaces: 'workspaces:files:read', drive: 'read' },
  statuses: [400, 401, 403, 404],
  fails: ['INVALID_PATH', 'INVALID_MODE', 'FILE_NOT_FOUND'],
  args: arg => ({
    file_id: arg.id(),
    mode: arg.string(mode),
    path: arg.string({ example: WORKSPACE_FILE_PATH }),
  }),
  on: ({ workspace_id: workspaceId, mode }) => {
    // An invalid mode is refused before the caller's permission is checked.
    parseMode(mode ?? undefined)
    return { workspaceId }
  },
  type: 'Download',
  resolve: async ({ file_id: fileId, path, mode }, { services, tree }) => {
    const file = await services.listings.file(tree, { id: fileId, path })
    return services.downloads.link(
      { ...file, name: file.names.at(-1) ?? '' },
      parseMode(mode ?? undefined),
    )
  },
})

type WithEmail<T> = T & { byEmail: string | null }

const WorkspaceTreeFile = objectOf<WithEmail<ListedFile>>('WorkspaceTreeFile', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
  id: t.exposeID('id'),
  md5_checksum: t.exposeString('md5', { example: MD5 }),
  modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
  name: t.exposeString('name', { example: 'report.pdf' }),
  size: t.expose('size', { type: 'Long', example: BYTES }),
  uploaded_by: t.exposeID('createdBy', { nullable: true }),
  uploaded_by_email: t.exposeString('byEmail', { nullable: true, example: ALICE }),
}))

const WorkspaceTreeFolder = objectOf<WithEmail<FolderView>>('WorkspaceTreeFolder', t => ({
  created_at: t.expose('createdAt', { type: 'DateTime' }),
  created_by_email: t.exposeString('byEmail', { nullable: true, example: ALICE }),
  file_count: t.expose('fileCount', { type: 'Long', description: 'Number of all files below it.' }),
  name: t.exposeString('name', { example: '2026' }),
  size: t.expose('size', {
    type: 'Long',
    description: 'Bytes of all files below it.',
    example: BYTES,
  }),
  updated_at: t.expose('updatedAt', {
    type: 'DateTime',
    description: 'When it was created, moved or renamed.',
  }),
}))

interface WorkspaceLevel {
  names: string[]
  files: WithEmail<ListedFile>[]
  folders: WithEmail<FolderView>[]
  nextCursor: string | null
}

const WorkspaceTree = objectOf<WorkspaceLevel>(
  'WorkspaceTree',
  'One level of the files of a workspace.',
  t => ({
    files: t.field({ type: [WorkspaceTreeFile], resolve: tree => tree.files }),
    folders: t.field({ type: [WorkspaceTreeFolder], resolve: tree => tree.folders }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
    path: t.string({ example: '/docs', resolve: tree => slashed(tree.names) }),
  }),
)

operation('GET /api/workspaces/{workspace_id}/files/tree', 'workspaceFileTree', {
  description: 'One level of the files of a workspace, folders first. An unknown path is empty.',
  auth: { drive: 'read' },
  statuses: [400, 401, 403],
  fails: ['INVALID_PATH'],
  args: arg => ({ ...paged(arg), path: arg.string({ example: '/docs' }) }),
  type: WorkspaceTree,
  resolve: async ({ workspace_id: _id, path, ...page }, { services, tree }) => {
    const level = await services.listings.level(tree, path ?? '', page)
    const emails = await services.listings.emailsOf(
      [...level.files, ...level.folders].map(e => e.createdBy),
    )
    const withEmail = <T extends { createdBy: string | null }>(e: T) => ({
      ...e,
      byEmail: emails.get(e.createdBy ?? '') ?? null,
    })
    return { ...level, files: level.files.map(withEmail), folders: level.folders.map(withEmail) }
  },
})

const DeletedWorkspaceFile = objectOf<{ names: string[] }>('DeletedWorkspaceFile', t => ({
  file_deleted: t.string({
    example: WORKSPACE_FILE_PATH,
    resolve: deleted => slashed(deleted.names),
  }),
}))

operation('DELETE /api/workspaces/{workspace_id}/files/delete', 'deleteWorkspaceFile', {
  description: 'Deletes a file of a workspace.',
  auth: { drive: 'delete' },
  statuses: [400, 401, 403, 404],
  fails: ['INVALID_PATH', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  args: arg => ({
    file_id: arg.id(),
    if_match: arg.string(ifMatch),
    path: arg.string({ example: WORKSPACE_FILE_PATH }),
  }),
  type: DeletedWorkspaceFile,
  resolve: async ({ file_id: fileId, path, if_match: expected }, context) => {
    if (!fileId === !path)
      throw new InvalidInput('file_id', 'Give either the id or the path of the file.')
    const file = fileId ? { id: fileId } : { path: path ?? '' }
    return deleteFile(file, 'path', expected, context)
  },
})

const MovedWorkspacePath = objectOf<{ source: string[]; destination: string[] }>(
  'MovedWorkspacePath',
  t => ({
    destination: t.string({
      example: '/archive/report.pdf',
      resolve: moved => slashed(moved.destination),
    }),
    source: t.string({ example: WORKSPACE_FILE_PATH, resolve: moved => slashed(moved.source) }),
  }),
)

operation('PATCH /api/workspaces/{workspace_id}/files/move', 'moveWorkspaceFile', {
  description: 'Moves a file of a workspace.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 404, 409],
  fails: ['INVALID_PATH', 'QUOTA_EXCEEDED', 'FILE_NOT_FOUND', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  args: arg => ({
    if_match: arg.string(ifMatch),
    on_conflict: arg.string(onConflict),
    destination: arg.string({
      required: true,
      description: 'Full path, or a folder with file_id.',
      example: '/archive/report.pdf',
    }),
    file_id: arg.id({
      description: 'If it is given, the destination is a folder and the name is kept.',
    }),
    source: arg.string({ description: 'Full path.', example: WORKSPACE_FILE_PATH }),
  }),
  type: MovedWorkspacePath,
  resolve: async ({ file_id: fileId, source, ...to }, context) => {
    if (!fileId === !source)
      throw new InvalidInput('file_id', 'Name the file by file_id, or by source and destination.')
    return fileId
      ? moveFileInto(fileId, to.destination, to, context)
      : moveFile({ ...to, source: source ?? '' }, context)
  },
})

const UploadedWorkspaceFile = objectOf<FileView & { workspaceId: string }>(
  'UploadedWorkspaceFile',
  'A file that was just uploaded into a workspace.',
  t => ({
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    file_name: t.string({ example: 'report.pdf', resolve: file => file.names.at(-1) ?? '' }),
    file_type: t.exposeString('fileType', { example: MEDIA_TYPE }),
    id: t.exposeID('id'),
    md5_checksum: t.exposeString('md5', { example: MD5 }),
    modified_at: t.expose('modifiedAt', { type: 'DateTime', description: MODIFIED }),
    path: t.string({
      description: 'Its folder.',
      example: '/docs',
      resolve: file => slashed(file.names.slice(0, -1)),
    }),
    size: t.expose('size', { type: 'Long', example: BYTES }),
    uploaded_by: t.exposeID('createdBy', { nullable: true }),
    workspace_id: t.exposeID('workspaceId'),
  }),
)

operation('POST /api/workspaces/{workspace_id}/files/upload', 'uploadWorkspaceFile', {
  description: 'Streams a file into a folder of a workspace.',
  auth: { drive: 'write' },
  statuses: [400, 401, 403, 409],
  fails: ['INVALID_PATH', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED', 'FOLDER_NOT_FOUND', 'PATH_EXISTS'],
  from: { file: 'form', folder: 'form', modified_at: 'form', on_conflict: 'form' },
  args: arg => ({
    file: arg({ type: 'Upload', required: true }),
    folder: arg.string({
      description: 'Path of the folder; missing ones are created.',
      example: '/docs',
    }),
    if_match: arg.string(ifMatch),
    modified_at: modifiedAt(arg),
    on_conflict: arg.string(onConflict),
  }),
  type: [UploadedWorkspaceFile],
  resolve: async (
    {
      workspace_id: workspaceId,
      file,
      folder,
      on_conflict: choice,
      modified_at: time,
      if_match: expected,
    },
    context,
  ) => [
    {
      ...(await uploadFile(
        context,
        await file,
        { folder, onConflict: choice, modifiedAt: time },
        expected,
      )),
      workspaceId,
    },
  ],
})
