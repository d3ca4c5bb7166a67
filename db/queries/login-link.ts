import type { Db, Tx } from '../index.ts'
import { LoginLink, type LoginLinkKind } from '../models/login-link.ts'
import { selection } from './sql.ts'

/** A link that has not expired. */
export const loginLink = (
  db: Db,
  hash: string,
  now: number,
  tx?: Tx,
): Promise<LoginLink | undefined> =>
  db.row(
    `SELECT ${selection(LoginLink)} FROM login_link WHERE hash = ? AND expires_at > ?`,
    [hash, now],
    tx,
  )

/** Uses up a link. Of parallel calls, one returns true. */
export const redeemLoginLink = (db: Db, hash: string, now: number, tx: Tx): Promise<boolean> =>
  db.changed('DELETE FROM login_link WHERE hash = ? AND expires_at > ?', [hash, now], tx)

export const deleteLoginLinks = (db: Db, kind: LoginLinkKind, tx: Tx): Promise<number> =>
  db.run('DELETE FROM login_link WHERE kind = ?', [kind], tx)
