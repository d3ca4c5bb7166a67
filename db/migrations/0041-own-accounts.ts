import type { Migration } from '../migration.ts'

const statements = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS login (
      id VARCHAR(36) NOT NULL PRIMARY KEY,
      user_id VARCHAR(36) NOT NULL REFERENCES user (id) ON DELETE CASCADE,
      email VARCHAR(320) NOT NULL DEFAULT '',
      password VARCHAR(255),
      touched TINYINT(1) NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      last_sign_in_at BIGINT
    )`,
    `CREATE UNIQUE INDEX IF NOT EXISTS login_email
      ON login (email)`,
    `CREATE UNIQUE INDEX IF NOT EXISTS login_user_id
      ON login (user_id)`,
    `CREATE TABLE IF NOT EXISTS login_link (
      hash VARCHAR(64) NOT NULL PRIMARY KEY,
      kind VARCHAR(16) NOT NULL,
      email VARCHAR(320) NOT NULL DEFAULT '',
      name VARCHAR(255) NOT NULL DEFAULT '',
      user_id VARCHAR(36) REFERENCES user (id) ON DELETE CASCADE,
      made_by VARCHAR(36),
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS login_link_email_kind
      ON login_link (email, kind)`,
    `CREATE INDEX IF NOT EXISTS login_link_expires_at
      ON login_link (expires_at)`,
    `CREATE INDEX IF NOT EXISTS login_link_user_id
      ON login_link (user_id)`,
    `CREATE TABLE IF NOT EXISTS sign_in_state (
      hash VARCHAR(64) NOT NULL PRIMARY KEY,
      model VARCHAR(32) NOT NULL,
      grant_hash VARCHAR(64),
      payload TEXT NOT NULL,
      consumed_at BIGINT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS sign_in_state_expires_at
      ON sign_in_state (expires_at)`,
    `CREATE INDEX IF NOT EXISTS sign_in_state_grant_hash
      ON sign_in_state (grant_hash)`,
    `CREATE INDEX IF NOT EXISTS sign_in_state_model_created_at
      ON sign_in_state (model, created_at)`,
    `CREATE TABLE IF NOT EXISTS sign_in_key (
      period INTEGER PRIMARY KEY,
      sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS login (
      id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      user_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      email VARCHAR(320) NOT NULL DEFAULT '',
      password VARCHAR(255),
      touched TINYINT(1) NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      last_sign_in_at BIGINT,
      PRIMARY KEY (id),
      FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE,
      UNIQUE INDEX login_email (email),
      UNIQUE INDEX login_user_id (user_id)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS login_link (
      hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      email VARCHAR(320) NOT NULL DEFAULT '',
      name VARCHAR(255) NOT NULL DEFAULT '',
      user_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
      made_by CHAR(36) CHARACTER SET ascii COLLATE ascii_bin,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (hash),
      FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE,
      INDEX login_link_email_kind (email, kind),
      INDEX login_link_expires_at (expires_at),
      INDEX login_link_user_id (user_id)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS sign_in_state (
      hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      model VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      grant_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
      payload TEXT NOT NULL,
      consumed_at BIGINT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (hash),
      INDEX sign_in_state_expires_at (expires_at),
      INDEX sign_in_state_grant_hash (grant_hash),
      INDEX sign_in_state_model_created_at (model, created_at)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS sign_in_key (
      period BIGINT NOT NULL,
      sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (period)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  ],
}

/** Adds accounts of the service itself, and the state of their sign-in provider. */
export const ownAccounts: Migration = {
  name: '0041-own-accounts',

  async up({ db, transaction }) {
    for (const sql of statements[db.dialect]) await db.run(sql, [], transaction)
  },
}
