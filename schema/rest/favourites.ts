import { FOLDER } from '../../db/models/entry.ts'
import type { EventKind } from '../../db/models/event.ts'
import { AppError } from '../../src/runtime/errors.ts'
import { MAX_FAVOURITES } from '../../src/values/limits.ts'
import {
  addFavourites,
  type RecentEntry,
  recentPage,
  titleOf,
  type VisibleFavourite,
  visibleEntries,
  visibleFavourites,
} from '../base.ts'
import type { Context } from '../context.ts'
import { paged } from './arguments.ts'
import { objectOf } from './builder.ts'
import { BYTES, CURSOR, FILE_PATH, ID, SHARE_TOKEN } from './examples.ts'
import { operationsOf } from './operation.ts'

const operation = operationsOf('favourites', 'The favourites and the recent files of a person.')

const Favourite = objectOf<VisibleFavourite>(
  'Favourite',
  'A marked file, folder or received share.',
  t => ({
    id: t.id({
      description: 'The id of the file, folder or share.',
      resolve: ({ entryId, shareId }) => entryId ?? shareId ?? '',
    }),
    kind: t.string({
      description: 'file, folder or share.',
      example: 'file',
      resolve: ({ entry }) => (entry ? (entry.kind === FOLDER ? 'folder' : 'file') : 'share'),
    }),
    name: t.string({ example: 'report.pdf', resolve: titleOf }),
    path: t.string({
      nullable: true,
      description: 'Its full path; null for a share.',
      example: FILE_PATH,
      resolve: ({ entry }) => entry?.drive.pathOf(entry.names) ?? null,
    }),
    workspace_id: t.id({
      nullable: true,
      description: 'Its workspace; null for entries outside of workspaces.',
      resolve: ({ entry }) => entry?.drive.workspace?.id ?? null,
    }),
    sharing_token: t.string({
      nullable: true,
      description: 'The token of a received share; null for a file or folder.',
      example: SHARE_TOKEN,
      resolve: ({ share }) => share?.token ?? null,
    }),
    created_at: t.expose('createdAt', { type: 'DateTime', description: 'When it was marked.' }),
  }),
)

const Favourites = objectOf<{ favourites: VisibleFavourite[] }>('Favourites', t => ({
  favourites: t.expose('favourites', {
    type: [Favourite],
    description: 'In the order of the caller.',
  }),
}))

const OneFavourite = objectOf<{ favourite: VisibleFavourite }>('OneFavourite', t => ({
  favourite: t.expose('favourite', { type: Favourite }),
}))

const RemovedFavourite = objectOf<{ id: string }>('RemovedFavourite', t => ({
  favourite_removed: t.exposeID('id', { example: ID }),
}))

const notFound = (id: string) =>
  new AppError(
    'FAVOURITE_NOT_FOUND',
    'You have no such favourite. Use an id from your list of favourites.',
    { id },
  )

operation('GET /api/favourites', 'favourites', {
  description: 'The favourites that the caller may see now.',
  auth: { privateFiles: 'read' },
  statuses: [401],
  type: Favourites,
  resolve: async (_args, context) => ({
    favourites: await visibleFavourites(context, context.caller),
  }),
})

operation('PUT /api/favourites/{favourite_id}', 'addFavourite', {
  description: `Marks a file, a folder or a received share as a favourite. There can be up to ${MAX_FAVOURITES}.`,
  auth: { privateFiles: 'write' },
  statuses: [400, 401, 404],
  fails: ['INVALID_PATH', 'FILE_NOT_FOUND', 'QUOTA_EXCEEDED'],
  args: arg => ({
    favourite_id: arg.id({ required: true, description: 'The id of the file, folder or share.' }),
  }),
  type: OneFavourite,
  resolve: async ({ favourite_id: id }, context) => {
    const { services, caller } = context
    const isThere = await services.favourites.isWithinReach(caller, id)
    const entry = isThere ? (await visibleEntries(context, caller, [id])).get(id) : undefined
    if (entry?.parentId === null)
      throw new AppError(
        'INVALID_PATH',
        'This is the root of a drive. Mark a file or a folder in it.',
        {
          field: 'favourite_id',
        },
      )
    const share = entry ? undefined : (await services.shares.receivedByIds(caller, [id])).get(id)
    if (!entry && !share)
      throw new AppError(
        'FILE_NOT_FOUND',
        'There is no file, folder or share with this id. Use an id from a listing.',
      )
    await addFavourites(context, caller, {
      entryIds: entry ? [id] : [],
      shareIds: share ? [id] : [],
    })
    return { favourite: await one(context, context.caller, id) }
  },
})

