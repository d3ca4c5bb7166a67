import type { Tx } from '../../../db/index.ts'
import { type LockedIdentity, lockIdentitiesOf } from '../../../db/queries/identity.ts'
import { deleteOtherSessions } from '../../../db/queries/session.ts'
import { lockUser, lockUserWithAddress } from '../../../db/queries/user.ts'
import type { Caller } from '../../access/caller.ts'
import { accountsName } from '../../config/config.ts'
import { AppError, Unauthenticated } from '../../runtime/errors.ts'
import type { Core } from '../core.ts'
import { changeRunner } from '../history/event.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'
import { endGroupMemberships } from '../workspaces/group-membership.ts'
import type { AccountService } from './account.ts'
import { canonicalEmail, type ProviderProfile } from './profile.ts'
import type { ProofService } from './proof.ts'

interface Deps extends Core<'db'>, Partial<Core<'change' | 'wake'>> {
  accounts: Pick<AccountService, 'signIn'>
  proofs: Pick<ProofService, 'require'>
}

/** The identities of an account: ways to sign in to it, so each change needs a proof. */
export function identityService({
  db,
  accounts,
  proofs,
  change = changeRunner({ db }),
  wake = () => {},
}: Deps) {
  return {
    /**
     * Adds an identity to the caller's account.
     * @throws PROOF_NEEDED, SignInRefused like `signIn`
     */
    async add(caller: Caller, profile: ProviderProfile): Promise<void> {
      await proofs.require(caller)
      await accounts.signIn(profile, caller)
    },

    /**
     * Removes an identity from the caller's account. Also ends the account's other sessions, which
     * may have been started with it, and memberships granted by groups of its provider.
     * @returns the workspaces in which a membership has ended
     * @throws PROOF_NEEDED, LAST_IDENTITY, IDENTITY_NOT_FOUND
     */
    async remove(caller: Caller, identityId: string): Promise<string[]> {
      await proofs.require(caller)
      const { notified, ended } = await change(caller, async of => {
        const { tx, record } = of
        const user = await lockUser(db, caller.userId, tx)
        if (!user) throw new Unauthenticated()
        const identities = await lockIdentitiesOf(db, caller.userId, tx)
        const removed = identities.find(({ id }) => id === identityId)
        if (!removed) throw identityNotFound(identityId)
        const left = identities.filter(({ id }) => id !== identityId)
        if (left.length === 0) throw lastIdentity()
        await db.Identity.destroy({ where: { id: identityId }, transaction: tx })
        if (removed.provider === accountsName)
          await db.Login.destroy({ where: { userId: caller.userId }, transaction: tx })
        await deleteOtherSessions(db, caller.userId, caller.credentialId, tx)
        record(caller.userId, { kind: 'identity.removed', subject: identityId })
        const { provider } = removed
        const isLastOf = left.every(identity => identity.provider !== provider)
        const ended = isLastOf ? await endGroupMemberships(db, of, caller.userId, provider) : []
        return {
          notified: await keepAddressTrue(caller.userId, user.verifiedEmail, left, tx),
          ended,
        }
      })
      if (notified) wake()
      return ended
    },
  }

  /**
   * An e-mail address stays verified only while an identity of the account confirms it. Otherwise
   * the address of another identity replaces it.
   */
  async function keepAddressTrue(
    userId: string,
    verified: string | null,
    left: LockedIdentity[],
    tx: Tx,
  ): Promise<boolean> {
    const vouching = left.filter(({ emailVerified }) => Boolean(emailVerified))
    if (verified === null || vouching.some(({ email }) => canonicalEmail(email) === verified))
      return false
    const other = await firstFree(vouching, tx)
    const address = other === undefined ? {} : { email: other }
    const verifiedEmail = other === undefined ? null : canonicalEmail(other)
    await db.User.update({ ...address, verifiedEmail }, { where: { id: userId }, transaction: tx })
    await enqueue(
      db,
      mailJob,
      { template: 'address-changed', to: verified, values: { provider: null } },
      tx,
    )
    return true
  }

  /** The first address that no account has. */
  async function firstFree(identities: LockedIdentity[], tx: Tx): Promise<string | undefined> {
    for (const { email } of identities) {
      if (!(await lockUserWithAddress(db, canonicalEmail(email), tx))) return email
    }
    return undefined
  }
}

export const identityNotFound = (id: string) =>
  new AppError('IDENTITY_NOT_FOUND', 'Your account has no such identity.', { identity_id: id })

export const lastIdentity = () =>
  new AppError(
    'LAST_IDENTITY',
    'This is the only way to sign in to your account. Add another one first, or delete the account.',
  )
