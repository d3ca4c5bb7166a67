import { DataTypes } from 'sequelize'
import type { Migration } from '../migrate.ts'

interface Log {
  log: string
  first: number
  last: number
}

/** So many events are locked at a time: on MySQL, other instances go on writing meanwhile. */
const AT_ONCE = 5000

/** What happened to one file or folder is found without reading the log of its drive. */
export const entryEvents: Migration = {
  name: '0023-entry-events',

  async up({ column, index, run, rows, dialect }) {
    const id = dialect === 'mysql' ? 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin' : DataTypes.STRING(36)
    await column('event', 'entry_id', { type: id, allowNull: true })
    const detail = (name: string) =>
      dialect === 'mysql' ? `JSON_UNQUOTE(JSON_EXTRACT(details, '$.${name}'))` : `json_extract(details, '$.${name}')`
    const sql = `UPDATE event SET entry_id = COALESCE(${detail('entryId')}, CASE WHEN ${detail('path')} IS NOT NULL THEN subject_id END)
      WHERE log_id = ? AND seq BETWEEN ? AND ? AND entry_id IS NULL`
    const logs = await rows<Log>('SELECT log_id AS log, MIN(seq) AS first, MAX(seq) AS last FROM event GROUP BY log_id')
    for (const { log, first, last } of logs)
      for (let seq = Number(first); seq <= Number(last); seq += AT_ONCE)
        await run(sql, [log, seq, Math.min(seq + AT_ONCE - 1, Number(last))])
    await index('event', ['entry_id', 'seq'])
  },

  async down({ dropColumn }) {
    await dropColumn('event', 'entry_id')
  },
}
