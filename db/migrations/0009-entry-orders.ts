import type { Migration } from '../migration.ts'

/** Indexes the orders by size and by time of what is in a folder. */
export const entryOrders: Migration = {
  name: '0009-entry-orders',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const indexes = (await tables.showIndex('entry', options)) as { name: string }[]
    for (const column of ['total_bytes', 'updated_at']) {
      const name = `entry_parent_id_${column}_id`
      if (!indexes.some(index => index.name === name))
        await tables.addIndex('entry', ['parent_id', column, 'id'], { name, ...options })
    }
  },
}
