import { counter, moment, number, type Row, table } from './columns.ts'

/** What was stored on a day, as it was last read, for the forecast of when the volume is full. */
export const StorageDay = table({
  tableName: 'storage_day',
  columns: {
    /** Days since 1970, in UTC. */
    day: number.key(),
    usedBytes: counter,
    keptBytes: counter,
    at: moment,
  },
})

export type StorageDay = Row<typeof StorageDay>