operation('PATCH /api/favourites/{favourite_id}', 'moveFavourite', {
  description: 'Puts a favourite of the caller before another one, or at the end.',
  auth: { privateFiles: 'write' },
  statuses: [400, 401, 404],
  fails: ['FAVOURITE_NOT_FOUND'],
  args: arg => ({
    favourite_id: arg.id({ required: true, description: 'The id of the file, folder or share.' }),
    before: arg.id({
      description: 'The id of the favourite to put it before; by default, it becomes the last one.',
    }),
  }),
  type: OneFavourite,
  resolve: async ({ favourite_id: id, before }, context) => {
    const move = { id, before: before || null }
    await context.services.favourites.move(
      context.caller,
      move,
      ({ entryId, shareId }) => entryId ?? shareId,
    )
    return { favourite: await one(context, context.caller, id) }
  },
})

operation('DELETE /api/favourites/{favourite_id}', 'removeFavourite', {
  description: 'Removes a file, folder or share from the favourites of the caller.',
  auth: { privateFiles: 'write' },
  statuses: [401, 404],
  fails: ['FAVOURITE_NOT_FOUND'],
  args: arg => ({
    favourite_id: arg.id({ required: true, description: 'The id of the file, folder or share.' }),
  }),
  type: RemovedFavourite,
  resolve: async ({ favourite_id: id }, { services, caller }) => {
    if (!(await services.favourites.remove(caller, { entryIds: [id], shareIds: [id] })))
      throw notFound(id)
    return { id }
  },
})

/** A favourite by the id of the marked entry or share. @throws FAVOURITE_NOT_FOUND */
async function one(context: Context, caller: Parameters<typeof visibleFavourites>[1], id: string) {
  const all = await visibleFavourites(context, caller)
  const found = all.find(({ entryId, shareId }) => entryId === id || shareId === id)
  if (!found) throw notFound(id)
  return found
}

const RecentFile = objectOf<RecentEntry>(
  'RecentEntry',
  'A file or folder that the caller has recently worked on.',
  t => ({
    id: t.exposeID('entryId'),
    kind: t.string({
      example: 'file',
      resolve: ({ entry }) => (entry.kind === FOLDER ? 'folder' : 'file'),
    }),
    name: t.string({ example: 'report.pdf', resolve: ({ entry }) => entry.name }),
    path: t.string({
      description: 'Full path.',
      example: FILE_PATH,
      resolve: ({ entry }) => entry.drive.pathOf(entry.names),
    }),
    workspace_id: t.id({
      nullable: true,
      description: "Its workspace; null for the caller's own files.",
      resolve: ({ entry }) => entry.drive.workspace?.id ?? null,
    }),
    size: t.field({
      type: 'Long',
      description: 'Bytes of all files in it.',
      example: BYTES,
      resolve: ({ entry }) => entry.size,
    }),
    action: t.field({
      type: 'String',
      description: "The caller's last action on it, as the kind of an event.",
      example: 'file.replaced' satisfies EventKind,
      resolve: ({ kind }) => kind,
    }),
    happened_at: t.expose('at', { type: 'DateTime', description: 'When they did it.' }),
  }),
)

const RecentPage = objectOf<{ entries: RecentEntry[]; nextCursor: string | null }>(
  'RecentPage',
  t => ({
    entries: t.expose('entries', { type: [RecentFile], description: 'Latest first.' }),
    next_cursor: t.exposeString('nextCursor', { nullable: true, example: CURSOR }),
  }),
)

operation('GET /api/recent', 'recent', {
  description:
    'The files and folders that the caller has recently worked on: each one once, if it exists and the caller may see it. Taken from their last 1,000 actions, while events are kept. Opening and downloading are not recorded.',
  auth: { privateFiles: 'read' },
  statuses: [400, 401],
  args: paged,
  type: RecentPage,
  resolve: (page, context) => recentPage(context, context.caller, page),
})
