import type { Migration } from '../migration.ts'

/**
 * Notes the CRC-32 of blobs. Those that are there get theirs when they are first read for an
 * archive.
 */
export const blobChecksums: Migration = {
  name: '0008-blob-checksums',

  async up({ db, transaction }) {
    // Its types lack the transaction, which it hands on to every statement.
    const options: object = { transaction }
    const columns = await db.sequelize.getQueryInterface().describeTable('blobs', options)
    if (!('crc32' in columns)) {
      const ascii = db.dialect === 'mysql' ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''
      await db.run(`ALTER TABLE blobs ADD COLUMN crc32 VARCHAR(8)${ascii} NULL`, [], transaction)
    }
  },
}
