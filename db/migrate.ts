import type { Db } from './index.ts'
import type { Context, Migration } from './migration.ts'
import { initial } from './migrations/0001-initial.ts'
import { sharedBlobs } from './migrations/0002-shared-blobs.ts'
import { fileRequests } from './migrations/0004-file-requests.ts'
import { shareTerms } from './migrations/0005-share-terms.ts'
import { entryCopies } from './migrations/0007-entry-copies.ts'
import { blobChecksums } from './migrations/0008-blob-checksums.ts'
import { entryOrders } from './migrations/0009-entry-orders.ts'
import { shareEdit } from './migrations/0010-share-edit.ts'
import { shareEntries } from './migrations/0011-share-entries.ts'
import { plans } from './migrations/0012-plans.ts'
import { signIn } from './migrations/0013-sign-in.ts'
import { deletionHolds } from './migrations/0014-deletion-holds.ts'
import { maintenance } from './migrations/0015-maintenance.ts'
import { audit } from './migrations/0016-audit.ts'
import { previews } from './migrations/0017-previews.ts'
import { tags } from './migrations/0019-tags.ts'
import { loginRequests } from './migrations/0020-login-requests.ts'
import { status } from './migrations/0022-status.ts'
import { touchedRows } from './migrations/0023-touched.ts'
import { auditCredential } from './migrations/0024-audit-credential.ts'
import { pictures } from './migrations/0028-pictures.ts'
import { dav } from './migrations/0029-dav.ts'
import { uploadStreams } from './migrations/0030-upload-streams.ts'
import { storeMoves } from './migrations/0031-store-moves.ts'
import { fileTimes } from './migrations/0032-file-times.ts'
import { instanceStores } from './migrations/0033-instance-stores.ts'
import { davLockRights } from './migrations/0036-dav-lock-rights.ts'
import { sessionIssued } from './migrations/0037-session-issued.ts'
import { makeSearchTables } from './search-tables.ts'

/**
 * Begins the name of the row in the table of migrations that a restore makes first and removes
 * last.
 */
export const RESTORING = 'restoring '

/** Lead from the first released version to this one, in order. */
const later: Migration[] = [
  ...[sharedBlobs, fileRequests, shareTerms, entryCopies, blobChecksums],
  ...[entryOrders, shareEdit, shareEntries, plans, signIn, deletionHolds, maintenance, audit],
  ...[previews, tags, loginRequests, status, touchedRows, auditCredential, pictures, dav],
  ...[uploadStreams, storeMoves, fileTimes, instanceStores, davLockRights, sessionIssued],
]

/**
 * Migrates the tables. Instances may call it in parallel: one migrates, the others wait. SQLite
 * migrates in one transaction; MySQL commits every DDL statement, so there a named lock keeps
 * others out. A new database needs none of the steps: its tables are made as the models are.
 * @param options `restoring`: by the restore that fills them
 * @throws an error with the code OTHER_VERSION for a database with a step that this version does
 * not have, and with UNFINISHED_RESTORE for one that a restore has not filled yet
 */
export async function migrate(db: Db, steps = later, { restoring = false } = {}): Promise<void> {
  await db.exclusively('satchel-migrate', async transaction => {
    const context = { db, transaction }
    const done = await executed(context)
    const restore = [...done].find(name => name.startsWith(RESTORING))
    if (restore !== undefined && !restoring)
      throw Object.assign(new Error('a restore of it has not finished'), {
        code: 'UNFINISHED_RESTORE',
      })
    if (restore !== undefined) done.delete(restore)
    requireKnown(done, [initial, ...steps])
    if (!done.has(initial.name)) {
      await initial.up(context)
      for (const { name } of [initial, ...steps]) if (!done.has(name)) await note(context, name)
      return makeSearchTables(context)
    }
    for (const { name, up } of steps) {
      if (done.has(name)) continue
      await up(context)
      await note(context, name)
    }
    // A restored backup has none: the index is made again.
    await makeSearchTables(context)
  })
}

/** The names of all steps to the tables of this version. */
export const migrationNames = (): string[] => [initial, ...later].map(({ name }) => name)

/** The tables of a later version may lack, or hold, what this one does not expect. */
function requireKnown(done: Set<string>, steps: Migration[]): void {
  const unknown = [...done].find(name => !steps.some(step => step.name === name))
  if (unknown === undefined) return
  throw Object.assign(
    new Error(`another version of Satchel has created its tables, with the migration ${unknown}`),
    {
      code: 'OTHER_VERSION',
    },
  )
}

async function executed({ db, transaction }: Context): Promise<Set<string>> {
  const table =
    'CREATE TABLE IF NOT EXISTS migration (name VARCHAR(128) NOT NULL PRIMARY KEY, at BIGINT NOT NULL)'
  await db.run(table, [], transaction)
  const rows = await db.rows<{ name: string }>('SELECT name FROM migration', [], transaction)
  return new Set(rows.map(({ name }) => name))
}

async function note({ db, transaction }: Context, name: string): Promise<void> {
  await db.run('INSERT INTO migration (name, at) VALUES (?, ?)', [name, Date.now()], transaction)
}
