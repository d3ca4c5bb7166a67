import type { Db } from '../index.ts'
import type { DeletionHold } from '../models/deletion-hold.ts'

/**
 * A condition that holds while there is no hold. Its one value is the time, in milliseconds since
 * 1970.
 */
export const notHeld = 'NOT EXISTS (SELECT 1 FROM deletion_hold WHERE expires_at > ?)'

export const startHold = (db: Db, { id, expiresAt }: DeletionHold): Promise<number> =>
  db.run('INSERT INTO deletion_hold (id, expires_at) VALUES (?, ?)', [id, expiresAt])

/** @returns whether the hold has lasted until now; after a gap, blobs may have been deleted */
export const extendHold = (
  db: Db,
  { id, expiresAt }: DeletionHold,
  now: number,
): Promise<boolean> =>
  db.changed('UPDATE deletion_hold SET expires_at = ? WHERE id = ? AND expires_at > ?', [
    expiresAt,
    id,
    now,
  ])

export const endHold = (db: Db, id: string): Promise<number> =>
  db.run('DELETE FROM deletion_hold WHERE id = ?', [id])

/** Whether blobs must stay in the store at a time. */
export const isHeld = (db: Db, at: number): Promise<boolean> =>
  db.exists('SELECT id FROM deletion_hold WHERE expires_at > ? LIMIT 1', [at])
