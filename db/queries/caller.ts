import type { Writer } from '../../src/access/caller.ts'
import type { Db, Tx, Value } from '../index.ts'
import type { LimitName, Limits } from '../models/plan.ts'
import type { User } from '../models/user.ts'
import { limitsOf, withLimits } from './limit.ts'
import { rolesThat } from './member.ts'
import { besideKeys, placeholders } from './sql.ts'

const limits = [
  ...(['maxFileSizeBytes', 'maxTotalStorageBytes', 'maxFiles', 'maxFolders'] as const),
  ...(['maxPublicLinks', 'maxNotes'] as const),
] as const satisfies readonly LimitName[]

/** An account, its storage area and its limits. Null means unlimited. */
export interface CallerRow
  extends Pick<User, 'email' | 'verifiedEmail' | 'name' | 'picture'>,
    Pick<Limits, (typeof limits)[number]> {
  /** The id of the session or key. */
  id: string
  hash: string
  expiresAt: number | null
  lastUsedAt: number | null
  userId: string
  bucketId: string
  rootId: string
}

const columns = `c.id, c.hash, c.expires_at AS expiresAt, c.last_used_at AS lastUsedAt, u.id AS userId, u.email, u.verified_email AS verifiedEmail, u.name, u.picture,
  b.id AS bucketId, b.root_id AS rootId, ${limitsOf(limits)}`
const found = `JOIN bucket b ON b.user_id = u.id
  ${withLimits('u')}
  WHERE ${besideKeys('u.status')} = 'active'
    AND`

/** A credential is found by the hash of its secret, or by its id if it was presented before. */
export type CredentialColumn = 'hash' | 'id'

/**
 * Repeats the last value until the length is a power of two, so that statements are prepared for
 * few lengths.
 */
function repeated(values: readonly string[]): string[] {
  const [last = ''] = values.slice(-1)
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)))
  return Array.from({ length }, (_, i) => values[i] ?? last)
}

/** Valid and expired sessions with their active accounts. */
export function findSessionCallers(
  db: Db,
  by: CredentialColumn,
  values: readonly string[],
): Promise<CallerRow[]> {
  const all = repeated(values)
  return db.rows(
    `SELECT ${columns}
     FROM session c
     JOIN user u ON u.id = c.user_id
     ${found} c.${by} IN (${placeholders(all)})`,
    all,
  )
}

/** Valid and expired keys with the active accounts of their creators. */
export function findKeyCallers(db: Db, by: CredentialColumn, values: readonly string[]) {
  const all = repeated(values)
  return db.rows<CallerRow & { scopes: string; workspaceId: string | null }>(
    `SELECT ${columns}, c.scopes, c.workspace_id AS workspaceId
     FROM api_key c
     JOIN user u ON u.id = c.created_by
     ${found} c.${by} IN (${placeholders(all)})`,
    all,
  )
}

/** The grant of a valid access token for a resource, with the active account of its creator. */
export const findTokenCallers = (db: Db, hash: string, resource: string, now: number) =>
  db.rows<CallerRow & { scopes: string; workspaceId: string | null }>(
    `SELECT ${columns}, c.scopes, c.workspace_id AS workspaceId FROM oauth_token t JOIN api_key c ON c.id = t.key_id JOIN user u ON u.id = c.created_by
     ${found} t.hash = ? AND t.kind = 'access' AND t.resource = ? AND t.expires_at > ?`,
    [hash, resource, now],
  )

export const setLastUse = (db: Db, table: 'session' | 'api_key', id: string, at: number) =>
  db.run(`UPDATE ${table} SET last_used_at = ? WHERE id = ?`, [at, id])

interface Condition {
  sql: string
  values: Value[]
}

/**
 * A condition: the writer's credential `c` is valid, and the account `u` under whose right they
 * write is active.
 */
