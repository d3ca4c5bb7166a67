import type { Caller } from '../access/caller.ts'
import { callerOf } from '../access/credential.ts'
import { createAddresses } from '../http/addresses.ts'
import type { ShownBrand } from '../http/brand.ts'
import { type Callers, nobody } from '../http/callers.ts'
import { type Answer, failure } from '../http/envelope.ts'
import type { Incoming } from '../http/incoming.ts'
import { languageOf, languageVary } from '../http/language.ts'
import { asksForPage } from '../http/method.ts'
import type { DoorPlan } from '../http/threshold.ts'
import { write } from '../http/write.ts'
import { toAppError } from '../runtime/errors.ts'
import type { Tokens } from '../runtime/tokens.ts'
import type { RefusalReason } from '../services/accounts/profile.ts'
import type { SessionService } from '../services/accounts/session.ts'
import type { Services } from '../services/index.ts'
import type { MaintenanceView } from '../services/maintenance.ts'
import { accountDeletedPage } from './account-deleted.ts'
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
import type { TextKey } from './text.ts'
import { unsubscribePages } from './unsubscribe.ts'
import { type Action, renderPage } from './views.ts'
import { leadingTo, nextOf, type Page, type Redirect, type Reply, type Visit } from './visit.ts'
import { type Words, wordsOf } from './words.ts'
import { workspacePage } from './workspace.ts'

interface Options {
  services: Services
  sessions: SessionService
  tokens: Tokens
  /** Origin of the service, without a trailing slash. */
  publicUrl: () => string
  callers: Callers
  /** Names of the sign-in providers, the default first. */
  providers: string[]
  graphiql: boolean
  /** Whether assistants can connect. */
  assistants: boolean
  /** Whether the apps of Nextcloud and ownCloud can connect. */
  apps: boolean
  brand: ShownBrand
  /** The web console; null if it was not built, undefined if it is disabled. */
  console?: Console | null | undefined
  /** Whether the public URL is https. */
  secure: boolean
}

type Handler = (visit: Visit) => Promise<Reply>

/** Messages for the reasons of a failed sign-in: docs/contract.md, section 5. */
const notices: Record<RefusalReason, TextKey> = {
  invalid_state: 'noticeInvalidState',
  auth_failed: 'noticeFailed',
  provider_unavailable: 'noticeUnavailable',
  identity_taken: 'noticeTaken',
  sign_up_closed: 'noticeClosed',
  maintenance: 'noticeMaintenance',
  email_unverified: 'noticeUnverified',
}

const maintenanceNotice = (
  maintenance: MaintenanceView | null,
  { say, momentOf }: Words,
): string =>
  maintenance
    ? `${say('maintenance', { time: momentOf(maintenance.endsAt).text })} ${maintenance.message}`.trim()
    : ''

function noticeOf(reason: string | null, { say }: Words): string {
  const notice = Object.entries(notices).find(([known]) => known === reason)?.[1]
  return notice ? say(notice) : ''
}

/**
 * Forms that work during maintenance: they only read, sign out, end sessions or unsubscribe (RFC
 * 8058). All other forms are refused.
 */
const formsThatGoOn = new Set([
  ...['/logout', '/sessions', '/share/:token', '/share/:token/download', '/request/:token'],
  ...['/share-target', '/unsubscribe/:token'],
])

/**
 * A "try again" link to the same page with its return path. A page that only accepts a form gets a
 * form.
 */
function againOf({ query }: Incoming, here: string, { say }: Words): Action {
  const next = nextOf(query)
  const href = next === '/' ? here : leadingTo(next, here)
  return { label: say('tryAgain'), href, ...(here === '/logout' ? { post: true } : {}) }
}

