import type { Migration } from '../migration.ts'
import { Member } from '../models/member.ts'
import { Session } from '../models/session.ts'
import { columnOf } from '../queries/sql.ts'

const added = [
  { table: 'session', name: 'provider', column: Session.columns.provider },
  { table: 'session', name: 'providerSession', column: Session.columns.providerSession },
  { table: 'member', name: 'provider', column: Member.columns.provider },
] as const

/**
 * Lets a sign-in provider end sessions and memberships that began with it. Those that are there end
 * as before.
 */
export const signIn: Migration = {
  name: '0013-sign-in',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const { table, name, column } of added) {
      const there = await tables.describeTable(table, options)
      if (!(columnOf(name) in there))
        await tables.addColumn(table, columnOf(name), column.attribute(db.dialect), options)
    }
    const indexes = (await tables.showIndex('session', options)) as { name: string }[]
    if (!indexes.some(({ name }) => name === 'session_provider_session'))
      await tables.addIndex('session', ['provider_session'], {
        name: 'session_provider_session',
        ...options,
      })
  },
}
