import type { Migration } from '../migration.ts'

const texts = ['search_text_block', 'search_text_word', 'search_text_segment', 'search_text']

/**
 * Deletes the texts of contents, so that all files are read again: their keys now contain the
 * version of the reader.
 */
export const textVersion: Migration = {
  name: '0046-text-version',

  async up({ db, transaction }) {
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
