import type { Db, Tx } from '../index.ts'
import type { FILE, FOLDER } from '../models/entry.ts'
import { type DriveLimits, driveLimitsOf, withDriveLimits } from './limit.ts'
import { BY_RIGHT, LIVE, tables } from './share.ts'
import { placeholders } from './sql.ts'

/**
 * A share that its recipient may edit, as a writable drive, with the limits of the drive behind it.
 */
export interface SharedDriveRow extends DriveLimits {
  /** The id of the share. */
  id: string
  sharerId: string
  /** Flags are numbers in rows. */
  mayEdit: number
  entryId: string
  kind: typeof FOLDER | typeof FILE
  bucketId: string
  /** The root of the whole drive. */
  rootId: string
  /** Null for a personal drive. */
  workspaceId: string | null
}

/** The live shares among these with an e-mail address. */
export const sharedDrives = (db: Db, recipient: string, ids: string[]): Promise<SharedDriveRow[]> =>
  db.rows(
    `SELECT s.id, s.user_id AS sharerId, s.may_edit AS mayEdit, e.id AS entryId, e.kind,
       t.id AS bucketId, t.root_id AS rootId,
       t.workspace_id AS workspaceId, ${driveLimitsOf('t')}
     FROM ${tables}
     ${withDriveLimits('t')}
     WHERE s.id IN (${placeholders(ids)})
       AND s.recipient = ?
       AND ${LIVE}
       AND ${BY_RIGHT}`,
    [...ids, recipient, Date.now()],
  )

/**
 * Locks a share until the transaction ends, if its recipient may edit it now. The tree and its
 * sharer must be locked.
 * @returns whether it was locked
 */
export async function lockEditable(
  db: Db,
  { id, entryId, recipient }: { id: string; entryId: string; recipient: string },
  tx: Tx,
): Promise<boolean> {
  const isEditable = await db.exists(
    `SELECT id
     FROM share
     WHERE id = ?
       AND entry_id = ?
       AND recipient = ?
       AND may_edit = 1
       AND expires_at > ?
       AND (max_downloads IS NULL OR downloads < max_downloads)${db.forUpdate}`,
    [id, entryId, recipient, Date.now()],
    tx,
  )
  if (isEditable) await db.touch('share', [id], tx)
  return isEditable
}
