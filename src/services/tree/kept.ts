import type { Tx } from '../../../db/index.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import {
  excessOf,
  oldestTrashed,
  overfullBuckets,
  type TrashedNode,
  trashBefore,
  trashedNodes,
} from '../../../db/queries/trash-item.ts'
import {
  deleteVersions,
  oldestVersions,
  type VersionRow,
  versionsBefore,
  versionsByIds,
} from '../../../db/queries/version.ts'
import type { Config } from '../../config/config.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import type { TrashItemService } from './trash-item.ts'

/** The number of items and versions that one transaction deletes. */
const BATCH = 500

/**
 * Retained data outside the usage that must be deleted, because its retention has ended or the
 * drive retains too much.
 */
interface Kept {
  items: TrashedNode[]
  versions: VersionRow[]
}

export function keptService({
  db,
  pubSub,
  trashItems,
  trashDays,
  versionDays,
  keptPercent,
  wake,
}: Core<'db' | 'pubSub' | 'wake'> &
  Pick<Config, 'trashDays' | 'versionDays' | 'keptPercent'> & { trashItems: TrashItemService }) {
  /**
   * Permanently deletes found data of a locked bucket.
   * @returns the number of deleted items
   */
  function purge(bucketId: string, find: (tx: Tx) => Promise<Kept>): Promise<number> {
    return db.transaction(async tx => {
      await lockBucket(db, bucketId, tx)
      const { items, versions } = await find(tx)
      // Versions first: a trashed file may still have some.
      await deleteVersions(db, bucketId, versions, tx)
      await trashItems.purge(bucketId, items, tx)
      return items.length + versions.length
    })
  }

  /** Purges due rows in batches that lock a tree only briefly. */
  async function purgeDue(
    due: () => Promise<{ id: string; bucketId: string }[]>,
    find: (bucketId: string, ids: string[], tx: Tx) => Promise<Partial<Kept>>,
  ): Promise<void> {
    for (;;) {
      const rows = await due()
      let count = 0
      for (const [bucketId, some] of Map.groupBy(rows, row => row.bucketId)) {
        const ids = some.map(row => row.id)
        count += await purge(bucketId, async tx => ({
          items: [],
          versions: [],
          ...(await find(bucketId, ids, tx)),
        }))
        pubSub.publish('driveChanged', bucketId)
      }
      if (count > 0) wake()
      // Items that refer to nothing are left to the doctor.
      if (rows.length < BATCH || count === 0) return
    }
  }

  /** The oldest kept data of a locked bucket that amounts to this many bytes, at most one batch. */
  async function oldestOf(bucketId: string, bytes: number, tx: Tx): Promise<Kept> {
    const items = await oldestTrashed(db, bucketId, BATCH, tx)
    const versions = await oldestVersions(db, bucketId, BATCH, tx)
    // Ids sort by the time of the deletion or replacement.
    const all = [
      ...items.map(item => ({ item, at: item.itemId, bytes: item.bytes })),
      ...versions.map(version => ({ version, at: version.id, bytes: version.size })),
    ].sort((a, b) => (a.at < b.at ? -1 : 1))
    let left = bytes
    const going = all.slice(0, BATCH).filter(one => {
      const goes = left > 0
      left -= one.bytes
      return goes
    })
    return {
      items: going.flatMap(one => ('item' in one ? one.item : [])),
      versions: going.flatMap(one => ('version' in one ? one.version : [])),
    }
  }

  return {
    /** Permanently deletes data whose retention has ended. */
    async purgeExpired(): Promise<void> {
      await purgeDue(
        () => trashBefore(db, Date.now() - trashDays * DAY_MS, BATCH),
        async (bucketId, ids, tx) => ({ items: await trashedNodes(db, bucketId, ids, tx) }),
      )
      await purgeDue(
        () => versionsBefore(db, Date.now() - versionDays * DAY_MS, BATCH),
        async (_bucketId, ids, tx) => ({ versions: await versionsByIds(db, ids, tx) }),
      )
    },

    /** Permanently deletes the oldest data of drives that keep more than they may. */
    async trimOverfull(): Promise<void> {
      for (const { id } of await overfullBuckets(db, keptPercent, BATCH)) {
        for (let count = BATCH; count === BATCH; ) {
          count = await purge(id, async tx => {
            // Another instance may have freed space meanwhile.
            const excess = await excessOf(db, keptPercent, id, tx)
            return excess > 0 ? oldestOf(id, excess, tx) : { items: [], versions: [] }
          })
        }
        wake()
        pubSub.publish('driveChanged', id)
      }
    },
  }
}

export type KeptService = ReturnType<typeof keptService>
