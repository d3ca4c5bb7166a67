import type { Db, Tx } from '../index.ts'

/** The tables of things whose creators can get mails about uses. */
export type Noticed = 'file_request' | 'share'

/**
 * Marks a mail as scheduled.
 * @returns the time of the last mail; undefined if one is already scheduled or none is wanted
 */
export async function beginMail(
  db: Db,
  of: Noticed,
  id: string,
  tx: Tx,
): Promise<number | undefined> {
  const sql = `UPDATE ${of} SET mail_waits = ? WHERE id = ? AND mail_waits = ? AND notifies = ?`
  if (!(await db.changed(sql, [true, id, false, true], tx))) return undefined
  const row = await db.row<{ at: number }>(
    `SELECT notified_at AS at FROM ${of} WHERE id = ?`,
    [id],
    tx,
  )
  return row?.at
}

/** Records that the creator was informed of everything up to a time. */
export const endMail = (db: Db, of: Noticed, id: string, at: number, tx: Tx) =>
  db.run(`UPDATE ${of} SET mail_waits = ?, notified_at = ? WHERE id = ?`, [false, at, id], tx)
