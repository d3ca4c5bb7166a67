import type { Db, Tx } from '../index.ts'
import { ShareEvent } from '../models/share-event.ts'
import { firstOfEach, type Page } from './page.ts'
import { insertion, selection } from './sql.ts'

/** A use of a share as it is stored: see db/models/share-event.ts. */
export type ShareEventRow = ShareEvent

/** Appends uses of shares, by one statement. */
export async function insertShareEvents(db: Db, events: ShareEventRow[], tx?: Tx): Promise<void> {
  if (events.length === 0) return
  await db.run(...insertion(ShareEvent, events), tx)
}

/** Uses of some shares until a time, by the id of the share. */
export const pagesOfShareEvents = (
  db: Db,
  shareIds: string[],
  { after, newestFirst, until, limit }: { after: string | null; newestFirst: boolean; until: number; limit: number },
): Promise<Map<string, Page<ShareEventRow>>> =>
  firstOfEach<ShareEventRow>(
    db,
    `SELECT ${selection(ShareEvent)} FROM share_event
     WHERE share_id = ? AND at <= ?${after === null ? '' : ` AND id ${newestFirst ? '<' : '>'} ?`}`,
    {
      order: newestFirst ? 'id DESC' : 'id',
      owners: shareIds,
      values: [until, ...(after === null ? [] : [after])],
      limit,
    },
  )
