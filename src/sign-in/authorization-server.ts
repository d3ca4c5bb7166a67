import { logSecurityEvent } from '../access/audit-log.ts'
import type { Caller } from '../access/caller.ts'
import { appScopes, privateScopes } from '../access/scopes.ts'
import type { Config } from '../config/config.ts'
import { readJson, readWhole } from '../http/body.ts'
import { nobody } from '../http/callers.ts'
import { type Answer, errorHeaders, jsonHeaders } from '../http/envelope.ts'
import type { Incoming } from '../http/incoming.ts'
import {
  type DoorPlan,
  doorOf,
  nothingHere,
  openPassage,
  type Passage,
  passage,
} from '../http/threshold.ts'
import { write } from '../http/write.ts'
import { AppError, InvalidInput, toAppError } from '../runtime/errors.ts'
import type { Granted } from '../services/accounts/login-request.ts'
import {
  GrantError,
  type Parameters,
  parametersOf,
  readClientId,
  readTerms,
} from '../services/accounts/login-term.ts'
import { RegistrationError } from '../services/accounts/oauth-client.ts'
import type { IssuedTokens } from '../services/accounts/oauth-token.ts'
import type { Services } from '../services/index.ts'

const METADATA_PATH = '/.well-known/oauth-authorization-server'
export const AUTHORIZE_PATH = '/authorize'
export const DEVICE_PATH = '/device'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const MAX_BODY_BYTES = 16 * 1024

type Handler = (given: Parameters, incoming: Incoming) => Promise<object>

/**
 * The endpoints at which programs get an API key that a person approves (docs/integrate.md):
 * tokens, codes for devices, revocation. The pages for the person are in src/pages/authorize.ts.
 * @param findByKey returns the caller of a key; null for anything else
 */
