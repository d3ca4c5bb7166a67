import type { Context } from './migration.ts'

/*
 * The tables of the search index. They are built from the files, and built again if they are
 * missing. So they are not models, and backups do not save them. Each engine has its own SQL,
 * because models cannot define how words are indexed.
 */

/**
 * search_drive: how far the drive of a number is indexed. search_word: the words of names (as they
 * are), of notes (after `#`), whole names (after `=`) and classes of files (after `:`), by drive.
 *
 * content_text: the text of a content, compressed, or why there is none. search_text: the contents
 * of a drive whose words are indexed, each with a number of its own there. Some thousand numbers
 * make a block (search_text_block), whose words are added to search_text_word: a row has in which
 * contents a word is, as two bytes for each. They are merged into a segment (search_text_segment),
 * whose rows have many words each.
 */
const tables = {
  sqlite: [
    `CREATE TABLE IF NOT EXISTS search_drive (bucket_id VARCHAR(36) NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE, place VARCHAR(64),
       seq BIGINT NOT NULL, began_at BIGINT NOT NULL, indexed_at BIGINT, entries BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS search_word (drive INTEGER NOT NULL, word VARCHAR(80) NOT NULL, entry_id VARCHAR(36) NOT NULL,
       PRIMARY KEY (drive, word, entry_id)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS content_text (digest VARCHAR(64) NOT NULL PRIMARY KEY, state VARCHAR(8) NOT NULL, reason VARCHAR(16),
       characters INTEGER NOT NULL, body BLOB, created_at BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS search_text (drive INTEGER NOT NULL, doc INTEGER NOT NULL, id VARCHAR(36) NOT NULL, digest VARCHAR(64) NOT NULL,
       is_ready INTEGER NOT NULL, PRIMARY KEY (drive, doc)) WITHOUT ROWID`,
    'CREATE UNIQUE INDEX IF NOT EXISTS search_text_digest ON search_text (digest, drive)',
    'CREATE INDEX IF NOT EXISTS search_text_id ON search_text (drive, id)',
    `CREATE TABLE IF NOT EXISTS search_text_block (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, merged BIGINT NOT NULL,
       fresh INTEGER NOT NULL, gone INTEGER NOT NULL, merged_at BIGINT NOT NULL, is_clear INTEGER NOT NULL, PRIMARY KEY (drive, block)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS search_text_word (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, word VARCHAR(80) NOT NULL,
       docs BLOB NOT NULL, PRIMARY KEY (drive, block, epoch, word)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS search_text_segment (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, first VARCHAR(80) NOT NULL,
       body BLOB NOT NULL, PRIMARY KEY (drive, block, epoch, first)) WITHOUT ROWID`,
  ],
  mysql: [
    `CREATE TABLE IF NOT EXISTS search_drive (bucket_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, number INTEGER NOT NULL UNIQUE,
       place VARCHAR(64), seq BIGINT NOT NULL, began_at BIGINT NOT NULL, indexed_at BIGINT, entries BIGINT NOT NULL)
       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS search_word (drive INTEGER NOT NULL, word VARCHAR(80) NOT NULL, entry_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
       PRIMARY KEY (drive, word, entry_id)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS content_text (digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, state VARCHAR(8) NOT NULL,
       reason VARCHAR(16), characters INTEGER NOT NULL, body MEDIUMBLOB, created_at BIGINT NOT NULL) CHARACTER SET ascii COLLATE ascii_bin`,
    `CREATE TABLE IF NOT EXISTS search_text (drive INTEGER NOT NULL, doc INTEGER NOT NULL, id CHAR(36) NOT NULL, digest CHAR(64) NOT NULL,
       is_ready INTEGER NOT NULL, PRIMARY KEY (drive, doc), UNIQUE KEY search_text_digest (digest, drive), KEY search_text_id (drive, id))
       CHARACTER SET ascii COLLATE ascii_bin`,
    `CREATE TABLE IF NOT EXISTS search_text_block (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, merged BIGINT NOT NULL,
       fresh INTEGER NOT NULL, gone INTEGER NOT NULL, merged_at BIGINT NOT NULL, is_clear INTEGER NOT NULL, PRIMARY KEY (drive, block))`,
    `CREATE TABLE IF NOT EXISTS search_text_word (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, word VARCHAR(80) NOT NULL,
       docs MEDIUMBLOB NOT NULL, PRIMARY KEY (drive, block, epoch, word)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `CREATE TABLE IF NOT EXISTS search_text_segment (drive INTEGER NOT NULL, block INTEGER NOT NULL, epoch BIGINT NOT NULL, first VARCHAR(80) NOT NULL,
       body BLOB NOT NULL, PRIMARY KEY (drive, block, epoch, first)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  ],
}

/**
 * Creates missing tables and columns. If columns were missing, drives are indexed again, and the
 * existing index stays.
 */
export async function makeSearchTables({ db, transaction }: Context): Promise<void> {
  await dropFormerWords({ db, transaction })
  for (const sql of tables[db.dialect]) await db.run(sql, [], transaction)
  // Its types lack the transaction, which it passes to every statement.
  const options: object = { transaction }
  const columns = await db.sequelize.getQueryInterface().describeTable('search_drive', options)
  // How many numbers contents have got, and whether contents are looked for.
  for (const column of ['docs', 'has_texts'])
    if (!(column in columns))
      await db.run(
        `ALTER TABLE search_drive ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0`,
        [],
        transaction,
      )
}

/**
 * Words that are not in epochs are of a former version: the service adds them again, from the texts
 * that it has.
 */
async function dropFormerWords({ db, transaction }: Context): Promise<void> {
  const columns = await db.rows<{ name: string }>(
    db.dialect === 'mysql'
      ? "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'search_text_word'"
      : "SELECT name FROM pragma_table_info('search_text_word')",
    [],
    transaction,
  )
  if (columns.length === 0 || columns.some(({ name }) => name === 'epoch')) return
  await db.run('UPDATE search_text SET is_ready = 0', [], transaction)
  await db.run(
    "UPDATE search_drive SET place = '', began_at = ?, entries = 0",
    [Date.now()],
    transaction,
  )
  await db.run('DROP TABLE search_text_word', [], transaction)
}
