import type { Migration } from '../migration.ts'
import { touched } from '../models/columns.ts'

const tables = ['api_key', 'bucket', 'session', 'share', 'user', 'workspace'] as const

/**
 * Lets transactions at different nodes of a Galera cluster exclude each other by rows that they
 * lock and do not change.
 */
export const touchedRows: Migration = {
  name: '0023-touched',

  async up({ db, transaction }) {
    const made = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    for (const table of tables) {
      const there = await made.describeTable(table, options)
      if (!('touched' in there))
        await made.addColumn(table, 'touched', touched.attribute(db.dialect), options)
    }
  },
}
