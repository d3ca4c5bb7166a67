import { InvalidInput } from '../src/errors.ts'
import { parseMode } from '../src/media.ts'
import type { FileView, FolderView } from '../src/services/listing.ts'
import { builder } from './builder.ts'
import { DownloadLink } from './share.ts'
import { slashed } from './workspace-entry.ts'

const UploadedWorkspaceFile = builder.objectRef<FileView & { workspaceId: string }>('UploadedWorkspaceFile').implement({
  description: 'A file that was just uploaded into a workspace.',
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    fileName: t.string({ resolve: file => file.names.at(-1) ?? '' }),
    fileType: t.exposeString('fileType'),
    size: t.expose('size', { type: 'Long' }),
    path: t.string({ description: 'Its folder.', resolve: file => slashed(file.names.slice(0, -1)) }),
    md5Checksum: t.exposeString('md5'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    uploadedBy: t.exposeID('createdBy', { nullable: true }),
  }),
})

const UploadWorkspaceFileInput = builder.inputType('UploadWorkspaceFileInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    file: t.field({ type: 'Upload', required: true }),
    folder: t.string({ description: 'Path of the folder; missing ones are made.' }),
  }),
})

builder.mutationField('uploadWorkspaceFile', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: [UploadedWorkspaceFile],
    description: 'Streams a file into a folder of a workspace.',
    rest: {
      route: 'POST /api/workspaces/{workspace_id}/files/upload',
      errors: [400, 401, 403, 409],
      from: { file: 'form', folder: 'form' },
    },
    args: { input: t.arg({ type: UploadWorkspaceFileInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, file, folder } }, { services, caller }) => {
      const { tree, limits } = await services.workspaces.enter(caller, workspaceId, 'write')
      return [{ ...(await services.files.upload(tree, await file, folder, limits, caller)), workspaceId }]
    },
  }),
)

type WithEmail<T> = T & { byEmail: string | null }

