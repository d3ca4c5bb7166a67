import type { Db } from '../index.ts'
import { SERVICE_LOG } from '../models/event.ts'

/** The usage and the kept data of all drives, in bytes and counts. */
export interface StorageTotals {
  usedBytes: number
  fileCount: number
  folderCount: number
  /** Of these, the bytes that deleted accounts left for a possible return. */
  leftBytes: number
  leftFileCount: number
  trashBytes: number
  trashCount: number
  versionBytes: number
  /** Reserved by active uploads. */
  uploadBytes: number
  uploadCount: number
  /** Objects that nothing refers to, but which are still in the store. */
  deletingBytes: number
  deletingCount: number
  eventCount: number
}

const LEFT = 'user_id IS NULL AND workspace_id IS NULL AND kept_until IS NOT NULL'

/** Adds up the totals in the rows of drives. Reads no entries and versions. */
const SUMS = `SELECT SUM(used_bytes) AS usedBytes, SUM(used_files) AS fileCount,
    SUM(used_folders) AS folderCount,
    SUM(CASE WHEN ${LEFT} THEN used_bytes ELSE 0 END) AS leftBytes,
    SUM(CASE WHEN ${LEFT} THEN used_files ELSE 0 END) AS leftFileCount,
    SUM(kept_bytes) AS keptBytes, SUM(trash_count) AS trashCount,
    SUM(reserved_bytes) AS uploadBytes, SUM(reserved_files) AS uploadCount
  FROM bucket`

const DELETING =
  "SELECT COUNT(*) AS deletingCount, SUM(size) AS deletingBytes FROM blobs WHERE state = 'deleting'"

/**
 * The numbers of a log have no gaps. So its last number and its purged number give the number of
 * events.
 */
const EVENTS = `SELECT SUM(COALESCE((SELECT MAX(seq)
      FROM event
      WHERE event.log_id = logs.id) - COALESCE(log.purged_seq, 0), 0)) AS eventCount
  FROM (SELECT id
    FROM bucket
    UNION ALL
    SELECT id
    FROM user
    UNION ALL
    SELECT '${SERVICE_LOG}') AS logs
  LEFT JOIN event_log AS log ON log.log_id = logs.id`

/** One statement, so that data moved meanwhile is counted once. */
export async function storageTotals(db: Db): Promise<StorageTotals> {
  type Row = Record<
    Exclude<keyof StorageTotals, 'versionBytes'> | 'keptBytes',
    number | string | null
  >
  const row = await db.row<Row>(
    `SELECT *
     FROM (${SUMS}) AS sums, (SELECT SUM(bytes) AS trashBytes FROM trash_item) AS trash,
       (${DELETING}) AS deleting, (${EVENTS}) AS events`,
  )
  // A sum of no rows is null, and MySQL returns sums as text.
  const of = (name: keyof Row) => Number(row?.[name] ?? 0)
  return {
    usedBytes: of('usedBytes'),
    fileCount: of('fileCount'),
    folderCount: of('folderCount'),
    leftBytes: of('leftBytes'),
    leftFileCount: of('leftFileCount'),
    trashBytes: of('trashBytes'),
    trashCount: of('trashCount'),
    // The kept bytes outside the trash.
    versionBytes: of('keptBytes') - of('trashBytes'),
    uploadBytes: of('uploadBytes'),
    uploadCount: of('uploadCount'),
    deletingBytes: of('deletingBytes'),
    deletingCount: of('deletingCount'),
    eventCount: of('eventCount'),
  }
}
