import type { Db, Tx } from '../../../db/index.ts'
import { isAlive } from '../../../db/queries/caller.ts'
import { lockForManager } from '../../../db/queries/workspace.ts'
import type { Caller, Writer } from '../../access/caller.ts'
import { type AppError, Forbidden, Unauthenticated } from '../../runtime/errors.ts'

/**
 * Locks a workspace until the transaction ends, and checks that the caller may manage it.
 * @throws FORBIDDEN
 */
export async function lockToManage(
  db: Db,
  caller: Caller,
  workspaceId: string,
  tx: Tx,
): Promise<void> {
  if (!(await lockForManager(db, caller.userId, workspaceId, tx)))
    throw new Forbidden('You no longer have the right to manage this workspace. Ask an owner.')
}

/** The error for a caller who has lost the right to write. */
export async function rightEnded(db: Db, caller: Writer, tx: Tx): Promise<AppError> {
  return (await isAlive(db, caller, tx))
    ? new Forbidden(
        'You no longer have the right to add files here. Ask an owner of the workspace.',
      )
    : new Unauthenticated()
}
