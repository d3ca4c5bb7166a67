import type { Context } from './migration.ts'

/*
 * The tables of the search index. They are made from the files, and made again where they are missing, so they are no models: no backup saves
 * them. SQL of each engine, because no model says how words are indexed.
 */

/**
 * search_drive: how far the drive of a number is indexed. search_word: the words of names (as they are), of notes (after `#`), whole names
 * (after `=`) and classes of files (after `:`), by drive.
 */
const tables = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS search_drive (bucket_id VARCHAR(36) NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE, place VARCHAR(64),
       seq BIGINT NOT NULL, began_at BIGINT NOT NULL, indexed_at BIGINT, entries BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS search_word (drive INTEGER NOT NULL, word VARCHAR(80) NOT NULL, entry_id VARCHAR(36) NOT NULL,
       PRIMARY KEY (drive, word, entry_id)) WITHOUT ROWID`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS search_drive (bucket_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE,
       place VARCHAR(64), seq BIGINT NOT NULL, began_at BIGINT NOT NULL, indexed_at BIGINT, entries BIGINT NOT NULL)
       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS search_word (drive INTEGER NOT NULL, word VARCHAR(80) NOT NULL, entry_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
       PRIMARY KEY (drive, word, entry_id)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  ],
}

/** Makes the tables that are missing. */
export async function makeSearchTables({ db, transaction }: Context): Promise<void> {
  for (const sql of tables[db.dialect]) await db.run(sql, [], transaction)
}
