import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { OWNER } from '../auth/roles.ts'
import { AppError, Unauthenticated } from '../errors.ts'
import { enqueue } from './outbox.ts'
import { endInvitesOf } from './right.ts'
import { closeWorkspace } from './workspace.ts'

const DAY_MS = 86_400_000

/** The result of the deletion of an account. */
export interface EndedAccount {
  bucketName: string
  bucketDeleted: boolean
  id: string
  email: string
  userName: string
}

interface Membership {
  id: string
  name: string
  role: string
  ownerId: string
  members: number
  nextOwner: string | null
  bucketId: string
  rootId: string
}

/** The deletion of accounts (docs/contract.md, section 3, "The user"). */
export function accountEndService({ db, retentionDays, wake }: { db: Db; retentionDays: number; wake: () => void }) {
  return {
    /**
     * Deletes the account of the caller: its sessions, keys, shares, tokens and memberships end in one transaction.
     * @param deleteData whether its files are deleted, too; otherwise they are kept for the same verified e-mail address
     * @throws LAST_OWNER with the workspaces that would be left without an owner; then nothing is deleted
     */
    async end(caller: Caller, deleteData: boolean): Promise<EndedAccount> {
      // Without a verified e-mail address, the data could never be reclaimed.
      const goes = deleteData || caller.verifiedEmail === null
      await db.transaction(async tx => {
        const [user] = await db.rows(`SELECT id FROM user WHERE id = ?${db.forUpdate}`, [caller.userId], tx)
        if (!user) throw new Unauthenticated()
        await leaveWorkspaces(caller, tx)
        await db.run('DELETE FROM share WHERE user_id = ?', [caller.userId], tx)
        await endInvitesOf(db, caller.userId, null, tx)
        await db.rows(`SELECT id FROM bucket WHERE id = ?${db.forUpdate}`, [caller.bucket.bucketId], tx)
        const kept = goes ? [null, null, null] : await waitingFor(caller, tx)
        await db.run(
          'UPDATE bucket SET user_id = NULL, kept_for = ?, kept_until = ?, kept_providers = ? WHERE id = ?',
          [...kept, caller.bucket.bucketId],
          tx,
        )
        if (goes)
          await enqueue(db, 'purge-bucket', { bucketId: caller.bucket.bucketId, rootId: caller.bucket.rootId }, tx)
        // Identities, sessions, memberships and keys are deleted by cascade.
        await db.run('DELETE FROM user WHERE id = ?', [caller.userId], tx)
      })
      wake()
      return {
        bucketName: caller.bucket.bucketId,
        bucketDeleted: goes,
        id: caller.userId,
        email: caller.email,
        userName: caller.name,
      }
    },
  }

  /** The owner of the kept data: the verified address, until when, and the providers that may confirm it. */
  async function waitingFor(caller: Caller, tx: Tx): Promise<[string | null, number, string]> {
    const sql = 'SELECT DISTINCT provider FROM identity WHERE user_id = ?'
    const identities = await db.rows<{ provider: string }>(sql, [caller.userId], tx)
    const providers = identities.map(({ provider }) => provider).join(' ')
    return [caller.verifiedEmail, Date.now() + retentionDays * DAY_MS, providers]
  }

  /** Workspaces of which the user is the only member are deleted; the others need another owner. */
  async function leaveWorkspaces(caller: Caller, tx: Tx): Promise<void> {
    // Always locked in the same order, against deadlocks.
    await db.rows(
      `SELECT w.id FROM workspace w JOIN member m ON m.workspace_id = w.id WHERE m.user_id = ? ORDER BY w.id${db.forUpdate}`,
      [caller.userId],
      tx,
    )
    const memberships = await db.rows<Membership>(
      `SELECT w.id, w.name, m.role, w.owner_id AS ownerId, b.id AS bucketId, b.root_id AS rootId,
         (SELECT COUNT(*) FROM member o WHERE o.workspace_id = w.id) AS members,
         (SELECT MIN(o.user_id) FROM member o WHERE o.workspace_id = w.id AND o.role = ? AND o.user_id <> m.user_id) AS nextOwner
       FROM member m JOIN workspace w ON w.id = m.workspace_id JOIN bucket b ON b.workspace_id = w.id WHERE m.user_id = ? ORDER BY w.id`,
      [OWNER, caller.userId],
      tx,
    )
    const orphaned = memberships.filter(m => m.ownerId === caller.userId && Number(m.members) > 1 && !m.nextOwner)
    if (orphaned.length > 0)
      throw new AppError(
        'LAST_OWNER',
        `You are the last owner of ${orphaned.map(w => `"${w.name}"`).join(', ')}. Make another member an owner, or delete it, first.`,
        { workspaces: orphaned.map(({ id, name }) => ({ workspace_id: id, name })) },
      )
    for (const { id, members, ownerId, nextOwner, bucketId, rootId } of memberships) {
      if (Number(members) === 1) await closeWorkspace(db, id, { bucketId, rootId }, tx)
      else if (ownerId === caller.userId && nextOwner)
        await db.run('UPDATE workspace SET owner_id = ? WHERE id = ?', [nextOwner, id], tx)
    }
  }
}

export type AccountEndService = ReturnType<typeof accountEndService>
