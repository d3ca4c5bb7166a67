import type { Db, Tx } from '../index.ts'
import { ShareEvent } from '../models/share-event.ts'
import { firstOfEach, type Page } from './page.ts'
import { insertion, placeholders } from './sql.ts'

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
    `SELECT id, share_id AS shareId, at, kind, person_id AS personId, network, client FROM share_event
     WHERE share_id = ? AND at <= ?${after === null ? '' : ` AND id ${newestFirst ? '<' : '>'} ?`}`,
    {
      order: newestFirst ? 'id DESC' : 'id',
      owners: shareIds,
      values: [until, ...(after === null ? [] : [after])],
      limit,
    },
  )

/** Deletes the uses until a time, in batches: UUIDs of version 7 begin with the milliseconds. */
export async function deleteShareEvents(db: Db, before: number, batch: number): Promise<void> {
  const time = before.toString(16).padStart(12, '0')
  const first = `${time.slice(0, 8)}-${time.slice(8)}`
  for (;;) {
    const rows = await db.rows<{ id: string }>(`SELECT id FROM share_event WHERE id < ? ORDER BY id LIMIT ${batch}`, [
      first,
    ])
    if (rows.length === 0) return
    const ids = rows.map(({ id }) => id)
    await db.run(`DELETE FROM share_event WHERE id IN (${placeholders(ids)})`, ids)
  }
}
