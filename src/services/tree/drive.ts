import { validate as isUuid } from 'uuid'
import type { Db } from '../../../db/index.ts'
import { bucketsOf, type Usage, usagesOf } from '../../../db/queries/bucket.ts'
import { workspaceTrees } from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../core.ts'
import type { WorkspaceTree } from '../workspaces/workspace.ts'

/** The workspaces of the caller with these ids of workspaces or of their storage areas. One statement: with role, tree and limits. */
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
    ({ bucketId, rootId, maxFileSizeBytes, maxTotalStorageBytes, maxFiles, maxFolders, ...workspace }) => ({
      ...workspace,
      tree: { bucketId, rootId, maxFolders, front: '/' },
      limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
    }),
  )
}

/** What leads to drives. None of it authorizes. */
export function driveService({ db }: Core<'db'>) {
  return {
    workspaceTreesOf: (caller: Caller, by: 'w.id' | 'b.id', ids: readonly string[]) =>
      workspaceTreesOf(db, caller, by, ids),

    /** The storage areas that some entries or unfinished uploads are in, by the id of those. */
    bucketsOf: (
      table: 'entry' | 'file_request' | 'upload_session' | 'trash_item' | 'version',
      ids: readonly string[],
    ): Promise<Map<string, string>> =>
      bucketsOf(
        db,
        table,
        ids.filter(id => isUuid(id)),
      ),

    /** What some storage areas hold, by id. */
    usagesOf: (ids: readonly string[]): Promise<Map<string, Usage>> => usagesOf(db, ids),
  }
}
