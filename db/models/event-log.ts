import { number, type Row, table, uuid } from './columns.ts'

/** How far the events of a log were purged. A log without purged events has no row. */
export const EventLog = table({
  tableName: 'event_log',
  columns: {
    logId: uuid.key(),
    purgedSeq: number,
  },
})

export type EventLog = Row<typeof EventLog>
