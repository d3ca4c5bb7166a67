import { moment, type Row, table, uuid } from './columns.ts'

/**
 * An account that another operator has appointed. Operators named by the setting OPERATORS have no
 * row.
 */
export const Operator = table({
  tableName: 'operator',
  columns: {
    userId: uuid.key().ownedBy('user'),
    appointedBy: uuid,
    appointedAt: moment,
  },
})

export type Operator = Row<typeof Operator>
