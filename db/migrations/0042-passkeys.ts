import { addColumn, type Migration } from '../migration.ts'

const statements = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS passkey (
      id VARCHAR(36) NOT NULL PRIMARY KEY,
      login_id VARCHAR(36) NOT NULL REFERENCES login (id) ON DELETE CASCADE,
      credential_hash VARCHAR(64) NOT NULL,
      credential_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      counter BIGINT NOT NULL,
      transports VARCHAR(100) NOT NULL DEFAULT '',
      name VARCHAR(100) NOT NULL DEFAULT '',
      backed_up TINYINT(1) NOT NULL,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT
    )`,
    `CREATE UNIQUE INDEX IF NOT EXISTS passkey_credential_hash
      ON passkey (credential_hash)`,
    `CREATE INDEX IF NOT EXISTS passkey_login_id
      ON passkey (login_id)`,
    `CREATE TABLE IF NOT EXISTS recovery_code (
      hash VARCHAR(64) NOT NULL PRIMARY KEY,
      login_id VARCHAR(36) NOT NULL REFERENCES login (id) ON DELETE CASCADE,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS recovery_code_login_id
      ON recovery_code (login_id)`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS passkey (
      id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      login_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      credential_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      credential_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      counter BIGINT NOT NULL,
      transports VARCHAR(100) NOT NULL DEFAULT '',
      name VARCHAR(100) NOT NULL DEFAULT '',
      backed_up TINYINT(1) NOT NULL,
      created_at BIGINT NOT NULL,
      last_used_at BIGINT,
      PRIMARY KEY (id),
      FOREIGN KEY (login_id) REFERENCES login (id) ON DELETE CASCADE,
      UNIQUE INDEX passkey_credential_hash (credential_hash),
      INDEX passkey_login_id (login_id)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS recovery_code (
      hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      login_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (hash),
      FOREIGN KEY (login_id) REFERENCES login (id) ON DELETE CASCADE,
      INDEX recovery_code_login_id (login_id)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  ],
}

/** Adds passkeys and second factors, and when the person of a session last proved who they are. */
export const passkeys: Migration = {
  name: '0042-passkeys',

  async up(context) {
    const { db, transaction } = context
    for (const sql of statements[db.dialect]) await db.run(sql, [], transaction)
    await addColumn(context, 'login', 'totp', 'VARCHAR(512)')
    await addColumn(context, 'login', 'totp_step', 'BIGINT')
    await addColumn(context, 'login', 'factor_at', 'BIGINT')
    await addColumn(context, 'session', 'proved_at', 'BIGINT')
  },
}
