import { addColumn, type Migration } from '../migration.ts'

/** Sources in TypeScript were stored as videos, because both have the same extension. */
const isSource = `file_type = 'video/mp2t'
  AND total_bytes <= 524288
  AND (LOWER(name) LIKE '%.ts' OR LOWER(name) LIKE '%.mts' OR LOWER(name) LIKE '%.cts')`

/**
 * Records which version of the code has read a picture, so that a later version reads it again, and
 * corrects the media type of sources in TypeScript.
 */
export const previewReaders: Migration = {
  name: '0045-preview-readers',

  async up(context) {
    const { db, transaction } = context
    await addColumn(context, 'preview', 'reader', 'INTEGER NOT NULL DEFAULT 0')
    await db.run(
      `UPDATE entry
       SET file_type = 'text/typescript', pictured_at = NULL
       WHERE ${isSource}`,
      [],
      transaction,
    )
  },
}
