import type { Db } from '../../../db/index.ts'
import { colleaguesAmong, type PersonView, peopleByIds } from '../../../db/queries/person.ts'
import type { Caller } from '../../access/caller.ts'

export function personService({ db }: { db: Db }) {
  /** In one statement. Does not authorize: pass only people whom the caller meets in what they may see. */
  async function byIds(ids: readonly string[]): Promise<Map<string, PersonView>> {
    if (ids.length === 0) return new Map()
    return new Map((await peopleByIds(db, ids)).map(row => [row.id, row]))
  }

  return {
    byIds,

    /** Those among these people whom the caller knows: themselves, and who shares a workspace with them. */
    async knownAmong({ userId }: Caller, ids: readonly string[]): Promise<Map<string, PersonView>> {
      if (ids.length === 0) return new Map()
      return byIds([...new Set([...ids.filter(id => id === userId), ...(await colleaguesAmong(db, userId, ids))])])
    },
  }
}
