import type { Db, Tx } from '../index.ts'
import { ShareEvent } from '../models/share-event.ts'
import { firstOfEach, type Page, unionPart } from './page.ts'
import { firstIdAt, inParts, insertion, selection } from './sql.ts'

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

/** Uses of one share that are counted, the last ones: a link that the world uses must not hold up who looks at it. */
export const MOST_COUNTED = 10_000

/** How often a share was used in one way, and when last. */
export interface UseCount extends Pick<ShareEvent, 'shareId' | 'kind'> {
  count: number
  lastAt: number
}

/**
 * Counts the uses of some shares, of each the last 10,000. One statement for up to 100.
 * @param since only those after this time
 * @param except not those of this person
 */
export async function countUses(
  db: Db,
  shareIds: string[],
  { since = 0, except = '' }: { since?: number; except?: string } = {},
  tx?: Tx,
): Promise<UseCount[]> {
  const part = unionPart(
    db,
    `SELECT share_id, kind, at FROM share_event WHERE share_id = ? AND id >= ? AND (person_id IS NULL OR person_id <> ?)
     ORDER BY id DESC LIMIT ${MOST_COUNTED}`,
  )
  const counts: UseCount[] = []
  for (const some of inParts(shareIds, 100))
    counts.push(
      ...(await db.rows<UseCount>(
        `SELECT share_id AS shareId, kind, COUNT(*) AS count, MAX(at) AS lastAt
         FROM (${some.map(() => part).join(' UNION ALL ')}) u GROUP BY share_id, kind`,
        some.flatMap(id => [id, firstIdAt(since + 1), except]),
        tx,
      )),
    )
  return counts.map(({ count, lastAt, ...use }) => ({ ...use, count: Number(count), lastAt: Number(lastAt) }))
}
