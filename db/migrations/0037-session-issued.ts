import type { Migration } from '../migration.ts'
import { Session } from '../models/session.ts'

/** Records when the ID token of a session was issued, so that logout tokens compare with it. */
export const sessionIssued: Migration = {
  name: '0037-session-issued',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('session', options)
    if (!('provider_issued_at' in there)) {
      const column = Session.columns.providerIssuedAt.attribute(db.dialect)
      await tables.addColumn('session', 'provider_issued_at', column, options)
    }
  },
}
