import { validate as isUuid, v7 as newId } from 'uuid'
import { isDuplicate, type Tx } from '../../../db/index.ts'
import {
  deleteInvite,
  findInviteWithSender,
  type InviteView,
  inviteQuota,
  listReceivedAmong,
  listReceivedInvites,
  lockOffer,
  pagesOfInvites,
  pendingInvitesAmong,
  type ReceivedInvite,
} from '../../../db/queries/invite.ts'
import { isMemberWithAddress } from '../../../db/queries/member.ts'
import { mapPage, onlyRows, type Page } from '../../../db/queries/page.ts'
import { lockWorkspace, workspaceWithSeats } from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import type { Role } from '../../access/roles.ts'
import { AppError } from '../../runtime/errors.ts'
import { DAY_MS } from '../../values/duration.ts'
import { MAX_PAGE } from '../../values/limits.ts'
import { planExceeded } from '../bound.ts'
import type { Core } from '../core.ts'
import { masked } from '../history/event.ts'
import type { MailingService } from '../notices/mailing.ts'
import { type OfferInput, offerOf } from './invite-offer.ts'
import { lockToManage } from './right.ts'
import type { WorkspaceView } from './workspace.ts'

export type { InviteView }

/** An invite as its recipient sees it. */
export interface MyInvite extends ReceivedInvite {
  token: string
}

/** An invite as its page shows it. The page shows no more than the mail with the link. */
export interface LinkedInvite {
  id: string
  workspaceName: string
  role: Role
  invitedBy: { name: string; email: string; verified: boolean }
  email: string
  /** Whether an account with the invited e-mail address is already a member. */
  member: boolean
  expiresAt: number
}

const WEEK_MS = 7 * DAY_MS
export const INVITE_TOKEN = 'invite'
export const inviteNotFound = () =>
  new AppError(
    'INVITE_NOT_FOUND',
    'This invite does not exist, or it was used or withdrawn, or its sender may no longer invite. Ask for a new one.',
  )
export const inviteExpired = () =>
  new AppError('INVITE_EXPIRED', 'This invite has expired. Ask for a new one.')
const alreadyMember = () =>
  new AppError('ALREADY_A_MEMBER', 'You are already a member of this workspace.')

/** @throws INVITE_NOT_FOR_YOU */
function refuseOthers({ email }: { email: string }, caller: Caller): void {
  if (caller.verifiedEmail !== email) throw inviteNotForYou()
}

