import type { Db, Tx } from '../index.ts'

/** What its maker can be told of by mail. */
export type Noticed = 'file_request' | 'share'

/** Notes that a mail about it waits. @returns when its maker was last told; undefined when one waits already, or none is wanted */
export async function beginMail(db: Db, of: Noticed, id: string, tx: Tx): Promise<number | undefined> {
  const sql = `UPDATE ${of} SET mail_waits = ? WHERE id = ? AND mail_waits = ? AND notifies = ?`
  if (!(await db.changed(sql, [true, id, false, true], tx))) return undefined
  const row = await db.row<{ at: number }>(`SELECT notified_at AS at FROM ${of} WHERE id = ?`, [id], tx)
  return row?.at
}

/** Notes that its maker is told of all until a time. */
export const endMail = (db: Db, of: Noticed, id: string, at: number, tx: Tx) =>
  db.run(`UPDATE ${of} SET mail_waits = ?, notified_at = ? WHERE id = ?`, [false, at, id], tx)
