import type { Migration } from '../migration.ts'
import { placeAllPictures } from '../queries/picture.ts'

const name = 'entry_bucket_id_pictured_at_id_parent_id'

/** Sorts the pictures of a drive by the time at which they were taken. */
export const pictures: Migration = {
  name: '0028-pictures',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const columns = await tables.describeTable('entry', options)
    if (!('pictured_at' in columns))
      await db.run('ALTER TABLE entry ADD COLUMN pictured_at BIGINT NULL', [], transaction)
    await placeAllPictures(db, transaction)
    const indexes = (await tables.showIndex('entry', options)) as { name: string }[]
    if (!indexes.some(index => index.name === name))
      await tables.addIndex('entry', ['bucket_id', 'pictured_at', 'id', 'parent_id'], {
        name,
        ...options,
      })
  },
}
