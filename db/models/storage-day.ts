import { counter, moment, number, type Row, table } from './columns.ts'

/** The stored amount on a day, as last read. The storage forecast uses it. */
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
