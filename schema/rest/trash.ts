import { FOLDER } from '../../db/models/entry.ts'
import type { Drive } from '../../src/access/drive.ts'
import type { TrashItemView } from '../../src/services/tree/trash-item.ts'
import { figure, MAX_CHANGED } from '../../src/values/limits.ts'
import { onConflict, paged } from './arguments.ts'
import { type Argument, objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, FOLDER_PATH, ID } from './examples.ts'
import { operationsOf } from './operation.ts'
import { declareForOwners } from './owners.ts'

type Placed<T> = T & { drive: Drive }

const TrashItem = objectOf<Placed<TrashItemView>>(
  'TrashItem',
  'A deleted file or folder that can be restored.',
  t => ({
    id: t.exposeID('id', { description: 'Its id in the trash.' }),
    name: t.string({ example: 'report.pdf', resolve: ({ names }) => names.at(-1) ?? '' }),
    path: t.string({
      description: 'Its former place.',
      example: FILE_PATH,
      resolve: ({ drive, names }) => drive.pathOf(names),
    }),
    kind: t.string({
      example: 'file',
      resolve: ({ kind }) => (kind === FOLDER ? 'folder' : 'file'),
    }),
    size: t.expose('bytes', {
      type: 'Long',
      description: 'Bytes of all files in it.',
      example: BYTES,
    }),
    file_count: t.expose('files', {
      type: 'Long',
      description: 'Files in it, 1 for a file.',
      example: 1,
    }),
    deleted_at: t.expose('deletedAt', { type: 'DateTime' }),
    deleted_by: t.exposeID('deletedBy', { nullable: true }),
    expires_at: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it will be deleted permanently; sooner if the trash is full.',
    }),
    ended_shares: t.expose('endedShares', {
      type: 'Long',
      description: 'How many links and shares with people ended, or lost it, with the deletion.',
      example: 1,
    }),
    shares_return_until: t.expose('sharesReturnUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when restoring it brings these shares back. Later, they stay ended. Null if there are none.',
    }),
  }),
)

const Trash = objectOf<{ drive: Drive; items: TrashItemView[]; nextCursor: string | null }>(
  'Trash',
  t => ({
    items: t.field({
      type: [TrashItem],
      description: 'Newest first.',
      resolve: ({ drive, items }) => items.map(item => ({ ...item, drive })),
    }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  }),
)

const RestoredEntry = objectOf<{ id: string; names: string[]; drive: Drive }>(
  'RestoredEntry',
  t => ({
    id: t.exposeID('id', {
      description: 'The id of the file or folder, as before it was deleted.',
    }),
    path: t.string({ example: FILE_PATH, resolve: ({ drive, names }) => drive.pathOf(names) }),
  }),
)

const RestoredEntries = objectOf<{ restored: { id: string; names: string[]; drive: Drive }[] }>(
  'RestoredEntries',
  t => ({ restored: t.expose('restored', { type: [RestoredEntry] }) }),
)

const DeletedForEver = objectOf<{ count: number }>('DeletedForEver', t => ({
  deleted: t.expose('count', { type: 'Long', description: 'How many items.', example: 1 }),
}))

const items = (arg: Argument) =>
  arg.idList({
    required: true,
    maxItems: MAX_CHANGED,
    description: `Ids of 1 to ${figure(MAX_CHANGED)} items.`,
    example: [ID],
  })

declareForOwners(
  operationsOf('trash', 'Deleted files and folders that can be restored.'),
  owner => {
    const { whose, operation, denied } = owner
    const path = `${owner.base}/trash` as const
    const name = (verb: string) => owner.name(verb, 'Trash')

    operation(`GET ${path}`, name(''), {
      description: `The deleted files and folders of ${whose} that can be restored, latest first.`,
      auth: { drive: 'read' },
      statuses: [400, 401, ...denied],
      args: paged,
      type: Trash,
      resolve: async (page, { services, drive, tree }) => ({
        drive,
        ...(await services.trashItems.list(tree, page)),
      }),
    })

    operation(`POST ${path}/restore`, name('restore'), {
      description: `Restores deleted files and folders of ${whose}: either all of them, or none. Their shares come back for ten minutes after the deletion, and stay ended later.`,
      auth: { drive: 'write' },
      statuses: [400, 401, ...denied, 404, 409],
      fails: [
        'INVALID_PATH',
        'TRASH_ITEM_NOT_FOUND',
        'PATH_EXISTS',
        'QUOTA_EXCEEDED',
        'FOLDER_NOT_FOUND',
      ],
      args: arg => ({
        items: items(arg),
        to: arg.string({
          description:
            'Path of the destination folder; by default each returns to its former place. Missing folders are created.',
          example: FOLDER_PATH,
        }),
        on_conflict: arg.string(onConflict),
      }),
      type: RestoredEntries,
      resolve: async (
        { items, to, on_conflict: choice },
        { services, drive, tree, limits, caller },
      ) => {
        const onConflict = drive.onConflict(choice)
        const restored = await services.trashItems.restore(
          tree,
          items,
          { to: typeof to === 'string' ? { path: to } : null, onConflict, limits },
          caller,
        )
        return { restored: restored.map(entry => ({ ...entry, drive })) }
      },
    })

    operation(`DELETE ${path}/items`, name('deleteFrom'), {
      description: `Deletes items of the trash of ${whose} permanently: either all of them, or none.`,
      auth: { drive: 'delete' },
      statuses: [400, 401, ...denied, 404],
      fails: ['TRASH_ITEM_NOT_FOUND', 'FOLDER_NOT_FOUND'],
      from: { items: 'body' },
      args: arg => ({ items: items(arg) }),
      type: DeletedForEver,
      resolve: async ({ items }, { services, tree, caller }) => ({
        count: await services.trashItems.deleteForEver(tree, items, caller),
      }),
    })

    operation(`DELETE ${path}`, name('empty'), {
      description: `Deletes everything in the trash of ${whose} permanently.`,
      auth: { drive: 'delete' },
      statuses: [401, ...denied, 404],
      fails: ['FOLDER_NOT_FOUND'],
      type: DeletedForEver,
      resolve: async (_args, { services, tree, caller }) => ({
        count: await services.trashItems.empty(tree, caller),
      }),
    })
  },
)
