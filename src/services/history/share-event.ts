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

/** Who uses a share. */
export interface ShareUser {
  caller: Caller | null
  /** IP address; of which the network is kept. */
  address: string
  /** What the client calls itself: its User-Agent. */
  client?: string | undefined
  log: Log
}

/**
 * Milliseconds after which a use is shown: by then all uses are committed whose ids, which are
 * given before, sort before its id.
 */
const SETTLED_MS = 10_000
/** Uses that are written together. */
const AT_ONCE = 500

/** A use to note, and whether to count it as a download. */
interface Use {
  row: ShareEventRow
  counts: boolean
}

/**
 * The uses of shares, which their sharers read. No use waits for one of another share, and none
 * makes a drive wait.
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
   * @returns for each use whether it is noted: not where it counts, and could not be counted with
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

  /** Writes together what has come while the uses before were being written. */
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
    /** Notes a use of a share. Never throws: a failure to note it refuses no one the file. */
    async note(shareId: string, kind: ShareEventKind, user: ShareUser): Promise<void> {
      try {
        await uses.load({ row: rowOf(shareId, kind, user), counts: false })
      } catch (error) {
        user.log.warn({ err: error, share_id: shareId }, 'could not record a use of a share')
      }
    },

    /**
     * Counts and notes a download of a share that does not limit them, with all that come at once.
     * Never throws. Returns false when nothing is done.
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
     * How often some shares were used, and when last. Does not authorize: pass only shares of the
     * caller.
     */
    async counts(shareIds: string[]): Promise<Map<string, UseCount[]>> {
      return Map.groupBy(await countUses(db, shareIds), ({ shareId }) => shareId)
    },

    /**
     * How often some shares were used on each day. Does not authorize: pass only shares of the
     * caller.
     * @param since when the first day begins; each lasts 24 hours
     */
    async countsByDay(shareIds: string[], since: number): Promise<Map<string, SpanCount[]>> {
      return Map.groupBy(
        await countUsesInSpans(db, shareIds, { since, spanMs: DAY_MS }),
        ({ shareId }) => shareId,
      )
    },

    /**
     * The uses of some shares until ten seconds ago, by the id of the share. Does not authorize:
     * pass only shares of the caller.
     */
    pages: (
      shareIds: string[],
      range: { limit: number; after: string | null; newestFirst: boolean },
    ): Promise<Map<string, Page<ShareEventRow>>> =>
      pagesOfShareEvents(db, shareIds, { ...range, until: Date.now() - SETTLED_MS }),
  }
}

export type ShareEventService = ReturnType<typeof shareEventService>