export function inviteService({
  db,
  mailings,
  tokens,
  publicUrl,
  change,
  pubSub,
  wake,
}: Core<'db' | 'tokens' | 'publicUrl' | 'change' | 'pubSub' | 'wake'> & {
  mailings: MailingService
}) {
  /**
   * Finds the invite of a token, if it was sent to the verified address of the caller.
   * @throws INVITE_NOT_FOUND, INVITE_NOT_FOR_YOU
   */
  async function findFor(caller: Caller, token: string): Promise<InviteView> {
    const id = tokens.read(INVITE_TOKEN, token)
    const invite = id ? await db.Invite.findByPk(id, { raw: true }) : null
    if (!invite) throw inviteNotFound()
    refuseOthers(invite, caller)
    return invite
  }

  /**
   * Finds the id of the invite of an e-mail address, if any. The workspace must be locked, so that
   * the count is exact.
   * @throws QUOTA_EXCEEDED if another invite would exceed the plan's limit of pending invites
   */
  async function requireRoom(
    workspaceId: string,
    email: string,
    now: number,
    tx: Tx,
  ): Promise<string | null> {
    const row = await inviteQuota(db, workspaceId, email, tx)
    const isPending = row?.expiresAt != null && row.expiresAt > now
    if (row && row.max !== null && !isPending && Number(row.used) >= row.max)
      throw planExceeded('pending invites to this workspace', {
        limit: 'max_pending_invites',
        max: row.max,
        used: Number(row.used),
      })
    return row?.id ?? null
  }

  /** The pending invites of the caller's verified address that `list` finds, oldest first. */
  async function mineBy(
    caller: Caller,
    list: (email: string) => Promise<Page<ReceivedInvite>>,
  ): Promise<Page<MyInvite>> {
    if (!caller.verifiedEmail) return { rows: [], more: false }
    return mapPage(await list(caller.verifiedEmail), row => ({
      ...row,
      token: tokens.derive(INVITE_TOKEN, row.id),
    }))
  }

  const pageOfMine = (caller: Caller, limit: number, after: string | null) =>
    mineBy(caller, email => listReceivedInvites(db, email, limit, after ?? ''))

  return {
    /**
     * The pending invites of the given workspaces, oldest first, without invites whose sender may
     * no longer invite. Does not authorize: pass only workspaces that the caller may manage.
     */
    pagesOf: (workspaceIds: string[], limit: number, after: string | null) =>
      pagesOfInvites(db, workspaceIds, limit, after ?? ''),

    /**
     * The subset of the given invites that is pending. Does not authorize: pass only invites that
     * the caller may manage.
     */
    pendingAmong: (ids: string[]): Promise<InviteView[]> => pendingInvitesAmong(db, ids),

    /** Reads the id of an invite from its token, even if the invite no longer exists. */
    idOf: (token: string): string | null => tokens.read(INVITE_TOKEN, token),

    /** The pending invites of a workspace, oldest first. */
    list: async ({ id }: WorkspaceView): Promise<InviteView[]> =>
      onlyRows(await pagesOfInvites(db, [id], MAX_PAGE, '')),

    offerOf,

    /**
     * Invites an e-mail address, or renews its invite. Enqueues a mail if the mail limits allow it.
     * @throws ALREADY_A_MEMBER, FORBIDDEN, INVALID_INPUT, QUOTA_EXCEEDED
     */
    async create(
      caller: Caller,
      { id: workspaceId, name }: WorkspaceView,
      input: OfferInput,
    ): Promise<InviteView> {
      const { email, role, message } = offerOf(input)
      const now = Date.now()
      const fresh = { role, invitedBy: caller.userId, createdAt: now, expiresAt: now + WEEK_MS }
      const invite = await change(caller, async ({ tx, record }) => {
        // The lock ensures that concurrent invites of one address create a single row.
        await lockToManage(db, caller, workspaceId, tx)
        if (await isMemberWithAddress(db, workspaceId, email, tx)) throw addressIsMember()
        const known = await requireRoom(workspaceId, email, now, tx)
        const id = known ?? newId()
        if (known) await db.Invite.update(fresh, { where: { id }, transaction: tx })
        else await db.Invite.create({ id, workspaceId, email, ...fresh }, { transaction: tx })
        const link = `${publicUrl()}/invite/${tokens.derive(INVITE_TOKEN, id)}`
        const values = {
          workspace: name,
          role,
          by: caller.name,
          address: caller.email,
          link,
          message,
        }
        await mailings.enqueue(caller, { template: 'invite', to: email, values }, [workspaceId], tx)
        const kind = known ? 'invite.changed' : 'invite.created'
        record(
          { workspace: workspaceId },
          { kind, subject: id, details: { recipient: masked(email), role } },
        )
        record(
          { address: email },
          { kind: 'invite.received', subject: id, details: { workspaceId, name, role } },
        )
        return { id, workspaceId, email, ...fresh }
      })
      pubSub.publish('inviteReceived', email, [invite.id])
      wake()
      return invite
    },

    /** The pending invites of the caller's verified address. */
    mine: async (caller: Caller): Promise<MyInvite[]> =>
      (await pageOfMine(caller, MAX_PAGE, null)).rows,
    pageOfMine,
    /** The subset of these invites that is pending for the caller. */
    mineAmong: async (caller: Caller, ids: string[]): Promise<MyInvite[]> =>
      (await mineBy(caller, email => listReceivedAmong(db, email, ids))).rows,

    /**
     * Finds the invite of a token, for any caller who has the link. Runs one statement.
     * @throws INVITE_NOT_FOUND
     */
    async find(token: string): Promise<LinkedInvite> {
      const id = tokens.read(INVITE_TOKEN, token)
      const found = id ? await findInviteWithSender(db, id) : undefined
      if (!found) throw inviteNotFound()
      const { senderName, senderEmail, senderVerifiedEmail, member, ...invite } = found
      return {
        ...invite,
        invitedBy: { name: senderName, email: senderEmail, verified: senderVerifiedEmail !== null },
        member: member !== null,
      }
    },

    /**
     * Refuses a signed-in caller who cannot accept the invite. Only the recipient learns whether
     * they are a member already.
     * @throws INVITE_EXPIRED, INVITE_NOT_FOR_YOU, ALREADY_A_MEMBER
     */
    refuse(invite: LinkedInvite, caller: Caller | null): void {
      if (caller) refuseOthers(invite, caller)
      if (invite.expiresAt <= Date.now()) throw inviteExpired()
      if (caller && invite.member) throw alreadyMember()
    },

    /**
     * Makes the caller a member and deletes the invite. @throws INVITE_NOT_FOUND,
     * INVITE_NOT_FOR_YOU, INVITE_EXPIRED, ALREADY_A_MEMBER, QUOTA_EXCEEDED
     */
    async accept(caller: Caller, token: string): Promise<WorkspaceView> {
      const { id, workspaceId, expiresAt } = await findFor(caller, token)
      if (expiresAt <= Date.now()) throw inviteExpired()
      return change(caller, async ({ tx, record }) => {
        // The locks serialize concurrent accepts. The offer may have changed, or its sender may no
        // longer invite.
        await lockWorkspace(db, workspaceId, tx)
        const role = await lockOffer(db, id, tx)
        const workspace = await workspaceWithSeats(db, workspaceId, tx)
        if (!workspace || !role) throw inviteNotFound()
        const { max, used, ...view } = workspace
        try {
          await db.Member.create(
            { workspaceId, userId: caller.userId, role, joinedAt: Date.now() },
            { transaction: tx },
          )
        } catch (error) {
          throw isDuplicate(error) ? alreadyMember() : error
        }
        if (Number(used) >= max)
          throw new AppError(
            'QUOTA_EXCEEDED',
            `The workspace already has its maximum of ${max} members. Ask its owner to remove one.`,
            {
              limit: 'max_users_workspace',
              max,
              used: Number(used),
            },
          )
        await db.Invite.destroy({ where: { id }, transaction: tx })
        record(
          { workspace: workspaceId },
          { kind: 'member.joined', subject: caller.userId, details: { role } },
        )
        const details = { name: view.name, role }
        record(caller.userId, { kind: 'workspace.joined', subject: workspaceId, details })
        return { ...view, role }
      })
    },

    /** @throws INVITE_NOT_FOUND, INVITE_NOT_FOR_YOU */
    async reject(caller: Caller, token: string): Promise<void> {
      const { id, workspaceId } = await findFor(caller, token)
      await change(caller, async ({ tx, record }) => {
        if (await deleteInvite(db, id, workspaceId, tx))
          record({ workspace: workspaceId }, { kind: 'invite.rejected', subject: id })
      })
    },

    /** Withdraws an invite of this workspace. @throws INVITE_NOT_FOUND */
    async remove(
      { id: workspaceId }: WorkspaceView,
      inviteId: string,
      caller: Caller,
    ): Promise<void> {
      await change(caller, async ({ tx, record }) => {
        if (!isUuid(inviteId) || !(await deleteInvite(db, inviteId, workspaceId, tx)))
          throw new AppError('INVITE_NOT_FOUND', 'There is no such invite in this workspace.')
        record({ workspace: workspaceId }, { kind: 'invite.revoked', subject: inviteId })
      })
    },
  }
}

export type InviteService = ReturnType<typeof inviteService>

export const inviteNotForYou = () =>
  new AppError(
    'INVITE_NOT_FOR_YOU',
    'This invite is for another e-mail address. Sign in with the address that was invited.',
  )

export const addressIsMember = () =>
  new AppError('ALREADY_A_MEMBER', 'A user with this e-mail address is already a member.')
