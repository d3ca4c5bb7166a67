import { validate as isUuid } from 'uuid'
import type { Db } from '../../../db/index.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import { forgetEndedShare } from '../../../db/queries/ended-share.ts'
import { deleteShare, type OwnedShare, sharesOfSharer } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import { type Change, maskedIn } from '../history/event.ts'
import { mayKnow } from './share-list.ts'

/**
 * Deletes shares for good, whether they are live or ended with their entries. Locks their drives,
 * because a deletion or a restore at this moment would move a share from one state to the other.
 * @returns the ids of the shares that were live
 */
export async function deleteForGood(
  db: Db,
  { tx, record }: Change,
  shares: readonly OwnedShare[],
): Promise<string[]> {
  const drives = Map.groupBy(shares, ({ bucketId }) => bucketId)
  const ended: string[] = []
  // In one order, so that two such changes do not deadlock.
  for (const bucketId of [...drives.keys()].sort()) {
    await lockBucket(db, bucketId, tx)
    for (const { id, entryId, recipient } of drives.get(bucketId) ?? []) {
      await forgetEndedShare(db, id, tx)
      if (!(await deleteShare(db, id, tx))) continue
      const details = { entryId, ...maskedIn(recipient) }
      record(bucketId, { kind: 'share.revoked', subject: id, details })
      ended.push(id)
    }
  }
  return ended
}

/** Ends several shares of a caller at once. */
export function shareEndService({ db, change }: Core<'db' | 'change'>) {
  return {
    /**
     * Ends shares of the caller in one transaction. Skips ids of shares that have ended, or that
     * the caller may not know.
     * @returns the ids of the shares that ended now
     */
    async endAmong(caller: Caller, given: readonly string[]): Promise<string[]> {
      const ids = [...new Set(given)].filter(id => isUuid(id))
      if (ids.length === 0) return []
      return change(caller, async of => {
        const shares = await sharesOfSharer(db, caller.userId, { ids }, of.tx)
        const known = shares.filter(({ bucketId }) => mayKnow(caller, bucketId))
        return deleteForGood(db, of, known)
      })
    },

    /**
     * Ends all shares that the caller made for an e-mail address, also those that would come back
     * with their entries from the trash.
     * @returns the ids of the shares that ended now
     */
    endWith: async (caller: Caller, recipient: string, of: Change): Promise<string[]> =>
      deleteForGood(db, of, await sharesOfSharer(db, caller.userId, { recipient }, of.tx)),
  }
}

export type ShareEndService = ReturnType<typeof shareEndService>
