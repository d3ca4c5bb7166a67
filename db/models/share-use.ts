import { moment, number, type Row, table, uuid } from './columns.ts'

/** One download of a share with a download limit, through a signed URL. */
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
