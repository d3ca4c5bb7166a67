import { type Db, isDuplicate } from '../index.ts'

/** Inserts the row of a download with its remaining bytes. Returns false if it exists already. */
export async function startUse(
  db: Db,
  id: string,
  left: number,
  expiresAt: number,
): Promise<boolean> {
  try {
    await db.run('INSERT INTO share_use (id, left_bytes, expires_at) VALUES (?, ?, ?)', [
      id,
      left,
      expiresAt,
    ])
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/**
 * Charges bytes to a download that has at least `needed` left. Otherwise charges nothing and
 * returns false.
 */
export const chargeUse = (
  db: Db,
  id: string,
  bytes: number,
  needed: number,
  expiresAt: number,
): Promise<boolean> =>
  db.changed(
    `UPDATE share_use
     SET left_bytes = left_bytes - ?, expires_at = ?
     WHERE id = ?
       AND left_bytes >= ?`,
    [bytes, expiresAt, id, needed],
  )

export const refundUse = (db: Db, id: string, bytes: number) =>
  db.run('UPDATE share_use SET left_bytes = left_bytes + ? WHERE id = ?', [bytes, id])
