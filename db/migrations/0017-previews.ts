import type { Migration } from '../migration.ts'

const name = 'blobs_sha256'

/** Lets contents have small pictures. */
export const previews: Migration = {
  name: '0017-previews',

  async up({ db, transaction }) {
    const tables = db.sequelize.getQueryInterface()
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    await db.Preview.sync(options)
    const columns = await tables.describeTable('blobs', options)
    if (!('sha256' in columns)) {
      const ascii = db.dialect === 'mysql' ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''
      const type = db.dialect === 'mysql' ? 'CHAR(64)' : 'VARCHAR(255)'
      await db.run(`ALTER TABLE blobs ADD COLUMN sha256 ${type}${ascii} NULL`, [], transaction)
    }
    const indexes = (await tables.showIndex('blobs', options)) as { name: string }[]
    if (!indexes.some(index => index.name === name))
      await tables.addIndex('blobs', ['sha256'], { name, ...options })
  },
}
