import type { Migration } from '../migration.ts'

const name = 'event_actor_id_at'

/** Lets drives have tags and people favourites, and indexes events by who caused them. */
export const tags: Migration = {
  name: '0019-tags',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.Tag.sync(options)
    await db.EntryTag.sync(options)
    await db.Favourite.sync(options)
    const indexes = (await tables.showIndex('event', options)) as { name: string }[]
    if (!indexes.some(index => index.name === name))
      await tables.addIndex('event', ['actor_id', 'at'], { name, ...options })
  },
}
