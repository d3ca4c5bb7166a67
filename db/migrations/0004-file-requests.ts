import type { Migration } from '../migration.ts'

/** File requests and what is sent to them. */
export const fileRequests: Migration = {
  name: '0004-file-requests',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.FileRequest.sync(options)
    await db.FileRequestUpload.sync(options)
  },
}
