import type { Db, Tx } from '../index.ts'
import type { Maintenance } from '../models/maintenance.ts'

/** The latest maintenance that was not ended. Its time may be over. */
export const findMaintenance = (db: Db, tx?: Tx): Promise<Omit<Maintenance, 'slot'> | undefined> =>
  db.row(
    `SELECT started_at AS startedAt, ends_at AS endsAt, message, started_by AS startedBy
     FROM maintenance
     WHERE slot = 1`,
    [],
    tx,
  )

/** Starts this maintenance and replaces an existing one. */
export const putMaintenance = (
  db: Db,
  { startedAt, endsAt, message, startedBy }: Omit<Maintenance, 'slot'>,
  tx: Tx,
): Promise<number> =>
  db.run(
    `REPLACE INTO maintenance (slot, started_at, ends_at, message, started_by)
     VALUES (1, ?, ?, ?, ?)`,
    [startedAt, endsAt, message, startedBy],
    tx,
  )

/** @returns whether there was one */
export const removeMaintenance = (db: Db, tx: Tx): Promise<boolean> =>
  db.changed('DELETE FROM maintenance WHERE slot = 1', [], tx)

/**
 * Extends the leases of unfinished uploads in parts that expire before a time, because no part can
 * arrive until then.
 */
export const extendUploads = (db: Db, until: number, now: number, tx: Tx): Promise<number> =>
  db.run(
    `UPDATE blobs
     SET lease_until = ?
     WHERE state IN ('staged', 'copied')
       AND lease_until > ?
       AND lease_until < ?
       AND (EXISTS (SELECT 1 FROM upload_session s WHERE s.id = blobs.id)
         OR EXISTS (SELECT 1 FROM upload_piece p WHERE p.id = blobs.id))`,
    [until, now, until],
    tx,
  )
