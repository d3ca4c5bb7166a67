import { integer, moment, type Row, table, text, uuid } from './columns.ts'

/**
 * A maintenance, during which writes are refused. One row at most; one whose end has passed is
 * over.
 */
export const Maintenance = table({
  tableName: 'maintenance',
  columns: {
    /** Always 1: there is one maintenance at a time. */
    slot: integer.key(),
    startedAt: moment,
    endsAt: moment,
    /** What the operator says about it, in their words; may be empty. */
    message: text(500),
    /** The operator who has started it; null for the command line of the service. */
    startedBy: uuid.nullable(),
  },
})

export type Maintenance = Row<typeof Maintenance>
