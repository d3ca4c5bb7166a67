import type { OAuthProvider } from '../../config/config.ts'
import { createAddresses } from '../../http/addresses.ts'
import { nobody } from '../../http/callers.ts'
import { type Answer, failure } from '../../http/envelope.ts'
import type { Incoming } from '../../http/incoming.ts'
import { languageOf, languageVary } from '../../http/language.ts'
import { asksForPage } from '../../http/method.ts'
import type { DoorPlan, Passage } from '../../http/threshold.ts'
import { pageHeaders } from '../../pages/headers.ts'
import { AppError, toAppError } from '../../runtime/errors.ts'
import { networkOf } from '../../values/network.ts'
import { createAccountsProvider, PREFIX } from './accounts-provider.ts'
import { confirmPages } from './confirm-pages.ts'
import { createSignInCookies } from './cookies.ts'
import { linkPages } from './link-pages.ts'
import type { OwnAccountsOptions } from './page-deps.ts'
import { refusalOf, showMessage, visitOf } from './page-kit.ts'
import { peoplePages } from './people-pages.ts'
import { securityPages } from './security-pages.ts'
import { signInPages } from './sign-in-pages.ts'
import { sayIn } from './text.ts'
import { renderAccountPage } from './views.ts'

/**
 * The paths of the protocol. The library also accepts other spellings, such as `/sign-in/AUTH/`,
 * which the limit on sign-ins would miss.
 */
const protocolPath = new RegExp(
  `^${PREFIX}/(?:auth(?:/[\\w-]+)?|token|me|jwks|\\.well-known/openid-configuration)$`,
)

/**
 * Forms that work during maintenance. People can sign in, and operators can give the proof without
 * which they cannot end the maintenance.
 */
const formsThatGoOn = new Set([`${PREFIX}/interaction/:token`, '/account/confirm'])

/** The provider for the service's own accounts, to be mounted on the gateway. */
export interface OwnAccounts {
  provider: OAuthProvider
  doors: DoorPlan[]
}

/**
 * The sign-in with accounts of the service itself: an OpenID Connect provider below `/sign-in`, and
 * its pages.
 */
export function openOwnAccounts(options: OwnAccountsOptions): OwnAccounts {
  const { services, db, tokens, publicUrl, ownUrl, secure, brand, log } = options
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
      const say = sayIn(language, brand)
      const heading = say('failed_title')
      const links = [{ label: say('again'), href: '/login' }]
      const view = { heading, icon: 'cloud' as const, lead: [say('failed')], links }
      const body = renderAccountPage('message', language, heading, view, brand)
      return { headers: { ...pageHeaders, vary: languageVary }, body }
    },
  })

  const addresses = createAddresses()
  const deps = { ...options, provider, cookies }
  const pages = [signInPages, linkPages, securityPages, confirmPages, peoplePages].flatMap(make =>
    make(deps),
  )
  for (const [method, path, handle] of pages)
    addresses.on(method, path, {
      guards: 'forms',
      // The pages have cookies of their own.
      caller: nobody,
      writes: method === 'POST' && !formsThatGoOn.has(path),
      handle(incoming) {
        provider.prepare(incoming.req)
        return handle(visitOf(incoming, brand), incoming.params.token ?? '')
      },
    })

  const protocol: Passage<null> = {
    route: PREFIX,
    guards: 'nothing',
    caller: nobody,
    writes: false,
    async handle({ req, res, path, address }) {
      if (path === `${PREFIX}/auth`)
        await rateLimits.hit('sign_ins', `network ${networkOf(address)}`, {})
      provider.prepare(req)
      const { answer: answerProtocol } = await provider.current()
      req.url = (req.url ?? '').slice(PREFIX.length).replace(/^(?!\/)/, '/')
      // The library builds its URLs from this field.
      await answerProtocol(Object.assign(req, { baseUrl: PREFIX }), res)
    },
  }

  function find(incoming: Incoming): Passage {
    incoming.res.setHeader('Cache-Control', 'no-store')
    try {
      return addresses.find(incoming)
    } catch (error) {
      const isPage = !(error instanceof AppError && error.code === 'ROUTE_NOT_FOUND')
      if (isPage || !protocolPath.test(incoming.path)) throw error
      return protocol
    }
  }

  function refuse(thrown: unknown, incoming: Incoming): Answer | undefined {
    const { error } = toAppError(thrown)
    if (!asksForPage(incoming.req)) return failure(error)
    const visit = visitOf(incoming, brand)
    showMessage(visit, 'failed', error.status, refusalOf(error, visit.say)?.problem)
    return undefined
  }

  return {
    provider: provider.provider,
    doors: [PREFIX, '/account/security', '/account/people', '/account/confirm'].map(prefix => ({
      prefix,
      find,
      refuse,
    })),
  }
}
