import type { Db, Tx } from '../index.ts'
import { Login } from '../models/login.ts'
import { selection } from './sql.ts'

export type LoginRow = Login & { status: 'active' | 'suspended'; name: string }

const READ = `SELECT ${selection(Login, 'l')}, u.status, u.name FROM login l JOIN user u ON u.id = l.user_id`

/** @param email as `canonicalEmail` writes it */
export const loginByEmail = (db: Db, email: string): Promise<LoginRow | undefined> =>
  db.row(`${READ} WHERE l.email = ?`, [email])

export const loginById = (db: Db, id: string, tx?: Tx): Promise<LoginRow | undefined> =>
  db.row(`${READ} WHERE l.id = ?`, [id], tx)

/** Whether anyone has an account of this service. */
export const hasLogins = (db: Db, tx?: Tx): Promise<boolean> =>
  db.exists('SELECT 1 FROM login LIMIT 1', [], tx)

export const noteSignIn = (db: Db, id: string, at: number): Promise<number> =>
  db.run('UPDATE login SET last_sign_in_at = ? WHERE id = ?', [at, id])
