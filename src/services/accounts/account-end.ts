import { validate as isUuid } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { SERVICE_LOG } from '../../../db/models/event.ts'
import { workspaceKeysBy } from '../../../db/queries/api-key.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import { removeLog } from '../../../db/queries/event.ts'
import { deleteInvitesBy } from '../../../db/queries/invite.ts'
import { lockUser } from '../../../db/queries/user.ts'
import { webhooksUnder } from '../../../db/queries/webhook.ts'
import { lockMemberships } from '../../../db/queries/workspace.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { AppError, InvalidInput, Unauthenticated } from '../../runtime/errors.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import { type Actor, type Change, operatorOf } from '../history/event.ts'
import { enqueue } from '../job.ts'
import { webhookEvent } from '../notices/webhook.ts'
import { purgeBucketJob } from '../tree/purge.ts'
import { closeWorkspace } from '../workspaces/workspace.ts'
import { userNotFound } from './appointment.ts'
import type { ProofService } from './proof.ts'

/** The result of the deletion of an account. */
export interface EndedAccount {
  bucketName: string
  bucketDeleted: boolean
  /** Until when its files are kept; null if they were deleted. */
  keptUntil: number | null
  id: string
  email: string
  userName: string
}

/** An account that is to be deleted. */
type Leaving = Pick<Caller, 'userId' | 'email' | 'verifiedEmail' | 'name'> & {
  bucket: { bucketId: string; rootId: string }
}

type Needed = Core<'db' | 'change' | 'wake'> & Pick<Config, 'retentionDays'>

/** The deletion of accounts (docs/contract.md, section 3, "The user"). */
export function accountEndService({ proofs, ...needed }: Needed & { proofs: ProofService }) {
  const { end, endFor } = accountDeletion(needed)
  return {
    /**
     * Deletes the account of the caller: its sessions, keys, shares, tokens and memberships end in
     * one transaction.
     * @param deleteData whether its files are deleted, too; otherwise they are kept for the same
     * verified e-mail address
     * @throws PROOF_NEEDED; LAST_OWNER with the workspaces that would be left without an owner;
     * then nothing is deleted
     */
    async end(caller: Caller, deleteData: boolean): Promise<EndedAccount> {
      await proofs.require(caller)
      return end(caller, caller, deleteData)
    },
    endFor,
  }
}

/** The deletion of accounts, also for the command line of the service. Does not authorize. */
export function accountDeletion({ db, change, retentionDays, wake }: Needed) {
  async function end(
    leaving: Leaving,
    by: Caller | Actor,
    deleteData: boolean,
  ): Promise<EndedAccount> {
    const { userId, email, name, verifiedEmail, bucket } = leaving
    // Without a verified e-mail address, the data could never be reclaimed.
    const goes = deleteData || verifiedEmail === null
    const { bucketId, rootId } = bucket
    const keptUntil = goes ? null : Date.now() + retentionDays * DAY_MS
    await change(by, async ({ tx, record }) => {
      if (!(await lockUser(db, userId, tx))) throw new Unauthenticated()
      await leaveWorkspaces(leaving, { tx, record })
      await db.Share.destroy({ where: { userId }, transaction: tx })
      await deleteInvitesBy(db, userId, null, tx)
      await lockBucket(db, bucketId, tx)
      const kept = goes ? { keptFor: null, keptProviders: null } : await waitingFor(leaving, tx)
      await db.Bucket.update(
        { userId: null, keptUntil, ...kept },
        { where: { id: bucketId }, transaction: tx },
      )
      if (goes) await enqueue(db, purgeBucketJob, { bucketId, rootId }, tx)
      // Identities, sessions, memberships and keys are deleted by cascade.
      await removeLog(db, userId, tx)
      record(SERVICE_LOG, { kind: 'account.deleted', subject: userId })
      await db.User.destroy({ where: { id: userId }, transaction: tx })
    })
    wake()
    return {
      bucketName: bucketId,
      bucketDeleted: goes,
      keptUntil,
      id: userId,
      email,
      userName: name,
    }
  }

  return {
    end,

    /**
     * Deletes the account of any person, with the same effects as their own deletion.
     * @param email its e-mail address, as a confirmation
     * @param by null for the command line of the service
     * @throws USER_NOT_FOUND, INVALID_INPUT for another address, LAST_OWNER
     */
    async endFor(
      userId: string,
      { email, deleteData }: { email: string; deleteData: boolean },
      by: Caller | null,
    ): Promise<EndedAccount> {
      const user = isUuid(userId) ? await db.User.findByPk(userId, { raw: true }) : null
      const bucket = user && (await db.Bucket.findOne({ where: { userId: user.id }, raw: true }))
      if (!user || !bucket) throw userNotFound()
      if (email.trim().toLowerCase() !== user.email.toLowerCase())
        throw new InvalidInput('email', 'This account has another e-mail address.')
      const { id: bucketId, rootId } = bucket
      const leaving = { ...user, userId: user.id, bucket: { bucketId, rootId } }
      try {
        return await end(leaving, operatorOf(by), deleteData)
      } catch (error) {
        // Another request deleted the account meanwhile.
        throw error instanceof Unauthenticated ? userNotFound() : error
      }
    },
  }

  /**
   * The owner of the kept data: the verified address, and the providers that may confirm it.
   */
  async function waitingFor({ userId, verifiedEmail }: Leaving, tx: Tx) {
    const where = { userId }
    const identities = await db.Identity.findAll({
      where,
      attributes: ['provider'],
      raw: true,
      transaction: tx,
    })
    const keptProviders = [...new Set(identities.map(({ provider }) => provider))].join(' ')
    return {
      keptFor: verifiedEmail,
      keptProviders,
    }
  }

  /** Workspaces with the user as their only member are deleted. The others need another owner. */
  async function leaveWorkspaces(caller: Leaving, { tx, record }: Change): Promise<void> {
    const memberships = await lockMemberships(db, caller.userId, tx)
    const orphaned = memberships.filter(
      m => m.ownerId === caller.userId && m.members > 1 && !m.nextOwner,
    )
    if (orphaned.length > 0)
      throw new AppError(
        'LAST_OWNER',
        `The account is the last owner of ${orphaned.map(w => `"${w.name}"`).join(', ')}. Make another member an owner, or delete it, first.`,
        { workspaces: orphaned.map(({ id, name }) => ({ workspace_id: id, name })) },
      )
    for (const { id, members, ownerId, nextOwner, bucketId, rootId } of memberships) {
      if (members === 1) await closeWorkspace(db, id, { bucketId, rootId }, tx)
      else if (ownerId === caller.userId && nextOwner)
        await db.Workspace.update({ ownerId: nextOwner }, { where: { id }, transaction: tx })
    }
    const left = new Set(memberships.filter(({ members }) => members > 1).map(({ id }) => id))
    for (const workspace of left)
      record({ workspace }, { kind: 'member.left', subject: caller.userId })
    // Keys and webhooks are deleted by cascade, because a person without the right must not receive
    // further events. The other members are notified.
    for (const { id, workspaceId } of await workspaceKeysBy(db, caller.userId, null, tx))
      if (left.has(workspaceId))
        record({ workspace: workspaceId }, { kind: 'key.deleted', subject: id })
    for (const webhook of await webhooksUnder(db, caller.userId, tx))
      if (webhook.workspaceId !== null)
        record({ workspace: webhook.workspaceId }, webhookEvent('webhook.deleted', webhook))
  }
}
