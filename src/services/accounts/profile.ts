import type { AccountRefusal } from '../../../db/models/event.ts'
import { MAX_EMAIL } from '../../values/limits.ts'

/** The profile of a person as a provider returns it; "" for missing texts. */
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
  /** Other claims by name: a text, or the texts of a list. */
  claims?: Readonly<Record<string, readonly string[]>>
  /**
   * Claims that the provider has but does not include here (OpenID Connect Core 1.0, section
   * 5.6.2), such as too many groups.
   */
  elsewhere?: readonly string[]
  /** Claims that are neither a text nor a list with texts, such as an object. */
  unreadable?: readonly string[]
}

/**
 * A profile that fits the columns. `verifiedEmail` is null if the provider has not verified the
 * address.
 */
export type Profile = ProviderProfile & { verifiedEmail: string | null }

export const refusalReasons = [
  'auth_failed',
  'identity_taken',
  'email_unverified',
  'invalid_state',
  'provider_unavailable',
  'sign_up_closed',
  'maintenance',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/** A refused sign-in; the client receives its reason. */
export class SignInRefused extends Error {
  readonly reason: RefusalReason
  /** The account concerned, if any. */
  readonly account: { userId: string; refusal: AccountRefusal } | undefined
  /** If no account is concerned, the masked e-mail address that the provider stated. */
  claimed: string | undefined

  constructor(
    reason: RefusalReason,
    message: string,
    { cause, account }: { cause?: unknown; account?: SignInRefused['account'] } = {},
  ) {
    super(message, { cause })
    this.name = 'SignInRefused'
    this.reason = reason
    this.account = account
  }
}

const longestId = 255
const longestName = 255
const longestPicture = 2048
const longestLocale = 35

/** Normalizes an e-mail address for comparisons. */
export function canonicalEmail(email: string): string {
  return email.normalize('NFC').toLowerCase()
}

/** @throws SignInRefused `auth_failed` for a profile without a usable id or e-mail address */
export function readProfile(raw: ProviderProfile): Profile {
  // MySQL ignores trailing spaces in comparisons, so an id with trailing spaces would match another
  // user's.
  const id = raw.providerUserId
  if (id === '' || id.length > longestId || id !== id.trim() || /[\p{Cc}\p{Cs}]/u.test(id))
    throw new SignInRefused('auth_failed', 'The provider returned no usable user id.')
  const email = raw.email.trim()
  const canonical = canonicalEmail(email)
  if (!/^[^\s\p{Cc}\p{Cf}\p{Cs}]+@[^\s\p{Cc}\p{Cf}\p{Cs}]+$/u.test(email))
    throw new SignInRefused('auth_failed', 'The provider returned no e-mail address.')
  if (Math.max(email.length, canonical.length) > MAX_EMAIL)
    throw new SignInRefused(
      'auth_failed',
      'The provider returned an e-mail address that is too long.',
    )
  return {
    ...raw,
    email,
    verifiedEmail: raw.emailVerified ? canonical : null,
    name: shorten(raw.name, longestName),
    givenName: shorten(raw.givenName, longestName),
    familyName: shorten(raw.familyName, longestName),
    picture:
      raw.picture.length <= longestPicture && /^https?:\/\/[\x21-\x7e]+$/i.test(raw.picture)
        ? raw.picture
        : '',
    // A truncated locale is invalid.
    locale:
      /^[A-Za-z\d_.@-]+$/.test(raw.locale) && raw.locale.length <= longestLocale ? raw.locale : '',
  }
}

/**
 * Truncates a text to one line of at most this many characters, without splitting a surrogate pair.
 */
function shorten(text: string, longest: number): string {
  const line = text.replace(/\p{Cs}/gu, '\ufffd').replace(/[\s\p{Cc}]+/gu, ' ')
  return [...line.trim()].slice(0, longest).join('').trim()
}
