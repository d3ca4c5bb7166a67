import type { Caller } from '../src/access/caller.ts'
import { mayUsePrivateFiles } from '../src/access/scopes.ts'
import { AppError } from '../src/runtime/errors.ts'
import { MAX_FAVOURITES } from '../src/values/limits.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { inDrive } from './entry.ts'
import { EntryRef } from './entry-ref.ts'
import { enumOf } from './enums.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Entry } from './refs.ts'
import { DirectShare } from './share.ts'
import { Viewer, viewerField } from './viewer.ts'
import {
  addFavourites,
  type Marked,
  requireVisible,
  titleOf,
  type VisibleFavourite,
  visibleEntries,
  visibleFavourites,
} from './visible.ts'

/** The maximum number of marks in one call. */
const MAX_MARKED = 100

const FavouriteOrder = enumOf(
  'FavouriteOrder',
  'The order of favourites: as the caller has arranged them, or by name.',
  ['position', 'name'],
)

const Favourite = builder.objectRef<VisibleFavourite>('Favourite').implement({
  description: 'A file, folder or received share that the caller has marked as a favourite.',
  interfaces: [Node],
  fields: t => ({
    name: t.string({
      description: 'The name of the file or folder, or of the shared entry.',
      resolve: titleOf,
    }),
    entry: t.field({
      type: Entry,
      nullable: true,
      description: 'The file or folder; null for a share.',
      resolve: ({ entry }) => entry && inDrive(entry, entry.drive),
    }),
    share: t.field({
      type: DirectShare,
      nullable: true,
      description: 'The received share; null for a file or folder.',
      resolve: ({ share }) => share,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was marked.' }),
  }),
})

builder.objectField(Viewer, 'favourites', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: [Favourite],
    listSize: MAX_FAVOURITES,
    description: 'The favourites that the caller may see now.',
    args: {
      orderBy: t.arg({ type: FavouriteOrder, defaultValue: 'position', description: 'The order.' }),
    },
    resolve: async (_viewer, { orderBy }, context) => {
      const all = await visibleFavourites(context, context.caller)
      return orderBy === 'name' ? all.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b))) : all
    },
  }),
)

const isMarked = batchSeen(async ({ favourites }, caller, ids) => {
  const found = await favourites.entriesAmong(caller, ids)
  return new Map(ids.map(id => [id, found.has(id)]))
})
const isShareMarked = batchSeen(async ({ favourites }, caller, ids) => {
  const found = await favourites.sharesAmong(caller, ids)
  return new Map(ids.map(id => [id, found.has(id)]))
})

builder.interfaceField(Entry, 'isFavourite', t =>
  t.boolean({
    description: 'Whether the caller has marked it as a favourite.',
    // A drive named by the id of a share cannot be opened for reading.
    check: ({ drive }) => void (drive.share ?? drive.open('read')),
    resolve: async ({ id }, _args, context) => (await isMarked(context, id)) ?? false,
  }),
)

builder.objectField(DirectShare, 'isFavourite', t =>
  t.boolean({
    description: 'Whether the caller, who has received it, has marked it as a favourite.',
    resolve: async ({ id }, _args, context) => (await isShareMarked(context, id)) ?? false,
  }),
)

findable('favourite', 'Favourite', async (context, caller, id) => {
  if (caller.workspaceId !== null) return null
  mayUsePrivateFiles(caller, 'read')
  return (await visibleFavourites(context, caller)).find(one => one.id === id)
})

/** Some received shares that the caller may see. @throws SHARE_NOT_FOUND */
async function requireReceived(
  { services }: Context,
  caller: Caller,
  ids: readonly string[],
): Promise<string[]> {
  const known =
    ids.length > 0 ? await services.shares.receivedByIds(caller, ids) : new Map<string, unknown>()
  if (ids.some(id => !known.has(id)))
    throw new AppError(
      'SHARE_NOT_FOUND',
      'No such share exists for you: it has ended, or never existed.',
    )
  return [...ids]
}

/** The marked entries in a payload. */
const marked = (context: Context & { caller: Caller }, ids: readonly string[]) =>
  visibleEntries(context, context.caller, ids).then(found =>
    ids.flatMap(id => {
      const entry = found.get(id)
      return entry ? [inDrive(entry, entry.drive)] : []
    }),
  )

mutation('addFavourites', {
  description: 'Marks files, folders and received shares as favourites, at the end of the list.',
  auth: { privateFiles: 'write' },
  fails: ['INVALID_INPUT', 'INVALID_PATH', 'FILE_NOT_FOUND', 'SHARE_NOT_FOUND', 'QUOTA_EXCEEDED'],
  input: t => ({
    entries: t.field({
      type: [EntryRef],
      maxItems: MAX_MARKED,
      description: 'Files and folders from any drives.',
    }),
    shares: t.idList({ maxItems: MAX_MARKED, description: 'The ids of received shares.' }),
  }),
  resolve: async ({ entries, shares }, context): Promise<Marked> => {
    const { caller } = context
    const entryIds = await requireVisible(context, caller, entries ?? [])
    const shareIds = await requireReceived(context, caller, shares ?? [])
    await addFavourites(context, caller, { entryIds, shareIds })
    return { entryIds, shareIds }
  },
  payload: t => ({
    entries: t.withAuth({ privateFiles: 'read' }).field({
      type: [Entry],
      nullable: true,
      listSize: MAX_MARKED,
      description: 'The files and folders.',
      resolve: ({ entryIds }, _args, context) => marked(context, entryIds),
    }),
    viewer: viewerField(t),
  }),
})

mutation('removeFavourites', {
  description:
    'Removes files, folders and shares from the favourites. Ids of other things are ignored.',
  auth: { privateFiles: 'write' },
  fails: [],
  input: t => ({
    entries: t.idList({ maxItems: MAX_MARKED, description: 'The ids of files and folders.' }),
    shares: t.idList({ maxItems: MAX_MARKED, description: 'The ids of received shares.' }),
  }),
  resolve: async ({ entries, shares }, { services, caller }): Promise<Marked> => {
    const gone = { entryIds: entries ?? [], shareIds: shares ?? [] }
    await services.favourites.remove(caller, gone)
    return gone
  },
  payload: t => ({
    entries: t.withAuth({ privateFiles: 'read' }).field({
      type: [Entry],
      nullable: true,
      listSize: MAX_MARKED,
      description: 'The files and folders among these that the caller may see.',
      resolve: ({ entryIds }, _args, context) => marked(context, entryIds),
    }),
    viewer: viewerField(t),
  }),
})

mutation('moveFavourite', {
  description: 'Puts a favourite before another one, or at the end.',
  auth: { privateFiles: 'write' },
  fails: ['FAVOURITE_NOT_FOUND'],
  input: t => ({
    favourite: t.id({ required: true, description: 'The id of the favourite.' }),
    next: t.id({
      description: 'The id of the favourite to put it before; by default, it becomes the last one.',
    }),
  }),
  resolve: async ({ favourite, next: before }, { services, caller }) => {
    await services.favourites.move(caller, { id: favourite, before }, ({ id }) => id)
    return {}
  },
  payload: t => ({ viewer: viewerField(t) }),
})
