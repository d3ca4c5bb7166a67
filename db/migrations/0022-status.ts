import type { Migration } from '../migration.ts'

/** Adds what the status page of operators shows beyond the memory of an instance. */
export const status: Migration = {
  name: '0022-status',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const model of [db.StorageDay, db.InstanceState, db.BackupRun]) await model.sync(options)
  },
}
