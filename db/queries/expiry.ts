import type { Db } from '../index.ts'
import { GIVEN_UP } from './job.ts'
import { besideKeys, firstIdAt, placeholders } from './sql.ts'

/** The key of a table's rows, and the condition under which they have expired at a time. */
const ended = {
  session: { key: 'hash', where: 'expires_at <= ?', values: (at: number) => [at] },
  share_use: { key: 'id', where: 'expires_at <= ?', values: (at: number) => [at] },
  share: { key: 'id', where: 'expires_at < ?', values: (at: number) => [at] },
  ended_share: { key: 'id', where: 'ended_at < ?', values: (at: number) => [at] },
  ended_share_entry: { key: 'item_id', where: 'ended_at < ?', values: (at: number) => [at] },
  file_request: {
    key: 'id',
    where: `closed_at < ?
        OR expires_at < ?
        OR NOT EXISTS (SELECT 1 FROM entry e WHERE e.id = file_request.folder_id)`,
    values: (at: number) => [at, at],
  },
  file_request_upload: { key: 'id', where: 'received_at < ?', values: (at: number) => [at] },
  entry_copy: { key: 'id', where: 'ended_at < ?', values: (at: number) => [at] },
  share_event: { key: 'id', where: 'id < ?', values: (at: number) => [firstIdAt(at)] },
  mail_notice: { key: 'id', where: 'sent_at < ?', values: (at: number) => [at] },
  upload_session: {
    key: 'id',
    where: "state = 'completed' AND claim_until <= ?",
    values: (at: number) => [at],
  },
  login_request: { key: 'id', where: 'expires_at <= ?', values: (at: number) => [at] },
  oauth_client: { key: 'id', where: 'expires_at <= ?', values: (at: number) => [at] },
  oauth_token: { key: 'hash', where: 'expires_at <= ?', values: (at: number) => [at] },
  login_link: { key: 'hash', where: 'expires_at <= ?', values: (at: number) => [at] },
  sign_in_state: { key: 'hash', where: 'expires_at <= ?', values: (at: number) => [at] },
  deletion_hold: { key: 'id', where: 'expires_at <= ?', values: (at: number) => [at] },
  outbox: {
    key: 'id',
    where: 'due_at = ? AND created_at < ?',
    values: (at: number) => [GIVEN_UP, at],
  },
} as const

/**
 * Deletes rows that have expired by a time. Works in batches and by primary key, because locks
 * along an index of times could deadlock with a sign-out.
 */
export async function deleteEnded(
  db: Db,
  table: keyof typeof ended,
  at: number,
  batch: number,
): Promise<void> {
  const { key, where, values: valuesAt } = ended[table]
  const values = valuesAt(at)
  for (;;) {
    const sql = `SELECT ${key} AS id FROM ${table} WHERE ${where} LIMIT ${batch}`
    const ids = (await db.rows<{ id: string }>(sql, values)).map(row => row.id)
    if (ids.length === 0) return
    // The condition is checked again: a share may have been renewed meanwhile.
    await db.run(
      `DELETE FROM ${table} WHERE ${key} IN (${placeholders(ids)}) AND ${besideKeys(`(${where})`)}`,
      [...ids, ...values],
    )
  }
}