const WorkspaceTreeFile = builder.objectRef<WithEmail<FileView>>('WorkspaceTreeFile').implement({
  fields: t => ({
    id: t.exposeID('id'),
    name: t.string({ resolve: file => file.names.at(-1) ?? '' }),
    fileType: t.exposeString('fileType'),
    size: t.expose('size', { type: 'Long' }),
    md5Checksum: t.exposeString('md5'),
    uploadedBy: t.exposeID('createdBy', { nullable: true }),
    uploadedByEmail: t.exposeString('byEmail', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const WorkspaceTreeFolder = builder.objectRef<WithEmail<FolderView>>('WorkspaceTreeFolder').implement({
  fields: t => ({
    name: t.exposeString('name'),
    size: t.expose('size', { type: 'Long', description: 'Bytes of all files below it.' }),
    fileCount: t.expose('fileCount', { type: 'Long', description: 'All files below it.' }),
    createdByEmail: t.exposeString('byEmail', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was made, moved or renamed.' }),
  }),
})

interface WorkspaceTreeView {
  names: string[]
  files: WithEmail<FileView>[]
  folders: WithEmail<FolderView>[]
  nextCursor: string | null
}

const WorkspaceTree = builder.objectRef<WorkspaceTreeView>('WorkspaceTree').implement({
  description: 'One level of the files of a workspace.',
  fields: t => ({
    path: t.string({ resolve: tree => slashed(tree.names) }),
    files: t.field({ type: [WorkspaceTreeFile], resolve: tree => tree.files }),
    folders: t.field({ type: [WorkspaceTreeFolder], resolve: tree => tree.folders }),
    nextCursor: t.exposeString('nextCursor', { nullable: true }),
  }),
})

builder.queryField('workspaceFileTree', t =>
  t.withAuth({ workspaces: 'workspaces:files:read' }).field({
    type: WorkspaceTree,
    description: 'One level of the files of a workspace, folders first. An unknown path is empty.',
    rest: { route: 'GET /api/workspaces/{workspace_id}/files/tree', errors: [400, 401, 403] },
    args: {
      workspaceId: t.arg.id({ required: true }),
      path: t.arg.string(),
      limit: t.arg.int(),
      cursor: t.arg.string(),
    },
    resolve: async (_root, { workspaceId, path, ...page }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'see')
      const level = await services.listings.level(tree, path ?? '', page)
      const emails = await services.listings.emailsOf([...level.files, ...level.folders].map(e => e.createdBy))
      const withEmail = <T extends { createdBy: string | null }>(e: T) => ({
        ...e,
        byEmail: emails.get(e.createdBy ?? '') ?? null,
      })
      return { ...level, files: level.files.map(withEmail), folders: level.folders.map(withEmail) }
    },
  }),
)

const MovedWorkspacePath = builder
  .objectRef<{ source: string[]; destination: string[] }>('MovedWorkspacePath')
  .implement({
    fields: t => ({
      source: t.string({ resolve: moved => slashed(moved.source) }),
      destination: t.string({ resolve: moved => slashed(moved.destination) }),
    }),
  })

const MoveWorkspaceFileInput = builder.inputType('MoveWorkspaceFileInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    fileId: t.id({ description: 'With it, the destination is a folder and the name stays.' }),
    source: t.string({ description: 'Full path.' }),
    destination: t.string({ required: true, description: 'Full path, or a folder with fileId.' }),
  }),
})

builder.mutationField('moveWorkspaceFile', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: MovedWorkspacePath,
    description: 'Moves a file of a workspace.',
    rest: { route: 'PATCH /api/workspaces/{workspace_id}/files/move', errors: [400, 401, 403, 404, 409] },
    args: { input: t.arg({ type: MoveWorkspaceFileInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, fileId, source, destination } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      if (!fileId === !source)
        throw new InvalidInput('file_id', 'Name the file by file_id, or by source and destination.')
      if (fileId) return services.files.moveInto(tree, fileId, destination, caller.userId)
      return services.files.move(tree, source ?? '', destination, caller.userId)
    },
  }),
)

interface CreatedWorkspaceFolderView {
  id: string
  workspaceId: string
  names: string[]
  createdBy: string
  createdAt: number
}

const CreatedWorkspaceFolder = builder.objectRef<CreatedWorkspaceFolderView>('CreatedWorkspaceFolder').implement({
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    name: t.string({ resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({ description: 'Its parent.', resolve: folder => slashed(folder.names.slice(0, -1)) }),
    createdBy: t.exposeID('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const CreateWorkspaceFolderInput = builder.inputType('CreateWorkspaceFolderInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    folderName: t.string({ required: true }),
    parentPath: t.string({ description: 'The root without it; it must exist.' }),
  }),
})

builder.mutationField('createWorkspaceFolder', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: CreatedWorkspaceFolder,
    description: 'Makes a folder in a workspace.',
    rest: { route: 'POST /api/workspaces/{workspace_id}/files/mkdir', errors: [400, 401, 403, 404, 409] },
    rateLimit: 'folders',
    args: { input: t.arg({ type: CreateWorkspaceFolderInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, folderName, parentPath } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      const made = await services.folders.createIn(tree, parentPath ?? '', folderName, caller.userId)
      return { ...made, workspaceId, createdBy: caller.userId }
    },
  }),
)

const MovedWorkspaceFolder = builder
  .objectRef<{ source: string[]; destination: string[]; filesMoved: number }>('MovedWorkspaceFolder')
  .implement({
    fields: t => ({
      source: t.string({ resolve: moved => slashed(moved.source) }),
      destination: t.string({ resolve: moved => slashed(moved.destination) }),
      updated: t.expose('filesMoved', { type: 'Long', description: 'How many files have another path now.' }),
    }),
  })

const MoveWorkspaceFolderInput = builder.inputType('MoveWorkspaceFolderInput', {
  fields: t => ({
    workspaceId: t.id({ required: true }),
    source: t.string({ required: true, description: 'Full path.' }),
    destination: t.string({ required: true, description: 'Full path, with the new name.' }),
  }),
})

builder.mutationField('moveWorkspaceFolder', t =>
  t.withAuth({ workspaces: 'workspaces:files:write' }).field({
    type: MovedWorkspaceFolder,
    description: 'Moves a folder of a workspace with all that is in it.',
    rest: { route: 'PATCH /api/workspaces/{workspace_id}/files/folder/move', errors: [400, 401, 403, 404, 409] },
    args: { input: t.arg({ type: MoveWorkspaceFolderInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, source, destination } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      return services.folders.move(tree, source, destination, caller.userId)
    },
  }),
)

const DeletedWorkspaceFolder = builder
  .objectRef<{ names: string[]; filesDeleted: number }>('DeletedWorkspaceFolder')
  .implement({
    fields: t => ({
      folderDeleted: t.string({ resolve: deleted => slashed(deleted.names) }),
      filesDeleted: t.expose('filesDeleted', { type: 'Long' }),
    }),
  })

const DeleteWorkspaceFolderInput = builder.inputType('DeleteWorkspaceFolderInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), path: t.string({ required: true }) }),
})

builder.mutationField('deleteWorkspaceFolder', t =>
  t.withAuth({ workspaces: 'workspaces:files:delete' }).field({
    type: DeletedWorkspaceFolder,
    description: 'Deletes a folder of a workspace with all that is in it.',
    rest: { route: 'DELETE /api/workspaces/{workspace_id}/files/folder/delete', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: DeleteWorkspaceFolderInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, path } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      return services.folders.remove(tree, path, true)
    },
  }),
)

