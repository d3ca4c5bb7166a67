import { validate as isUuid } from 'uuid'
import type { EventKind } from '../../../db/models/event.ts'
import {
  type EventRow,
  endsOf,
  eventOf,
  eventsOf,
  eventsOfEntries,
} from '../../../db/queries/event.ts'
import { mapPage, mapPages, type Page, pageOf } from '../../../db/queries/page.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'
import { type PageArgs, readCursor, readLimit, writeCursor } from '../page.ts'
import type { EventView } from './event.ts'
import { type EventOnWire, onWire } from './event-wire.ts'

/** Selects a part of a log. */
export interface EventQuery {
  after?: string | null | undefined
  limit: number
  /** Newest first. `after` is the end of the previous page in either direction. */
  newestFirst?: boolean
  kinds: readonly EventKind[]
}

/** The result of a poll. */
export interface EventPoll {
  events: EventOnWire[]
  more: boolean
  /** The cursor after all events seen or hidden so far. */
  cursor: string
}

/** Replaces a cursor: returns only the current end of the log. */
const NOW = 'now'

export const cursorExpired = () =>
  new AppError(
    'CURSOR_EXPIRED',
    'The events after this cursor are no longer kept. Get a new cursor, read the files again, and continue from there.',
  )

/** Reads the logs of drives and people. None of it authorizes. */
export function eventFeedService({ db }: Core<'db'>) {
  const feed = {
    cursorOf: ({ logId, seq }: Pick<EventView, 'logId' | 'seq'>): string =>
      writeCursor([logId, seq]),

    /**
     * The number in a cursor of this log.
     * @throws INVALID_INPUT
     */
    readCursor(logId: string, cursor: string, field = 'after'): number {
      const [log, seq = 0] = readCursor(cursor, ['id', 'number'], false, field) ?? []
      if (log !== logId || seq < 0)
        throw new InvalidInput(
          field,
          'This cursor belongs to another list. Use a cursor of this list.',
        )
      return seq
    },

    /** The current end of a log. Later events have higher numbers. */
    async headOf(logId: string): Promise<number> {
      return (await endsOf(db, logId)).head
    },

    /** A page of a log. @throws CURSOR_EXPIRED, INVALID_INPUT */
    async page(
      logId: string,
      { after, limit, newestFirst = false, kinds }: EventQuery,
    ): Promise<Page<EventView>> {
      const seq = after ? feed.readCursor(logId, after) : null
      return feed.pageAfter(logId, seq, { limit, newestFirst, kinds })
    },

    /** A page of a log after a number. */
    async pageAfter(
      logId: string,
      after: number | null,
      { limit, newestFirst = false, kinds }: Omit<EventQuery, 'after'>,
    ): Promise<Page<EventView>> {
      const rows =
        kinds.length > 0
          ? await eventsOf(db, logId, { after, newestFirst, kinds, limit: limit + 1 })
          : []
      // Checked after the rows were read, so that no reader misses events purged in between.
      const isNext = rows[0]?.seq === (after ?? 0) + 1
      if (after !== null && !newestFirst && !isNext) {
        const { head, purged } = await endsOf(db, logId)
        if (after < purged || after > head) throw cursorExpired()
      }
      return mapPage(pageOf(rows, limit), toView)
    },

    /**
     * The retained events of some files and folders of any drives. Each page starts after the same
     * number.
     */
    async pagesOfEntries(
      entryIds: string[],
      after: number | null,
      { limit, newestFirst = false, kinds }: Omit<EventQuery, 'after'>,
    ): Promise<Map<string, Page<EventView>>> {
      if (kinds.length === 0) return new Map()
      return mapPages(
        await eventsOfEntries(db, entryIds, { after, newestFirst, kinds, limit }),
        toView,
      )
    },

    /**
     * The events after a cursor, and the next cursor. The cursor also passes events of other kinds,
     * so that it does not expire when those are many.
     * @throws CURSOR_EXPIRED, INVALID_INPUT
     */
    async poll(
      logId: string,
      kinds: readonly EventKind[],
      { after, limit }: { after?: string | null | undefined } & Pick<PageArgs, 'limit'>,
    ): Promise<EventPoll> {
      const most = readLimit(limit)
      const from = after && after !== NOW ? feed.readCursor(logId, after) : null
      // Read before the events, so that no event in between is skipped.
      const head = await feed.headOf(logId)
      const cursor = (seq: number) => feed.cursorOf({ logId, seq })
      if (after === NOW || (from ?? 0) === head)
        return { events: [], more: false, cursor: cursor(head) }
      const { rows, more } = await feed.pageAfter(logId, from, { limit: most, kinds })
      const last = rows.at(-1)?.seq ?? from ?? 0
      return { events: rows.map(onWire), more, cursor: cursor(more ? last : Math.max(last, head)) }
    },

    /** A single event by id. */
    async byId(id: string): Promise<EventView | undefined> {
      const [logId = '', number = ''] = id.split(':')
      if (!isUuid(logId) || !/^\d{1,15}$/.test(number)) return undefined
      const row = await eventOf(db, logId, Number(number))
      return row && toView(row)
    },
  }
  return feed
}

export type EventFeedService = ReturnType<typeof eventFeedService>

function toView(row: EventRow): EventView {
  return { ...row, id: `event:${row.logId}:${row.seq}`, details: JSON.parse(row.details) }
}
