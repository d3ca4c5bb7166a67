import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import { stringifySetCookie } from 'cookie'
import { writeSecurityEvent } from '../access/audit-log.ts'
import type { Caller } from '../access/caller.ts'
import { SESSION_COOKIE, sessionSecret } from '../access/credential.ts'
import { isFromElsewhere, isNavigation, isSilentBrowser } from '../access/origin.ts'
import { isLoopback, type OAuthProvider } from '../config/config.ts'
import { createAddresses } from '../http/addresses.ts'
import { nobody } from '../http/callers.ts'
import { type Answer, answer, success } from '../http/envelope.ts'
import { languageOf } from '../http/language.ts'
import type { DoorPlan, Passage } from '../http/threshold.ts'
import { write } from '../http/write.ts'
import { Forbidden, InvalidInput } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import type { Tokens } from '../runtime/tokens.ts'
import {
  type AccountService,
  type ProviderProfile,
  refusalReasons,
  SignInRefused,
} from '../services/accounts/account.ts'
import type { SessionService } from '../services/accounts/session.ts'
import type { GroupMembershipService } from '../services/workspaces/group-membership.ts'
import { forWords, type Measures, silentMeasures } from '../telemetry/telemetry.ts'
import { deviceOf } from '../values/device.ts'
import { truncateAddress } from '../values/network.ts'
import { createKnownDevices } from './known-device.ts'
import { createLinking, LINKING_PATH } from './linking.ts'
import { createOAuth } from './oauth.ts'
import { readReturnTo, withError } from './return-to.ts'
import { createProviderSignOut, SIGN_OUT_PATH, sessionCookie, signOut } from './sign-out.ts'
import type { Pending, SignInRequest } from './state.ts'

export interface AuthRoutesOptions {
  /** The first provider is the default. */
  providers: OAuthProvider[]
  sessions: SessionService
  accounts: AccountService
  groupMemberships?: GroupMembershipService
  tokens: Tokens
  /** Origin of the service, without a trailing slash. */
  publicUrl: () => string
  /** Whether the public URL is https. */
  secure: boolean
  /** Other origins whose pages may act for their visitors. */
  allowedOrigins?: string[]
  clientViewer: (req: IncomingMessage) => Promise<Caller | null>
  /** Timeout of one response of a provider, in milliseconds; tests shorten it. */
  providerTimeoutMs?: number
  /** Logs unreachable providers. */
  log?: Log
  measures?: Measures
}

/** @returns undefined if the response has already been sent */
type Handler = (req: SignInRequest, provider: string) => Promise<Answer | undefined> | Answer

/**
 * The routes under /auth: docs/contract.md, section 5. The gateway adds CORS and security headers.
 */
