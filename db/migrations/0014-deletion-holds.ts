import type { Migration } from '../migration.ts'

/** Lets backups hold deletions from the blob store. */
export const deletionHolds: Migration = {
  name: '0014-deletion-holds',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.DeletionHold.sync(options)
  },
}