function alive({ via, credentialId }: Writer): Condition & { from: string } {
  const now = Date.now()
  if (via === 'file_request')
    return {
      from: 'file_request c JOIN user u ON u.id = c.user_id',
      sql: "c.id = ? AND c.closed_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > ?) AND u.status = 'active'",
      values: [credentialId, now],
    }
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

export async function isAlive(db: Db, caller: Writer, tx: Tx): Promise<boolean> {
  const { from, sql, values } = alive(caller)
  return (await db.rows(`SELECT 1 AS there FROM ${from} WHERE ${sql}`, values, tx)).length > 0
}

/**
 * A condition for an UPDATE of `bucket`: the writer may write to it now. Requests can take hours,
 * so a check at their start is not enough. The rows that the condition reads stay locked until the
 * transaction ends.
 * @param shareId a share that the transaction has locked, whose recipient the writer must still be
 */
export function mayWriteNow(db: Db, caller: Writer, shareId?: string): Condition {
  const { from, sql, values } = alive(caller)
  const lock = db.dialect === 'mysql' ? ' LOCK IN SHARE MODE' : ''
  if (shareId !== undefined)
    return {
      sql: `EXISTS (SELECT 1
          FROM ${from}
          JOIN share h ON h.id = ? AND h.recipient = u.verified_email
          WHERE ${sql}${lock})`,
      values: [shareId, ...values],
    }
  return {
    sql: `EXISTS (SELECT 1
        FROM ${from}
        LEFT JOIN member m ON m.workspace_id = bucket.workspace_id AND m.user_id = u.id
        WHERE ${sql}
          AND (bucket.user_id = u.id OR m.role IN (${rolesThat('write')}))${lock})`,
    values,
  }
}

/**
 * Locks the credential of a writer against revocation until the transaction ends. `mayWriteNow` has
 * locked it.
 */
export async function keepCredential(db: Db, { via, credentialId }: Writer, tx: Tx): Promise<void> {
  // Closing a file request locks its bucket.
  if (via !== 'file_request')
    await db.touch(via === 'session' ? 'session' : 'api_key', [credentialId], tx)
}

/** The account `u` owns the tree `t`, or may write to it as the member `m` of its workspace. */
export const ROLE_MAY_WRITE = `(t.user_id = u.id OR m.role IN (${rolesThat('write')}))`

/** The account `u` is active, and may write to the tree `t`. */
export const USER_MAY_WRITE = `u.status = 'active' AND ${ROLE_MAY_WRITE}`

/** Joins the destination tree of a row with the account's membership. */
export const treeOf = (row: string): string =>
  `JOIN bucket t ON t.id = ${row}.bucket_id
   LEFT JOIN member m ON m.workspace_id = t.workspace_id AND m.user_id = u.id`

/**
 * The condition that the recipient of the share `h` may edit it, with its sharer `u`. Its value is
 * the current time.
 */
export const EDITABLE = `h.may_edit = 1 AND h.expires_at > ? AND (h.max_downloads IS NULL OR h.downloads < h.max_downloads) AND ${USER_MAY_WRITE}`

/**
 * The condition that the creator of the row `s` may write to its tree, by their own right or by the
 * row's share. Its value is the current time.
 */
export const USER_OR_SHARE_MAY_WRITE = `(EXISTS (SELECT 1
      FROM user u
      ${treeOf('s')}
      WHERE u.id = s.user_id
        AND s.share_id IS NULL
        AND ${USER_MAY_WRITE})
    OR EXISTS (SELECT 1
      FROM share h
      JOIN user r ON r.verified_email = h.recipient
      JOIN user u ON u.id = h.user_id
      ${treeOf('h')}
      WHERE h.id = s.share_id
        AND r.id = s.user_id
        AND r.status = 'active'
        AND ${EDITABLE}))`

/**
 * The condition that the creator of an upload session `s` may write to its destination, or that its
 * file request is still open. A signed URL outlives the credential under which it was made. Its
 * value is the current time.
 */
export const MAKER_MAY_WRITE = `(${USER_OR_SHARE_MAY_WRITE}
    OR EXISTS (SELECT 1
      FROM file_request_upload q
      JOIN file_request r ON r.id = q.request_id
      JOIN user u ON u.id = r.user_id
      ${treeOf('r')}
      WHERE q.id = s.id
        AND r.closed_at IS NULL
        AND ${USER_MAY_WRITE}))`
