import type { Caller, Origin } from '../access/caller.ts'
import { isFromElsewhere } from '../access/origin.ts'
import { createAddresses } from '../http/addresses.ts'
import type { Incoming } from '../http/incoming.ts'
import { asksForPage } from '../http/method.ts'
import { write } from '../http/write.ts'
import { Forbidden, toAppError } from '../runtime/errors.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { RefusalReason } from '../services/accounts/profile.ts'
import type { SessionService } from '../services/accounts/session.ts'
import type { Services } from '../services/index.ts'
import { type MaintenanceView, maintenanceSentence } from '../services/maintenance.ts'
import { sendAsset } from './assets.ts'
import { auditExport } from './audit.ts'
import { authorizePages } from './authorize.ts'
import { type Console, consolePages, consolePaths } from './console.ts'
import { pageHeaders } from './headers.ts'
import { homePage } from './home.ts'
import { identityPages } from './identities.ts'
import { invitePages } from './invite.ts'
import { askLogout, loginPage, logout } from './login.ts'
import { errorPage } from './message.ts'
import { sendFarewell } from './no-console.ts'
import { pdfFrame, pdfResource } from './pdf.ts'
import { requestPages } from './request.ts'
import { sessionPages } from './session.ts'
import { sharePages } from './share.ts'
import { unsubscribePages } from './unsubscribe.ts'
import { type Action, renderPage } from './views.ts'
import { leadingTo, nextOf, type Page, type Redirect, type Reply, type Visit } from './visit.ts'
import { workspacePage } from './workspace.ts'

interface Options {
  services: Services
  sessions: SessionService
  tokens: Tokens
  /** Origin of the service, without a trailing slash. */
  publicUrl: () => string
  findCaller: (req: Incoming['req']) => Promise<Caller | null>
  originOf: (req: Incoming['req'], address: string) => Origin
  /** Names of the sign-in providers, the default first. */
  providers: string[]
  graphiql: boolean
  /** The web console; null if it was not built, undefined if it is disabled. */
  console?: Console | null | undefined
  /** Whether the public URL is https. */
  secure: boolean
  /** Origins whose pages may submit our forms. */
  ownOrigins: () => string[]
}

type Handler = (visit: Visit) => Promise<Reply>

/** Messages for the reasons of a failed sign-in: docs/contract.md, section 5. */
const notices: Record<RefusalReason, string> = {
  invalid_state: 'The sign-in took too long, or was started in another browser. Please try again.',
  auth_failed: 'The sign-in did not succeed. Please try again.',
  provider_unavailable: 'The sign-in provider does not answer. Please try again in a few minutes.',
  identity_taken:
    'Another account has this identity, or its e-mail address. Sign in the way you did before; then you can add other ways to sign in.',
  sign_up_closed:
    'You have no account here, and you cannot create one. Ask the operator for access, or a user to invite you.',
  maintenance:
    'You have no account here yet, and none can be created during the maintenance. Please try again when it has ended.',
  email_unverified:
    'An account has this e-mail address already, and the provider does not confirm that it is yours.',
}

const maintenanceNotice = (maintenance: MaintenanceView | null): string =>
  maintenance ? `${maintenanceSentence(maintenance)} ${maintenance.message}`.trim() : ''

const noticeOf = (reason: string | null): string =>
  Object.entries(notices).find(([known]) => known === reason)?.[1] ?? ''

/**
 * Forms that work during maintenance: they only read, sign out, end sessions or unsubscribe (RFC
 * 8058). All other forms are refused.
 */
const formsThatGoOn = new Set([
  ...['/logout', '/sessions', '/share/{token}', '/share/{token}/download', '/request/{token}'],
  ...['/share-target', '/unsubscribe/{token}'],
])

/**
 * A "try again" link to the same page with its return path. A page that only accepts a form gets a
 * form.
 */
function againOf({ query }: Incoming, here: string): Action {
  const next = nextOf(query)
  const href = next === '/' ? here : leadingTo(next, here)
  return { label: 'Try again', href, ...(here === '/logout' ? { post: true } : {}) }
}

