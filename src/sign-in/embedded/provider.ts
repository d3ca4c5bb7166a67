import { createHash, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Adapter, InteractionResults } from 'oidc-provider'
import { embeddedName, isLoopback, type OAuthProvider } from '../../config/config.ts'
import { createKnownBrowsers } from './browser.ts'
import { createFirstBrowser } from './first-browser.ts'
import { messagePage, pageHeaders, readSignIn, type SignInForm, signInPage } from './page.ts'
import type { SignInWord } from './word.ts'

/** A running sign-in provider, to be mounted under `/sign-in`. */
export interface EmbeddedSignIn {
  /** Its entry among the sign-in providers. */
  provider: OAuthProvider
  /** Handles a request whose `url` starts with `/sign-in`. */
  handle(req: IncomingMessage, res: ServerResponse): void
  /**
   * Creates the URL that lets one browser sign in without the word, once and within 15 minutes. It
   * replaces an earlier URL.
   */
  firstAddress(): string
  /** Stops the provider: no sign-in succeeds after it. */
  close(): void
}

export interface EmbeddedSignInOptions {
  /** Origin of the service, on loopback. */
  publicUrl: string
  /** The redirect URL of a finished sign-in: the callback of the service. */
  redirectUri: string
  /** At least 32 secret bytes, from which the cookie key is derived. */
  key: Buffer
  /**
   * The word that a browser must send before its first sign-in: a proxy on this machine may forward
   * remote requests without any forwarding header.
   */
  word: SignInWord
  /**
   * The origin at which this process reaches itself, if it differs from the public one (a forwarded
   * port).
   */
  ownUrl?: string
  /** Called with errors that are not caused by input. */
  onError?: (error: unknown) => void
}

interface Person {
  sub: string
  email: string
  email_verified: boolean
  name: string
  given_name: string
  family_name: string
  locale: string
}

const prefix = '/sign-in'
const scopes = ['openid', 'email', 'profile']
const maxPeople = 1000
const maxFormBytes = 16 * 1024

/**
 * Creates an OpenID Connect provider that trusts the input of its form. Its library is loaded with
 * the first request.
 * @throws Error when a URL is not on loopback, or the key is too short
 */
