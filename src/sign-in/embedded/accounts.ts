import type { Db } from '../../../db/index.ts'
import { writeSecurityEvent } from '../../access/audit-log.ts'
import type { Origin } from '../../access/caller.ts'
import { isFromElsewhere } from '../../access/origin.ts'
import type { OAuthProvider } from '../../config/config.ts'
import { createAddresses } from '../../http/addresses.ts'
import type { Incoming } from '../../http/incoming.ts'
import { asksForPage } from '../../http/method.ts'
import type { Mount } from '../../http/server.ts'
import { pageHeaders } from '../../pages/headers.ts'
import { AppError, Forbidden, toAppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Tokens } from '../../runtime/tokens.ts'
import type { Services } from '../../services/index.ts'
import { networkOf } from '../../values/network.ts'
import { createAccountsProvider, PREFIX } from './accounts-provider.ts'
import { createSignInCookies } from './cookies.ts'
import { languageOf, sayIn } from './language.ts'
import {
  emailField,
  nameField,
  newPasswordField,
  passwordField,
  readFields,
  refusalOf,
  showForm,
  showMessage,
  type Visit,
  visitOf,
} from './page-kit.ts'
import { renderAccountPage } from './views.ts'

export interface OwnAccountsOptions {
  services: Services
  db: Db
  tokens: Tokens
  publicUrl: string
  /** The origin at which this process reaches itself. */
  ownUrl: string
  secure: boolean
  ownOrigins: () => string[]
  originOf: (req: Incoming['req'], address: string) => Origin
  log: Log
}

/** The provider of own accounts, to be mounted on the gateway. */
export interface OwnAccounts {
  provider: OAuthProvider
  mounts: Mount[]
}

type Handler = (visit: Visit, token: string) => Promise<void>

/**
 * The sign-in with accounts of the service itself: an OpenID Connect provider below `/sign-in`, and
 * its pages.
 */
