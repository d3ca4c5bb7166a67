import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { AppError, Unauthenticated } from '../errors.ts'
import { canonicalEmail } from './profile.ts'

interface Row {
  id: string
  email: string
  emailVerified: boolean | number
}

/** The ways in which an account is signed in to. */
export function identityService({ db }: { db: Db }) {
  return {
    /**
     * Takes an identity away from the account of the caller, and ends its other sessions: they may have begun with it.
     * @throws LAST_IDENTITY, IDENTITY_NOT_FOUND
     */
    async remove(caller: Caller, identityId: string): Promise<void> {
      await db.transaction(async tx => {
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
        await keepAddressTrue(caller.userId, user.verifiedEmail, left, tx)
      })
    },
  }

  /** An address stays verified only while an identity of the account vouches for it; else another one's takes its place. */
  async function keepAddressTrue(userId: string, verified: string | null, left: Row[], tx: Tx): Promise<void> {
    const vouching = left.filter(({ emailVerified }) => Boolean(emailVerified))
    if (verified === null || vouching.some(({ email }) => canonicalEmail(email) === verified)) return
    for (const { email } of vouching) {
      const address = canonicalEmail(email)
      const sql = `SELECT id FROM user WHERE verified_email = ?${db.forUpdate}`
      const [holder] = await db.rows(sql, [address], tx)
      if (holder) continue
      await db.run('UPDATE user SET email = ?, verified_email = ? WHERE id = ?', [email, address, userId], tx)
      return
    }
    await db.run('UPDATE user SET verified_email = NULL WHERE id = ?', [userId], tx)
  }
}

export type IdentityService = ReturnType<typeof identityService>
