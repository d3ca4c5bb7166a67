import { validate as isUuid } from 'uuid'
import {
  endedSharesAmong,
  endedSharesOfUser,
  forgetEndedShare,
} from '../../../db/queries/ended-share.ts'
import { deleteShare, type OwnedShare, sharesOfSharer } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import { type Change, masked } from '../history/event.ts'
import { mayKnow } from './share-list.ts'

/** Ends several shares of a caller at once. */
export function shareEndService({ db, change }: Core<'db' | 'change'>) {
  /** Deletes locked shares. Shares that a deletion ended before do not come back. */
  async function endLocked(
    { tx, record }: Change,
    shares: readonly OwnedShare[],
    ended: readonly string[],
  ): Promise<string[]> {
    for (const id of ended) await forgetEndedShare(db, id, tx)
    for (const { id, bucketId, entryId, recipient } of shares) {
      if (!(await deleteShare(db, id, tx))) continue
      const details = { entryId, ...(recipient === null ? {} : { recipient: masked(recipient) }) }
      record(bucketId, { kind: 'share.revoked', subject: id, details })
    }
    return shares.map(({ id }) => id)
  }

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
        const ended = await endedSharesAmong(db, caller.userId, ids, of.tx)
        const shares = await sharesOfSharer(db, caller.userId, { ids }, of.tx)
        const known = <T extends { bucketId: string }>(some: readonly T[]) =>
          some.filter(({ bucketId }) => mayKnow(caller, bucketId))
        return endLocked(
          of,
          known(shares),
          known(ended).map(({ id }) => id),
        )
      })
    },

    /**
     * Ends all shares that the caller made for an e-mail address, also those that would come back
     * with their entries from the trash.
     * @returns the ids of the shares that ended now
     */
    async endWith(caller: Caller, recipient: string, of: Change): Promise<string[]> {
      // The ended shares are locked first: a restore that is running makes them shares again.
      const ended = await endedSharesOfUser(db, caller.userId, of.tx)
      const theirs = ended.filter(({ terms }) => JSON.parse(terms).recipient === recipient)
      const shares = await sharesOfSharer(db, caller.userId, { recipient }, of.tx)
      return endLocked(
        of,
        shares,
        theirs.map(({ id }) => id),
      )
    },
  }
}

export type ShareEndService = ReturnType<typeof shareEndService>
