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

/** The shares to end, each read with a lock. */
interface Finders {
  live: () => Promise<OwnedShare[]>
  /** Those that ended with their entries, and would come back with them. */
  ended: () => Promise<{ id: string }[]>
}

/** Ends several shares of a caller at once. */
export function shareEndService({ db, change }: Core<'db' | 'change'>) {
  /**
   * Deletes shares. Looks for ended ones before and after: a restore makes them live meanwhile, and
   * a deletion does the opposite.
   * @returns the ids of the shares that ended now
   */
  async function endAll({ tx, record }: Change, { live, ended }: Finders): Promise<string[]> {
    const forget = async () => {
      for (const { id } of await ended()) await forgetEndedShare(db, id, tx)
    }
    await forget()
    const shares = await live()
    for (const { id, bucketId, entryId, recipient } of shares) {
      await deleteShare(db, id, tx)
      const details = { entryId, ...(recipient === null ? {} : { recipient: masked(recipient) }) }
      record(bucketId, { kind: 'share.revoked', subject: id, details })
    }
    await forget()
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
      const known = <T extends { bucketId: string }>(some: readonly T[]) =>
        some.filter(({ bucketId }) => mayKnow(caller, bucketId))
      return change(caller, of =>
        endAll(of, {
          live: async () => known(await sharesOfSharer(db, caller.userId, { ids }, of.tx)),
          ended: async () => known(await endedSharesAmong(db, caller.userId, ids, of.tx)),
        }),
      )
    },

    /**
     * Ends all shares that the caller made for an e-mail address, also those that would come back
     * with their entries from the trash.
     * @returns the ids of the shares that ended now
     */
    endWith: (caller: Caller, recipient: string, of: Change): Promise<string[]> =>
      endAll(of, {
        live: () => sharesOfSharer(db, caller.userId, { recipient }, of.tx),
        ended: async () =>
          (await endedSharesOfUser(db, caller.userId, of.tx)).filter(
            ({ terms }) => JSON.parse(terms).recipient === recipient,
          ),
      }),
  }
}

export type ShareEndService = ReturnType<typeof shareEndService>
