import pRetry from 'p-retry'
import { v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import type { SignUp } from '../settings.ts'
import { adoptAddress, followAddress } from './account-address.ts'
import { findKept, reattach } from './account-kept.ts'
import { makeBucket } from './entry.ts'
import { canonicalEmail, type Profile, type ProviderProfile, readProfile, SignInRefused } from './profile.ts'
import { requireAdmitted } from './sign-up.ts'

export { canonicalEmail, type ProviderProfile, SignInRefused } from './profile.ts'

export interface AccountRules {
  /** Whether identities of different providers with the same verified e-mail address share an account; the operator trusts all of them. */
  linkByEmail: boolean
  /** The rule for new accounts. */
  signUp: SignUp
}

interface Deps {
  linkByEmail?: boolean
  /** Without it, sign-up is open. */
  signUp?: SignUp | null
  db: Db
  /** Wakes the worker when a mail was queued. */
  wake?: () => void
}

interface Owner {
  userId: string
  status: string
}

/** An identity as stored before this sign-in, with the e-mail address of its account. */
interface Known extends Owner {
  identityId: string
  oldEmail: string
  oldVerified: boolean | number
  email: string
  verifiedEmail: string | null
}

const newPlan = 'free'

export function accountService({ db, linkByEmail = false, signUp, wake = () => {} }: Deps) {
  const rules: AccountRules = { linkByEmail, signUp: signUp ?? { rule: 'open' } }

  return {
    /**
     * Whether an account has this identity already.
     * @throws SignInRefused `identity_taken` when another account has it, `auth_failed` for a profile without a usable id or e-mail address
     */
    async hasIdentity(raw: ProviderProfile, { userId }: Pick<Caller, 'userId'>): Promise<boolean> {
      const known = await findIdentity(db, readProfile(raw), '')
      if (known && known.userId !== userId) throw taken()
      return known !== undefined
    },

    /**
     * Finds or creates the account of a person whom a provider has authenticated (docs/contract.md, section 5).
     * @param current the signed-in account to which the identity is attached; null for an ordinary sign-in
     * @throws SignInRefused `identity_taken` when another account has the identity, or has its verified e-mail address and may
     *   not be joined, `email_unverified` when an account has the e-mail address and the provider has not verified it,
     *   `sign_up_closed` for a person who may not make an account, `auth_failed` for a suspended account or a profile without a usable id or e-mail address
     */
    async signIn(raw: ProviderProfile, current: Pick<Caller, 'userId'> | null): Promise<{ userId: string }> {
      const profile = readProfile(raw)
      // The unique index refuses the second of two parallel sign-ins with one identity or e-mail address; its retry finds the account.
      const settled = await pRetry(
        () =>
          db.transaction(tx =>
            current ? attach(db, profile, current.userId, rules, tx) : settle(db, profile, rules, tx),
          ),
        { retries: 5, minTimeout: 5, shouldRetry: isDuplicate },
      )
      if (settled.mail) wake()
      return { userId: settled.userId }
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
  // The first read takes no lock: gap locks on a missing row make parallel first sign-ins of one person deadlock.
  const known = (await findIdentity(db, profile, '', tx)) && (await findIdentity(db, profile, db.forUpdate, tx))
  if (known) return signInAgain(db, known, profile, rules, tx)
  const owner = await findByEmail(db, profile.email, tx)
  if (owner) {
    requireActive(owner)
    // The account is locked by now: a sign-in of the same identity may have made it meanwhile.
    const meanwhile = await findIdentity(db, profile, db.forUpdate, tx)
    if (meanwhile) return signInAgain(db, meanwhile, profile, rules, tx)
    await requireJoinable(db, owner.userId, profile, rules, tx)
  }
  const userId = owner?.userId ?? (await createAccount(db, profile, rules, tx))
  await createIdentity(db, userId, profile, tx)
  return { userId, mail: false }
}

async function signInAgain(
  db: Db,
  known: Known,
  profile: Profile,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  requireActive(known)
  await refreshIdentity(db, known.identityId, profile, tx)
  return { userId: known.userId, mail: await followAddress(db, known, profile, rules, tx) }
}

/** Attaches another identity to the signed-in account. */
async function attach(
  db: Db,
  profile: Profile,
  userId: string,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  const known = await findIdentity(db, profile, '', tx)
  if (known && known.userId !== userId) throw taken()
  const account = await findUser(db, userId, tx)
  // The account may have been deleted since the session was checked.
  if (!account) throw new SignInRefused('auth_failed', 'The account is closed.')
  requireActive(account)
  if (known) await refreshIdentity(db, known.identityId, profile, tx)
  else await createIdentity(db, userId, profile, tx)
  // The confirmation joins two identities of one person; data kept for an earlier account still follows the rules.
  await adoptAddress(db, userId, profile, rules, tx)
  return { userId, mail: false }
}

const taken = () => new SignInRefused('identity_taken', 'Another account has this identity.')

function requireActive({ status }: Owner): void {
  if (status !== 'active') throw new SignInRefused('auth_failed', 'The account is closed.')
}

/** @throws SignInRefused unless a new identity may join the account that has its address */
async function requireJoinable(
  db: Db,
  userId: string,
  { provider, emailVerified }: Profile,
  { linkByEmail }: AccountRules,
  tx: Tx,
): Promise<void> {
  if (!emailVerified)
    throw new SignInRefused(
      'email_unverified',
      'An account has this e-mail address, and the provider has not verified it.',
    )
  if (!linkByEmail)
    throw new SignInRefused(
      'identity_taken',
      'An account of another provider has this e-mail address, and accounts are not linked across providers.',
    )
  // A locking read: the account is locked, and an identity that has joined it meanwhile counts.
  const [same] = await db.rows(
    `SELECT id FROM identity WHERE user_id = ? AND provider = ? LIMIT 1${db.forUpdate}`,
    [userId, provider],
    tx,
  )
  if (same) throw new SignInRefused('identity_taken', 'Another person of the same provider has this e-mail address.')
}

async function findIdentity(
  db: Db,
  { provider, providerUserId }: Profile,
  lock: string,
  tx?: Tx,
): Promise<Known | undefined> {
  const [row] = await db.rows<Known>(
    `SELECT i.id AS identityId, i.email AS oldEmail, i.email_verified AS oldVerified,
       u.id AS userId, u.status, u.email, u.verified_email AS verifiedEmail
     FROM identity i JOIN user u ON u.id = i.user_id WHERE i.provider = ? AND i.provider_user_id = ?${lock}`,
    [provider, providerUserId],
    tx,
  )
  return row
}

async function findUser(db: Db, userId: string, tx: Tx): Promise<Owner | undefined> {
  const sql = `SELECT id AS userId, status FROM user WHERE id = ?${db.forUpdate}`
  const [row] = await db.rows<Owner>(sql, [userId], tx)
  return row
}

/** The account with this verified e-mail address. */
async function findByEmail(db: Db, email: string, tx: Tx): Promise<Owner | undefined> {
  const sql = `SELECT id AS userId, status FROM user WHERE verified_email = ?${db.forUpdate}`
  const [row] = await db.rows<Owner>(sql, [canonicalEmail(email)], tx)
  return row
}

/** Creates an account with an empty root folder, or with the data that it left behind. @throws SignInRefused `sign_up_closed` */
async function createAccount(db: Db, profile: Profile, rules: AccountRules, tx: Tx): Promise<string> {
  // The owner of kept data had an account before, so the sign-up rule does not apply.
  const kept = await findKept(db, profile, rules, tx)
  if (!kept) await requireAdmitted(db, rules.signUp, profile, tx)
  const { email, verifiedEmail, name, givenName, familyName, picture, locale } = profile
  const userId = newId()
  const now = Date.now()
  await db.run(
    `INSERT INTO user (id, email, verified_email, name, given_name, family_name, picture, locale, plan_id, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)`,
    [userId, email, verifiedEmail, name, givenName, familyName, picture, locale, newPlan, now],
    tx,
  )
  if (kept) await reattach(db, userId, kept, tx)
  else await makeBucket(db, { userId }, userId, now, tx)
  return userId
}

async function createIdentity(db: Db, userId: string, profile: Profile, tx: Tx): Promise<void> {
  const { provider, providerUserId, email, emailVerified, name, picture } = profile
  await db.run(
    `INSERT INTO identity (id, user_id, provider, provider_user_id, email, email_verified, name, avatar_url, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [newId(), userId, provider, providerUserId, email, emailVerified, name, picture, Date.now()],
    tx,
  )
}

/** Updates an identity. The account keeps its name and picture, which may come from another identity. */
async function refreshIdentity(db: Db, identityId: string, profile: Profile, tx: Tx): Promise<void> {
  const { email, emailVerified, name, picture } = profile
  await db.run(
    'UPDATE identity SET email = ?, email_verified = ?, name = ?, avatar_url = ? WHERE id = ?',
    [email, emailVerified, name, picture, identityId],
    tx,
  )
}
