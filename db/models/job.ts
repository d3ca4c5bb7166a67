import { integer, mediumText, moment, type Row, table, text, uuid } from './columns.ts'

/**
 * A row of the outbox: a job that is enqueued in the transaction of the change that causes it, and
 * run later.
 */
export const Job = table({
  tableName: 'outbox',
  columns: {
    id: uuid.key(),
    kind: text(32),
    /**
     * JSON as text: MariaDB returns JSON columns as text anyway. The mail of a share may list a
     * hundred files.
     */
    payload: mediumText,
    attempts: integer.default(0),
    /**
     * When it may be claimed next. Claiming moves this time ahead, so that another worker can claim
     * the job if the first one dies.
     */
    dueAt: moment,
    lastError: text(500),
    createdAt: moment,
  },
  indexes: [['kind', 'dueAt']],
})

export type Job = Row<typeof Job>
