import { FOLDER } from '../db/models/entry.ts'
import { mapPage } from '../db/queries/page.ts'
import type { Drive as DriveValue } from '../src/access/drive.ts'
import type { TrashItemView } from '../src/services/tree/trash-item.ts'
import { figure, MAX_CHANGED } from '../src/values/limits.ts'
import { findDriveOf } from './access.ts'
import { batch, each } from './batch.ts'
import { builder } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import type { Context } from './context.ts'
import { entriesOf } from './entry.ts'
import { EntryRef, nameOf } from './entry-ref.ts'
import { EntryKind, OnConflict } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { batchPages, byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'
import { Drive, Entry } from './refs.ts'

/** A deleted entry in the trash of a drive that the caller may read. */
export type TrashItemNode = TrashItemView & { drive: DriveValue }

export const TrashItem = builder.objectRef<TrashItemNode>('TrashItem').implement({
  description:
    'A deleted file or folder that can be restored. The item has its own id; a restored entry has its former id.',
  interfaces: [Node],
  fields: t => ({
    name: t.string({ description: 'Its name.', resolve: ({ names }) => names.at(-1) ?? '' }),
    path: t.string({
      description: 'Its former place.',
      resolve: ({ drive, names }) => drive.pathOf(names),
    }),
    kind: t.field({
      type: EntryKind,
      description: 'Whether it is a file or a folder.',
      resolve: ({ kind }) => kind,
    }),
    contentType: t.string({
      nullable: true,
      description: 'Its media type; null for a folder.',
      resolve: ({ kind, fileType }) => (kind === FOLDER ? null : fileType),
    }),
    size: t.expose('bytes', {
      type: 'Bytes',
      description: 'Its size in bytes; for a folder, that of all files below it.',
    }),
    fileCount: t.int({
      nullable: true,
      description: 'Number of all files below it; null for a file.',
      resolve: ({ kind, files }) => (kind === FOLDER ? files : null),
    }),
    drive: t.expose('drive', { type: Drive, description: 'The drive from which it was deleted.' }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', description: 'When it was deleted.' }),
    deletedBy: personField(
      t,
      'Who deleted it; null if their account was deleted.',
      ({ deletedBy }) => deletedBy,
    ),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it will be deleted permanently; sooner if the trash is full.',
    }),
    endedShares: t.exposeInt('endedShares', {
      description: 'How many links and shares with people ended, or lost it, with the deletion.',
    }),
    sharesEndAt: t.expose('sharesReturnUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'When these shares end for good. Until then, restoring the item brings them back. Null if there are none.',
    }),
  }),
})

const inTrashOf = (item: TrashItemView, drive: DriveValue): TrashItemNode => ({ ...item, drive })

const trashOf = batchPages<TrashItemView>(({ services }, ids, limit, after) =>
  each(ids, id => services.trashItems.page(id, limit, after?.[0] ?? null)),
)

builder.objectFields(Drive, t => ({
  trash: t.withAuth({ drive: 'read' }).field({
    type: connectionOf('TrashItem', TrashItem),
    description: 'The deleted entries that can be restored, latest first.',
    args: pageArgs(t.arg),
    resolve: (drive, page, context) =>
      forwardConnection(page, byId, async (limit, after) =>
        mapPage(await trashOf(context, drive.id, limit, after), item => inTrashOf(item, drive)),
      ),
  }),
  trashDays: t.int({
    description: 'How many days deleted entries can be restored; with 0, deletions are final.',
    resolve: (_drive, _args, { services }) => services.trashItems.days,
  }),
}))

const itemsById = batch(({ services }, ids) => services.trashItems.byIds(ids))

/** Some items of the trash of a drive, without those that no longer exist. */
export async function trashItemsOf(
  context: Context,
  drive: DriveValue,
  ids: readonly string[],
): Promise<TrashItemNode[]> {
  const found = await Promise.all(ids.map(id => itemsById(context, id)))
  return found.flatMap(item => (item ? inTrashOf(item, drive) : []))
}

