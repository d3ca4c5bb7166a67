import { FOLDER } from '../db/models/entry.ts'
import type { Caller } from '../src/auth/caller.ts'
import { joinPath, parsePath } from '../src/paths.ts'
import type { Services } from '../src/services/index.ts'
import { builder } from './builder.ts'
import { filesIn, foldersIn } from './entry.ts'
import { File } from './file.ts'
import { Node } from './node.ts'

/** A folder with its path; the root has none. Its totals are in the row: no counting. */
export interface FolderNode {
  id: string
  names: string[]
  createdAt: number
}

export const Folder = builder.objectRef<FolderNode>('Folder')

Folder.implement({
  description: 'A folder of the caller.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id'),
    name: t.string({ resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({ resolve: folder => joinPath(folder.names) }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    folders: t.withAuth({ privateFiles: 'read' }).connection(
      {
        type: Folder,
        restField: false,
        description: 'The folders in it, by name.',
        resolve: (folder, args, context) => foldersIn(context, folder, args, {}),
      },
      { name: 'FolderConnection' },
      { name: 'FolderEdge' },
    ),
    files: t.withAuth({ privateFiles: 'read' }).connection(
      {
        type: File,
        restField: false,
        description: 'The files in it, by name.',
        resolve: (folder, args, context) => filesIn(context, folder, args, {}),
      },
      { name: 'FileConnection' },
      { name: 'FileEdge' },
    ),
  }),
})

/** The folder that all of the caller's files are in. */
export async function rootOf(caller: Caller, { users }: Services): Promise<FolderNode> {
  return { id: caller.bucket.rootId, names: [], createdAt: (await users.usage(caller.bucket)).createdAt }
}

/** What the list counts as: it has no pages. */
const LISTED_FOLDERS = 10_000

const FolderList = builder.objectRef<{ path: string; folders: string[] }>('FolderList').implement({
  fields: t => ({
    path: t.exposeString('path'),
    folders: t.exposeStringList('folders', { description: 'Names, sorted.', extensions: { listSize: LISTED_FOLDERS } }),
  }),
})

builder.queryField('folders', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: FolderList,
    description: 'The names of the folders in a folder of the caller. An unknown path is empty.',
    rest: { route: 'GET /api/folders', errors: [401] },
    args: { path: t.arg.string() },
    resolve: (_root, { path }, { services, caller }) => services.folders.list(caller.bucket, path ?? ''),
  }),
)

builder.queryField('folder', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Folder,
    nullable: true,
    description: 'The folder at a path, the root without one; null when there is none.',
    args: { path: t.arg.string() },
    resolve: async (_root, { path }, { services, caller }): Promise<FolderNode | null> => {
      const names = parsePath(path ?? '', 'path')
      if (names.length === 0) return rootOf(caller, services)
      const found = await services.listings.byPath(caller.bucket, joinPath(names))
      return found?.kind === FOLDER ? found : null
    },
  }),
)

const CreateFolderInput = builder.inputType('CreateFolderInput', {
  fields: t => ({ path: t.string({ required: true, description: 'Full path; missing folders above it are made.' }) }),
})

builder.mutationField('createFolder', t =>
  t.withAuth({ privateFiles: 'write' }).field({
    type: Folder,
    description: 'Makes a folder of the caller.',
    rest: { route: 'POST /api/folders', errors: [400, 401, 409], wrap: 'folder' },
    rateLimit: 'folders',
    args: { input: t.arg({ type: CreateFolderInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) =>
      services.folders.create(caller.bucket, input.path, caller.userId),
  }),
)

const DeletedFolder = builder.objectRef<{ names: string[]; filesDeleted: number }>('DeletedFolder').implement({
  fields: t => ({
    folderDeleted: t.string({ description: 'Its path.', resolve: deleted => joinPath(deleted.names) }),
    filesDeleted: t.expose('filesDeleted', { type: 'Long' }),
  }),
})

const DeleteFolderInput = builder.inputType('DeleteFolderInput', {
  fields: t => ({
    path: t.string({ required: true }),
    recursive: t.boolean({ description: 'Without it, only an empty folder is deleted.' }),
  }),
})

builder.mutationField('deleteFolder', t =>
  t.withAuth({ privateFiles: 'delete' }).field({
    type: DeletedFolder,
    description: 'Deletes a folder of the caller. Costs the same whatever is in it.',
    rest: { route: 'DELETE /api/folders', errors: [400, 401] },
    args: { input: t.arg({ type: DeleteFolderInput, required: true }) },
    resolve: (_root, { input }, { services, caller }) =>
      services.folders.remove(caller.bucket, input.path, input.recursive ?? false),
  }),
)
