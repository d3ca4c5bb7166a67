import type { Db, Tx } from '../index.ts'
import { NO_LIMIT, OPEN, type Totals } from './bucket.ts'
import { driveLimitOf, driveLimitsOf, withDriveLimits, withLimits } from './limit.ts'
import { changedNow, stampChange } from './sql.ts'

// Growth of a bucket within its limits.

/** The limits of the usage and reservations of a bucket. */
interface Limits {
  maxTotalStorageBytes: number
  maxFiles: number | null
}

/**
 * A condition on `bucket`: its usage and reservations may grow by this much, within the given
 * limits and the current ones, which may have shrunk since the request began. The rows that it
 * reads stay locked until the transaction ends, so a shrinking plan waits, and nothing is admitted
 * by old limits afterwards.
 * @returns the condition and its parameters
 */
const within = (
  db: Db,
  by: Totals,
  { maxTotalStorageBytes, maxFiles, maxFolders }: Limits & { maxFolders: number | null },
): [sql: string, values: number[]] => {
  const growing = [
    {
      more: 'used_bytes + reserved_bytes + ?',
      name: 'maxTotalStorageBytes',
      by: by.bytes,
      max: maxTotalStorageBytes,
    },
    { more: 'used_files + reserved_files + ?', name: 'maxFiles', by: by.files, max: maxFiles },
    ...(by.folders > 0
      ? [{ more: 'used_folders + ?', name: 'maxFolders', by: by.folders, max: maxFolders } as const]
      : []),
  ] as const
  const given = growing.map(({ more }) => `${more} <= ?`)
  const inForce = growing.map(
    ({ more, name }) => `${more} <= COALESCE(${driveLimitOf(name, 'bucket')}, ${NO_LIMIT})`,
  )
  return [
    `${given.join(' AND ')} AND ${admitted(db, inForce.join(' AND '))}`,
    [...growing.flatMap(({ by, max }) => [by, max ?? NO_LIMIT]), ...growing.map(({ by }) => by)],
  ]
}

/** A condition on `bucket`, over its current limits. */
function admitted(db: Db, condition: string): string {
  return `EXISTS (SELECT 1
      FROM user o
      ${withLimits('o', 'bucket.workspace_id')}
      WHERE o.id = COALESCE((SELECT dw.owner_id
            FROM workspace dw
            WHERE dw.id = bucket.workspace_id${db.forShare}), bucket.user_id)
        AND ${condition}${db.forShare})`
}

/**
 * Exchanges usage for kept bytes in a locked bucket.
 * @returns false if it would exceed a limit
 */
export const exchangeUsage = (
  db: Db,
  id: string,
  more: number,
  maxBytes: number,
  tx: Tx,
): Promise<boolean> => {
  const limits = { maxTotalStorageBytes: maxBytes, maxFiles: null, maxFolders: null }
  // Usage beyond a limit may shrink.
  const [hasRoom, values] =
    more > 0 ? within(db, { bytes: more, files: 0, folders: 0 }, limits) : ['1 = 1', []]
  return db.changed(
    `UPDATE bucket
     SET used_bytes = used_bytes + ?, kept_bytes = kept_bytes - ?
     WHERE id = ?
       AND ${hasRoom}`,
    [more, more, id, ...values],
    tx,
  )
}

/**
 * Adds to the usage of a bucket with an owner. One conditional UPDATE keeps it exact.
 * @returns false if a limit would be exceeded
 */
export const chargeUsage = (
  db: Db,
  id: string,
  by: Totals,
  limits: Limits & { maxFolders: number | null },
  tx: Tx,
): Promise<boolean> => {
  const [hasRoom, values] = within(db, by, limits)
  return db.changed(
    `UPDATE bucket
     SET used_bytes = used_bytes + ?,
       used_files = used_files + ?,
       used_folders = used_folders + ?,
       ${stampChange}
     WHERE id = ?
       AND ${OPEN}
       AND ${hasRoom}`,
    [by.bytes, by.files, by.folders, ...changedNow(), id, ...values],
    tx,
  )
}

/**
 * Turns the kept bytes of one trash item into usage.
 * @returns false if a limit would be exceeded
 */
export const restoreUsage = (
  db: Db,
  id: string,
  by: Totals,
  limits: Limits & { maxFolders: number | null },
  tx: Tx,
): Promise<boolean> => {
  const [hasRoom, values] = within(db, by, limits)
  return db.changed(
    `UPDATE bucket
     SET used_bytes = used_bytes + ?, used_files = used_files + ?, used_folders = used_folders + ?,
       kept_bytes = kept_bytes - ?, trash_count = trash_count - 1
     WHERE id = ?
       AND ${hasRoom}`,
    [by.bytes, by.files, by.folders, by.bytes, id, ...values],
    tx,
  )
}

/**
 * Reserves `bytes` and `files`. One conditional UPDATE keeps it exact.
 * @returns false if a limit would be exceeded
 */
export const reserve = (
  db: Db,
  id: string,
  { bytes, files }: { bytes: number; files: number },
  limits: Limits,
  tx: Tx,
): Promise<boolean> => {
  const [hasRoom, values] = within(
    db,
    { bytes, files, folders: 0 },
    { ...limits, maxFolders: null },
  )
  return db.changed(
    `UPDATE bucket
     SET reserved_bytes = reserved_bytes + ?, reserved_files = reserved_files + ?
     WHERE id = ?
       AND ${OPEN}
       AND ${hasRoom}`,
    [bytes, files, id, ...values],
    tx,
  )
}

/** The sum of usage and reservations of a bucket with an owner, and its current limits. */
export interface UsedAndReserved {
  bytes: number
  files: number
  workspaceId: string | null
  maxTotalStorageBytes: number
  maxFiles: number | null
}

export async function usedAndReserved(
  db: Db,
  id: string,
  tx: Tx,
): Promise<UsedAndReserved | undefined> {
  const row = await db.row<UsedAndReserved>(
    `SELECT b.used_bytes + b.reserved_bytes AS bytes, b.used_files + b.reserved_files AS files,
       b.workspace_id AS workspaceId, ${driveLimitsOf('b')}
     FROM bucket b
     ${withDriveLimits('b')}
     WHERE b.id = ?`,
    [id],
    tx,
  )
  return row && { ...row, bytes: Number(row.bytes), files: Number(row.files) }
}

/** Releases a reservation of `bytes` and `files`. */
export async function unreserve(
  db: Db,
  id: string,
  { bytes, files }: { bytes: number; files: number },
  tx: Tx,
): Promise<void> {
  await db.run(
    `UPDATE bucket
     SET reserved_bytes = reserved_bytes - ?, reserved_files = reserved_files - ?
     WHERE id = ?`,
    [bytes, files, id],
    tx,
  )
}
