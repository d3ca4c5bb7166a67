import type { Db, Tx } from '../index.ts'
import { ShareEvent } from '../models/share-event.ts'
import { firstOfEach, type Page, unionPart } from './page.ts'
import { firstIdAt, inParts, insertion, selection } from './sql.ts'

/** A row of a share's use; see db/models/share-event.ts. */
export type ShareEventRow = ShareEvent

/** Inserts uses of shares in one statement. */
export async function insertShareEvents(db: Db, events: ShareEventRow[], tx?: Tx): Promise<void> {
  if (events.length === 0) return
  await db.run(...insertion(ShareEvent, events), tx)
}

/** Uses of some shares until a time, by share id. */
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
    `SELECT ${selection(ShareEvent)}
     FROM share_event
     WHERE share_id = ?
       AND at <= ?${after === null ? '' : ` AND id ${newestFirst ? '<' : '>'} ?`}`,
    {
      order: newestFirst ? 'id DESC' : 'id',
      owners: shareIds,
      values: [until, ...(after === null ? [] : [after])],
      limit,
    },
  )

/**
 * The number of latest uses of a share that are counted, so that a very popular link stays cheap to
 * view.
 */
export const MOST_COUNTED = 10_000

/** The number of uses of a share of one kind, and the time of the last one. */
export interface UseCount extends Pick<ShareEvent, 'shareId' | 'kind'> {
  count: number
  lastAt: number
}

/** The latest 10,000 uses of each share since a time, without those of the person `except`. */
const lastUses = (
  db: Db,
  shareIds: string[],
  since: number,
  except: string,
): [sql: string, values: (string | number)[]] => {
  const part = unionPart(
    db,
    `SELECT share_id, kind, at
     FROM share_event
     WHERE share_id = ?
       AND id >= ?
       AND at >= ?
       AND (person_id IS NULL OR person_id <> ?)
     ORDER BY id DESC
     LIMIT ${MOST_COUNTED}`,
  )
  return [
    shareIds.map(() => part).join(' UNION ALL '),
    // After a clock has gone back, new ids are ahead of their time.
    shareIds.flatMap(id => [id, firstIdAt(since), since, except]),
  ]
}

/**
 * Counts the uses of some shares, the latest 10,000 of each. One statement for up to 100.
 * @param since only uses after this time
 * @param except a person whose uses are not counted
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
      FROM (${uses}) u
      GROUP BY share_id, kind`
    counts.push(...(await db.rows<UseCount>(sql, values, tx)))
  }
  return counts.map(({ count, lastAt, ...use }) => ({
    ...use,
    count: Number(count),
    lastAt: Number(lastAt),
  }))
}

/** The number of uses of a share of one kind in a time span. */
export interface SpanCount extends Pick<UseCount, 'shareId' | 'kind' | 'count'> {
  /** The number of the span, from 0. */
  span: number
}

/**
 * Counts the uses of some shares per time span, the latest 10,000 of each. One statement for up to
 * 100.
 * @param since the start of the first span
 * @param spanMs the length of a span in milliseconds
 */
export async function countUsesInSpans(
  db: Db,
  shareIds: string[],
  { since, spanMs }: { since: number; spanMs: number },
): Promise<SpanCount[]> {
  const counts: SpanCount[] = []
  for (const some of inParts(shareIds, 100)) {
    const [uses, values] = lastUses(db, some, since, '')
    // The engines divide differently, but subtract a remainder alike.
    const sql = `SELECT share_id AS shareId, kind, COUNT(*) AS count,
        (at - ? - (at - ?) % ${spanMs}) / ${spanMs} AS span
      FROM (${uses}) u
      GROUP BY share_id, kind, span`
    counts.push(...(await db.rows<SpanCount>(sql, [since, since, ...values])))
  }
  return counts.map(({ count, span, ...use }) => ({
    ...use,
    count: Number(count),
    span: Number(span),
  }))
}
