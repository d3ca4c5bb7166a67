import { integer, longText, moment, type Row, table, word } from './columns.ts'

export const MAX_INSTANCE_NAME = 255

/**
 * What an instance that runs says of itself. Removed when it stops; one that dies leaves it for a
 * while.
 */
export const InstanceState = table({
  tableName: 'instance_state',
  columns: {
    /** Its machine and its port. */
    name: word(MAX_INSTANCE_NAME).key(),
    startedAt: moment,
    seenAt: moment,
    /** What is wrong, as JSON. */
    alarms: longText,
    /** The number of the newest blob store that it knows: `StoreMove`. */
    store: integer.default(0),
  },
})

export type InstanceState = Row<typeof InstanceState>
