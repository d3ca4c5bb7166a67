import type { Db } from '../index.ts'
import { Passkey } from '../models/passkey.ts'
import { selection } from './sql.ts'

const READ = `SELECT ${selection(Passkey)} FROM passkey`

export const passkeysOf = (db: Db, loginId: string): Promise<Passkey[]> =>
  db.rows(`${READ} WHERE login_id = ? ORDER BY created_at`, [loginId])

export const passkeyByCredential = (db: Db, hash: string): Promise<Passkey | undefined> =>
  db.row(`${READ} WHERE credential_hash = ?`, [hash])

/**
 * Records a use.
 * @returns false if another use with the same counter was faster
 */
export const usePasskey = (
  db: Db,
  { id, counter }: Passkey,
  next: number,
  at: number,
): Promise<boolean> =>
  db.changed('UPDATE passkey SET counter = ?, last_used_at = ? WHERE id = ? AND counter = ?', [
    next,
    at,
    id,
    counter,
  ])
