import type { IncomingMessage, RequestListener } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import { type Caller, SESSION_COOKIE, sessionSecret } from '../access/caller.ts'
import { isFromElsewhere, isNavigation, isSilentBrowser } from '../access/origin.ts'
import { writeSecurityEvent } from '../audit-log.ts'
import { isLoopback, type OAuthProvider } from '../config.ts'
import { deviceOf } from '../device.ts'
import { AppError, Forbidden, InvalidInput, toAppError } from '../errors.ts'
import { type Log, loggablePath } from '../log.ts'
import { truncateAddress } from '../network.ts'
import { type AccountService, SignInRefused } from '../services/accounts/account.ts'
import type { SessionService } from '../services/accounts/session.ts'
import type { Tokens } from '../tokens.ts'
import { createKnownDevices } from './known-device.ts'
import { createLinking, LINKING_PATH } from './linking.ts'
import { createOAuth } from './oauth.ts'
import { readReturnTo, withError } from './return-to.ts'
import type { Pending } from './state.ts'

export interface AuthRoutesOptions {
  /** The first one is the default. */
  providers: OAuthProvider[]
  sessions: SessionService
  accounts: AccountService
  tokens: Tokens
  /** Origin of the service, without a trailing slash. */
  publicUrl: () => string
  /** Whether the public URL is https. */
  secure: boolean
  /** Other origins whose pages may act for their visitors. */
  allowedOrigins?: string[]
  clientViewer: (req: IncomingMessage) => Promise<Caller | null>
  log: Log
  /** Client address, as determined by the trusted proxies. */
  addressOf?: (req: IncomingMessage) => string
  /** Timeout of one response of a provider, in milliseconds; tests shorten it. */
  providerTimeoutMs?: number
}

/** The attributes of the session cookie. */
export const sessionCookie = { path: '/', httpOnly: true, sameSite: 'lax' } as const

/** The routes under /auth: docs/contract.md, section 5. The gateway adds CORS and security headers. */
export function createAuthRoutes(options: AuthRoutesOptions): RequestListener {
  const { providers, sessions, accounts, tokens, publicUrl, secure, clientViewer, log } = options
  const { allowedOrigins = [], providerTimeoutMs = 10_000, addressOf = req => req.socket.remoteAddress ?? '' } = options
  const logOf = (res: Response) => log.child({ request_id: requestIdOf(res) })
  const devices = createKnownDevices({ tokens, secure })
  const fromElsewhere = (req: Request) => isFromElsewhere(req, [publicUrl(), ...allowedOrigins])

  const clientOf = (req: Request) => ({
    device: deviceOf(req.headers['user-agent']),
    network: truncateAddress(addressOf(req)),
  })

  const linking = createLinking({ tokens, secure })

  /**
   * The account to which a sign-in adds its identity, when the page of identities requested that. Another page must not request it: it could
   * have signed the browser in at the provider as another user before, whose identity would open the account from then on.
   */
  async function linkTo(req: Request): Promise<string | null> {
    const { link } = readQuery(req, ['link'])
    if (link === undefined) return null
    const caller = await clientViewer(req)
    if (!caller || !linking.isWished(caller, link))
      throw new InvalidInput('link', `Begin at ${publicUrl()}${LINKING_PATH}, and within ten minutes.`)
    return caller.userId
  }

  const oauth = createOAuth({ providers, tokens, publicUrl, secure, linkTo, timeoutMs: providerTimeoutMs })

  const begin: RequestHandler = (req, res, next) => {
    const { provider = providers[0]?.name } = readQuery(req, ['provider', 'return_to', 'link'])
    if (provider === undefined || !providers.some(({ name }) => name === provider)) {
      const names = providers.map(({ name }) => name).join(', ')
      throw new InvalidInput('provider', `There is no such sign-in provider. There is: ${names || 'none'}.`)
    }
    const elsewhere = otherNameOf(req, publicUrl())
    if (elsewhere) return redirect(res, elsewhere)
    return oauth.begin(provider)(req, res, next)
  }

  const callback: RequestHandler = async (req, res) => {
    readQuery(req, ['code', 'state', 'error'])
    const pending = oauth.take(req, res)
    try {
      if (!pending) throw new SignInRefused('invalid_state', 'This browser has not started this sign-in.')
      redirect(res, await (pending.linkTo === null ? signIn(req, res, pending) : offerLink(req, res, pending)))
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      const { reason, cause } = error
      const provider = pending?.provider ?? null
      writeSecurityEvent(logOf(res), 'sign_in_refused', {}, { reason, provider })
      if (cause) logOf(res).warn({ reason, provider, err: cause }, error.message)
      await accounts.noteRefusal(error, { provider: pending?.provider ?? '', ...clientOf(req) })
      redirect(res, withError(publicUrl(), pending?.returnTo ?? null, reason))
    }
  }

  /** @returns the URL to redirect to */
  async function signIn(req: Request, res: Response, pending: Pending): Promise<string> {
    const profile = await oauth.finish(req, res, pending)
    const { userId } = await accounts.signIn(profile, null)
    // A new session every time, to prevent session fixation.
    const old = sessionSecret(req)
    if (old) await sessions.end(old)
    const { device, network } = clientOf(req)
    const known = devices.knows(req, userId)
    const { id, secret, expiresAt } = await sessions.start(userId, { device, address: network, known })
    devices.remember(req, res, userId)
    res.cookie(SESSION_COOKIE, secret, { ...sessionCookie, secure, maxAge: expiresAt - Date.now() })
    const caller = { user_id: userId, session_id: id }
    writeSecurityEvent(logOf(res), 'sign_in', caller, { provider: pending.provider })
    return pending.returnTo ?? `${publicUrl()}/`
  }

  /** Keeps an identity until the user confirms it. @returns the URL of the form */
  async function offerLink(req: Request, res: Response, pending: Pending): Promise<string> {
    const caller = await clientViewer(req)
    // An identity meant for one account must not be offered to another one, or create one.
    if (caller?.userId !== pending.linkTo)
      throw new SignInRefused('invalid_state', 'The session that started this sign-in has ended.')
    const profile = await oauth.finish(req, res, pending)
    if (await accounts.hasIdentity(profile, caller)) return pending.returnTo ?? LINKING_PATH
    res.append('Set-Cookie', linking.offer(caller, profile))
    return `${LINKING_PATH}/confirm`
  }

  const isValid: RequestHandler = async (req, res) => {
    const caller = await clientViewer(req)
    if (!caller) return send(res, { authenticated: false, user_info: null })
    const { userId, email, verifiedEmail, name, picture, via, expiresAt } = caller
    send(res, {
      authenticated: true,
      user_info: { sub: userId, email, email_verified: verifiedEmail !== null, name, picture },
      via,
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    })
  }

  const logout: RequestHandler = async (req, res) => {
    const secret = sessionSecret(req)
    if (secret) {
      const elsewhere = fromElsewhere(req)
      // The link may be on another site, so a page asks for confirmation.
      if (req.method === 'GET' && (elsewhere ? mayFollowLink(req) : isSilentBrowser(req)))
        return redirect(res, '/logout/confirm', 303)
      if (elsewhere) throw new Forbidden('Sign out on a page of this service.')
      const ended = await sessions.end(secret)
      if (ended) writeSecurityEvent(logOf(res), 'sign_out', { user_id: ended.userId, session_id: ended.id })
      res.clearCookie(SESSION_COOKIE, { ...sessionCookie, secure })
    }
    // A form of a page: respond with a page.
    if (req.method === 'POST' && req.headers.accept?.includes('text/html'))
      return redirect(res, readReturnTo(readQuery(req, ['return_to']).return_to) ?? '/', 303)
    send(res, { logout_successful: true })
  }

  const list: RequestHandler = (_req, res) => {
    send(res, Object.fromEntries(providers.map(({ name }) => [name, true])))
  }

  const login: RequestHandler<{ provider: string }> = (req, res) => {
    const { return_to } = readQuery(req, ['return_to'])
    const query = new URLSearchParams({ provider: req.params.provider, ...(return_to ? { return_to } : {}) })
    redirect(res, `/auth/oauth?${query}`)
  }

  const fail: ErrorRequestHandler = (thrown, req, res, next) => {
    // Express cannot decode the path.
    const { error, unexpected } = toAppError(thrown instanceof URIError ? noRoute() : thrown)
    if (unexpected) logOf(res).error({ err: thrown, path: loggablePath(req.originalUrl) }, error.message)
    if (res.headersSent) return next(thrown)
    const retryAfter = error.details.retry_after ?? (error.status >= 500 ? 5 : undefined)
    if (typeof retryAfter === 'number') res.set('Retry-After', String(retryAfter))
    const { status, message, code, details } = error
    res.status(status).json({ status, msg: message, response: { ...details, code } })
  }

  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').set('query parser', 'simple')
  app.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store')
    next()
  })
  // HEAD is refused where GET changes something.
  app.all('/auth/oauth', only(['GET']), begin)
  app.all('/auth/callback', only(['GET']), callback)
  app.all('/auth/is_valid', only(['GET', 'HEAD']), isValid)
  app.all('/auth/logout', only(['GET', 'POST']), logout)
  app.all('/auth/providers', only(['GET', 'HEAD']), list)
  app.all('/auth/:provider/login', only<{ provider: string }>(['GET', 'HEAD']), login)
  app.use(() => {
    throw noRoute()
  })
  app.use(fail)
  return app
}

