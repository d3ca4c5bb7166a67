import { type NodeTable, tablesOfIds } from '../../db/queries/node.ts'
import type { Core } from './core.ts'
import { rowsById } from './rows-by-id.ts'

export function nodeService({ db }: Core<'db'>) {
  return {
    /** The tables of the rows with these ids. One statement. Does not authorize. */
    tablesOf: (ids: readonly string[]): Promise<Map<string, { source: NodeTable }>> =>
      rowsById(ids, some => tablesOfIds(db, some)),
  }
}
