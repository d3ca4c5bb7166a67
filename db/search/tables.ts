import type { DatabaseSync } from 'node:sqlite'

/** Changes with the tables and with the words that are made of a text. */
export const INDEX_VERSION = 2

/*
 * All texts are cut into words by src/values/search-words.ts. The tokenizer only splits at spaces.
 * The tables of words keep no texts: a row has the same number in all tables.
 *
 * drive: how far the drive of a number is indexed, and the number of additions. item: the entry of a row, and the beginning of
 * the key of its indexed text. name: the words of a name, parts of them, the class of the file with
 * the number of words, and the first word. gram: three letters each, from inside the words of a
 * name. body: the words of the text, the note and the name of an entry with a text or a note, other
 * spellings of words in the text, and stems.
 */
const TABLES = [
  'CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  `CREATE TABLE drive (number INTEGER PRIMARY KEY, bucket_id TEXT NOT NULL UNIQUE, turn INTEGER NOT NULL, place TEXT, seq INTEGER NOT NULL,
     stamp INTEGER, began_at INTEGER NOT NULL, entries INTEGER NOT NULL)`,
  'CREATE TABLE item (row INTEGER PRIMARY KEY, id BLOB NOT NULL, text BLOB)',
  `CREATE VIRTUAL TABLE name USING fts5 (word, part, mark, start, content='', contentless_delete=1, tokenize='ascii')`,
  `CREATE VIRTUAL TABLE gram USING fts5 (letters, content='', contentless_delete=1, detail=none, tokenize='ascii')`,
  `CREATE VIRTUAL TABLE body USING fts5 (text, note, name, extra, stem, content='', contentless_delete=1, tokenize='ascii')`,
]

/** The tables with words. */
export const WORD_TABLES = ['name', 'gram', 'body'] as const
export type WordTable = (typeof WORD_TABLES)[number]

const NAMES = ['meta', 'drive', 'item', ...WORD_TABLES]

/** Creates the tables, and empties existing ones. Runs in a transaction. */
export function makeTables(db: DatabaseSync): void {
  for (const name of NAMES) db.exec(`DROP TABLE IF EXISTS ${name}`)
  for (const sql of TABLES) db.exec(sql)
}
