import { addColumn, type Migration } from '../migration.ts'

/** Adds how a person wants lists of files to be shown. */
export const filesView: Migration = {
  name: '0053-files-view',

  async up(context) {
    await addColumn(context, 'user', 'files_view', 'VARCHAR(200)')
  },
}
