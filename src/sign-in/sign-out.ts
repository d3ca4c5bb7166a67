import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import escapeHtml from 'escape-html'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import { writeSecurityEvent } from '../access/audit-log.ts'
import type { Caller } from '../access/caller.ts'
import { SESSION_COOKIE } from '../access/credential.ts'
import type { OAuthProvider } from '../config/config.ts'
import { readWhole } from '../http/body.ts'
import { type Answer, answer, success } from '../http/envelope.ts'
import { InvalidInput } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { ProviderSession, SessionService } from '../services/accounts/session.ts'
import { DiscoveryFailed, isIssuerOf } from './discovery.ts'
import { checkLogoutToken } from './id-token.ts'
import type { Identified, OAuth } from './oauth.ts'
import { readReturnTo } from './return-to.ts'
import type { SignInRequest } from './state.ts'

/** The path at which a browser signs out at its provider, after signing out here. */
export const SIGN_OUT_PATH = '/auth/sign_out'

const cookieName = 'provider_session'
const purpose = 'provider session'
/**
 * The maximum length of an ID token that fits into an encrypted cookie. Without the token, the
 * provider asks the person to confirm.
 */
const MAX_ID_TOKEN = 2500
const MAX_FORM_BYTES = 64 * 1024

const sealed = z.object({ provider: z.string(), idToken: z.string().nullable() })

/** The attributes of the session cookie. */
export const sessionCookie = { path: '/', httpOnly: true, sameSite: 'lax' } as const

/** The attributes of the cookie of the provider's session. */
const providerCookie = { path: SIGN_OUT_PATH, httpOnly: true, sameSite: 'lax' } as const
const withoutProvider = (secure: boolean) =>
  stringifySetCookie(cookieName, '', { ...providerCookie, secure, maxAge: 0 })

/**
 * Ends the session of a secret, if there is one. The response removes the session cookie, and the
 * provider's cookie unless the browser continues to the provider.
 * @param mayGoOn whether the browser can be redirected
 * @returns the URL at which the browser signs out of its provider, or null
 */
export async function signOut(
  secret: string | undefined,
  { res, log, mayGoOn }: { res: ServerResponse; log: Log; mayGoOn: boolean },
  { sessions, secure }: { sessions: SessionService; secure: boolean },
): Promise<string | null> {
  const ended = secret ? await sessions.end(secret) : null
  if (ended) writeSecurityEvent(log, 'sign_out', { user_id: ended.userId, session_id: ended.id })
  const goOn = mayGoOn && ended?.provider ? SIGN_OUT_PATH : null
  res.appendHeader('set-cookie', [
    stringifySetCookie(SESSION_COOKIE, '', { ...sessionCookie, secure, maxAge: 0 }),
    ...(goOn === null ? [withoutProvider(secure)] : []),
  ])
  return goOn
}

interface Options {
  providers: OAuthProvider[]
  oauth: OAuth
  sessions: SessionService
  tokens: Tokens
  publicUrl: () => string
  secure: boolean
  clientViewer: (req: IncomingMessage) => Promise<Caller | null>
}

/**
 * Sign-out at OpenID Connect providers, started here (RP-Initiated Logout 1.0) or there
 * (Back-Channel Logout 1.0).
 */
