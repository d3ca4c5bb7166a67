import { addColumn, type Migration } from '../migration.ts'

/** Adds how many changes of name or place the revision of an entry counts. */
export const contentRevisions: Migration = {
  name: '0056-content-revisions',

  async up(context) {
    await addColumn(context, 'entry', 'moves', 'BIGINT NOT NULL DEFAULT 0')
  },
}