export function createAuthRoutes(options: AuthRoutesOptions): DoorPlan {
  const {
    providers,
    sessions,
    accounts,
    groupMemberships,
    tokens,
    publicUrl,
    secure,
    clientViewer,
  } = options
  const {
    allowedOrigins = [],
    providerTimeoutMs: timeoutMs = 10_000,
    log,
    measures = silentMeasures,
  } = options
  const counted = forWords(['signed_in', ...refusalReasons], outcome =>
    measures.counter('signIns', { outcome }),
  )
  const devices = createKnownDevices({ tokens, secure })
  const fromElsewhere = (req: IncomingMessage) =>
    isFromElsewhere(req, [publicUrl(), ...allowedOrigins])

  const clientOf = ({ headers, incoming }: SignInRequest) => ({
    device: deviceOf(headers['user-agent']),
    network: truncateAddress(incoming.address),
    from: incoming.from,
  })

  const linking = createLinking({ tokens, secure })

  /**
   * The account to which a sign-in adds its identity, if the identities page requested that. No
   * other page may request it. Otherwise an attacker could first sign the browser in to the
   * provider as another user, whose identity would then open the account.
   */
  async function linkTo(req: SignInRequest): Promise<string | null> {
    const { link } = readQuery(req, ['link'])
    if (link === undefined) return null
    const caller = await clientViewer(req)
    if (!caller || !linking.isWished(caller, link))
      throw new InvalidInput(
        'link',
        `Start at ${publicUrl()}${LINKING_PATH} and finish within ten minutes.`,
      )
    return caller.userId
  }

  const oauth = createOAuth({ providers, tokens, publicUrl, secure, linkTo, timeoutMs, log })

  const providerSignOut = createProviderSignOut({ ...options, oauth })

  const begin: Handler = async req => {
    const { provider = providers[0]?.name } = readQuery(req, ['provider', 'return_to', 'link'])
    if (provider === undefined || !providers.some(({ name }) => name === provider)) {
      const names = providers.map(({ name }) => name).join(', ')
      throw new InvalidInput(
        'provider',
        `There is no such sign-in provider. Known providers: ${names || 'none'}.`,
      )
    }
    const elsewhere = otherNameOf(req, publicUrl())
    if (elsewhere) return redirect(elsewhere)
    try {
      await oauth.begin(req, provider)
      return undefined
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      return redirect(
        withError(publicUrl(), readReturnTo(readQuery(req, ['return_to']).return_to), error.reason),
      )
    }
  }

  const callback: Handler = async req => {
    readQuery(req, ['code', 'state', 'error', 'iss'])
    const pending = oauth.take(req)
    try {
      if (!pending)
        throw new SignInRefused('invalid_state', 'This browser has not started this sign-in.')
      return redirect(
        await (pending.linkTo === null ? signIn(req, pending) : offerLink(req, pending)),
      )
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error
      const { reason, cause } = error
      const provider = pending?.provider ?? null
      counted[reason]()
      writeSecurityEvent(req.incoming.log, 'sign_in_refused', {}, { reason, provider })
      if (cause) req.incoming.log.warn({ reason, provider, err: cause }, error.message)
      await accounts.noteRefusal(error, { provider: pending?.provider ?? '', ...clientOf(req) })
      return redirect(withError(publicUrl(), pending?.returnTo ?? null, reason))
    }
  }

  /** @returns the URL to redirect to */
  async function signIn(req: SignInRequest, pending: Pending): Promise<string> {
    const identified = await oauth.finish(req, pending)
    const { profile, openId } = identified
    const { userId } = await accounts.signIn(profile, null)
    await applyGroups(req, userId, profile)
    // A new session every time, to prevent session fixation.
    const old = sessionSecret(req)
    if (old) await sessions.end(old)
    const { device, network, from } = clientOf(req)
    const known = devices.knows(req, userId)
    const { id, secret, expiresAt } = await sessions.start(
      userId,
      { device, address: network, known, from, language: languageOf(req) },
      openId && { provider: pending.provider, sid: openId.sid, issuedAt: openId.issuedAt },
    )
    const maxAge = Math.floor((expiresAt - Date.now()) / 1000)
    req.res.appendHeader('set-cookie', [
      devices.remember(req, userId),
      providerSignOut.remember(pending.provider, identified, maxAge),
      stringifySetCookie(SESSION_COOKIE, secret, { ...sessionCookie, secure, maxAge }),
    ])
    const caller = { user_id: userId, session_id: id }
    counted.signed_in()
    writeSecurityEvent(req.incoming.log, 'sign_in', caller, { provider: pending.provider })
    return pending.returnTo ?? `${publicUrl()}/`
  }

  /** Applies the roles of the groups, and logs the changes. */
  async function applyGroups(
    req: SignInRequest,
    userId: string,
    profile: ProviderProfile,
  ): Promise<void> {
    const { log } = req.incoming
    const { provider, elsewhere = [] } = profile
    if (elsewhere.length > 0)
      log.warn(
        { provider, claims: elsewhere },
        'the sign-in provider states these claims elsewhere, so they are not read',
      )
    for (const {
      workspaceId,
      what,
      role = null,
      provider: by = provider,
    } of (await groupMemberships?.apply(userId, profile)) ?? []) {
      const subject = { workspace_id: workspaceId, user_id: userId, provider: by, role }
      if (what === 'joined') writeSecurityEvent(log, 'member_joined', {}, subject)
      else if (what === 'role_changed') writeSecurityEvent(log, 'role_changed', {}, subject)
      else if (what === 'removed') writeSecurityEvent(log, 'member_removed', {}, subject)
      else if (what === 'unreadable_claim')
        log.warn(
          subject,
          'the claim GROUP_CLAIM of the sign-in provider is no list of texts, so no role is changed',
        )
      else log.warn({ ...subject, reason: what }, 'a group of the sign-in provider gives no role')
    }
  }

  /** Stores an identity until the user confirms it. @returns the URL of the form */
  async function offerLink(req: SignInRequest, pending: Pending): Promise<string> {
    const caller = await clientViewer(req)
    // An identity meant for one account must not be offered to another one, or create one.
    if (caller?.userId !== pending.linkTo)
      throw new SignInRefused('invalid_state', 'The session that started this sign-in has ended.')
    const { profile } = await oauth.finish(req, pending)
    if (await accounts.hasIdentity(profile, caller)) return pending.returnTo ?? LINKING_PATH
    req.res.appendHeader('set-cookie', linking.offer(caller, profile))
    return `${LINKING_PATH}/confirm`
  }

  const isValid: Handler = async req => {
    const caller = await clientViewer(req)
    if (!caller) return answer(success({ authenticated: false, user_info: null }))
    const { userId, email, verifiedEmail, name, picture, via, expiresAt } = caller
    return answer(
      success({
        authenticated: true,
        user_info: { sub: userId, email, email_verified: verifiedEmail !== null, name, picture },
        via,
        expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      }),
    )
  }

  const logout: Handler = async req => {
    const secret = sessionSecret(req)
    // A form of a page gets a page as the response.
    const isForm = req.method === 'POST' && req.headers.accept?.includes('text/html') === true
    let goOn: string | null = null
    if (secret) {
      const elsewhere = fromElsewhere(req)
      // The link may be on another site, so a page asks for confirmation.
      if (req.method === 'GET' && (elsewhere ? mayFollowLink(req) : isSilentBrowser(req)))
        return redirect('/logout/confirm', 303)
      if (elsewhere) throw new Forbidden('Sign out on a page of this service.')
      const { res, incoming } = req
      goOn = await signOut(
        secret,
        { res, log: incoming.log, mayGoOn: isForm },
        { sessions, secure },
      )
    }
    if (isForm) {
      const to = readReturnTo(readQuery(req, ['return_to']).return_to) ?? '/'
      return redirect(goOn ? `${goOn}?${new URLSearchParams({ return_to: to })}` : to, 303)
    }
    return answer(success({ logout_successful: true }))
  }

  const list: Handler = () =>
    answer(success(Object.fromEntries(providers.map(({ name }) => [name, true]))))

  const login: Handler = (req, provider) => {
    const { return_to } = readQuery(req, ['return_to'])
    const query = new URLSearchParams({ provider, ...(return_to ? { return_to } : {}) })
    return redirect(`/auth/oauth?${query}`)
  }

  const addresses = createAddresses()
  // HEAD is refused where GET changes something.
  addresses.on('GET', '/auth/oauth', passageOf(begin, ['GET']))
  addresses.on('GET', '/auth/callback', passageOf(callback, ['GET']))
  addresses.on('GET', '/auth/is_valid', passageOf(isValid, ['GET', 'HEAD']))
  addresses.on('GET', '/auth/logout', passageOf(logout, ['GET', 'POST']))
  addresses.on('GET', SIGN_OUT_PATH, passageOf(providerSignOut.leave, ['GET']))
  addresses.on('GET', '/auth/backchannel_logout', passageOf(providerSignOut.backChannel, ['POST']))
  addresses.on('GET', '/auth/providers', passageOf(list, ['GET', 'HEAD']))
  addresses.on('GET', '/auth/:provider/login', passageOf(login, ['GET', 'HEAD']))

  return {
    prefix: '/auth',
    find(incoming) {
      incoming.res.setHeader('Cache-Control', 'no-store')
      return addresses.find(incoming, 'GET')
    },
  }
}