export function createAuthorizationServer(
  {
    loginRequests,
    apiKeys,
    oauthClients,
    oauthTokens,
  }: Pick<Services, 'loginRequests' | 'apiKeys' | 'oauthClients' | 'oauthTokens'>,
  findByKey: (secret: string) => Promise<Caller | null>,
  publicUrl: () => string,
  { assistants }: Pick<Config, 'assistants'>,
): DoorPlan[] {
  const tokensOf = ({ accessToken, refreshToken, expiresIn }: IssuedTokens, scope: string) => ({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    refresh_token: refreshToken,
    scope,
  })

  const answerOf = (
    { caller, key, tokens }: Granted,
    { log }: Incoming,
    flow: 'browser' | 'device',
  ) => {
    logSecurityEvent({ log, caller }, 'key_created', {
      key_id: key.id,
      scopes: key.scopes.join(' '),
      flow,
    })
    if (tokens) return tokensOf(tokens, key.scopes.join(' '))
    return {
      access_token: key.key,
      token_type: 'Bearer',
      ...(key.expiresAt === null
        ? {}
        : { expires_in: Math.floor((key.expiresAt - key.createdAt) / 1000) }),
      scope: key.scopes.join(' '),
      key_id: key.id,
    }
  }

  const required = (given: Parameters, name: string): string => {
    const value = given(name)
    if (value === undefined) throw new GrantError('invalid_request', `${name} is missing.`)
    return value
  }

  const token: Handler = async (given, incoming) => {
    const { from } = incoming
    const type = required(given, 'grant_type')
    const clientId = readClientId(given)
    if (type === 'authorization_code') {
      const [code, verifier, redirectUri] = [
        required(given, 'code'),
        required(given, 'code_verifier'),
        required(given, 'redirect_uri'),
      ]
      const shown = { code, verifier, redirectUri, clientId, resource: given('resource') }
      return answerOf(await loginRequests.exchange(shown, from), incoming, 'browser')
    }
    if (type === 'refresh_token' && assistants) {
      const shown = { token: required(given, 'refresh_token'), clientId }
      const { tokens, scope } = await oauthTokens.refresh(
        { ...shown, resource: given('resource') },
        from,
      )
      return tokensOf(tokens, scope)
    }
    if (type !== DEVICE_GRANT)
      throw new GrantError(
        'unsupported_grant_type',
        `grant_type is authorization_code or ${DEVICE_GRANT}.`,
      )
    const deviceCode = required(given, 'device_code')
    return answerOf(await loginRequests.poll({ deviceCode, clientId }, from), incoming, 'device')
  }

  const device: Handler = async (given, { address }) => {
    const terms = readTerms(given)
    const { deviceCode, userCode, expiresIn, interval } = await loginRequests.begin(terms, address)
    const page = publicUrl() + DEVICE_PATH
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?${new URLSearchParams({ user_code: userCode })}`,
      expires_in: expiresIn,
      interval,
    }
  }

  /**
   * The holder of a key may revoke it. A key that does not exist needs no revocation (RFC 7009,
   * section 2.2).
   */
  const revoke: Handler = async (given, { log, from }) => {
    const secret = required(given, 'token')
    // A token of a grant ends the grant (RFC 7009, section 2.1).
    const found = (await findByKey(secret)) ?? (await oauthTokens.grantOf(secret))
    if (!found) return {}
    const caller = { ...found, from }
    try {
      await apiKeys.removeItself(caller)
    } catch (error) {
      // A parallel request has already revoked the key.
      if (error instanceof AppError && error.code === 'API_KEY_NOT_FOUND') return {}
      throw error
    }
    logSecurityEvent({ log, caller }, 'key_deleted', {
      key_id: caller.credentialId,
      ...(caller.workspaceId === null ? {} : { workspace_id: caller.workspaceId }),
    })
    return {}
  }

  const passages = new Map(
    [
      passageOf('/oauth/token', token, { writes: true }),
      passageOf('/oauth/device_authorization', device, { writes: true }),
      passageOf('/oauth/revoke', revoke, { writes: false }),
    ].map(made => [made.route, made]),
  )

  /** Registers a program (RFC 7591). */
  const register = passage<null>({
    route: '/oauth/register',
    methods: ['POST'],
    guards: 'nothing',
    caller: nobody,
    writes: true,
    async handle({ req, res, address }) {
      const client = await oauthClients.register(await readJson(req, { anonymous: true }), address)
      const { id, name, redirectUris, createdAt } = client
      const made = {
        client_id: id,
        client_id_issued_at: Math.floor(createdAt / 1000),
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }
      write(res, req, json(201, made))
    },
    refuse: thrown =>
      thrown instanceof RegistrationError
        ? json(400, { error: thrown.error, error_description: thrown.message })
        : refusal(thrown),
  })
  if (assistants) passages.set(register.route, register)

  /** RFC 8414. */
  const metadata = () => {
    const own = publicUrl()
    return {
      issuer: own,
      authorization_endpoint: own + AUTHORIZE_PATH,
      token_endpoint: `${own}/oauth/token`,
      device_authorization_endpoint: `${own}/oauth/device_authorization`,
      revocation_endpoint: `${own}/oauth/revoke`,
      ...(assistants ? { registration_endpoint: `${own}/oauth/register` } : {}),
      scopes_supported: assistants ? appScopes : privateScopes,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [
        'authorization_code',
        ...(assistants ? ['refresh_token'] : []),
        DEVICE_GRANT,
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  const sendMetadata = ({ req, res }: Incoming) =>
    write(res, req, {
      ...json(200, metadata()),
      headers: { ...jsonHeaders, 'cache-control': 'public, max-age=300' },
    })

  return [
    {
      prefix: '/oauth',
      find({ path }) {
        const found = passages.get(path)
        if (!found) throw nothingHere()
        return found
      },
    },
    doorOf(openPassage(METADATA_PATH, sendMetadata)),
  ]
}

/** The passage of an endpoint. Its credential is a parameter of the form. */
const passageOf = (
  route: string,
  handle: Handler,
  { writes }: Pick<Passage, 'writes'>,
): Passage<null> => ({
  route,
  methods: ['POST'],
  guards: 'nothing',
  caller: nobody,
  writes,
  async handle(incoming) {
    const { req, res } = incoming
    write(res, req, json(200, await handle(parametersOf(await readForm(incoming)), incoming)))
  },
  refuse: refusal,
})

const json = (status: number, value: object, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { ...jsonHeaders, pragma: 'no-cache', ...headers },
  body: JSON.stringify(value),
})

async function readForm({ req }: Incoming): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new GrantError(
      'invalid_request',
      'Send the parameters as application/x-www-form-urlencoded.',
    )
  const bytes = await readWhole(req, MAX_BODY_BYTES, {
    tooLarge: () => new InvalidInput('body', 'The body may have up to 16 KiB.'),
    broken: () => new InvalidInput('body', 'The body ended before it was complete. Send it again.'),
  })
  return new URLSearchParams(bytes.toString('utf8'))
}

/** An error in the format of RFC 6749, section 5.2. Other errors keep their status. */
function refusal(thrown: unknown): Answer {
  if (thrown instanceof GrantError)
    return json(400, { error: thrown.error, error_description: thrown.message })
  const { error } = toAppError(thrown)
  const { status, message } = error
  const name =
    error.code === 'INTERNAL'
      ? 'server_error'
      : status === 429 || status >= 500
        ? 'temporarily_unavailable'
        : 'invalid_request'
  return json(status, { error: name, error_description: message }, errorHeaders(error))
}