export async function createEmbeddedSignIn(
  options: EmbeddedSignInOptions,
): Promise<EmbeddedSignIn> {
  const { publicUrl, redirectUri, key, word, ownUrl = publicUrl, onError = console.error } = options
  for (const url of [publicUrl, redirectUri, ownUrl]) {
    if (!isLoopback(url))
      throw new Error(
        `The embedded sign-in lets anyone in, so it serves only loopback URLs: ${url} is not loopback.`,
      )
  }
  if (key.length < 32) throw new Error('The embedded sign-in needs a key of 32 bytes or more.')

  const clientId = 'satchel'
  const clientSecret = randomBytes(32).toString('base64url')
  const people = new Map<string, Person>()
  const browsers = createKnownBrowsers(key, prefix)
  const firstBrowser = createFirstBrowser(publicUrl, browsers.remember)
  const headers = pageHeaders([publicUrl, new URL(redirectUri).origin])
  const off = { enabled: false }
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const

  let loading: ReturnType<typeof load> | undefined
  const loaded = () => {
    loading ??= load()
    return loading
  }

  async function load() {
    const [{ Provider }, { createMemoryAdapter }] = await Promise.all([
      import('oidc-provider/lib/provider.js'),
      import('oidc-provider/lib/adapters/memory_adapter.js'),
    ])
    const remembered = createMemoryAdapter()
    const oidc = new Provider(publicUrl + prefix, {
      adapter: model => (model === 'Session' ? forgetful : remembered(model)),
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'given_name', 'family_name', 'picture', 'locale'],
      },
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: 'ES256',
        },
      ],
      clientAuthMethods: ['client_secret_post'],
      clientBasedCORS: () => false,
      cookies: {
        keys: [
          Buffer.from(hkdfSync('sha256', key, '', 'embedded sign-in: cookies', 32)).toString(
            'base64url',
          ),
        ],
        names: { interaction: 'sign_in', resume: 'sign_in_resume', session: 'sign_in_session' },
        long: { ...cookie, path: prefix },
        short: cookie,
      },
      // `forgetful` stores no sessions.
      expiresWithSession: () => false,
      features: {
        devInteractions: off,
        dPoP: off,
        pushedAuthorizationRequests: off,
        resourceIndicators: off,
        rpInitiatedLogout: off,
      },
      findAccount: async (_ctx, sub) => {
        const person = people.get(sub)
        return person && { accountId: sub, claims: async () => ({ ...person }) }
      },
      interactions: { url: (_ctx, interaction) => `${prefix}/interaction/${interaction.uid}` },
      // Generating an elliptic key takes a millisecond, and an RSA key at least a tenth of a
      // second.
      jwks: {
        keys: [
          generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
        ],
      },
      pkce: { required: () => true },
      renderError: async (ctx, out) => {
        ctx.set(headers)
        ctx.body = messagePage(
          'The sign-in failed',
          out.error_description ?? 'Start the sign-in again.',
          publicUrl,
        )
      },
      responseTypes: ['code'],
      scopes,
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: 3600,
        Session: 3600,
      },
    })
    oidc.on('server_error', (_ctx, error) => onError(error))
    oidc.onerror = onError
    return { oidc, answerProtocol: oidc.callback() }
  }

  let closed = false

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (closed)
      return send(res, 503, messagePage('Closed', 'This sign-in has been shut down.', publicUrl))
    const refusal = refuse(req)
    if (refusal) return send(res, 403, messagePage('Not from here', refusal, publicUrl))
    const url = req.url ?? ''
    if (/^\/sign-in\/first(?:\?|$)/.test(url)) return firstBrowser.handle(req, res)
    const uid = /^\/sign-in\/interaction\/([\w-]+)(?:\?|$)/.exec(url)?.[1]
    if (uid) return interact(req, res, uid)
    req.url = url.slice(prefix.length).replace(/^(?!\/)/, '/')
    // The library builds its URLs from this field.
    const { answerProtocol } = await loaded()
    await answerProtocol(Object.assign(req, { baseUrl: prefix }), res)
  }

  async function interact(req: IncomingMessage, res: ServerResponse, uid: string): Promise<void> {
    const { oidc } = await loaded()
    const interaction = await oidc.interactionDetails(req, res).catch(noSession)
    if (interaction?.uid !== uid)
      return send(
        res,
        400,
        messagePage('This sign-in has ended', 'Start again at the service.', publicUrl),
      )
    const wordFile = browsers.knows(req) ? null : word.file
    if (req.method === 'GET' || req.method === 'HEAD') {
      const hint = interaction.params.login_hint
      const email = typeof hint === 'string' ? hint : ''
      return send(res, 200, signInPage({ email, name: '', verified: true }, wordFile))
    }
    if (req.method !== 'POST') {
      res.setHeader('Allow', 'GET, HEAD, POST')
      return send(
        res,
        405,
        messagePage('The sign-in failed', 'Send the form with POST.', publicUrl),
      )
    }
    const form = await readForm(req)
    if (!form) {
      res.setHeader('Connection', 'close')
      return send(
        res,
        400,
        messagePage('The sign-in failed', 'The form contains unknown fields.', publicUrl),
      )
    }
    const finish = async (result: InteractionResults) => {
      const resume = await oidc.interactionResult(req, res, result)
      // Only the path, because the cookies belong to the name of this machine that the browser
      // uses.
      res.writeHead(303, { Location: new URL(resume).pathname, 'Cache-Control': 'no-store' }).end()
    }
    if (form.get('choice') === 'cancel')
      return finish({ error: 'access_denied', error_description: 'the sign-in was cancelled' })
    const typed = readSignIn(form)
    if (typed.problem) return send(res, 422, signInPage(typed, wordFile))
    if (wordFile) {
      if (!(await word.redeem(form.get('word') ?? '')))
        return send(res, 422, signInPage(wrongWord(typed), wordFile))
      res.appendHeader('Set-Cookie', browsers.remember())
    }

    const person = makePerson(typed, req.headers['accept-language'])
    people.delete(person.sub)
    people.set(person.sub, person)
    const [longestAgo] = people.keys()
    if (people.size > maxPeople && longestAgo) people.delete(longestAgo)
    const grant = new oidc.Grant({ accountId: person.sub, clientId })
    grant.addOIDCScope(scopes.join(' '))
    return finish({
      login: { accountId: person.sub, remember: false },
      consent: { grantId: await grant.save() },
    })
  }

  function send(res: ServerResponse, status: number, html: string): void {
    res.writeHead(status, headers).end(html)
  }

  return {
    provider: {
      name: embeddedName,
      issuer: null,
      dialect: 'standard',
      signOut: false,
      authorizeUrl: `${publicUrl}${prefix}/auth`,
      tokenUrl: `${ownUrl}${prefix}/token`,
      userinfoUrl: `${ownUrl}${prefix}/me`,
      clientId,
      clientSecret,
      scopes,
    },
    handle(req, res) {
      answer(req, res).catch(error => {
        onError(error)
        if (res.headersSent) res.destroy()
        else
          send(
            res,
            500,
            messagePage('The sign-in failed', 'Something went wrong. Start again.', publicUrl),
          )
      })
    },
    firstAddress: () => `${publicUrl}${prefix}/first?secret=${firstBrowser.begin()}`,
    close() {
      closed = true
      people.clear()
    },
  }
}

