import { addColumn, type Migration } from '../migration.ts'

const statements = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS ended_share (
      id VARCHAR(36) NOT NULL PRIMARY KEY,
      user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
      bucket_id VARCHAR(36) NOT NULL,
      terms TEXT NOT NULL,
      favourites TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      ended_at BIGINT NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS ended_share_user_id_bucket_id
      ON ended_share (user_id, bucket_id)`,
    `CREATE INDEX IF NOT EXISTS ended_share_ended_at
      ON ended_share (ended_at)`,
    `CREATE TABLE IF NOT EXISTS ended_share_entry (
      share_id VARCHAR(36) NOT NULL,
      entry_id VARCHAR(36) NOT NULL,
      item_id VARCHAR(36) NOT NULL REFERENCES trash_item (id) ON DELETE CASCADE,
      user_id VARCHAR(36) NOT NULL,
      position BIGINT NOT NULL,
      ended_at BIGINT NOT NULL,
      PRIMARY KEY (share_id, entry_id)
    )`,
    `CREATE INDEX IF NOT EXISTS ended_share_entry_item_id
      ON ended_share_entry (item_id)`,
    `CREATE INDEX IF NOT EXISTS ended_share_entry_ended_at
      ON ended_share_entry (ended_at)`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS ended_share (
      id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      user_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      bucket_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      terms TEXT NOT NULL,
      favourites TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      ended_at BIGINT NOT NULL,
      PRIMARY KEY (id),
      FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE,
      INDEX ended_share_user_id_bucket_id (user_id, bucket_id),
      INDEX ended_share_ended_at (ended_at)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS ended_share_entry (
      share_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      entry_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      item_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      user_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      position BIGINT NOT NULL,
      ended_at BIGINT NOT NULL,
      PRIMARY KEY (share_id, entry_id),
      FOREIGN KEY (item_id) REFERENCES trash_item (id) ON DELETE CASCADE,
      INDEX ended_share_entry_item_id (item_id),
      INDEX ended_share_entry_ended_at (ended_at)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  ],
}

/** Adds the shares that a deletion ended, so that restoring soon brings them back. */
export const endedShares: Migration = {
  name: '0051-ended-shares',

  async up(context) {
    const { db, transaction } = context
    for (const sql of statements[db.dialect]) await db.run(sql, [], transaction)
    await addColumn(context, 'trash_item', 'ended_shares', 'INTEGER NOT NULL DEFAULT 0')
  },
}
