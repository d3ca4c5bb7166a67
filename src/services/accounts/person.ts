import { colleaguesAmong, type PersonView, peopleByIds } from '../../../db/queries/person.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import { rowsById } from '../rows-by-id.ts'

export function personService({ db }: Core<'db'>) {
  /** In one statement. Does not authorize: pass only people whom the caller may know. */
  const byIds = (ids: readonly string[]): Promise<Map<string, PersonView>> =>
    rowsById(ids, some => peopleByIds(db, some))

  return {
    byIds,

    /**
     * The people among these whom the caller knows: the caller, and members of shared workspaces.
     */
    async knownAmong({ userId }: Caller, ids: readonly string[]): Promise<Map<string, PersonView>> {
      if (ids.length === 0) return new Map()
      return byIds([
        ...new Set([
          ...ids.filter(id => id === userId),
          ...(await colleaguesAmong(db, userId, ids)),
        ]),
      ])
    },
  }
}
