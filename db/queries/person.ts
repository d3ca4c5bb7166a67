import type { Db } from '../index.ts'
import type { User } from '../models/user.ts'
import { placeholders } from './sql.ts'

/** The public details of a user. */
export type PersonView = Pick<User, 'id' | 'name' | 'email' | 'picture'>

export const peopleByIds = (db: Db, ids: readonly string[]): Promise<PersonView[]> =>
  db.rows(`SELECT id, name, email, picture FROM user WHERE id IN (${placeholders(ids)})`, [...ids])

/** The users among these who share a workspace with a user. */
export async function colleaguesAmong(
  db: Db,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ userId: string }>(
    `SELECT DISTINCT o.user_id AS userId
     FROM member m
     JOIN member o ON o.workspace_id = m.workspace_id
     WHERE m.user_id = ?
       AND o.user_id IN (${placeholders(ids)})`,
    [userId, ...ids],
  )
  return rows.map(row => row.userId)
}
