import type { Usage } from '../db/queries/bucket.ts'
import { mapPage } from '../db/queries/page.ts'
import type { Caller } from '../src/access/caller.ts'
import { Forbidden } from '../src/runtime/errors.ts'
import type { PlacedEntry } from '../src/services/tree/entry-list.ts'
import { MAX_NAME_PART } from '../src/values/limits.ts'
import { parsePath } from '../src/values/paths.ts'
import type { BucketLimits, Tree } from '../src/values/tree.ts'
import { findDrive, openDrive } from './access.ts'
import { batch, each } from './batch.ts'
import { builder } from './builder.ts'
import { pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { EntryConnection, entryOf, inDrive, isFolder } from './entry.ts'
import { Permission } from './enums.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection, SCAN_COST } from './paging.ts'
import { Person, personOf } from './person.ts'
import { Drive, Entry, Folder, Workspace } from './refs.ts'

/** The usage and the limits of a drive. */
export type DriveUsageView = Pick<Usage, 'usedBytes' | 'fileCount' | 'folderCount' | 'keptBytes'> &
  BucketLimits & { maxFolders: number | null }

export const DriveUsage = builder.objectRef<DriveUsageView>('DriveUsage').implement({
  description: 'Usage of a drive, and its limits. Null means unlimited.',
  fields: t => ({
    usedBytes: t.expose('usedBytes', { type: 'Bytes', description: 'Bytes of all files.' }),
    keptBytes: t.expose('keptBytes', {
      type: 'Bytes',
      description:
        'Bytes kept in the trash and as versions, in addition to the usage. They count towards no limit.',
    }),
    fileCount: t.exposeInt('fileCount', { description: 'All files.' }),
    folderCount: t.exposeInt('folderCount', {
      description: 'Number of folders, without the root.',
    }),
    maxBytes: t.expose('maxTotalStorageBytes', {
      type: 'Bytes',
      description: 'Maximum bytes of all files.',
    }),
    maxFiles: t.exposeInt('maxFiles', { nullable: true, description: 'Maximum number of files.' }),
    maxFolders: t.exposeInt('maxFolders', {
      nullable: true,
      description: 'Maximum number of folders.',
    }),
    maxFileSize: t.expose('maxFileSizeBytes', {
      type: 'Bytes',
      description: 'Maximum bytes of one file.',
    }),
    isOver: t.boolean({
      description:
        'Whether it exceeds its limits because they were reduced. Everything is kept, and nothing can be added.',
      resolve: usage =>
        usage.usedBytes > usage.maxTotalStorageBytes ||
        usage.fileCount > (usage.maxFiles ?? Infinity) ||
        usage.folderCount > (usage.maxFolders ?? Infinity),
    }),
  }),
})

const DriveOwner = builder.unionType('DriveOwner', {
  description: 'The owner of a drive: a person or a workspace.',
  types: [Person, Workspace],
  resolveType: owner => ('role' in owner ? 'Workspace' : 'Person'),
})

const usageOf = batch(({ services }, ids) => services.drives.usagesOf(ids))

/** Every entry refers to its drive, so the fields of one drive are read once for all places. */
const entryAt = batch(({ services }, ids, tree: Tree, names: string[]) =>
  each(ids, () => services.entryLists.at(tree, names)),
)
const foundIn = batchPages<PlacedEntry, [string], [Tree, string]>(
  ({ services }, ids, limit, after, tree, query) =>
    each(ids, () => services.entryLists.search(tree, query, limit, after?.[0] ?? null)),
)

const gone = () => new Forbidden('This drive no longer exists.')

Drive.implement({
  description: 'One storage area, of a person or of a workspace.',
  interfaces: [Node],
  fields: t => ({
    owner: t.field({
      type: DriveOwner,
      description: 'Its owner.',
      check: drive => void drive.open('read'),
      resolve: async ({ workspace, personId }, _args, context) => {
        const owner = workspace ?? (await personOf(context, personId))
        if (!owner) throw gone()
        return owner
      },
    }),
    root: t.withAuth({ drive: 'read' }).field({
      type: Folder,
      description: 'The root folder.',
      resolve: async (drive, _args, context) => {
        const root = await entryOf(context, drive, context.tree.rootId)
        if (!isFolder(root)) throw gone()
        return root
      },
    }),
    usage: t.withAuth({ drive: 'read' }).field({
      type: DriveUsage,
      description: 'Its usage and its limits.',
      resolve: async ({ id }, _args, context) => {
        const usage = await usageOf(context, id)
        if (!usage) throw gone()
        return { ...usage, ...context.limits, maxFolders: context.tree.maxFolders ?? null }
      },
    }),
    entry: t.withAuth({ drive: 'read' }).field({
      type: Entry,
      nullable: true,
      description: 'The entry at a path; null if there is none.',
      args: {
        path: t.arg.string({ required: true, description: 'Its path; empty for the root.' }),
      },
      resolve: async (drive, { path }, context) => {
        const entry = await entryAt(context, drive.id, context.tree, parsePath(path))
        return entry ? inDrive(entry, drive) : null
      },
    }),
    search: t.withAuth({ drive: 'read' }).field({
      type: EntryConnection,
      description: 'The entries at any depth whose name contains a text, oldest first.',
      args: {
        query: t.arg.string({
          required: true,
          description: `Part of the name, ignoring case: 1 to ${MAX_NAME_PART} characters.`,
        }),
        ...pageArgs(t.arg),
      },
      cost: SCAN_COST,
      resolve: (drive, { query, ...page }, context) =>
        forwardConnection(page, byId, async (limit, after) =>
          mapPage(await foundIn(context, drive.id, limit, after, context.tree, query), entry =>
            inDrive(entry, drive),
          ),
        ),
    }),
    permissions: t.field({
      type: [Permission],
      description: 'What the caller may do with its entries.',
      listSize: 4,
      resolve: drive => drive.permissions,
    }),
  }),
})

findable('bucket', 'Drive', async (context, caller, id) => {
  const drive = await findDrive(context, caller, id)
  return drive?.open('read').drive
})

builder.subscriptionField('driveChanged', t =>
  t.withAuth({ drive: 'read' }).field({
    type: Drive,
    description: 'Sends a drive whenever its content changes; at most a few times a second.',
    args: { drive: t.arg.id({ description: "The id of the drive; by default the caller's own." }) },
    on: (_root, { drive }) => ({ driveId: drive }),
    subscribe: (_root, _args, context) => {
      const { id } = context.drive
      const open = (caller: Caller) => openDrive(context, caller, { driveId: id }, 'read')
      return context.services.subscriptions.bucketChanges(context, id, open)
    },
    // Looked up again for each event, because the role of the caller may have changed.
    resolve: async ({ id }, _args, context: Context) => {
      const drive = context.caller && (await findDrive(context, context.caller, id))
      if (!drive) throw gone()
      return drive
    },
  }),
)
