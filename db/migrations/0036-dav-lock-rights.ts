import { addColumn, type Migration } from '../migration.ts'

/** Records by which share a WebDAV lock was made, so that the lock ends with that right. */
export const davLockRights: Migration = {
  name: '0036-dav-lock-rights',

  up: context =>
    addColumn(context, 'dav_lock', 'share_id', {
      sqlite: 'VARCHAR(36) REFERENCES share (id) ON DELETE CASCADE',
      mysql: `CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
        ADD FOREIGN KEY (share_id) REFERENCES share (id) ON DELETE CASCADE`,
    }),
}
