import { integer, longText, moment, type Row, table, word } from './columns.ts'

export const MAX_INSTANCE_NAME = 255

/**
 * The state that a running instance reports. Deleted when it stops. The row of an instance that
 * died is kept for a while.
 */
export const InstanceState = table({
  tableName: 'instance_state',
  columns: {
    /** Its machine and its port. */
    name: word(MAX_INSTANCE_NAME).key(),
    startedAt: moment,
    seenAt: moment,
    /** Its problems, as JSON. */
    alarms: longText,
    /** The number of the newest blob store that it knows: `StoreMove`. */
    store: integer.default(0),
  },
})

export type InstanceState = Row<typeof InstanceState>
