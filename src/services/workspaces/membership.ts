import type { Db } from '../../../db/index.ts'
import { workspaceKeysBy } from '../../../db/queries/api-key.ts'
import { deleteInvitesBy } from '../../../db/queries/invite.ts'
import { deleteSharesBy } from '../../../db/queries/share.ts'
import { may, type Role } from '../../access/roles.ts'
import type { Change, EventDetails } from '../history/event.ts'

/** A user in a workspace. The transaction has locked the workspace. */
interface Membership {
  workspaceId: string
  userId: string
}

/**
 * Changes the role of a member. Revokes the member's pending invites and shares that the new role
 * may not make.
 */
export async function changeMembership(
  db: Db,
  { tx, record }: Change,
  { workspaceId, userId }: Membership,
  { from, to, ...details }: { from: Role; to: Role } & Pick<EventDetails, 'provider'>,
): Promise<void> {
  await db.Member.update({ role: to }, { where: { workspaceId, userId }, transaction: tx })
  if (may(from, 'manage') && !may(to, 'manage')) await deleteInvitesBy(db, userId, workspaceId, tx)
  if (may(from, 'write') && !may(to, 'write')) await deleteSharesBy(db, userId, workspaceId, tx)
  record(
    { workspace: workspaceId },
    { kind: 'member.role_changed', subject: userId, details: { role: to, ...details } },
  )
}

/** Removes a member with the invites, shares and keys that the member created in the workspace. */
export async function endMembership(
  db: Db,
  { tx, record }: Change,
  { workspaceId, userId }: Membership,
  {
    kind,
    name,
    ...details
  }: { kind: 'member.left' | 'member.removed'; name: string } & Pick<EventDetails, 'provider'>,
): Promise<void> {
  await db.Member.destroy({ where: { workspaceId, userId }, transaction: tx })
  await deleteSharesBy(db, userId, workspaceId, tx)
  await deleteInvitesBy(db, userId, workspaceId, tx)
  // Keys are deleted, because a disabled key would work again when its creator rejoins, possibly in
  // other hands.
  const keys = await workspaceKeysBy(db, userId, workspaceId, tx)
  await db.ApiKey.destroy({ where: { createdBy: userId, workspaceId }, transaction: tx })
  record({ workspace: workspaceId }, { kind, subject: userId, details })
  for (const { id } of keys)
    record({ workspace: workspaceId }, { kind: 'key.deleted', subject: id })
  record(userId, { kind: 'workspace.left', subject: workspaceId, details: { name, ...details } })
}
