import DataLoader from 'dataloader'
import { v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import type { ShareEventKind } from '../../../db/models/share-event.ts'
import type { Page } from '../../../db/queries/page.ts'
import { countDownloads } from '../../../db/queries/share.ts'
import {
  countUses,
  countUsesInSpans,
  insertShareEvents,
  pagesOfShareEvents,
  type ShareEventRow,
  type SpanCount,
  type UseCount,
} from '../../../db/queries/share-event.ts'
import type { Caller } from '../../access/caller.ts'
import type { Log } from '../../runtime/log.ts'
import { deviceOf } from '../../values/device.ts'
import { DAY_MS } from '../../values/duration.ts'
import { truncateAddress } from '../../values/network.ts'
import type { Core } from '../core.ts'

/** The visitor of a share. */
export interface ShareUser {
  caller: Caller | null
  /** The IP address. Only its network is stored. */
  address: string
  /** The client's User-Agent. */
  client?: string | undefined
  log: Log
}

/**
 * The age at which a use is shown, in milliseconds. By then, all uses are committed whose earlier
 * ids sort before it.
 */
const SETTLED_MS = 10_000
/** The number of uses written together. */
const AT_ONCE = 500

/** A use to record, and whether it counts as a download. */
interface Use {
  row: ShareEventRow
  counts: boolean
}

/**
 * The uses of shares, for their sharers. No use waits for one of another share, and none locks a
 * drive.
 */
export function shareEventService({ db }: Core<'db'>) {
  let writing: Promise<unknown> = Promise.resolve()

  const insert = (some: readonly Use[], tx?: Tx) =>
    insertShareEvents(
      db,
      some.map(({ row }) => row),
      tx,
    )

  /**
   * @returns for each use whether it was recorded; false if it counts and could not be counted with
   * the others
   */
  async function write(some: readonly Use[]): Promise<boolean[]> {
    const counted = some.flatMap(({ row, counts }) => (counts ? [row.shareId] : []))
    if (counted.length === 0) {
      await insert(some)
      return some.map(() => true)
    }
    return db.transaction(async tx => {
      const done = await countDownloads(db, counted, tx)
      const isNoted = ({ row, counts }: Use) => !counts || done.has(row.shareId)
      await insert(some.filter(isNoted), tx)
      return some.map(isNoted)
    })
  }

  /** Writes all uses together that arrived during the previous write. */
  const uses = new DataLoader<Use, boolean>(
    some => {
      const written = write(some)
      writing = written.catch(() => {})
      return written
    },
    { cache: false, maxBatchSize: AT_ONCE, batchScheduleFn: begin => void writing.then(begin) },
  )

  const rowOf = (
    shareId: string,
    kind: ShareEventKind,
    { caller, address, client }: ShareUser,
  ): ShareEventRow => ({
    id: newId(),
    shareId,
    at: Date.now(),
    kind,
    personId: caller?.userId ?? null,
    network: truncateAddress(address),
    client: deviceOf(client),
  })

  return {
    /**
     * Records a use of a share. Never throws, because a failure must not keep the visitor from the
     * file.
     */
    async note(shareId: string, kind: ShareEventKind, user: ShareUser): Promise<void> {
      try {
        await uses.load({ row: rowOf(shareId, kind, user), counts: false })
      } catch (error) {
        user.log.warn({ err: error, share_id: shareId }, 'could not record a use of a share')
      }
    },

    /**
     * Counts and records a download of a share without a limit, together with concurrent ones.
     * Never throws. Returns false if nothing was recorded.
     */
    async noteDownload(shareId: string, user: ShareUser): Promise<boolean> {
      try {
        return await uses.load({ row: rowOf(shareId, 'downloaded', user), counts: true })
      } catch (error) {
        user.log.warn(
          { err: error, share_id: shareId },
          'could not count and record downloads together',
        )
        return false
      }
    },

    /**
     * The number of uses of some shares, and the time of the last one. Does not authorize: pass
     * only shares of the caller.
     */
    async counts(shareIds: string[]): Promise<Map<string, UseCount[]>> {
      return Map.groupBy(await countUses(db, shareIds), ({ shareId }) => shareId)
    },

    /**
     * The number of uses of some shares on each day. Does not authorize: pass only shares of the
     * caller.
     * @param since the start of the first day; each lasts 24 hours
     */
    async countsByDay(shareIds: string[], since: number): Promise<Map<string, SpanCount[]>> {
      return Map.groupBy(
        await countUsesInSpans(db, shareIds, { since, spanMs: DAY_MS }),
        ({ shareId }) => shareId,
      )
    },

    /**
     * The uses of some shares up to ten seconds ago, by share id. Does not authorize: pass only
     * shares of the caller.
     */
    pages: (
      shareIds: string[],
      range: { limit: number; after: string | null; newestFirst: boolean },
    ): Promise<Map<string, Page<ShareEventRow>>> =>
      pagesOfShareEvents(db, shareIds, { ...range, until: Date.now() - SETTLED_MS }),
  }
}

export type ShareEventService = ReturnType<typeof shareEventService>
