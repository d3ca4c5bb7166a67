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
  /** Whether a verified address joins accounts across providers: the operator says that they vouch for the same people. */
  linkByEmail: boolean
  /** Who may make an account. */
  signUp: SignUp
}

interface Deps {
  linkByEmail?: boolean
  /** Everybody without it. */
  signUp?: SignUp | null
  db: Db
  /** Tells the worker that there is a mail. */
  wake?: () => void
}

interface Owner {
  userId: string
  status: string
}

/** An identity as it was before this sign-in, with the address of its account. */
interface Known extends Owner {
  identityId: string
  toldEmail: string
  toldVerified: boolean | number
  email: string
  verifiedEmail: string | null
}

const newPlan = 'free'

export function accountService({ db, linkByEmail = false, signUp, wake = () => {} }: Deps) {
  const rules: AccountRules = { linkByEmail, signUp: signUp ?? { rule: 'open' } }

  return {
    /**
     * Whether an account has this identity already.
     * @throws SignInRefused `identity_taken` when another account has it, `auth_failed` for a profile without a usable id or address
     */
    async hasIdentity(raw: ProviderProfile, { userId }: Pick<Caller, 'userId'>): Promise<boolean> {
      const known = await findIdentity(db, readProfile(raw), '')
      if (known && known.userId !== userId) throw taken()
      return known !== undefined
    },

    /**
     * Finds or makes the account of a person whom a provider has let in: contract, section 5.
     * @param current the account to which a new identity is attached; null makes it a sign-in of its own
     * @throws SignInRefused `identity_taken` when another account has the identity, or has its verified address and may
     *   not be joined, `email_unverified` when an account has the address and the provider does not vouch for it,
     *   `sign_up_closed` for a person who may not make an account, `auth_failed` for a suspended account or a profile without a usable id or e-mail address
     */
    async signIn(raw: ProviderProfile, current: Pick<Caller, 'userId'> | null): Promise<{ userId: string }> {
      const profile = readProfile(raw)
      // Who comes second with the same identity or address is refused by the unique index, and then finds what the first has made.
      const settled = await pRetry(
        () =>
          db.transaction(tx => (current ? attach(db, profile, current.userId, tx) : settle(db, profile, rules, tx))),
        { retries: 5, minTimeout: 5, shouldRetry: isDuplicate },
      )
      if (settled.mail) wake()
      return { userId: settled.userId }
    },
  }
}

export type AccountService = ReturnType<typeof accountService>

/** A sign-in of its own. Says whether a mail was queued. */
async function settle(
  db: Db,
  profile: Profile,
  rules: AccountRules,
  tx: Tx,
): Promise<{ userId: string; mail: boolean }> {
  // Not locked at once: locks on what is not there yet make first sign-ins of one person wait for each other in a circle.
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

/** Gives an account that is signed in another identity. */
async function attach(db: Db, profile: Profile, userId: string, tx: Tx): Promise<{ userId: string; mail: boolean }> {
  const known = await findIdentity(db, profile, '', tx)
  if (known && known.userId !== userId) throw taken()
  const account = await findUser(db, userId, tx)
  // A session outlives its account for as long as a request takes.
  if (!account) throw new SignInRefused('auth_failed', 'The account is closed.')
  requireActive(account)
  if (known) await refreshIdentity(db, known.identityId, profile, tx)
  else await createIdentity(db, userId, profile, tx)
  // The person has confirmed that both are theirs.
  await adoptAddress(db, userId, profile, { linkByEmail: true }, tx)
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
    throw new SignInRefused('email_unverified', 'An account has this address, and the provider does not vouch for it.')
  if (!linkByEmail)
    throw new SignInRefused('identity_taken', 'An account has this address, and providers do not vouch for each other.')
  // A locking read: the account is locked, and an identity that has joined it meanwhile counts.
  const [same] = await db.rows(
    `SELECT id FROM identity WHERE user_id = ? AND provider = ? LIMIT 1${db.forUpdate}`,
    [userId, provider],
    tx,
  )
  if (same) throw new SignInRefused('identity_taken', 'Another person of the same provider has this address.')
}

async function findIdentity(
  db: Db,
  { provider, providerUserId }: Profile,
  lock: string,
  tx?: Tx,
): Promise<Known | undefined> {
  const [row] = await db.rows<Known>(
    `SELECT i.id AS identityId, i.email AS toldEmail, i.email_verified AS toldVerified,
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

/** Whose verified address it is. */
async function findByEmail(db: Db, email: string, tx: Tx): Promise<Owner | undefined> {
  const sql = `SELECT id AS userId, status FROM user WHERE verified_email = ?${db.forUpdate}`
  const [row] = await db.rows<Owner>(sql, [canonicalEmail(email)], tx)
  return row
}

/** An account and its storage area, a root folder with nothing in it. */
async function createAccount(db: Db, profile: Profile, rules: AccountRules, tx: Tx): Promise<string> {
  // Who left data behind to come back to has been here before.
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

/** Brings an identity up to date. The account keeps its own name and picture, which another identity may have given it. */
async function refreshIdentity(db: Db, identityId: string, profile: Profile, tx: Tx): Promise<void> {
  const { email, emailVerified, name, picture } = profile
  await db.run(
    'UPDATE identity SET email = ?, email_verified = ?, name = ?, avatar_url = ? WHERE id = ?',
    [email, emailVerified, name, picture, identityId],
    tx,
  )
}
