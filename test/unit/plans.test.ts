import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Db, openDatabase, type Tx } from '../../db/index.ts'
import { migrate } from '../../db/migrate.ts'
import {
  deleteMarked,
  leaseMarked,
  liveAmong,
  releaseBlobs,
  setLeases,
  shareBlobs,
} from '../../db/queries/blob.ts'
import { findKeyCallers, findSessionCallers } from '../../db/queries/caller.ts'
import { deleteEntries, entriesOf } from '../../db/queries/entry.ts'
import { entriesAmong } from '../../db/queries/entry-list.ts'
import { deleteEnded } from '../../db/queries/expiry.ts'
import {
  countSharesOf,
  endSharesOf,
  findDirectShareOfAll,
  sharedBelow,
} from '../../db/queries/share-entry.ts'
import { placeholders } from '../../db/queries/sql.ts'
import { trashedNodes } from '../../db/queries/trash-item.ts'
import { versionsByIds, versionsOf } from '../../db/queries/version.ts'

const keys = Array.from({ length: 500 }, (_, n) => `key-${n}`)
const said: string[] = []
let dir: string
let db: Db

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-plans-'))
  db = openDatabase(
    { dialect: 'sqlite', file: join(dir, 'db.sqlite') },
    { pool: 1, onStatement: sql => void said.push(sql) },
  )
  await migrate(db)
  fillUploads(join(dir, 'db.sqlite'))
})
/** Adds finished uploads without an owner. */
function fillUploads(file: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  const columns = database.prepare('PRAGMA table_info(upload_session)').all()
  const values = columns.map(({ name, type }) =>
    name === 'state' ? 'completed' : /INT/.test(String(type)) ? 0 : '',
  )
  const insert = database.prepare(`INSERT INTO upload_session VALUES (${placeholders(columns)})`)
  for (const key of keys)
    insert.run(...columns.map(({ name }, i) => (name === 'id' ? key : (values[i] ?? null))))
  database.close()
}

afterAll(async () => {
  await db.close()
  rmSync(dir, { recursive: true, force: true })
})

const inTransaction = (work: (db: Db, tx: Tx) => Promise<unknown>) => () =>
  db.transaction(tx => work(db, tx))

it.each<[string, (db: Db) => Promise<unknown>]>([
  ['leases of uploads', db => setLeases(db, keys, 1)],
  ['blobs to be deleted', inTransaction((db, tx) => releaseBlobs(db, keys, tx))],
  ['blobs of copies', inTransaction((db, tx) => shareBlobs(db, keys, tx))],
  ['leases of blobs that are being deleted', db => leaseMarked(db, keys, 1)],
  ['deleted blobs', db => deleteMarked(db, keys, 1)],
  ['live blobs', db => liveAmong(db, keys)],
  ['entries', inTransaction((db, tx) => entriesOf(db, 'bucket', keys, tx))],
  ['entries that will be deleted', inTransaction((db, tx) => deleteEntries(db, keys, tx))],
  ['shares of files', db => countSharesOf(db, 'user', keys)],
  [
    'shares of deleted entries',
    inTransaction((db, tx) =>
      endSharesOf(db, 'bucket', { entryIds: keys, fullFolderIds: [] }, 1, tx),
    ),
  ],
  ['shares below folders', inTransaction((db, tx) => sharedBelow(db, 'bucket', keys, tx))],
  [
    'the share of several entries',
    inTransaction((db, tx) =>
      findDirectShareOfAll(db, { userId: 'user', recipient: 'bob' }, keys, tx),
    ),
  ],
  [
    'searchable texts of several entries',
    db => entriesAmong(db, keys, { sort: 'name', descending: false, part: 'a' }, 10, null),
  ],
  ['deleted entries', inTransaction((db, tx) => trashedNodes(db, 'bucket', keys, tx))],
  ['versions', db => versionsByIds(db, keys)],
  ['versions of files', db => versionsOf(db, keys)],
  ['sessions', db => findSessionCallers(db, 'hash', keys)],
  ['API keys', db => findKeyCallers(db, 'hash', keys)],
  ['ended uploads', db => deleteEnded(db, 'upload_session', 1, 500)],
])('SQLite looks %s up by key for a list of keys of any length', async (_, query) => {
  said.length = 0
  await query(db)
  const [sql = ''] = said.filter(each => each.includes(' IN (?, ?'))
  const values = [...sql.matchAll(/\?/g)].map(() => null)
  const plan = await db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
  // Rows found by key are read completely; recursions begin with keys.
  const steps = plan
    .map(({ detail }) => detail)
    .filter(detail => /^(SEARCH|SCAN (?!chosen|up|f\b|folder))/.test(detail))
  expect(
    steps.filter(
      step => !/[( ]((entry_|share_|parent_|bucket_|user_|upload_)?id|hash)=\?/.test(step),
    ),
  ).toEqual([])
  expect(steps).not.toEqual([])
})
