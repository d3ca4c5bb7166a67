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

/** Items and versions that one transaction deletes. */
const BATCH = 500

/** What is kept beyond the usage, and goes: when its time is over, or when it is too much. */
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
  /** Deletes what is found in a locked bucket permanently. @returns how much */
  function purge(bucketId: string, find: (tx: Tx) => Promise<Kept>): Promise<number> {
    return db.transaction(async tx => {
      await lockBucket(db, bucketId, tx)
      const { items, versions } = await find(tx)
      // First: with an item go the versions that its file still has.
      await deleteVersions(db, bucketId, versions, tx)
      await trashItems.purge(bucketId, items, tx)
      return items.length + versions.length
    })
  }

  /** The same for rows that are due, in batches that do not hold up a tree for long. */
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
        pubSub.publish('bucketChanged', bucketId)
      }
      if (count > 0) wake()
      // Items of nothing are left to the doctor.
      if (rows.length < BATCH || count === 0) return
    }
  }

  /** The oldest things in a locked bucket that together have so many bytes, at most a batch. */
  async function oldestOf(bucketId: string, bytes: number, tx: Tx): Promise<Kept> {
    const items = await oldestTrashed(db, bucketId, BATCH, tx)
    const versions = await oldestVersions(db, bucketId, BATCH, tx)
    // Ids are ordered by the time at which they were thrown away or replaced.
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
    /** Deletes permanently what has waited long enough. */
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

    /** Deletes the oldest things permanently where a drive keeps more than it may. */
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
        pubSub.publish('bucketChanged', id)
      }
    },
  }
}

export type KeptService = ReturnType<typeof keptService>
