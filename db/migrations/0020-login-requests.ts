import type { Migration } from '../migration.ts'

/** Lets programs sign in through a browser. */
export const loginRequests: Migration = {
  name: '0020-login-requests',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.LoginRequest.sync(options)
  },
}
