import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ParsedUrlQuery } from 'node:querystring'
import { parseCookie, stringifySetCookie } from 'cookie'
import { z } from 'zod'
import type { Incoming } from '../http/incoming.ts'
import { newSecret, type Tokens } from '../runtime/tokens.ts'
import { readReturnTo } from './return-to.ts'

/** A request under /auth, with the fields that passport and the strategy need. */
export interface SignInRequest extends IncomingMessage {
  query: ParsedUrlQuery
  res: ServerResponse
  /** The request as the gateway passes it on. */
  incoming: Pick<Incoming, 'address' | 'from' | 'log'>
}

/** A sign-in whose browser is at the provider. */
export interface Pending {
  provider: string
  /** The PKCE verifier. */
  verifier: string
  /** The nonce that the ID token must contain. */
  nonce: string
  /** A path of this service, or null for the public address. */
  returnTo: string | null
  /** The account to which the identity will be attached, or null. */
  linkTo: string | null
}

const sealed = z.object({
  state: z.string(),
  provider: z.string(),
  verifier: z.string(),
  nonce: z.string(),
  returnTo: z.string().nullable(),
  linkTo: z.string().nullable(),
})

const purpose = 'sign-in state'
const seconds = 600
// Each sign-in has its own cookie, so that tabs do not conflict. Few are kept, because all must fit
// into the request headers.
const prefix = 'oauth_'
const most = 5

type Done<T extends unknown[]> = (error: Error | null, ...result: T) => void

/**
 * Stores the state of a sign-in in an encrypted cookie, which is named after the state parameter.
 * Any instance can finish the sign-in, but only in the browser that started it.
 */
export function createStateCookies(options: {
  tokens: Tokens
  secure: boolean
  linkTo: (req: SignInRequest) => Promise<string | null>
}) {
  const { tokens, secure, linkTo } = options
  // The path is /auth, because a new sign-in deletes the cookies of earlier ones.
  const cookie = { path: '/auth', httpOnly: true, sameSite: 'lax', secure } as const

  const setCookie = (res: ServerResponse, name: string, value: string, maxAge: number) =>
    res.appendHeader('set-cookie', stringifySetCookie(name, value, { ...cookie, maxAge }))

  async function remember(
    req: SignInRequest,
    provider: string,
    verifier: string,
    nonce: string,
  ): Promise<string> {
    const state = newSecret(16)
    const payload = {
      state,
      provider,
      verifier,
      nonce,
      returnTo: readReturnTo(text(req.query.return_to)),
      linkTo: await linkTo(req),
    }
    const left = Object.keys(cookiesOf(req)).filter(name => name.startsWith(prefix))
    // Browsers send the oldest first.
    for (const name of left.slice(0, Math.max(0, left.length + 1 - most)))
      setCookie(req.res, name, '', 0)
    setCookie(req.res, prefix + state, tokens.seal(purpose, payload, seconds), seconds)
    return state
  }

  function read(req: SignInRequest): z.infer<typeof sealed> | null {
    const state = text(req.query.state)
    const pending = tokens.open(sealed, purpose, state && cookiesOf(req)[prefix + state])
    return pending?.state === state ? pending : null
  }

  return {
    /**
     * The state store of a passport-oauth2 strategy; the library distinguishes the variants by the
     * number of parameters.
     */
    storeOf: (provider: string, nonce: string) => ({
      store(
        req: SignInRequest,
        verifier: string,
        _state: unknown,
        _meta: unknown,
        done: Done<[state?: string]>,
      ): void {
        remember(req, provider, verifier, nonce).then(state => done(null, state), done)
      },
      verify(
        req: SignInRequest,
        _state: unknown,
        _meta: unknown,
        done: Done<[verifier: string | false]>,
      ): void {
        const pending = read(req)
        done(null, pending?.provider === provider && pending.verifier)
      },
    }),

    /**
     * Consumes the sign-in that a callback belongs to, or null. The response deletes its cookie: a
     * state is valid once.
     */
    take(req: SignInRequest): Pending | null {
      const pending = read(req)
      if (pending) setCookie(req.res, prefix + pending.state, '', 0)
      return pending
    },
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

const cookiesOf = (req: IncomingMessage) => parseCookie(req.headers.cookie ?? '')
