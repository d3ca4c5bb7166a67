import type { Migration } from '../migration.ts'

/** Keeps the locks of WebDAV clients, and the properties that they give files and folders. */
export const dav: Migration = {
  name: '0029-dav',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const model of [db.DavProperty, db.DavLock]) await model.sync(options)
  },
}
