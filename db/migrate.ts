import type { Db } from './index.ts'
import type { Context, Migration } from './migration.ts'
import { firstTables } from './migrations/0001-tables.ts'
import { davLockRights } from './migrations/0036-dav-lock-rights.ts'
import { sessionIssued } from './migrations/0037-session-issued.ts'
import { textKeys } from './migrations/0038-text-keys.ts'
import { deferredLengths } from './migrations/0039-deferred-lengths.ts'
import { ownAccounts } from './migrations/0041-own-accounts.ts'
import { passkeys } from './migrations/0042-passkeys.ts'
import { previewReaders } from './migrations/0045-preview-readers.ts'
import { textVersion } from './migrations/0046-text-version.ts'
import { searchFile } from './migrations/0047-search-file.ts'
import { shareWords } from './migrations/0048-share-words.ts'
import { requestSenders } from './migrations/0049-request-senders.ts'
import { changeStamps } from './migrations/0050-change-stamps.ts'
import { endedShares } from './migrations/0051-ended-shares.ts'
import { davPropertyBytes } from './migrations/0052-dav-property-bytes.ts'
import { filesView } from './migrations/0053-files-view.ts'
import { contentRevisions } from './migrations/0056-content-revisions.ts'
import { assistants } from './migrations/0057-assistants.ts'
import { makeSearchTables } from './search-tables.ts'

/**
 * The prefix of a row in the table of migrations. A restore inserts this row first and removes it
 * last.
 */
export const RESTORING = 'restoring '

/**
 * The steps to the tables of this version, in order. A step has its own SQL and never uses the
 * models, so that later changes of a model do not change it.
 */
const all: Migration[] = [
  firstTables,
  davLockRights,
  sessionIssued,
  textKeys,
  deferredLengths,
  ownAccounts,
  passkeys,
  previewReaders,
  textVersion,
  searchFile,
  shareWords,
  requestSenders,
  changeStamps,
  endedShares,
  davPropertyBytes,
  filesView,
  contentRevisions,
  assistants,
]

/** The last step of the development versions whose tables are those of 0.1.0. */
const LAST_BEFORE_0_1 = '0033-instance-stores'

/**
 * The names of the steps that a database or a backup has, translated into the steps of this
 * version. The 26 steps that led to 0.1.0 count as its first one.
 */
export function stepsOf(names: string[]): string[] {
  if (!names.includes(LAST_BEFORE_0_1)) return names
  const isFolded = (name: string) => /^\d{4}-/.test(name) && name <= LAST_BEFORE_0_1
  return [firstTables.name, ...names.filter(name => !isFolded(name))]
}
/**
 * Migrates the tables. Instances may call it in parallel: one migrates, the others wait. SQLite
 * migrates in one transaction; MySQL commits every DDL statement, so there a named lock keeps
 * others out.
 * @param options `restoring`: called by the restore that fills the tables
 * @throws an error with the code OTHER_VERSION if the database has a step that this version lacks,
 * or UNFINISHED_RESTORE if a restore has not finished
 */
export async function migrate(db: Db, steps = all, { restoring = false } = {}): Promise<void> {
  await db.exclusively('satchel-migrate', async transaction => {
    const context = { db, transaction }
    const names = await executed(context)
    const restore = names.find(name => name.startsWith(RESTORING))
    if (restore !== undefined && !restoring)
      throw Object.assign(new Error('a restore of it has not finished'), {
        code: 'UNFINISHED_RESTORE',
      })
    const found = names.filter(name => name !== restore)
    const done = stepsOf(found)
    requireKnown(done, steps)
    for (const { name, up } of steps) {
      if (!done.includes(name)) await up(context)
      if (!found.includes(name)) await note(context, name)
    }
    const folded = found.filter(name => !done.includes(name))
    if (folded.length > 0) await forget(context, folded)
    // A backup contains no search tables: after a restore, the index is built again.
    await makeSearchTables(context)
  })
}

/** The names of all steps to the tables of this version. */
export const migrationNames = (): string[] => all.map(({ name }) => name)

/** The tables of another version may differ from what this version expects. */
function requireKnown(done: string[], steps: Migration[]): void {
  const unknown = done.find(name => !steps.some(step => step.name === name))
  if (unknown === undefined) return
  throw Object.assign(
    new Error(`another version of Satchel has created its tables, with the migration ${unknown}`),
    { code: 'OTHER_VERSION' },
  )
}

async function executed({ db, transaction }: Context): Promise<string[]> {
  const table =
    'CREATE TABLE IF NOT EXISTS migration (name VARCHAR(128) NOT NULL PRIMARY KEY, at BIGINT NOT NULL)'
  await db.run(table, [], transaction)
  const rows = await db.rows<{ name: string }>('SELECT name FROM migration', [], transaction)
  return rows.map(({ name }) => name)
}

async function note({ db, transaction }: Context, name: string): Promise<void> {
  await db.run('INSERT INTO migration (name, at) VALUES (?, ?)', [name, Date.now()], transaction)
}

/** One statement: a database never has only some of the folded steps. */
async function forget({ db, transaction }: Context, names: string[]): Promise<void> {
  const marks = names.map(() => '?').join(', ')
  await db.run(`DELETE FROM migration WHERE name IN (${marks})`, names, transaction)
}
