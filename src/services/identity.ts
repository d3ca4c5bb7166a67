import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError, Unauthenticated } from '../errors.ts'
import { enqueue } from './outbox.ts'
import { canonicalEmail } from './profile.ts'

interface Row {
  id: string
  email: string
  emailVerified: boolean | number
}

/** The identities with which an account is signed in to. */
export function identityService({ db, wake = () => {} }: { db: Db; wake?: () => void }) {
  return {
    /**
     * Removes an identity from the account of the caller, and ends its other sessions, which may have started with it.
     * @throws LAST_IDENTITY, IDENTITY_NOT_FOUND
     */
    async remove(caller: Caller, identityId: string): Promise<void> {
      const notified = await db.transaction(async tx => {
        const [user] = await db.rows<{ email: string; verifiedEmail: string | null }>(
          `SELECT email, verified_email AS verifiedEmail FROM user WHERE id = ?${db.forUpdate}`,
          [caller.userId],
          tx,
        )
        if (!user) throw new Unauthenticated()
        const identities = await db.rows<Row>(
          `SELECT id, email, email_verified AS emailVerified FROM identity WHERE user_id = ? ORDER BY created_at, id${db.forUpdate}`,
          [caller.userId],
          tx,
        )
        if (!identities.some(({ id }) => id === identityId))
          throw new AppError('IDENTITY_NOT_FOUND', 'Your account has no such identity.', { identity_id: identityId })
        const left = identities.filter(({ id }) => id !== identityId)
        if (left.length === 0)
          throw new AppError(
            'LAST_IDENTITY',
            'This is the only way to sign in to your account. Add another one first, or delete the account.',
          )
        await db.run('DELETE FROM identity WHERE id = ?', [identityId], tx)
        await db.run('DELETE FROM session WHERE user_id = ? AND id <> ?', [caller.userId, caller.credentialId], tx)
        return keepAddressTrue(caller.userId, user.verifiedEmail, left, tx)
      })
      if (notified) wake()
    },
  }

  /** An e-mail address stays verified only while an identity of the account confirms it; otherwise that of another identity replaces it. */
  async function keepAddressTrue(userId: string, verified: string | null, left: Row[], tx: Tx): Promise<boolean> {
    const vouching = left.filter(({ emailVerified }) => Boolean(emailVerified))
    if (verified === null || vouching.some(({ email }) => canonicalEmail(email) === verified)) return false
    const other = await firstFree(vouching, tx)
    if (other === undefined) await db.run('UPDATE user SET verified_email = NULL WHERE id = ?', [userId], tx)
    else
      await db.run(
        'UPDATE user SET email = ?, verified_email = ? WHERE id = ?',
        [other, canonicalEmail(other), userId],
        tx,
      )
    await enqueue(db, 'mail', { template: 'address-changed', to: verified, values: { provider: null } }, tx)
    return true
  }

  /** The first of the addresses that no account has. */
  async function firstFree(identities: Row[], tx: Tx): Promise<string | undefined> {
    for (const { email } of identities) {
      const sql = `SELECT id FROM user WHERE verified_email = ?${db.forUpdate}`
      const [holder] = await db.rows(sql, [canonicalEmail(email)], tx)
      if (!holder) return email
    }
    return undefined
  }
}

export type IdentityService = ReturnType<typeof identityService>
