import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

/** What happened to one file or folder is found without reading the log of its drive. */
export const entryEvents: Migration = {
  name: '0023-entry-events',

  async up({ column, index, run, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    await column('event', 'entry_id', { type: id, allowNull: true })
    const detail = (name: string) =>
      dialect === 'mysql' ? `JSON_UNQUOTE(JSON_EXTRACT(details, '$.${name}'))` : `json_extract(details, '$.${name}')`
    await run(`UPDATE event SET entry_id = COALESCE(${detail('entryId')}, CASE WHEN ${detail('path')} IS NOT NULL THEN subject_id END)
      WHERE entry_id IS NULL`)
    await index('event', ['entry_id', 'seq'])
  },

  async down({ dropColumn }) {
    await dropColumn('event', 'entry_id')
  },
}
