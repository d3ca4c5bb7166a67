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
  {
    after,
    newestFirst,
    until,
    limit,
  }: { after: string | null; newestFirst: boolean; until: number; limit: number },
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

/**
 * Uses of one share that are counted, the last ones: a link that the world uses must not hold up
 * who looks at it.
 */
export const MOST_COUNTED = 10_000

/** How often a share was used in one way, and when last. */
export interface UseCount extends Pick<ShareEvent, 'shareId' | 'kind'> {
  count: number
  lastAt: number
}

/** The last uses of some shares since a time, 10,000 of each; not those of the person `except`. */
const lastUses = (
  db: Db,
  shareIds: string[],
  since: number,
  except: string,
): [sql: string, values: string[]] => {
  const part = unionPart(
    db,
    `SELECT share_id, kind, at FROM share_event WHERE share_id = ? AND id >= ? AND (person_id IS NULL OR person_id <> ?)
     ORDER BY id DESC LIMIT ${MOST_COUNTED}`,
  )
  return [
    shareIds.map(() => part).join(' UNION ALL '),
    shareIds.flatMap(id => [id, firstIdAt(since), except]),
  ]
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
  const counts: UseCount[] = []
  for (const some of inParts(shareIds, 100)) {
    const [uses, values] = lastUses(db, some, since + 1, except)
    const sql = `SELECT share_id AS shareId, kind, COUNT(*) AS count, MAX(at) AS lastAt
       FROM (${uses}) u GROUP BY share_id, kind`
    counts.push(...(await db.rows<UseCount>(sql, values, tx)))
  }
  return counts.map(({ count, lastAt, ...use }) => ({
    ...use,
    count: Number(count),
    lastAt: Number(lastAt),
  }))
}

/** How often a share was used in one way in a span of time. */
export interface SpanCount extends Pick<UseCount, 'shareId' | 'kind' | 'count'> {
  /** The number of the span; the first is 0. */
  span: number
}

/**
 * Counts the uses of some shares in spans of time, of each the last 10,000. One statement for up to 100.
 * @param since when the first span begins
 * @param spanMs how long each lasts, in milliseconds
 */
export async function countUsesInSpans(
  db: Db,
  shareIds: string[],
  { since, spanMs }: { since: number; spanMs: number },
): Promise<SpanCount[]> {
  const counts: SpanCount[] = []
  for (const some of inParts(shareIds, 100)) {
    const [uses, values] = lastUses(db, some, since, '')
    // The engines divide differently; both subtract a remainder alike.
    const sql = `SELECT share_id AS shareId, kind, COUNT(*) AS count, (at - ? - (at - ?) % ${spanMs}) / ${spanMs} AS span
       FROM (${uses}) u GROUP BY share_id, kind, span`
    counts.push(...(await db.rows<SpanCount>(sql, [since, since, ...values])))
  }
  return counts.map(({ count, span, ...use }) => ({
    ...use,
    count: Number(count),
    span: Number(span),
  }))
}