const noRoute = () => new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')

const only =
  <P>(methods: string[]): RequestHandler<P> =>
  (req, res, next) => {
    if (methods.includes(req.method)) return next()
    res.set('Allow', methods.join(', '))
    throw new AppError('METHOD_NOT_ALLOWED', `This address answers ${methods.join(' and ')} only.`, { allow: methods })
  }

function send(res: Response, response: object): void {
  res.json({ status: 200, msg: 'ok', response })
}

function redirect(res: Response, to: string, status = 302): void {
  res.status(status).location(to).end()
}

/** The named parameters of a query, without empty ones. @throws InvalidInput for a repeated one */
function readQuery<K extends string>(req: Request, names: K[]): Partial<Record<K, string>> {
  const read: Partial<Record<K, string>> = {}
  for (const name of names) {
    const value = req.query[name]
    if (Array.isArray(value)) throw new InvalidInput(name, `Give ${name} once.`)
    if (typeof value === 'string' && value !== '') read[name] = value
  }
  return read
}

/** Whether the request comes from a browser without Fetch Metadata headers, or from a link: then the visitor may intend to sign out. */
const mayFollowLink = (req: Request) => req.headers['sec-fetch-mode'] === undefined || isNavigation(req)

/**
 * The public URL of the sign-in, for a visitor who has opened the service by another name of this computer: the provider redirects to
 * the public name, which does not share cookies with the other. Null for the public name itself.
 */
function otherNameOf(req: Request, publicUrl: string): string | null {
  const host = `http://${req.headers.host}`
  if (!isNavigation(req) || !URL.canParse(host) || !isLoopback(publicUrl) || !isLoopback(host)) return null
  const [asked, known] = [new URL(host), new URL(publicUrl)]
  // Behind a proxy the port differs, and this would redirect in a loop.
  return asked.hostname !== known.hostname && asked.port === known.port ? publicUrl + req.originalUrl : null
}

const requestIdOf = (res: Response) => res.getHeader('X-Request-Id')
