import type { Migration } from '../migration.ts'

/** Copies that are made in the background. */
export const entryCopies: Migration = {
  name: '0007-entry-copies',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.EntryCopy.sync(options)
    await db.EntryCopyFolder.sync(options)
  },
}
