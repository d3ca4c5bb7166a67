import { isFromElsewhere } from '../auth/origin.ts'
import type { Viewer } from '../auth/viewer.ts'
import { AppError, Forbidden, toAppError } from '../errors.ts'
import type { Incoming } from '../gateway/http.ts'
import { allowOnly, asksForPage } from '../rest/method.ts'
import { write } from '../rest/router.ts'
import type { Services } from '../services/index.ts'
import type { SessionService } from '../services/session.ts'
import { sendAsset } from './assets.ts'
import { homePage } from './home.ts'
import { invitePages } from './invite.ts'
import { loginPage, logout } from './login.ts'
import { errorPage } from './message.ts'
import { sharePages } from './share.ts'
import { renderPage } from './views.ts'
import type { Page, Redirect, Reply, Visit } from './visit.ts'

interface Options {
  services: Services
  sessions: SessionService
  findViewer: (req: Incoming['req']) => Promise<Viewer | null>
  /** Names of the sign-in providers, the default first. */
  providers: string[]
  graphiql: boolean
  /** Whether the public address is https. */
  secure: boolean
  /** Origins whose pages may send our forms. */
  ownOrigins: () => string[]
}

type Handler = (visit: Visit) => Promise<Reply>

interface Route {
  pattern: RegExp
  GET?: Handler
  POST?: Handler
}

const policy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'media-src', 'object-src', 'frame-src', 'connect-src', 'form-action'].map(
    what => `${what} 'self'`,
  ),
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  // The addresses of shares and invites are secrets, and the other pages are for one person.
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
}

/** Reasons why a sign-in has failed: contract, section 5. */
const notices = new Map([
  ['invalid_state', 'The sign-in took too long, or was begun in another browser. Please try again.'],
  ['auth_failed', 'The sign-in did not succeed. Please try again.'],
  ['identity_taken', 'This identity belongs to another account already.'],
  ['email_unverified', 'An account has this e-mail address already, and the provider does not vouch that it is yours.'],
])

/** The pages for people, and what browsers are told where there is nothing. Everything works without a script. */
export function createPages({ services, sessions, findViewer, providers, graphiql, secure, ownOrigins }: Options) {
  const shares = sharePages({ services, secure })
  const invites = invitePages(services)
  const routes: Route[] = [
    { pattern: /^\/$/, GET: homePage(services) },
    { pattern: /^\/pages\/([^/]+)$/, GET: async visit => sendAsset(visit) },
    { pattern: /^\/login$/, GET: loginPage(providers) },
    { pattern: /^\/logout$/, POST: logout({ sessions, secure }) },
    { pattern: /^\/share\/([^/]+)$/, GET: shares.show, POST: shares.unlock },
    { pattern: /^\/share\/([^/]+)\/download$/, GET: shares.download },
    { pattern: /^\/share\/([^/]+)\/preview$/, GET: shares.preview },
    { pattern: /^\/invite\/([^/]+)$/, GET: invites.show, POST: invites.answer },
  ]

  /** What answers a request. @throws METHOD_NOT_ALLOWED, FORBIDDEN */
  function handlerOf({ req }: Incoming, route: Route): Handler {
    allowOnly(req, ...(route.GET ? ['GET', 'HEAD'] : []), ...(route.POST ? ['POST'] : []))
    const handler = req.method === 'POST' ? route.POST : route.GET
    if (!handler) throw new TypeError('A method that is allowed has no handler.')
    // Without a cookie, too: a page of somebody else must not let its visitors guess at passwords.
    if (req.method === 'POST' && isFromElsewhere(req, ownOrigins()))
      throw new Forbidden('The form comes from a page of another origin. Open the page of this service instead.')
    return handler
  }

  function send({ req, res, query }: Incoming, reply: Page | Redirect, viewer: Viewer | null): void {
    if ('to' in reply) {
      const headers = { location: reply.to, 'cache-control': 'no-store', ...reply.headers }
      return void write(res, req, { status: 303, headers, body: '' })
    }
    const { status, view, data, frame, headers } = reply
    const notice = notices.get(query.get('error') ?? '') ?? ''
    const body = renderPage(view, { viewer, signIn: '', notice, graphiql, ...frame }, data)
    write(res, req, { status, headers: { ...pageHeaders, ...headers }, body })
  }

  return async function handle(incoming: Incoming): Promise<void> {
    const { req, res, path, query, address, signal } = incoming
    const found = routes.flatMap(route => {
      const match = route.pattern.exec(path)
      return match ? [{ route, token: match[1] ?? '' }] : []
    })[0]
    const nothing = new AppError('ROUTE_NOT_FOUND', 'There is nothing at this address.')
    if (!found && !asksForPage(req)) throw nothing

    let asked: Promise<Viewer | null> | undefined
    const later: (() => Promise<unknown>)[] = []
    const here = path.split('/').slice(0, 3).join('/')
    try {
      if (!found) throw nothing
      const visit: Visit = {
        ...{ req, res, query, address, signal, here },
        token: found.token,
        viewer: () => {
          asked ??= findPerson(req)
          return asked
        },
        afterwards: work => later.push(work),
      }
      const reply = await handlerOf(incoming, found.route)(visit)
      if (reply) send(incoming, reply, null)
    } catch (thrown) {
      const { error, unexpected } = toAppError(thrown)
      // What ends because the visitor has gone is no failure.
      if (unexpected && !signal.aborted) incoming.log.error({ err: error.originalError ?? error }, error.message)
      const viewer = (await asked?.catch(() => null)) ?? null
      send(incoming, errorPage(error, { viewer, here, requestId: String(res.getHeader('x-request-id')) }), viewer)
    }
    for (const work of later)
      await work().catch(error => incoming.log.warn({ err: error }, 'what follows a page has failed'))
  }

  /** Whoever has signed in. A key is for programs. */
  async function findPerson(req: Incoming['req']): Promise<Viewer | null> {
    const viewer = await findViewer(req)
    return viewer?.via === 'session' ? viewer : null
  }
}
