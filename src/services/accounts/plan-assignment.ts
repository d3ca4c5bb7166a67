import { v7 as newId } from 'uuid'
import type { Db, Tx } from '../../../db/index.ts'
import type { LimitName } from '../../../db/models/plan.ts'
import type { PlanBy } from '../../../db/models/user.ts'
import { hasOtherProvider } from '../../../db/queries/identity.ts'
import {
  type Holder,
  lockDefaultPlan,
  lockGivenPlan,
  lockHolder,
  setOwnLimits,
} from '../../../db/queries/plan.ts'
import type { PlanClaim } from '../../config/plan-claim.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { excerpt } from '../../values/excerpt.ts'
import { changeLimits } from './over-quota.ts'
import type { Profile } from './profile.ts'

/** The id of the plan that new accounts get. It stays the default until the transaction ends. */
export async function defaultPlan(db: Db, tx: Tx): Promise<string> {
  // A statement that waited while another plan became the default has already passed that plan's
  // row. The next statement finds it.
  const plan = (await lockDefaultPlan(db, tx)) ?? (await lockDefaultPlan(db, tx))
  if (!plan)
    throw new Error('No plan is the default. Set one with: npm run admin -- default-plan <plan>')
  return plan.id
}

/**
 * Gives an account a plan, and queues mails about drives that exceed it.
 * @param plan null for the default plan
 * @returns the plan, and whether mails were queued
 * @throws INVALID_INPUT for a plan that does not exist or is retired
 */
export async function assignPlan(
  db: Db,
  { userId, plan, by, link }: { userId: string; plan: string | null; by: PlanBy; link: string },
  tx: Tx,
): Promise<{ plan: string; over: boolean }> {
  const id = plan ?? (await defaultPlan(db, tx))
  const found = await lockGivenPlan(db, id, tx)
  const user = await db.User.findByPk(userId, {
    attributes: ['planId'],
    raw: true,
    transaction: tx,
  })
  if (!found || (found.retiredAt !== null && user?.planId !== id)) {
    const given = await db.Plan.findAll({
      where: { retiredAt: null },
      order: ['maxTotalStorageBytes', 'id'],
      raw: true,
      transaction: tx,
    })
    const why = found ? `The plan "${id}" is retired.` : `There is no plan "${excerpt(id)}".`
    throw new InvalidInput('plan_id', `${why} The plans are: ${given.map(p => p.id).join(', ')}.`)
  }
  const over = await changeLimits(db, { concerned: { userId }, link, tx }, () =>
    db.User.update({ planId: id, planBy: by }, { where: { id: userId }, transaction: tx }),
  )
  return { plan: id, over: over.length > 0 }
}

/**
 * Sets own limits of an account or a workspace, and queues mails about drives that exceed them.
 * @param limits the result of `readLimits`; an empty one only checks that the holder exists
 * @returns whether mails were queued
 * @throws USER_NOT_FOUND, WORKSPACE_NOT_FOUND
 */
export async function assignLimits(
  db: Db,
  of: {
    holder: Holder
    id: string
    limits: Partial<Record<LimitName, number | null>>
    link: string
  },
  tx: Tx,
): Promise<boolean> {
  const { holder, id, limits, link } = of
  if (!(await lockHolder(db, holder, id, tx)))
    throw holder === 'user'
      ? new AppError('USER_NOT_FOUND', 'There is no such user.')
      : new AppError(
          'WORKSPACE_NOT_FOUND',
          'There is no such workspace. Use an id from the details of an account.',
        )
  if (Object.keys(limits).length === 0) return false
  const concerned = holder === 'user' ? { userId: id } : { workspaceId: id }
  const row = { id: newId(), changedAt: Date.now() }
  const over = await changeLimits(db, { concerned, link, tx }, () =>
    setOwnLimits(db, { holder, id }, limits, row, tx),
  )
  return over.length > 0
}

/** The plan that a person's claims name: the first match in the order of the setting, or null. */
export function planOfClaims({ claims }: Profile, rule: PlanClaim): string | null {
  const values = rule === null ? [] : (claims?.[rule.claim] ?? [])
  return rule?.plans.find(({ value }) => values.includes(value))?.plan ?? null
}

/**
 * The plan that the claims of this sign-in give to an account. Null if it keeps its plan. An
 * operator's choice takes precedence. A plan that does not exist or is retired is ignored, because
 * a sign-in must not fail for it.
 * @param unknown called with the id of such a plan
 */
export async function planBySignIn(
  db: Db,
  {
    account,
    profile,
    rule,
  }: {
    account: { userId: string; planId: string; planBy: PlanBy } | null
    profile: Profile
    rule: PlanClaim
  },
  unknown: (plan: string) => void,
  tx: Tx,
): Promise<{ plan: string; by: PlanBy } | null> {
  if (rule === null || account?.planBy === 'operator') return null
  const named = planOfClaims(profile, rule)
  if (named !== null) {
    if (account?.planId === named && account.planBy === 'claim') return null
    const plan = await lockGivenPlan(db, named, tx)
    if (plan && (plan.retiredAt === null || account?.planId === named))
      return { plan: named, by: 'claim' }
    unknown(named)
    // While the setting is wrong, the plan of an earlier claim stays.
    return null
  }
  if (account?.planBy !== 'claim' || (await isSilent(db, account.userId, profile, rule, tx)))
    return null
  return { plan: await defaultPlan(db, tx), by: 'default' }
}

/**
 * Whether a sign-in does not contain the claim that gave the plan: the claim is not read here, or
 * another provider states it.
 */
async function isSilent(
  db: Db,
  userId: string,
  { provider, claims, elsewhere }: Profile,
  { claim }: NonNullable<PlanClaim>,
  tx: Tx,
): Promise<boolean> {
  if (claims?.[claim] !== undefined) return false
  return elsewhere?.includes(claim) || (await hasOtherProvider(db, userId, provider, tx))
}