findable('trash_item', 'TrashItem', async (context, caller, id) => {
  const drive = await findDriveOf(context, caller, 'trashItem', id)
  const item = drive && (await itemsById(context, id))
  return item && inTrashOf(item, drive.open('read').drive)
})

/** The list is as long as the list of named items. */
const sizedByItems = { listSize: MAX_CHANGED, sizedBy: 'input.items' } as const

mutation('restoreFromTrash', {
  description:
    'Restores deleted files and folders with their ids: either all of them, or none. Their shares come back for ten minutes after the deletion, and stay ended later.',
  auth: { drive: 'write' },
  fails: [
    'INVALID_INPUT',
    'INVALID_PATH',
    'TRASH_ITEM_NOT_FOUND',
    'FOLDER_NOT_FOUND',
    'PATH_EXISTS',
    'QUOTA_EXCEEDED',
  ],
  input: t => ({
    items: t.idList({
      required: true,
      maxItems: MAX_CHANGED,
      description: `Ids of 1 to ${figure(MAX_CHANGED)} items of one trash.`,
    }),
    to: t.field({
      type: EntryRef,
      description:
        'The destination folder; missing folders of a path are created. By default each entry returns to its former place.',
    }),
    onConflict: t.field({
      type: OnConflict,
      description:
        'What to do if the name is taken; by default FAIL. REPLACE needs the right to delete.',
    }),
  }),
  on: ({ items, to }) => ({ trashItems: items, to }),
  resolve: async ({ items, to, onConflict }, context) => {
    const { services, drive, tree, limits, caller } = context
    const restored = await services.trashItems.restore(
      tree,
      items,
      { to: to ? nameOf(to) : null, onConflict: drive.onConflict(onConflict), limits },
      caller,
    )
    return {
      drive,
      entries: await entriesOf(
        context,
        drive,
        restored.map(({ id }) => id),
      ),
      removedIds: items,
    }
  },
  payload: t => ({
    entries: t.expose('entries', {
      type: [Entry],
      description: 'The entries at their new places.',
      ...sizedByItems,
    }),
    removedIds: t.exposeIDList('removedIds', {
      description: 'The ids of the items, which no longer exist.',
      ...sizedByItems,
    }),
    drive: t.expose('drive', { type: Drive, description: 'Their drive.' }),
  }),
})

mutation('deleteFromTrash', {
  description: 'Deletes items of a trash permanently: either all of them, or none.',
  auth: { drive: 'delete' },
  fails: ['INVALID_INPUT', 'TRASH_ITEM_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  input: t => ({
    items: t.idList({
      required: true,
      maxItems: MAX_CHANGED,
      description: `Ids of 1 to ${figure(MAX_CHANGED)} items of one trash.`,
    }),
  }),
  on: ({ items }) => ({ trashItems: items }),
  resolve: async ({ items }, { services, drive, tree, caller }) => {
    await services.trashItems.deleteForEver(tree, items, caller)
    return { drive, deletedIds: items }
  },
  payload: t => ({
    deletedIds: t.exposeIDList('deletedIds', {
      description: 'The ids of the items.',
      ...sizedByItems,
    }),
    drive: t.expose('drive', {
      type: Drive,
      description: 'The drive from which they were deleted.',
    }),
  }),
})

mutation('emptyTrash', {
  description: 'Deletes everything in the trash of a drive permanently.',
  auth: { drive: 'delete' },
  fails: ['FOLDER_NOT_FOUND'],
  input: t => ({
    drive: t.id({ description: "The id of the drive; by default the caller's own." }),
  }),
  on: ({ drive }) => ({ driveId: drive }),
  resolve: async (_input, { services, drive, tree, caller }) => ({
    drive,
    count: await services.trashItems.empty(tree, caller),
  }),
  payload: t => ({
    count: t.exposeInt('count', { description: 'How many items it had.' }),
    drive: t.expose('drive', { type: Drive, description: 'The drive.' }),
  }),
})