/** The HTML pages, including error pages. Everything works without JavaScript. */
export function createPages(options: Options): DoorPlan {
  const { services, sessions, callers, providers, graphiql, apps, brand, secure } = options
  const accounts = providers.includes('accounts')
  const wordsIn = wordsOf(brand)
  const wordsFor = (req: Incoming['req']): Words => wordsIn(languageOf(req))
  const identities = identityPages(options)
  const shares = sharePages({ services, secure, hasConsole: Boolean(options.console) })
  const requests = requestPages({ services, secure })
  const invites = invitePages(services, providers)
  const logins = authorizePages(options)
  const ownSessions = sessionPages(services)
  const unsubscribe = unsubscribePages(services)
  const addresses = createAddresses()
  const on = (method: 'GET' | 'POST', path: string, handler: Handler) =>
    addresses.on(method, path, {
      // Webmail submits the form of RFC 8058 from its own origin. There, the token in the link
      // authorizes the request. Other forms are guarded without a cookie, too: a page of another
      // origin must not use its visitors to guess passwords.
      guards: path.startsWith('/unsubscribe/') ? 'nothing' : 'forms',
      // Most pages need no caller. The others look it up.
      caller: nobody,
      writes: method === 'POST' && !formsThatGoOn.has(path),
      handle: incoming => show(incoming, handler),
    })
  const web = options.console
    ? consolePages(options.console, { storeOrigin: services.downloads.storeOrigin, graphiql, apps })
    : null
  if (web) {
    for (const path of consolePaths) on('GET', path, web.show)
    on('GET', '/console/assets/:token', web.asset)
    on('GET', '/manifest.webmanifest', web.manifest)
    on('POST', '/share-target', web.shared)
  } else for (const path of ['/shared', '/requests']) on('GET', path, async () => ({ to: '/' })) // Always served: without a console, it removes an installed one.
  on('GET', '/service-worker.js', web?.worker ?? sendFarewell)
  const home = homePage(services, { unbuilt: options.console === null })
  on('GET', '/', web?.home ?? home)
  // The landing page, also reachable while the console is at `/`.
  on('GET', '/home', home)
  on('GET', '/workspace/:token', workspacePage(services, { hasConsole: web !== null }))
  on('GET', '/pages/:token', async visit => sendAsset(visit))
  on('GET', '/pages/pdf', pdfFrame)
  for (const kind of ['cmaps', 'standard_fonts', 'wasm'] as const)
    on('GET', `/pages/pdf/${kind}/:token`, pdfResource(kind))
  on('GET', '/account-deleted', accountDeletedPage)
  on('GET', '/login', loginPage(providers))
  on('GET', '/authorize', logins.ask)
  on('POST', '/authorize', logins.answer)
  on('GET', '/device', logins.enterCode)
  on('POST', '/device', logins.answerDevice)
  on('GET', '/identities', identities.show)
  on('POST', '/identities/remove', identities.remove)
  on('GET', '/identities/confirm', identities.ask)
  on('POST', '/identities/confirm', identities.confirm)
  on('GET', '/logout/confirm', askLogout)
  on('POST', '/logout', logout({ sessions, secure }))
  on('GET', '/sessions', ownSessions.show)
  on('POST', '/sessions', ownSessions.change)
  on('GET', '/audit/export', auditExport(services))
  on('GET', '/share/:token', shares.show)
  on('POST', '/share/:token', shares.unlock)
  on('POST', '/share/:token/save', shares.save)
  on('GET', '/share/:token/download', shares.download)
  on('POST', '/share/:token/download', shares.zip)
  on('GET', '/share/:token/preview', shares.preview)
  on('GET', '/request/:token', requests.show)
  on('POST', '/request/:token', requests.enter)
  on('POST', '/request/:token/upload', requests.upload)
  on('GET', '/invite/:token', invites.show)
  on('POST', '/invite/:token', invites.answer)
  on('GET', '/unsubscribe/:token', unsubscribe.show)
  on('POST', '/unsubscribe/:token', unsubscribe.stop)
  on('POST', '/unsubscribe/:token/resume', unsubscribe.resume)

  function answerOf(
    { req, query }: Incoming,
    reply: Page | Redirect,
    caller: Caller | null,
  ): Answer {
    if ('to' in reply) {
      const headers = { location: reply.to, 'cache-control': 'no-store', ...reply.headers }
      return { status: 303, headers, body: '' }
    }
    const words = wordsFor(req)
    const { status, view, data, frame, headers } = reply
    const notice =
      noticeOf(query.get('error'), words) ||
      maintenanceNotice(services.maintenance.current(), words)
    const body = renderPage(
      view,
      words,
      { caller, signIn: '', notice, og: [], graphiql, accounts, brand, ...frame },
      data,
    )
    return { status, headers: { ...pageHeaders, vary: languageVary, ...headers }, body }
  }

  async function show(incoming: Incoming, handler: Handler): Promise<void> {
    const { req, res } = incoming
    const later: (() => Promise<unknown>)[] = []
    try {
      const reply = await handler(visitOf(incoming, later))
      if (reply) write(res, req, answerOf(incoming, reply, null))
    } finally {
      for (const work of later)
        await work().catch(error =>
          incoming.log.warn({ err: error }, 'the work after a page has failed'),
        )
    }
  }

  function visitOf(incoming: Incoming, later: (() => Promise<unknown>)[]): Visit {
    const { req, res, query, address, signal, log, params } = incoming
    let asked: Promise<Caller | null> | undefined
    return {
      req,
      res,
      query,
      address,
      signal,
      here: hereOf(incoming),
      words: wordsFor(req),
      log,
      token: params.token ?? '',
      caller() {
        asked ??= callers.person(incoming)
        return asked
      },
      callerNow: () => callers.person(incoming),
      afterwards: work => later.push(work),
    }
  }

  function refuse(thrown: unknown, incoming: Incoming): Answer {
    const { error } = toAppError(thrown)
    const { req, requestId } = incoming
    if (error.code === 'ROUTE_NOT_FOUND' && !asksForPage(req)) return failure(error)
    const here = hereOf(incoming)
    const found = callerOf(req)
    const caller = found?.via === 'session' ? found : null
    const words = wordsFor(req)
    const again = againOf(incoming, here, words)
    const page = errorPage(error, { caller, here, again, requestId, words })
    return answerOf(incoming, page, caller)
  }

  return { prefix: '/', find: incoming => addresses.find(incoming), refuse }
}

/** The URL of the page itself, without its deeper parts. */
const hereOf = ({ path }: Incoming): string => path.split('/').slice(0, 3).join('/')
