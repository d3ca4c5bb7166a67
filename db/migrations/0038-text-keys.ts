import { addColumn, type Migration } from '../migration.ts'

const texts = ['search_text_block', 'search_text_word', 'search_text_segment', 'search_text']

/**
 * Keys the texts of contents by the format that they were read as. Texts of earlier versions may
 * have been read in the format of another owner, so the index of contents is made again.
 */
export const textKeys: Migration = {
  name: '0038-text-keys',

  async up(context) {
    const { db, transaction } = context
    await addColumn(context, 'blobs', 'text_key', {
      sqlite: 'VARCHAR(64)',
      mysql: `CHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
        ADD INDEX blobs_text_key (text_key)`,
    })
    if (db.dialect === 'sqlite')
      await db.run('CREATE INDEX IF NOT EXISTS blobs_text_key ON blobs (text_key)', [], transaction)
    for (const table of [...texts, 'content_text'])
      await db.run(`DROP TABLE IF EXISTS ${table}`, [], transaction)
    // The types of tableExists lack the transaction, which it passes to its statement.
    const options: object = { transaction }
    if (await db.sequelize.getQueryInterface().tableExists('search_drive', options))
      await db.run(
        "UPDATE search_drive SET place = '', began_at = ?, entries = 0",
        [Date.now()],
        transaction,
      )
  },
}
