import type { Context } from '../src/context.ts'
import { joinPath } from '../src/paths.ts'
import type { FileView } from '../src/services/listing.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import { filesIn, foldersIn } from './entry.ts'
import { Node } from './node.ts'
import { Workspace } from './workspace.ts'

/** Workspace routes answer paths with a leading slash: contract, section 1. */
export const slashed = (names: string[]): string => `/${joinPath(names)}`

/** A file or a folder of a workspace, as the graph shows it. */
interface WorkspaceEntry {
  id: string
  workspaceId: string
  /** The names from the root down. */
  names: string[]
  createdBy: string | null
  createdAt: number
}

type WorkspaceFileNode = WorkspaceEntry & FileView

export const WorkspaceFile = builder.objectRef<WorkspaceFileNode>('WorkspaceFile').implement({
  description: 'A file of a workspace.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    name: t.string({ resolve: file => file.names.at(-1) ?? '' }),
    path: t.string({ description: 'Full path.', resolve: file => slashed(file.names) }),
    folder: t.string({ description: 'Path of its folder.', resolve: file => slashed(file.names.slice(0, -1)) }),
    fileType: t.exposeString('fileType', { description: 'Media type.' }),
    size: t.expose('size', { type: 'Long', description: 'Bytes.' }),
    md5Checksum: t.exposeString('md5', { description: 'MD5 of the bytes, lower-case hex.' }),
    uploadedBy: t.exposeID('createdBy', { nullable: true }),
    uploadedByEmail: t.string({
      nullable: true,
      resolve: async (file, _args, context) => (await emailOf(context, file.createdBy)) ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

const WorkspaceFolder = builder.objectRef<WorkspaceEntry>('WorkspaceFolder')

WorkspaceFolder.implement({
  description: 'A folder of a workspace.',
  interfaces: [Node],
  fields: t => ({
    id: t.exposeID('id'),
    workspaceId: t.exposeID('workspaceId'),
    name: t.string({ description: 'Empty for the root.', resolve: folder => folder.names.at(-1) ?? '' }),
    path: t.string({ description: 'Full path; / for the root.', resolve: folder => slashed(folder.names) }),
    createdBy: t.exposeID('createdBy', { nullable: true }),
    createdByEmail: t.string({
      nullable: true,
      resolve: async (folder, _args, context) => (await emailOf(context, folder.createdBy)) ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    folders: t.withAuth({ workspaces: 'workspaces:files:read' }).connection(
      {
        type: WorkspaceFolder,
        description: 'The folders in it, by name.',
        resolve: (folder, args, context) => foldersIn(context, folder, args, { workspaceId: folder.workspaceId }),
      },
      { name: 'WorkspaceFolderConnection' },
      { name: 'WorkspaceFolderEdge' },
    ),
    files: t.withAuth({ workspaces: 'workspaces:files:read' }).connection(
      {
        type: WorkspaceFile,
        description: 'The files in it, by name.',
        resolve: (folder, args, context) => filesIn(context, folder, args, { workspaceId: folder.workspaceId }),
      },
      { name: 'WorkspaceFileConnection' },
      { name: 'WorkspaceFileEdge' },
    ),
  }),
})

const emailsOf = batch(({ services }, userIds) => services.listings.emailsOf(userIds))
const emailOf = (context: Context, userId: string | null) => (userId === null ? null : emailsOf(context, userId))

const rootOf = batch(({ services }, workspaceIds) => services.workspaces.rootsOf(workspaceIds))

builder.objectField(Workspace, 'rootFolder', t =>
  t.withAuth({ workspaces: 'workspaces:files:read' }).field({
    type: WorkspaceFolder,
    nullable: true,
    restField: false,
    description: 'The folder that all of its files are in.',
    resolve: async ({ id }, _args, context) => {
      const root = await rootOf(context, id)
      return root ? { ...root, workspaceId: id, names: [] } : null
    },
  }),
)
