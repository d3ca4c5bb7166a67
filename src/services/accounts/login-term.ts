import { appScopes, type KeyScope, privateScopes } from '../../access/scopes.ts'
import { AppError, InvalidInput, ProtocolError } from '../../runtime/errors.ts'
import { DAY_MS, parseDuration } from '../../values/duration.ts'
import { excerpt } from '../../values/excerpt.ts'
import { MAX_CLIENT_ID, MAX_KEY_NAME, MAX_REDIRECT_URI } from '../../values/limits.ts'
import { parseTitle } from '../title.ts'
import { isRegistered, type RegisteredClient } from './oauth-client.ts'

/**
 * The error names of RFC 6749 (sections 4.1.2.1 and 5.2) and RFC 8628 (section 3.5) that can occur
 * here.
 */
export type GrantErrorName =
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_target'

/** A refusal that programs receive under its OAuth name. */
export class GrantError extends ProtocolError {
  readonly error: GrantErrorName
  /** The wrong parameter, if known. */
  readonly field: string | undefined

  constructor(error: GrantErrorName, description: string, field?: string) {
    super(description)
    this.error = error
    this.field = field
  }
}

/**
 * The client id of the logins of syncing apps, which show no code: they open the page themselves.
 */
export const APP_CLIENT = 'nextcloud'

/** The parameters of a request by name. Undefined if missing. */
export type Parameters = (name: string) => string | undefined

/** The terms that a program requests. */
export interface LoginTerms {
  /** Not registered anywhere: like the name, it is only a claim. */
  clientId: string
  name: string
  scopes: KeyScope[]
  /** The lifetime of the key in seconds. */
  lifetime: number
}

/** The redirect target: a port of the computer on which the browser runs. */
export interface LoginRedirect {
  clientId: string
  redirectUri: string
  state: string | undefined
}

/** A request to approve in a browser. */
export interface Authorization extends LoginTerms, LoginRedirect {
  challenge: string
  /** The resource for which a registered program asks tokens. Undefined for an API key. */
  resource?: string
}

const DEFAULT_LIFETIME = '90d'
const LONGEST_DAYS = 365
const MAX_STATE = 256

/**
 * Reads the parameters of a request. Each may occur once (RFC 6749, section 3.1). Empty ones count
 * as missing.
 * @throws GrantError
 */
export function parametersOf(given: URLSearchParams): Parameters {
  const repeated = [...given.keys()].find(name => given.getAll(name).length > 1)
  if (repeated !== undefined)
    throw new GrantError('invalid_request', `Give ${excerpt(repeated)} once.`)
  return name => given.get(name) || undefined
}

/** @throws InvalidInput */
export function readClientId(given: Parameters): string {
  const id = given('client_id') ?? ''
  if (id.length <= MAX_CLIENT_ID && /^[\w.-]+$/.test(id)) return id
  throw new InvalidInput(
    'client_id',
    `client_id names the program, in 1 to ${MAX_CLIENT_ID} letters, digits, dots, hyphens and underscores.`,
  )
}

/**
 * Reads the redirect target. The browser must never be sent to a refused target, not even with an
 * error.
 * @throws InvalidInput unless it is a literal loopback address, because the name localhost could
 * lead elsewhere (RFC 8252, section 8.3)
 */
export function readRedirect(given: Parameters): LoginRedirect {
  const clientId = readClientId(given)
  const redirectUri = given('redirect_uri') ?? ''
  const found = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?(?:\/[\w\-.~/]*)?$/.exec(
    redirectUri,
  )
  if (!found || Number(found[1] ?? 80) > 65_535 || redirectUri.length > MAX_REDIRECT_URI)
    throw new InvalidInput(
      'redirect_uri',
      'redirect_uri must lead to a port of this computer, by its address: http://127.0.0.1:PORT/ or http://[::1]:PORT/.',
    )
  return { clientId, redirectUri, state: readState(given) }
}

/** @throws InvalidInput */
function readState(given: Parameters): string | undefined {
  const state = given('state')
  if (state !== undefined && (state.length > MAX_STATE || !/^[\x20-\x7e]+$/.test(state)))
    throw new InvalidInput('state', `state has up to ${MAX_STATE} printable ASCII characters.`)
  return state
}

