import { addColumn, type Migration } from '../migration.ts'

/**
 * Adds the title and the message that the page of a share shows, and the language of a person.
 */
export const shareWords: Migration = {
  name: '0048-share-words',

  async up(context) {
    await addColumn(context, 'share', 'title', "VARCHAR(100) NOT NULL DEFAULT ''")
    await addColumn(context, 'share', 'message', "VARCHAR(1000) NOT NULL DEFAULT ''")
    await addColumn(context, 'user', 'language', 'VARCHAR(8)')
  },
}
