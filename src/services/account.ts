import pRetry from 'p-retry'
import { v7 as newId } from 'uuid'
import { type Db, isDuplicate, type Tx } from '../../db/index.ts'
import type { Viewer } from '../auth/viewer.ts'
import { makeBucket } from './entry.ts'

/** What a provider says about somebody. Texts as they came, "" for what it does not say. */
export interface ProviderProfile {
  provider: string
  providerUserId: string
  email: string
  emailVerified: boolean
  name: string
  givenName: string
  familyName: string
  picture: string
  locale: string
}

export type RefusalReason = 'auth_failed' | 'identity_taken' | 'email_unverified' | 'invalid_state'

/** A sign-in that does not lead to an account; its reason is told to the client. */
export class SignInRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SignInRefused'
    this.reason = reason
  }
}

interface Owner {
  userId: string
  status: string
}

/** A profile that fits the columns, with what the account is known by: null where nobody vouches for the address. */
type Profile = ProviderProfile & { verifiedEmail: string | null }

const newPlan = 'free'
const longestEmail = 320
const longestId = 255
const longestName = 255
const longestPicture = 2048
const longestLocale = 35

export function accountService({ db }: { db: Db }) {
  return {
    /**
     * Finds or makes the account of somebody whom a provider has let in: contract, section 5.
     * @param current the account to which a new identity is attached; null makes it a sign-in of its own
     * @throws SignInRefused `identity_taken` when another account has the identity, `email_unverified` when an account
     *   has the address and the provider does not vouch for it, `auth_failed` for a suspended account or a profile
     *   without a usable id or e-mail address
     */
    async signIn(raw: ProviderProfile, current: Pick<Viewer, 'userId'> | null): Promise<{ userId: string }> {
      const profile = readProfile(raw)
      // Who comes second with the same identity or address is refused by the unique index, and then finds what the first has made.
      return pRetry(() => db.transaction(tx => settle(db, profile, current?.userId ?? null, tx)), {
        retries: 5,
        minTimeout: 5,
        shouldRetry: isDuplicate,
      })
    },
  }
}

export type AccountService = ReturnType<typeof accountService>

async function settle(db: Db, profile: Profile, current: string | null, tx: Tx): Promise<{ userId: string }> {
  const known = await findIdentity(db, profile, tx)
  if (known && current && known.userId !== current)
    throw new SignInRefused('identity_taken', 'Another account has this identity.')

  const owner = known ?? (await (current ? findUser(db, current, tx) : findByEmail(db, profile.email, tx)))
  // A session outlives its account for as long as a request takes.
  if (owner ? owner.status !== 'active' : current) throw new SignInRefused('auth_failed', 'The account is closed.')
  if (owner && !known && !current && !profile.emailVerified)
    throw new SignInRefused('email_unverified', 'An account has this address, and nobody vouches for it.')

  const userId = owner?.userId ?? (await createAccount(db, profile, tx))
  if (known) await refreshIdentity(db, known.identityId, profile, tx)
  else await createIdentity(db, userId, profile, tx)
  if (owner) await adoptEmail(db, userId, profile, tx)
  return { userId }
}