/**
 * Reads the redirect target of a registered program. The browser must never be sent elsewhere.
 * @throws InvalidInput unless the program has registered it
 */
export function readRegisteredRedirect(given: Parameters, client: RegisteredClient): LoginRedirect {
  const redirectUri =
    given('redirect_uri') ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : '') ?? ''
  if (!isRegistered(client, redirectUri))
    throw new InvalidInput('redirect_uri', 'The program has not registered this redirect_uri.')
  return { clientId: client.id, redirectUri, state: readState(given) }
}

/**
 * Reads the request of a registered program for tokens. Unknown scopes are ignored, because the
 * person chooses the scopes (RFC 6749, section 3.3).
 * @param resource the only resource for which there are tokens
 * @throws GrantError
 */
export function readRegisteredAuthorization(
  given: Parameters,
  redirect: LoginRedirect,
  { name }: RegisteredClient,
  resource: string,
): Authorization {
  const challenge = readChallenge(given)
  if ((given('resource') ?? resource).replace(/\/$/, '') !== resource)
    throw new GrantError('invalid_target', `resource must be ${resource}.`)
  const asked = (given('scope') ?? '').split(' ')
  const scopes = appScopes.filter(scope => asked.includes(scope))
  return {
    ...redirect,
    challenge,
    resource,
    name,
    scopes: scopes.length > 0 ? scopes : [appScopes[0]],
    lifetime: readLifetime(DEFAULT_LIFETIME),
  }
}

/** @throws GrantError */
export function readAuthorization(given: Parameters, redirect: LoginRedirect): Authorization {
  const challenge = readChallenge(given)
  return { ...readTerms(given), ...redirect, challenge }
}

/** @throws GrantError */
function readChallenge(given: Parameters): string {
  if (given('response_type') !== 'code')
    throw new GrantError('unsupported_response_type', 'response_type must be code.')
  const challenge = given('code_challenge') ?? ''
  if (given('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge))
    throw new GrantError(
      'invalid_request',
      'code_challenge must be there with code_challenge_method S256: the SHA-256 of the verifier, as 43 characters of base64url.',
    )
  return challenge
}

/** @throws GrantError, InvalidInput for the client id */
export function readTerms(given: Parameters): LoginTerms {
  const clientId = readClientId(given)
  const scopes = (given('scope') ?? privateScopes[0]).split(' ').filter(scope => scope !== '')
  const unknown = scopes.find(scope => !(privateScopes as readonly string[]).includes(scope))
  if (unknown !== undefined || scopes.length === 0)
    throw new GrantError(
      'invalid_scope',
      `There is no scope "${excerpt(unknown ?? '')}". Known scopes: ${privateScopes.join(', ')}.`,
    )
  try {
    return {
      clientId,
      name: parseTitle(given('client_name') ?? clientId, MAX_KEY_NAME),
      scopes: privateScopes.filter(scope => scopes.includes(scope)),
      lifetime: readLifetime(given('key_expires_in') ?? DEFAULT_LIFETIME),
    }
  } catch (error) {
    if (error instanceof AppError) {
      const { field } = error.details
      throw new GrantError(
        'invalid_request',
        error.message,
        field === 'name' ? 'client_name' : String(field),
      )
    }
    throw error
  }
}

/**
 * The lifetime of a key in seconds.
 * @throws INVALID_DURATION, INVALID_INPUT
 */
export function readLifetime(text: string): number {
  const milliseconds = parseDuration(text, 'key_expires_in')
  if (milliseconds > LONGEST_DAYS * DAY_MS)
    throw new InvalidInput(
      'key_expires_in',
      `A program may ask for a key of up to ${LONGEST_DAYS} days.`,
    )
  return milliseconds / 1000
}

/**
 * The redirect URL with the result.
 * @param issuer see RFC 9207
 */
export function redirectTo(
  { redirectUri, state }: Pick<LoginRedirect, 'redirectUri' | 'state'>,
  issuer: string,
  answer: { code: string } | { error: GrantErrorName; error_description: string },
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (state !== undefined) url.searchParams.set('state', state)
  url.searchParams.set('iss', issuer)
  return url.href
}
