import type { Db, Tx, Value } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { type Action, rolesThatMay } from '../auth/roles.ts'
import { type AppError, Forbidden, Unauthenticated } from '../errors.ts'

/** The roles that may perform an action, as the list of an SQL IN. They are constants, so they need no placeholders. */
export const rolesInSql = (action: Action): string =>
  rolesThatMay(action)
    .map(role => `'${role}'`)
    .join(', ')

interface Condition {
  sql: string
  values: Value[]
}

/** Condition: the credential `c` of the caller is valid, and their account `u` is active. */
function alive({ via, credentialId }: Caller): Condition & { from: string } {
  const now = Date.now()
  return via === 'session'
    ? {
        from: 'session c JOIN user u ON u.id = c.user_id',
        sql: "c.id = ? AND c.expires_at > ? AND u.status = 'active'",
        values: [credentialId, now],
      }
    : {
        from: 'api_key c JOIN user u ON u.id = c.created_by',
        sql: "c.id = ? AND (c.expires_at IS NULL OR c.expires_at > ?) AND u.status = 'active'",
        values: [credentialId, now],
      }
}

/**
 * A condition for an UPDATE of `bucket`: the caller may write into it at this moment. Requests can take hours, so what the caller was
 * allowed at its start is not enough. The rows that the condition reads stay locked until the transaction ends.
 */
export function mayWriteNow(db: Db, caller: Caller): Condition {
  const { from, sql, values } = alive(caller)
  const lock = db.dialect === 'mysql' ? ' LOCK IN SHARE MODE' : ''
  return {
    sql: `EXISTS (SELECT 1 FROM ${from} LEFT JOIN member m ON m.workspace_id = bucket.workspace_id AND m.user_id = u.id
       WHERE ${sql} AND (bucket.user_id = u.id OR m.role IN (${rolesInSql('write')}))${lock})`,
    values,
  }
}

/** Holds while the maker of an upload session `s` may write into its tree. A signed URL outlives the credential it was made with. */
export const MAKER_MAY_WRITE = `EXISTS (SELECT 1 FROM user u JOIN bucket t ON t.id = s.bucket_id
         LEFT JOIN member m ON m.workspace_id = t.workspace_id AND m.user_id = u.id
         WHERE u.id = s.user_id AND u.status = 'active' AND (t.user_id = u.id OR m.role IN (${rolesInSql('write')})))`

/**
 * The FROM and the condition of invites `i` whose sender may still invite: a member `s` who may manage, with an active account `a`. Joined,
 * so that a locking read locks the rows of the sender, too.
 */
export const SENDER =
  'JOIN member s ON s.workspace_id = i.workspace_id AND s.user_id = i.invited_by JOIN user a ON a.id = s.user_id'
export const SENDER_MAY = `s.role IN (${rolesInSql('manage')}) AND a.status = 'active'`

/**
 * Locks a workspace until the transaction ends, for a member who may manage it at that moment. Every change of members locks it, too.
 * @throws FORBIDDEN
 */
export async function lockToManage(db: Db, caller: Caller, workspaceId: string, tx: Tx): Promise<void> {
  const rows = await db.rows(
    `SELECT w.id FROM workspace w JOIN member m ON m.workspace_id = w.id AND m.user_id = ?
     WHERE w.id = ? AND m.role IN (${rolesInSql('manage')})${db.forUpdate}`,
    [caller.userId, workspaceId],
    tx,
  )
  if (rows.length === 0) throw new Forbidden('Your right to manage this workspace has ended meanwhile. Ask an owner.')
}

/** Deletes the pending invites that a user has sent, to one workspace or to all, because the user may no longer invite. */
export async function endInvitesOf(db: Db, userId: string, workspaceId: string | null, tx: Tx): Promise<void> {
  const only = workspaceId === null ? { sql: '', values: [] } : { sql: ' AND workspace_id = ?', values: [workspaceId] }
  await db.run(`DELETE FROM invite WHERE invited_by = ?${only.sql}`, [userId, ...only.values], tx)
}

/** The error for a caller who may no longer write. */
export async function rightEnded(db: Db, caller: Caller, tx: Tx): Promise<AppError> {
  const { from, sql, values } = alive(caller)
  const there = await db.rows(`SELECT 1 AS there FROM ${from} WHERE ${sql}`, values, tx)
  return there.length === 0
    ? new Unauthenticated()
    : new Forbidden('Your right to add files here has ended meanwhile. Ask an owner of the workspace.')
}
