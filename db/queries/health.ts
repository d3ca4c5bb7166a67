import type { Db } from '../index.ts'
import type { BackupRun } from '../models/backup-run.ts'
import type { InstanceState } from '../models/instance-state.ts'
import type { StorageDay } from '../models/storage-day.ts'
import { GIVEN_UP } from './job.ts'
import { driveLimitOf, usedBytes, withDriveLimits } from './limit.ts'

/** The pending jobs of a kind: due jobs, and failed jobs that will be retried. */
export interface JobState {
  kind: string
  waiting: number
  /** The number of these that have failed at least once. */
  retrying: number
  givenUp: number
  /**
   * The time at which the oldest pending job was queued or, if planned for later, became due, in
   * milliseconds since 1970.
   */
  oldestAt: number | null
  /** The error of the latest failure; empty if none. */
  lastError: string
}

export async function jobStates(db: Db, now: number): Promise<JobState[]> {
  type Row = Record<'waiting' | 'retrying' | 'givenUp' | 'oldestAt', number | string | null> & {
    kind: string
  }
  const rows = await db.rows<Row>(
    `SELECT kind,
       SUM(CASE WHEN due_at <= ? OR (due_at < ? AND attempts > 0) THEN 1 ELSE 0 END) AS waiting,
       SUM(CASE WHEN due_at < ? AND attempts > 0 THEN 1 ELSE 0 END) AS retrying,
       SUM(CASE WHEN due_at = ? THEN 1 ELSE 0 END) AS givenUp,
       MIN(CASE WHEN due_at < ? AND attempts > 0 THEN created_at WHEN due_at <= ? THEN due_at END) AS oldestAt
     FROM outbox
     GROUP BY kind
     ORDER BY kind`,
    [now, GIVEN_UP, GIVEN_UP, GIVEN_UP, GIVEN_UP, now],
  )
  const states: JobState[] = []
  for (const { kind, waiting, retrying, givenUp, oldestAt } of rows) {
    const failed = Number(retrying) + Number(givenUp) > 0
    states.push({
      kind,
      waiting: Number(waiting),
      retrying: Number(retrying),
      givenUp: Number(givenUp),
      oldestAt: oldestAt === null ? null : Number(oldestAt),
      lastError: failed ? await lastErrorOf(db, kind) : '',
    })
  }
  return states
}

async function lastErrorOf(db: Db, kind: string): Promise<string> {
  const row = await db.row<{ lastError: string }>(
    `SELECT last_error AS lastError
     FROM outbox
     WHERE kind = ?
       AND last_error <> ''
     ORDER BY due_at DESC
     LIMIT 1`,
    [kind],
  )
  return row?.lastError ?? ''
}

/** A drive with a limit, and its usage. */
export interface DriveFill {
  /** The account whose plan limits it. */
  accountId: string
  email: string
  /** Null for the drive of the account itself. */
  workspaceId: string | null
  workspace: string | null
  usedBytes: number
  maxBytes: number
}

/** The non-empty drives closest to their limits. */
export function fullestDrives(db: Db, limit: number): Promise<DriveFill[]> {
  const max = driveLimitOf('maxTotalStorageBytes', 'b')
  return db.rows<DriveFill>(
    `SELECT o.id AS accountId, o.email, b.workspace_id AS workspaceId, dw.name AS workspace,
       ${usedBytes('b')} AS usedBytes, ${max} AS maxBytes
     FROM bucket b
     ${withDriveLimits('b')}
     WHERE b.used_bytes > 0
       AND ${max} IS NOT NULL
     ORDER BY 1.0 * (${usedBytes('b')}) / CASE WHEN ${max} > 0 THEN ${max} ELSE 1 END DESC, b.id
     LIMIT ${limit}`,
    [],
  )
}

/** Stores the totals of a day, or updates them later that day. */
export const noteStorageDay = (
  db: Db,
  { day, usedBytes: used, keptBytes, at }: StorageDay,
): Promise<number> => {
  const again =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE used_bytes = VALUES(used_bytes), kept_bytes = VALUES(kept_bytes), at = VALUES(at)'
      : 'ON CONFLICT (day) DO UPDATE SET used_bytes = excluded.used_bytes, kept_bytes = excluded.kept_bytes, at = excluded.at'
  return db.run(
    `INSERT INTO storage_day (day, used_bytes, kept_bytes, at) VALUES (?, ?, ?, ?) ${again}`,
    [...[day, used, keptBytes, at]],
  )
}

export const forgetStorageDays = (db: Db, before: number): Promise<number> =>
  db.run('DELETE FROM storage_day WHERE day < ?', [before])

/** The recorded days, oldest first. */
export const storageDays = (db: Db, from: number): Promise<StorageDay[]> =>
  db.rows(
    `SELECT day, used_bytes AS usedBytes, kept_bytes AS keptBytes, at
     FROM storage_day
     WHERE day >= ?
     ORDER BY day`,
    [from],
  )

/** Records the state that an instance reports. */
export const noteInstance = (
  db: Db,
  { name, startedAt, seenAt, alarms, store }: InstanceState,
): Promise<number> => {
  const again =
    db.dialect === 'mysql'
      ? 'ON DUPLICATE KEY UPDATE started_at = VALUES(started_at), seen_at = VALUES(seen_at), alarms = VALUES(alarms), store = VALUES(store)'
      : 'ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at, seen_at = excluded.seen_at, alarms = excluded.alarms, store = excluded.store'
  return db.run(
    `INSERT INTO instance_state (name, started_at, seen_at, alarms, store)
     VALUES (?, ?, ?, ?, ?)
     ${again}`,
    [...[name, startedAt, seenAt, alarms, store]],
  )
}

/** Deletes the record of a stopped instance. */
export const forgetInstance = (db: Db, name: string): Promise<number> =>
  db.run('DELETE FROM instance_state WHERE name = ?', [name])

/** Deletes the records of instances that have been silent since a time. */
export const forgetSilentInstances = (db: Db, before: number): Promise<number> =>
  db.run('DELETE FROM instance_state WHERE seen_at < ?', [before])

/** The names of instances seen since a time that do not know a blob store. */
export async function instancesWithoutStore(
  db: Db,
  store: number,
  since: number,
): Promise<string[]> {
  const sql = 'SELECT name FROM instance_state WHERE store < ? AND seen_at >= ? ORDER BY name'
  return (await db.rows<{ name: string }>(sql, [store, since])).map(({ name }) => name)
}

export const instanceStates = (db: Db): Promise<Omit<InstanceState, 'store'>[]> =>
  db.rows(
    `SELECT name, started_at AS startedAt, seen_at AS seenAt, alarms
     FROM instance_state
     ORDER BY name`,
    [],
  )

export const noteBackup = (db: Db, { id, finishedAt, bytes }: BackupRun): Promise<number> =>
  db.run('INSERT INTO backup_run (id, finished_at, bytes) VALUES (?, ?, ?)', [
    id,
    finishedAt,
    bytes,
  ])

export const forgetBackups = (db: Db, before: number): Promise<number> =>
  db.run('DELETE FROM backup_run WHERE finished_at < ?', [before])

/** The newest backup, or undefined. */
export const lastBackup = (db: Db): Promise<BackupRun | undefined> =>
  db.row(
    'SELECT id, finished_at AS finishedAt, bytes FROM backup_run ORDER BY finished_at DESC LIMIT 1',
    [],
  )
