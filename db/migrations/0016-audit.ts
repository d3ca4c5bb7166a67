import type { Migration } from '../migration.ts'
import { Event } from '../models/event.ts'
import { columnOf } from '../queries/sql.ts'

const added = ['address', 'agent', 'operatorId'] as const
const indexes = [
  ['actor_id', 'at'],
  ['address', 'at'],
  ['kind', 'at'],
  ['operator_id', 'at'],
]

/**
 * Events say where they come from, and can be searched over all logs. What happened before says
 * nothing of it.
 */
export const audit: Migration = {
  name: '0016-audit',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const there = await tables.describeTable('event', options)
    for (const name of added)
      if (!(columnOf(name) in there))
        await tables.addColumn(
          'event',
          columnOf(name),
          Event.columns[name].attribute(db.dialect),
          options,
        )
    const known = (await tables.showIndex('event', options)) as { name: string }[]
    for (const columns of indexes) {
      const name = `event_${columns.join('_')}`
      if (!known.some(index => index.name === name))
        await tables.addIndex('event', columns, { name, ...options })
    }
  },
}
