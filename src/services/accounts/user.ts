import type { Identity } from '../../../db/models/identity.ts'
import type { Limits, Plan } from '../../../db/models/plan.ts'
import type { User } from '../../../db/models/user.ts'
import { type Usage, usagesOf } from '../../../db/queries/bucket.ts'
import { readUser } from '../../../db/queries/user.ts'
import type { Caller } from '../../access/caller.ts'
import { Unauthenticated } from '../../runtime/errors.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'

/** An account with its first identity. */
export interface UserView
  extends Omit<
    User,
    'verifiedEmail' | 'planId' | 'planBy' | 'status' | 'signInNotices' | 'language' | 'filesView'
  > {
  /** Whether a provider has verified the address. */
  emailVerified: boolean
  provider: string
  providerUserId: string
  plan: Pick<Plan, 'id' | 'name'>
  /**
   * The current limits: those of the plan, or the account's own if an operator set them. Null means
   * unlimited.
   */
  limits: Limits
}

export type IdentityView = Identity

/** A plan with its limits; null means unlimited. */
export type PlanView = Pick<Plan, 'id' | 'name'> & Limits

export function userService({ db }: Core<'db'>) {
  return {
    async read(caller: Caller): Promise<UserView> {
      const found = await readUser(db, caller.userId)
      if (!found) throw new Unauthenticated()
      const { verifiedEmail, provider, providerUserId, planId, planName, ...rest } = found
      const { id, email, name, givenName, familyName, picture, locale, createdAt, ...limits } = rest
      return {
        id,
        email,
        name,
        givenName,
        familyName,
        picture,
        locale,
        createdAt,
        provider,
        providerUserId,
        emailVerified: verifiedEmail !== null,
        plan: { id: planId, name: planName },
        limits,
      }
    },

    /** The identities of the caller, oldest first. */
    async identities(caller: Caller): Promise<IdentityView[]> {
      const rows = await db.Identity.findAll({
        where: { userId: caller.userId },
        order: ['createdAt', 'id'],
        raw: true,
      })
      return rows.map(row => ({ ...row, emailVerified: Boolean(row.emailVerified) }))
    },

    /**
     * The usage of a storage area. Does not authorize: pass only one that the caller may see.
     * @throws UNAUTHENTICATED if it was deleted with its account
     */
    async usage({ bucketId }: Tree): Promise<Usage> {
      const row = (await usagesOf(db, [bucketId])).get(bucketId)
      if (!row) throw new Unauthenticated()
      return row
    },
  }
}

export type UserService = ReturnType<typeof userService>
