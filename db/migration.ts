import type { Db, Tx } from './index.ts'

/** The parameters of a migration. */
export interface Context {
  db: Db
  /** Null where DDL is not transactional. */
  transaction: Tx | null
}

/**
 * A step from the tables of one version to those of the next. An earlier run may have been killed
 * halfway, so it skips what is already done.
 */
export interface Migration {
  name: string
  up(context: Context): Promise<void>
}

/**
 * Adds a column, unless a step that was killed has added it already.
 * @param definition its type and constraints, such as `BIGINT NOT NULL DEFAULT 0`, for both engines
 * or for each
 */
export async function addColumn(
  { db, transaction }: Context,
  table: string,
  column: string,
  definition: string | { sqlite: string; mysql: string },
): Promise<void> {
  // The types of describeTable lack the transaction, which it passes to every statement.
  const options: object = { transaction }
  const columns = await db.sequelize.getQueryInterface().describeTable(table, options)
  if (column in columns) return
  const sql = typeof definition === 'string' ? definition : definition[db.dialect]
  await db.run(`ALTER TABLE ${table} ADD COLUMN ${column} ${sql}`, [], transaction)
}
