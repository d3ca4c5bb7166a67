import { addColumn, type Migration } from '../migration.ts'

const statements = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS oauth_client (
      id VARCHAR(36) NOT NULL PRIMARY KEY,
      name VARCHAR(100) NOT NULL DEFAULT '',
      redirect_uris TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS oauth_client_expires_at
      ON oauth_client (expires_at)`,
    `CREATE TABLE IF NOT EXISTS oauth_token (
      hash VARCHAR(64) NOT NULL PRIMARY KEY,
      kind VARCHAR(8) NOT NULL,
      key_id VARCHAR(36) NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
      client_id VARCHAR(36) NOT NULL,
      resource VARCHAR(300) NOT NULL DEFAULT '',
      expires_at BIGINT NOT NULL,
      used_at BIGINT
    )`,
    `CREATE INDEX IF NOT EXISTS oauth_token_key_id
      ON oauth_token (key_id)`,
    `CREATE INDEX IF NOT EXISTS oauth_token_expires_at
      ON oauth_token (expires_at)`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS oauth_client (
      id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      name VARCHAR(100) NOT NULL DEFAULT '',
      redirect_uris TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (id),
      INDEX oauth_client_expires_at (expires_at)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS oauth_token (
      hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      key_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      client_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      resource VARCHAR(300) NOT NULL DEFAULT '',
      expires_at BIGINT NOT NULL,
      used_at BIGINT,
      PRIMARY KEY (hash),
      FOREIGN KEY (key_id) REFERENCES api_key (id) ON DELETE CASCADE,
      INDEX oauth_token_key_id (key_id),
      INDEX oauth_token_expires_at (expires_at)
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  ],
}

/** Adds programs that register themselves, the tokens of their grants, and what a login is for. */
export const assistants: Migration = {
  name: '0057-assistants',

  async up(context) {
    const { db, transaction } = context
    for (const sql of statements[db.dialect]) await db.run(sql, [], transaction)
    await addColumn(context, 'login_request', 'resource', 'VARCHAR(300)')
  },
}
