import { validate as isUuid } from 'uuid'
import type { Db } from '../../db/index.ts'
import { type NodeTable, tablesOfIds } from '../../db/queries/node.ts'

export function nodeService({ db }: { db: Db }) {
  return {
    /** The tables that rows with these ids are in. One statement. Does not authorize. */
    async tablesOf(given: readonly string[]): Promise<Map<string, NodeTable>> {
      // MySQL fails to compare an ASCII id column with a text that is not ASCII.
      const ids = given.filter(id => isUuid(id))
      if (ids.length === 0) return new Map()
      return new Map((await tablesOfIds(db, ids)).map(({ id, place }) => [id, place]))
    },
  }
}
