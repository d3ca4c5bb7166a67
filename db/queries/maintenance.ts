import type { Db, Tx } from '../index.ts'
import type { Maintenance } from '../models/maintenance.ts'

/** The maintenance that was started last and not ended; it may be over. */
export const findMaintenance = (db: Db, tx?: Tx): Promise<Omit<Maintenance, 'slot'> | undefined> =>
  db.row(
    'SELECT started_at AS startedAt, ends_at AS endsAt, message, started_by AS startedBy FROM maintenance WHERE slot = 1',
    [],
    tx,
  )

/** Makes this the maintenance, in the place of the one that there may be. */
export const putMaintenance = (
  db: Db,
  { startedAt, endsAt, message, startedBy }: Omit<Maintenance, 'slot'>,
  tx: Tx,
): Promise<number> =>
  db.run(
    'REPLACE INTO maintenance (slot, started_at, ends_at, message, started_by) VALUES (1, ?, ?, ?, ?)',
    [startedAt, endsAt, message, startedBy],
    tx,
  )

/** @returns whether there was one */
export const removeMaintenance = (db: Db, tx: Tx): Promise<boolean> =>
  db.changed('DELETE FROM maintenance WHERE slot = 1', [], tx)

/**
 * Extends the leases of unfinished uploads in parts that end before a time: until then, no part can
 * come.
 */
export const extendUploads = (db: Db, until: number, now: number, tx: Tx): Promise<number> =>
  db.run(
    `UPDATE blobs SET lease_until = ? WHERE state IN ('staged', 'copied') AND lease_until > ? AND lease_until < ?
       AND (EXISTS (SELECT 1 FROM upload_session s WHERE s.id = blobs.id)
         OR EXISTS (SELECT 1 FROM upload_piece p WHERE p.id = blobs.id))`,
    [until, now, until],
    tx,
  )
