import type { Db } from '../index.ts'
import { SERVICE_LOG } from '../models/event.ts'

/** What all drives hold and keep. Bytes and numbers. */
export interface StorageTotals {
  usedBytes: number
  fileCount: number
  folderCount: number
  /** Of these, what deleted accounts have left for their return. */
  leftBytes: number
  leftFileCount: number
  trashBytes: number
  trashCount: number
  versionBytes: number
  /** Reserved by uploads that have not ended. */
  uploadBytes: number
  uploadCount: number
  /** In the store still, although nothing needs it any longer. */
  deletingBytes: number
  deletingCount: number
  eventCount: number
}

const LEFT = 'user_id IS NULL AND workspace_id IS NULL AND kept_until IS NOT NULL'

/** Sums the rows of the drives, which have their totals: entries and versions are not looked at. */
const SUMS = `SELECT SUM(used_bytes) AS usedBytes, SUM(used_files) AS fileCount, SUM(used_folders) AS folderCount,
    SUM(CASE WHEN ${LEFT} THEN used_bytes ELSE 0 END) AS leftBytes, SUM(CASE WHEN ${LEFT} THEN used_files ELSE 0 END) AS leftFileCount,
    SUM(kept_bytes) AS keptBytes, SUM(trash_count) AS trashCount, SUM(reserved_bytes) AS uploadBytes, SUM(reserved_files) AS uploadCount
  FROM bucket`

const DELETING =
  "SELECT COUNT(*) AS deletingCount, SUM(size) AS deletingBytes FROM blobs WHERE state = 'deleting'"

/**
 * Numbers of a log have no gap: its last one, and how far it was purged, say how many events it
 * has.
 */
const EVENTS = `SELECT SUM(COALESCE((SELECT MAX(seq) FROM event WHERE event.log_id = logs.id) - COALESCE(log.purged_seq, 0), 0)) AS eventCount
  FROM (SELECT id FROM bucket UNION ALL SELECT id FROM user UNION ALL SELECT '${SERVICE_LOG}') AS logs LEFT JOIN event_log AS log ON log.log_id = logs.id`

/** One statement, so that what is moved meanwhile is counted once. */
export async function storageTotals(db: Db): Promise<StorageTotals> {
  type Row = Record<
    Exclude<keyof StorageTotals, 'versionBytes'> | 'keptBytes',
    number | string | null
  >
  const row = await db.row<Row>(
    `SELECT * FROM (${SUMS}) AS sums, (SELECT SUM(bytes) AS trashBytes FROM trash_item) AS trash, (${DELETING}) AS deleting, (${EVENTS}) AS events`,
  )
  // A sum of no rows is null, and MySQL writes sums as texts.
  const of = (name: keyof Row) => Number(row?.[name] ?? 0)
  return {
    usedBytes: of('usedBytes'),
    fileCount: of('fileCount'),
    folderCount: of('folderCount'),
    leftBytes: of('leftBytes'),
    leftFileCount: of('leftFileCount'),
    trashBytes: of('trashBytes'),
    trashCount: of('trashCount'),
    // What is kept and not in the trash.
    versionBytes: of('keptBytes') - of('trashBytes'),
    uploadBytes: of('uploadBytes'),
    uploadCount: of('uploadCount'),
    deletingBytes: of('deletingBytes'),
    deletingCount: of('deletingCount'),
    eventCount: of('eventCount'),
  }
}
