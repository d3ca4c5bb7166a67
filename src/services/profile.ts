/** What a provider says about a person. Texts as they came, "" for what it does not say. */
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
  /** What else it says, as texts by name: one, or those of a list. */
  claims?: Readonly<Record<string, readonly string[]>>
}

/** A profile that fits the columns, with what the account is known by: null where the provider does not vouch for the address. */
export type Profile = ProviderProfile & { verifiedEmail: string | null }

export type RefusalReason = 'auth_failed' | 'identity_taken' | 'email_unverified' | 'invalid_state' | 'sign_up_closed'

/** A sign-in that does not lead to an account; its reason is told to the client. */
export class SignInRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SignInRefused'
    this.reason = reason
  }
}

const longestEmail = 320
const longestId = 255
const longestName = 255
const longestPicture = 2048
const longestLocale = 35

/** The form in which addresses are compared. */
export function canonicalEmail(email: string): string {
  return email.normalize('NFC').toLowerCase()
}

/** @throws SignInRefused `auth_failed` for a profile without a usable id or e-mail address */
export function readProfile(raw: ProviderProfile): Profile {
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
