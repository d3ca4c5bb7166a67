import type { Db, Tx } from './index.ts'

/** What a migration is given. */
export interface Context {
  db: Db
  /** Null where DDL is not transactional. */
  transaction: Tx | null
}

/**
 * A step from the tables of one version to those of the next. It may have been killed halfway, so
 * it skips what it finds done.
 */
export interface Migration {
  name: string
  up(context: Context): Promise<void>
}