builder.queryField('workspaceDownload', t =>
  t.withAuth({ workspaces: 'workspaces:files:read' }).field({
    type: DownloadLink,
    description: 'A signed address for a file of a workspace.',
    rest: { route: 'GET /api/workspaces/{workspace_id}/files/download', errors: [400, 401, 403, 404], redirect: true },
    args: { workspaceId: t.arg.id({ required: true }), fileId: t.arg.id(), path: t.arg.string(), mode: t.arg.string() },
    resolve: async (_root, { workspaceId, fileId, path, mode }, { services, caller }) => {
      const wanted = parseMode(mode ?? undefined)
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'see')
      const file = await services.listings.file(tree, { id: fileId, path })
      return services.downloads.link({ ...file, name: file.names.at(-1) ?? '' }, wanted)
    },
  }),
)

const DeletedWorkspaceFile = builder.objectRef<{ names: string[] }>('DeletedWorkspaceFile').implement({
  fields: t => ({ fileDeleted: t.string({ resolve: deleted => slashed(deleted.names) }) }),
})

const DeleteWorkspaceFileInput = builder.inputType('DeleteWorkspaceFileInput', {
  fields: t => ({ workspaceId: t.id({ required: true }), fileId: t.id(), path: t.string() }),
})

builder.mutationField('deleteWorkspaceFile', t =>
  t.withAuth({ workspaces: 'workspaces:files:delete' }).field({
    type: DeletedWorkspaceFile,
    description: 'Deletes a file of a workspace.',
    rest: { route: 'DELETE /api/workspaces/{workspace_id}/files/delete', errors: [400, 401, 403, 404] },
    args: { input: t.arg({ type: DeleteWorkspaceFileInput, required: true }) },
    resolve: async (_root, { input: { workspaceId, fileId, path } }, { services, caller }) => {
      const { tree } = await services.workspaces.enter(caller, workspaceId, 'write')
      if (!fileId === !path) throw new InvalidInput('file_id', 'Give either the id or the path of the file.')
      return { names: await services.files.remove(tree, fileId ? { id: fileId } : { path: path ?? '', field: 'path' }) }
    },
  }),
)
