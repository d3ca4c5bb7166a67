import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import type { Share } from '../../../db/models/share.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import {
  GRACE_MS,
  type LeftEntry,
  leftWithItems,
  linkAllowance,
  sharersOfItems,
} from '../../../db/queries/ended-share.ts'
import { countRequests } from '../../../db/queries/file-request.ts'
import { countLinks, lockSharer } from '../../../db/queries/share.ts'
import { returnShares } from '../../../db/queries/share-entry.ts'
import type { Tree } from '../../values/tree.ts'
import { isLive } from '../sharing/share-term.ts'

/** The own bucket of a sharer, which counts their links, and how many they may have. */
type Room = NonNullable<Awaited<ReturnType<typeof linkAllowance>>>

/**
 * The shares that come back with items of a trash, which were deleted within the grace. Locks their
 * sharers, so it must run before the tree is locked. A share whose sharer may no longer share from
 * the tree stays ended, and so does a link for which their plan has no room. The shares of a
 * suspended sharer come back, and work once the account is restored.
 */
export async function returning(db: Db, tree: Tree, given: readonly string[], tx: Tx) {
  const items = [...new Set(given)].filter(id => isUuid(id))
  const after = Date.now() - GRACE_MS
  const sharers =
    items.length === 0 ? [] : await sharersOfItems(db, tree.bucketId, items, after, tx)
  const rooms = new Map<string, Room>()
  for (const id of sharers) {
    const own = await linkAllowance(db, id, tx)
    if (!own) continue
    // In the order in which a new link locks them.
    await lockBucket(db, own.bucketId, tx)
    if (!(await lockSharer(db, id, tree.bucketId, tx, 'any'))) continue
    rooms.set(id, own)
  }

  return {
    find: async (): ReturnType<typeof leftWithItems> =>
      sharers.length === 0 ? [] : leftWithItems(db, items, after, tx),

    async putBack(entries: readonly LeftEntry[]): Promise<void> {
      if (entries.length === 0) return
      const live = new Map<string, number>()
      for (const id of rooms.keys())
        live.set(id, (await countLinks(db, id, tx)) + (await countRequests(db, id, tx)))
      const mayReturn = async (userId: string, terms: Share) => {
        const room = rooms.get(userId)
        if (!room) return false
        // Neither a share with a person nor a used-up link counts.
        if (terms.recipient !== null || !isLive(terms)) return true
        const links = live.get(userId) ?? 0
        if (room.max !== null && links >= room.max) return false
        live.set(userId, links + 1)
        return true
      }
      await returnShares(db, entries, mayReturn, tx)
      for (const [userId, { bucketId: id }] of rooms)
        await db.Bucket.update(
          { linkCount: live.get(userId) ?? 0 },
          { where: { id }, transaction: tx },
        )
    },
  }
}
