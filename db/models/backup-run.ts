import { counter, moment, type Row, table, uuid } from './columns.ts'

/** A finished backup. */
export const BackupRun = table({
  tableName: 'backup_run',
  columns: {
    id: uuid.key(),
    finishedAt: moment,
    /** Of the files in it. */
    bytes: counter,
  },
  indexes: [['finishedAt']],
})

export type BackupRun = Row<typeof BackupRun>