/** The HTML pages, including error pages. Everything works without JavaScript. */
export function createPages(options: Options) {
  const { services, sessions, findCaller, originOf, providers, graphiql, secure, ownOrigins } =
    options
  const accounts = providers.includes('accounts')
  const identities = identityPages(options)
  const shares = sharePages({ services, secure, hasConsole: Boolean(options.console) })
  const requests = requestPages({ services, secure })
  const invites = invitePages(services, providers)
  const logins = authorizePages(options)
  const ownSessions = sessionPages(services)
  const unsubscribe = unsubscribePages(services)
  const addresses = createAddresses<Handler>('There is nothing at this URL.')
  const web = options.console
    ? consolePages(options.console, { storeOrigin: services.downloads.storeOrigin, graphiql })
    : null
  if (web) {
    for (const path of consolePaths) addresses.on('GET', path, web.show)
    addresses.on('GET', '/console/assets/:token', web.asset)
    addresses.on('GET', '/manifest.webmanifest', web.manifest)
    addresses.on('POST', '/share-target', web.shared)
  } else
    for (const path of ['/shared', '/requests'])
      addresses.on('GET', path, async () => ({ to: '/' })) // Always served: without a console, it removes an installed one.
  addresses.on('GET', '/service-worker.js', web?.worker ?? sendFarewell)
  const home = homePage(services, { unbuilt: options.console === null })
  addresses.on('GET', '/', web?.home ?? home)
  // The landing page, also reachable while the console is at `/`.
  addresses.on('GET', '/home', home)
  addresses.on('GET', '/workspace/:token', workspacePage(services, { hasConsole: web !== null }))
  addresses.on('GET', '/pages/:token', async visit => sendAsset(visit))
  addresses.on('GET', '/pages/pdf', pdfFrame)
  for (const kind of ['cmaps', 'standard_fonts', 'wasm'] as const)
    addresses.on('GET', `/pages/pdf/${kind}/:token`, pdfResource(kind))
  addresses.on('GET', '/login', loginPage(providers))
  addresses.on('GET', '/authorize', logins.ask)
  addresses.on('POST', '/authorize', logins.answer)
  addresses.on('GET', '/device', logins.enterCode)
  addresses.on('POST', '/device', logins.answerDevice)
  addresses.on('GET', '/identities', identities.show)
  addresses.on('POST', '/identities/remove', identities.remove)
  addresses.on('GET', '/identities/confirm', identities.ask)
  addresses.on('POST', '/identities/confirm', identities.confirm)
  addresses.on('GET', '/logout/confirm', askLogout)
  addresses.on('POST', '/logout', logout({ sessions, secure }))
  addresses.on('GET', '/sessions', ownSessions.show)
  addresses.on('POST', '/sessions', ownSessions.change)
  addresses.on(
    'GET',
    '/audit/export',
    auditExport(services, ({ req, address }) => findPerson(req, originOf(req, address))),
  )
  addresses.on('GET', '/share/:token', shares.show)
  addresses.on('POST', '/share/:token', shares.unlock)
  addresses.on('POST', '/share/:token/save', shares.save)
  addresses.on('GET', '/share/:token/download', shares.download)
  addresses.on('POST', '/share/:token/download', shares.zip)
  addresses.on('GET', '/share/:token/preview', shares.preview)
  addresses.on('GET', '/request/:token', requests.show)
  addresses.on('POST', '/request/:token', requests.enter)
  addresses.on('POST', '/request/:token/upload', requests.upload)
  addresses.on('GET', '/invite/:token', invites.show)
  addresses.on('POST', '/invite/:token', invites.answer)
  addresses.on('GET', '/unsubscribe/:token', unsubscribe.show)
  addresses.on('POST', '/unsubscribe/:token', unsubscribe.stop)
  addresses.on('POST', '/unsubscribe/:token/resume', unsubscribe.resume)

  function send(
    { req, res, query }: Incoming,
    reply: Page | Redirect,
    caller: Caller | null,
  ): void {
    if ('to' in reply) {
      const headers = { location: reply.to, 'cache-control': 'no-store', ...reply.headers }
      return void write(res, req, { status: 303, headers, body: '' })
    }
    const { status, view, data, frame, headers } = reply
    const notice = noticeOf(query.get('error')) || maintenanceNotice(services.maintenance.current())
    const body = renderPage(
      view,
      { caller, signIn: '', notice, graphiql, accounts, ...frame },
      data,
    )
    write(res, req, { status, headers: { ...pageHeaders, ...headers }, body })
  }

  return async function handle(incoming: Incoming): Promise<void> {
    const { req, res, path, query, address, signal } = incoming
    let asked: Promise<Caller | null> | undefined
    const later: (() => Promise<unknown>)[] = []
    const here = path.split('/').slice(0, 3).join('/')
    try {
      const { answering, params, pattern } = addresses.find(req.method ?? '', path)
      incoming.route = pattern
      // Also checked without a cookie: a page of another origin must not use its visitors to guess
      // passwords. Webmail submits the form of RFC 8058 from its own origin; there, the token in
      // the link authorizes the request.
      if (
        req.method === 'POST' &&
        !path.startsWith('/unsubscribe/') &&
        isFromElsewhere(req, ownOrigins())
      )
        throw new Forbidden(
          'The form comes from a page of another origin. Open the page of this service instead.',
        )
      if (req.method === 'POST' && !formsThatGoOn.has(pattern))
        services.maintenance.requireWritable()
      const visit: Visit = {
        req,
        res,
        query,
        address,
        signal,
        here,
        log: incoming.log,
        token: params.token ?? '',
        caller: () => {
          asked ??= findPerson(req, originOf(req, address))
          return asked
        },
        afterwards: work => later.push(work),
      }
      const reply = await answering(visit)
      if (reply) send(incoming, reply, null)
    } catch (thrown) {
      const { error, unexpected } = toAppError(thrown)
      if (error.code === 'ROUTE_NOT_FOUND' && !asksForPage(req)) throw error
      incoming.noteError(thrown)
      // A request that the visitor aborted is not a failure.
      if (unexpected && !signal.aborted)
        incoming.log.error({ err: error.originalError ?? error }, error.message)
      const caller = (await asked?.catch(() => null)) ?? null
      const requestId = String(res.getHeader('x-request-id'))
      send(
        incoming,
        errorPage(error, { caller, here, again: againOf(incoming, here), requestId }),
        caller,
      )
    }
    for (const work of later)
      await work().catch(error =>
        incoming.log.warn({ err: error }, 'the work after a page has failed'),
      )
  }

  /** The signed-in user. API keys are ignored, because they are for programs. */
  async function findPerson(req: Incoming['req'], from: Origin): Promise<Caller | null> {
    const caller = await findCaller(req)
    return caller?.via === 'session' ? { ...caller, from } : null
  }
}
