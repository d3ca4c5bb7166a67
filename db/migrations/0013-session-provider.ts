import type { Migration } from '../migration.ts'
import { Session } from '../models/session.ts'
import { columnOf } from '../queries/sql.ts'

/** Lets a sign-in provider end the sessions that began with it. Those that are there end as before. */
export const sessionProvider: Migration = {
  name: '0013-session-provider',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('session', options)
    for (const name of ['provider', 'providerSession'] as const) {
      if (!(columnOf(name) in there))
        await tables.addColumn('session', columnOf(name), Session.columns[name].attribute(db.dialect), options)
    }
    const indexes = (await tables.showIndex('session', options)) as { name: string }[]
    if (!indexes.some(({ name }) => name === 'session_provider_session'))
      await tables.addIndex('session', ['provider_session'], { name: 'session_provider_session', ...options })
  },
}