/** Stores no sessions: every sign-in shows the form, so that one browser can try several users. */
const forgetful: Adapter = {
  async upsert() {},
  async find() {},
  async findByUid() {},
  async findByUserCode() {},
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
}

function noSession(error: unknown): undefined {
  if (error instanceof Error && error.name === 'SessionNotFound') return undefined
  throw error
}

/**
 * The reason to refuse a sign-in request, or undefined. The peer must be this machine, whichever
 * address the service listens on; so must the Host header, because a page that resolves its own
 * name to 127.0.0.1 could otherwise read the responses. No proxy may have forwarded the request.
 */
function refuse(req: IncomingMessage): string | undefined {
  const host = URL.canParse(`http://${req.headers.host}`)
    ? `http://${req.headers.host}`
    : 'http://unknown'
  const proxied = Object.keys(req.headers).some(name => proxyHeader.test(name))
  if (isOwnAddress(req.socket.remoteAddress ?? '') && isLoopback(host) && !proxied) return undefined
  return 'The embedded sign-in lets anyone in, so it answers only on the computer that runs it, as localhost or 127.0.0.1, and not through a proxy.'
}

/**
 * Headers that proxies add. Only their presence counts: a client behind a proxy can forge the
 * values.
 */
const proxyHeader =
  /^(forwarded|via|x-forwarded(-.+)?|x-original-.+|x-envoy-.+|x-amzn-.+|x-azure-.+|cf-.+|cdn-.+|fastly-.+|true-client-ip|x-real-ip|x-client-ip|x-cluster-client-ip)$/

const isOwnAddress = (address: string) =>
  address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)

const wrongWord = (typed: SignInForm): SignInForm => ({
  ...typed,
  problem: {
    field: 'word',
    sentence: 'This is not the word. Copy it from the file; it changes after each use.',
  },
})

async function readForm(req: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? ''))
    return undefined
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of req) {
    bytes += part.length
    // Drains the rest, because leaving the loop would close the connection before the response.
    if (bytes <= maxFormBytes) parts.push(part)
  }
  return bytes > maxFormBytes
    ? undefined
    : new URLSearchParams(Buffer.concat(parts).toString('utf8'))
}

function makePerson({ email, name: typed, verified }: SignInForm, languages = ''): Person {
  const name = typed || email.slice(0, email.indexOf('@'))
  const [, given = name, family = ''] = /^(.+) (\S+)$/.exec(name) ?? []
  return {
    // Derived from the e-mail address alone, so that a user stays the same after a restart or with
    // another key.
    sub: createHash('sha256').update(`satchel sign-in ${email}`).digest('base64url'),
    email,
    email_verified: verified,
    name,
    given_name: given,
    family_name: family,
    locale: /^[a-z]{2,3}(-[a-z\d]{2,8})*/i.exec(languages)?.[0] ?? 'en',
  }
}
