import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { ProviderProfile } from '../services/accounts/account.ts'

const seconds = 600
/** Characters of the name and the picture URL, so that the cookie stays small. */
const MAX_NAME = 255
const MAX_PICTURE = 512
const cookieName = 'sign_in_link'
/** The path of the page that confirms it, and of the cookie. */
export const LINKING_PATH = '/identities'

const wish = z.object({ session: z.string() })
const offer = z.object({
  session: z.string(),
  profile: z.object({
    provider: z.string(),
    providerUserId: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    name: z.string(),
    picture: z.string(),
  }),
})

/**
 * Adds an identity to an account, in two steps of the same session: a page of this service starts
 * the sign-in, and once the provider has identified the user, a form that names both confirms it.
 */
export function createLinking({ tokens, secure }: { tokens: Tokens; secure: boolean }) {
  const cookie = { path: LINKING_PATH, httpOnly: true, sameSite: 'lax', secure } as const

  return {
    /** The token in the link to /auth/oauth; only a page of this service can create it. */
    wishOf: ({ credentialId }: Caller): string =>
      tokens.seal('link: wish', { session: credentialId }, seconds),

    /** Whether the token was created in this session. */
    isWished: (caller: Caller, token: string): boolean =>
      caller.via === 'session' &&
      tokens.open(wish, 'link: wish', token)?.session === caller.credentialId,

    /** The cookie that holds an identity until the user confirms it. */
    offer(caller: Caller, profile: ProviderProfile): string {
      const { provider, providerUserId, email, emailVerified, name } = profile
      // A picture URL that is too long for a cookie is stored at the next sign-in.
      const picture = profile.picture.length <= MAX_PICTURE ? profile.picture : ''
      const shown = {
        provider,
        providerUserId,
        email,
        emailVerified,
        name: name.slice(0, MAX_NAME),
        picture,
      }
      const token = tokens.seal(
        'link: offer',
        { session: caller.credentialId, profile: shown },
        seconds,
      )
      return stringifySetCookie(cookieName, token, { ...cookie, maxAge: seconds })
    },

    /** The identity that this session has yet to confirm, or null. */
    offered(caller: Caller, req: IncomingMessage): ProviderProfile | null {
      const held = tokens.open(
        offer,
        'link: offer',
        parseCookie(req.headers.cookie ?? '')[cookieName],
      )
      if (!held || caller.via !== 'session' || held.session !== caller.credentialId) return null
      return { ...held.profile, givenName: '', familyName: '', locale: '' }
    },

    /** The cookie that removes the pending identity. */
    done: (): string => stringifySetCookie(cookieName, '', { ...cookie, maxAge: 0 }),
  }
}
