import { addColumn, type Migration } from '../migration.ts'

const tables = [
  'search_text_segment',
  'search_text_word',
  'search_text_block',
  'search_text',
  'search_word',
  'search_drive',
]

/**
 * Deletes the search index from the database: it is in a file of its own now. The texts of files
 * stay.
 */
export const searchFile: Migration = {
  name: '0047-search-file',

  async up(context) {
    const { db, transaction } = context
    for (const table of tables) await db.run(`DROP TABLE IF EXISTS ${table}`, [], transaction)
    // The types of tableExists lack the transaction, which it passes to its statement.
    const options: object = { transaction }
    if (!(await db.sequelize.getQueryInterface().tableExists('content_text', options))) return
    await addColumn(context, 'content_text', 'noted_at', {
      sqlite: 'BIGINT NOT NULL DEFAULT 0',
      mysql: 'BIGINT NOT NULL DEFAULT 0, ADD INDEX content_text_noted_at (noted_at)',
    })
  },
}
