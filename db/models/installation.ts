import { integer, type Row, table, uuid } from './columns.ts'

/** The id of the installation, also stored in the folder of its blobs. One row. */
export const Installation = table({
  tableName: 'installation',
  columns: {
    /** Always 1, so that only one of two parallel first instances inserts the row. */
    slot: integer.key(),
    id: uuid,
  },
})

export type Installation = Row<typeof Installation>
