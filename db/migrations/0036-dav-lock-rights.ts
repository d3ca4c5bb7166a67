import type { Migration } from '../migration.ts'
import { DavLock } from '../models/dav-lock.ts'

/** Records by which share a WebDAV lock was made, so that the lock ends with that right. */
export const davLockRights: Migration = {
  name: '0036-dav-lock-rights',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('dav_lock', options)
    if (!('share_id' in there)) {
      const column = DavLock.columns.shareId.attribute(db.dialect)
      await tables.addColumn('dav_lock', 'share_id', column, options)
    }
  },
}
