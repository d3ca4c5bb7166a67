import type { Migration } from '../migration.ts'

/** Lets operators refuse writes until a date. */
export const maintenance: Migration = {
  name: '0015-maintenance',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.Maintenance.sync(options)
  },
}
