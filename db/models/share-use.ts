import { moment, number, type Row, table, uuid } from './columns.ts'

/** One download of a share whose downloads are limited, by a signed URL that was issued for it. */
export const ShareUse = table({
  tableName: 'share_use',
  columns: {
    id: uuid.key(),
    leftBytes: number,
    expiresAt: moment,
  },
  indexes: [['expiresAt']],
})

export type ShareUse = Row<typeof ShareUse>
