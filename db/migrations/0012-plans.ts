import type { Migration } from '../migration.ts'
import { Plan } from '../models/plan.ts'
import { User } from '../models/user.ts'
import { lastOfAccounts } from '../queries/plan.ts'
import { columnOf } from '../queries/sql.ts'

const added = [
  { table: 'plan', name: 'isDefault', column: Plan.columns.isDefault },
  { table: 'plan', name: 'retiredAt', column: Plan.columns.retiredAt },
  { table: 'user', name: 'planBy', column: User.columns.planBy },
] as const

const ACCOUNTS_AT_ONCE = 10_000

/**
 * Lets operators manage the plans, and set single limits. Other plans than the former default were
 * chosen by operators.
 */
export const plans: Migration = {
  name: '0012-plans',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const { table, name, column } of added) {
      const there = await tables.describeTable(table, options)
      if (!(columnOf(name) in there))
        await tables.addColumn(table, columnOf(name), column.attribute(db.dialect), options)
    }
    await db.OwnLimit.sync(options)
    if (await db.exists('SELECT id FROM plan WHERE is_default = 1', [], transaction)) return
    // A statement may not last as long as a table of very many accounts would take.
    for (let from = ''; ; ) {
      const to = await lastOfAccounts(db, from, ACCOUNTS_AT_ONCE, transaction)
      if (to === undefined) break
      await db.run(
        "UPDATE user SET plan_by = 'operator' WHERE plan_id <> 'free' AND id > ? AND id <= ?",
        [from, to],
        transaction,
      )
      from = to
    }
    await db.run("UPDATE plan SET is_default = 1 WHERE id = 'free'", [], transaction)
  },
}
