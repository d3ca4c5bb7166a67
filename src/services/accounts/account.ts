import pRetry from 'p-retry'
import { v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../../db/index.ts'
import { type AccountRefusal, SERVICE_LOG } from '../../../db/models/event.ts'
import { eventsOf } from '../../../db/queries/event.ts'
import {
  findIdentity,
  type KnownIdentity,
  lockIdentitiesOf,
  lockIdentity,
} from '../../../db/queries/identity.ts'
import { lockUser, lockUserWithAddress } from '../../../db/queries/user.ts'
import type { Caller, Origin } from '../../access/caller.ts'
import type { PlanClaim } from '../../config/plan-claim.ts'
import type { SignUp } from '../../config/sign-up-rule.ts'
import { HOUR_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import { changeRunner, type EventDetails, masked, recorded, system } from '../history/event.ts'
import { makeBucket } from '../tree/entry.ts'
import { adoptAddress, followAddress } from './account-address.ts'
import { findKept, reattach } from './account-kept.ts'
import { assignPlan, defaultPlan, planBySignIn } from './plan-assignment.ts'
import {
  canonicalEmail,
  type Profile,
  type ProviderProfile,
  type RefusalReason,
  readProfile,
  SignInRefused,
} from './profile.ts'
import { createRefusalBound } from './refusal-bound.ts'
import { isAdmitted, requireAdmitted } from './sign-up.ts'

export { canonicalEmail, type ProviderProfile, refusalReasons, SignInRefused } from './profile.ts'

export interface AccountRules {
  /**
   * Whether identities of different providers with the same verified e-mail address share an
   * account. The operator then trusts all of them.
   */
  linkByEmail: boolean
  /** Who may create accounts. */
  signUp: SignUp
  /** The mapping of claims to plans. */
  planClaim: PlanClaim
  /** Reports a configured plan that does not exist or is retired. */
  unknownPlan: (plan: string) => void
  /** Whether a maintenance prevents new accounts. */
  isFrozen: boolean
  /** The link that mails contain. */
  link: string
}

interface Deps
  extends Core<'db'>,
    Partial<Core<'change' | 'wake' | 'log' | 'publicUrl' | 'coordination'>> {
  linkByEmail?: boolean
  /** Without it, anyone may sign up. */
  signUp?: SignUp | null
  planClaim?: PlanClaim
  isFrozen?: () => boolean
}

export function accountService({
  db,
  linkByEmail = false,
  signUp,
  change = changeRunner({ db }),
  wake = () => {},
  planClaim = null,
  isFrozen = () => false,
  log,
  publicUrl = () => '',
  coordination,
}: Deps) {
  const refusals = coordination && createRefusalBound(coordination)
  const unknownPlan = (plan: string) =>
    log?.warn(
      { plan },
      'PLAN_CLAIM names a plan that does not exist or is retired; the account keeps its plan',
    )
  const rulesNow = (): AccountRules => ({
    linkByEmail,
    signUp: signUp ?? { rule: 'open' },
    planClaim,
    unknownPlan,
    link: publicUrl(),
    isFrozen: isFrozen(),
  })

  return {
    /**
     * Whether the account already has this identity.
     * @throws SignInRefused `identity_taken` when another account has it, `auth_failed` for a
     * profile without a usable id or e-mail address
     */
    async hasIdentity(raw: ProviderProfile, { userId }: Pick<Caller, 'userId'>): Promise<boolean> {
      const known = await findIdentity(db, readProfile(raw))
      if (known && known.userId !== userId) throw taken()
      return known !== undefined
    },

    /**
     * Finds or creates the account of a person whom a provider has authenticated (docs/contract.md,
     * section 5).
     * @param current the signed-in account to which the identity is attached; null for an ordinary
     * sign-in
     * @throws SignInRefused `identity_taken` when another account has the identity, or has its
     * verified e-mail address and may not be joined; `email_unverified` when an account has the
     * e-mail address and the provider has not verified it; `sign_up_closed` for a person who may
     * not create an account; `maintenance` when accounts cannot be created now; `auth_failed` for a
     * suspended account or a profile without a usable id or e-mail address
     */
    async signIn(
      raw: ProviderProfile,
      current: Pick<Caller, 'userId'> | null,
    ): Promise<{ userId: string }> {
      const [profile, rules] = [readProfile(raw), rulesNow()]
      // The unique index refuses the second of two parallel sign-ins with one identity or e-mail
      // address. Its retry finds the account.
      const settling = pRetry(
        () =>
          db.transaction(tx =>
            current
              ? attach(db, profile, current.userId, rules, tx)
              : settle(db, profile, rules, tx),
          ),
        { retries: 5, minTimeout: 5, shouldRetry: isDuplicate },
      )
      const settled = await settling.catch((error: unknown) => {
        if (error instanceof SignInRefused && !error.account) error.claimed = masked(profile.email)
        throw error
      })
      if (settled.mail) wake()
      return { userId: settled.userId }
    },

    /**
     * Finds or creates the account of a person with an account of this service, within the
     * transaction that writes its credentials.
     * @param vouched whether an operator vouches for the person, so that SIGN_UP does not apply,
     * and an account with the same address belongs to the person
     * @throws SignInRefused like `signIn`
     */
    async open(
      raw: ProviderProfile,
      { vouched, userId: known }: { vouched: boolean; userId?: string | null },
      tx: Tx,
    ): Promise<{ userId: string }> {
      const rules = rulesNow()
      if (known) return attach(db, readProfile(raw), known, rules, tx)
      const { userId } = await settle(
        db,
        readProfile(raw),
        vouched
          ? { ...rules, linkByEmail: true, signUp: { rule: 'open' } }
          : // Without a rule, strangers may sign up only through a provider that the operator has
            // configured.
            { ...rules, signUp: signUp ?? { rule: 'invited' } },
        tx,
      )
      return { userId }
    },

    /** Whether SIGN_UP allows the owner of a verified address to create an account. */
    isAdmitted(raw: ProviderProfile): Promise<boolean> {
      const rule = signUp ?? ({ rule: 'invited' } as const)
      return db.transaction(tx => isAdmitted(db, rule, readProfile(raw), tx))
    },

    /** Whether people may create accounts without an operator. */
    mayRegister: (): boolean => (signUp ?? { rule: 'invited' }).rule !== 'closed',

    /** Updates the address of an account after a change at its provider, within a transaction. */
    async follow(raw: ProviderProfile, tx: Tx): Promise<void> {
      await settle(db, readProfile(raw), rulesNow(), tx)
    },

    /**
     * Records a refused sign-in in the log of the account concerned, or in the log of the service,
     * which only operators can read.
     */
    async noteRefusal(
      { account, reason, claimed }: SignInRefused,
      { from, ...client }: { provider: string; device: string; network: string; from: Origin },
    ) {
      const noteIn = (log: string, details: EventDetails) =>
        change({ ...system, from }, async ({ record }) => {
          record(log, {
            kind: 'sign_in.refused',
            subject: null,
            details: { ...details, ...client },
          })
        })
      if (!account) {
        const count = await refusals?.countToNote(reason, client.network)
        if (count)
          await noteIn(SERVICE_LOG, {
            refusal: reason,
            count,
            ...(claimed ? { recipient: claimed } : {}),
          })
        return
      }
      const { userId, refusal } = account
      // Anyone who knows an address can try any number of times. The owner's log must not fill up.
      if (!(await hasMany(db, userId))) await noteIn(userId, { refusal })
    },
  }
}

export type AccountService = ReturnType<typeof accountService>

/** An ordinary sign-in. Returns whether a mail was queued. */
async function settle(
  db: Db,
  profile: Profile,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  // The first read takes no lock, because gap locks on a missing row make parallel first sign-ins
  // of one person deadlock.
  const known = (await findIdentity(db, profile, tx)) && (await lockIdentity(db, profile, tx))
  if (known) return signInAgain(db, known, profile, rules, tx)
  const owner = await lockUserWithAddress(db, canonicalEmail(profile.email), tx)
  if (owner) {
    requireActive({ userId: owner.id, status: owner.status })
    // The account is locked now. A concurrent sign-in of the same identity may have created it.
    const meanwhile = await lockIdentity(db, profile, tx)
    if (meanwhile) return signInAgain(db, meanwhile, profile, rules, tx)
    await requireJoinable(db, owner.id, profile, rules, tx)
  }
  const userId = owner?.id ?? (await createAccount(db, profile, rules, tx))
  await createIdentity(db, userId, profile, tx)
  const joined = owner && rules.planClaim !== null ? await lockIdentity(db, profile, tx) : undefined
  return { userId, mail: joined ? await followClaims(db, joined, profile, rules, tx) : false }
}

async function signInAgain(
  db: Db,
  known: KnownIdentity,
  profile: Profile,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  requireActive(known)
  await refreshIdentity(db, known.identityId, profile, tx)
  const followed = await followAddress(db, known, profile, rules, tx)
  const over = await followClaims(db, known, profile, rules, tx)
  return { userId: known.userId, mail: followed || over }
}

/** Gives an account the plan of its claims. @returns whether a mail was queued */
async function followClaims(
  db: Db,
  account: KnownIdentity,
  profile: Profile,
  { planClaim: rule, unknownPlan, link }: AccountRules,
  tx: Tx,
): Promise<boolean> {
  const { userId } = account
  const wanted = await planBySignIn(db, { account, profile, rule }, unknownPlan, tx)
  if (!wanted) return false
  const { over } = await assignPlan(db, { userId, ...wanted, link }, tx)
  if (wanted.plan === account.planId) return over
  await recorded(db, system, tx, async ({ record }) => {
    record(userId, { kind: 'plan.changed', subject: userId, details: { plan: wanted.plan } })
  })
  return over
}

/** Attaches another identity to the signed-in account. */
async function attach(
  db: Db,
  profile: Profile,
  userId: string,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  const known = await findIdentity(db, profile, tx)
  if (known && known.userId !== userId) throw taken()
  const account = await lockUser(db, userId, tx)
  // The account may have been deleted since the session was checked.
  if (!account) throw new SignInRefused('auth_failed', 'The account is closed.')
  requireActive({ userId, status: account.status })
  if (known) await refreshIdentity(db, known.identityId, profile, tx)
  else await createIdentity(db, userId, profile, tx)
  // The confirmation joins two identities of one person. The usual rules apply to data kept for an
  // earlier account.
  await adoptAddress(db, userId, profile, rules, tx)
  return { userId, mail: false }
}

/** The number of refused sign-ins of an account that are recorded per hour. */
const NOTED_REFUSALS = 10
async function hasMany(db: Db, userId: string): Promise<boolean> {
  const range = {
    after: null,
    newestFirst: true,
    kinds: ['sign_in.refused'],
    limit: NOTED_REFUSALS,
  } as const
  const last = (await eventsOf(db, userId, range))[NOTED_REFUSALS - 1]
  return last !== undefined && last.at > Date.now() - HOUR_MS
}

const taken = () => new SignInRefused('identity_taken', 'Another account has this identity.')

function requireActive({ userId, status }: { userId: string; status: string }): void {
  if (status !== 'active')
    throw new SignInRefused('auth_failed', 'The account is closed.', {
      account: { userId, refusal: 'suspended' },
    })
}

/** @throws SignInRefused unless a new identity may join the account with its address */
async function requireJoinable(
  db: Db,
  userId: string,
  { provider, emailVerified }: Profile,
  { linkByEmail }: AccountRules,
  tx: Tx,
): Promise<void> {
  const refuse = (refusal: AccountRefusal & RefusalReason, message: string): never => {
    throw new SignInRefused(refusal, message, { account: { userId, refusal } })
  }
  if (!emailVerified)
    refuse(
      'email_unverified',
      'An account has this e-mail address, and the provider has not verified it.',
    )
  if (!linkByEmail)
    refuse(
      'identity_taken',
      'An account of another provider has this e-mail address, and accounts are not linked across providers.',
    )
  // A locking read: it locks the account and sees identities that joined it meanwhile.
  const same = (await lockIdentitiesOf(db, userId, tx)).some(
    identity => identity.provider === provider,
  )
  if (same) refuse('identity_taken', 'Another user of the same provider has this e-mail address.')
}

/**
 * Creates an account with an empty root folder, or with the data of an earlier account.
 * @throws SignInRefused `maintenance`, `sign_up_closed`
 */
async function createAccount(
  db: Db,
  profile: Profile,
  rules: AccountRules,
  tx: Tx,
): Promise<string> {
  if (rules.isFrozen)
    throw new SignInRefused('maintenance', 'No accounts are created during maintenance.')
  // The owner of kept data had an account before, so the sign-up rule does not apply.
  const kept = await findKept(db, profile, rules, tx)
  if (!kept) await requireAdmitted(db, rules.signUp, profile, tx)
  const { email, verifiedEmail, name, givenName, familyName, picture, locale } = profile
  const [userId, createdAt] = [newId(), Date.now()]
  const named = { name, givenName, familyName, picture, locale }
  const { planClaim: rule, unknownPlan } = rules
  const { plan: planId, by: planBy } = (await planBySignIn(
    db,
    { account: null, profile, rule },
    unknownPlan,
    tx,
  )) ?? {
    plan: await defaultPlan(db, tx),
    by: 'default' as const,
  }
  const state = { planId, planBy, status: 'active' as const, createdAt, signInNotices: false }
  await db.User.create(
    { id: userId, email, verifiedEmail, ...named, ...state },
    { transaction: tx },
  )
  if (kept) await reattach(db, userId, kept, tx)
  else await makeBucket(db, { userId }, userId, createdAt, tx)
  return userId
}

async function createIdentity(db: Db, userId: string, profile: Profile, tx: Tx): Promise<void> {
  const { provider, providerUserId } = profile
  const identity = {
    id: newId(),
    userId,
    provider,
    providerUserId,
    ...shownOf(profile),
    createdAt: Date.now(),
  }
  await recorded(db, { userId, via: 'session', viaId: null }, tx, async ({ record }) => {
    await db.Identity.create(identity, { transaction: tx })
    record(userId, { kind: 'identity.added', subject: identity.id, details: { provider } })
  })
}

/**
 * Updates an identity. The account keeps its name and picture, which may belong to another
 * identity.
 */
async function refreshIdentity(db: Db, id: string, profile: Profile, tx: Tx): Promise<void> {
  await db.Identity.update(shownOf(profile), { where: { id }, transaction: tx })
}

const shownOf = ({ email, emailVerified, name, picture }: Profile) => ({
  email,
  emailVerified,
  name,
  avatarUrl: picture,
})
