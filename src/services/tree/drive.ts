import { validate as isUuid } from 'uuid'
import type { Db } from '../../../db/index.ts'
import { FILE } from '../../../db/models/entry.ts'
import { bucketsOf, type Usage, usagesOf } from '../../../db/queries/bucket.ts'
import { sharedDrives } from '../../../db/queries/shared-drive.ts'
import { workspaceTrees } from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import type { BucketLimits, Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { WorkspaceTree } from '../workspaces/workspace.ts'

/**
 * The caller's workspaces with these workspace or storage area ids, with role, tree and limits, in
 * one statement.
 */
export async function workspaceTreesOf(
  db: Db,
  caller: Caller,
  by: 'w.id' | 'b.id',
  given: readonly string[],
): Promise<WorkspaceTree[]> {
  // MySQL fails to compare an ASCII id column with a text that is not ASCII.
  const ids = given.filter(id => isUuid(id))
  if (ids.length === 0) return []
  const rows = await workspaceTrees(db, caller.userId, by, ids)
  return rows.map(
    ({
      bucketId,
      rootId,
      maxFileSizeBytes,
      maxTotalStorageBytes,
      maxFiles,
      maxFolders,
      ...workspace
    }) => ({
      ...workspace,
      tree: { bucketId, rootId, maxFolders, front: '/' },
      limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
    }),
  )
}

/** A share that its recipient may edit, as a drive to write to. */
export interface SharedDrive {
  id: string
  tree: Tree
  limits: BucketLimits
  /** Whether the recipient may edit. */
  mayEdit: boolean
}

/**
 * The live shares among these that are made to the caller, with trees and limits, in one statement.
 */
export async function sharedDrivesOf(
  db: Db,
  caller: Caller,
  given: readonly string[],
): Promise<SharedDrive[]> {
  const ids = given.filter(id => isUuid(id))
  if (ids.length === 0 || caller.verifiedEmail === null) return []
  const rows = await sharedDrives(db, caller.verifiedEmail, ids)
  return rows.map(
    ({
      id,
      sharerId,
      mayEdit,
      entryId,
      kind,
      bucketId,
      rootId,
      workspaceId,
      maxFolders,
      ...limits
    }): SharedDrive => {
      const drive = { rootId, ...(workspaceId === null ? {} : { front: '/' as const }) }
      const share = { id, sharerId, isFile: kind === FILE, drive }
      return {
        id,
        tree: { bucketId, rootId: entryId, maxFolders, share },
        limits,
        mayEdit: Boolean(mayEdit),
      }
    },
  )
}

/** Finds drives. Nothing here authorizes. */
export function driveService({ db }: Core<'db'>) {
  return {
    workspaceTreesOf: (caller: Caller, by: 'w.id' | 'b.id', ids: readonly string[]) =>
      workspaceTreesOf(db, caller, by, ids),

    sharedDrivesOf: (caller: Caller, ids: readonly string[]) => sharedDrivesOf(db, caller, ids),

    /** The storage areas of some entries or active uploads, by the ids of the latter. */
    bucketsOf: (
      table:
        | 'entry'
        | 'file_request'
        | 'upload_session'
        | 'trash_item'
        | 'version'
        | 'tag'
        | 'dav_lock',
      ids: readonly string[],
    ): Promise<Map<string, string>> =>
      bucketsOf(
        db,
        table,
        ids.filter(id => isUuid(id)),
      ),

    /** The usage of some storage areas, by id. */
    usagesOf: (ids: readonly string[]): Promise<Map<string, Usage>> => usagesOf(db, ids),
  }
}
