import type { Db, Tx } from '../index.ts'
import type { OAuthToken } from '../models/oauth-token.ts'
import { besideKeys, placeholders } from './sql.ts'

/** A refresh token, whose grant has not ended. */
export type RefreshRow = Pick<
  OAuthToken,
  'hash' | 'keyId' | 'clientId' | 'resource' | 'expiresAt' | 'usedAt'
> & { scopes: string; keyExpiresAt: number | null }

export const refreshToken = (db: Db, hash: string): Promise<RefreshRow | undefined> =>
  db.row(
    `SELECT t.hash, t.key_id AS keyId, t.client_id AS clientId, t.resource, t.expires_at AS expiresAt, t.used_at AS usedAt,
       k.scopes, k.expires_at AS keyExpiresAt
     FROM oauth_token t JOIN api_key k ON k.id = t.key_id
     WHERE t.hash = ? AND t.kind = 'refresh'`,
    [hash],
  )

/** The id of the grant of a token of either kind. */
export const grantOfToken = (db: Db, hash: string): Promise<{ keyId: string } | undefined> =>
  db.row('SELECT key_id AS keyId FROM oauth_token WHERE hash = ?', [hash])

/**
 * Marks a refresh token as used, unless its grace has ended.
 * @param since the earliest first use that still counts as a repetition
 * @returns whether it may be exchanged
 */
export const useRefreshToken = (
  db: Db,
  hash: string,
  { now, since }: { now: number; since: number },
  tx: Tx,
): Promise<boolean> =>
  // The value always changes, so that MySQL counts the row.
  db.changed(
    `UPDATE oauth_token SET expires_at = expires_at - 1, used_at = COALESCE(used_at, ?)
     WHERE hash = ? AND (used_at IS NULL OR used_at > ?)`,
    [now, hash, since],
    tx,
  )

/** Whether there are at least so many registered programs. */
export const hasClients = async (db: Db, count: number): Promise<boolean> =>
  (await db.row(`SELECT id FROM oauth_client LIMIT 1 OFFSET ${count - 1}`, [])) !== undefined

/** Keeps a program until a time. */
export const keepClient = (db: Db, id: string, until: number): Promise<unknown> =>
  db.run('UPDATE oauth_client SET expires_at = ? WHERE id = ?', [until, id])

/**
 * Deletes the registered programs that expire first.
 * @param before the time before which they expire
 * @returns their number, at most `count`
 */
export async function deleteFirstClients(db: Db, before: number, count: number): Promise<number> {
  const rows = await db.rows<{ id: string }>(
    `SELECT id FROM oauth_client WHERE expires_at < ? ORDER BY expires_at LIMIT ${count}`,
    [before],
  )
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  // The condition is checked again: a person may have approved one meanwhile.
  return db.run(
    `DELETE FROM oauth_client WHERE id IN (${placeholders(ids)}) AND ${besideKeys('expires_at')} < ?`,
    [...ids, before],
  )
}
