import type { Db, Tx } from './index.ts'
import { initial } from './migrations/0001-initial.ts'

interface Context {
  db: Db
  /** Null where DDL is not transactional. */
  transaction: Tx | null
}

/** A step from the tables of one version to those of the next. It may have been killed halfway, so it skips what it finds done. */
export interface Migration {
  name: string
  up(context: Context): Promise<void>
}

/** Lead from the first released version to this one, in order. */
const later: Migration[] = []

/**
 * Migrates the tables. Instances may call it in parallel: one migrates, the others wait. SQLite migrates in one transaction; MySQL commits
 * every DDL statement, so there a named lock keeps others out.
 * A new database needs none of the steps: its tables are made as the models are.
 * @throws an error with the code OTHER_VERSION for a database with a step that this version does not have
 */
export async function migrate(db: Db, steps = later): Promise<void> {
  await db.exclusively('satchel-migrate', async transaction => {
    const context = { db, transaction }
    const done = await executed(context)
    requireKnown(done, [initial, ...steps])
    if (!done.has(initial.name)) {
      await initial.up(context)
      for (const { name } of [initial, ...steps]) if (!done.has(name)) await note(context, name)
      return
    }
    for (const { name, up } of steps) {
      if (done.has(name)) continue
      await up(context)
      await note(context, name)
    }
  })
}

/** The tables of a later version may lack, or hold, what this one does not expect. */
function requireKnown(done: Set<string>, steps: Migration[]): void {
  const unknown = [...done].find(name => !steps.some(step => step.name === name))
  if (unknown === undefined) return
  throw Object.assign(new Error(`another version of Satchel has made its tables, by the migration ${unknown}`), {
    code: 'OTHER_VERSION',
  })
}

async function executed({ db, transaction }: Context): Promise<Set<string>> {
  const table = 'CREATE TABLE IF NOT EXISTS migration (name VARCHAR(128) NOT NULL PRIMARY KEY, at BIGINT NOT NULL)'
  await db.run(table, [], transaction)
  const rows = await db.rows<{ name: string }>('SELECT name FROM migration', [], transaction)
  return new Set(rows.map(({ name }) => name))
}

async function note({ db, transaction }: Context, name: string): Promise<void> {
  await db.run('INSERT INTO migration (name, at) VALUES (?, ?)', [name, Date.now()], transaction)
}