async function findIdentity(db: Db, { provider, providerUserId }: Profile, tx: Tx) {
  const [row] = await db.rows<Owner & { identityId: string }>(
    `SELECT i.id AS identityId, u.id AS userId, u.status FROM identity i JOIN user u ON u.id = i.user_id
     WHERE i.provider = ? AND i.provider_user_id = ?`,
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
async function createAccount(db: Db, profile: Profile, tx: Tx): Promise<string> {
  const { email, verifiedEmail, name, givenName, familyName, picture, locale } = profile
  const userId = newId()
  const now = Date.now()
  await db.run(
    `INSERT INTO user (id, email, verified_email, name, given_name, family_name, picture, locale, plan_id, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)`,
    [userId, email, verifiedEmail, name, givenName, familyName, picture, locale, newPlan, now],
    tx,
  )
  const kept = await findKept(db, verifiedEmail, tx)
  if (kept) {
    await reattach(db, userId, kept, tx)
    return userId
  }
  await makeBucket(db, { userId }, userId, now, tx)
  return userId
}

/** The data that an earlier account of a verified address has left. */
async function findKept(db: Db, verifiedEmail: string | null, tx: Tx): Promise<string | undefined> {
  if (!verifiedEmail) return undefined
  const [kept] = await db.rows<{ id: string }>(
    `SELECT id FROM bucket WHERE kept_for = ? ORDER BY kept_until DESC LIMIT 1${db.forUpdate}`,
    [verifiedEmail],
    tx,
  )
  return kept?.id
}

async function reattach(db: Db, userId: string, bucketId: string, tx: Tx): Promise<void> {
  await db.run('UPDATE bucket SET user_id = ?, kept_for = NULL, kept_until = NULL WHERE id = ?', [userId, bucketId], tx)
}

/** The same for an account that was made before anybody vouched for its address: in place of its own area, if that is empty. */
async function exchange(db: Db, userId: string, verifiedEmail: string, tx: Tx): Promise<void> {
  const kept = await findKept(db, verifiedEmail, tx)
  if (!kept) return
  const [own] = await db.rows<{ id: string; rootId: string }>(
    `SELECT id, root_id AS rootId FROM bucket
     WHERE user_id = ? AND used_files = 0 AND used_folders = 0 AND reserved_files = 0 AND purging = 0${db.forUpdate}`,
    [userId],
    tx,
  )
  if (!own) return
  await db.run('DELETE FROM bucket WHERE id = ?', [own.id], tx)
  await db.run('DELETE FROM entry WHERE id = ?', [own.rootId], tx)
  await db.run('DELETE FROM note WHERE bucket_id = ?', [own.id], tx)
  await reattach(db, userId, kept, tx)
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

/** Gives an account without a verified address that of the identity, unless somebody else has it. */
async function adoptEmail(db: Db, userId: string, { email, verifiedEmail }: Profile, tx: Tx): Promise<void> {
  if (!verifiedEmail || (await findByEmail(db, email, tx))) return
  const adopted = await db.run(
    'UPDATE user SET email = ?, verified_email = ? WHERE id = ? AND verified_email IS NULL',
    [email, verifiedEmail, userId],
    tx,
  )
  if (adopted === 1) await exchange(db, userId, verifiedEmail, tx)
}

/** The form in which addresses are compared. */
export function canonicalEmail(email: string): string {
  return email.normalize('NFC').toLowerCase()
}

function readProfile(raw: ProviderProfile): Profile {
  // MySQL ignores spaces at the end when it compares, so an id with some would be somebody else's.
  const id = raw.providerUserId
  if (id === '' || id.length > longestId || id !== id.trim() || /[\p{Cc}\p{Cs}]/u.test(id))
    throw new SignInRefused('auth_failed', 'The provider does not say who this is.')
  const email = raw.email.trim()
  const canonical = canonicalEmail(email)
  if (!/^[^\s\p{Cc}\p{Cf}\p{Cs}]+@[^\s\p{Cc}\p{Cf}\p{Cs}]+$/u.test(email))
    throw new SignInRefused('auth_failed', 'The provider does not give an e-mail address.')
  if (Math.max(email.length, canonical.length) > longestEmail)
    throw new SignInRefused('auth_failed', 'The provider gives an e-mail address that is too long.')
  return {
    ...raw,
    email,
    verifiedEmail: raw.emailVerified ? canonical : null,
    name: shorten(raw.name, longestName),
    givenName: shorten(raw.givenName, longestName),
    familyName: shorten(raw.familyName, longestName),
    picture: raw.picture.length <= longestPicture && /^https?:\/\/[\x21-\x7e]+$/i.test(raw.picture) ? raw.picture : '',
    // Half a locale is none.
    locale: /^[A-Za-z\d_.@-]+$/.test(raw.locale) && raw.locale.length <= longestLocale ? raw.locale : '',
  }
}

/** Makes a text one line of so many characters, and never half a character. */
function shorten(text: string, longest: number): string {
  const line = text.replace(/\p{Cs}/gu, '\ufffd').replace(/[\s\p{Cc}]+/gu, ' ')
  return [...line.trim()].slice(0, longest).join('').trim()
}
