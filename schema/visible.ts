import type { Caller } from '../src/access/caller.ts'
import type { Drive } from '../src/access/drive.ts'
import { AppError } from '../src/runtime/errors.ts'
import type { FavouriteView } from '../src/services/accounts/favourite.ts'
import type { Action } from '../src/services/history/recent.ts'
import type { PageArgs } from '../src/services/page.ts'
import type { ShareView } from '../src/services/sharing/share-list.ts'
import type { PlacedEntry } from '../src/services/tree/entry-list.ts'
import { parsePath } from '../src/values/paths.ts'
import { type EntryRef, entryNotFound, findDrive, openDrive } from './access.ts'
import type { Context } from './context.ts'

/** An entry of any drive that a caller may read. */
export interface VisibleEntry extends PlacedEntry {
  drive: Drive
}

/**
 * The existing entries among these that the caller may see now, by id: in their own drive, and in
 * the drives of workspaces that their credential covers. Three statements for up to 1,000.
 */
export async function visibleEntries(
  context: Context,
  caller: Caller,
  ids: readonly string[],
): Promise<Map<string, VisibleEntry>> {
  const entries = await context.services.entryLists.byIds([...new Set(ids)])
  const buckets = [...new Set([...entries.values()].map(({ bucketId }) => bucketId))]
  const drives = await Promise.all(buckets.map(id => findDrive(context, caller, id)))
  const open = new Map(
    drives.flatMap(drive => (drive && !drive.refusal('read') ? [[drive.id, drive] as const] : [])),
  )
  return new Map(
    [...entries].flatMap(([id, entry]) => {
      const drive = open.get(entry.bucketId)
      return drive ? [[id, { ...entry, drive }] as const] : []
    }),
  )
}

/** A favourite whose entry or share the caller may see now. */
export interface VisibleFavourite extends FavouriteView {
  entry: VisibleEntry | null
  share: ShareView | null
}

/**
 * The favourites that the caller may see now. The others are neither shown nor counted.
 */
export async function visibleFavourites(
  context: Context,
  caller: Caller,
): Promise<VisibleFavourite[]> {
  const { favourites, shares } = context.services
  const all = await favourites.list(caller)
  const shareIds = all.flatMap(({ shareId }) => shareId ?? [])
  const [entries, received] = await Promise.all([
    visibleEntries(
      context,
      caller,
      all.flatMap(({ entryId }) => entryId ?? []),
    ),
    shareIds.length > 0 ? shares.receivedAmong(caller, shareIds) : [],
  ])
  const known = new Map(received.map(share => [share.id, share]))
  return all.flatMap(favourite => {
    const entry = entries.get(favourite.entryId ?? '') ?? null
    const share = known.get(favourite.shareId ?? '') ?? null
    return entry || share ? [{ ...favourite, entry, share }] : []
  })
}

/** The new favourites: ids of entries and received shares that the caller may see. */
export interface Marked {
  entryIds: readonly string[]
  shareIds: readonly string[]
}

/**
 * Marks them. If the list is full, favourites that the person can no longer see are removed, so
 * that the person never learns how many there are. A key does not remove them: it sees less than
 * its person, for example no workspaces, and must not remove what the person can see.
 */
export async function addFavourites(
  context: Context,
  caller: Caller,
  marked: Marked,
): Promise<void> {
  const { favourites } = context.services
  try {
    await favourites.add(caller, marked, null)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'QUOTA_EXCEEDED' || caller.via !== 'session')
      throw error
    const seen = await visibleFavourites(context, caller)
    await favourites.add(caller, marked, new Set(seen.map(({ id }) => id)))
  }
}

/** The names of favourites. */
export const titleOf = ({ entry, share }: VisibleFavourite): string =>
  entry?.name ?? share?.names.at(-1) ?? entry?.drive.workspace?.name ?? ''

/**
 * The ids of entries that the caller may see.
 * @throws FILE_NOT_FOUND, INVALID_PATH, FORBIDDEN, and the errors of opening drives
 */
export async function requireVisible(
  context: Context,
  caller: Caller,
  refs: readonly EntryRef[],
): Promise<string[]> {
  const found = await Promise.all(
    refs.map(async ref => {
      const { drive, tree } = await openDrive(context, caller, { entries: [ref] }, 'read')
      const { entryLists } = context.services
      const entry =
        typeof ref.id === 'string'
          ? (await visibleEntries(context, caller, [ref.id])).get(ref.id)
          : await entryLists.at(tree, parsePath(ref.at?.path ?? ''))
      if (entry?.bucketId !== drive.id) throw entryNotFound(ref.id ?? ref.at?.path ?? '')
      if (entry.parentId === null)
        throw new AppError(
          'INVALID_PATH',
          'This is the root of a drive. Mark a file or a folder in it.',
          {
            field: 'entries',
          },
        )
      return entry.id
    }),
  )
  return found
}

/** An entry that someone has worked on. */
export interface RecentEntry extends Action {
  entry: VisibleEntry
}

/** The minimum number of candidates read for the first page. */
const AT_ONCE = 100

/**
 * The existing, visible entries that the caller has recently worked on: each entry once, newest
 * first.
 * @param after the time and the entry of the last item on the previous page
 * @param drives only in these drives
 */
export async function recentEntries(
  context: Context,
  caller: Caller,
  {
    limit,
    after,
    drives,
  }: {
    limit: number
    after: readonly [number, string] | null
    drives?: readonly string[] | null | undefined
  },
): Promise<{ rows: RecentEntry[]; more: boolean }> {
  const actions = (await context.services.recent.actions(caller)).filter(
    ({ at, entryId, logId }) =>
      (!drives || drives.includes(logId)) &&
      (after === null || at < after[0] || (at === after[0] && entryId < after[1])),
  )
  const rows: RecentEntry[] = []
  for (
    let from = 0, size = Math.max(AT_ONCE, limit * 2);
    from < actions.length && rows.length <= limit;
  ) {
    const some = actions.slice(from, from + size)
    const entries = await visibleEntries(
      context,
      caller,
      some.map(({ entryId }) => entryId),
    )
    for (const action of some) {
      const entry = entries.get(action.entryId)
      if (entry && entry.parentId !== null) rows.push({ ...action, entry })
    }
    from += size
    size *= 4
  }
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

/** Like `recentEntries`, in pages for REST. */
export async function recentPage(
  context: Context,
  caller: Caller,
  page: PageArgs,
): Promise<{ entries: RecentEntry[]; nextCursor: string | null }> {
  const { recent } = context.services
  const { rows, more } = await recentEntries(context, caller, recent.readPage(page))
  const last = rows.at(-1)
  return { entries: rows, nextCursor: more && last ? recent.cursorOf(last) : null }
}
