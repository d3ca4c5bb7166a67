import { randomUUID } from 'node:crypto'
import type { Context } from './migration.ts'

/*
 * Tables of the search. They are built from the files, and built again if they are missing. So they
 * are not models, and backups do not save them. The index itself is in a file of its own
 * (db/search/).
 */

/**
 * content_text: the text of a content, compressed, or why there is none; noted_at: when a blob was
 * last found to have it. search_epoch: one row. An index with another id is made again.
 */
const tables = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS content_text (digest VARCHAR(64) NOT NULL PRIMARY KEY, state VARCHAR(8) NOT NULL, reason VARCHAR(16),
       characters INTEGER NOT NULL, body BLOB, created_at BIGINT NOT NULL, noted_at BIGINT NOT NULL)`,
    'CREATE INDEX IF NOT EXISTS content_text_noted_at ON content_text (noted_at)',
    'CREATE TABLE IF NOT EXISTS search_epoch (slot INTEGER NOT NULL PRIMARY KEY, id VARCHAR(36) NOT NULL)',
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS content_text (digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, state VARCHAR(8) NOT NULL,
       reason VARCHAR(16), characters INTEGER NOT NULL, body MEDIUMBLOB, created_at BIGINT NOT NULL, noted_at BIGINT NOT NULL,
       KEY content_text_noted_at (noted_at)) CHARACTER SET ascii COLLATE ascii_bin`,
    'CREATE TABLE IF NOT EXISTS search_epoch (slot INTEGER NOT NULL PRIMARY KEY, id CHAR(36) NOT NULL) CHARACTER SET ascii COLLATE ascii_bin',
  ],
}

/** Creates missing tables. */
export async function makeSearchTables({ db, transaction }: Context): Promise<void> {
  for (const sql of tables[db.dialect]) await db.run(sql, [], transaction)
  const rows = await db.rows('SELECT slot FROM search_epoch', [], transaction)
  if (rows.length === 0)
    await db.run('INSERT INTO search_epoch (slot, id) VALUES (1, ?)', [randomUUID()], transaction)
}
