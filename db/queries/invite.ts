import type { Role } from '../../src/access/roles.ts'
import type { Db, Tx } from '../index.ts'
import { Invite } from '../models/invite.ts'
import { limitOf, withLimits } from './limit.ts'
import { rolesThat } from './member.ts'
import { firstOfEach, type Page, pageOf } from './page.ts'
import { placeholders, selection } from './sql.ts'

/**
 * The FROM and the condition of invites `i` whose sender may still invite: a member `s` who may
 * manage, with an active account `a`. A join, so that a locking read also locks the rows of the
 * sender.
 */
export const SENDER = `JOIN member s ON s.workspace_id = i.workspace_id AND s.user_id = i.invited_by
  JOIN user a ON a.id = s.user_id`
export const SENDER_MAY = `s.role IN (${rolesThat('manage')}) AND a.status = 'active'`

/** Deletes the pending invites of a sender, to one workspace or to all. */
export async function deleteInvitesBy(
  db: Db,
  userId: string,
  workspaceId: string | null,
  tx: Tx,
): Promise<void> {
  const where = workspaceId === null ? { invitedBy: userId } : { invitedBy: userId, workspaceId }
  await db.Invite.destroy({ where, transaction: tx })
}

export type InviteView = Invite

const columns = selection(Invite, 'i')

/** Invites whose senders may still invite. Unexpired ones are pending. */
const FROM_SENDERS = `SELECT ${columns} FROM invite i ${SENDER} WHERE ${SENDER_MAY}`

/** The pending invites of some workspaces, oldest first. */
export const pagesOfInvites = (db: Db, workspaceIds: string[], limit: number, after: string) =>
  firstOfEach<InviteView>(
    db,
    `${FROM_SENDERS} AND i.workspace_id = ? AND i.expires_at > ? AND i.id > ?`,
    {
      order: 'id',
      owners: workspaceIds,
      values: [Date.now(), after],
      limit,
    },
  )

export const pendingInvitesAmong = (db: Db, ids: string[]) =>
  db.rows<InviteView>(`${FROM_SENDERS} AND i.id IN (${placeholders(ids)}) AND i.expires_at > ?`, [
    ...ids,
    Date.now(),
  ])

/**
 * All invites of a sender, valid or not, oldest first.
 * @param after an id, or empty
 */
export async function pageOfInvitesBy(
  db: Db,
  userId: string,
  limit: number,
  after: string,
): Promise<Page<InviteView>> {
  const sql = `SELECT ${columns}
    FROM invite i
    WHERE i.invited_by = ?
      AND i.id > ?
    ORDER BY i.id
    LIMIT ${limit + 1}`
  return pageOf(await db.rows(sql, [userId, after]), limit)
}

/** An invite as its recipient sees it. */
export interface ReceivedInvite extends InviteView {
  workspaceName: string
  workspaceSlug: string
}

/** The pending invites of an address that match a condition over `invite i`, oldest first. */
async function received(db: Db, email: string, where: string, values: string[], limit: number) {
  const rows = await db.rows<ReceivedInvite>(
    `SELECT ${columns}, w.name AS workspaceName, w.slug AS workspaceSlug
     FROM invite i
     JOIN workspace w ON w.id = i.workspace_id
     ${SENDER}
     WHERE i.email = ?
       AND i.expires_at > ?
       AND ${SENDER_MAY}
       AND ${where}
     ORDER BY i.id
     LIMIT ${limit + 1}`,
    [email, Date.now(), ...values],
  )
  return pageOf(rows, limit)
}

/** @param after the id of an invite, or empty */
export const listReceivedInvites = (
  db: Db,
  email: string,
  limit: number,
  after: string,
): Promise<Page<ReceivedInvite>> => received(db, email, 'i.id > ?', [after], limit)

export const listReceivedAmong = (
  db: Db,
  email: string,
  ids: string[],
): Promise<Page<ReceivedInvite>> =>
  received(db, email, `i.id IN (${placeholders(ids)})`, ids, ids.length)

/** An invite with its sender, pending or expired. */
export interface InviteWithSender {
  id: string
  workspaceName: string
  role: Role
  email: string
  expiresAt: number
  senderName: string
  senderEmail: string
  senderVerifiedEmail: string | null
  /** The id of the member with the invited verified e-mail address, if any. */
  member: string | null
}

export const findInviteWithSender = (db: Db, id: string): Promise<InviteWithSender | undefined> =>
  db.row(
    `SELECT i.id, w.name AS workspaceName, i.role, i.email, i.expires_at AS expiresAt,
       a.name AS senderName, a.email AS senderEmail,
       a.verified_email AS senderVerifiedEmail, m.user_id AS member
     FROM invite i
     JOIN workspace w ON w.id = i.workspace_id
     ${SENDER}
     LEFT JOIN user g ON g.verified_email = i.email
     LEFT JOIN member m ON m.workspace_id = i.workspace_id AND m.user_id = g.id
     WHERE i.id = ?
       AND ${SENDER_MAY}`,
    [id],
  )

/**
 * The role that an invite offers now, if its sender may still invite. Locks both until the
 * transaction ends.
 */
export async function lockOffer(db: Db, id: string, tx: Tx): Promise<Role | undefined> {
  const offer = await db.row<{ role: Role }>(
    `SELECT i.role FROM invite i ${SENDER} WHERE i.id = ? AND ${SENDER_MAY}${db.forUpdate}`,
    [id],
    tx,
  )
  return offer?.role
}

/**
 * The number of pending invites to a workspace, their limit, and the invite of one address, pending
 * or expired.
 */
export const inviteQuota = (db: Db, workspaceId: string, email: string, tx: Tx) =>
  db.row<{ id: string | null; expiresAt: number | null; max: number | null; used: number }>(
    `SELECT i.id, i.expires_at AS expiresAt, ${limitOf('maxPendingInvites', 'workspace')} AS max,
       (SELECT COUNT(*) FROM invite o WHERE o.workspace_id = w.id AND o.expires_at > ?) AS used
     FROM workspace w
     JOIN user u ON u.id = w.owner_id
     ${withLimits('u', 'w.id')}
     LEFT JOIN invite i ON i.workspace_id = w.id AND i.email = ?
     WHERE w.id = ?`,
    [Date.now(), email, workspaceId],
    tx,
  )

/** Whether an invite to an e-mail address is pending. */
export const isInvited = (db: Db, address: string, tx: Tx): Promise<boolean> =>
  db.exists(
    `SELECT i.id
     FROM invite i
     ${SENDER}
     WHERE i.email = ?
       AND i.expires_at > ?
       AND ${SENDER_MAY}
     LIMIT 1`,
    [address, Date.now()],
    tx,
  )

/**
 * Deletes an invite to a workspace.
 * @returns whether it existed
 */
export const deleteInvite = async (
  db: Db,
  id: string,
  workspaceId: string,
  tx: Tx,
): Promise<boolean> =>
  db.changed('DELETE FROM invite WHERE id = ? AND workspace_id = ?', [id, workspaceId], tx)