export function openOwnAccounts(options: OwnAccountsOptions): OwnAccounts {
  const { services, db, tokens, publicUrl, ownUrl, secure, ownOrigins, originOf, log } = options
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
      const language = languageOf(req.headers['accept-language'])
      const say = sayIn(language)
      const links = [{ label: say('again'), href: '/login' }]
      const view = { heading: say('failed_title'), icon: 'cloud', lead: [say('failed')] } as const
      const body = renderAccountPage('message', language, view.heading, {
        ...view,
        lead: [...view.lead],
        links,
      })
      return { headers: { ...pageHeaders, vary: 'Accept-Language' }, body }
    },
  })

  /** Signs in the browser that has just created or regained its account. */
  function signInNow(visit: Visit, login: string): void {
    cookies.noteProved(visit.incoming.res, login)
    visit.lead(`/auth/oauth?${new URLSearchParams({ provider: provider.provider.name })}`)
  }

  async function interactionOf({ incoming: { req, res } }: Visit, uid: string) {
    const { oidc } = await provider.current()
    const found = await oidc.interactionDetails(req, res).catch(noSession)
    return found?.uid === uid ? found : undefined
  }

  async function finish(visit: Visit, login: string): Promise<void> {
    const { req, res } = visit.incoming
    await logins.noteSignIn(login)
    cookies.rememberDevice(req, res, login)
    visit.lead(await provider.finish(req, res, login))
  }

  const signInForm = ({ say, incoming }: Visit, email: string) => ({
    heading: say('sign_in_title'),
    icon: 'satchel' as const,
    lead: [say('sign_in_lead')],
    action: incoming.path,
    problem: '',
    hidden: [],
    fields: [emailField(say, email), passwordField(say)],
    buttons: [{ label: say('sign_in') }],
    links: [],
  })

  const registerForm = (
    { say, incoming }: Visit,
    { email, name }: { email: string; name: string },
  ) => ({
    heading: say('first_title'),
    icon: 'satchel' as const,
    lead: [say('first_lead')],
    action: incoming.path,
    problem: '',
    hidden: [],
    fields: [emailField(say, email), nameField(say, name), newPasswordField(say)],
    buttons: [{ label: say('create_account') }],
    links: [],
  })

  const addresses = createAddresses<Handler>('There is nothing at this URL.')

  addresses.on('GET', `${PREFIX}/interaction/:token`, async (visit, uid) => {
    const interaction = await interactionOf(visit, uid)
    if (!interaction) return showMessage(visit, 'ended', 400)
    const { req, res } = visit.incoming
    const proved = cookies.takeProved(req, res)
    if (proved) return finish(visit, proved)
    if (!(await logins.isSetUp())) return showMessage(visit, 'not_set_up', 503)
    const hint = interaction.params.login_hint
    showForm(visit, signInForm(visit, typeof hint === 'string' ? hint : ''))
  })

  addresses.on('POST', `${PREFIX}/interaction/:token`, async (visit, uid) => {
    if (!(await interactionOf(visit, uid))) return showMessage(visit, 'ended', 400)
    const { req, address } = visit.incoming
    const fields = await readFields(visit)
    const [email = '', password = ''] = ['email', 'password'].map(name => fields.get(name) ?? '')
    const again = (refusal: NonNullable<ReturnType<typeof refusalOf>>) =>
      showForm(visit, signInForm(visit, email), refusal)
    try {
      const deviceOf = (login: string) => cookies.deviceOf(req, login)
      const login = await logins.check({ email, password }, { address, deviceOf })
      if (login) return await finish(visit, login.id)
      writeSecurityEvent(
        visit.incoming.log,
        'sign_in_refused',
        {},
        {
          reason: 'wrong_password',
          provider: provider.provider.name,
        },
      )
      again({ status: 422, problem: visit.say('wrong'), field: null, headers: {} })
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      again(refusal)
    }
  })

  addresses.on('GET', `${PREFIX}/first/:token`, async (visit, secret) => {
    const link = await logins.findLink(secret)
    if (link?.kind !== 'first') return showMessage(visit, 'link_gone', 404)
    showForm(visit, registerForm(visit, { email: '', name: '' }))
  })

  addresses.on('POST', `${PREFIX}/first/:token`, async (visit, secret) => {
    const { req, address } = visit.incoming
    const fields = await readFields(visit)
    const [email = '', name = '', password = ''] = ['email', 'name', 'password'].map(
      field => fields.get(field) ?? '',
    )
    try {
      const given = { email, name, password }
      signInNow(visit, await logins.register(secret, given, originOf(req, address)))
    } catch (error) {
      const refusal = refusalOf(error, visit.say)
      if (!refusal) throw error
      if (refusal.problem === visit.say('link_gone')) return showMessage(visit, 'link_gone', 404)
      showForm(visit, registerForm(visit, { email, name }), refusal)
    }
  })

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
    const found = findRoute(method, path)
    if (found) {
      incoming.route = found.pattern
      provider.prepare(req)
      // A page of another origin must not send forms of its visitors.
      if (method === 'POST' && isFromElsewhere(req, ownOrigins()))
        throw new Forbidden('Send this form from the page of this service.')
      return found.answering(visit, found.params.token ?? '')
    }
    incoming.route = PREFIX
    if (path === `${PREFIX}/auth`)
      await rateLimits.hit('sign_ins', `network ${networkOf(address)}`, {})
    provider.prepare(req)
    const { answer: answerProtocol } = await provider.current()
    req.url = (req.url ?? '').slice(PREFIX.length).replace(/^(?!\/)/, '/')
    // The library reads it to build its own URLs.
    await answerProtocol(Object.assign(req, { baseUrl: PREFIX }), res)
  }

  /** A page, or undefined for what belongs to the protocol. */
  function findRoute(method: string, path: string) {
    try {
      return addresses.find(method, path)
    } catch (error) {
      if (error instanceof AppError && error.code === 'ROUTE_NOT_FOUND') return undefined
      throw error
    }
  }

  return {
    provider: provider.provider,
    mounts: [{ prefix: PREFIX, routes: true, handle }],
  }
}

function noSession(error: unknown): undefined {
  if (error instanceof Error && error.name === 'SessionNotFound') return undefined
  throw error
}
