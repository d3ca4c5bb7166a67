import type { Migration } from '../migration.ts'

/**
 * Lets several files and versions have the same bytes: the ledger counts them, where an index
 * allowed one only.
 */
export const sharedBlobs: Migration = {
  name: '0002-shared-blobs',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const columns = await tables.describeTable('blobs', options)
    if (!('ref_count' in columns))
      await db.run(
        'ALTER TABLE blobs ADD COLUMN ref_count BIGINT NOT NULL DEFAULT 1',
        [],
        transaction,
      )
    for (const table of ['entry', 'version']) {
      const index = `${table}_blob_id`
      const indexes = (await tables.showIndex(table, options)) as {
        name: string
        unique: boolean
      }[]
      const there = indexes.find(({ name }) => name === index)
      if (there?.unique === false) continue
      if (there) await tables.removeIndex(table, index, options)
      await tables.addIndex(table, ['blob_id'], { name: index, ...options })
    }
  },
}
