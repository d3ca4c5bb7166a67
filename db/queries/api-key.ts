import type { Db, Tx } from '../index.ts'
import type { ApiKey } from '../models/api-key.ts'
import { limitOf, withLimits } from './limit.ts'
import { firstOfEach, type Page, pageOf } from './page.ts'
import { placeholders } from './sql.ts'

export type ApiKeyRow = Omit<ApiKey, 'hash' | 'hint'> & { keyHint: string }

/** The cursor of a key in a list, newest first. */
export type ApiKeyPlace = [createdAt: number, id: string]

/**
 * The holders of keys: the condition for the private keys of a user or the keys of a workspace, and
 * the account whose plan limits them.
 */
const HOLDERS = {
  user: {
    where: 'created_by = ? AND workspace_id IS NULL',
    max: 'max_private_api_keys',
    account: `user u ${withLimits('u')} WHERE u.id = ?`,
    value: limitOf('maxPrivateApiKeys'),
  },
  workspace: {
    where: 'workspace_id = ?',
    max: 'max_workspace_api_keys',
    account: `workspace w
      JOIN user u ON u.id = w.owner_id
      ${withLimits('u', 'w.id')}
      WHERE w.id = ?`,
    value: limitOf('maxWorkspaceApiKeys', 'workspace'),
  },
} as const

export type Holder = keyof typeof HOLDERS

const columns = `id, name, description, scopes, workspace_id AS workspaceId, created_by AS createdBy, created_at AS createdAt, last_used_at AS lastUsedAt,
  expires_at AS expiresAt, hint AS keyHint`

/** The first page of the keys of each holder, newest first. */
export function pagesOfApiKeys(
  db: Db,
  holder: Holder,
  owners: string[],
  limit: number,
  after: ApiKeyPlace | null,
): Promise<Map<string, Page<ApiKeyRow>>> {
  const keys = `SELECT ${columns} FROM api_key WHERE ${HOLDERS[holder].where}`
  const [time, id] = after ?? [Number.MAX_SAFE_INTEGER, '']
  return firstOfEach(db, `${keys} AND (created_at < ? OR (created_at = ? AND id < ?))`, {
    order: 'createdAt DESC, id DESC',
    owners,
    values: [time, time, id],
    limit,
  })
}

/**
 * All keys that a user created, for themselves and for workspaces, oldest first.
 * @param after an id, or empty
 */
export async function pageOfApiKeysBy(
  db: Db,
  userId: string,
  limit: number,
  after: string,
): Promise<Page<ApiKeyRow>> {
  const sql = `SELECT ${columns}
    FROM api_key
    WHERE created_by = ?
      AND id > ?
    ORDER BY id
    LIMIT ${limit + 1}`
  return pageOf(await db.rows(sql, [userId, after]), limit)
}

/**
 * The keys among these that are private keys of a user or belong to one of the user's workspaces.
 */
export const apiKeysAmong = (db: Db, userId: string, ids: string[]): Promise<ApiKeyRow[]> =>
  db.rows(
    `SELECT ${columns}
     FROM api_key
     WHERE id IN (${placeholders(ids)})
       AND ((workspace_id IS NULL AND created_by = ?)
         OR workspace_id IN (SELECT m.workspace_id FROM member m WHERE m.user_id = ?))`,
    [...ids, userId, userId],
  )

/** The number of keys of a holder, their limit, and the name of that limit. */
export async function apiKeyQuota(
  db: Db,
  holder: Holder,
  id: string,
  tx?: Tx,
): Promise<{ limit: string; max: number; used: number }> {
  const { where, max: limit, value, account } = HOLDERS[holder]
  const row = await db.row<{ used: number; max: number }>(
    `SELECT (SELECT COUNT(*) FROM api_key WHERE ${where}) AS used, ${value} AS max FROM ${account}`,
    [id, id],
    tx,
  )
  return { limit, max: Number(row?.max), used: Number(row?.used) }
}

/**
 * The workspace keys that a user created, in one workspace or in all. They end with the membership.
 */
export const workspaceKeysBy = (
  db: Db,
  userId: string,
  workspaceId: string | null,
  tx: Tx,
): Promise<{ id: string; workspaceId: string }[]> =>
  db.rows(
    `SELECT id, workspace_id AS workspaceId
     FROM api_key
     WHERE created_by = ?
       AND ${workspaceId === null ? 'workspace_id IS NOT NULL' : 'workspace_id = ?'}
     ORDER BY id`,
    [userId, ...(workspaceId === null ? [] : [workspaceId])],
    tx,
  )

/** @returns 1, or 0 if the holder has no such key */
export const deleteApiKey = (
  db: Db,
  holder: Holder,
  holderId: string,
  id: string,
  tx: Tx,
): Promise<number> =>
  db.run(`DELETE FROM api_key WHERE id = ? AND ${HOLDERS[holder].where}`, [id, holderId], tx)
