import type { Migration } from '../migration.ts'

/** Notes which store each blob is in, so that blobs can be moved to another one. */
export const storeMoves: Migration = {
  name: '0031-store-moves',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const columns = await db.sequelize.getQueryInterface().describeTable('blobs', options)
    if (!('store' in columns))
      await db.run('ALTER TABLE blobs ADD COLUMN store INTEGER NOT NULL DEFAULT 0', [], transaction)
    await db.StoreMove.sync(options)
  },
}
