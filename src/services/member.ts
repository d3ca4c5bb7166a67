import { validate as isUuid } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { isOwner, isRole, may, mayGrant, mayTouch, OWNER, type Role } from '../auth/roles.ts'
import { AppError, Forbidden, InvalidInput } from '../errors.ts'
import { firstOfEach } from './range.ts'
import { endInvitesOf } from './right.ts'
import type { WorkspaceService } from './workspace.ts'

export interface MemberView {
  userId: string
  email: string
  name: string
  role: Role
  joinedAt: number
}

const columns = 'm.user_id AS userId, u.email, u.name, m.role, m.joined_at AS joinedAt'

export function memberService({ db, workspaces }: { db: Db; workspaces: WorkspaceService }) {
  return {
    /** The members of some workspaces, in the order in which they joined. Does not authorize: pass only workspaces that the caller may see. */
    pagesOf: (workspaceIds: string[], limit: number, after: [joinedAt: number, userId: string] | null) =>
      firstOfEach<MemberView>(
        db,
        `SELECT m.workspace_id AS owner, ${columns} FROM member m JOIN user u ON u.id = m.user_id
         WHERE m.workspace_id = ? AND (m.joined_at > ? OR (m.joined_at = ? AND m.user_id > ?))`,
        {
          order: 'joinedAt, userId',
          owners: workspaceIds,
          values: [after?.[0] ?? -1, after?.[0] ?? -1, after?.[1] ?? ''],
          limit,
        },
      ),

    /** All members, in the order in which they joined. */
    async list(caller: Caller, workspaceId: string): Promise<MemberView[]> {
      await workspaces.enter(caller, workspaceId, 'see')
      return db.rows<MemberView>(
        `SELECT ${columns} FROM member m JOIN user u ON u.id = m.user_id
         WHERE m.workspace_id = ? ORDER BY m.joined_at, m.user_id LIMIT 10000`,
        [workspaceId],
      )
    },

    /** Changes the role of a member, and deletes their pending invites if the new role may not invite. @throws MEMBER_NOT_FOUND, LAST_OWNER, FORBIDDEN */
    async changeRole(
      caller: Caller,
      workspaceId: string,
      userId: string,
      role: string,
    ): Promise<{ userId: string; role: Role }> {
      if (!isRole(role)) throw new InvalidInput('role', 'A role is one of owner, admin, editor, viewer.')
      await workspaces.enter(caller, workspaceId, 'manage')
      return db.transaction(async tx => {
        const { mine, theirs } = await rolesOf(caller, workspaceId, userId, tx)
        if (!mayTouch(mine, theirs) || !mayGrant(mine, role))
          throw new Forbidden('Only an owner can grant or revoke the role owner.')
        if (isOwner(theirs) && !isOwner(role)) await passOwnership(workspaceId, userId, tx)
        await db.run(
          'UPDATE member SET role = ? WHERE workspace_id = ? AND user_id = ?',
          [role, workspaceId, userId],
          tx,
        )
        if (may(theirs, 'manage') && !may(role, 'manage')) await endInvitesOf(db, userId, workspaceId, tx)
        return { userId, role }
      })
    },

    /** Removes a member, with their pending invites and the workspace keys that they created; every member may leave. @throws MEMBER_NOT_FOUND, LAST_OWNER, FORBIDDEN */
    async remove(caller: Caller, workspaceId: string, userId: string): Promise<void> {
      await workspaces.enter(caller, workspaceId, 'see')
      await db.transaction(async tx => {
        const { mine, theirs } = await rolesOf(caller, workspaceId, userId, tx)
        if (userId !== caller.userId && !mayTouch(mine, theirs))
          throw new Forbidden('Your role may not remove this member.')
        if (isOwner(theirs)) await passOwnership(workspaceId, userId, tx)
        await db.run('DELETE FROM member WHERE workspace_id = ? AND user_id = ?', [workspaceId, userId], tx)
        await endInvitesOf(db, userId, workspaceId, tx)
        // A key that was only disabled would work again, possibly in other hands, when its creator rejoins.
        await db.run('DELETE FROM api_key WHERE created_by = ? AND workspace_id = ?', [userId, workspaceId], tx)
      })
    },
  }

  /** The current roles of the caller and of a member, with the workspace locked: otherwise the last two owners could both leave. */
  async function rolesOf(
    caller: Caller,
    workspaceId: string,
    userId: string,
    tx: Tx,
  ): Promise<{ mine: Role; theirs: Role }> {
    await db.rows(`SELECT id FROM workspace WHERE id = ?${db.forUpdate}`, [workspaceId], tx)
    const rows = await db.rows<{ userId: string; role: Role }>(
      'SELECT user_id AS userId, role FROM member WHERE workspace_id = ? AND user_id IN (?, ?)',
      // MySQL fails to compare an ASCII id column with a text that is not ASCII.
      [workspaceId, caller.userId, isUuid(userId) ? userId : ''],
      tx,
    )
    const mine = rows.find(r => r.userId === caller.userId)?.role
    const theirs = rows.find(r => r.userId === userId)?.role
    if (!mine) throw new Forbidden('You are not a member of this workspace any more.')
    if (!theirs) {
      // A caller who may not manage members must not learn who is one.
      if (!may(mine, 'manage')) throw new Forbidden('Your role may not change members.')
      throw new AppError('MEMBER_NOT_FOUND', 'This user is not a member of the workspace.')
    }
    return { mine, theirs }
  }

  /** Before an owner leaves: requires another owner, whose plan limits the workspace from now on. @throws LAST_OWNER */
  async function passOwnership(workspaceId: string, userId: string, tx: Tx): Promise<void> {
    const [next] = await db.rows<{ userId: string }>(
      'SELECT user_id AS userId FROM member WHERE workspace_id = ? AND role = ? AND user_id <> ? ORDER BY joined_at, user_id LIMIT 1',
      [workspaceId, OWNER, userId],
      tx,
    )
    if (!next)
      throw new AppError('LAST_OWNER', 'A workspace keeps at least one owner. Make another member an owner first.')
    await db.run(
      'UPDATE workspace SET owner_id = ? WHERE id = ? AND owner_id = ?',
      [next.userId, workspaceId, userId],
      tx,
    )
  }
}

export type MemberService = ReturnType<typeof memberService>
