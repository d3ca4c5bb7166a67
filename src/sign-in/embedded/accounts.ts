import { isFromElsewhere } from '../../access/origin.ts'
import type { OAuthProvider } from '../../config/config.ts'
import { createAddresses } from '../../http/addresses.ts'
import type { Incoming } from '../../http/incoming.ts'
import { languageOf, languageVary } from '../../http/language.ts'
import { asksForPage } from '../../http/method.ts'
import type { Mount } from '../../http/server.ts'
import { pageHeaders } from '../../pages/headers.ts'
import { AppError, Forbidden, toAppError } from '../../runtime/errors.ts'
import { networkOf } from '../../values/network.ts'
import { createAccountsProvider, PREFIX } from './accounts-provider.ts'
import { createSignInCookies } from './cookies.ts'
import { linkPages } from './link-pages.ts'
import type { Handler, OwnAccountsOptions } from './page-deps.ts'
import { refusalOf, showMessage, type Visit, visitOf } from './page-kit.ts'
import { peoplePages } from './people-pages.ts'
import { securityPages } from './security-pages.ts'
import { signInPages } from './sign-in-pages.ts'
import { texts } from './text.ts'
import { renderAccountPage } from './views.ts'

/** The provider of own accounts, to be mounted on the gateway. */
export interface OwnAccounts {
  provider: OAuthProvider
  mounts: Mount[]
}

/**
 * The sign-in with accounts of the service itself: an OpenID Connect provider below `/sign-in`, and
 * its pages.
 */
export function openOwnAccounts(options: OwnAccountsOptions): OwnAccounts {
  const { services, db, tokens, publicUrl, ownUrl, secure, ownOrigins, log } = options
  const { logins, rateLimits } = services
  const cookies = createSignInCookies({ tokens, secure })
  const provider = createAccountsProvider({
    db,
    tokens,
    logins,
    publicUrl,
    ownUrl,
    onError: error => log.warn({ err: error }, 'the sign-in with own accounts failed'),
    errorPage(req) {
      const language = languageOf(req)
      const say = texts[language]
      const heading = say('failed_title')
      const links = [{ label: say('again'), href: '/login' }]
      const view = { heading, icon: 'cloud' as const, lead: [say('failed')], links }
      const body = renderAccountPage('message', language, heading, view)
      return { headers: { ...pageHeaders, vary: languageVary }, body }
    },
  })

  const addresses = createAddresses<Handler>('There is nothing at this URL.')
  const deps = { ...options, provider, cookies }
  const pages = [signInPages, linkPages, securityPages, peoplePages].flatMap(make => make(deps))
  for (const [method, path, handle] of pages) addresses.on(method, path, handle)

  async function handle(incoming: Incoming): Promise<void> {
    const visit = visitOf(incoming)
    incoming.res.setHeader('Cache-Control', 'no-store')
    try {
      await answer(incoming, visit)
    } catch (thrown) {
      if (!asksForPage(incoming.req)) throw thrown
      const { error, unexpected } = toAppError(thrown)
      incoming.noteError(thrown)
      if (unexpected && !incoming.signal.aborted)
        incoming.log.error({ err: error.originalError ?? error }, error.message)
      showMessage(visit, 'failed', error.status, refusalOf(error, visit.say)?.problem)
    }
  }

  async function answer(incoming: Incoming, visit: Visit): Promise<void> {
    const { req, res, path, address } = incoming
    const method = req.method === 'HEAD' ? 'GET' : (req.method ?? '')
    const found = findPage(method, path)
    if (found) {
      incoming.route = found.pattern
      provider.prepare(req)
      // A page of another origin must not send forms of its visitors.
      if (method === 'POST' && isFromElsewhere(req, ownOrigins()))
        throw new Forbidden('Send this form from the page of this service.')
      if (method === 'POST') services.maintenance.requireWritable()
      return found.answering(visit, found.params.token ?? '')
    }
    incoming.route = PREFIX
    if (!path.startsWith(`${PREFIX}/`))
      throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
    if (path === `${PREFIX}/auth`)
      await rateLimits.hit('sign_ins', `network ${networkOf(address)}`, {})
    provider.prepare(req)
    const { answer: answerProtocol } = await provider.current()
    req.url = (req.url ?? '').slice(PREFIX.length).replace(/^(?!\/)/, '/')
    // The library reads it to build its own URLs.
    await answerProtocol(Object.assign(req, { baseUrl: PREFIX }), res)
  }

  /** A page, or undefined for what belongs to the protocol. */
  function findPage(method: string, path: string) {
    try {
      return addresses.find(method, path)
    } catch (error) {
      if (error instanceof AppError && error.code === 'ROUTE_NOT_FOUND') return undefined
      throw error
    }
  }

  return {
    provider: provider.provider,
    mounts: [PREFIX, '/account/security', '/account/people', '/account/confirm'].map(prefix => ({
      prefix,
      routes: true,
      handle,
    })),
  }
}