/**
 * The passage of a route. The routes find their callers and judge foreign pages themselves, because
 * a link on another site may start a sign-in, and gets a question before it ends a session.
 */
const passageOf = (handle: Handler, methods: string[]): Omit<Passage<null>, 'route'> => ({
  methods,
  guards: 'nothing',
  caller: nobody,
  // During maintenance, accounts can still sign in. The services refuse new accounts.
  writes: false,
  async handle(incoming) {
    const { res, query, params } = incoming
    const req = Object.assign(incoming.req, { query: parse(query.toString()), res, incoming })
    const given = await handle(req, params.provider ?? '')
    if (given) write(res, req, given)
  },
})

const redirect = (location: string, status = 302): Answer => ({
  status,
  headers: { location },
  body: '',
})

/** The named parameters of a query, without empty ones. @throws InvalidInput for a repeated one */
function readQuery<K extends string>(req: SignInRequest, names: K[]): Partial<Record<K, string>> {
  const read: Partial<Record<K, string>> = {}
  for (const name of names) {
    const value = req.query[name]
    if (Array.isArray(value)) throw new InvalidInput(name, `Give ${name} once.`)
    if (typeof value === 'string' && value !== '') read[name] = value
  }
  return read
}

/**
 * Whether the request comes from a browser without Fetch Metadata headers, or from a link: then the
 * visitor may intend to sign out.
 */
const mayFollowLink = (req: IncomingMessage) =>
  req.headers['sec-fetch-mode'] === undefined || isNavigation(req)

/**
 * The public URL of the sign-in, for a visitor who has opened the service by another name of this
 * computer: the provider redirects to the public name, which does not share cookies with the other.
 * Null for the public name itself.
 */
function otherNameOf(req: IncomingMessage, publicUrl: string): string | null {
  const host = `http://${req.headers.host}`
  if (!isNavigation(req) || !URL.canParse(host) || !isLoopback(publicUrl) || !isLoopback(host))
    return null
  const [asked, known] = [new URL(host), new URL(publicUrl)]
  // Behind a proxy the port differs, and this would redirect in a loop.
  return asked.hostname !== known.hostname && asked.port === known.port ? publicUrl + req.url : null
}
