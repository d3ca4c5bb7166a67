import type { Db } from '../index.ts'
import { placeholders } from './sql.ts'

/** The tables whose rows are nodes of the graph under their own ids. */
const tables = [
  'entry',
  'entry_copy',
  'bucket',
  'workspace',
  'user',
  'identity',
  'session',
  'share',
  'file_request',
  'invite',
  'api_key',
  'upload_session',
  'trash_item',
  'version',
  'tag',
  'favourite',
  'webhook',
] as const

export type NodeTable = (typeof tables)[number]

/** The tables of the rows with these ids. Ids are unique across all tables. */
export const tablesOfIds = (db: Db, ids: string[]): Promise<{ id: string; source: NodeTable }[]> =>
  db.rows(
    tables
      .map(
        table => `SELECT id, '${table}' AS source FROM ${table} WHERE id IN (${placeholders(ids)})`,
      )
      .join(' UNION ALL '),
    tables.flatMap(() => ids),
  )
