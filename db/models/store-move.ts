import { integer, moment, number, type Row, table, text, touched, uuid } from './columns.ts'

/**
 * A move of all blobs from one store to another (docs/decisions/moving-blobs.md). The first store
 * of an installation has the number 0; each move leads to the store with its number.
 */
export const StoreMove = table({
  tableName: 'store_move',
  columns: {
    number: integer.key(),
    /** Descriptions of the stores, for operators. */
    source: text(500),
    target: text(500),
    /** From then on, new blobs go to the target. */
    startedAt: moment,
    /** When all blobs had reached the target. */
    finishedAt: moment.nullable(),
    /** The process that copies, and when its claim expires. */
    claim: uuid.nullable(),
    claimUntil: number.default(0),
    touched,
  },
})

export type StoreMove = Row<typeof StoreMove>
