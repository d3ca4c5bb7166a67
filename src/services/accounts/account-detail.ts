import type { Db } from '../../../db/index.ts'
import {
  type AccountRow,
  accountsByIds,
  countsOfAccounts,
  identitiesOfAccounts,
  usagesOfAccounts,
  workspacesOfAccounts,
} from '../../../db/queries/account.ts'
import type { PlanView } from './user.ts'

/** What operators see of some accounts, by the id of the account: one statement for all. Does not authorize. */
export function accountDetailService({ db }: { db: Db }) {
  return {
    async byIds(ids: string[]): Promise<Map<string, AccountRow>> {
      return new Map((await accountsByIds(db, ids)).map(row => [row.id, row]))
    },

    identitiesOf: (ids: string[]) => identitiesOfAccounts(db, ids),
    workspacesOf: (ids: string[]) => workspacesOfAccounts(db, ids),
    countsOf: (ids: string[]) => countsOfAccounts(db, ids),
    usagesOf: (ids: string[]) => usagesOfAccounts(db, ids),

    /** Plans by their ids. */
    async plansOf(ids: string[]): Promise<Map<string, PlanView>> {
      const plans = await db.Plan.findAll({ where: { id: ids }, raw: true })
      return new Map(plans.map(plan => [plan.id, plan]))
    },
  }
}
