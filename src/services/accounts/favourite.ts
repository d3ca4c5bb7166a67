import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  deleteFavourites,
  type FavouriteRow,
  favouritesAmong,
  favouritesOf,
  insertFavourites,
  isWithinReach,
  orderFavourites,
} from '../../../db/queries/favourite.ts'
import { lockUser } from '../../../db/queries/user.ts'
import type { Caller } from '../../access/caller.ts'
import { AppError, Unauthenticated } from '../../runtime/errors.ts'
import { MAX_FAVOURITES } from '../../values/limits.ts'
import type { Core } from '../core.ts'

/** An entry or a received share that a person marked as a favourite. */
export type FavouriteView = Omit<FavouriteRow, 'userId'>

/** The ids of marked entries and received shares. */
interface Marked {
  entryIds: readonly string[]
  shareIds: readonly string[]
}

/**
 * The favourites of a person. Nothing here authorizes: each reader checks whether the person may
 * still see them.
 */
export function favouriteService({ db }: Core<'db'>) {
  const changed = <T>(
    { userId }: Caller,
    work: (tx: Tx, now: FavouriteRow[]) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async tx => {
      // In turns, so that parallel requests do not exceed the limit.
      if (!(await lockUser(db, userId, tx))) throw new Unauthenticated()
      return work(tx, await favouritesOf(db, userId, tx))
    })

  return {
    /** The favourites of the caller, in their order. */
    list: ({ userId }: Caller): Promise<FavouriteView[]> => favouritesOf(db, userId),

    /**
     * Whether an entry is in one of the caller's drives. A foreign entry takes the same time as a
     * missing one.
     */
    isWithinReach: async ({ userId }: Caller, entryId: string): Promise<boolean> =>
      isUuid(entryId) && isWithinReach(db, userId, entryId),

    /** The entries among these that are favourites of the caller. One statement for up to 1,000. */
    entriesAmong: ({ userId }: Caller, ids: readonly string[]): Promise<Set<string>> =>
      favouritesAmong(db, userId, 'entryId', ids),

    /** The shares among these that are favourites of the caller. */
    sharesAmong: ({ userId }: Caller, ids: readonly string[]): Promise<Set<string>> =>
      favouritesAmong(db, userId, 'shareId', ids),

    /**
     * Adds favourites at the end. Existing favourites keep their places.
     * @param seen favourites that the caller may still see. If there is not enough room, the first
     * of the others are removed. Null keeps all
     * @throws QUOTA_EXCEEDED
     */
    add: (
      caller: Caller,
      { entryIds, shareIds }: Marked,
      seen: ReadonlySet<string> | null,
    ): Promise<void> =>
      changed(caller, async (tx, all) => {
        const markedBy = ({ entryId, shareId }: Pick<FavouriteRow, 'entryId' | 'shareId'>) =>
          entryId ?? shareId ?? ''
        const known = new Set(all.map(markedBy))
        const { userId } = caller
        let position = (all.at(-1)?.position ?? -1) + 1
        const createdAt = Date.now()
        const rows = [
          ...[...new Set(entryIds)].map(entryId => ({ entryId, shareId: null })),
          ...[...new Set(shareIds)].map(shareId => ({ entryId: null, shareId })),
        ]
          .filter(row => !known.has(markedBy(row)))
          .map(row => ({ ...row, userId, position: position++, createdAt }))
        if (rows.length === 0) return
        const wanted = new Set([...entryIds, ...shareIds])
        const unseen = all.filter(one => seen && !seen.has(one.id) && !wanted.has(markedBy(one)))
        const excess = all.length + rows.length - MAX_FAVOURITES
        if (excess > unseen.length)
          throw new AppError(
            'QUOTA_EXCEEDED',
            `You can have up to ${MAX_FAVOURITES} favourites. Remove some first.`,
            {
              limit: 'max_favourites',
              max: MAX_FAVOURITES,
              used: all.length - unseen.length,
            },
          )
        const gone = unseen.slice(0, Math.max(0, excess)).map(({ id }) => id)
        if (gone.length > 0) await deleteFavourites(db, gone, tx)
        await insertFavourites(db, rows, tx)
      }),

    /**
     * Removes favourites. Missing ones are ignored.
     * @returns whether any was removed
     */
    remove: (caller: Caller, { entryIds, shareIds }: Marked): Promise<boolean> =>
      changed(caller, async (tx, now) => {
        const gone = new Set([...entryIds, ...shareIds])
        const ids = now
          .filter(({ entryId, shareId }) => gone.has(entryId ?? shareId ?? ''))
          .map(({ id }) => id)
        if (ids.length > 0) await deleteFavourites(db, ids, tx)
        return ids.length > 0
      }),

    /**
     * Moves a favourite before another one, or to the end.
     * @param of finds favourites by their own ids or by the ids of their targets
     * @throws FAVOURITE_NOT_FOUND
     */
    move: (
      caller: Caller,
      { id, before }: { id: string; before: string | null | undefined },
      of: (favourite: FavouriteRow) => string | null,
    ): Promise<void> =>
      changed(caller, async (tx, now) => {
        const found = now.find(one => of(one) === id)
        const next = before == null ? undefined : now.find(one => of(one) === before)
        if (!found || (before != null && !next))
          throw favouriteNotFound(found && before ? before : id)
        if (found === next) return
        const others = now.filter(one => one !== found)
        const at = next ? others.indexOf(next) : others.length
        const ids = [...others.slice(0, at), found, ...others.slice(at)].map(one => one.id)
        await orderFavourites(db, ids, tx)
      }),
  }
}

export const favouriteNotFound = (id: string) =>
  new AppError(
    'FAVOURITE_NOT_FOUND',
    'You have no such favourite. Use an id from your list of favourites.',
    { id },
  )
