import { integer, moment, type Row, table, text, uuid } from './columns.ts'

/**
 * A maintenance, during which writes are refused. One row at most. A maintenance whose end has
 * passed is over.
 */
export const Maintenance = table({
  tableName: 'maintenance',
  columns: {
    /** Always 1: there is one maintenance at a time. */
    slot: integer.key(),
    startedAt: moment,
    endsAt: moment,
    /** The operator's message; may be empty. */
    message: text(500),
    /** The operator who started it; null for the command line of the service. */
    startedBy: uuid.nullable(),
  },
})

export type Maintenance = Row<typeof Maintenance>
