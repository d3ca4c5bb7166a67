import type { Migration } from '../migration.ts'
import { integer, touched } from '../models/columns.ts'

/**
 * Lets instances say which blob stores they know, and moves of blobs exclude uploads at other nodes
 * of a Galera cluster.
 */
export const instanceStores: Migration = {
  name: '0033-instance-stores',

  async up({ db, transaction }) {
    const made = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const columns = { instance_state: { store: integer.default(0) }, store_move: { touched } }
    for (const [table, added] of Object.entries(columns)) {
      const there = await made.describeTable(table, options)
      for (const [name, column] of Object.entries(added))
        if (!(name in there))
          await made.addColumn(table, name, column.attribute(db.dialect), options)
    }
  },
}
