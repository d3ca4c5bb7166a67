import { Op } from 'sequelize'
import { type Action, type Role, rolesThatMay } from '../../src/access/roles.ts'
import type { Db, Tx } from '../index.ts'
import type { Member } from '../models/member.ts'
import type { User } from '../models/user.ts'
import { firstOfEach } from './page.ts'

/**
 * The roles that may perform an action, as an IN list. They are constants, so they need no
 * placeholders.
 */
export const rolesThat = (action: Action): string =>
  rolesThatMay(action)
    .map(role => `'${role}'`)
    .join(', ')

export type MemberView = Pick<Member, 'userId' | 'role' | 'joinedAt'> &
  Pick<User, 'email' | 'name' | 'picture'>

const columns = 'm.user_id AS userId, u.email, u.name, u.picture, m.role, m.joined_at AS joinedAt'
const MEMBERS = 'FROM member m JOIN user u ON u.id = m.user_id WHERE'

/** The members of some workspaces in the order in which they joined. */
export const pagesOfMembers = (
  db: Db,
  workspaceIds: string[],
  limit: number,
  [joinedAt, userId]: [joinedAt: number, userId: string] = [-1, ''],
) =>
  firstOfEach<MemberView>(
    db,
    `SELECT ${columns}
     ${MEMBERS} m.workspace_id = ? AND (m.joined_at > ? OR (m.joined_at = ? AND m.user_id > ?))`,
    {
      order: 'joinedAt, userId',
      owners: workspaceIds,
      values: [joinedAt, joinedAt, userId],
      limit,
    },
  )

/** The people among these who are members of the workspace given with each. */
export const membersAmong = (db: Db, people: { workspaceId: string; userId: string }[]) =>
  db.rows<MemberView & { workspaceId: string }>(
    `SELECT m.workspace_id AS workspaceId, ${columns}
     ${MEMBERS}
     ${people.map(() => '(m.workspace_id = ? AND m.user_id = ?)').join(' OR ')}`,
    people.flatMap(({ workspaceId, userId }) => [workspaceId, userId]),
  )

/** The memberships of the owner of an e-mail address in workspaces of a user. */
export const membershipsWith = (db: Db, userId: string, email: string) =>
  db.rows<MemberView & { workspaceId: string }>(
    `SELECT m.workspace_id AS workspaceId, ${columns}
     FROM member mine
     JOIN member m ON m.workspace_id = mine.workspace_id
     JOIN user u ON u.id = m.user_id
     WHERE mine.user_id = ?
       AND m.user_id <> ?
       AND (u.verified_email = ? OR LOWER(u.email) = ?)
     ORDER BY m.workspace_id`,
    [userId, userId, email, email],
  )

/** The roles of two users in a workspace, if they are members. */
export const rolesOfBoth = (db: Db, workspaceId: string, userIds: [string, string], tx: Tx) =>
  db.rows<{ userId: string; role: Role }>(
    'SELECT user_id AS userId, role FROM member WHERE workspace_id = ? AND user_id IN (?, ?)',
    [workspaceId, ...userIds],
    tx,
  )

/** Whether a user with this verified e-mail address is a member. */
export const isMemberWithAddress = (
  db: Db,
  workspaceId: string,
  email: string,
  tx: Tx,
): Promise<boolean> =>
  db.exists(
    `SELECT m.user_id
     FROM member m
     JOIN user u ON u.id = m.user_id
     WHERE m.workspace_id = ?
       AND u.verified_email = ?`,
    [workspaceId, email],
    tx,
  )

/** The first member with a role, except for one user. */
export const firstWithRole = (db: Db, workspaceId: string, role: Role, without: string, tx: Tx) =>
  db.Member.findOne({
    where: { workspaceId, role, userId: { [Op.ne]: without } },
    order: ['joinedAt', 'userId'],
    raw: true,
    transaction: tx,
  })
