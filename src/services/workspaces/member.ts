import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  firstWithRole,
  type MemberView,
  membersAmong,
  pagesOfMembers,
  rolesOfBoth,
} from '../../../db/queries/member.ts'
import { onlyRows } from '../../../db/queries/page.ts'
import { lockWorkspace } from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import { isOwner, may, mayGrant, mayTouch, OWNER, type Role } from '../../access/roles.ts'
import { AppError, Forbidden } from '../../runtime/errors.ts'
import { MAX_PAGE } from '../../values/limits.ts'
import type { Core } from '../core.ts'
import type { Change } from '../history/event.ts'
import { changeMembership, endMembership } from './membership.ts'
import type { WorkspaceView } from './workspace.ts'

export type { MemberView }

export function memberService({ db, change }: Core<'db' | 'change'>) {
  return {
    /**
     * The members of the given workspaces, in the order in which they joined. Does not authorize:
     * pass only workspaces that the caller may see.
     */
    pagesOf: (
      workspaceIds: string[],
      limit: number,
      after: [joinedAt: number, userId: string] | null,
    ) => pagesOfMembers(db, workspaceIds, limit, after ?? undefined),

    /**
     * Finds the members among the given pairs of user and workspace. Does not authorize: pass only
     * workspaces that the caller may see.
     */
    async among(
      people: { workspaceId: string; userId: string }[],
    ): Promise<(MemberView & { workspaceId: string })[]> {
      const possible = people.filter(
        ({ workspaceId, userId }) => isUuid(workspaceId) && isUuid(userId),
      )
      return possible.length > 0 ? membersAmong(db, possible) : []
    },

    /** All members, in the order in which they joined. */
    list: async ({ id }: WorkspaceView): Promise<MemberView[]> =>
      onlyRows(await pagesOfMembers(db, [id], MAX_PAGE)),

    /**
     * Changes the role of a member. Revokes the member's pending invites and shares that the new
     * role may not make.
     * @throws MEMBER_NOT_FOUND, LAST_OWNER, FORBIDDEN
     */
    async changeRole(
      caller: Caller,
      { id: workspaceId }: WorkspaceView,
      userId: string,
      role: Role,
    ): Promise<{ userId: string; role: Role }> {
      return change(caller, async of => {
        const { tx } = of
        const { mine, theirs } = await rolesOf(caller, workspaceId, userId, tx)
        if (!mayTouch(mine, theirs) || !mayGrant(mine, role))
          throw new Forbidden('Only an owner can grant or revoke the role owner.')
        if (isOwner(theirs) && !isOwner(role)) await passOwnership(workspaceId, userId, tx)
        await changeMembership(db, of, { workspaceId, userId }, { from: theirs, to: role })
        return { userId, role }
      })
    },

    /**
     * Removes a member with the invites, shares and keys that the member created in the workspace.
     * Every member may leave.
     * @throws MEMBER_NOT_FOUND, LAST_OWNER, FORBIDDEN
     */
    remove: (caller: Caller, workspace: WorkspaceView, userId: string): Promise<void> =>
      change(caller, of => removeWithin(of, caller, workspace, userId)),

    removeWithin,
  }

  /** Like `remove`, in a change that does more. */
  async function removeWithin(
    of: Change,
    caller: Caller,
    { id: workspaceId, name }: WorkspaceView,
    userId: string,
  ): Promise<void> {
    const { tx } = of
    const { mine, theirs } = await rolesOf(caller, workspaceId, userId, tx)
    if (userId !== caller.userId && !mayTouch(mine, theirs))
      throw new Forbidden('Your role may not remove this member.')
    if (isOwner(theirs)) await passOwnership(workspaceId, userId, tx)
    const kind = userId === caller.userId ? 'member.left' : 'member.removed'
    await endMembership(db, of, { workspaceId, userId }, { kind, name })
  }

  /**
   * The current roles of the caller and of a member. Locks the workspace, because otherwise the
   * last two owners could both leave.
   */
  async function rolesOf(
    caller: Caller,
    workspaceId: string,
    userId: string,
    tx: Tx,
  ): Promise<{ mine: Role; theirs: Role }> {
    await lockWorkspace(db, workspaceId, tx)
    // MySQL cannot compare an ASCII id column with text that is not ASCII.
    const rows = await rolesOfBoth(
      db,
      workspaceId,
      [caller.userId, isUuid(userId) ? userId : ''],
      tx,
    )
    const mine = rows.find(r => r.userId === caller.userId)?.role
    const theirs = rows.find(r => r.userId === userId)?.role
    if (!mine) throw new Forbidden('You are no longer a member of this workspace.')
    if (!theirs) {
      // Callers who may not manage members must not learn who is a member.
      if (!may(mine, 'manage')) throw new Forbidden('Your role may not change members.')
      throw memberNotFound()
    }
    return { mine, theirs }
  }

  /**
   * Requires another owner before an owner leaves. The plan of that owner then limits the
   * workspace.
   * @throws LAST_OWNER
   */
  async function passOwnership(workspaceId: string, userId: string, tx: Tx): Promise<void> {
    const next = await firstWithRole(db, workspaceId, OWNER, userId, tx)
    if (!next) throw lastOwner()
    await db.Workspace.update(
      { ownerId: next.userId },
      { where: { id: workspaceId, ownerId: userId }, transaction: tx },
    )
  }
}

export type MemberService = ReturnType<typeof memberService>

export const memberNotFound = () =>
  new AppError('MEMBER_NOT_FOUND', 'This user is not a member of the workspace.')

export const lastOwner = () =>
  new AppError(
    'LAST_OWNER',
    'A workspace needs at least one owner. Make another member an owner first.',
  )