export function createProviderSignOut({
  providers,
  oauth,
  sessions,
  tokens,
  publicUrl,
  secure,
  clientViewer,
}: Options) {
  /** The URL that ends a provider's session, or null if the session should not or cannot end. */
  async function endSessionUrl({
    provider: name,
    idToken,
  }: z.output<typeof sealed>): Promise<string | null> {
    const { provider, openId } = (await oauth.openIdOf(name).catch(unlessUnavailable)) ?? {}
    if (!provider?.signOut || !openId?.endSessionUrl) return null
    const url = new URL(openId.endSessionUrl)
    url.searchParams.set('client_id', provider.clientId)
    url.searchParams.set('post_logout_redirect_uri', `${publicUrl()}/`)
    if (idToken !== null) url.searchParams.set('id_token_hint', idToken)
    return url.href
  }

  return {
    /**
     * The Set-Cookie that remembers the session of the provider, for as long as the session here.
     * If the provider's session should not end with it, removes the cookie of an earlier session,
     * which may belong to another person.
     */
    remember(name: string, { openId }: Identified, seconds: number): string {
      const provider = providers.find(known => known.name === name)
      if (!provider?.signOut || !openId) return withoutProvider(secure)
      const idToken = openId.idToken.length <= MAX_ID_TOKEN ? openId.idToken : null
      const value = tokens.seal(purpose, { provider: name, idToken }, seconds)
      return stringifySetCookie(cookieName, value, { ...providerCookie, secure, maxAge: seconds })
    },

    /**
     * Redirects a browser without a session to its provider. A browser with a session may have
     * followed a foreign link, and is sent back.
     */
    async leave(req: SignInRequest): Promise<Answer> {
      const { return_to } = req.query
      const back: Answer = {
        status: 303,
        headers: {
          location: readReturnTo(typeof return_to === 'string' ? return_to : undefined) ?? '/',
        },
        body: '',
      }
      const held = tokens.open(sealed, purpose, parseCookie(req.headers.cookie ?? '')[cookieName])
      if (!held || (await clientViewer(req))) return back
      req.res.appendHeader('set-cookie', withoutProvider(secure))
      const url = await endSessionUrl(held)
      return url === null ? back : leadingTo(url)
    },

    /**
     * Ends the sessions that a logout token names. @throws InvalidInput for an invalid token
     */
    async backChannel(req: SignInRequest): Promise<Answer> {
      const token = (await readForm(req)).get('logout_token') ?? ''
      const { provider, ...whose } = await identify(token)
      const ended = await sessions.endAtProvider({ provider, ...whose })
      for (const { id, userId } of ended)
        writeSecurityEvent(
          req.incoming.log,
          'sign_out',
          { user_id: userId, session_id: id },
          { provider },
        )
      return answer(success({ sessions_ended: ended.length }))
    },
  }

  async function identify(
    token: string,
  ): Promise<Required<ProviderSession> & { subject: string | null }> {
    const issuer = issuerOf(token)
    const causes: unknown[] = []
    // The token is not verified yet, and anyone can send one, so contact only the provider that it
    // names.
    for (const provider of providers.filter(
      known => issuer !== undefined && isIssuerOf(known, issuer),
    )) {
      try {
        const found = await oauth.openIdOf(provider.name)
        if (found)
          return {
            provider: provider.name,
            ...(await checkLogoutToken(token, found.openId, provider.clientId)),
          }
      } catch (error) {
        causes.push(error)
      }
    }
    const [cause] = causes
    const reason =
      cause instanceof Error ? reasonOf(cause) : 'No provider of this service has its issuer.'
    throw new InvalidInput('logout_token', `The logout token is not valid. ${reason}`)
  }
}

// The message of a failed discovery is for the operator.
const reasonOf = (error: Error) =>
  error instanceof DiscoveryFailed
    ? 'Its issuer does not respond at the moment. Send it again later.'
    : error.message

function unlessUnavailable(error: unknown): null {
  if (error instanceof DiscoveryFailed) return null
  throw error
}

function issuerOf(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token)
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

/**
 * A page, not a redirect: browsers apply the `form-action` policy of a form's page to the redirects
 * after the form.
 */
function leadingTo(url: string): Answer {
  const href = escapeHtml(url)
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      refresh: `0;url=${url}`,
    },
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Signed out</title></head>
<body><h1>You are signed out</h1><p><a href="${href}">Sign out of the sign-in provider, too</a></p></body>
</html>
`,
  }
}

async function readForm(req: SignInRequest): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new InvalidInput(
      'content-type',
      'Send the logout token as application/x-www-form-urlencoded.',
    )
  const bytes = await readWhole(req, MAX_FORM_BYTES, {
    tooLarge: () =>
      new InvalidInput('body', `The body may have up to ${MAX_FORM_BYTES / 1024} KiB.`),
    broken: () => new InvalidInput('body', 'The body ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8'))
}
